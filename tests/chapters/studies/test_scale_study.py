"""The study of the scale: a training whose loss is known, and the stored results."""

import json
from statistics import mean

import pytest
import torch

from studies.scale_study import RESULTS, SCALES, TRIED, learn


@pytest.mark.trains
def test_matrices_that_begin_at_zero_stay_there_and_give_equal_weights():
    # The mean of 16 values of variance 1, one of which is wanted, is off by 1 - 1/16 in the mean square.
    losses = learn(1, torch.optim.SGD, lr=1.0, seed=3, start=0.0)
    assert len(losses) == 200
    assert mean(losses) == pytest.approx(15 / 16, abs=0.02)


def test_the_stored_results_are_whole():
    stored = json.loads(RESULTS.read_text("utf-8"))
    assert stored["tried"] == {name: list(rates) for name, (_, rates) in TRIED.items()}
    for name, (_, rates) in TRIED.items():
        found = stored["parts"]["rates"][name]
        assert {kind: len(ends) for kind, ends in found.items()} == dict.fromkeys(SCALES, len(rates))
