"""How good the translators become in so many minutes: BLEU on held-out sentences of the Tatoeba files.

Run as ``python tests/benchmarks/quality.py fr-en --minutes 5 --minutes 15``; without a direction all four are trained,
without minutes each for one minute. It needs the data folder and an idle machine. The table of book/quality.md comes
from here; each row comes from two commands of ``attention-course``.
"""

import json
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Annotated

import typer

from utils.corpus.pairs import find_file
from utils.translator.options import Model

#: The file of each direction, the languages of its columns, and what differs from the defaults of ``train``.
DIRECTIONS = {
    "fr-en": ("tatoeba/fra.txt", "en,fr", []),
    "en-fr": ("tatoeba/fra.txt", "en,fr", []),
    "zh-en": ("tatoeba/cmn.txt", "en,zh", ["--dropout", "0.2"]),
    "en-zh": ("tatoeba/cmn.txt", "en,zh", ["--dropout", "0.2"]),
}


def command(*arguments: object) -> dict:
    """What a command of ``attention-course`` prints with ``--json``."""
    line = [sys.executable, "-m", "utils", *map(str, arguments), "--json"]
    return json.loads(subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main(
    directions: Annotated[list[str] | None, typer.Argument(help=f"Of {', '.join(DIRECTIONS)}.")] = None,
    minutes: Annotated[list[float], typer.Option(help="Of training; may be given several times.")] = (1.0,),
    models: Annotated[list[Model], typer.Option("--model", help="To train; may be given several times.")] = (
        Model.RECURRENT,
    ),
    more: Annotated[
        list[str] | None,
        typer.Option("--train", help="One more option of `train`, as in --train=--layers=1."),
    ] = None,
) -> None:
    """Train, translate the held-out sentences, and print a row for each training."""
    if unknown := set(directions or ()) - set(DIRECTIONS):
        raise typer.BadParameter(f"no such direction: {', '.join(sorted(unknown))}")
    print(
        f"{'':8}{'model':12}{'minutes':>8}{'steps':>8}{'tokens':>11}{'loss':>7}{'BLEU':>7}  "
        f"95 % of resamples  {'chrF':>5}"
    )
    with tempfile.TemporaryDirectory() as temporary:
        for direction in directions or DIRECTIONS:
            name, columns, options = DIRECTIONS[direction]
            try:
                pairs = find_file(name)
            except FileNotFoundError as error:
                print(f"{direction}: not measured, {error}")
                continue
            src, tgt = direction.split("-")
            for model, budget in product(models, minutes):
                run = Path(temporary) / f"{direction}-{model.value}-{budget:g}"
                languages = ["--columns", columns, "--src", src, "--tgt", tgt, "--model", model.value]
                chosen = [*options, *(more or ()), "--minutes", budget]
                train = [sys.executable, "-m", "utils", "train", "--pairs", str(pairs), *languages]
                subprocess.run([*train, *map(str, chosen), "--out", str(run)], check=True, stdout=sys.stderr)
                result = command("info", run)["record"]["result"]
                scores = command("evaluate", run, "--beam", 5)
                bleu, chrf = scores["bleu"], scores["chrf"]
                low, high = bleu["interval"]
                print(
                    f"{direction:8}{model.value:12}{budget:>8g}{result['steps']:>8}{result['target_tokens']:>11,}"
                    f"{min(result['held_out_losses']):>7.3f}{bleu['value']:>7.1f}  [{low:.1f}, {high:.1f}]       "
                    f"{chrf['value']:>5.1f}  {bleu['signature']}",
                    flush=True,
                )


if __name__ == "__main__":
    typer.run(main)
