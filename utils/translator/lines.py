"""Translate or align a stream of lines, a few hundred at a time, so that it may be larger than memory.

Sentences are translated in ``translating`` and aligned in ``alignment``; pair files for training are read in
``corpus``.
Explained in book/api/command_line_results.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tqdm import tqdm

from utils.corpus.forms import looks_like
from utils.corpus.text_files import text_lines
from utils.translator.alignment import WordAlignment, align
from utils.translator.runs import Run
from utils.translator.translating import Translation, n_best

T = TypeVar("T")
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
        ValueError: the file is not text; or a line that cannot be read, with its number, and what the file looks like.
    """
    for number, line in enumerate(text_lines(file, name), start=1):
        if isinstance(line, ValueError):  # nothing more is read: a line that is too long may have no end
            raise ValueError(f"{name}, line {number}: {line}{looks_like(file, columns=False)}")
        yield line


def read_pair_lines(
    lines: Iterable[str], name: str, file: BufferedIOBase | None = None
) -> Iterator[tuple[str, str]]:
    """Split each line into two sentences at a tab or at ``|||``; an empty line gives two empty sentences.

    Args:
        lines: from :func:`read_lines`.
        name: of the file, for error messages.
        file: of the lines, to say what it looks like if the first one has no columns.

    Raises:
        ValueError: a line that is not empty and has only one column, with its number, and what the file looks like.

    >>> list(read_pair_lines(["I see .\\tJe vois .", "", "a ||| b"], "file"))
    [('I see .', 'Je vois .'), ('', ''), ('a', 'b')]
    """
    for number, line in enumerate(lines, start=1):
        fields = line.split("\t") if "\t" in line else line.split("|||")
        if len(fields) < 2 and line.strip():
            form = looks_like(file, columns=True) if file and number == 1 else ""
            raise ValueError(
                f"{name}, line {number}: a line must have two columns, separated by a tab or by |||, got one{form}"
            )
        first, second, *_ = (field.strip(" ") for field in [*fields, ""])
        yield first, second


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
    num_lines: int | None
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
        ValueError: a file whose lines are to be counted is not text.
    """
    if path is None:
        yield Text(read_lines(standard_input, "standard input"), "standard input", None, standard_input)
        return
    with path.open("rb") as file:
        num_lines = None
        if count and file.seekable():  # a pipe is not seekable
            num_lines = sum(1 for _ in text_lines(file, str(path)))
            file.seek(0)
        yield Text(read_lines(file, str(path)), str(path), num_lines, file)


class ProgressBar:
    """A progress bar on standard error: sentences done, output per second, and the time left if the total is known.

    Args:
        num_sentences: number of sentences in all, or None if it is not known.
        unit: of the output, for example "tokens".
        visible: False shows no bar.
    """

    def __init__(self, num_sentences: int | None, unit: str, *, visible: bool):
        self._bar = tqdm(total=num_sentences, disable=not visible, unit=" sentences", dynamic_ncols=True)
        self._unit, self._num_units = unit, 0

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def update(self, num_sentences: int, num_units: int) -> None:
        """Add some sentences, and the number of units of output for them."""
        self._num_units += num_units
        if not self._bar.disable:
            rate = self._num_units / max(self._bar.format_dict["elapsed"], 1e-9)
            self._bar.set_postfix_str(f"{rate:.0f} {self._unit}/s", refresh=False)
        self._bar.update(num_sentences)


def translate_lines(
    run: Run,
    lines: Iterable[str],
    *,
    beam: int = 1,
    keep_weights: bool = False,
    progress: ProgressBar | None = None,
    **search: Any,
) -> Iterator[tuple[str, list[Translation]]]:
    """Translate a stream of lines: each line with its translations, the best first, in the order of the lines.

    Args:
        run: a trained translator.
        lines: sentences; they are read only as they are needed.
        beam: number of hypotheses in beam search; 1 is greedy search.
        keep_weights: whether the translations have their attention weights.
        progress: a bar to update.
        search: ``length_penalty`` and ``no_repeat_ngram`` of :func:`utils.translator.translating.translate`.

    Raises:
        ValueError: a beam below 1, or a sentence that is too long.
    """
    for batch in _batches(lines):
        translations = n_best(run, batch, beam=beam, keep_weights=keep_weights, **search)
        if progress is not None:
            progress.update(len(batch), sum(len(best.tgt_tokens) for best, *_ in translations))
        yield from zip(batch, translations, strict=True)


def align_lines(
    run: Run,
    pairs: Iterable[tuple[str, str]],
    *,
    tokenised: bool = True,
    progress: ProgressBar | None = None,
) -> Iterator[WordAlignment]:
    """Align a stream of (source, target) pairs, in their order; arguments as for :func:`translate_lines`.

    Args:
        tokenised: as for :func:`utils.translator.alignment.align`.

    Raises:
        ValueError: as :func:`utils.translator.alignment.align`.
    """
    for batch in _batches(pairs):
        alignments = align(run, batch, tokenised=tokenised)
        if progress is not None:
            progress.update(len(batch), sum(len(alignment.tgt_words) for alignment in alignments))
        yield from alignments


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    batch: list[T] = []
    try:
        for item in items:
            batch.append(item)
            if len(batch) == LINES_AT_ONCE:
                yield batch
                batch = []
    except ValueError:  # a bad line: the lines before it are still translated
        if batch:
            yield batch
        raise
    if batch:
        yield batch
