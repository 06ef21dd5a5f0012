"""Split sentence pairs into pairs to train on, to validate on and to test on, which share no sentence.

``corpus.pairs`` reads the pairs.
Explained in book/data_and_licences.
"""

import hashlib
import random
from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import regex

from utils.checks import refuse_text
from utils.errors import CourseError

#: The parts of a split.
TRAIN, VALID, TEST = range(3)
#: Groups to test and to validate on if no number is given: at most so many, and at most a tenth of all.
MOST_TEST, MOST_VALID = 1000, 500
#: All but letters, their marks (the vowel signs of Hindi, for example) and digits.
_NO_LETTERS = regex.compile(r"[^\p{L}\p{M}\p{N}]+")


class Example(NamedTuple):
    """A sentence to translate and all its translations in the corpus, to score a translator with."""

    source: str
    references: tuple[str, ...]


class Split(NamedTuple):
    """Sentence pairs (source, target) to train and to validate on, and examples to test on."""

    train: list[tuple[str, str]]
    valid: list[tuple[str, str]]
    test: list[Example]


def group_split(
    pairs: Iterable[tuple[str, str]],
    *,
    num_test: int | None = None,
    num_valid: int | None = None,
    seed: int = 0,
) -> Split:
    """Split so that no sentence of either language is in two parts.

    A sentence may have several translations, and each of these may translate several sentences. Rows that share a
    sentence are linked, and linked rows form a group, a connected component. Sentences that differ only in case, blanks
    or punctuation count as the same. Each part gets whole groups.

    Args:
        pairs: (source, target) rows.
        num_test: groups to test on; each of their source sentences is one example with all its references. By default
            1,000, or a tenth of all groups if that is less.
        num_valid: groups to validate on; by default 500, or a tenth of all.
        seed: seed of the random choice of groups.

    Raises:
        ValueError: a negative number of groups, no group left to train on, or a text in place of the pairs or of a
            pair.
    """
    refuse_text(pairs=pairs)
    pairs = list(pairs)
    parts = parts_of_rows(pairs, num_test=num_test, num_valid=num_valid, seed=seed)
    train, valid, test = (
        [pairs[row] for row in (parts == part).nonzero()[0]] for part in (TRAIN, VALID, TEST)
    )
    return Split(train, valid, examples_of(test))


def parts_of_rows(
    pairs: Iterable[tuple[str, str]], *, num_test: int | None, num_valid: int | None, seed: int
) -> np.ndarray:
    """The part of :func:`group_split` to which each row belongs: ``TRAIN``, ``VALID`` or ``TEST``.

    The rows are read once, and memory holds two hashes of 8 bytes for each, not the text.
    Arguments and errors as for :func:`group_split`.

    >>> pairs = [("oui", "yes"), ("non", "no"), ("oui", "yeah")]
    >>> parts = parts_of_rows(pairs, num_test=1, num_valid=0, seed=0)
    >>> bool(parts[0] == parts[2] != parts[1])
    True
    """
    if min(num_test or 0, num_valid or 0) < 0:
        raise CourseError(f"num_test and num_valid must not be negative, got {num_test} and {num_valid}")
    group = groups_of_rows(pairs)
    groups = array("q", np.unique(group).tobytes())
    num_test = min(MOST_TEST, len(groups) // 10) if num_test is None else num_test
    num_valid = min(MOST_VALID, len(groups) // 10) if num_valid is None else num_valid
    if len(groups) <= num_test + num_valid:
        raise CourseError(
            f"{len(group)} pairs form {len(groups)} groups that share no sentence: too few to keep {num_test}"
            f" for testing and {num_valid} for validation and to train on the rest"
        )
    random.Random(seed).shuffle(groups)
    part_of_group = np.full(len(group), TRAIN, np.uint8)  # at the first row of each group
    part_of_group[groups[:num_test]] = TEST
    part_of_group[groups[num_test : num_test + num_valid]] = VALID
    return part_of_group[group]


def groups_of_rows(pairs: Iterable[tuple[str, str]]) -> np.ndarray:
    """The number of the first row of the group of each row, as :func:`group_split` links rows.

    >>> groups_of_rows([("oui", "yes"), ("non", "no"), ("Oui !", "yeah")]).tolist()
    [0, 1, 0]
    """
    refuse_text(pairs=pairs)
    sides = array("Q"), array("Q")
    for pair in pairs:
        refuse_text(pair=pair)
        for hashes, sentence in zip(sides, pair, strict=True):
            digest = hashlib.blake2b(folded(sentence).encode("utf-8", "surrogatepass"), digest_size=8)
            hashes.append(int.from_bytes(digest.digest()))
    return _groups([np.frombuffer(hashes, np.uint64) for hashes in sides])


def _groups(sides: Sequence[np.ndarray]) -> np.ndarray:
    """The first row of the group of each row; rows with the same hash on a side are in one group."""
    sentences = [np.unique(hashes, return_inverse=True)[1] for hashes in sides]
    group = np.arange(len(sides[0]))
    while True:
        before = group
        for sentence in sentences:
            first = np.full(len(group), len(group))  # the first row known to be linked with each sentence
            np.minimum.at(first, sentence, group)
            group = first[sentence]
        group = group[group]
        if np.array_equal(group, before):
            return group


def examples_of(pairs: Iterable[tuple[str, str]]) -> list[Example]:
    """One example per source, with all its targets.

    >>> examples_of([("oui", "yes"), ("non", "no"), ("oui", "yeah")])
    [Example(source='oui', references=('yes', 'yeah')), Example(source='non', references=('no',))]
    """
    refuse_text(pairs=pairs)
    references: dict[str, dict[str, None]] = {}  # a dictionary as an ordered set
    for pair in pairs:
        refuse_text(pair=pair)
        source, target = pair
        references.setdefault(source, {})[target] = None
    return [Example(source, tuple(targets)) for source, targets in references.items()]


def folded(sentence: str) -> str:
    """The sentence without case, blanks and punctuation, for comparisons; unchanged if nothing else is left.

    >>> folded("L'été, déjà ?")
    'létédéjà'
    """
    return _NO_LETTERS.sub("", sentence.casefold()) or sentence
