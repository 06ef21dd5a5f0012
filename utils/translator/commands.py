"""The command line, ``python -m utils``: get sentence pairs, train a translator, use it and measure it.

Each command passes its options to a function of ``utils`` and prints the result.
"""

import inspect
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, get_type_hints

import typer

from utils.corpus.download import CORPORA, DownloadError, Obtained, get_corpus
from utils.corpus.pairs import choose_languages, find_file
from utils.metrics import Score
from utils.training import History
from utils.translator.alignment import WordAlignment, score_alignments
from utils.translator.devices import Device, choose_device, matmul_precision
from utils.translator.distributed import processes_of_torchrun
from utils.translator.gold_links import format_links, read_gold
from utils.translator.heatmaps import check_heatmap_path, save_heatmap
from utils.translator.lines import (
    AT_ONCE,
    Progress,
    Text,
    align_lines,
    open_text,
    read_pair_lines,
    translate_lines,
)
from utils.translator.loop import Schedule
from utils.translator.runs import PairData, Rows, Run, Settings, load_run, train_run
from utils.translator.translating import Evaluation, Translation, evaluate_run

app = typer.Typer(
    help="Get pairs of sentences, train a translator with attention on them, translate and align with it, measure it."
    "\n\nThe usual order is: data get, train, evaluate, translate, align. COMMAND --help explains each."
    "\n\nExit status: 0 done; 1 a mistake that you can correct, printed in one line; 2 a wrong command or option; "
    "3 no address gave the data; 130 interrupted with Ctrl-C.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

data = typer.Typer(help="Get files of sentence pairs.", no_args_is_help=True)
app.add_typer(data, name="data")

#: The exit status of a command that was interrupted with Ctrl-C, as in shells.
_INTERRUPTED = 130
#: The exit status of ``data get`` if no address gives the file. A later attempt may succeed.
_UNAVAILABLE = 3

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for a program.")]
AtOnce = Annotated[
    int, typer.Option(min=1, help="Lines to read before the next results are printed; more are faster.")
]
Beam = Annotated[int, typer.Option(min=1, help="Number of hypotheses in the search; 1 is greedy search.")]
OnDevice = Annotated[
    Device, typer.Option("--device", help="Device to compute on; auto takes a GPU if there is one.")
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a trained run.")]


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Turn a command with one argument, a dataclass, into one with the fields as arguments, as typer needs."""
    options = get_type_hints(command)["options"]

    def with_options(**values: object) -> None:
        command(options(**values))

    with_options.__name__, with_options.__doc__ = command.__name__, command.__doc__
    with_options.__signature__ = inspect.signature(options)
    with_options.__annotations__ = options.__annotations__
    return with_options


@contextmanager
def _errors_in_one_line() -> Iterator[None]:
    """Print an error that the user can correct in one line, without a traceback, and exit with status 1."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        raise typer.Exit(_INTERRUPTED) from None
    except BrokenPipeError:
        raise  # the reader of the output has closed it, which is not an error; typer exits without a message
    except (ValueError, OSError, FloatingPointError) as error:
        typer.echo(f"error: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(1) from error


_Name = StrEnum("_Name", list(CORPORA))


@data.command()
def get(
    name: Annotated[_Name, typer.Argument(help="English with Mandarin Chinese, or with French.")],
    path: Annotated[
        Path | None,
        typer.Option("--from", help="Take this .zip or .txt, which you have already.", show_default=False),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Get the file again, and accept another edition than the one that you have."
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what is known about the file as JSON.")
    ] = False,
) -> None:
    """Put a file of sentence pairs into the data folder, check it, and print where it is and on which terms.

    A file that is there already is only checked.
    Otherwise it is downloaded.

    The data folder is the one that the variable ATTENTION_DATA names, else attention-course in the platform's cache.

    If no address gives the file, the command ends with status 3 and says what you can do.

    Example: python -m utils data get fra
    """
    with _errors_in_one_line():
        try:
            obtained = get_corpus(name, path=path, replace=replace, progress=sys.stderr.isatty())
        except DownloadError as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(_UNAVAILABLE) from error
    if as_json:
        facts = {"path": str(obtained.path), "is_pinned": obtained.is_pinned} | asdict(obtained.provenance)
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=1))
    else:
        _print_corpus(obtained, CORPORA[name].edition)


def _print_corpus(obtained: Obtained, measured_edition: str) -> None:
    facts = obtained.provenance
    typer.echo(f"{obtained.path}: {facts.num_rows} pairs")
    typer.echo(
        f"edition {facts.edition or 'unknown'}, "
        + ("the one" if obtained.is_pinned else f"not the one of {measured_edition}")
        + " that this course measures on"
    )
    typer.echo(f"sha256 {facts.sha256}")
    typer.echo(f"source {facts.source}" + (f", recorded {facts.recorded}" if facts.recorded else ""))
    typer.echo(f"licence {facts.licence}")
    typer.echo(f"attribution {facts.attribution}")


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """The options of ``train``."""

    pairs: Annotated[
        Path, typer.Option(help="Tab-separated UTF-8 file, one sentence and its translation per line.")
    ]
    out: Annotated[Path, typer.Option(help="Folder for the trained run.")]
    columns: Annotated[
        str | None,
        typer.Option(
            help="Languages of the first two columns, in the order of the file; by default source,target.",
            show_default=False,
        ),
    ] = None
    src: Annotated[
        str | None, typer.Option(help="Language to translate from; by default that of the first column.")
    ] = None
    tgt: Annotated[
        str | None, typer.Option(help="Language to translate into; by default that of the other column.")
    ] = None
    minutes: Annotated[float, typer.Option(help="Time to train for, in minutes of wall time.", min=0)] = 3.0
    vocabulary_size: Annotated[int, typer.Option(help="Subwords per language, at most.", min=1)] = 6000
    width: Annotated[int, typer.Option(help="Width of embeddings and states.", min=1)] = 192
    dropout: Annotated[
        float, typer.Option(help="Probability of dropout; use more for a small file.", min=0, max=1)
    ] = 0.1
    muon: Annotated[
        float | None,
        typer.Option(
            help="Highest learning rate of Muon; 0 trains all weights with Adam. "
            "By default 0.02 if the machine has bfloat16 products, else 0.",
            min=0,
            show_default=False,
        ),
    ] = None
    batch_size: Annotated[int, typer.Option(help="Sentence pairs per step.", min=1)] = 128
    test_groups: Annotated[int, typer.Option(help="Groups held out for `evaluate`.", min=0)] = 1000
    valid_groups: Annotated[
        int, typer.Option(help="Groups held out to choose the weights by their loss.", min=0)
    ] = 500
    seed: Annotated[
        int, typer.Option(help="Seed of the split, the initial weights, the batches and dropout.")
    ] = 0
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a run in the folder.")] = False
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted training.")] = False
    stream: Annotated[
        bool,
        typer.Option("--stream", help="Read the file again in every epoch: for files larger than memory."),
    ] = False
    device: OnDevice = Device.AUTO
    as_json: AsJson = False


@app.command()
@_with_options
def train(options: TrainOptions) -> None:
    """Train a translator on a pair file and save it in a folder.

    The state of the training is saved in the folder once per minute and at Ctrl-C; the same command with --resume
    continues from it.

    torchrun --nproc-per-node=2 -m utils train ... trains in two processes.

    A relative path that does not exist is looked for in the data folder (see data get --help).

    Example: python -m utils train --pairs fra.txt --columns en,fr --src fr --tgt en --minutes 3 --out fr-en
    """
    with (
        _errors_in_one_line(),
        matmul_precision("medium"),
        processes_of_torchrun(choose_device(options.device)) as processes,
    ):
        columns = options.columns.split(",") if options.columns else None
        columns, src, tgt = choose_languages(columns, options.src, options.tgt)
        settings = Settings(
            src,
            tgt,
            vocabulary_size=options.vocabulary_size,
            d_embed=options.width,
            d_hidden=options.width,
            dropout=options.dropout,
            seed=options.seed,
        )
        data = PairData(
            options.pairs,
            columns,
            num_test=options.test_groups,
            num_valid=options.valid_groups,
            stream=options.stream,
        )
        schedule = Schedule(minutes=options.minutes, batch_size=options.batch_size, muon=options.muon)
        try:
            _, history, rows = train_run(
                data,
                settings,
                schedule,
                out=options.out,
                overwrite=options.overwrite,
                resume=options.resume,
                progress=sys.stderr.isatty(),
                processes=processes,
            )
        except KeyboardInterrupt:
            if processes.is_first:
                typer.echo("interrupted: the same command with --resume continues from here", err=True)
            raise typer.Exit(_INTERRUPTED) from None
    if processes.is_first:
        _print_training(options, settings, history, rows)


def _print_training(options: TrainOptions, settings: Settings, history: History, rows: Rows) -> None:
    held_out_loss = min(history.valid_losses, default=None)
    if options.as_json:
        facts = {
            "run": str(options.out),
            "src": settings.src,
            "tgt": settings.tgt,
            "rows": asdict(rows),
            "steps": len(history.losses),
            "seconds": history.seconds[-1] if history.seconds else 0.0,
            "target_tokens": sum(history.tokens),
            "target_tokens_per_second": history.tokens_per_second,
            "held_out_loss": held_out_loss,
        }
        typer.echo(json.dumps(facts, ensure_ascii=False))
        return
    typer.echo(f"{options.pairs}: {rows}")
    speed = f"{history.tokens_per_second:.0f} target tokens per second"
    typer.echo(f"{options.out}: {len(history.losses)} steps, {speed}")
    if held_out_loss is not None:
        typer.echo(f"held-out loss {held_out_loss:.3f} nats per token")


@dataclass(frozen=True, kw_only=True)
class TranslateOptions:
    """The arguments and options of ``translate``."""

    run: RunFolder
    sentences: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SENTENCE]...", help="Text; by default standard input."),
    ] = None
    beam: Beam = 1
    n_best: Annotated[
        bool, typer.Option("--n-best", help="Print all hypotheses with their scores, the best first.")
    ] = False
    input: Annotated[
        Path | None, typer.Option(help="Translate the lines of this file.", show_default=False)
    ] = None
    output: Annotated[
        Path | None, typer.Option(help="Write to this file, not to standard output.", show_default=False)
    ] = None
    at_once: AtOnce = AT_ONCE
    as_json: AsJson = False
    heatmap: Annotated[
        Path | None,
        typer.Option(
            help="Draw the attention weights of a single sentence to this file: a picture, .png or .svg, or an "
            "interactive page, .html.",
            show_default=False,
        ),
    ] = None
    device: OnDevice = Device.AUTO


