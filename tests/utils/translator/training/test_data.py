"""From a pair file to a training: the same split as in memory, ids in files, and nothing kept of each pair."""

from itertools import product
from pathlib import Path

import pytest
from tiny import SETTINGS, tiny_data, write_pairs

from utils.corpus.pairs import read_pairs
from utils.corpus.splits import group_split
from utils.corpus.vocabulary import Vocabulary, encode_pairs
from utils.translator.runs import train_run
from utils.translator.training import data as module
from utils.translator.training.data import PairData, prepare
from utils.translator.training.loop import Schedule

COLUMNS = ("en", "fr")


def test_file_gives_the_split_and_ids_of_lists(tmp_path):
    prepared = prepare(tiny_data(tmp_path), SETTINGS, tmp_path / "ids", batch_size=32)
    split = group_split(read_pairs(tmp_path / "pairs.txt").between("en", "fr"), num_test=7, num_valid=5)
    src, tgt = (Vocabulary.bpe(side, 360) for side in zip(*split.train, strict=True))
    assert prepared.test == split.test
    assert prepared.src_vocabulary.to_json() == src.to_json()
    assert prepared.tgt_vocabulary.to_json() == tgt.to_json()
    assert prepared.valid == encode_pairs(split.valid, src, tgt, max_tokens=100)
    ids = encode_pairs(split.train, src, tgt, max_tokens=100)
    assert (list(prepared.batches.src_ids), list(prepared.batches.tgt_ids)) == ids
    assert prepared.batches.src_ids[-1] == ids[0][-1]
    with pytest.raises(IndexError):
        prepared.batches.src_ids[len(ids[0])]
    assert {path.name for path in (tmp_path / "ids").iterdir()} == {
        *("src.vocabulary.json", "tgt.vocabulary.json", "ids", "ends", "facts.json")
    }


def test_a_small_file_holds_out_a_tenth_and_says_it(tmp_path):
    told = []
    data = PairData(numbered_pairs(tmp_path / "pairs.txt", 307), COLUMNS)
    prepared = prepare(data, SETTINGS, tmp_path / "ids", batch_size=32, notify=told.append)
    assert (len(prepared.test), len(prepared.valid[0]), prepared.rows.train) == (30, 30, 247)
    assert told[1] == "holding out 30 pairs to test on and 30 to validate on"


def test_second_call_does_not_read_the_pairs(tmp_path):
    pairs = write_pairs(tmp_path / "pairs.txt")
    pairs.write_text(pairs.read_text() + "alone\n")
    data = PairData(pairs, COLUMNS, num_test=7, num_valid=5)
    prepared = [prepare(data, SETTINGS, tmp_path / "ids", batch_size=32)]
    pairs.unlink()
    prepared.append(prepare(data, SETTINGS, tmp_path / "ids", batch_size=32))
    assert prepared[0].rows == prepared[1].rows
    assert prepared[0].rows.first_bad == {101: "a row must have two columns separated by a tab, got one"}
    first, again = ([list(side) for side in (p.batches.src_ids, p.batches.tgt_ids)] for p in prepared)
    assert first == again


def test_reading_cut_short_is_done_again(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(module, "_write_ids", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            prepare(tiny_data(tmp_path), SETTINGS, tmp_path / "ids", batch_size=32)
    assert len(prepare(tiny_data(tmp_path), SETTINGS, tmp_path / "ids", batch_size=32).batches) == 3


def test_vocabularies_are_learned_from_evenly_spaced_pairs(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LEARNED_FROM", 30)
    told = []
    prepare(tiny_data(tmp_path), SETTINGS, tmp_path / "ids", batch_size=32, notify=told.append)
    assert told[-1] == "learning the vocabularies from 29 pairs"  # every third of 86


@pytest.mark.parametrize("num_valid", [0, 3])
def test_only_sentences_that_are_too_long_fail(tmp_path, num_valid):
    data = PairData(write_pairs(tmp_path / "pairs"), COLUMNS, num_test=3, num_valid=num_valid, max_tokens=2)
    with pytest.raises(ValueError, match=r"no pair to (train|validate) on has at most 2 tokens"):
        train_run(data, SETTINGS, Schedule(steps=5), out=tmp_path / "run")


def numbered_pairs(path: Path, num: int) -> Path:
    """Sentences that are all different, of few different words."""
    words = [f"{a}{b}{c}" for a, b, c in product("bcdfglmnprst", "aeiou", "lnrst")]
    with path.open("w") as file:
        for row in range(num):
            numbers = (row % 300, row // 300 % 300, row // 90_000)
            sentence = " ".join(words[number] for number in numbers)
            file.write(f"{sentence} here and {sentence} there\t{sentence} ici et {sentence} là\n")
    return path
