"""From a pair file to what a training needs: a split without leaks, vocabularies, and ids in flat arrays.

The training is in ``runs`` and ``loop``.
Explained in book/your_translator.
"""

import hashlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from utils.corpus.batches import ShuffledBatches
from utils.corpus.pair_warnings import shortened, warnings_about
from utils.corpus.pairs import PairFiles, check_share, choose_languages, find_files, read_rows
from utils.corpus.splits import TEST, TRAIN, VALID, Example, examples_of, parts_of_rows
from utils.corpus.text_files import refuse_text
from utils.corpus.vocabulary import Vocabulary, encode_pairs
from utils.errors import CourseError
from utils.training import Ids
from utils.translator.models import Settings

#: The vocabularies are learned from at most so many pairs, which are spread evenly over the file.
LEARNED_FROM = 200_000
#: Longer sentences are left out when the vocabularies are learned: the time grows with the square of a word's length.
MAX_LEARNED = 5000
#: Pairs that are encoded together.
_AT_ONCE = 10_000

Pair = tuple[str, str]
#: Takes a message to the user.
Notify = Callable[[str], object]


def silent(_message: str) -> None:
    """Ignore the message."""


@dataclass(frozen=True)
class PairData:
    """A file of pairs, or two files, and which of the pairs to train on.

    Attributes:
        pairs: the file or the two files, as for :func:`utils.corpus.pairs.read_pairs`.
        columns: languages of the columns or of the files, in their order.
        num_test: groups of sentences for testing; by default as for :func:`utils.corpus.splits.group_split`.
        num_valid: groups for the held-out loss; by default likewise.
        max_tokens: pairs with a longer side are left out of training.
    """

    pairs: PairFiles
    columns: Sequence[str]
    num_test: int | None = None
    num_valid: int | None = None
    max_tokens: int = 100


@dataclass(frozen=True)
class Rows:
    """How the rows of a pair file were used.

    Attributes:
        good: rows that hold a pair.
        bad: rows that do not hold a pair and were left out.
        first_bad: what is wrong with the first three of them, by line number.
        train: pairs to train on.
        too_long: pairs that were left out because a side has too many tokens.
    """

    good: int
    bad: int
    first_bad: dict[int, str]
    train: int
    too_long: int

    def __str__(self) -> str:
        """The counts in words.

        >>> print(Rows(good=90, bad=2, first_bad={7: "one column", 8: "the fr side is empty"}, train=80, too_long=3))
        90 pairs, 80 to train on; left out: 3 too long, 2 bad rows (line 7: one column; line 8: the fr side is empty)
        """
        lines = "; ".join(f"line {number}: {reason}" for number, reason in self.first_bad.items())
        left_out = [f"{self.too_long} too long"] if self.too_long else []
        if self.bad:
            more = "; ..." if self.bad > len(self.first_bad) else ""
            left_out.append(f"{self.bad} bad rows ({lines}{more})")
        summary = f"{self.good} pairs, {self.train} to train on"
        return summary + (f"; left out: {', '.join(left_out)}" if left_out else "")


class TrainingData(NamedTuple):
    """The data for a training, which :func:`prepare` makes from a pair file.

    Attributes:
        src_vocabulary: of the source language.
        tgt_vocabulary: of the target language.
        batches: what to train on.
        valid: ids of the sources and targets for the held-out loss; None if there are none.
        test: the examples for testing.
        rows: how the rows of the file were used.
        digests: the file or the two files, and the SHA-256 of each.
    """

    src_vocabulary: Vocabulary
    tgt_vocabulary: Vocabulary
    batches: ShuffledBatches
    valid: tuple[Ids, Ids] | None
    test: list[Example]
    rows: Rows
    digests: dict[Path, str]


class FlatIds(Sequence[list[int]]):
    """Sentences of ids in one array, which has 2 or 4 bytes for each id; a list of lists needs up to 50.

    Args:
        vocabulary_size: which decides how many bytes.

    >>> sentences = FlatIds(9)
    >>> sentences.append([4, 5])
    >>> sentences.append([6])
    >>> list(sentences)
    [[4, 5], [6]]
    """

    def __init__(self, vocabulary_size: int):
        self._ids = array("H" if vocabulary_size <= 2**16 else "i")
        self._ends = array("q", [0])

    def append(self, sentence: Sequence[int]) -> None:
        """Add a sentence."""
        self._ids.extend(sentence)
        self._ends.append(len(self._ids))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: int) -> list[int]:
        number = range(len(self))[number]
        return self._ids[self._ends[number] : self._ends[number + 1]].tolist()


class _Read(NamedTuple):
    """What was read: the good rows, how many they are, the first one in the order of the file, and the bad rows."""

    text: bytes
    num_good: int
    first: Pair
    num_bad: int
    first_bad: dict[int, str]
    digests: dict[Path, str]