@app.command()
@_with_options
def translate(options: TranslateOptions) -> None:
    """Translate each sentence, or each line of a file or of standard input, to one line.

    An empty line gives an empty line. With --n-best each sentence gives several lines, each with a score, a tab and a
    translation; the score is the mean log-probability per token. With --json each sentence gives one line, an object
    with its tokens and its translations.

    A few hundred lines are translated at a time, so a file may be larger than memory. With --at-once 1 each line is
    translated before the next is read.

    Example: python -m utils translate fr-en "Où est la gare ?" --heatmap gare.png

    Example: python -m utils translate fr-en --beam 5 --input french.txt --output english.txt
    """
    if options.sentences and options.input is not None:
        raise typer.BadParameter("give sentences or --input, not both")
    if not options.sentences:
        _require_text(options.input, "translate", "sentences, --input FILE")
    with _errors_in_one_line(), matmul_precision("medium"):
        _check_files(options)
        run = load_run(options.run, device=choose_device(options.device))
        with (
            _sentences(options) as text,
            options.output.open("w", encoding="utf-8", newline="\n")
            if options.output
            else nullcontext() as file,
            Progress(text.num_lines, "tokens", visible=sys.stderr.isatty()) as progress,
        ):
            results = translate_lines(
                run, text.lines, beam=options.beam, at_once=options.at_once, progress=progress
            )
            first: list[Translation] = []  # up to two, since a heat map shows exactly one
            for source, translations in results:
                for line in _translation_lines(source, translations, options):
                    typer.echo(line, file=file)
                if len(first) < 2:
                    first.append(translations[0])
        if options.heatmap is not None:
            if len(first) != 1 or first[0].weights is None:
                raise ValueError("a heat map shows one sentence, which must not be empty")
            save_heatmap(first[0], options.heatmap)


