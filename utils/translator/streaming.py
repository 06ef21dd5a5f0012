"""Pair files larger than memory: read from the disk again in every epoch, some thousand rows at a time.

Whatever the size of the file, memory holds the sentences to test on, a sample to learn the vocabularies from and one
buffer of rows. Files that fit into memory are read in ``corpus.pairs``.
Explained in book/scaling.
"""

import hashlib
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappush, heapreplace
from itertools import islice
from pathlib import Path

import torch

from utils.corpus.batches import Batch, batches
from utils.corpus.pairs import check_share, choose_languages, find_file, read_rows
from utils.corpus.splits import Example, examples_of, folded
from utils.corpus.vocabulary import Vocabulary, encode_pairs

Pair = tuple[str, str]


@dataclass(frozen=True)
class PairStream:
    """A pair file, and what :func:`survey` found by reading it once.

    Attributes:
        path: the file.
        columns: its two languages, in the file's order.
        src: the language to translate from, one of them.
        sha256: of the file.
        num_rows: good rows, of which a few are held out.
        num_bad: bad rows, which are left out.
        bad_rows: what is wrong with the first three of them, by line number.
        test: examples to test on.
        valid: pairs to validate on.
        sample: pairs to learn the vocabularies from, drawn with equal probability from those to train on.
        held_out: folded sources and targets of test and validation.

    Explained in book/scaling.
    """

    path: Path
    columns: tuple[str, str]
    src: str
    sha256: str
    num_rows: int
    num_bad: int
    bad_rows: dict[int, str]
    test: list[Example]
    valid: list[Pair]
    sample: list[Pair]
    held_out: tuple[frozenset[str], frozenset[str]]

    def train(self) -> Iterator[Pair]:
        """The pairs to train on, in the file's order; each call reads the file once."""
        rows = (row for _, row in read_rows(self.path, self.columns) if not isinstance(row, str))
        return (
            pair for pair in _source_first(rows, self.columns, self.src) if not _touches(pair, self.held_out)
        )


def survey(
    path: str | Path,
    columns: Sequence[str],
    src: str,
    tgt: str,
    *,
    num_test: int = 1000,
    num_valid: int = 500,
    num_sample: int = 200_000,
    seed: int = 0,
) -> PairStream:
    """Draw the held-out sentences and a sample for the vocabularies in one reading of a pair file.

    Held out are the source sentences with the lowest hashes, which a single reading finds with all their translations
    without keeping the rest. A pair that shares a sentence of either language with them is not trained on; sentences
    that differ only in case, spaces or punctuation count as the same. A second reading gives the file's sha256.

    Args:
        path: the file, or its path within the data folder.
        columns: the languages of its columns, in the file's order.
        src: the language to translate from.
        tgt: the language to translate into.
        num_test: source sentences to test on.
        num_valid: source sentences to validate on; those that share a sentence with the test are left out.
        num_sample: pairs to learn the vocabularies from.
        seed: seed of the held-out sentences and of the sample.

    Raises:
        FileNotFoundError, ValueError: as ``read_pairs``; or too few sentences to hold some out and train on others.

    Explained in book/scaling.
    """
    path = find_file(path)
    columns, src, _ = choose_languages(columns, src, tgt)
    if min(num_test, num_valid) < 0:
        raise ValueError(f"num_test and num_valid must not be negative, got {num_test} and {num_valid}")
    lowest, sample, numbers = _Lowest(num_test + num_valid, seed), _Sample(num_sample), random.Random(seed)
    num_good = num_bad = 0
    first_bad: dict[int, str] = {}

    def good_rows() -> Iterator[Pair]:
        nonlocal num_good, num_bad
        for number, row in read_rows(path, columns):
            if isinstance(row, str):
                num_bad += 1
                if len(first_bad) < 3:
                    first_bad[number] = row
            else:
                num_good += 1
                yield row

    for pair in _source_first(good_rows(), columns, src):
        lowest.see(pair)
        sample.see(pair, numbers)
    check_share(path, num_good, num_bad, first_bad)
    groups = lowest.groups()
    test = [pair for group in groups[:num_test] for pair in group]
    test_sides = _sides(test)
    valid = [pair for group in groups[num_test:] for pair in group if not _touches(pair, test_sides)]
    held_out = _sides(test + valid)
    to_learn_from = [pair for pair in sample.pairs if not _touches(pair, held_out)]
    if len(groups) < num_test + num_valid or not to_learn_from:
        raise ValueError(
            f"{path} has too few different sentences to keep {num_test} for testing and {num_valid} for validation"
            " and to train on the rest (smaller --test-groups and --valid-groups leave more)"
        )
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return PairStream(
        *(path, columns, src, sha256),
        num_rows=num_good,
        num_bad=num_bad,
        bad_rows=first_bad,
        test=examples_of(test),
        valid=valid,
        sample=to_learn_from,
        held_out=held_out,
    )


