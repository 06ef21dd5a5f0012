"""The study of the heads of SmolLM2-135M-Instruct: windows with one more piece, and each of its 270 heads switched off.

Run as ``PYTHONPATH=chapters python -m studies.chat_model``. It needs the network (``attention-course data get
smollm2``) and about 17 minutes on one core. The results are stored beside this file. The texts are in
``chat_texts.txt``, one a line: pages of this course, written later than the network was trained.
"""

import json
import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
import typer
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from studies.parts import run_parts
from utils.chat_model import ChatModel, read_chat_model
from utils.corpus.download import NETWORKS, get_network
from utils.long_sequences import window_mask
from utils.transformer import causal_mask, head_name

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
TEXTS = Path(__file__).with_name("chat_texts.txt")
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
Heads = Sequence[tuple[int, int]]  #: layers and heads, counted from 0
HEADS = [(layer, head) for layer in range(30) for head in range(9)]
#: Pieces below this number stand for marks and single bytes, and are not drawn.
FIRST_PIECE = 300


class ChatSettings(NamedTuple):
    """How much is read."""

    texts: int = 8  #: read with windows; half of them with each head off, half with chosen heads off
    pieces: int = 512  #: of a text that is read with windows
    skipped: int = 128  #: pieces at its beginning that do not count
    windows: tuple[int, ...] = (16, 64)
    kept: tuple[int, ...] = (0, 1, 2, 5, 20)  #: the piece that stays beside the window
    block: int = 50  #: random pieces that come twice
    sequences: int = 3  #: of them, with each head off
    fresh: int = 10  #: of them, with chosen heads off
    ordinary: int = 128  #: pieces of a text that is read with heads off
    chosen: int = 6
    sets: int = 20  #: random sets of four heads


def repeated(num: int, block: int, *, seed: int) -> Int[Tensor, "num twice"]:
    """Random pieces that come twice in each row."""
    draw = torch.Generator().manual_seed(seed)
    once = torch.randint(FIRST_PIECE, 49_152, (num, block), generator=draw)
    return torch.cat([once, once], dim=1)


def window_with(n: int, window: int, kept: int) -> Bool[Tensor, "n n"]:
    """Each piece sees the last ``window`` pieces and the one at the place ``kept``."""
    mask = window_mask(n, window=window)
    mask[:, kept] = True
    return mask & causal_mask(n)


class Reader:
    """What each layer of the whole network reads of some texts, so that a changed layer is computed from there on."""

    def __init__(self, model: ChatModel, ids: Int[Tensor, "texts n"], first: int = 0):
        self.model, self.ids, self.first = model, ids, first
        self.mask = causal_mask(ids.shape[1])
        self.read = [model.output.weight[ids]]
        for layer in model.layers:
            self.read.append(layer(self.read[-1], None, self.mask)[0])

    def logits(self, off: Heads = ()) -> Float[Tensor, "texts n vocab"]:
        """The logits of all pieces after ``first`` without these heads."""
        start = min((layer for layer, _ in off), default=len(self.model.layers))
        x = self.read[start]
        for number, layer in list(enumerate(self.model.layers))[start:]:
            x = layer(x, None, self.mask, without=[head for at, head in off if at == number])[0]
        return self.model.logits(x[:, self.first : -1])

    def right(self, off: Heads = ()) -> Float[Tensor, " texts"]:
        """The share of these pieces that are the most probable ones, in each text."""
        is_right = self.logits(off).argmax(dim=-1) == self.ids[:, self.first + 1 :]
        return is_right.float().mean(dim=1)

    def loss(self, off: Heads = ()) -> Float[Tensor, " texts"]:
        """The mean loss of these pieces, in each text."""
        return mean_loss(self.logits(off), self.ids[:, self.first + 1 :])


def mean_loss(
    logits: Float[Tensor, "texts n vocab"], right: Int[Tensor, "texts n"]
) -> Float[Tensor, " texts"]:
    """The mean of -log p of the right pieces, in each text."""
    return cross_entropy(logits.transpose(1, 2), right, reduction="none").mean(dim=1)


class ChatMeter:
    """Measures the network with other masks, and without some of its heads."""

    def __init__(self, model: ChatModel, cut: Callable[[str], list[int]], settings: ChatSettings):
        self.model, self.settings = model, settings
        lines = TEXTS.read_text("utf-8").splitlines()[: settings.texts]
        self.texts = torch.tensor([cut(line)[: settings.pieces] for line in lines])

    def random_reader(self, num: int, *, seed: int) -> Reader:
        """Random pieces twice, of which the second block counts, but for its first piece: that is a surprise."""
        block = self.settings.block
        return Reader(self.model, repeated(num, block, seed=seed), first=block)

    def ordinary(self, texts: slice) -> Reader:
        """The beginnings of some texts, of which all pieces count but the first, before which nothing stands."""
        return Reader(self.model, self.texts[texts, : self.settings.ordinary])

    def window_loss(self, mask: Bool[Tensor, "n n"]) -> list[float]:
        """The loss after the first pieces, in each text."""
        first, losses = self.settings.skipped, []
        for ids in self.texts:
            x = self.model.output.weight[ids]
            for layer in self.model.layers:
                x = layer(x, None, mask)[0]
            losses += mean_loss(self.model.logits(x[None, first:-1]), ids[None, first + 1 :]).tolist()
        return rounded(losses)