def _check_files(options: TranslateOptions) -> None:
    """Raise an error for files that cannot be written, before any other work."""
    if options.heatmap is not None:
        check_heatmap_path(options.heatmap)
        if options.sentences and len(options.sentences) != 1:
            raise ValueError(f"a heat map shows one sentence, got {len(options.sentences)}")
    if (
        options.input
        and options.output
        and options.output.exists()
        and options.output.samefile(options.input)
    ):
        raise ValueError(f"{options.output} is the input: name another file for the translations")


def _sentences(options: TranslateOptions) -> AbstractContextManager[Text]:
    if options.sentences:
        return nullcontext(Text(iter(options.sentences), "arguments", len(options.sentences)))
    return open_text(options.input, sys.stdin.buffer, count=sys.stderr.isatty())


def _translation_lines(
    source: str, translations: list[Translation], options: TranslateOptions
) -> Iterator[str]:
    """The lines to print for one sentence."""
    printed = translations if options.n_best else translations[:1]
    if options.as_json:
        objects = [
            {
                "text": translation.text,
                "score": translation.score,
                "tokens": translation.tgt_tokens,
                "finished": translation.finished,
            }
            for translation in printed
        ]
        facts = {"source": source, "source_tokens": translations[0].src_tokens, "translations": objects}
        yield json.dumps(facts, ensure_ascii=False)
        return
    for translation in printed:
        yield f"{translation.score:.4f}\t{translation.text}" if options.n_best else translation.text