def _source_first(rows: Iterator[Pair], columns: tuple[str, str], src: str) -> Iterator[Pair]:
    """The rows as (source, target)."""
    return rows if src == columns[0] else ((second, first) for first, second in rows)


def _sides(pairs: Sequence[Pair]) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(folded(source) for source, _ in pairs), frozenset(folded(target) for _, target in pairs)


def _touches(pair: Pair, sides: tuple[frozenset[str], frozenset[str]]) -> bool:
    """Whether one of the two sentences is among those of its side."""
    return any(folded(sentence) in side for sentence, side in zip(pair, sides, strict=True))


class _Lowest:
    """Keep the k sources with the smallest hashes, with all their pairs.

    A source that was dropped is never added again, so all others have all their pairs.
    """

    def __init__(self, k: int, seed: int):
        self._k, self._key = k, str(seed).encode()
        self._pairs: dict[int, dict[Pair, None]] = {}  # dictionaries as ordered sets
        self._heap: list[int] = []  # the hashes, negative, so that the highest is first

    def see(self, pair: Pair) -> None:
        digest = hashlib.blake2b(folded(pair[0]).encode(), digest_size=8, key=self._key).digest()
        value = int.from_bytes(digest)
        if value not in self._pairs:
            if len(self._heap) < self._k:
                heappush(self._heap, -value)
            elif self._heap and value < -self._heap[0]:
                del self._pairs[-heapreplace(self._heap, -value)]
            else:
                return
        self._pairs.setdefault(value, {})[pair] = None

    def groups(self) -> list[list[Pair]]:
        return [list(pairs) for _, pairs in sorted(self._pairs.items())]


class _Sample:
    """A random sample of the pairs seen, all with the same probability (reservoir sampling)."""

    def __init__(self, size: int):
        self.pairs: list[Pair] = []
        self._size, self._num_seen = size, 0

    def see(self, pair: Pair, numbers: random.Random) -> None:
        self._num_seen += 1
        if len(self.pairs) < self._size:
            self.pairs.append(pair)
        elif (place := numbers.randrange(self._num_seen)) < self._size:
            self.pairs[place] = pair


@dataclass(frozen=True)
class BatchStream:
    """The batches of a streamed pair file, read again in every epoch.

    Rows come in the order of the file, ``buffer`` at a time, and are shuffled within the buffer: a file that is sorted
    by topic or length should be shuffled once on the disk.

    Attributes:
        pairs: the file.
        src_vocabulary: of the source language.
        tgt_vocabulary: of the target language.
        max_tokens: pairs with a longer side are left out.
        batch_size: pairs per batch.
        buffer: rows in memory.

    Explained in book/scaling.
    """

    pairs: PairStream
    src_vocabulary: Vocabulary
    tgt_vocabulary: Vocabulary
    max_tokens: int = 100
    batch_size: int = 64
    buffer: int = 50_000

    def epoch(self, generator: torch.Generator) -> Iterator[Batch]:
        """One epoch; each buffer of rows goes through :func:`utils.corpus.batches.batches`.

        Raises:
            ValueError: no pair is short enough.
        """
        rows, is_empty = self.pairs.train(), True
        while buffer := list(islice(rows, self.buffer)):
            ids = encode_pairs(buffer, self.src_vocabulary, self.tgt_vocabulary, max_tokens=self.max_tokens)
            if ids[0]:
                is_empty = False
                yield from batches(*ids, batch_size=self.batch_size, generator=generator)
        if is_empty:
            raise ValueError(f"no pair to train on has at most {self.max_tokens} tokens on both sides")

    def __len__(self) -> int:
        """Batches per epoch, if no row is left out and every buffer fills its batches."""
        return math.ceil(self.pairs.num_rows / self.batch_size)

    @property
    def identity(self) -> list[str | int]:
        """The facts that distinguish these batches from those of another training."""
        held_out = [sorted(side) for side in self.pairs.held_out]
        return [
            self.pairs.sha256,
            self.pairs.src,
            self.src_vocabulary.to_json(),
            self.tgt_vocabulary.to_json(),
            *map(str, held_out),
            self.max_tokens,
            self.batch_size,
            self.buffer,
        ]
