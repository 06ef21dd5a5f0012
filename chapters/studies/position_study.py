"""The study of positions: five kinds of a small GPT, trained on short texts and tested on long ones, in two tasks.

*next* is the next word of the grammar corpus, where near words are enough. *recall* asks for a letter that stood beside
a mark far back; two kinds learn it. Heads that share keys are compared too, in *next*. Run as
``PYTHONPATH=chapters python -m studies.position_study``, for about ten minutes on one core; chapters/positions and
chapters/fast_decoding read the results, which are stored beside this file. The models come from ``utils``.
"""

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import torch
import typer
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from studies.parts import run_parts
from utils.corpus.grammar import triples
from utils.corpus.vocabulary import Vocabulary
from utils.fast_decoding import GPT, POSITIONS
from utils.long_sequences import window_mask
from utils.positions import alibi
from utils.training import seeded
from utils.transformer import causal_mask

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: Texts are tested with this many times the words of training, and angles are scaled for it.
FACTOR = 4
#: Of eight heads, how many have keys of their own.
KEY_HEADS = (8, 2, 1)
#: The kinds of positions that learn each task.
KINDS = {"recall": ("rotary", "alibi"), "next": POSITIONS}
#: The angles by which each pair of numbers turns from one place to the next.
Rates = Float[Tensor, " pairs"]


