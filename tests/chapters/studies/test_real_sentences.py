"""The study of real sentences, on files of sentences of the grammar; and the stored results against the files."""

import json

import pytest

from studies.real_sentences import (
    PARTS,
    RESULTS,
    cohesive_words,
    groups_of,
    leak_of,
    links_by_table,
    longest_match,
    looked_up,
    model_1,
)
from utils.corpus.splits import Split, examples_of

pytestmark = pytest.mark.trains


def test_groups_by_hand():
    pairs = [("a", "x"), ("b", "y"), ("c", "z"), ("a", "w"), ("d", "Y!"), ("x", "a"), ("d", "w")]
    # a joins 0 and 3, w joins 3 and 6, d joins 6 and 4, y joins 4 and 1; Chinese x is not English x.
    assert groups_of(pairs) == [0, 0, 2, 0, 0, 5, 0]


def test_two_trainings_of_equal_size_differ_in_the_relatives_alone():
    train = [(f"t{i}", f"T{i}") for i in range(7)]
    tested = [("a", "x"), ("a", "y"), ("b", "y"), ("c", "z"), ("d", "w"), ("e", "w")]
    leak = leak_of(Split(train, [], examples_of(tested)))
    assert leak.has_relatives == [True, False, True]
    assert sorted(leak.test + leak.relatives) == tested
    assert len(leak.test) == len(leak.relatives) == 3
    assert leak.honest == train
    assert len(leak.leaky) == 7
    assert {*leak.leaky} - {*train} == {*leak.relatives}


def test_a_leak_is_compared_on_rows_with_relatives_and_without():
    tested = [("a", "one two three four"), ("a", "one two three five"), ("c", "six seven eight nine")]
    leak = leak_of(Split([("t", "T"), ("u", "U")], [], examples_of(tested)))
    right = [en for _, en in leak.test]
    compared = leak.compared(["wrong"] * 2, [right[0], "wrong"])
    assert [compared[name]["leaky"]["bleu"] for name in ("with relatives", "without")] == [100, 0]
    assert compared["with relatives"]["exact"] == {"honest": 0.0, "leaky": 1.0}
    assert {compared[name]["honest"]["num"] for name in compared} == {1}


def test_looking_up_divides_by_the_characters_of_either():
    # Both rows have all three characters; the second has as many others.
    rows = [("abcdef", "long"), ("abcd", "short"), ("xyz", "other")]
    assert looked_up(["abc", "zy"], rows) == ["short", "other"]


def test_words_that_cohere():
    # 图书 occurs 6 times among 60 characters, as often as each of its characters: 6 * 60 / (6 * 6) = 10.
    sentences = ["图书我你", "他图书她", "我你图书", "图书他她", "你图书他", "她我图书"] + [
        "我你他她我你"
    ] * 6
    assert "图书" in cohesive_words(sentences, ratio=10)
    assert cohesive_words(sentences, ratio=10.1) == set()


def test_the_longest_match_keeps_all_but_blanks():
    words = {"研究", "研究生", "生命", "起源"}
    assert longest_match("研究生命起源", words) == ["研究生", "命", "起源"]
    assert longest_match("我 study研究3", words) == ["我", "study", "研究", "3"]


def test_model_1_by_hand():
    pairs = [(["the", "flower"], ["la", "fleur"]), (["the", "house"], ["la", "maison"])]
    once, twice = model_1(pairs, rounds=1), model_1(pairs, rounds=2)
    assert once["the", "la"] == once["flower", "la"] == once["flower", "fleur"] == 0.5
    assert once["the", "maison"] == 0.25
    assert twice["flower", "fleur"] == pytest.approx(4 / 7)
    assert twice["the", "la"] == pytest.approx(0.6)
    assert links_by_table(model_1(pairs, rounds=9), *pairs[1]) == {(0, 0), (1, 1)}
    assert links_by_table({}, ["a", "b"], ["c"]) == {(0, 0)}


# The stored results


@pytest.fixture(scope="module")
def stored():
    return json.loads(RESULTS.read_text("utf-8"))


def test_the_stored_results_are_whole(stored):
    assert list(stored["parts"]) == list(PARTS)
    assert RESULTS.stat().st_size < 30 * 1024
