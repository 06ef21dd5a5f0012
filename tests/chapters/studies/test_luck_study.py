"""The luck study: its score and its interval."""

import json

import pytest
import torch

from studies.luck_study import EPOCHS, RESULTS, SEEDS, bleu_from, measure_seed, with_interval
from utils.exercises.measuring import clipped_counts
from utils.metrics import bleu

REFERENCE = ["Marie", "a", "trouvé", "la", "petite", "fleur", "blanche", "hier", "."]
A = ["Marie", "a", "trouvé", "la", "petite", "petite", "fleur", "."]
B = ["hier", "Marie", "a", "découvert", "la", "petite", "fleur", "blanche", "."]


def counts_of(*written: list[str]) -> torch.Tensor:
    return torch.stack([clipped_counts.program(words, REFERENCE) for words in written]).double()


def test_the_score_is_that_of_the_page_and_of_sacrebleu() -> None:
    assert bleu_from(counts_of(A, B)).tolist() == pytest.approx([52.5, 38.1], abs=0.05)
    texts, right = [" ".join(A), " ".join(B)], [" ".join(REFERENCE)]
    together = bleu(texts, [right, right], lang="fr").value
    assert bleu_from(counts_of(A, B).sum(dim=0)).item() == pytest.approx(together)


def test_an_interval_is_about_the_score_and_gets_narrower_with_more_sentences() -> None:
    few, many = (with_interval(counts_of(A, B).repeat(times, 1)) for times in (7, 70))
    assert few[0] == pytest.approx(many[0])
    assert few[1] < many[1] < many[0] < many[2] < few[2]


@pytest.mark.trains
def test_a_training_is_measured_twice_and_leaves_torchs_generator_alone() -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    scores = measure_seed(1, num_train=61, num_test=19)["scores"]
    assert torch.equal(torch.rand(3), expected)
    assert [*scores] == [str(epoch) for epoch in EPOCHS]
    assert all(low <= score <= high for score, low, high in scores.values())


def test_in_the_stored_trainings_ten_epochs_are_better_than_five() -> None:
    parts = json.loads(RESULTS.read_text("utf-8"))["parts"]
    assert [*parts] == [f"seed {seed}" for seed in SEEDS]
    for part in parts.values():
        five, ten = (part["scores"][str(epoch)] for epoch in EPOCHS)
        assert 25 < five[0] < ten[0] < 70
        assert all(low < score < high for score, low, high in (five, ten))
