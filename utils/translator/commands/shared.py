"""What several commands share: options, and how they read text and print.

Explained in book/your_translator.
"""

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import fields
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import psutil
import typer

from utils.errors import CourseError
from utils.translator.options import Device, Search

if TYPE_CHECKING:
    from utils.translator.using.input_lines import Text

#: Whether the user has said how many threads there are, or how they wait; read before the commands set how they wait.
THREADS_ARE_SET = not {"OMP_NUM_THREADS", "OMP_WAIT_POLICY"}.isdisjoint(os.environ)


def a_processor_is_free() -> bool:
    """Whether other programs leave a processor alone; it takes a third of a second to see."""
    return psutil.cpu_percent(interval=0.3) < 90


RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a trained run.")]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Languages of the first two columns, in the order of the file; by default source,target."
    ),
]
OnDevice = Annotated[
    Device, typer.Option("--device", help="Device to compute on; auto takes a GPU if there is one.")
]

#: The options of a search.
_OF_SEARCH = [
    Parameter(
        option.name,
        Parameter.POSITIONAL_OR_KEYWORD,
        default=option.default,
        annotation=Annotated[option.type, typer.Option(help=option.metadata["help"])],
    )
    for option in fields(Search)
]


def with_search(command: Callable[..., None]) -> Callable[..., None]:
    """A command with an option for each number of a search, in the place of its parameter ``search``."""
    parameters: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        parameters += _OF_SEARCH if parameter.name == "search" else [parameter]

    @wraps(command)
    def with_options(**arguments: Any) -> None:
        numbers = {parameter.name: arguments.pop(parameter.name) for parameter in _OF_SEARCH}
        try:
            search = Search(**numbers)
        except CourseError as error:  # a number out of its range is a wrong option
            raise typer.BadParameter(str(error)) from None
        command(search=search, **arguments)

    # Typer reads both.
    with_options.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_options


def tell(message: str) -> None:
    """Print a message to the user, apart from the results."""
    typer.echo(message, err=True)


def at_terminal() -> bool:
    """Whether a user at a terminal would see a progress bar."""
    return sys.stderr is not None and sys.stderr.isatty()


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

    return open_text(path, None if sys.stdin is None else sys.stdin.buffer, count=at_terminal())
