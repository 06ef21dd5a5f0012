"""``evaluate``: say what a run is, and score it.

Explained in book/your_translator.
"""

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from utils.translator.commands import shared
from utils.translator.options import GREEDY, Device, Search

if TYPE_CHECKING:
    from utils.corpus.splits import Example
    from utils.metrics import Score
    from utils.translator.runs import Run
    from utils.translator.using.evaluation import Evaluation

EvaluateOn = Annotated[
    Path | None,
    typer.Option(help="Score on all pairs of this file, not on the sentences that were held out."),
]
NumExamples = Annotated[
    int, typer.Option(min=0, help="Number of translations to print with their references.")
]


@shared.with_search
def evaluate(
    folder: shared.RunFolder,
    search: Search = GREEDY,
    on: EvaluateOn = None,
    columns: shared.Columns = None,
    examples: NumExamples = 5,
    device: shared.OnDevice = Device.AUTO,
) -> None:
    """Score a run on the sentences that were held out from its training, against all their translations.

    Prints how the run was trained, BLEU and chrF with 95 % intervals and signatures, BLEU by the length of the source,
    and the shares of translations that are empty or cut off. The scores ignore case, but the second BLEU does not: its
    signature says case:mixed. RUN/evaluation.json gets all scores, with the translations, and RUN/run.json has the
    whole record of the training.

    With --on FILE it scores on all pairs of another file, and writes nothing.

    Example: attention-course evaluate runs/fr-en --beam 5
    """
    from utils.translator.devices import choose_device, fast_products
    from utils.translator.runs import load_run
    from utils.translator.using.evaluation import evaluate_run

    run = load_run(folder, device=choose_device(device))
    test = _other_test(run, on, columns)
    _tell_of_tokenizer(run)
    shared.tell(f"translating {len(run.test if test is None else test)} sentences")
    with fast_products():
        result = evaluate_run(run, search, test=test)
    typer.echo(f"{folder}: {_history(run)}")
    _print_evaluation(result, examples)
    if test is None:
        try:
            result.save(folder)
        except OSError as error:  # a disk that is full, or a folder of somebody else
            shared.tell(
                f"warning: nothing can be written to {folder} ({error.strerror}): the scores are only printed"
            )


def _history(run: "Run") -> str:
    """What a run is: its languages and how it was trained."""
    languages = f"{run.settings.src} to {run.settings.tgt}"
    if run.record is None:
        return f"{languages}, not trained by this command line"
    pairs, result, command = run.record["rows"]["train"], run.record["result"], run.record["command"]
    return f"{languages}, {pairs} pairs, {result['steps']} steps, {result['minutes']} minutes: {shlex.join(command)}"


def _other_test(run: "Run", path: Path | None, columns: str | None) -> "list[Example] | None":
    from utils.translator.using.evaluation import examples_in

    if path is None and columns is not None:
        raise typer.BadParameter("--columns needs --on, a file of pairs")
    if path is None:
        return None
    return examples_in(run, path, columns.split(",") if columns else None, notify=shared.tell)


def _tell_of_tokenizer(run: "Run") -> None:
    from utils.translator.using.evaluation import tokenizer_note

    if note := tokenizer_note(run.settings.tgt):
        shared.tell(f"warning: {note}")


def _print_evaluation(result: "Evaluation", num_examples: int) -> None:
    typer.echo(f"{result.num_sentences} sentences")
    for name, score in (("BLEU", result.bleu), ("BLEU", result.cased_bleu), ("chrF", result.chrf)):
        typer.echo(f"{name} {_with_interval(score)}  {score.signature}")
    typer.echo("source length  sentences  BLEU")
    for bucket in result.by_length:
        length = f"{bucket.low} and more" if math.isinf(bucket.high) else f"{bucket.low} to {bucket.high}"
        typer.echo(f"{length:>13}  {bucket.num_sentences:9}  {_with_interval(bucket.score)}")
    typer.echo(f"empty {result.empty:.1%}, cut off {result.cut_off:.1%}")
    # Evenly spaced sentences, so that the same run always prints the same examples.
    num_examples = min(num_examples, result.num_sentences)
    for number in range(num_examples):
        source, text, references = result.examples[number * result.num_sentences // num_examples]
        typer.echo(f"\nsource      {source}\ntranslation {text}\nreference   {' | '.join(references)}")


def _with_interval(score: "Score") -> str:
    low, high = score.interval or (score.value, score.value)
    return f"{score.value:.2f} [{low:.1f}, {high:.1f}]"
