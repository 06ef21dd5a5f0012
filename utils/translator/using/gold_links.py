"""Links between words: files of them, one line per sentence pair, and the scores of links against gold links.

The links of a translator are made in ``alignment``.
Explained in book/your_translator.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from utils.corpus.pairs import find_file
from utils.errors import CourseError
from utils.metrics import Links, alignment_error_rate, link_set
from utils.translator.using.input_lines import read_lines


class GoldLinks(NamedTuple):
    """The links of one sentence: those that the annotator was sure of, and all that are possible."""

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]

    def swapped(self) -> "GoldLinks":
        """The same links with the two languages exchanged."""
        return GoldLinks(*(frozenset((j, i) for i, j in links) for links in self))


def format_links(links: Links) -> str:
    """Links in the format of alignment files, sorted, with positions counted from 0.

    >>> format_links({(1, 0), (0, 1)})
    '0-1 1-0'
    """
    return " ".join(f"{i}-{j}" for i, j in sorted(link_set(links)))


def parse_links(line: str, *, first: int = 0) -> GoldLinks:
    """Read the links of one sentence pair: "0-1" is a sure link, "2p3" a possible one.

    Args:
        first: the number of the first word in the file, 0 or 1; the result always counts from 0.

    Raises:
        ValueError: a link of another form, a number below ``first``, or a ``first`` that is neither 0 nor 1.

    >>> parse_links("1-1 2p1", first=1).sure
    frozenset({(0, 0)})
    """
    if first not in (0, 1):
        raise CourseError(f"first must be 0 or 1, got {first}")
    sure, possible = set(), set()
    for text in line.split():
        match = re.fullmatch(r"(\d+)([-p])(\d+)", text)
        if match is None or min(int(match[1]), int(match[3])) < first:
            raise CourseError(f"a link must look like {first}-{first} or {first}p{first}, got {text!r}")
        link = (int(match[1]) - first, int(match[3]) - first)
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return GoldLinks(frozenset(sure), frozenset(possible))


def read_gold(path: str | Path, sizes: Sequence[tuple[int, int]], *, first: int = 0) -> list[GoldLinks]:
    """Read a file of links, one line per sentence pair, and check that they fit the sentences.

    Args:
        path: the file, or its path within the data folder.
        sizes: number of words of the two sentences of each pair, in the order of the file's columns.
        first: the number of the first word in the file, 0 or 1.

    Raises:
        FileNotFoundError: no such file.
        ValueError: another number of lines, or, with its line, what is not text, a link of another form or beyond the
            last word. The latter happens if a file that counts from 1 is read with ``first=0``.
    """
    path = find_file(path)
    with path.open("rb") as file:
        lines = list(read_lines(file, str(path)))
    if len(lines) != len(sizes):
        raise CourseError(
            f"{path} must have one line per sentence pair, got {len(lines)} lines and {len(sizes)} pairs"
        )
    gold = []
    for number, (line, (num_first, num_second)) in enumerate(zip(lines, sizes, strict=True), start=1):
        try:
            links = parse_links(line, first=first)
        except ValueError as error:
            raise CourseError(f"{path}, line {number}: {error}") from error
        for i, j in sorted(links.possible):
            if i >= num_first or j >= num_second:
                raise CourseError(
                    f"{path}, line {number}: a link of words {i + first} and {j + first}, but the sentences have "
                    f"{num_first} and {num_second} words, counted from {first}"
                )
        gold.append(links)
    return gold


class AlignmentScore(NamedTuple):
    """Scores of predicted links against gold links.

    Attributes:
        aer: the error rate, as of :func:`utils.metrics.alignment_error_rate`.
        precision: share of the predicted links that are possible; 1 if no link is predicted.
        recall: share of the sure links that are predicted; 1 if no link is sure.
        num_links: number of predicted links.
    """

    aer: float
    precision: float
    recall: float
    num_links: int


def alignment_score(predicted: Sequence[Links], gold: Sequence[GoldLinks]) -> AlignmentScore:
    r"""Error rate, precision and recall of predicted links over all sentences together.

    .. math::
        \mathrm{precision} &= |A \cap P| \,/\, |A| \\
        \mathrm{recall} &= |A \cap S| \,/\, |S|

    Args:
        predicted: for each sentence the links A to score.
        gold: for each sentence the sure links S and all possible ones P.

    Raises:
        ValueError: as :func:`utils.metrics.alignment_error_rate`.

    Source: Och and Ney (2003), section 5.
    """
    aer = alignment_error_rate(predicted, [links.sure for links in gold], [links.possible for links in gold])
    pairs = [(link_set(links), gold_links) for links, gold_links in zip(predicted, gold, strict=True)]
    num_links, num_sure = sum(len(a) for a, _ in pairs), sum(len(gold_links.sure) for gold_links in gold)
    num_possible = sum(len(a & (gold_links.possible | gold_links.sure)) for a, gold_links in pairs)
    num_recalled = sum(len(a & gold_links.sure) for a, gold_links in pairs)
    precision = num_possible / num_links if num_links else 1.0
    recall = num_recalled / num_sure if num_sure else 1.0
    return AlignmentScore(aer, precision, recall, num_links)
