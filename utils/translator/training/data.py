"""From a pair file to what a training needs: a split without leaks, vocabularies, and ids in flat arrays.

The training is in ``runs`` and ``loop``.
Explained in book/your_translator.
"""

import hashlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from utils.checks import refuse_text
from utils.corpus.batches import ShuffledBatches
from utils.corpus.pair_warnings import check_sentences, shortened, warnings_about
from utils.corpus.pairs import check_share, choose_languages, find_file, read_rows
from utils.corpus.splits import TEST, TRAIN, VALID, Example, examples_of, parts_of_rows
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
    """A file of pairs, and which of the pairs to train on.

    Attributes:
        pairs: the file, as for :func:`utils.corpus.pairs.read_pairs`.
        columns: languages of the columns, in their order.
        num_test: groups of sentences for testing; by default as for :func:`utils.corpus.splits.group_split`.
        num_valid: groups for the held-out loss; by default likewise.
        max_tokens: pairs with a longer side are left out of training.
    """

    pairs: str | Path
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
        file: where the pairs were found.
        sha256: of the whole file.
    """

    src_vocabulary: Vocabulary
    tgt_vocabulary: Vocabulary
    batches: ShuffledBatches
    valid: tuple[Ids, Ids] | None
    test: list[Example]
    rows: Rows
    file: Path
    sha256: str


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


class _PairFile:
    """The good rows of a pair file as (source, target), and what is known of the others.

    The rows lie in one array of bytes, in UTF-8: as Python strings they would take a hundred bytes more each.
    """

    def __init__(self, path: Path, columns: tuple[str, str], src: str):
        self.path, self.columns, self.is_swapped = path, columns, src != columns[0]
        self.first: Pair | None = None  # in the order of the columns
        self.num_bad, self.first_bad, self.sha = 0, {}, hashlib.sha256()
        self._text, self._ends = bytearray(), array("q", [0])

    def read(self) -> Iterator[Pair]:
        """Read the file, and give each good row when it has been kept.

        Raises:
            ValueError: as :func:`utils.corpus.pairs.read_pairs`.
        """
        for number, row in read_rows(self.path, self.columns, sha=self.sha):
            if isinstance(row, str):
                self.num_bad += 1
                if len(self.first_bad) < 3:
                    self.first_bad[number] = row
                continue
            self.first = self.first or row
            pair = row[::-1] if self.is_swapped else row
            self._text += "\t".join(pair).encode()  # a normalised sentence holds no tab
            self._ends.append(len(self._text))
            yield pair
        check_share(self.path, len(self), self.num_bad, self.first_bad)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def rows(self, numbers: np.ndarray) -> list[Pair]:
        """The good rows of these numbers, counted from 0."""
        texts = (self._text[self._ends[row] : self._ends[row + 1]] for row in numbers.tolist())
        return [tuple(text.decode().split("\t")) for text in texts]


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
    path = find_file(data.pairs)
    notify(f"reading {path}")
    columns, src, _ = choose_languages(data.columns, settings.src, settings.tgt)
    file = _PairFile(path, columns, src)
    parts = parts_of_rows(file.read(), num_test=data.num_test, num_valid=data.num_valid, seed=settings.seed)
    test, valid = (file.rows(np.flatnonzero(parts == part)) for part in (TEST, VALID))
    train = np.flatnonzero(parts == TRAIN)
    if data.num_test is None or data.num_valid is None:
        notify(f"holding out {len(test)} pairs to test on and {len(valid)} to validate on")
    learn_from = file.rows(train[:: len(train) // LEARNED_FROM + 1])
    show_pairs(data.columns, file.first, (settings.src, settings.tgt), learn_from, notify)
    learn_from = [pair for pair in learn_from if max(map(len, pair)) <= MAX_LEARNED]
    if not learn_from:
        raise CourseError(f"no pair to train on has at most {MAX_LEARNED} characters on both sides")
    notify(f"learning the vocabularies from {len(learn_from)} pairs")
    vocabularies = [Vocabulary.bpe(side, settings.vocabulary_size) for side in zip(*learn_from, strict=True)]
    valid_ids = encode_pairs(valid, *vocabularies, max_tokens=data.max_tokens)
    if valid and not valid_ids[0]:
        raise CourseError(f"no pair to validate on has at most {data.max_tokens} tokens on both sides")
    sides = _flat_ids(file, train, vocabularies, max_tokens=data.max_tokens)
    num_train = len(sides[0])
    if not num_train:
        raise CourseError(f"no pair to train on has at most {data.max_tokens} tokens on both sides")
    return TrainingData(
        *vocabularies,
        ShuffledBatches(*sides, batch_size=batch_size),
        valid_ids if valid else None,
        examples_of(test),
        Rows(len(file), file.num_bad, file.first_bad, num_train, len(train) - num_train),
        path,
        file.sha.hexdigest(),
    )


def _flat_ids(
    file: _PairFile, numbers: np.ndarray, vocabularies: Sequence[Vocabulary], *, max_tokens: int
) -> tuple[FlatIds, FlatIds]:
    """The ids of the rows of these numbers that are short enough: the sources, and the targets."""
    src, tgt = vocabularies
    sides = FlatIds(len(src)), FlatIds(len(tgt))
    for start in range(0, len(numbers), _AT_ONCE):
        some = file.rows(numbers[start : start + _AT_ONCE])
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

    Raises:
        ValueError: a column of a language that holds no sentences.
    """
    refuse_text(columns=columns, pairs=pairs)
    notify("  " + "  ".join(f"column {n} is {columns[n - 1]}: {shortened(first[n - 1], 60)}" for n in (1, 2)))
    examples = pairs[:: len(pairs) // 1000 + 1]
    for source, target in examples[:: len(examples) // 3 or 1][:3]:
        notify(f"  {languages[0]}: {shortened(source, 60)}  {languages[1]}: {shortened(target, 60)}")
    check_sentences(languages, examples)
    for warning in warnings_about(languages, examples):
        notify(f"warning: {warning}")
