"""The study of the heads of a published network: its sentences are fair, its numbers add up, and what is stored."""

import json

import pytest
import torch

from studies.real_network import (
    HEADS,
    KINDS,
    RESULTS,
    NetworkSettings,
    changes,
    meaning_triples,
    meanings,
    order_items,
    paraphrases,
    sign_test,
)
from utils.corpus.pairs import tokenise


@pytest.mark.parametrize("kind", KINDS)
def test_both_sentences_of_a_pair_have_the_same_words(kind):
    items = order_items(40, seed=0)[kind]
    assert len(set(items)) == 40
    for item in items:
        for right, wrong in (item.kept, item.turned):
            assert right != wrong
            words = [sorted(tokenise(text.lower(), "en")) for text in (right, wrong)]
            assert words[0] == words[1]
    assert order_items(40, seed=0)[kind] == items
    assert order_items(40, seed=1)[kind] != items


def test_each_word_of_two_meanings_stands_once_in_four_sentences():
    rows = meanings()
    assert len(rows) == len({row[0] for row in rows}) == 48
    assert len({sentence for row in rows for sentence in row[1:]}) == 192
    for word, *sentences in rows:
        assert len(sentences) == 4
        assert all(tokenise(sentence.lower(), "en").count(word) == 1 for sentence in sentences)


def test_triples_are_of_one_word():
    triples = meaning_triples()
    assert len(set(triples)) == 48 * 8
    for one, same, other in triples:
        assert one != same
        assert one // 2 == same // 2 != other // 2
        assert one // 4 == other // 4


def test_paraphrases_are_mutual():
    sentences, same = paraphrases()
    assert len(sentences) == len(set(sentences)) == 1203
    assert all(i not in others and all(i in same[j] for j in others) for i, others in enumerate(same))


def test_the_sign_test():
    assert sign_test(0, 0) == sign_test(3, 3) == 1
    assert sign_test(5, 0) == sign_test(0, 5) == pytest.approx(2 / 32)
    assert sign_test(8, 1) == pytest.approx(2 * 10 / 512)
    found = changes(torch.tensor([True, True, False, True]), torch.tensor([False, True, True, False]))
    assert found == {"change": -0.25, "worse": 2, "better": 1, "p": 1.0}


def test_the_stored_results_are_those_of_these_settings():
    stored = json.loads(RESULTS.read_text("utf-8"))
    assert stored["settings"] == json.loads(json.dumps(NetworkSettings()._asdict()))
    assert len(stored["parts"]["each head"]) == len(HEADS) + 1  # and the minutes
