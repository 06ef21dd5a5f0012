"""From a pair file to a training: the same split and ids as from lists, read once and kept in flat arrays."""

import pickle
from dataclasses import replace
from hashlib import sha256
from itertools import product
from pathlib import Path

import pytest
from tiny import SETTINGS, pair_lines, tiny_data, write_pairs

from utils.corpus.pairs import read_pairs
from utils.corpus.splits import group_split
from utils.corpus.vocabulary import Vocabulary, encode_pairs
from utils.translator.training import data as module
from utils.translator.training.data import FlatIds, PairData, Rows, prepare

COLUMNS = ("en", "fr")


def test_file_gives_the_split_and_ids_of_lists(tmp_path):
    prepared = prepare(tiny_data(tmp_path), SETTINGS, batch_size=32)
    split = group_split(read_pairs(tmp_path / "pairs.txt").between("en", "fr"), num_test=7, num_valid=5)
    src, tgt = (Vocabulary.bpe(side, 360) for side in zip(*split.train, strict=True))
    assert prepared.test == split.test
    assert prepared.src_vocabulary.to_json() == src.to_json()
    assert prepared.tgt_vocabulary.to_json() == tgt.to_json()
    assert prepared.valid == encode_pairs(split.valid, src, tgt, max_tokens=100)
    ids = encode_pairs(split.train, src, tgt, max_tokens=100)
    assert (list(prepared.batches.src_ids), list(prepared.batches.tgt_ids)) == ids


def test_the_file_is_hashed_while_it_is_read(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.txt")
    pairs.write_bytes(b"\xef\xbb\xbf" + pairs.read_bytes() + b"alone\n")
    prepared = prepare(PairData(pairs, COLUMNS), SETTINGS, batch_size=32)
    assert (prepared.file, prepared.sha256) == (pairs, sha256(pairs.read_bytes()).hexdigest())


def test_columns_may_be_in_the_other_order(tmp_path):
    """The same sentences with their columns exchanged give the same training, and the first row is told as it is."""
    data, told = tiny_data(tmp_path), []
    one = prepare(data, SETTINGS, batch_size=32)
    rows = [line.split("\t") for line in pair_lines()]
    swapped = tmp_path / "swapped.txt"
    swapped.write_text("".join(f"{second}\t{first}\n" for first, second in rows), encoding="utf-8")
    data = replace(data, pairs=swapped, columns=("fr", "en"))
    two = prepare(data, SETTINGS, batch_size=32, notify=told.append)
    assert list(two.batches.tgt_ids) == list(one.batches.tgt_ids)
    assert told[1] == f"  column 1 is fr: {rows[0][1]}  column 2 is en: {rows[0][0]}"


def test_a_column_of_numbers_is_refused(tmp_path):
    pairs = tmp_path / "pairs.txt"
    pairs.write_text("".join(f"{row}\t{line}\n" for row, line in enumerate(pair_lines())), encoding="utf-8")
    with pytest.raises(ValueError, match="100% of the en column are no sentences but cells such as"):
        prepare(PairData(pairs, COLUMNS), SETTINGS, batch_size=32)


@pytest.mark.parametrize(("size", "num_bytes"), [(2**16, 2), (2**16 + 1, 4)])
def test_ids_take_as_many_bytes_as_the_vocabulary_needs(size, num_bytes):
    ids = FlatIds(size)
    rows = [[size - 1, 0], [], [7] * 5000]
    for row in rows:
        ids.append(row)
    assert list(ids) == rows
    assert ids[-1] == rows[-1]
    with pytest.raises(IndexError):
        ids[3]
    assert 5000 * num_bytes < len(pickle.dumps(ids)) < 5000 * num_bytes + 500


def test_a_small_file_holds_out_a_tenth_and_says_it(tmp_path):
    told = []
    data = PairData(numbered_pairs(tmp_path / "pairs.txt", 307), COLUMNS)
    prepared = prepare(data, SETTINGS, batch_size=32, notify=told.append)
    assert (len(prepared.test), len(prepared.valid[0]), prepared.rows.train) == (30, 30, 247)
    assert told[1] == "holding out 30 pairs to test on and 30 to validate on"


def test_bad_rows_are_counted_and_the_first_named(tmp_path):
    lines = pair_lines() * 9
    pairs = tmp_path / "pairs.txt"
    pairs.write_text("\n".join(["alone", "\tright", *lines, "left\t", "alone"]), encoding="utf-8")
    rows = prepare(PairData(pairs, COLUMNS, num_test=3, num_valid=0), SETTINGS, batch_size=128).rows
    assert (rows.good, rows.bad, list(rows.first_bad)) == (len(lines), 4, [1, 2, len(lines) + 3])
    assert str(rows).endswith(f"line {len(lines) + 3}: the fr side is empty; ...)")


def test_long_sentences_are_left_out_and_counted(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.txt")
    pairs.write_text(pairs.read_text() + "long " * 4999 + "\t" + "long " * 4999 + "\n")
    told = []
    data = PairData(pairs, COLUMNS, num_test=3, num_valid=0, max_tokens=40)
    prepared = prepare(data, SETTINGS, batch_size=32, notify=told.append)
    assert max(map(len, prepared.batches.tgt_ids)) <= 40
    num_pairs, num_test = len(pair_lines()), sum(len(example.references) for example in prepared.test)
    assert prepared.rows == Rows(num_pairs + 1, bad=0, first_bad={}, train=num_pairs - num_test, too_long=1)
    assert told[-1] == f"learning the vocabularies from {num_pairs - num_test} pairs"


def test_vocabularies_are_learned_from_evenly_spaced_pairs(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LEARNED_FROM", 30)
    told = []
    prepare(tiny_data(tmp_path), SETTINGS, batch_size=32, notify=told.append)
    assert told[-1] == "learning the vocabularies from 29 pairs"  # every third of 86


@pytest.mark.parametrize("num_valid", [0, 3])
def test_only_sentences_that_are_too_long_fail(tmp_path, num_valid):
    data = PairData(write_pairs(tmp_path / "pairs"), COLUMNS, num_test=3, num_valid=num_valid, max_tokens=2)
    with pytest.raises(ValueError, match=r"no pair to (train|validate) on has at most 2 tokens"):
        prepare(data, SETTINGS, batch_size=32)


def numbered_pairs(path: Path, num: int) -> Path:
    """Sentences that are all different, of few different words."""
    words = [f"{a}{b}{c}" for a, b, c in product("bcdfglmnprst", "aeiou", "lnrst")]
    with path.open("w") as file:
        for row in range(num):
            numbers = (row % 300, row // 300 % 300, row // 90_000)
            sentence = " ".join(words[number] for number in numbers)
            file.write(f"{sentence} here and {sentence} there\t{sentence} ici et {sentence} là\n")
    return path