@dataclass(frozen=True, kw_only=True)
class AlignOptions:
    """The arguments and options of ``align``."""

    run: RunFolder
    path: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Pair file; by default standard input.")
    ] = None
    columns: Annotated[
        str | None,
        typer.Option(
            help="Languages of the two columns; by default source,target of the run.", show_default=False
        ),
    ] = None
    tokenise: Annotated[
        bool,
        typer.Option("--tokenise", help="Split the sentences into words and marks; by default at blanks."),
    ] = False
    gold: Annotated[
        Path | None,
        typer.Option(
            help="File of links by human annotators, one line per pair: print the scores of the run's links.",
            show_default=False,
        ),
    ] = None
    first: Annotated[int, typer.Option(min=0, max=1, help="Number of the first word in the gold file.")] = 0
    at_once: AtOnce = AT_ONCE
    as_json: AsJson = False
    device: OnDevice = Device.AUTO


@app.command()
@_with_options
def align(options: AlignOptions) -> None:
    """Align the words of sentence pairs by the attention of a run, with one line of links per pair.

    A pair is two sentences separated by a tab or by |||. A link i-j joins word i of the first column and word j of the
    second, counted from 0: each target word is linked with the one source word that gets the largest weight. The
    weights are those of the step that predicts the target word, given the true words before it.

    With --gold prints the alignment error rate, precision and recall of the links, and those of the diagonal. The gold
    file has i-j for sure links and ipj for possible ones.

    Example: python -m utils align en-fr enfr.src-tgt --gold enfr.gold --first 1
    """
    _require_text(options.path, "align", "a pair file")
    with _errors_in_one_line(), matmul_precision("medium"):
        run = load_run(options.run, device=choose_device(options.device))
        src, tgt = run.settings.src, run.settings.tgt
        columns = options.columns.split(",") if options.columns else (src, tgt)
        columns, *_ = choose_languages(columns, src, tgt)
        swapped = columns != (src, tgt)
        alignments = _alignments(run, options, swapped=swapped)
        if options.gold is None:
            for alignment in alignments:
                typer.echo(_alignment_line(alignment, swapped=swapped, as_json=options.as_json))
        else:
            _print_alignment_scores(list(alignments), options, swapped=swapped)


