"""Split sentence pairs into pairs to train on, to validate on and to test on, which share no sentence.

``corpus.pairs`` reads the pairs.
Explained in book/data_and_licences.
"""

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import regex

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
    pairs: Sequence[tuple[str, str]], *, num_test: int = 1000, num_valid: int = 500, seed: int = 0
) -> Split:
    """Split so that no sentence of either language is in two parts.

    A sentence may have several translations, and each of these may translate several sentences. Rows that share a
    sentence are linked, and linked rows form a group, a connected component. Sentences that differ only in case, blanks
    or punctuation count as the same. Each part gets whole groups.

    Args:
        pairs: (source, target) rows.
        num_test: groups to test on; each of their source sentences is one example with all its references.
        num_valid: groups to validate on.
        seed: seed of the random choice of groups.

    Raises:
        ValueError: a negative number of groups, or no group left to train on.
    """
    if min(num_test, num_valid) < 0:
        raise ValueError(f"num_test and num_valid must not be negative, got {num_test} and {num_valid}")
    groups = _groups(pairs)
    if len(groups) <= num_test + num_valid:
        raise ValueError(
            f"{len(pairs)} pairs form {len(groups)} groups that share no sentence: too few to keep {num_test}"
            f" for testing and {num_valid} for validation and to train on the rest"
            " (smaller --test-groups and --valid-groups leave more)"
        )
    random.Random(seed).shuffle(groups)
    test, valid, train = (
        groups[:num_test],
        groups[num_test : num_test + num_valid],
        groups[num_test + num_valid :],
    )
    return Split(
        [pairs[row] for row in _sorted_rows(train)],
        [pairs[row] for row in _sorted_rows(valid)],
        examples_of(pairs[row] for row in _sorted_rows(test)),
    )


def examples_of(pairs: Iterable[tuple[str, str]]) -> list[Example]:
    """One example per source, with all its targets.

    >>> examples_of([("oui", "yes"), ("non", "no"), ("oui", "yeah")])
    [Example(source='oui', references=('yes', 'yeah')), Example(source='non', references=('no',))]

    Explained in book/data_and_licences.
    """
    references: dict[str, dict[str, None]] = {}  # a dictionary as an ordered set
    for source, target in pairs:
        references.setdefault(source, {})[target] = None
    return [Example(source, tuple(targets)) for source, targets in references.items()]


def _sorted_rows(groups: Iterable[list[int]]) -> list[int]:
    return sorted(row for group in groups for row in group)


def _groups(pairs: Sequence[tuple[str, str]]) -> list[list[int]]:
    """Rows of each connected component, in the order of their first rows (union-find over rows)."""
    parent = list(range(len(pairs)))

    def root(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    # The first row of each sentence. French "non" and English "non" are two sentences, so the key has the side.
    first_row: dict[tuple[int, str], int] = {}
    for row, pair in enumerate(pairs):
        for side, sentence in enumerate(pair):
            roots = root(row), root(first_row.setdefault((side, folded(sentence)), row))
            parent[max(roots)] = min(roots)
    groups: dict[int, list[int]] = {}
    for row in range(len(pairs)):
        groups.setdefault(root(row), []).append(row)
    return list(groups.values())


def folded(sentence: str) -> str:
    """The sentence without case, blanks and punctuation, for comparisons; unchanged if nothing else is left.

    >>> folded("L'été, déjà ?")
    'létédéjà'

    Explained in book/data_and_licences.
    """
    return _NO_LETTERS.sub("", sentence.casefold()) or sentence
