"""The study of the scale: a training whose loss is known, and the stored results."""

import json
from statistics import mean

import pytest
import torch

from studies.scale_study import BEST, RESULTS, SCALES, TRIED, learn


@pytest.mark.trains
def test_matrices_that_begin_at_zero_stay_there_and_give_equal_weights():
    # The mean of 16 values of variance 1, one of which is wanted, is off by 1 - 1/16 in the mean square.
    losses = learn(1, torch.optim.SGD, lr=1.0, seed=3, start=0.0, steps=150)
    assert len(losses) == 150
    assert mean(losses) == pytest.approx(15 / 16, abs=0.02)


def test_the_stored_results_are_whole():
    stored = json.loads(RESULTS.read_text("utf-8"))
    assert stored["tried"] == {name: list(rates) for name, (_, rates) in TRIED.items()}
    for name, (_, rates) in TRIED.items():
        found = stored["parts"]["rates"][name]
        assert {kind: len(ends) for kind, ends in found.items()} == dict.fromkeys(SCALES, len(rates))
        assert BEST[name] == tuple(rates[ends.index(min(ends))] for ends in found.values())
        curves = stored["parts"]["curves"][name]
        assert {kind: len(losses) for kind, losses in curves.items()} == dict.fromkeys(SCALES, 40)
        # Five seeds end near the loss of the one seed with which the rates were compared.
        for kind, losses in curves.items():
            assert mean(losses[-4:]) == pytest.approx(min(found[kind]), abs=0.1)
