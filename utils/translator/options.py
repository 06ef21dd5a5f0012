"""The arguments and options of the commands, and what they mean.

Nothing here imports torch, so that ``--help`` takes little time.
Explained in book/api/command_line.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

#: Lines per round of reading and translating: enough to form batches of similar length.
AT_ONCE = 512
#: The largest beam. Time and memory of a search grow with the beam, and far smaller beams give the best translations.
MAX_BEAM = 100


class Device(StrEnum):
    """The devices that a user can choose from. Explained in book/scaling."""

    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"
    MPS = "mps"


class Model(StrEnum):
    """The translators that a user can choose from. Explained in book/api/command_line."""

    RECURRENT = "recurrent"
    TRANSFORMER = "transformer"


#: The files that ``data get`` knows; their addresses are in ``corpus.download``.
CorpusName = StrEnum("CorpusName", ["cmn", "fra"])

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for a program.")]
AtOnce = Annotated[
    int,
    typer.Option(
        min=1, max=100_000, help="Lines to read before the next results are printed; more are faster."
    ),
]
Beam = Annotated[
    int, typer.Option(min=1, max=MAX_BEAM, help="Number of hypotheses in the search; 1 is greedy search.")
]
LengthPenalty = Annotated[
    float,
    typer.Option(
        min=0,
        max=10,
        help="Exponent of the length by which a beam search divides log-probabilities; 0 favours short translations.",
    ),
]
NoRepeatNgram = Annotated[
    int,
    typer.Option(
        min=0, max=1000, help="Write no sequence of this many tokens twice in a translation; 0 allows it."
    ),
]
OnDevice = Annotated[
    Device, typer.Option("--device", help="Device to compute on; auto takes a GPU if there is one.")
]
NumThreads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        max=1024,
        help="Number of threads; by default one for each processor core.",
        show_default=False,
    ),
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a trained run.")]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Languages of the first two columns, in the order of the file; by default source,target.",
        show_default=False,
    ),
]


@dataclass(frozen=True, kw_only=True)
class GetOptions:
    """The arguments and options of ``data get``."""

    name: Annotated[CorpusName, typer.Argument(help="English with Mandarin Chinese, or with French.")]
    path: Annotated[
        Path | None,
        typer.Option("--from", help="Take this .zip or .txt, which you have already.", show_default=False),
    ] = None
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Get the file again, and accept another edition than the one that you have."
        ),
    ] = False
    as_json: Annotated[bool, typer.Option("--json", help="Print what is known about the file as JSON.")] = (
        False
    )


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """The options of ``train``."""

    pairs: Annotated[
        Path, typer.Option(help="Tab-separated UTF-8 file, one sentence and its translation per line.")
    ]
    out: Annotated[Path, typer.Option(help="Folder for the trained run.")]
    columns: Columns = None
    src: Annotated[
        str | None, typer.Option(help="Language to translate from; by default that of the first column.")
    ] = None
    tgt: Annotated[
        str | None, typer.Option(help="Language to translate into; by default that of the other column.")
    ] = None
    minutes: Annotated[
        float | None,
        typer.Option(
            help="Time to train for, in minutes of wall time from the first batch; by default 3.",
            min=0,
            show_default=False,
        ),
    ] = None
    epochs: Annotated[
        int | None,
        typer.Option(min=1, max=10**6, help="Passes over the pairs to train for, in place of minutes."),
    ] = None
    steps: Annotated[
        int | None, typer.Option(min=2, max=10**9, help="Steps to train for, in place of minutes.")
    ] = None
    vocabulary_size: Annotated[
        int, typer.Option(help="Subwords per language, at most.", min=1, max=10**6)
    ] = 6000
    model: Annotated[
        Model, typer.Option(help="A recurrent translator with Bahdanau's attention, or a Transformer.")
    ] = Model.RECURRENT
    width: Annotated[
        int,
        typer.Option(
            help="Width of embeddings and states; in a Transformer the feed-forward networks are four times as wide.",
            min=1,
            max=10**6,
        ),
    ] = 192
    layers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100,
            help="Layers of the encoder, and as many of the decoder; by default 1, in a Transformer 3.",
            show_default=False,
        ),
    ] = None
    heads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10**6,
            help="Heads of each attention of a Transformer, which share the width evenly; by default 4.",
            show_default=False,
        ),
    ] = None
    dropout: Annotated[
        float, typer.Option(help="Probability of dropout; use more for a small file.", min=0, max=1)
    ] = 0.1
    muon: Annotated[
        float | None,
        typer.Option(
            help="Scale of Muon's learning rate; 0 trains all weights with Adam. "
            "By default 0.02 if the machine has bfloat16 products, else 0.",
            min=0,
            max=1,
            show_default=False,
        ),
    ] = None
    batch_size: Annotated[
        int | None,
        typer.Option(
            help="Sentence pairs per step; by default 128, or 32 where Adam trains all weights on a CPU.",
            min=1,
            max=10**6,
            show_default=False,
        ),
    ] = None
    test_groups: Annotated[int, typer.Option(help="Groups held out for `evaluate`.", min=0)] = 1000
    valid_groups: Annotated[
        int, typer.Option(help="Groups held out to choose the weights by their loss.", min=0)
    ] = 500
    seed: Annotated[
        int,
        typer.Option(
            help="Seed of the split, the initial weights, the batches and dropout.", min=0, max=2**63 - 1
        ),
    ] = 0
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a run in the folder, once the new one is complete.")
    ] = False
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted training.")] = False
    device: OnDevice = Device.AUTO
    threads: NumThreads = None
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class TranslateOptions:
    """The arguments and options of ``translate``."""

    run: RunFolder
    sentences: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SENTENCE]...", help="Text; by default standard input."),
    ] = None
    beam: Beam = 1
    length_penalty: LengthPenalty = 1.0
    no_repeat_ngram: NoRepeatNgram = 0
    n_best: Annotated[
        bool,
        typer.Option(
            "--n-best",
            help="Print all hypotheses, the best first, with the number of the sentence and their scores.",
        ),
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
    threads: NumThreads = None


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
    threads: NumThreads = None


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """The arguments and options of ``evaluate``."""

    run: RunFolder
    beam: Beam = 1
    length_penalty: LengthPenalty = 1.0
    no_repeat_ngram: NoRepeatNgram = 0
    on: Annotated[
        Path | None,
        typer.Option(
            help="Score on all pairs of this file, not on the sentences that were held out.",
            show_default=False,
        ),
    ] = None
    columns: Columns = None
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON, for a program.")] = False
    examples: Annotated[
        int, typer.Option(min=0, help="Number of translations to print with their references.")
    ] = 5
    device: OnDevice = Device.AUTO
    threads: NumThreads = None


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """The arguments and options of ``compare``."""

    first: Annotated[Path, typer.Argument(metavar="RUN1", help="The folder of a trained run.")]
    second: Annotated[Path, typer.Argument(metavar="RUN2", help="The folder of another.")]
    beam: Beam = 1
    length_penalty: LengthPenalty = 1.0
    no_repeat_ngram: NoRepeatNgram = 0
    on: Annotated[
        Path | None,
        typer.Option(
            help="Compare on all pairs of this file; by default on the test sentences of the runs.",
            show_default=False,
        ),
    ] = None
    columns: Columns = None
    as_json: AsJson = False
    device: OnDevice = Device.AUTO
    threads: NumThreads = None


@dataclass(frozen=True, kw_only=True)
class InfoOptions:
    """The arguments and options of ``info``."""

    run: RunFolder
    as_json: AsJson = False
