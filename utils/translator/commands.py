"""The command line, ``python -m utils``: gets sentences, trains a translator, uses it, measures it.

Nothing is worked out here; each command hands its arguments to a function of ``utils`` and prints the result.
"""

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from utils.corpus.download import CORPORA, DownloadError, get_corpus
from utils.corpus.pairs import choose_languages, find_file
from utils.metrics import Score
from utils.training import matmul_precision
from utils.translator.alignment import score_alignments
from utils.translator.devices import Device, choose_device
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
from utils.translator.runs import Settings, load_run, train_run
from utils.translator.translating import Translation, evaluate_run

app = typer.Typer(
    help="Get pairs of sentences, train a translator with attention on them, translate and align with it, measure it."
    "\n\nThey are used in this order: data get, train, evaluate, translate, align. COMMAND --help tells more of each."
    "\n\nExit status: 0 done; 1 a mistake that you can mend, told in one line; 2 a command that is written wrongly; "
    "3 no address gave the data; 130 ended by Ctrl-C.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

data = typer.Typer(help="Get files of sentence pairs.", no_args_is_help=True)
app.add_typer(data, name="data")

#: What a shell takes for "ended by Ctrl-C".
_INTERRUPTED = 130
#: Status of a command that no address gave what it asked for: another time, or another way, it may succeed.
_UNAVAILABLE = 3

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for a program.")]
AtOnce = Annotated[
    int, typer.Option(min=1, help="Lines that are read before their results are written; more are faster.")
]
Beam = Annotated[int, typer.Option(min=1, help="Hypotheses that the search keeps; 1 is greedy search.")]
OnDevice = Annotated[
    Device, typer.Option("--device", help="Where to work; auto takes a GPU if there is one.")
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a trained run.")]


@contextmanager
def _mistakes_in_one_line() -> Iterator[None]:
    """What a user can mend is told in one line, without a traceback, and ends the command with status 1."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        raise typer.Exit(_INTERRUPTED) from None
    except (
        BrokenPipeError
    ):  # whoever reads has had enough, which is not a mistake; typer ends the command quietly
        raise
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
    with _mistakes_in_one_line():
        try:
            obtained = get_corpus(name, path=path, replace=replace, progress=sys.stderr.isatty())
        except DownloadError as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(_UNAVAILABLE) from error
    known = obtained.provenance
    if as_json:
        facts = {"path": str(obtained.path), "is_pinned": obtained.is_pinned} | asdict(known)
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=1))
        return
    measured = CORPORA[name].edition
    typer.echo(f"{obtained.path}: {known.num_rows} pairs")
    typer.echo(
        f"edition {known.edition or 'unknown'}, "
        + ("the one" if obtained.is_pinned else f"not the one of {measured}")
        + " that this course measures on"
    )
    typer.echo(f"sha256 {known.sha256}")
    typer.echo(f"source {known.source}" + (f", recorded {known.recorded}" if known.recorded else ""))
    typer.echo(f"licence {known.licence}")
    typer.echo(f"attribution {known.attribution}")


@app.command()
def train(
    pairs: Annotated[
        Path, typer.Option(help="Tab-separated UTF-8 file, a sentence and its translation a line.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for the trained run.")],
    columns: Annotated[
        str | None,
        typer.Option(
            help="Languages of the first two columns, in the file's order; source,target unless said.",
            show_default=False,
        ),
    ] = None,
    src: Annotated[
        str | None, typer.Option(help="Language to translate from; the first column's unless said.")
    ] = None,
    tgt: Annotated[
        str | None, typer.Option(help="Language to translate into; the other column's unless said.")
    ] = None,
    minutes: Annotated[float, typer.Option(help="Time to train for, in minutes of wall time.", min=0)] = 3.0,
    vocabulary_size: Annotated[int, typer.Option(help="Most subwords a language.", min=1)] = 6000,
    width: Annotated[int, typer.Option(help="Width of embeddings and states.", min=1)] = 192,
    dropout: Annotated[
        float, typer.Option(help="Probability of dropping a number; more for a small file.", min=0, max=1)
    ] = 0.1,
    muon: Annotated[
        float | None,
        typer.Option(
            help="Highest learning rate of Muon; 0 leaves its weights to Adam with all others. "
            "0.02 where the machine has bfloat16 products, else 0.",
            min=0,
            show_default=False,
        ),
    ] = None,
    batch_size: Annotated[int, typer.Option(help="Sentence pairs a step.", min=1)] = 128,
    test_groups: Annotated[int, typer.Option(help="Groups of sentences kept for `evaluate`.", min=0)] = 1000,
    valid_groups: Annotated[int, typer.Option(help="Groups kept for the held-out loss.", min=0)] = 500,
    seed: Annotated[
        int, typer.Option(help="Of the split, the initial weights, the batches and dropout.")
    ] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a run in the folder.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a training that was interrupted.")
    ] = False,
    stream: Annotated[
        bool,
        typer.Option("--stream", help="Read the file anew in every epoch: for files larger than memory."),
    ] = False,
    device: OnDevice = Device.AUTO,
    as_json: AsJson = False,
) -> None:
    """Train a translator on a pair file and keep it in a folder.

    The state of the training is kept in the folder once a minute and at Ctrl-C; the same command with --resume goes
    on from it.

    torchrun --nproc-per-node=2 -m utils train ... trains in two processes.

    A path that is not there is looked for in the data folder (see data get --help).

    Example: python -m utils train --pairs fra.txt --columns en,fr --src fr --tgt en --minutes 3 --out fr-en
    """
    with (
        _mistakes_in_one_line(),
        matmul_precision("medium"),
        processes_of_torchrun(choose_device(device)) as processes,
    ):
        languages, src, tgt = choose_languages(columns.split(",") if columns else None, src, tgt)
        settings = Settings(
            src,
            tgt,
            vocabulary_size=vocabulary_size,
            d_embed=width,
            d_hidden=width,
            dropout=dropout,
            seed=seed,
        )
        try:
            _, history, rows = train_run(
                pairs,
                languages,
                settings,
                out=out,
                overwrite=overwrite,
                resume=resume,
                minutes=minutes,
                muon=muon,
                batch_size=batch_size,
                num_test=test_groups,
                num_valid=valid_groups,
                stream=stream,
                progress=sys.stderr.isatty(),
                processes=processes,
            )
        except KeyboardInterrupt:
            if processes.is_first:
                typer.echo("interrupted: the same command with --resume goes on from here", err=True)
            raise typer.Exit(_INTERRUPTED) from None
    if not processes.is_first:
        return
    if as_json:
        done = {
            "run": str(out),
            "src": src,
            "tgt": tgt,
            "rows": asdict(rows),
            "steps": len(history.losses),
            "seconds": history.seconds[-1],
            "target_tokens": sum(history.tokens),
            "target_tokens_per_second": history.tokens_per_second,
            "held_out_loss": min(history.valid_losses, default=None),
        }
        typer.echo(json.dumps(done, ensure_ascii=False))
        return
    typer.echo(f"{pairs}: {rows}")
    typer.echo(f"{out}: {len(history.losses)} steps, {history.tokens_per_second:.0f} target tokens a second")
    if history.valid_losses:
        typer.echo(f"held-out loss {min(history.valid_losses):.3f} nats a token")


@app.command()
def translate(
    run: RunFolder,
    sentences: Annotated[
        list[str] | None, typer.Argument(metavar="[SENTENCE]...", help="Text; standard input where none.")
    ] = None,
    beam: Beam = 1,
    n_best: Annotated[
        bool,
        typer.Option(
            "--n-best", help="Print all hypotheses of the beam, the best first, after their scores."
        ),
    ] = False,
    input: Annotated[
        Path | None, typer.Option(help="Translate the lines of this file.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Write to this file, not to standard output.", show_default=False)
    ] = None,
    at_once: AtOnce = AT_ONCE,
    as_json: AsJson = False,
    heatmap: Annotated[
        Path | None,
        typer.Option(
            help="Draw the attention weights of a single sentence to this file: a picture, .png or .svg, or a page to "
            "explore, .html.",
            show_default=False,
        ),
    ] = None,
    device: OnDevice = Device.AUTO,
) -> None:
    """Translate each sentence, or each line of a file or of standard input, to one line.

    An empty line gives an empty line. With --n-best each sentence gives several lines, a score and a translation
    with a tab between them; the score is the mean log-probability of a token. With --json each sentence gives one
    line, an object with its tokens and its translations.

    Lines are translated some hundred at a time, so a file may be larger than memory; --at-once 1 answers each line
    before it reads the next.

    Example: python -m utils translate fr-en "Où est la gare ?" --heatmap gare.png

    Example: python -m utils translate fr-en --beam 5 --input french.txt --output english.txt
    """
    if sentences and input is not None:
        raise typer.BadParameter("give sentences or --input, not both")
    if not sentences:
        _need_text(input, "translate", "sentences, --input FILE")
    with _mistakes_in_one_line(), matmul_precision("medium"):
        if heatmap is not None:
            check_heatmap_path(heatmap)
            if sentences and len(sentences) != 1:
                raise ValueError(f"a heat map shows one sentence, got {len(sentences)}")
        if output is not None and input is not None and output.exists() and output.samefile(input):
            raise ValueError(f"{output} is the input: name another file for the translations")
        trained = load_run(run, device=choose_device(device))
        shown = sys.stderr.isatty()
        given = nullcontext(Text(iter(sentences), "arguments", len(sentences))) if sentences else None
        drawn: list[Translation] = []
        with (
            given or open_text(input, sys.stdin.buffer, count=shown) as text,
            output.open("w", encoding="utf-8", newline="\n") if output else nullcontext() as file,
            Progress(text.num_lines, "tokens", shown=shown) as progress,
        ):
            found = translate_lines(trained, text.lines, beam=beam, at_once=at_once, progress=progress)
            for source, translations in found:
                for line in _lines_of(source, translations, n_best=n_best, as_json=as_json):
                    typer.echo(line, file=file)
                if heatmap is not None and len(drawn) < 2:
                    drawn.append(translations[0])
        if heatmap is not None:
            if len(drawn) != 1 or drawn[0].weights is None:
                raise ValueError("a heat map shows one sentence that is not empty")
            save_heatmap(drawn[0], heatmap)


@app.command()
def align(
    run: RunFolder,
    path: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Pair file; standard input where none.")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            help="Languages of the two columns; the run's source, target unless said.", show_default=False
        ),
    ] = None,
    tokenise: Annotated[
        bool,
        typer.Option(
            "--tokenise", help="Cut the sentences into words and marks; else blanks separate words."
        ),
    ] = False,
    gold: Annotated[
        Path | None,
        typer.Option(
            help="Links made by hand, a line a pair: print what ours are worth.", show_default=False
        ),
    ] = None,
    first: Annotated[int, typer.Option(min=0, max=1, help="Number of the first word in the gold file.")] = 0,
    at_once: AtOnce = AT_ONCE,
    as_json: AsJson = False,
    device: OnDevice = Device.AUTO,
) -> None:
    """Align the words of sentence pairs by the attention of a run, one line of links a pair.

    A pair is two sentences with a tab between them, or |||. A link i-j joins word i of the first column with word j of
    the second, counted from 0: each target word with the one source word that gets most of its attention. The
    weights are those that the target word was predicted with, the true words before it given.

    With --gold prints the alignment error rate, precision and recall, beside those of the diagonal. The gold file has
    i-j for sure links and ipj for possible ones.

    Example: python -m utils align en-fr enfr.src-tgt --gold enfr.gold --first 1
    """
    _need_text(path, "align", "a pair file")
    with _mistakes_in_one_line(), matmul_precision("medium"):
        trained = load_run(run, device=choose_device(device))
        src, tgt = trained.settings.src, trained.settings.tgt
        languages, *_ = choose_languages(columns.split(",") if columns else (src, tgt), src, tgt)
        turned = languages != (src, tgt)
        shown = sys.stderr.isatty()
        found = []
        with (
            open_text(path and find_file(path), sys.stdin.buffer, count=shown) as text,
            Progress(text.num_lines, "words", shown=shown) as progress,
        ):
            pairs = read_pair_lines(text.lines, text.name)
            if turned:
                pairs = ((source, target) for target, source in pairs)
            for alignment in align_lines(trained, pairs, cut=tokenise, at_once=at_once, progress=progress):
                if gold is not None:
                    found.append(alignment)
                    continue
                links = sorted((j, i) if turned else (i, j) for i, j in alignment.links)
                words = {"source": alignment.src_words, "target": alignment.tgt_words}
                typer.echo(
                    json.dumps(words | {"links": links}, ensure_ascii=False)
                    if as_json
                    else format_links(links)
                )
    if gold is None:
        return
    with _mistakes_in_one_line():
        sizes = [(len(alignment.src_words), len(alignment.tgt_words)) for alignment in found]
        wanted = read_gold(gold, [size[::-1] if turned else size for size in sizes], first=first)
        scores = score_alignments(found, [links.turned() if turned else links for links in wanted])
    if as_json:
        shown_scores = {name: score._asdict() for name, score in scores.items()}
        typer.echo(json.dumps({"num_sentences": len(found)} | shown_scores))
        return
    typer.echo(f"{len(found)} sentences\n{'':9}    AER  precision  recall  links")
    for name, score in scores.items():
        typer.echo(
            f"{name:9}  {score.aer:5.1%}  {score.precision:9.1%}  {score.recall:6.1%}  {score.num_links:5}"
        )


@app.command()
def evaluate(
    run: RunFolder,
    beam: Beam = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON, for a program.")] = False,
    examples: Annotated[int, typer.Option(help="Translations to show beside their references.")] = 5,
    device: OnDevice = Device.AUTO,
) -> None:
    """Score a run on the sentences that were kept from its training, against all their translations.

    Prints BLEU and chrF (case-insensitive) with 95 % intervals and signatures, BLEU by the length of the source, and
    how many translations are empty or cut off; keeps all of it, with the translations, in RUN/evaluation.json.
    """
    with _mistakes_in_one_line(), matmul_precision("medium"):
        result = evaluate_run(load_run(run, device=choose_device(device)), beam=beam, folder=run)
    if as_json:
        typer.echo(result.to_json())
        return
    typer.echo(f"{result.num_sentences} sentences")
    for name, score in (("BLEU", result.bleu), ("chrF", result.chrf)):
        typer.echo(f"{name} {_with_interval(score)}  {score.signature}")
    typer.echo("source length  sentences  BLEU")
    for bucket in result.by_length:
        length = f"{bucket.low} and more" if math.isinf(bucket.high) else f"{bucket.low} to {bucket.high}"
        typer.echo(f"{length:>13}  {bucket.num_sentences:9}  {_with_interval(bucket.score)}")
    typer.echo(f"empty {result.empty:.1%}, cut off {result.cut_off:.1%}")
    # Spread evenly over the sentences, so that the same run shows the same ones.
    for number in range(min(examples, result.num_sentences)):
        source, text, references = result.examples[number * result.num_sentences // examples]
        typer.echo(f"\nsource      {source}\ntranslation {text}\nreference   {' | '.join(references)}")


def _with_interval(score: Score) -> str:
    low, high = score.interval or (score.value, score.value)
    return f"{score.value:.2f} [{low:.1f}, {high:.1f}]"


def _need_text(path: Path | None, command: str, ways: str) -> None:
    """A person at a terminal who gives nothing has forgotten something; an empty file or pipe is no mistake."""
    if path is None and sys.stdin.isatty():
        raise typer.BadParameter(f"nothing to {command}: give {ways}, or text on standard input")


def _lines_of(source: str, translations: list[Translation], *, n_best: bool, as_json: bool) -> Iterator[str]:
    """What is printed for one sentence."""
    shown = translations if n_best else translations[:1]
    if as_json:
        fields = ("text", "score", "tokens", "finished")
        found = [(one.text, one.score, one.tgt_tokens, one.finished) for one in shown]
        written = [dict(zip(fields, one, strict=True)) for one in found]
        facts = {"source": source, "source_tokens": translations[0].src_tokens, "translations": written}
        yield json.dumps(facts, ensure_ascii=False)
        return
    for one in shown:
        yield f"{one.score:.4f}\t{one.text}" if n_best else one.text
