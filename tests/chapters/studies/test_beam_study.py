"""The beam study: its trees, and its stored results."""

import json

import pytest
import torch

from studies.beam_study import (
    DIFFERENCES,
    GAMMAS,
    RESULTS,
    RIGHT,
    SEEDS,
    SENTENCE,
    TREES,
    WIDTHS,
    draw,
    measure_search,
    measured,
    repeats,
    tree,
)
from studies.length_study import grammar_task, train
from utils.corpus.batches import pad_ids
from utils.corpus.grammar import join_words
from utils.corpus.vocabulary import EOS
from utils.search import beam_search, greedy

STORED = json.loads(RESULTS.read_text("utf-8"))["parts"]


@pytest.fixture(scope="module")
def small():
    """A task, and a translator that has hardly learned anything but to come to an end."""
    task = grammar_task(8, num_tokens=2_000, longest=12, num_test=20, edges=(8,))
    model = train(task, "attention", width=16)
    with torch.no_grad():
        model.decoder.output.bias[EOS] += 1
    return task, model


def test_the_stored_results_are_of_these_searches() -> None:
    for seed in SEEDS:
        searches = STORED[f"seed {seed}"]["searches"]
        assert [(row["gamma"], row["width"]) for row in searches] == [(g, k) for g in GAMMAS for k in WIDTHS]
        for row in searches:
            assert row["bleu"] <= row["without_penalty"]
        # Greedy search compares no two lengths.
        greedy = [{**row, "gamma": 0} for row in searches if row["width"] == 1]
        assert greedy[0] == greedy[1]


def test_what_is_measured_has_a_row_for_each_seed_and_a_column_for_each_width() -> None:
    bleu = measured("bleu", 1)
    assert bleu.shape == (len(SEEDS), len(WIDTHS))
    [row] = [row for row in STORED["seed 2"]["searches"] if (row["gamma"], row["width"]) == (1, 10)]
    assert bleu[2, 3].item() == row["bleu"]


def test_the_questions_of_going_deeper_are_about_the_searches_of_the_first_seed() -> None:
    more = STORED["more"]
    bleu = {(row["width"], row["gamma"]): row["bleu"] for row in STORED["seed 0"]["searches"]}
    for name, searches in DIFFERENCES.items():
        test = more["tests"][name]
        assert (test["first"], test["second"]) == pytest.approx([bleu[one] for one in searches], abs=0.006)
    assert more["chosen"]["beam of 5"]["bleu"] == bleu[5, 1]
    assert more["phrases"]["greedy search"]["bleu"] == more["chosen"]["greedy search"]["bleu"] == bleu[1, 1]


def test_a_draw_at_a_low_temperature_is_what_greedy_search_writes(small) -> None:
    task, model = small
    sentences = task.test_ids[:7]
    lens = torch.tensor([len(ids) for ids in sentences])
    found = greedy(model, pad_ids(sentences), lens, max_len=60)
    certain = draw(model, sentences, 1e-4, torch.Generator().manual_seed(0))
    assert certain == [one.tokens for one in found]
    by_chance = draw(model, sentences, 1.0, torch.Generator().manual_seed(0))
    assert by_chance != certain


def test_a_phrase_is_repeated_where_three_words_in_a_row_come_again() -> None:
    assert repeats(["il", "a", "faim", "et", "il", "a", "faim"])
    assert not repeats(["il", "a", "faim", "et", "il", "a", "soif"])
    assert repeats(["la", "la", "la", "la"])


def test_the_stored_trees_are_of_a_sentence_in_which_the_beam_wins() -> None:
    stored = STORED["trees"]
    assert (stored["sentence"], stored["right"], [*stored["trees"]]) == (SENTENCE, RIGHT, [*map(str, TREES)])
    ends = {int(beam): join_words(steps[-1][0][0][:-1], "fr") for beam, steps in stored["trees"].items()}
    assert [beam for beam in TREES if ends[beam] == RIGHT] == [3, 5]


def test_a_tree_ends_with_what_the_tested_search_finds(small) -> None:
    task, model = small
    sentence = "Mary found the small white flower yesterday ."
    ids = task.read(sentence)
    for beam in (1, 3):
        steps = tree(model, task, sentence, beam)
        [found] = beam_search(
            model, torch.tensor([ids]), torch.tensor([len(ids)]), beam=beam, max_len=len(steps)
        )
        own = [words[:-1] for words, _ in steps[-1]]
        assert own == [task.tgt_vocabulary.tokens(one.tokens) for one in found]
        assert [share for _, share in steps[-1]] == pytest.approx(
            [torch.tensor(one.log_prob).exp().item() for one in found], abs=1e-4
        )


def test_a_wider_beam_reads_more_rows(small) -> None:
    task, model = small
    one, three = (measure_search(model, task, beam=beam, gamma=1) for beam in (1, 3))
    assert 2 * one["rows"] < three["rows"]