def _alignments(run: Run, options: AlignOptions, *, swapped: bool) -> Iterator[WordAlignment]:
    """Align the pairs of the file or of standard input; ``swapped`` if the target is the first column."""
    visible = sys.stderr.isatty()
    with (
        open_text(options.path and find_file(options.path), sys.stdin.buffer, count=visible) as text,
        Progress(text.num_lines, "words", visible=visible) as progress,
    ):
        pairs: Iterable[tuple[str, str]] = read_pair_lines(text.lines, text.name)
        if swapped:
            pairs = ((source, target) for target, source in pairs)
        yield from align_lines(
            run, pairs, tokenised=not options.tokenise, at_once=options.at_once, progress=progress
        )


def _alignment_line(alignment: WordAlignment, *, swapped: bool, as_json: bool) -> str:
    links = sorted((j, i) if swapped else (i, j) for i, j in alignment.links)
    if not as_json:
        return format_links(links)
    facts = {"source": alignment.src_words, "target": alignment.tgt_words, "links": links}
    return json.dumps(facts, ensure_ascii=False)


def _print_alignment_scores(alignments: list[WordAlignment], options: AlignOptions, *, swapped: bool) -> None:
    sizes = [(len(alignment.src_words), len(alignment.tgt_words)) for alignment in alignments]
    gold = read_gold(options.gold, [size[::-1] if swapped else size for size in sizes], first=options.first)
    scores = score_alignments(alignments, [links.swapped() if swapped else links for links in gold])
    if options.as_json:
        facts = {name: score._asdict() for name, score in scores.items()}
        typer.echo(json.dumps({"num_sentences": len(alignments)} | facts))
        return
    typer.echo(f"{len(alignments)} sentences\n{'':9}    AER  precision  recall  links")
    for name, score in scores.items():
        typer.echo(
            f"{name:9}  {score.aer:5.1%}  {score.precision:9.1%}  {score.recall:6.1%}  {score.num_links:5}"
        )


@app.command()
def evaluate(
    run: RunFolder,
    beam: Beam = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON, for a program.")] = False,
    examples: Annotated[int, typer.Option(help="Number of translations to print with their references.")] = 5,
    device: OnDevice = Device.AUTO,
) -> None:
    """Score a run on the sentences that were held out from its training, against all their translations.

    Prints BLEU and chrF (case-insensitive) with 95 % intervals and signatures, BLEU by the length of the source, and
    the shares of translations that are empty or cut off. Writes all of it, with the translations, to
    RUN/evaluation.json.
    """
    with _errors_in_one_line(), matmul_precision("medium"):
        result = evaluate_run(load_run(run, device=choose_device(device)), beam=beam, folder=run)
    if as_json:
        typer.echo(result.to_json())
    else:
        _print_evaluation(result, examples)


def _print_evaluation(result: Evaluation, num_examples: int) -> None:
    typer.echo(f"{result.num_sentences} sentences")
    for name, score in (("BLEU", result.bleu), ("chrF", result.chrf)):
        typer.echo(f"{name} {_with_interval(score)}  {score.signature}")
    typer.echo("source length  sentences  BLEU")
    for bucket in result.by_length:
        length = f"{bucket.low} and more" if math.isinf(bucket.high) else f"{bucket.low} to {bucket.high}"
        typer.echo(f"{length:>13}  {bucket.num_sentences:9}  {_with_interval(bucket.score)}")
    typer.echo(f"empty {result.empty:.1%}, cut off {result.cut_off:.1%}")
    # Evenly spaced sentences, so that the same run always prints the same examples.
    for number in range(min(num_examples, result.num_sentences)):
        source, text, references = result.examples[number * result.num_sentences // num_examples]
        typer.echo(f"\nsource      {source}\ntranslation {text}\nreference   {' | '.join(references)}")


def _with_interval(score: Score) -> str:
    low, high = score.interval or (score.value, score.value)
    return f"{score.value:.2f} [{low:.1f}, {high:.1f}]"


def _require_text(path: Path | None, command: str, ways: str) -> None:
    """Exit with status 2 if there is no file and standard input is a terminal; an empty file or pipe is valid."""
    if path is None and sys.stdin.isatty():
        raise typer.BadParameter(f"nothing to {command}: give {ways}, or text on standard input")