@dataclass(frozen=True)
class PositionSettings:
    """The settings of the study; the defaults are those of the stored results.

    Attributes:
        n: words of a training text.
        steps: of training, by task.
        further_steps: of the training on long texts that comes after it.
        batch_size: texts per step, by task; of long texts a quarter of it.
        rates: the learning rates, by task; each kind takes the one with the lowest loss on other texts.
        seeds: each kind is trained with each of them.
        width: of the states; there are eight heads and two layers.
        sentences: of the grammar, to train on.
        letters: in the task *recall*.
        marks: in the task *recall*; each stands twice in a text.
    """

    n: int = 32
    steps: tuple[int, int] = (200, 800)
    further_steps: int = 100
    batch_size: tuple[int, int] = (16, 32)
    rates: tuple[tuple[float, ...], tuple[float, ...]] = (
        (0.006, 0.012, 0.024, 0.048),
        (0.0015, 0.003, 0.006),
    )
    seeds: tuple[int, ...] = (0, 1, 2)
    width: int = 64
    sentences: int = 8000
    letters: int = 8
    marks: int = 4

    @cached_property
    def words(self) -> tuple[Vocabulary, dict[str, Tensor]]:
        """The vocabulary of the grammar, and its sentences as one long text, by split."""
        sizes = {"train": self.sentences, "valid": self.sentences // 8, "test": self.sentences // 4}
        texts = {
            split: [word for t in triples(num, split=split, max_words=14) for word in t.en]
            for split, num in sizes.items()
        }
        vocabulary = Vocabulary.words([texts["train"]])
        return vocabulary, {
            split: torch.tensor(vocabulary.encode([text])[0]) for split, text in texts.items()
        }


def recall_texts(
    study: PositionSettings, num: int, n: int, draw: torch.Generator
) -> tuple[Int[Tensor, "num n"], Int[Tensor, "num marks"], Int[Tensor, "num marks"]]:
    """Random letters in which each mark stands twice, with the same letter after it.

    Returns:
        The texts, the place of the second of each mark, and how far back its first is.
    """
    ids = torch.randint(study.letters, (num, n), generator=draw)
    places = 2 * torch.rand(num, n // 2, generator=draw).argsort(dim=1)[:, : 2 * study.marks]
    first, second = places.reshape(num, 2, -1).sort(dim=1).values.unbind(dim=1)
    marks = study.letters + torch.arange(study.marks).expand(num, -1)
    ids.scatter_(1, first, marks).scatter_(1, second, marks)
    ids.scatter_(1, second + 1, ids.gather(1, first + 1))
    return ids, second, second - first


def turned(x: Float[Tensor, "*batch n d"], places: Tensor, rates: Rates) -> Float[Tensor, "*batch n d"]:
    """Rotary positions with these rates instead of those of :func:`utils.positions.rotate`."""
    angles = places[:, None] * rates
    cos, sin, a, b = angles.cos(), angles.sin(), x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def larger_base(d: int) -> float:
    """The base with which the slowest pair of a head of width d turns more slowly by ``FACTOR``.

    >>> round(larger_base(8))
    63496
    """
    return 10_000.0 * FACTOR ** (d / (d - 2))


def scaled_rates(d: int, n: int) -> dict[str, Rates]:
    """Rates for texts that are longer by ``FACTOR``, by name.

    *interpolated* divides all of them, as Chen et al. (2023); *larger base* divides the slowest by the factor and
    keeps the fastest; *slow pairs* divides those that turn less than once within n words, as YaRN does more smoothly.
    """
    rates = 10_000.0 ** (-torch.arange(0, d, 2) / d)
    slow = rates * n < 2 * math.pi
    return {
        "as trained": rates,
        "interpolated": rates / FACTOR,
        "larger base": larger_base(d) ** (-torch.arange(0, d, 2) / d),
        "slow pairs": torch.where(slow, rates / FACTOR, rates),
    }


def spread_mask(n: int, window: int) -> Bool[Tensor, "n n"]:
    """As many words as in a window, but over the whole text: its nearer half, and others drawn from further back."""
    near = window_mask(n, window=window // 2)
    order = torch.rand(n, n, generator=torch.Generator().manual_seed(0)).masked_fill(
        ~causal_mask(n) | near, -1
    )
    drawn = order.argsort(dim=1, descending=True).argsort(dim=1) < window - window // 2
    return near | (drawn & causal_mask(n))


def logits_of(
    model: GPT,
    ids: Int[Tensor, "batch n"],
    *,
    rates: Rates | None = None,
    mask: Bool[Tensor, "n n"] | None = None,
    clip: int | None = None,
) -> Float[Tensor, "batch n vocab"]:
    """The logits of a model whose attention is changed.

    Args:
        rates: of rotary positions; those of training if None.
        mask: which words each word looks at; itself and all before it if None.
        clip: with rotary positions, a larger distance counts as this one.
    """
    x, n = model.embed(ids), ids.shape[1]
    places = torch.arange(n)
    mask = causal_mask(n) if mask is None else mask
    added = torch.zeros(n, n).masked_fill(~mask, -math.inf)
    if model.positions == "alibi":
        added = added + alibi(model.layers[0].attention.num_heads, n)
    for layer in model.layers:
        first, second = layer.residuals
        attention = layer.attention
        parts = (linear(first.read(x)) for linear in (attention.w_q, attention.w_k, attention.w_v))
        q, k, v = (part.unflatten(-1, (-1, attention.d_head)).transpose(1, 2) for part in parts)
        k, v = (part.repeat_interleave(q.shape[1] // part.shape[1], dim=1) for part in (k, v))
        q = q / math.sqrt(attention.d_head)
        if model.positions == "rotary":
            own = scaled_rates(attention.d_head, n)["as trained"] if rates is None else rates
            scores = (
                clipped_scores(q, k, own, clip)
                if clip
                else turned(q, places, own) @ turned(k, places, own).mT
            )
        else:
            scores = q @ k.mT
        heads = (scores + added).softmax(dim=-1) @ v
        x = first.add(x, attention.w_o(heads.transpose(1, 2).flatten(2)))
        x = second.add(x, layer.feed_forward(second.read(x)))
    return model.norm(x) @ model.table.weight.T


def clipped_scores(q: Tensor, k: Tensor, rates: Rates, clip: int) -> Tensor:
    """The scores of turned queries and keys, where a larger distance counts as ``clip``."""
    places = torch.arange(q.shape[-2])
    exact = turned(q, places, rates) @ turned(k, places, rates).mT
    at_clip = turned(q, torch.full_like(places, clip), rates) @ k.mT
    return torch.where(places[:, None] - places > clip, at_clip, exact)


@dataclass(frozen=True)
class Task:
    """What a model learns: a function that draws texts with the places that are asked, and the size of its words."""

    num_words: int
    draw: Callable[[str, int, int, torch.Generator], tuple[Tensor, Tensor, Tensor, Tensor]]


def next_task(study: PositionSettings) -> Task:
    """The next word of the grammar, at all places."""
    vocabulary, texts = study.words

    def draw(split: str, num: int, n: int, generator: torch.Generator) -> tuple[Tensor, ...]:
        starts = torch.randint(len(texts[split]) - n, (num, 1), generator=generator)
        ids = texts[split][starts + torch.arange(n + 1)]
        places = torch.arange(n).expand(num, -1)
        return ids[:, :-1], places, ids[:, 1:], places

    return Task(len(vocabulary), draw)


def recall_task(study: PositionSettings) -> Task:
    """The letter beside the first of two marks, asked at the second; what comes last is the distance."""

    def draw(split: str, num: int, n: int, generator: torch.Generator) -> tuple[Tensor, ...]:
        ids, asked, distance = recall_texts(study, num, n, generator)
        return ids, asked, ids.gather(1, asked + 1), distance

    return Task(study.letters + study.marks, draw)


def at(logits: Tensor, places: Tensor) -> Tensor:
    """The logits of the places that are asked."""
    return logits.gather(1, places[..., None].expand(-1, -1, logits.shape[-1]))


def train(
    model: GPT,
    task: Task,
    *,
    steps: int,
    batch_size: int,
    n: int,
    lr: float,
    seed: int,
    rates: Rates | None = None,
) -> GPT:
    """Train a model with Adam; the rate rises for a tenth of the steps and then falls to 0."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = lr * min(10 * (step + 1) / steps, 1) * (1 - step / steps)
        ids, places, right, _ = task.draw("train", batch_size, n, generator)
        logits = model(ids)[0] if rates is None else logits_of(model, ids, rates=rates)
        loss = nn.functional.cross_entropy(at(logits, places).flatten(0, 1), right.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


@torch.no_grad()
def measure(
    model: GPT, task: Task, n: int, *, num: int = 256, split: str = "test", **changes
) -> list[list[float]]:
    """Loss and share of right answers, in four groups: by place or, in *recall*, by distance.

    The groups are the four quarters of n; the texts are the same in each call.
    """
    generator = torch.Generator().manual_seed(12345 if split == "test" else 54321)
    ids, places, right, group = task.draw(split, num, n, generator)
    parts = zip(ids.split(32), places.split(32), strict=True)
    logits = torch.cat([at(logits_of(model, some, **changes), asked) for some, asked in parts])
    loss = nn.functional.cross_entropy(logits.mT, right, reduction="none")
    hit = (logits.argmax(dim=-1) == right).float()
    quarters = [group * 4 // n == quarter for quarter in range(4)]
    return [[round(what[q].mean().item(), 4) for q in quarters] for what in (loss, hit)]


def chosen(candidates: Sequence[float], train_with: Callable[[float], GPT], loss_of: Callable[[GPT], float]):
    """The learning rate with the lowest loss, and the model that was trained with it."""
    models = {lr: train_with(lr) for lr in candidates}
    best = min(models, key=lambda lr: loss_of(models[lr]))
    return best, models[best]


def mean_loss(model: GPT, task: Task, n: int, **changes) -> float:
    """On texts that are neither trained on nor tested."""
    losses, _ = measure(model, task, n, split="valid", **changes)
    return sum(losses) / 4


def fresh(study: PositionSettings, name: str, task: Task, *, lr: float, seed: int, **options) -> GPT:
    """A GPT of the study with these options, trained for the task of this name."""
    number = ("next", "recall").index(name)
    sizes = {"d_model": study.width, "num_heads": 8, "num_layers": 2}
    with seeded(seed):
        model = GPT(task.num_words, **sizes | options)
    settings = {"steps": study.steps[number], "batch_size": study.batch_size[number], "n": study.n}
    return train(model, task, lr=lr, seed=seed, **settings).eval()


def trained_with_each_seed(
    study: PositionSettings, name: str, task: Task, **options
) -> tuple[float, list[GPT]]:
    """The best learning rate for a GPT with these options, by the first seed, and a model of each seed."""
    lr, first = chosen(
        study.rates[("next", "recall").index(name)],
        lambda lr: fresh(study, name, task, lr=lr, seed=study.seeds[0], **options),
        lambda model: mean_loss(model, task, study.n),
    )
    return lr, [first] + [fresh(study, name, task, lr=lr, seed=seed, **options) for seed in study.seeds[1:]]


def measure_kind(study: PositionSettings, name: str, kind: str) -> dict:
    """Train one kind of positions for one task with each seed, and test it."""
    task = {"next": next_task, "recall": recall_task}[name](study)
    long = FACTOR * study.n

    def further(model: GPT, lr: float, seed: int, rates: Rates | None) -> GPT:
        batch_size = study.batch_size[("next", "recall").index(name)] // FACTOR
        sizes = {"batch_size": batch_size, "n": long, "steps": study.further_steps}
        return train(deepcopy(model), task, lr=lr, seed=seed + 100, rates=rates, **sizes)

    lr, models = trained_with_each_seed(study, name, task, positions=kind)
    scaled = scaled_rates(study.width // 8, study.n)
    changes: dict[str, dict] = {
        "unchanged": {},
        "window": {"mask": window_mask(long, window=study.n)},
        "spread": {"mask": spread_mask(long, study.n)},
    }
    if kind == "rotary":
        changes |= {"clipped": {"clip": study.n - 1}}
        changes |= {way: {"rates": rates} for way, rates in scaled.items() if way != "as trained"}
    found = {"lr": lr, "short": [measure(model, task, study.n) for model in models]}
    found |= {
        way: [measure(model, task, long, **change) for model in models] for way, change in changes.items()
    }
    for way in ("as trained", "interpolated") if kind == "rotary" else ("as trained",):
        own = {"rates": scaled[way]} if kind == "rotary" else {}
        longer = [
            further(m, lr / 2, seed, own.get("rates")) for m, seed in zip(models, study.seeds, strict=True)
        ]
        found[f"further, {way}"] = [measure(model, task, long, **own) for model in longer]
    return found


def measure_shared(study: PositionSettings, num_key_heads: int) -> dict:
    """Train models whose eight heads share keys for the next word, with each seed, and test them on short texts.

    Where keys are few the feed-forward network is wider, so that all models have nearly equally many parameters.
    """
    task = next_task(study)
    d_hidden = 5 * study.width - study.width // 8 * num_key_heads
    lr, models = trained_with_each_seed(study, "next", task, num_key_heads=num_key_heads, d_hidden=d_hidden)
    return {
        "lr": lr,
        "parameters": sum(p.numel() for p in models[0].parameters()),
        "losses": [round(sum(measure(model, task, study.n)[0]) / 4, 4) for model in models],
    }


def run_study(study: PositionSettings, out: Path, only: Sequence[str] | None = None) -> None:
    """Measure what is not stored yet, and store it."""
    parts = {
        f"{task}, {kind}": partial(measure_kind, study, task, kind)
        for task, kinds in KINDS.items()
        for kind in kinds
    }
    parts |= {f"keys of {number} heads": partial(measure_shared, study, number) for number in KEY_HEADS}
    settings = {name: value for name, value in vars(study).items() if name != "words"}
    run_parts(
        parts, out, belongs_to={"versions": {"torch": version("torch")}, "settings": settings}, only=only
    )


def _main(
    out: Annotated[Path, typer.Option(help="results; parts that it holds are not measured again")] = RESULTS,
    only: Annotated[list[str] | None, typer.Option(help="parts to measure, such as 'next, alibi'")] = None,
) -> None:
    """Train and measure what two chapters report of positions and of heads that share keys; store the numbers."""
    torch.set_num_threads(1)  # as for the results in the book
    run_study(PositionSettings(), out, only)
    typer.echo(f"{out}: written")


if __name__ == "__main__":
    typer.run(_main)
