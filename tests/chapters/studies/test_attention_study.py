"""The attention study, with tiny trainings; and its stored results."""

import json

import pytest

from studies.attention_study import RESULTS, AttentionSettings, measure, words_of

pytestmark = pytest.mark.trains
TINY = AttentionSettings(sizes=(67,), steps=3, lrs=(4e-3, 8e-3), seeds=(0, 1), num_test=11)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["with", "without"])
def test_each_seed_has_the_chosen_learning_rate(kind):
    found = measure(kind, 67, TINY)
    assert found["lr"] in TINY.lrs
    assert len(found["validation"]) == 2
    assert [(run["seed"], run["steps"]) for run in found["runs"]] == [(0, 3), (1, 3)]
    assert all(run["long_right"] <= run["right"] <= 11 for run in found["runs"])


def test_it_counts_the_sentences_that_have_a_word():
    assert words_of(67, TINY)["sentences_with"]["."] == 67


def test_the_stored_results_are_those_of_the_chapter():
    stored = json.loads(RESULTS.read_text("utf-8"))
    assert stored["seeds"] == [0, 1, 2]
    assert stored["steps"] == AttentionSettings().steps
    for size in AttentionSettings().sizes:
        runs = {kind: stored["parts"][f"{kind} {size}"]["runs"] for kind in ("with", "without")}
        assert min(run["right"] for run in runs["with"]) > max(run["right"] for run in runs["without"])
