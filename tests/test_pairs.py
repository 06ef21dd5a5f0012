"""Pair files: every oddity of the real files, splits that share nothing, mistakes that are named by line."""

import codecs
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.corpus.pairs import (
    DATA_VARIABLE,
    choose_languages,
    data_folder,
    find_file,
    normalise,
    read_pairs,
    tokenise,
)
from utils.corpus.splits import group_split


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def real_file(name: str) -> Path:
    path = data_folder() / "tatoeba" / name
    if not path.is_file():
        pytest.skip(f"no {path}; {DATA_VARIABLE} names the data folder")
    return path


# Where files are found


def test_the_data_folder_is_what_the_variable_names_else_a_cache(monkeypatch, tmp_path):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.setenv(DATA_VARIABLE, "")
    assert data_folder().name == "attention-course"
    monkeypatch.delenv(DATA_VARIABLE)
    assert data_folder().name == "attention-course"


def test_a_file_is_found_by_its_path_or_within_the_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    (tmp_path / "here").mkdir()
    path = write(tmp_path / "here" / "fra.txt", "a\tb\n")
    assert find_file(path) == path
    assert find_file("here/fra.txt") == path
    assert read_pairs("here/fra.txt").rows == [("a", "b")]


def test_a_missing_file_is_one_clear_error(monkeypatch, tmp_path):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    with pytest.raises(FileNotFoundError) as error:
        read_pairs("none/fra.txt")
    message = str(error.value)
    for part in (str(Path("none/fra.txt")), str(tmp_path / "data"), DATA_VARIABLE, "manythings.org/anki"):
        assert part in message
    monkeypatch.delenv(DATA_VARIABLE)
    with pytest.raises(FileNotFoundError, match="not set"):
        find_file("none/fra.txt")


# Reading


