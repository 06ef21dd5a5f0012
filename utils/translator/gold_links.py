"""Files of word alignments: links as text, a line per sentence pair.

What links are worth is measured in ``metrics``.
Explained in book/api/command_line.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from utils.corpus.pairs import find_file
from utils.metrics import GoldLinks, Links


def format_links(links: Links) -> str:
    """Links as alignment files have them, counted from 0, in order.

    >>> format_links({(1, 0), (0, 1)})
    '0-1 1-0'

    Explained in book/api/command_line.
    """
    return " ".join(f"{i}-{j}" for i, j in sorted(links))


def parse_links(line: str, *, first: int = 0) -> GoldLinks:
    """Read the links of a sentence as alignment files have them: "0-1" sure, "2p3" possible.

    Args:
        first: the number that the file gives to the first word, 0 or 1; what is returned counts from 0.

    Raises:
        ValueError: a link of another form, or one before the first word.

    >>> parse_links("1-1 2p1", first=1).sure
    frozenset({(0, 0)})
    """
    sure, possible = set(), set()
    for text in line.split():
        match = re.fullmatch(r"(\d+)([-p])(\d+)", text)
        if match is None or min(int(match[1]), int(match[3])) < first:
            raise ValueError(f"a link must look like {first}-{first} or {first}p{first}, got {text!r}")
        link = (int(match[1]) - first, int(match[3]) - first)
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return GoldLinks(frozenset(sure), frozenset(possible))


def read_gold(path: str | Path, sizes: Sequence[tuple[int, int]], *, first: int = 0) -> list[GoldLinks]:
    """Read a file of links, a line a sentence pair, as :func:`parse_links` does, and see that they fit the pairs.

    Args:
        path: the file, or its path within the data folder.
        sizes: words of each sentence pair, in the order in which the file counts them.
        first: the number that the file gives to the first word, 0 or 1.

    Raises:
        FileNotFoundError: no such file.
        ValueError: not a line for each pair, a link of another form, or one behind the last word, as in a file that
            counts from 1 and is read as if from 0; it names the line.

    Explained in book/api/command_line.
    """
    path = find_file(path)
    lines = path.read_text("utf-8").splitlines()
    if len(lines) != len(sizes):
        raise ValueError(f"{path} has {len(lines)} lines for {len(sizes)} sentence pairs")
    gold = []
    for number, (line, (num_first, num_second)) in enumerate(zip(lines, sizes, strict=True), start=1):
        try:
            links = parse_links(line, first=first)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from error
        for i, j in sorted(links.possible):
            if i >= num_first or j >= num_second:
                raise ValueError(
                    f"{path}, line {number}: the link of words {i + first} and {j + first} does not fit sentences of "
                    f"{num_first} and {num_second} words that are counted from {first}"
                )
        gold.append(links)
    return gold