def prepare(data: PairData, settings: Settings, *, batch_size: int, notify: Notify = silent) -> TrainingData:
    """Read a pair file once, split it without leaks, learn its vocabularies, and turn its sentences into ids.

    Args:
        data: the file and its split.
        settings: languages, size of the vocabularies and seed of the split.
        batch_size: sentence pairs per batch.
        notify: gets a message before each part that may take long.

    Raises:
        FileNotFoundError, ValueError: as :func:`utils.corpus.pairs.read_pairs` and
            :func:`utils.corpus.splits.group_split`; or no pair is short enough to train or validate on.
    """
    read = _read(data, settings, notify)
    parts = parts_of_rows(
        _pairs(read.text), num_test=data.num_test, num_valid=data.num_valid, seed=settings.seed
    )
    test, valid, learn_from = _choose(read.text, parts)
    if data.num_test is None or data.num_valid is None:
        notify(f"holding out {len(test)} pairs to test on and {len(valid)} to validate on")
    show_pairs(data.columns, read.first, (settings.src, settings.tgt), learn_from, notify)
    learn_from = [pair for pair in learn_from if max(map(len, pair)) <= MAX_LEARNED]
    if not learn_from:
        raise CourseError(f"no pair to train on has at most {MAX_LEARNED} characters on both sides")
    notify(f"learning the vocabularies from {len(learn_from)} pairs")
    src, tgt = (Vocabulary.bpe(side, settings.vocabulary_size) for side in zip(*learn_from, strict=True))
    valid_ids = encode_pairs(valid, src, tgt, max_tokens=data.max_tokens)
    if valid and not valid_ids[0]:
        raise CourseError(f"no pair to validate on has at most {data.max_tokens} tokens on both sides")
    sides = _flat_ids(_train_pairs(read.text, parts), src, tgt, max_tokens=data.max_tokens)
    num_train = len(sides[0])
    if not num_train:
        raise CourseError(f"no pair to train on has at most {data.max_tokens} tokens on both sides")
    num_left_out = int((parts == TRAIN).sum()) - num_train
    return TrainingData(
        src,
        tgt,
        ShuffledBatches(*sides, batch_size=batch_size),
        valid_ids if valid else None,
        examples_of(test),
        Rows(read.num_good, read.num_bad, read.first_bad, num_train, num_left_out),
        read.digests,
    )


def _read(data: PairData, settings: Settings, notify: Notify) -> _Read:
    """The rows of the file or files, normalised, as (source, target) in one text: a Python string takes 50 bytes more.

    Raises:
        FileNotFoundError, ValueError: as :func:`utils.corpus.pairs.read_pairs`.
    """
    files = find_files(data.pairs)
    notify(f"reading {' and '.join(map(str, files))}")
    columns, src, _ = choose_languages(data.columns, settings.src, settings.tgt)
    hashes = [hashlib.sha256() for _ in files]
    text, first, first_bad = BytesIO(), None, {}
    num_good = num_bad = 0
    for number, row in read_rows(files, columns, hashes=hashes):
        if isinstance(row, str):
            num_bad += 1
            if len(first_bad) < 3:
                first_bad[number] = row
        else:
            num_good += 1
            first = first or row
            text.write("\t".join(row if src == columns[0] else row[::-1]).encode() + b"\n")
    check_share(files, num_good, num_bad, first_bad)
    digests = {path: sha.hexdigest() for path, sha in zip(files, hashes, strict=True)}
    return _Read(text.getvalue(), num_good, first, num_bad, first_bad, digests)


def _pairs(text: bytes) -> Iterator[Pair]:
    """The rows as (source, target); a normalised sentence holds no tab and no line end."""
    for line in BytesIO(text):
        source, target = line.decode().removesuffix("\n").split("\t")
        yield source, target


def _train_pairs(text: bytes, parts: np.ndarray) -> Iterator[Pair]:
    return (pair for pair, part in zip(_pairs(text), parts, strict=True) if part == TRAIN)


def _choose(text: bytes, parts: np.ndarray) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """The rows to test on, to validate on, and to learn the vocabularies from."""
    held_out = [(pair, part) for pair, part in zip(_pairs(text), parts, strict=True) if part != TRAIN]
    test, valid = ([pair for pair, part in held_out if part == wanted] for wanted in (TEST, VALID))
    every = int((parts == TRAIN).sum()) // LEARNED_FROM + 1
    return test, valid, list(islice(_train_pairs(text, parts), 0, None, every))


def _flat_ids(
    pairs: Iterator[Pair], src: Vocabulary, tgt: Vocabulary, *, max_tokens: int
) -> tuple[FlatIds, FlatIds]:
    """The ids of the pairs that are short enough: the sources, and the targets."""
    sides = FlatIds(len(src)), FlatIds(len(tgt))
    while some := list(islice(pairs, _AT_ONCE)):
        for flat, sentences in zip(sides, encode_pairs(some, src, tgt, max_tokens=max_tokens), strict=True):
            for ids in sentences:
                flat.append(ids)
    return sides


def show_pairs(
    columns: Sequence[str],
    first: tuple[str, str],
    languages: tuple[str, str],
    pairs: Sequence[tuple[str, str]],
    notify: Notify,
) -> None:
    """Say which columns of a file are read, show its first row and three pairs, and warn of what is odd in them.

    Args:
        columns: the languages of the file's columns.
        first: the first row, in that order.
        languages: source and target.
        pairs: of the file, in the order of ``languages``.
        notify: gets each message.
    """
    refuse_text(columns=columns, pairs=pairs)
    notify("  " + "  ".join(f"column {n} is {columns[n - 1]}: {shortened(first[n - 1], 60)}" for n in (1, 2)))
    examples = pairs[:: len(pairs) // 1000 + 1]
    for source, target in examples[:: len(examples) // 3 or 1][:3]:
        notify(f"  {languages[0]}: {shortened(source, 60)}  {languages[1]}: {shortened(target, 60)}")
    for warning in warnings_about(languages, first, examples):
        notify(f"warning: {warning}")
