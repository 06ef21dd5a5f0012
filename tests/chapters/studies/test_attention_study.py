"""The attention study, with tiny trainings; and its stored results."""

import json

import pytest

from studies.attention_study import RESULTS, AttentionSettings

pytestmark = pytest.mark.trains


def test_the_stored_results_are_those_of_the_chapter():
    stored = json.loads(RESULTS.read_text("utf-8"))
    assert stored["seeds"] == [0, 1, 2]
    assert stored["steps"] == AttentionSettings().steps
    for size in AttentionSettings().sizes:
        runs = {kind: stored["parts"][f"{kind} {size}"]["runs"] for kind in ("with", "without")}
        assert min(run["right"] for run in runs["with"]) > max(run["right"] for run in runs["without"])