@pytest.mark.parametrize("attribution", ["", "\tCC-BY 2.0 tatoeba.org #1 & #2", "\ta\tb\tc"])
@pytest.mark.parametrize("bom", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_columns_marks_and_line_ends(tmp_path, attribution, bom, end):
    lines = ["Hi.\tSalut !", "Go on.\tContinue."]
    text = "".join(line + attribution + end for line in lines)
    pairs = read_pairs(write(tmp_path / "p.txt", bom + text.encode()))
    assert pairs.columns == ("en", "fr")
    assert pairs.rows == [("Hi.", "Salut !"), ("Go on.", "Continue.")]
    assert pairs.bad_rows == {}
    assert read_pairs(write(tmp_path / "q.txt", bom + text.rstrip().encode())).rows == pairs.rows


def test_unicode_line_separators_are_part_of_a_sentence(tmp_path):
    path = write(tmp_path / "p.txt", "one\u2028two\x85three\x0bfour\tun deux\n")
    assert read_pairs(path).rows == [("one two three four", "un deux")]


def test_rows_are_turned_round(tmp_path):
    pairs = read_pairs(write(tmp_path / "p.txt", "Hi.\t你好。\n"), ("en", "zh"))
    assert pairs.between("en", "zh") == [("Hi.", "你好。")]
    assert pairs.between("zh", "en") == [("你好。", "Hi.")]
    for src, tgt in (("en", "fr"), ("en", "en"), ("fr", "de")):
        with pytest.raises(ValueError, match="must be the two columns en and zh, got"):
            pairs.between(src, tgt)


def test_bad_rows_are_counted_and_named(tmp_path):
    good = b"a\tb\n" * 95
    bad = b"alone\n\n\tb\na\t \xe2\x80\x8b \na\xff\tb\na\tb\x00c\n"
    path = write(tmp_path / "p.txt", good + bad)
    pairs = read_pairs(path, max_bad_share=0.05)
    assert len(pairs.rows) == 95
    assert pairs.bad_rows == {
        96: "one column where two are wanted, separated by a tab",
        98: "the en side is empty",
        99: "the fr side is empty",
        100: "byte 2 is not UTF-8",
        101: "a NUL byte",
    }
    with pytest.raises(
        ValueError, match=r"p\.txt: 5 of 100 rows are bad, more than the 1% .*line 96: one col"
    ):
        read_pairs(path)


@pytest.mark.parametrize("content", ["", "\n \r\n", "\ufeff"])
def test_a_file_without_rows_is_an_error(tmp_path, content):
    with pytest.raises(ValueError, match=r"p\.txt holds no sentence pair"):
        read_pairs(write(tmp_path / "p.txt", content))


@pytest.mark.parametrize(
    ("encoding", "message"),
    [("utf-16", "is UTF-16; save it as UTF-8"), ("latin-1", "line 1: byte 5 is not UTF-8")],
)
def test_another_encoding_is_an_error(tmp_path, encoding, message):
    with pytest.raises(ValueError, match=message):
        read_pairs(write(tmp_path / "p.txt", "hot\tété\nhot\tété\n".encode(encoding)))


@pytest.mark.parametrize("columns", [("en",), (), ("en", "en"), ("en", "fr", "zh"), ("en", ""), ("EN", "fr")])
def test_columns_must_be_two_languages(tmp_path, columns):
    with pytest.raises(ValueError, match="columns must be two different language codes"):
        read_pairs(write(tmp_path / "p.txt", "a\tb\n"), columns)


def test_languages_that_are_not_said_are_filled_in():
    both = (("en", "fr"), "fr", "en")
    assert choose_languages(("en", "fr"), "fr", "en") == both
    assert choose_languages(["en", "fr"], "fr", None) == both
    assert choose_languages(["en", "fr"], None, "en") == both
    assert choose_languages(["en", "fr"], None, None) == (("en", "fr"), "en", "fr")
    assert choose_languages(None, "de", "en") == (("de", "en"), "de", "en")
    for columns, src, tgt, message in (
        (None, "de", None, "name the columns, or both"),
        (None, "de", "de", "two different language codes"),
        (["en", "fr"], "de", None, "columns en and fr, got de and fr"),
        (["en", "fr"], "en", "en", "columns en and fr, got en and en"),
    ):
        with pytest.raises(ValueError, match=message):
            choose_languages(columns, src, tgt)


# Normalising and tokenising


@pytest.mark.parametrize(
    ("text", "lang", "wanted"),
    [
        ("C\u2019est\u202fquoi\u00a0?", "fr", "C'est quoi ?"),
        ("\u2018a\u2019\u2009b\u200bc\u00add\ufeff", "en", "'a' bcd"),
        ("  a \t b\r\n", "en", "a b"),
        ("e\u0301te\u0301", "fr", "été"),
        ("漢語\u3000很 難。", "zh", "汉语很难。"),
        ("他 有 3 本 book 。", "zh", "他有3本book。"),
        ("iPhone 5 不好", "zh", "iPhone 5不好"),
        ("我\u200b們 ， 好 ！", "zh", "我们，好！"),
        ("漢 字", "ja", "漢 字"),
        ("", "zh", ""),
    ],
)
def test_normalise(text, lang, wanted):
    assert normalise(text, lang) == wanted


@given(st.text(), st.sampled_from(["en", "fr", "zh"]))
def test_normalising_once_is_enough(text, lang):
    once = normalise(text, lang)
    assert normalise(once, lang) == once
    assert "\n" not in once
    assert once == once.strip()


@pytest.mark.parametrize(
    ("text", "lang", "wanted"),
    [
        ("L'homme n'est pas là !", "fr", ["L'", "homme", "n'", "est", "pas", "là", "!"]),
        ("Don't do 'that'.", "en", ["Don't", "do", "'", "that", "'", "."]),
        ("汤姆有3本book，对吗？", "zh", ["汤", "姆", "有", "3", "本", "book", "，", "对", "吗", "？"]),
        ("", "en", []),
    ],
)
def test_tokenise(text, lang, wanted):
    assert tokenise(text, lang) == wanted


@given(st.text(alphabet="ab1é'.,!我汉 ", max_size=29), st.sampled_from(["en", "fr", "zh"]))
def test_tokens_hold_all_but_the_blanks(text, lang):
    assert "".join(tokenise(text, lang)) == text.replace(" ", "")


# Splitting


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
        [at] = [i for i, part in enumerate(parts) if rows & part]
        assert rows <= parts[at]
        counts[at] += 1
    assert counts == [len(groups) - num_test - num_valid, num_valid, num_test]


def test_case_blanks_and_punctuation_do_not_hide_a_leak():
    pairs = [("Go on!", "a"), ("go on", "b"), ("GO ON .", "c"), ("x", "B?"), ("...", "y"), ("!", "z")]
    split = group_split(pairs, num_test=1, num_valid=1, seed=0)
    tested = {(example.source, target) for example in split.test for target in example.references}
    parts = [set(split.train), set(split.valid), tested]
    assert sorted(map(len, parts)) == [1, 1, 4]


def test_references_of_a_source_are_gathered_once_each_in_order():
    pairs = [("s", "b"), ("u", "c"), ("s", "a"), ("s", "b"), ("u", "b"), ("v", "v")]
    for seed in range(9):
        split = group_split(pairs, num_test=1, num_valid=0, seed=seed)
        if split.train == [("v", "v")]:
            assert split.test == [("s", ("b", "a")), ("u", ("c", "b"))]
            return
    pytest.fail("no seed tests on the group of four")


def test_the_same_word_in_both_languages_is_no_link():
    assert len(group_split([("non", "a"), ("b", "non")], num_test=1, num_valid=0).test) == 1


def test_the_seed_alone_settles_the_split():
    pairs = [(f"s{i}", f"t{i % 31}") for i in range(97)]
    first = group_split(pairs, num_test=7, num_valid=5, seed=1)
    assert group_split(pairs, num_test=7, num_valid=5, seed=1) == first
    assert group_split(pairs, num_test=7, num_valid=5, seed=2) != first


def test_too_few_groups_are_an_error():
    with pytest.raises(
        ValueError, match=r"3 pairs form 2 groups .* too few to keep 1 for testing and 1 for val"
    ):
        group_split([("a", "b"), ("a", "c"), ("d", "e")], num_test=1, num_valid=1)
    with pytest.raises(ValueError, match="must not be negative, got -1 and 0"):
        group_split([("a", "b")], num_test=-1, num_valid=0)


def test_hash_seeds_change_nothing(tmp_path):
    pairs = [(f"s {i} x", f"t {i % 31}") for i in range(97)]
    program = (
        "from utils.corpus.splits import group_split\nfrom utils.corpus.vocabulary import Vocabulary\n"
        f"split = group_split({pairs!r}, num_test=7, num_valid=5, seed=1)\n"
        "texts = [source for source, _ in split.train]\n"
        "print(split, Vocabulary.bpe(texts, 300).to_json())\n"
        "print(Vocabulary.words(map(str.split, texts)).to_json())"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1


# The real files


@pytest.mark.parametrize(
    ("name", "columns", "num_rows"), [("fra.txt", ("en", "fr"), 167_130), ("cmn.txt", ("en", "zh"), 32_028)]
)
def test_the_real_files_are_read_and_split_without_a_leak(name, columns, num_rows):
    pairs = read_pairs(real_file(name), columns)
    assert len(pairs.rows) == num_rows
    assert pairs.bad_rows == {}
    odd = set("\u00a0\u2009\u202f\u3000\u00ad\u200b\ufeff\u2018\u2019")
    assert not any(odd & set(first + second) for first, second in pairs.rows)
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
