"""The command line, ``python -m utils``: gets sentences, trains a translator, translates with it, measures it.

Nothing is worked out here; each command hands its arguments to a function of ``utils`` and prints the result.
"""

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from utils.corpus.download import CORPORA, DownloadError, get_corpus
from utils.corpus.pairs import choose_languages
from utils.evaluation import Score, Translation, evaluate_run
from utils.evaluation import n_best as search
from utils.runs import Settings, load_run, train_run
from utils.training import matmul_precision

app = typer.Typer(
    help="Get pairs of sentences, train a translator with attention on them, translate with it, measure it.",
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

Beam = Annotated[int, typer.Option(min=1, help="Hypotheses that the search keeps; 1 is greedy search.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a trained run.")]


@contextmanager
def _mistakes_in_one_line() -> Iterator[None]:
    """What a user can mend is told in one line, without a traceback, and ends the command with status 1."""
    try:
        yield
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
            "--replace", help="Get it anew though it is there, and accept another edition than the one kept."
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what is known about the file as JSON.")
    ] = False,
) -> None:
    """Put a file of sentence pairs into the data folder, checked, and say where it is and on which terms.

    A file that lies there already is checked and kept.
    Otherwise it is downloaded, going on where an earlier download broke off.

    The data folder is the one that the variable ATTENTION_DATA names.

    Ends with status 3 if no address gave the file, and says then how to get it by hand.

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
    minutes: Annotated[float, typer.Option(help="Time to train for, in minutes of wall time.")] = 3.0,
    vocabulary_size: Annotated[int, typer.Option(help="Most subwords a language.")] = 6000,
    width: Annotated[int, typer.Option(help="Width of embeddings and states.")] = 192,
    batch_size: Annotated[int, typer.Option(help="Sentence pairs a step.")] = 32,
    test_groups: Annotated[int, typer.Option(help="Groups of sentences kept for `evaluate`.")] = 1000,
    valid_groups: Annotated[int, typer.Option(help="Groups kept for the held-out loss.")] = 500,
    seed: Annotated[
        int, typer.Option(help="Of the split, the initial weights, the batches and dropout.")
    ] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a run in the folder.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a training that was interrupted.")
    ] = False,
) -> None:
    """Train a translator on a pair file and keep it in a folder.

    The state of the training is kept in the folder once a minute and at Ctrl-C; the same command with --resume goes
    on from it.

    A path that is not there is looked for in the data folder, which the variable ATTENTION_DATA names.

    Example: python -m utils train --pairs fra.txt --columns en,fr --src fr --tgt en --minutes 3 --out fr-en
    """
    with _mistakes_in_one_line(), matmul_precision("medium"):
        languages, src, tgt = choose_languages(columns.split(",") if columns else None, src, tgt)
        settings = Settings(
            src, tgt, vocabulary_size=vocabulary_size, d_embed=width, d_hidden=width, seed=seed
        )
        try:
            _, history = train_run(
                pairs,
                languages,
                settings,
                out=out,
                overwrite=overwrite,
                resume=resume,
                minutes=minutes,
                batch_size=batch_size,
                num_test=test_groups,
                num_valid=valid_groups,
                progress=sys.stderr.isatty(),
            )
        except KeyboardInterrupt:
            typer.echo("interrupted: the same command with --resume goes on from here", err=True)
            raise typer.Exit(_INTERRUPTED) from None
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
    heatmap: Annotated[
        Path | None, typer.Option(help="Draw the attention weights of a single sentence to this PNG file.")
    ] = None,
) -> None:
    """Translate each sentence, or each line of standard input, to one line.

    An empty line gives an empty line. With --n-best each sentence gives several lines, a score and a translation
    with a tab between them; the score is the mean log-probability of a token.

    Example: python -m utils translate fr-en "Où est la gare ?" --heatmap gare.png
    """
    with _mistakes_in_one_line(), matmul_precision("medium"):
        if not sentences:
            sentences = [line.rstrip("\n") for line in sys.stdin]
        found = search(load_run(run), sentences, beam=beam)
        for translations in found:
            for translation in translations[: None if n_best else 1]:
                typer.echo(f"{translation.score:.4f}\t{translation.text}" if n_best else translation.text)
        if heatmap is not None:
            _draw([best for best, *_ in found], heatmap)


@app.command()
def evaluate(
    run: RunFolder,
    beam: Beam = 1,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON, for a program.")] = False,
    examples: Annotated[int, typer.Option(help="Translations to show beside their references.")] = 5,
) -> None:
    """Score a run on the sentences that were kept from its training, against all their translations.

    Prints BLEU and chrF (case-insensitive) with 95 % intervals and signatures, BLEU by the length of the source, and
    how many translations are empty or cut off; keeps all of it, with the translations, in RUN/evaluation.json.
    """
    with _mistakes_in_one_line(), matmul_precision("medium"):
        result = evaluate_run(load_run(run), beam=beam, folder=run)
    if json:
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


def _draw(translations: list[Translation], path: Path) -> None:
    """The heat map of one translation, as a file of the kind its name says."""
    if len(translations) != 1 or translations[0].weights is None:
        raise ValueError(f"a heat map shows one sentence that is not empty, got {len(translations)}")
    from utils.plotting import SIZE, heatmap, panels, use_style  # matplotlib, which nothing else here needs

    use_style()
    [translation] = translations
    num_tgt, num_src = translation.weights.shape
    # A longer sentence gets a larger figure: a quarter of an inch a label.
    figure, [ax] = panels(1, width=max(SIZE[0], 2 + num_src / 4), height=max(SIZE[1], 1.5 + num_tgt / 4))
    heatmap(
        translation.weights,
        queries=translation.tgt_tokens,
        keys=translation.src_tokens,
        ax=ax,
        xlabel="source token",
        ylabel="target token",
    )
    figure.savefig(path)


if __name__ == "__main__":
    app(prog_name="python -m utils")
