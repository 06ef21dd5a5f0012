"""Lines of text in and translations out, a few hundred at a time, so that a stream may be longer than memory.

What a translation is comes from ``evaluation``, an alignment from ``alignment``; files of sentence pairs to train on
are read in ``corpus``.
Explained in book/api/command_line.
"""

import codecs
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

from tqdm import tqdm

from utils.translator.alignment import WordAlignment, align
from utils.translator.runs import Run
from utils.translator.translating import Translation, n_best

T = TypeVar("T")

#: Lines that are read before their translations are given: enough to find sentences of like length among them.
AT_ONCE = 512


def read_lines(file: Iterable[bytes], name: str) -> Iterator[str]:
    """The lines of UTF-8 text, without their ends, one at a time.

    A line ends at a line feed, with or without a carriage return before it; a byte-order mark is left out.

    Args:
        file: its lines as bytes.
        name: what an error calls it.

    Raises:
        ValueError: bytes that are not UTF-8, or a NUL byte; it names the line.
    """
    for number, line in enumerate(file, start=1):
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        try:
            text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{name}, line {number}: byte {error.start + 1} is not UTF-8") from error
        if "\0" in text:
            raise ValueError(f"{name}, line {number}: a NUL byte")
        yield text


def read_pair_lines(lines: Iterable[str], name: str) -> Iterator[tuple[str, str]]:
    """The two sentences of each line, with a tab or ``|||`` between them; an empty line is a pair of nothing.

    Args:
        lines: from :func:`read_lines`.
        name: what an error calls them.

    Raises:
        ValueError: a line that is not empty and has one column; it names the line.

    >>> list(read_pair_lines(["I see .\\tJe vois .", "", "a ||| b"], "file"))
    [('I see .', 'Je vois .'), ('', ''), ('a', 'b')]
    """
    for number, line in enumerate(lines, start=1):
        fields = line.split("\t") if "\t" in line else line.split("|||")
        if len(fields) < 2 and line.strip():
            raise ValueError(
                f"{name}, line {number}: one column where two are wanted, separated by a tab or by |||"
            )
        first, second, *_ = (field.strip() for field in [*fields, ""])
        yield first, second


class Text(NamedTuple):
    """Lines to work on.

    Attributes:
        lines: to be read once, from first to last.
        name: what an error calls them.
        num_lines: how many there are, where that is known.
    """

    lines: Iterator[str]
    name: str
    num_lines: int | None


@contextmanager
def open_text(path: Path | None, standard_input: Iterable[bytes], *, count: bool = False) -> Iterator[Text]:
    """The lines of a file or, where there is no path, of standard input; see :func:`read_lines`.

    Args:
        path: the file.
        standard_input: its lines as bytes.
        count: go through the file once before, to know how many lines it has, if it is no pipe.

    Raises:
        OSError: the file cannot be opened.
    """
    if path is None:
        yield Text(read_lines(standard_input, "standard input"), "standard input", None)
        return
    with path.open("rb") as file:
        num_lines = None
        if count and file.seekable():  # a pipe is not
            num_lines = sum(1 for _ in file)
            file.seek(0)
        yield Text(read_lines(file, str(path)), str(path), num_lines)


class Progress:
    """A bar on standard error: sentences done, what is written a second, and the time left where it can be known.

    Args:
        num_sentences: how many will come, if that is known.
        unit: of what is written, "tokens" for instance.
        shown: False shows nothing.
    """

    def __init__(self, num_sentences: int | None, unit: str, *, shown: bool):
        self._bar = tqdm(total=num_sentences, disable=not shown, unit=" sentences", dynamic_ncols=True)
        self._unit, self._written = unit, 0

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def tell(self, num_sentences: int, written: int) -> None:
        """Move on by some sentences, for which so much was written."""
        self._written += written
        if not self._bar.disable:
            rate = self._written / max(self._bar.format_dict["elapsed"], 1e-9)
            self._bar.set_postfix_str(f"{rate:.0f} {self._unit}/s", refresh=False)
        self._bar.update(num_sentences)


def translate_lines(
    run: Run, lines: Iterable[str], *, beam: int = 1, at_once: int = AT_ONCE, progress: Progress | None = None
) -> Iterator[tuple[str, list[Translation]]]:
    """Each line with its translations, the best first, in the order of the lines.

    Args:
        run: a trained translator.
        lines: sentences; they are read as they are needed.
        beam: hypotheses kept in beam search; with 1 the search is greedy.
        at_once: lines read before their translations are given. 1 answers each line before the next is read; more
            are faster.
        progress: told what was done.

    Raises:
        ValueError: a beam or a number of lines below 1, or a sentence that is too long.
    """
    for batch in _batches(lines, at_once):
        found = n_best(run, batch, beam=beam)
        if progress is not None:
            progress.tell(len(batch), sum(len(best.tgt_tokens) for best, *_ in found))
        yield from zip(batch, found, strict=True)


def align_lines(
    run: Run,
    pairs: Iterable[tuple[str, str]],
    *,
    cut: bool = False,
    at_once: int = AT_ONCE,
    progress: Progress | None = None,
) -> Iterator[WordAlignment]:
    """The alignment of each (source, target) pair, in their order; arguments as for :func:`translate_lines`.

    Args:
        cut: as for :func:`utils.translator.alignment.align`.

    Raises:
        ValueError: a number of pairs below 1, or as :func:`utils.translator.alignment.align`.
    """
    for batch in _batches(pairs, at_once):
        found = align(run, batch, cut=cut)
        if progress is not None:
            progress.tell(len(batch), sum(len(alignment.tgt_words) for alignment in found))
        yield from found


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    if size < 1:
        raise ValueError(f"at_once must be at least 1, got {size}")
    batch: list[T] = []
    try:
        for item in items:
            batch.append(item)
            if len(batch) == size:
                yield batch
                batch = []
    except ValueError:  # a bad line: those before it are answered first
        if batch:
            yield batch
        raise
    if batch:
        yield batch