def rounded(numbers: Iterable[float]) -> list[float]:
    """The numbers with four decimals."""
    return [round(float(number), 4) for number in numbers]


def measure_windows(meter: ChatMeter) -> dict:
    """The losses with all pieces, with the last ones alone, and with one more piece that stays."""
    n = meter.settings.pieces
    found = {"all": meter.window_loss(causal_mask(n))}
    for window in meter.settings.windows:
        found[f"{window}"] = meter.window_loss(window_mask(n, window=window))
        for kept in meter.settings.kept:
            found[f"{window} and {kept}"] = meter.window_loss(window_with(n, window, kept))
    return found


def measure_each(meter: ChatMeter) -> dict:
    """Each head off alone: the share of right pieces that are copied, and the loss of the first half of the texts."""
    copying = meter.random_reader(meter.settings.sequences, seed=0)
    ordinary = meter.ordinary(slice(meter.settings.texts // 2))
    found = {}
    for name, off in {"nothing": [], **{head_name(*head): [head] for head in HEADS}}.items():
        found[name] = {
            "right": rounded([copying.right(off).mean()])[0],
            "loss": rounded([ordinary.loss(off).mean()])[0],
        }
    return found


def copying_scores(model: ChatModel, ids: Int[Tensor, "texts twice"]) -> Float[Tensor, "layers heads"]:
    """The mean weight of each head, in the second block, on the piece after the earlier one."""
    block = ids.shape[1] // 2
    second = torch.arange(block, 2 * block - 1)
    weights = torch.stack([of_layer.mean(dim=0) for of_layer in model.read(ids).weights])
    return weights[:, :, second, second - block + 1].mean(dim=-1)


def measure_chosen(meter: ChatMeter, out: Path) -> dict:
    """Chosen heads off, and random sets: the share of right pieces in fresh blocks, and the loss of the other texts.

    The chosen ones cost most when they are off alone, or look most at the piece to copy, with the first blocks.
    """
    settings = meter.settings
    each = {
        name: result["right"]
        for name, result in stored(out)["each head"].items()
        if name not in ("nothing", "minutes")
    }
    named = {head_name(*head): head for head in HEADS}
    costly = [named[name] for name in sorted(each, key=each.get)[: settings.chosen]]
    scores = copying_scores(meter.model, repeated(settings.sequences, settings.block, seed=0)).flatten()
    lookers = [HEADS[place] for place in scores.topk(4).indices]
    groups = {"nothing": []} | {head_name(*head): [head] for head in [*costly, *lookers]}
    for size in (2, 4):
        groups[" ".join(head_name(*head) for head in lookers[:size])] = lookers[:size]
    copying = meter.random_reader(settings.fresh, seed=1)
    ordinary = meter.ordinary(slice(settings.texts // 2, None))
    found = {
        name: {"right": rounded(copying.right(off)), "loss": rounded(ordinary.loss(off))}
        for name, off in groups.items()
    }
    draw, others = random.Random(0), [head for head in HEADS if head not in [*costly, *lookers]]
    at_random = {}
    for _ in range(settings.sets):
        off = sorted(draw.sample(others, 4))
        name = " ".join(head_name(*head) for head in off)
        at_random[name] = {"right": rounded(copying.right(off)), "loss": rounded(ordinary.loss(off))}
    return {"costly": [head_name(*head) for head in costly], "groups": found, "random": at_random}


def stored(out: Path) -> dict:
    """The parts that are measured."""
    return json.loads(out.read_text("utf-8"))["parts"]


def run_study(settings: ChatSettings, out: Path, *, only: Sequence[str] | None = None) -> None:
    """Measure the parts that are not stored yet, or these alone."""
    model, tokenizer, _ = read_chat_model(get_network("smollm2") / FILE)
    meter = ChatMeter(model, lambda text: tokenizer.encode(text).ids, settings)
    measures = {
        "windows": partial(measure_windows, meter),
        "each head": partial(measure_each, meter),
        "chosen": partial(measure_chosen, meter, out),
    }
    files = dict(NETWORKS["smollm2"].files)
    with torch.no_grad():
        run_parts(measures, out, belongs_to={"sha256": files, "settings": settings._asdict()}, only=only)


def _main(
    out: Annotated[Path, typer.Option(help="results; what it holds is not measured again")] = RESULTS,
) -> None:
    """Read with windows and without heads, and store what changes."""
    torch.set_num_threads(1)
    run_study(ChatSettings(), out)
    typer.echo(f"{out}: complete")


if __name__ == "__main__":
    typer.run(_main)
