"""Splits: parts that share no sentence, whatever the links between pairs."""

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utils.corpus.pairs import DATA_VARIABLE, data_folder, read_pairs, tokenise
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


def test_hash_seeds_change_nothing(tmp_path):
    pairs = [(f"s {i} x", f"t {i % 31}") for i in range(97)]
    program = (
        "from utils.corpus.splits import group_split\nfrom utils.corpus.vocabulary import Vocabulary\n"
        f"split = group_split({pairs!r}, num_test=7, num_valid=5, seed=1)\n"
        "texts = [source for source, _ in split.train]\n"
        "print(split, Vocabulary.bpe(texts, 300).to_json())\n"
        "print(Vocabulary.words(map(str.split, texts)).to_json())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


@pytest.mark.parametrize(
    ("name", "columns", "num_rows"), [("fra.txt", ("en", "fr"), 167_130), ("cmn.txt", ("en", "zh"), 32_028)]
)
def test_the_real_files_are_split_without_leaks(name, columns, num_rows):
    path = data_folder() / "tatoeba" / name
    if not path.is_file():
        pytest.skip(f"no {path}; {DATA_VARIABLE} names the data folder")
    pairs = read_pairs(path, columns)
    assert len(pairs.rows) == num_rows
    assert pairs.bad_rows == {}
    odd = set("\u00a0\u2009\u202f\u3000\u00ad\u200b\ufeff\u2018\u2019")
    assert not odd & set("".join(sentence for row in pairs.rows for sentence in row))
    split = group_split(pairs.between(*reversed(columns)))
    sides = [
        [{pair[side].casefold() for pair in split.train} for side in (0, 1)],
        [{pair[side].casefold() for pair in split.valid} for side in (0, 1)],
        [
            {example.source.casefold() for example in split.test},
            {reference.casefold() for example in split.test for reference in example.references},
        ],
    ]
    for side in (0, 1):
        assert not sides[0][side] & (sides[1][side] | sides[2][side])
        assert not sides[1][side] & sides[2][side]
    assert len(split.test) >= 1000
    assert any(len(example.references) > 1 for example in split.test)
