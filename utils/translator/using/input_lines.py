"""The lines that are to be translated or aligned: read from a file or from standard input, a few hundred at a time.

Sentences are translated in ``translating`` and aligned in ``alignment``; pair files for training are read in
``corpus``.
Explained in book/your_translator.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Any, NamedTuple

from utils.corpus.pairs import ANKI_HEAD, MAX_BAD_SHARE, MAX_CHARACTERS
from utils.corpus.text_files import looks_like, text_lines
from utils.errors import CourseError

#: Lines that are read before they are translated or aligned. With 64 the batches are of less similar length, and a line
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
    """Lines of text and where they come from.

    Attributes:
        lines: an iterator over the lines.
        name: of the file, for error messages.
        num_lines: number of lines, or None if it is not known.
        file: that they are read from; None if they come from no file.
    """

    lines: Iterator[str]
    name: str
    num_lines: int | None = None
    file: BufferedIOBase | None = None


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
        yield Text(read_lines(standard_input, "standard input"), "standard input", None, standard_input)
        return
    if path.is_dir():
        raise CourseError(f"{path} is a folder: name a file in it")
    with path.open("rb") as file:
        num_lines = None
        if count and file.seekable():  # a pipe is not seekable
            num_lines = sum(1 for _ in text_lines(file, str(path)))
            file.seek(0)
        yield Text(read_lines(file, str(path)), str(path), num_lines, file)


def read_pair_lines(
    file: BufferedIOBase, name: str, notify: Callable[[str], object]
) -> Iterator[tuple[str, str]]:
    """The two sentences of each line, with a tab or ``|||`` between them; an empty line gives two empty sentences.

    So does a line that is no pair, which is told, and the head of Anki's text export.

    Args:
        file: opened for bytes.
        name: of the file, for messages.
        notify: gets a warning for each line that is no pair.

    Raises:
        ValueError: the file is not text; or more than ``MAX_BAD_SHARE`` of the lines that are not empty are no pairs,
            with the first of them and what the file looks like: before the first line of a file, and after the last
            one of a pipe, which cannot be read twice.

    >>> from io import BytesIO
    >>> list(read_pair_lines(BytesIO(b"I see .\\tJe vois .\\n\\na ||| b\\n"), "file", print))
    [('I see .', 'Je vois .'), ('', ''), ('a', 'b')]
    """
    if file.seekable():
        start = file.tell()
        for _ in _pairs_of(file, name, lambda _message: None):
            pass
        file.seek(start)
    yield from _pairs_of(file, name, notify)


def _pairs_of(file: BufferedIOBase, name: str, notify: Callable[[str], object]) -> Iterator[tuple[str, str]]:
    """What :func:`read_pair_lines` gives, in one reading."""
    is_head, num_rows, bad = True, 0, []
    for number, line in enumerate(text_lines(file, name), start=1):
        is_head = is_head and isinstance(line, str) and bool(ANKI_HEAD.fullmatch(line))
        if is_head or (isinstance(line, str) and not line.strip()):
            yield "", ""
            continue
        num_rows += 1
        try:
            yield _two_sentences(line)
        except ValueError as error:
            bad.append(f"{name}, line {number}: {error}")
            notify(f"warning: {bad[-1]}; its words get no links")
            yield "", ""
    if len(bad) > MAX_BAD_SHARE * num_rows:
        raise CourseError(
            f"{bad[0]}{looks_like(file)} "
            f"({len(bad)} of {num_rows} lines are bad, and {MAX_BAD_SHARE:.0%} may be)"
        )


def _two_sentences(line: str | ValueError) -> tuple[str, str]:
    """The sentences of a line; raise ValueError with what is wrong with it."""
    if isinstance(line, ValueError):
        raise line
    sides = [side.strip(" ") for side in (line.split("\t") if "\t" in line else line.split("|||"))]
    if len(sides) < 2:
        raise CourseError("a line must have two columns, separated by a tab or by |||, got one")
    if (longest := max(map(len, sides[:2]))) > MAX_CHARACTERS:
        raise CourseError(f"a side has {longest} characters, more than {MAX_CHARACTERS}")
    return sides[0], sides[1]


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
