"""The study of the heads, with a small training; and its stored results."""

import json
from itertools import pairwise

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


def test_a_training_is_looked_at_before_each_step_and_after_the_last():
    settings, seen = HeadsSettings(steps=3, batch_size=2), []
    model, _ = train(settings, 3, layers=2, lr=0.002, look=lambda step, net: seen.append((step, net)))
    assert seen == [(step, model) for step in range(4)]


def moved(*, decay: bool) -> list[float]:
    """How far each step of a small training moves the output matrix."""
    kept = []

    def look(step, net):
        kept.append(net.output.weight.detach().clone())

    train(HeadsSettings(steps=8, batch_size=2), 3, layers=1, lr=0.002, decay=decay, look=look)
    return [(after - before).abs().max().item() for before, after in pairwise(kept)]


def test_a_rate_that_falls_moves_less_and_less():
    even, falling = moved(decay=False), moved(decay=True)
    assert falling[0] == even[0]
    assert falling[-1] < 0.25 * even[-1]  # the last rate is an eighth
