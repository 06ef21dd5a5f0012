"""The command line: get sentence pairs, train a translator, use it and measure it.

Each module of this package has a command or two, as functions whose parameters are the options and whose docstrings
are the help texts. They import torch when they are called, because it takes seconds.
Explained in book/your_translator.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from utils.errors import CourseError
from utils.translator.commands import evaluate, export, get, train, translate

# Before torch is imported. By default a thread that waits for another one uses a processor core, and beside another
# busy program the threads then wait for each other for seconds (book/your_translator). And by default torch keeps a
# compiled product for each of 1,024 shapes, twice; a training has more shapes, and these take gigabytes (book/speed).
for _variable, _value in {
    "OMP_WAIT_POLICY": "passive",
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "64",
    "LRU_CACHE_CAPACITY": "64",
}.items():
    os.environ.setdefault(_variable, _value)

#: The name of the console command, which pyproject.toml installs. It is also that of the package to be installed.
NAME = "attention-course"
#: Whether every error shows its traceback.
_debug = False

app = typer.Typer(
    help="Get pairs of sentences, train a translator with attention on them, measure it, translate with it."
    "\n\nThe usual order is: data get, train, evaluate, translate, export. COMMAND --help explains each."
    "\n\nExit status: 0 done; 1 a mistake that you can correct, printed in one line; 2 a wrong command or option; "
    "3 no address gave the data; 129, 130 or 143 interrupted by a closed terminal, Ctrl-C or a request to end.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

data = typer.Typer(help="Get files of sentence pairs.", no_args_is_help=True)
app.add_typer(data, name="data")


def main() -> None:
    """Run the console command."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # the name of a file may hold bytes that are not text
            stream.reconfigure(errors="backslashreplace")
    app(prog_name=NAME)


def _print_version(show_version: bool | None) -> None:
    if show_version:
        try:
            typer.echo(f"{NAME} {version(NAME)}")
        except PackageNotFoundError:
            typer.echo(f"{NAME}, not installed")
        raise typer.Exit


@app.callback()
def _program(
    _version: Annotated[
        bool | None,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = None,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of every error; stands before the command.")
    ] = False,
) -> None:
    global _debug  # typer gives the context to commands alone, and errors are caught around them
    _debug = debug


@contextmanager
def _errors_in_one_line() -> Iterator[None]:
    """Print an error that the user can correct in one line, without a traceback, and exit with status 1.

    These are the course's own errors, and those of the system: a file that cannot be read, a full disk, too little
    memory. Warnings are one line, too.
    """
    with warnings.catch_warnings():
        warnings.showwarning = _print_warning
        try:
            yield
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(130) from None  # as shells say it
        except BrokenPipeError:
            raise  # the reader of the output has closed it, which is not an error; typer exits without a message
        except (CourseError, OSError, MemoryError, RuntimeError) as error:
            text = " ".join(_in_words(error).split()) or type(error).__name__
            is_fault = (
                isinstance(error, RuntimeError) and "memory" not in text.lower()
            )  # torch has no other sign
            if is_fault or _debug:
                raise
            typer.echo(f"error: {text}", err=True)
            raise typer.Exit(1) from error


def _in_words(error: BaseException) -> str:
    """The message of an error; one of the system names the file and what is wrong with it."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    reason = error.strerror[:1].lower() + error.strerror[1:]
    files = " and ".join(str(name) for name in (error.filename, error.filename2) if name is not None)
    return f"{files} cannot be used: {reason}" if files else f"the system says: {reason}"


def _print_warning(message: Warning | str, *_: object) -> None:
    typer.echo(f"warning: {' '.join(str(message).split())}", err=True)


def _command(function: Callable[..., None]) -> Callable[..., None]:
    """A command: in every path ~ is the user's home, which a shell does not see in --out=~/run; errors are one line."""

    @wraps(function)
    def run(**arguments: object) -> None:
        with _errors_in_one_line():
            function(**{name: _from_home(value) for name, value in arguments.items()})

    return run


def _from_home(value: object) -> object:
    if not isinstance(value, Path):
        return value
    try:
        return value.expanduser()
    except RuntimeError:  # such a user is not known, or has no home
        raise typer.BadParameter(f"{value}: there is no such home folder") from None


# The help lists the commands in this order.
data.command()(_command(get.get))
app.command()(_command(train.train))
app.command(cls=translate.WithSentences)(_command(translate.translate))
app.command()(_command(evaluate.evaluate))
app.command()(_command(export.export))
