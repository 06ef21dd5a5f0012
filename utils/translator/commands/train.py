"""``train``: train a translator on a pair file.

Explained in book/api/command_line.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utils.translator.commands import shared
from utils.translator.interrupts import Interrupted
from utils.translator.options import Device, Model

if TYPE_CHECKING:
    from utils.translator.data import Rows
    from utils.translator.loop import FullHistory, Schedule
    from utils.translator.models import Settings

Pairs = Annotated[
    Path,
    typer.Option(
        metavar="FILE [FILE]",
        help="File with a sentence, a tab and its translation on each line; or two files, the lines of one "
        "translations of the other's.",
    ),
]
#: An option takes one value, so what follows the first file of --pairs is an argument.
SecondFile = Annotated[
    Path | None, typer.Argument(metavar="FILE", help="The second file, if --pairs names two.")
]
Source = Annotated[
    str | None, typer.Option(help="Language to translate from; by default that of the first column.")
]
Target = Annotated[
    str | None, typer.Option(help="Language to translate into; by default that of the other column.")
]
Minutes = Annotated[
    float | None,
    typer.Option(
        help="Time to train for, in minutes of wall time from the first batch; by default 3.", min=0
    ),
]
Epochs = Annotated[
    int | None,
    typer.Option(min=1, max=10**6, help="Passes over the pairs to train for, in place of minutes."),
]
Steps = Annotated[int | None, typer.Option(min=2, max=10**9, help="Steps to train for, in place of minutes.")]
VocabularySize = Annotated[int, typer.Option(help="Subwords per language, at most.", min=1, max=10**6)]
ModelName = Annotated[
    Model, typer.Option(help="A recurrent translator with Bahdanau's attention, or a Transformer.")
]
Width = Annotated[
    int,
    typer.Option(
        help="Width of embeddings and states; in a Transformer the feed-forward networks are four times as wide.",
        min=1,
        max=10**6,
    ),
]
Layers = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=100,
        help="Layers of the encoder, and as many of the decoder; by default 1, in a Transformer 3.",
    ),
]
Heads = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=10**6,
        help="Heads of each attention of a Transformer, which share the width evenly; by default 4.",
    ),
]
Dropout = Annotated[
    float, typer.Option(help="Probability of dropout; use more for a small file.", min=0, max=1)
]
Muon = Annotated[
    float | None,
    typer.Option(
        help="Scale of Muon's learning rate; 0 trains all weights with Adam. "
        "By default 0.02 if the machine has bfloat16 products, else 0.",
        min=0,
        max=1,
    ),
]
BatchSize = Annotated[
    int | None,
    typer.Option(
        help="Sentence pairs per step; by default 128, or 32 where Adam trains all weights on a CPU.",
        min=1,
        max=10**6,
    ),
]
TestGroups = Annotated[
    int | None,
    typer.Option(help="Groups held out for `evaluate`; by default 1,000, or a tenth of a small file.", min=0),
]
ValidGroups = Annotated[
    int | None,
    typer.Option(
        help="Groups held out to choose the weights by their loss; by default 500, or a tenth of a small file.",
        min=0,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        help="Seed of the split, the initial weights, the batches and dropout.", min=0, max=2**63 - 1
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace a run in the folder, once the new one is complete.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue an interrupted training.")]

#: The scale of Adam's learning rate, and the share of the training over which it rises (book/api/command_line).
_RATES = {Model.RECURRENT: {"lr": 3e-3, "warmup": 0.05}, Model.TRANSFORMER: {"lr": 2e-3, "warmup": 0.1}}


def train(
    pairs: Pairs,
    out: Annotated[Path, typer.Option(help="Folder for the trained run.")],
    second_file: SecondFile = None,
    columns: shared.Columns = None,
    src: Source = None,
    tgt: Target = None,
    minutes: Minutes = None,
    epochs: Epochs = None,
    steps: Steps = None,
    vocabulary_size: VocabularySize = 6000,
    model: ModelName = Model.RECURRENT,
    width: Width = 192,
    layers: Layers = None,
    heads: Heads = None,
    dropout: Dropout = 0.1,
    muon: Muon = None,
    batch_size: BatchSize = None,
    test_groups: TestGroups = None,
    valid_groups: ValidGroups = None,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    resume: Resume = False,
    device: shared.OnDevice = Device.AUTO,
    threads: shared.NumThreads = None,
    as_json: shared.AsJson = False,
) -> None:
    """Train a translator on a pair file and save it in a folder: a recurrent one, or a Transformer with --model.

    The state of the training is saved once per minute, at Ctrl-C and when the machine asks the command to end; the
    same command with --resume continues from it. A run that the folder holds is replaced only with --overwrite, and
    only once the new one is complete.

    A relative path that does not exist is looked for in the data folder (see data get --help).

    Example: attention-course train --pairs tatoeba/fra.txt --columns en,fr --src fr --tgt en --out runs/fr-en

    Example in two processes: torchrun --nproc-per-node=2 --no-python attention-course train --pairs tatoeba/fra.txt
    --columns en,fr --src fr --tgt en --out runs/fr-en
    """
    from utils.corpus.pairs import choose_languages
    from utils.translator.data import PairData
    from utils.translator.devices import choose_device, computing
    from utils.translator.distributed import processes_of_torchrun
    from utils.translator.runs import train_run

    schedule = _schedule(minutes, epochs, steps, model=model, batch_size=batch_size, muon=muon)
    languages, src, tgt = choose_languages(columns.split(",") if columns else None, src, tgt)
    numbers = {"vocabulary_size": vocabulary_size, "dropout": dropout, "seed": seed}
    settings = _settings(src, tgt, model=model, width=width, layers=layers, heads=heads, **numbers)
    files = pairs if second_file is None else (pairs, second_file)
    data = PairData(files, languages, num_test=test_groups, num_valid=valid_groups)
    with (
        processes_of_torchrun(choose_device(device)) as processes,
        _resumable(out, prints=processes.is_first),
        computing(threads),
    ):
        _, history, rows = train_run(
            data,
            settings,
            schedule,
            out=out,
            overwrite=overwrite,
            resume=resume,
            progress=shared.at_terminal(),
            notify=shared.tell,
            processes=processes,
        )
    if processes.is_first and as_json:
        shared.print_json({"run": str(out)} | _facts(settings, history, rows))
    elif processes.is_first:
        name = str(pairs) if second_file is None else f"{pairs} and {second_file}"
        _print_training(name, out, history, rows)


def _schedule(
    minutes: float | None,
    epochs: int | None,
    steps: int | None,
    *,
    model: Model,
    batch_size: int | None,
    muon: float | None,
) -> "Schedule":
    """The length of the training and how the model is trained.

    Raises:
        typer.BadParameter: more than one length.
    """
    from utils.translator.loop import Schedule

    not_given = [minutes, epochs, steps].count(None)
    if not_given < 2:
        raise typer.BadParameter("give one of --minutes, --epochs and --steps")
    minutes = 3.0 if not_given == 3 else minutes
    return Schedule(
        minutes=minutes, epochs=epochs, steps=steps, batch_size=batch_size, muon=muon, **_RATES[model]
    )


def _settings(
    src: str, tgt: str, *, model: Model, width: int, layers: int | None, heads: int | None, **numbers: Any
) -> "Settings":
    """The settings of the model; options that were not given get the defaults of this model.

    Raises:
        typer.BadParameter: an option that this model does not have, or a width that the heads cannot share.
    """
    from utils.translator.models import Settings

    is_transformer = model is Model.TRANSFORMER
    try:
        return Settings(
            src,
            tgt,
            d_embed=width,
            d_hidden=4 * width if is_transformer else width,
            num_layers=layers or (3 if is_transformer else 1),
            model=model,
            num_heads=heads or (4 if is_transformer else None),
            **numbers,
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


@contextmanager
def _resumable(out: Path, *, prints: bool) -> Iterator[None]:
    """After a signal, print whether a state was saved, and end with the status of the signal."""
    from utils.translator.checkpoints import Checkpoints
    from utils.translator.folders import beside

    try:
        yield
    except KeyboardInterrupt as interrupt:
        if prints and Checkpoints(beside(out, "training")).exist:
            shared.tell("interrupted: the same command with --resume continues from here")
        elif prints:
            shared.tell("interrupted before the first step: nothing is kept")
        raise typer.Exit(getattr(interrupt, "status", Interrupted().status)) from None


def _facts(settings: "Settings", history: "FullHistory", rows: "Rows") -> dict[str, Any]:
    return {
        "src": settings.src,
        "tgt": settings.tgt,
        "rows": asdict(rows),
        "steps": len(history.losses),
        "seconds": history.seconds[-1],
        "target_tokens": sum(history.tokens),
        "target_tokens_per_second": history.tokens_per_second,
        "held_out_loss": min(history.valid_losses, default=None),
    }


def _print_training(pairs: str, out: Path, history: "FullHistory", rows: "Rows") -> None:
    typer.echo(f"{pairs}: {rows}")
    speed = f"{history.tokens_per_second:.0f} target tokens per second"
    typer.echo(f"{out}: {len(history.losses)} steps, {speed}")
    if history.valid_losses:
        typer.echo(f"held-out loss {min(history.valid_losses):.3f} nats per token")
