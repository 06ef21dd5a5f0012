"""A table of results, for the last line of a cell: a table in the page, and a text that the tests compare.

pandas also shows tables, but how it writes a number or a column changes from release to release.
Explained in book/explorables.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape
from numbers import Real
from unicodedata import east_asian_width

__all__ = ["Table"]


class Table:
    """Words or numbers under column headings, a row for each name.

    Args:
        rows: the entries of each row by its name; a row with one entry may be that entry itself.
        columns: the headings of the columns of entries, with their units.
        formats: how to write numbers, as for :func:`format`: one for all columns, or one for each. Whole numbers and
            texts stay as they are. A number that would look like zero, but is not, is written as 3e-7.
        heading: what the names of the rows are.

    Raises:
        ValueError: a row with another number of entries than there are columns, or another number of formats.

    >>> Table({"boxcar": [0.5, 12], "Gaussian": [3e-7, 50]}, ["error (m)", "keys"])
              error (m)  keys
    boxcar         0.50    12
    Gaussian       3e-7    50
    """

    def __init__(
        self,
        rows: Mapping[str, Sequence[object] | object],
        columns: Sequence[str],
        *,
        formats: str | Sequence[str] = ".2f",
        heading: str = "",
    ):
        formats = [formats] * len(columns) if isinstance(formats, str) else list(formats)
        if len(formats) != len(columns):
            raise ValueError(f"{len(columns)} columns need one format or {len(columns)}, got {len(formats)}")
        self._head = [heading, *columns]
        self._rows: list[list[str]] = []
        self._are_numbers = [False, *[True] * len(columns)]
        for name, entries in rows.items():
            entries = _listed(entries)
            if len(entries) != len(columns):
                raise ValueError(f"row {name!r} must have {len(columns)} entries, got {len(entries)}")
            for place, entry in enumerate(entries, start=1):
                self._are_numbers[place] &= entry is None or isinstance(entry, Real)
            self._rows.append([str(name), *map(_written, entries, formats)])

    def __repr__(self) -> str:
        """The table as text, each column as wide as its widest entry."""
        columns = list(zip(self._head, *self._rows, strict=True))
        widths = [max(map(_width, column)) for column in columns]
        lines = []
        for row in (self._head, *self._rows):
            cells = []
            for entry, width, is_number in zip(row, widths, self._are_numbers, strict=True):
                space = " " * (width - _width(entry))
                cells.append(space + entry if is_number else entry + space)
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The table for a page; ``course.css`` has its look."""
        kinds = [' class="number"' if is_number else "" for is_number in self._are_numbers]
        head = "".join(
            f'<th scope="col"{kind}>{escape(entry)}</th>'
            for entry, kind in zip(self._head, kinds, strict=True)
        )
        body = ""
        for name, *entries in self._rows:
            cells = "".join(
                f"<td{kind}>{escape(entry)}</td>" for entry, kind in zip(entries, kinds[1:], strict=True)
            )
            body += f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>\n'
        return f'<table class="table results">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>'


def _listed(entries: object) -> list[object]:
    """The entries of a row as Python's own objects; one entry is a row of one."""
    if hasattr(entries, "tolist"):  # tensors and arrays
        entries = entries.tolist()
    several = isinstance(entries, Sequence) and not isinstance(entries, str)
    return [
        entry.item() if hasattr(entry, "item") else entry for entry in (entries if several else [entries])
    ]


def _written(entry: object, how: str) -> str:
    if entry is None:
        return ""
    if isinstance(entry, bool) or not isinstance(entry, float):
        return str(entry)
    written = format(entry + 0.0, how)  # -0.0 becomes 0.0
    if entry and math.isfinite(entry) and not any(digit in written for digit in "123456789"):
        digits, _, power = f"{entry:.0e}".partition("e")
        return f"{digits}e{int(power)}"
    return written


def _width(text: str) -> int:
    """The columns of a terminal that a text takes: Chinese characters take two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
