"""The study of the heads of a published network: its sentences are fair, its numbers add up, and what is stored."""

import json
from typing import NamedTuple

import pytest
import torch

from studies.real_network import (
    HEADS,
    KINDS,
    RESULTS,
    NetworkSettings,
    answers_in,
    answers_of,
    average_of_words,
    changes,
    meaning_triples,
    meanings,
    order_items,
    paraphrases,
    reading_once,
    sign_test,
    tf_idf,
    translated_characters,
    with_a_word_more,
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


def test_searches_that_know_no_order():
    """Pieces 0 and 9 stand at the ends of each list; 7 and 8 are in one text of two, 5 is in both and tells nothing."""
    collection = [[0, 5, 7, 9], [0, 5, 8, 8, 9]]
    found = tf_idf([*collection, [0, 7, 8, 9], [0, 6, 9]], collection)
    root = 0.5**0.5
    expected = torch.tensor([[0, 0, 1, 0], [0, 0, 0, 1], [0, 0, root, root], [0, 1, 0, 0]])
    torch.testing.assert_close(found, expected)

    class Words:
        words = torch.nn.Embedding.from_pretrained(torch.tensor([[9.0, 9], [4, 0], [0, 2]]))

    torch.testing.assert_close(average_of_words(Words, [[0, 1, 2, 2, 0]]), torch.tensor([[root, root]]))


def test_a_search_reads_no_sentence_twice():
    read = []

    def sums(lists):
        read.extend(lists)
        return torch.tensor([[float(sum(ids))] for ids in lists])

    search = reading_once(sums)
    assert search([[1, 2], [4], [1, 2]]).tolist() == [[3], [4], [3]]
    assert search([[4], [5, 6], [1, 2]]).tolist() == [[4], [11], [3]]
    assert read == [[1, 2], [4], [5, 6]]


def test_answers_of_a_search_that_gives_all_texts_one_vector():
    """It is as good as guessing between two, and right in no question with two ways."""

    class Tokenizer:
        encode_batch = staticmethod(lambda texts: [Encoding([0, 0]) for _ in texts])

    found = answers_of(lambda lists: torch.ones(len(lists), 1), Tokenizer)
    assert found["paraphrase"] < 0.1
    assert (found["meaning"], found["not"], found["who"]) == (0.5, 0, 0)


class Encoding(NamedTuple):
    ids: list[int]


def test_stored_answers_are_means_over_draws_and_kinds():
    kinds = {kind: [0, 0, 0.0] for kind in KINDS}
    part = {"paraphrases": 0.9, "word": 0.7, "sentence": 0.6}
    part["order"] = [kinds | {"quality": [1, 1, 0.5], "gift": [1, 1, 1.0]}, kinds]
    assert answers_in(part) == {"paraphrase": 0.9, "word": 0.7, "meaning": 0.6, "not": 0.25, "who": 0.1}


def test_a_word_more_stands_behind_the_verb():
    rows = with_a_word_more(["not", "still"])
    assert ["I am cold.", "I'm cold.", "I am not cold.", "I am still cold."] in rows
    sentences, others = paraphrases()
    for sentence, paraphrase, negated, still in rows:
        assert sentences.index(paraphrase) in others[sentences.index(sentence)]
        assert negated == still.replace(" still ", " not ")
        assert negated.replace(" not ", " ") == sentence


def test_paraphrases_share_the_characters_of_their_translation():
    sentences, _ = paraphrases()
    values = translated_characters()
    assert len(values) == len(sentences)
    assert values.min() == 0
    assert values.max() == 1
    assert torch.equal(*(values[sentences.index(text)] for text in ("I am cold.", "I'm cold.")))
    assert values[sentences.index("I am cold.")].sum() == 2  # 我冷
