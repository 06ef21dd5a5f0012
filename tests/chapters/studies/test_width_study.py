"""The width study: how a learning rate is found, and the stored results."""

import json

import pytest

from studies.width_study import KINDS, RESULTS, WidthSettings, climb


@pytest.mark.parametrize(
    ("peak", "tried"), [(3, [1, 2, 4]), (11, [1, 2, 4, 8, 16]), (0.3, [0.125, 0.25, 0.5, 1, 2])]
)
def test_rates_are_tried_until_the_best_has_a_worse_one_on_each_side(peak, tried):
    scores = climb(lambda lr: -abs(lr - peak), start=1)
    assert scores == {lr: -abs(lr - peak) for lr in tried}
    assert list(scores) == tried


def test_the_stored_results_are_whole():
    stored = json.loads(RESULTS.read_text("utf-8"))
    assert list(stored["parts"]) == list(KINDS)
    for part in stored["parts"].values():
        assert [run["seed"] for run in part["runs"]] == list(WidthSettings().seeds)
        scores = {trial["lr"]: trial["bleu"] for trial in part["validation"]}
        best = max(scores, key=scores.get)
        assert part["lr"] == best
        assert min(scores) < best < max(scores)
