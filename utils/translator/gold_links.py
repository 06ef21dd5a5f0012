"""Files of word alignments: links as text, one line per sentence pair.

The scores of links are computed in ``scores``.
Explained in book/api/command_line_results.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from utils.corpus.pairs import find_file
from utils.metrics import Links
from utils.translator.lines import read_lines
from utils.translator.scores import GoldLinks


def format_links(links: Links) -> str:
    """Links in the format of alignment files, sorted, with positions counted from 0.

    >>> format_links({(1, 0), (0, 1)})
    '0-1 1-0'
    """
    return " ".join(f"{i}-{j}" for i, j in sorted(links))


def parse_links(line: str, *, first: int = 0) -> GoldLinks:
    """Read the links of one sentence pair: "0-1" is a sure link, "2p3" a possible one.

    Args:
        first: the number of the first word in the file, 0 or 1; the result always counts from 0.

    Raises:
        ValueError: a link of another form, or a number below ``first``.

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
        raise ValueError(
            f"{path} must have one line per sentence pair, got {len(lines)} lines and {len(sizes)} pairs"
        )
    gold = []
    for number, (line, (num_first, num_second)) in enumerate(zip(lines, sizes, strict=True), start=1):
        try:
            links = parse_links(line, first=first)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from error
        for i, j in sorted(links.possible):
            if i >= num_first or j >= num_second:
                raise ValueError(
                    f"{path}, line {number}: a link of words {i + first} and {j + first}, but the sentences have "
                    f"{num_first} and {num_second} words, counted from {first}"
                )
        gold.append(links)
    return gold
