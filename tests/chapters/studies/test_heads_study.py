"""The study of the heads, with a small training; and its stored results."""

import json

import pytest
import torch

from studies.heads_study import RESULTS, HeadsSettings, train

pytestmark = pytest.mark.trains


def test_the_stored_results_are_those_of_these_settings():
    assert json.loads(RESULTS.read_text("utf-8"))["settings"] == json.loads(json.dumps(vars(HeadsSettings())))


@pytest.mark.parametrize("steps", [1, 25, 30])
def test_a_training_may_have_any_number_of_steps(steps):
    _, losses = train(HeadsSettings(steps=steps, batch_size=2), 3, layers=1, lr=0.002)
    assert len(losses) == -(-steps // 25)


def test_a_training_is_that_of_the_stored_results_and_draws_nothing_from_torch():
    before = torch.random.get_rng_state()
    _, losses = train(HeadsSettings(steps=25), 0, layers=2, lr=HeadsSettings.lr)
    assert torch.equal(torch.random.get_rng_state(), before)
    stored = json.loads(RESULTS.read_text("utf-8"))["parts"]["seed 0"]["losses"]
    assert losses == pytest.approx(stored[:1], abs=0.002)
