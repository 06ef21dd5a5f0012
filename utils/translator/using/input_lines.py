"""The lines that are to be translated: read from a file or from standard input, a few hundred at a time.

They are translated in ``translating``; pair files for training are read in ``utils.corpus``.
Explained in book/your_translator.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Any, NamedTuple

from utils.corpus.text_files import text_lines
from utils.errors import CourseError

#: Lines that are read before they are translated. With 64 the batches are of less similar length, and a line
#: takes half as long again; with 1,000 it takes as long.
LINES_AT_ONCE = 512


def read_lines(file: BufferedIOBase, name: str) -> Iterator[str]:
    """The lines of a text, without their line ends, one at a time.

    They are the lines of :func:`utils.corpus.text_files.text_lines`.

    Args:
        file: opened for bytes.
        name: of the file, for error messages.

    Raises:
        ValueError: the file is not text; or a line that cannot be read, with its number.
    """
    for number, line in enumerate(text_lines(file, name), start=1):
        if isinstance(line, ValueError):  # nothing more is read: a line that is too long may have no end
            raise CourseError(f"{name}, line {number}: {line}")
        yield line


class Text(NamedTuple):
    """Lines of text and how many they are.

    Attributes:
        lines: an iterator over the lines.
        num_lines: number of lines, or None if it is not known.
    """

    lines: Iterator[str]
    num_lines: int | None = None


@contextmanager
def open_text(
    path: Path | None, standard_input: BufferedIOBase | None, *, count: bool = False
) -> Iterator[Text]:
    """Open a file, or standard input if there is no path; the lines are those of :func:`read_lines`.

    Args:
        path: the file, or None.
        standard_input: read if there is no path.
        count: count the lines of the file first, unless it is a pipe.

    Raises:
        OSError: the file cannot be opened.
        ValueError: a folder, or a file whose lines are to be counted is not text.
    """
    if path is None:
        yield Text(read_lines(standard_input, "standard input"))
        return
    if path.is_dir():
        raise CourseError(f"{path} is a folder: name a file in it")
    with path.open("rb") as file:
        num_lines = None
        if count and file.seekable():  # a pipe is not seekable
            num_lines = sum(1 for _ in text_lines(file, str(path)))
            file.seek(0)
        yield Text(read_lines(file, str(path)), num_lines)


def in_batches(items: Iterable[Any]) -> Iterator[list[Any]]:
    """A few hundred items at a time, so that a stream may be larger than memory.

    Where reading an item raises a ``ValueError``, the items before it are given first.
    """
    batch: list[Any] = []
    try:
        for item in items:
            batch.append(item)
            if len(batch) == LINES_AT_ONCE:
                yield batch
                batch = []
    except ValueError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch
