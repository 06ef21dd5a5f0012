"""Splits: parts that share no sentence, whatever the links between pairs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utils.corpus.pairs import tokenise
from utils.corpus.splits import folded, group_split

pytestmark = pytest.mark.usefixtures("unchecked_shapes")  # the check would take most of the time


def components(pairs) -> list[set[int]]:
    """The slow specification: merge groups of rows while any two share a sentence."""
    groups = [{row} for row in range(len(pairs))]

    def sentences(group):
        return {(side, pairs[row][side]) for row in group for side in (0, 1)}

    merged = True
    while merged:
        merged = False
        for i in range(len(groups)):
            for j in range(i + 1, len(groups)):
                if sentences(groups[i]) & sentences(groups[j]):
                    groups[i] |= groups.pop(j)
                    merged = True
                    break
            if merged:
                break
    return groups


sides = st.integers(0, 12).map(lambda i: "abcdefghijklm"[i])


@given(st.lists(st.tuples(sides, sides), min_size=1, max_size=23), st.integers(0, 99))
@settings(max_examples=50)
def test_parts_are_whole_components(pairs, seed):
    groups = components(pairs)
    num_test, num_valid = len(groups) // 3, (len(groups) - 1) // 3
    split = group_split(pairs, num_test=num_test, num_valid=num_valid, seed=seed)
    tested = {(example.source, target) for example in split.test for target in example.references}
    parts = [set(split.train), set(split.valid), tested]
    assert len(split.train) + len(split.valid) + sum(pair in tested for pair in pairs) == len(pairs)
    counts = [0, 0, 0]
    for group in groups:
        rows = {pairs[row] for row in group}
        [index] = [i for i, part in enumerate(parts) if rows & part]
        assert rows <= parts[index]
        counts[index] += 1
    assert counts == [len(groups) - num_test - num_valid, num_valid, num_test]


def test_case_and_punctuation_do_not_hide_leaks():
    pairs = [("Go on!", "a"), ("go on", "b"), ("GO ON .", "c"), ("x", "B?"), ("...", "y"), ("!", "z")]
    with pytest.raises(ValueError, match="6 pairs form 3 groups"):
        group_split(pairs, num_test=2, num_valid=1)


def test_the_marks_of_letters_count():
    """The vowel signs of Hindi are marks: without them "I" and "in" would be one sentence."""
    assert folded("मैं") != folded("में")
    assert folded("हिन्दी !") == folded("हिन्दी") == "हिन्दी"
    assert tokenise("हिन्दी में ।", "hi") == ["हिन्दी", "में", "।"]


def test_references_of_a_source_are_gathered_in_order():
    pairs = [("s", "b"), ("u", "c"), ("s", "a"), ("s", "b"), ("u", "b"), ("v", "v")]
    for seed in range(9):
        split = group_split(pairs, num_test=1, num_valid=0, seed=seed)
        if split.train == [("v", "v")]:
            assert split.test == [("s", ("b", "a")), ("u", ("c", "b"))]
            return
    pytest.fail("no seed tests on the group of four")


def test_too_few_groups_are_an_error():
    with pytest.raises(
        ValueError, match=r"3 pairs form 2 groups .* too few to keep 1 for testing and 1 for val"
    ):
        group_split([("a", "b"), ("a", "c"), ("d", "e")], num_test=1, num_valid=1)
    with pytest.raises(ValueError, match="must not be negative, got -1 and 0"):
        group_split([("a", "b")], num_test=-1, num_valid=0)


@pytest.mark.parametrize(
    ("num_groups", "num_test", "num_valid"), [(9, 0, 0), (307, 30, 30), (6007, 600, 500), (12_007, 1000, 500)]
)
def test_a_tenth_of_a_small_file_is_held_out(num_groups, num_test, num_valid):
    pairs = [(f"s{i}", f"t{i}") for i in range(num_groups)]
    split = group_split(pairs)
    assert (len(split.test), len(split.valid)) == (num_test, num_valid)
    assert len(group_split(pairs, num_test=3).valid) == num_valid
    assert len(group_split(pairs, num_valid=0).test) == num_test
