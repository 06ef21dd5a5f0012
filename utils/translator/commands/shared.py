"""What several commands share: options, and how they read text and print.

Explained in book/your_translator.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from utils.errors import CourseError
from utils.translator.options import Device, Search

if TYPE_CHECKING:
    from tqdm import tqdm

    from utils.translator.using.input_lines import Text

T = TypeVar("T")

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a trained run.")]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Languages of the first two columns, in the order of the file; by default source,target."
    ),
]
Beam = Annotated[
    int, typer.Option(help="Number of hypotheses in the search, at most 100; 1 is greedy search.")
]
LengthPenalty = Annotated[
    float,
    typer.Option(
        help="Exponent of the length by which a beam search divides log-probabilities; 0 favours short translations.",
    ),
]
NoRepeatNgram = Annotated[
    int, typer.Option(help="Write no sequence of this many tokens twice in a translation; 0 allows it.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for a program.")]
OnDevice = Annotated[
    Device, typer.Option("--device", help="Device to compute on; auto takes a GPU if there is one.")
]
NumThreads = Annotated[
    int | None,
    typer.Option(
        "--threads", min=1, max=1024, help="Number of threads; by default one for each processor core."
    ),
]


def search_of(beam: int, length_penalty: float, no_repeat_ngram: int) -> Search:
    """The search that these options describe; a number out of its range is a wrong option."""
    try:
        return Search(beam, length_penalty, no_repeat_ngram)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def tell(message: str) -> None:
    """Print a message to the user, apart from the results."""
    typer.echo(message, err=True)


def at_terminal() -> bool:
    """Whether a user at a terminal would see a progress bar."""
    return sys.stderr is not None and sys.stderr.isatty()


def with_progress(results: Iterator[T], num: int | None) -> "tqdm[T]":
    """The results, with a progress bar while they are taken: how many of ``num`` are done, if it is known."""
    from tqdm import tqdm

    return tqdm(results, total=num, disable=not at_terminal(), unit=" sentences", dynamic_ncols=True)


def print_json(value: object, *, indent: int | None = None) -> None:
    """Print a result for a program."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=indent))


def require_text(path: Path | None, command: str, ways: str) -> None:
    """Exit with status 2 if there is no file and standard input is a terminal; an empty file or pipe is valid."""
    if path is None and sys.stdin.isatty():
        raise typer.BadParameter(f"nothing to {command}: give {ways}, or text on standard input")


def check_output(path: Path | None, folder: Path, *others: Path | None) -> None:
    """Raise ValueError if the file to write is one of the run, or another one that the command reads or writes."""
    from utils.translator.runs import FILES

    for other in [*(folder / name for name in FILES), *filter(None, others)]:
        is_linked = path and path.exists() and other.exists() and path.samefile(other)
        if is_linked or (path and path.absolute() == other.absolute()):
            raise CourseError(f"{path} would be written over {other}: name another file")


def open_lines(path: Path | None) -> AbstractContextManager["Text"]:
    """Open a file, or standard input if none is named; the lines are counted if a progress bar shows their number."""
    from utils.translator.using.input_lines import open_text

    return open_text(path, sys.stdin.buffer, count=at_terminal())
