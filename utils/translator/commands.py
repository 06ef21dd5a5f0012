"""The command line: get sentence pairs, train a translator, use it and measure it.

A command here is its help text. The options are in ``options`` and what a command does is in ``actions``, which is
imported when it is needed, because torch takes seconds to import.
Explained in book/api/command_line.
"""

import importlib
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, get_type_hints

import typer

from utils.translator.interrupts import Interrupted, obey_signals
from utils.translator.options import (
    AlignOptions,
    CompareOptions,
    EvaluateOptions,
    GetOptions,
    InfoOptions,
    TrainOptions,
    TranslateOptions,
)

# Before torch is imported: by default a thread that waits for another one uses a processor core, and beside
# another busy program the threads then wait for each other for seconds (book/scaling).
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

#: The name of the console command, which pyproject.toml installs. It is also that of the package to be installed.
NAME = "attention-course"

app = typer.Typer(
    help="Get pairs of sentences, train a translator with attention on them, translate and align with it, measure it."
    "\n\nThe usual order is: data get, train, evaluate, translate, align. COMMAND --help explains each."
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
    try:
        app(prog_name=NAME)
    except OSError as error:  # a help text or the version cannot be written; a command catches its own errors
        typer.echo(f"error: {error}", err=True)
        _drop_output()
        sys.exit(1)


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
) -> None:
    pass


@contextmanager
def _errors_in_one_line() -> Iterator[None]:
    """Print an error that the user can correct in one line, without a traceback, and exit with status 1.

    A signal ends the command with the status that shells give to it. Warnings are one line, too.
    """
    with warnings.catch_warnings(), obey_signals():
        warnings.showwarning = _print_warning
        try:
            yield
            if sys.stdout is not None:
                sys.stdout.flush()  # a full disk is noticed here, not after the last line of the program
        except KeyboardInterrupt as interrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(getattr(interrupt, "status", Interrupted().status)) from None
        except BrokenPipeError:
            raise  # the reader of the output has closed it, which is not an error; typer exits without a message
        except (ValueError, OSError, FloatingPointError, MemoryError, RuntimeError) as error:
            text = " ".join(str(error).split()) or type(error).__name__
            if isinstance(error, RuntimeError) and "memory" not in text.lower():
                raise  # a fault of this program
            typer.echo(f"error: {text}", err=True)
            _drop_output()
            raise typer.Exit(1) from error


def _print_warning(message: Warning | str, *_: object) -> None:
    typer.echo(f"warning: {' '.join(str(message).split())}", err=True)


def _drop_output() -> None:
    """Point standard output to nothing if it is full, so that Python does not fail on it again at its end."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, sys.stdout.fileno())
            os.close(nothing)


def _command(of: typer.Typer) -> Callable[[Callable], Callable]:
    """Make a command from a function whose docstring is the help text and whose argument is a dataclass of options.

    The function of the same name in ``actions`` does the work.
    """

    def make(function: Callable) -> Callable:
        options = get_type_hints(function)["options"]

        def command(**values: object) -> None:
            with _errors_in_one_line():
                actions = importlib.import_module("utils.translator.actions")
                getattr(actions, function.__name__)(options(**values))

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__signature__ = inspect.signature(options)
        command.__annotations__ = options.__annotations__
        return of.command()(command)

    return make


@_command(data)
def get(options: GetOptions) -> None:
    """Put a file of sentence pairs into the data folder, check it, and print where it is and on which terms.

    A file that is there already is only checked.
    Otherwise it is downloaded.

    The data folder is the one that the variable ATTENTION_DATA names, else attention-course in the platform's cache.

    If no address gives the file, the command ends with status 3 and says what you can do.

    Example: attention-course data get fra
    """


@_command(app)
def train(options: TrainOptions) -> None:
    """Train a translator on a pair file and save it in a folder: a recurrent one, or a Transformer with --model.

    The state of the training is saved once per minute, at Ctrl-C and when the machine asks the command to end; the
    same command with --resume continues from it. A run that the folder holds is replaced only with --overwrite, and
    only once the new one is complete.

    torchrun --nproc-per-node=2 --no-python attention-course train ... trains in two processes.

    A relative path that does not exist is looked for in the data folder (see data get --help).

    Example: attention-course train --pairs fra.txt --columns en,fr --src fr --tgt en --minutes 3 --out fr-en
    """


@_command(app)
def translate(options: TranslateOptions) -> None:
    """Translate each sentence, or each line of a file or of standard input, to one line.

    An empty line gives an empty line. With --n-best each sentence gives several lines, each with the number of the
    sentence, a score and a translation, separated by tabs; the score is the mean log-probability per token. With
    --json each sentence gives one line, an object with its tokens and its translations.

    A translation that reaches the length limit is cut off there; its end is not forced. The limit is twice the number
    of source tokens, rounded up to a power of 2, and 10 more. With --json, "finished" is then false. Where a weak run
    repeats itself, --no-repeat-ngram 3 helps.

    A few hundred lines are translated at a time, so a file may be larger than memory. With --at-once 1 each line is
    translated before the next is read.

    Example: attention-course translate fr-en "Où est la gare ?" --heatmap gare.png

    Example: attention-course translate fr-en --beam 5 --input french.txt --output english.txt
    """


@_command(app)
def align(options: AlignOptions) -> None:
    """Align the words of sentence pairs by the attention of a run, with one line of links per pair.

    A pair is two sentences separated by a tab or by |||. A link i-j joins word i of the first column and word j of the
    second, counted from 0: each target word is linked with the one source word that gets the largest weight. The
    weights are those of the step that predicts the target word, given the true words before it.

    With --gold prints the alignment error rate, precision and recall of the links, and those of the diagonal. The gold
    file has i-j for sure links and ipj for possible ones.

    Example: attention-course align en-fr enfr.src-tgt --gold enfr.gold --first 1
    """


@_command(app)
def evaluate(options: EvaluateOptions) -> None:
    """Score a run on the sentences that were held out from its training, against all their translations.

    Prints BLEU and chrF with 95 % intervals and signatures, BLEU by the length of the source, and the shares of
    translations that are empty or cut off. Writes all of it, with the translations, to RUN/evaluation.json. The scores
    ignore case, but the second BLEU does not: its signature says case:mixed.

    With --on FILE it scores on all pairs of another file, and writes nothing.
    """


@_command(app)
def compare(options: CompareOptions) -> None:
    """Compare two runs on the same sentences: BLEU and chrF of both, and whether the difference may be chance.

    The p-value is that of a paired bootstrap test: how often a difference as large as this one comes about if the
    runs are equally good. Both runs translate the same languages. Without --on they must have the same test
    sentences, as runs have that were trained on the same file with the same seed and --test-groups.

    Example: attention-course compare fr-en-3-minutes fr-en-10-minutes --beam 5
    """


@_command(app)
def info(options: InfoOptions) -> None:
    """Print how a run was trained, on which file and with which options, and how well it does."""
