"""``train``: train a translator on a pair file.

Explained in book/your_translator.
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from utils.translator.commands import shared
from utils.translator.options import Device, Model

if TYPE_CHECKING:
    from utils.translator.models import Settings
    from utils.translator.training.loop import Schedule

Pairs = Annotated[
    Path,
    typer.Option(
        metavar="FILE",
        help="File with a sentence, a tab and its translation on each line.",
    ),
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
        help="Time to train for, in minutes of wall time from the first batch, more than 0; by default 3.",
    ),
]
Steps = Annotated[
    int | None, typer.Option(min=2, max=10**9, help="Steps of 32 pairs to train for, in place of minutes.")
]
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
Dropout = Annotated[
    float, typer.Option(help="Probability of dropout; use more for a small file.", min=0, max=1)
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue an interrupted training.")]

#: The scale of Adam's learning rate, and the share of the training over which it rises (book/your_translator).
_RATES = {Model.RECURRENT: {"lr": 3e-3, "warmup": 0.05}, Model.TRANSFORMER: {"lr": 2e-3, "warmup": 0.1}}
#: Pairs of a step in each process: with few minutes, many small steps are better than few large ones (book/quality).
_BATCH_SIZE = 32
#: The heads of each attention of a Transformer.
_HEADS = 4


def train(
    pairs: Pairs,
    out: Annotated[Path, typer.Option(help="Folder for the trained run, which must be new or empty.")],
    columns: shared.Columns = None,
    src: Source = None,
    tgt: Target = None,
    minutes: Minutes = None,
    steps: Steps = None,
    vocabulary_size: VocabularySize = 6000,
    model: ModelName = Model.RECURRENT,
    width: Width = 192,
    layers: Layers = None,
    dropout: Dropout = 0.1,
    resume: Resume = False,
    device: shared.OnDevice = Device.AUTO,
) -> None:
    """Train a translator on a pair file and save it in a folder: a recurrent one, or a Transformer with --model.

    The state of the training is saved once per minute and at Ctrl-C; the same command with --resume continues from it.

    A relative path that does not exist is looked for in the data folder (see data get --help).

    Example: attention-course train --pairs tatoeba/fra.txt --columns en,fr --src fr --tgt en --out runs/fr-en

    Example in two processes: torchrun --nproc-per-node=2 --no-python attention-course train --pairs tatoeba/fra.txt
    --columns en,fr --src fr --tgt en --out runs/fr-en
    """
    finds_threads = not shared.THREADS_ARE_SET
    if finds_threads and shared.a_processor_is_free():
        # Threads wait actively, for a moment (book/speed); torch reads it when it is imported.
        os.environ.setdefault("GOMP_SPINCOUNT", "100000")

    from utils.corpus.pairs import choose_languages
    from utils.translator.devices import CPU, choose_device, fast_products
    from utils.translator.runs import train_run
    from utils.translator.training.data import PairData
    from utils.translator.training.distributed import processes_of_torchrun
    from utils.translator.training.loop import STATE
    from utils.translator.training.threads import threads_to_find

    if minutes is not None and steps is not None:
        raise typer.BadParameter("give --minutes or --steps, not both")
    languages, src, tgt = choose_languages(columns.split(",") if columns else None, src, tgt)
    sizes = {"vocabulary_size": vocabulary_size, "dropout": dropout}
    settings = _settings(src, tgt, model=model, width=width, layers=layers, **sizes)
    with processes_of_torchrun(choose_device(device)) as processes, fast_products():
        if finds_threads and processes.device == CPU and processes.world == 1:
            processes = replace(processes, threads=threads_to_find(notify=shared.tell))
        try:
            _, history, rows = train_run(
                PairData(pairs, languages),
                settings,
                _schedule(minutes, steps, model, batch_size=_BATCH_SIZE * processes.world),
                out=out,
                resume=resume,
                progress=shared.at_terminal(),
                notify=shared.tell,
                processes=processes,
            )
        except KeyboardInterrupt:
            if processes.rank == 0 and (out / STATE).exists():
                shared.tell("the same command with --resume continues from here")
            raise
    if processes.rank == 0:
        typer.echo(f"{pairs}: {rows}")
        speed = f"{history.tokens_per_second:.0f} target tokens per second"
        typer.echo(f"{out}: {len(history.losses)} steps, {speed}")
        if history.valid_losses:
            typer.echo(f"held-out loss {min(history.valid_losses):.3f} nats per token")


def _schedule(minutes: float | None, steps: int | None, model: Model, *, batch_size: int) -> "Schedule":
    """The length of the training, 3 minutes if none is given, and the rates that suit the model.

    Raises:
        typer.BadParameter: minutes that are not more than 0.
    """
    from utils.translator.training.loop import Schedule

    if minutes is None and steps is None:
        minutes = 3.0
    try:
        return Schedule(minutes=minutes, steps=steps, batch_size=batch_size, **_RATES[model])
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _settings(
    src: str, tgt: str, *, model: Model, width: int, layers: int | None, **sizes: Any
) -> "Settings":
    """The settings of the model; options that were not given get the defaults of this model.

    Raises:
        typer.BadParameter: a width that the heads cannot share.
    """
    from utils.translator.models import Settings

    if model is Model.RECURRENT:
        return Settings(src, tgt, d_embed=width, d_hidden=width, num_layers=layers or 1, **sizes)
    sizes |= {"d_embed": width, "d_hidden": 4 * width, "num_layers": layers or 3, "num_heads": _HEADS}
    try:
        return Settings(src, tgt, model=model, **sizes)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
