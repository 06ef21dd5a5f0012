"""The study of the heads, with a small training; and its stored results."""

import json

import pytest

from studies.heads_study import RESULTS, HeadsSettings, run_study

pytestmark = pytest.mark.trains

SMALL = HeadsSettings(seeds=(3, 5), steps=25, batch_size=7, other_rates=(0.01,), num_test=11, length=5)


@pytest.mark.slow
def test_it_is_measured_once(tmp_path):
    out = tmp_path / "study.json"
    run_study(SMALL, out)
    stored = out.read_text("utf-8")
    parts = json.loads(stored)["parts"]
    assert list(parts) == ["seed 3", "seed 5", "one layer"]
    assert len(parts["seed 3"]["losses"]) == 1
    assert list(parts["seed 3"]["off"]) == ["nothing", "L0H0", "L0H1", "L1H0", "L1H1", "L1H0 and L1H1"]
    run_study(SMALL, out)
    assert out.read_text("utf-8") == stored


def test_the_stored_results_are_those_of_these_settings():
    assert json.loads(RESULTS.read_text("utf-8"))["settings"] == json.loads(json.dumps(vars(HeadsSettings())))
