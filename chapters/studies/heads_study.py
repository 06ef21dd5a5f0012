"""The study of seeds: networks of attention alone learn to continue repeated texts, and are tested.

Ten networks of two layers differ in their seeds; others have a single layer, and learn for longer. Run as
``PYTHONPATH=chapters python -m studies.heads_study``, for about ten minutes on one core. It needs no file.
chapters/inside_heads reads the results, which are stored beside this file, and trains the network of its first figure
with the functions of this file; networks and scores come from ``utils``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import torch
import typer
from jaxtyping import Int
from torch import Tensor, nn

from studies.parts import run_parts
from utils.circuits import AttentionOnly, induction_score, previous_token_score
from utils.training import seeded
from utils.transformer import head_name

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: The words are letters.
LETTERS = "abcdefghijklmnopqrstuvwx"
NUM_WORDS = len(LETTERS)
#: The name in the first figure of the chapter, which is made up.
NAME = "korim"


@dataclass(frozen=True)
class HeadsSettings:
    """The settings of the study; the defaults are those of the stored results.

    Attributes:
        seeds: a network of two layers is trained with each.
        steps: of these trainings.
        batch_size: texts per step.
        lr: learning rate of the matrices; the numbers of the distances have ten times as much.
        shown_seed: of the network that the chapter shows.
        shown_steps: of its training.
        one_layer_steps: of the trainings of a single layer, in which the rate falls to 0 evenly, so that they settle.
        one_layer_rates: their first learning rates, each with the first seed; the best one also with the next seed.
        num_test: texts on which heads are switched off.
        length: words of a block in these texts.
    """

    seeds: tuple[int, ...] = tuple(range(10))
    steps: int = 1000
    batch_size: int = 64
    lr: float = 0.002
    shown_seed: int = 9
    shown_steps: int = 500
    one_layer_steps: int = 5000
    one_layer_rates: tuple[float, ...] = (0.004, 0.008, 0.016)
    num_test: int = 200
    length: int = 10


def repeated(num_texts: int, draw: torch.Generator, length: int | None = None) -> Int[Tensor, "texts n"]:
    """Texts of a block of different words, twice; the block has 4 to 16 words if no length is given."""
    if length is None:
        length = int(torch.randint(4, 17, (), generator=draw))
    block = torch.rand(num_texts, NUM_WORDS, generator=draw).argsort(dim=1)[:, :length]
    return torch.cat([block, block], dim=1)


def train(
    study: HeadsSettings,
    seed: int,
    *,
    layers: int,
    lr: float,
    decay: bool = False,
    look: Callable[[int, AttentionOnly], None] = lambda step, model: None,
) -> tuple[AttentionOnly, list[float]]:
    """A network, and the losses of the words of the second block, each a mean over 25 steps, or over those left.

    Args:
        decay: whether the learning rates fall to 0 evenly.
        look: called before each step and after the last one, with the number of steps so far and the network.
    """
    with seeded(seed):
        model = AttentionOnly(NUM_WORDS, 64, num_heads=4 // layers, num_layers=layers, max_len=32)
    named = list(model.named_parameters())
    groups = [
        {"params": [p for name, p in named if "distance" not in name], "lr": lr},
        {"params": [p for name, p in named if "distance" in name], "lr": 10 * lr},
    ]
    optimizer = torch.optim.Adam(groups, betas=(0.9, 0.99))
    draw, losses = torch.Generator().manual_seed(seed), []
    for step in range(study.steps):
        look(step, model)
        texts = repeated(study.batch_size, draw)
        logits = model(texts[:, :-1]).logits.transpose(1, 2)
        loss = nn.functional.cross_entropy(logits, texts[:, 1:], reduction="none")
        optimizer.zero_grad()
        loss.mean().backward()
        optimizer.step()
        for group, rate in zip(optimizer.param_groups, (lr, 10 * lr), strict=True):
            group["lr"] = rate * (1 - (step + 1) / study.steps) if decay else rate
        losses.append(loss[:, texts.shape[1] // 2 :].mean().item())
    look(study.steps, model)
    means = [piece.mean().item() for piece in torch.tensor(losses).split(25)]
    return model.requires_grad_(False), [round(number, 3) for number in means]


def right_and_loss(model: AttentionOnly, texts: Tensor, replace: dict) -> list[float]:
    """The share of right words of the second block but the first, and their loss."""
    half = texts.shape[1] // 2
    logits, words = model(texts, replace=replace).logits[:, half:-1], texts[:, half + 1 :]
    hits = (logits.argmax(dim=-1) == words).float().mean().item()
    return [round(hits, 4), round(nn.functional.cross_entropy(logits.transpose(1, 2), words).item(), 3)]


#: Pairs of layer and head, counted from 0: each head alone, and both heads of layer 1.
GROUPS: list[list[tuple[int, int]]] = [[(0, 0)], [(0, 1)], [(1, 0)], [(1, 1)], [(1, 0), (1, 1)]]


def named(heads: list[tuple[int, int]]) -> str:
    """The heads that are switched off, as the results and the chapter write them."""
    return " and ".join(head_name(*place) for place in heads) or "nothing"


def measure_two_layers(study: HeadsSettings, seed: int) -> dict:
    """Train a network of two layers, score its heads, and switch them off, by zeros and by their means."""
    model, losses = train(study, seed, layers=2, lr=study.lr)
    texts = repeated(study.num_test, torch.Generator().manual_seed(9), length=study.length)
    run = model(texts)
    off = {"nothing": {"zeros": right_and_loss(model, texts, {})}}
    for heads in GROUPS:
        means = {
            (layer, head): run.outputs[layer][:, head].mean(dim=(0, 1)).expand(*texts.shape, -1)
            for layer, head in heads
        }
        off[named(heads)] = {
            "zeros": right_and_loss(model, texts, dict.fromkeys(heads, 0)),
            "means": right_and_loss(model, texts, means),
        }
    scores = {
        "word before": [previous_token_score(w).mean(dim=0).tolist() for w in run.weights],
        "induction": [induction_score(w, texts).tolist() for w in run.weights],
    }
    rounded = {name: [[round(x, 3) for x in layer] for layer in both] for name, both in scores.items()}
    return {"losses": losses, "off": off} | rounded


def measure_one_layer(study: HeadsSettings) -> dict:
    """The losses of networks of one layer with as many heads, each a mean over 250 steps, by learning rate and seed."""

    def losses(seed: int, lr: float) -> list[float]:
        longer = replace(study, steps=study.one_layer_steps)
        means = train(longer, seed, layers=1, lr=lr, decay=True)[1]
        return [round(each.mean().item(), 3) for each in torch.tensor(means).split(10)]

    rates = {str(lr): losses(study.seeds[0], lr) for lr in study.one_layer_rates}
    best = min(rates, key=lambda lr: rates[lr][-1])
    return {"rates": rates, "best": best, "other seed": losses(study.seeds[1], float(best))}


def measure_shown(study: HeadsSettings) -> dict:
    """What each head of one network looks at in a name that comes twice, and what the network writes, by what is off.

    Weights are in thousandths, a text for each row of each head; those of a head that is off are 0.
    """
    model, _ = train(replace(study, steps=study.shown_steps), study.shown_seed, layers=2, lr=study.lr)
    text = torch.tensor([[LETTERS.index(letter) for letter in 2 * NAME]])
    found = {}
    for heads in ([], *GROUPS):
        run = model(text, replace=dict.fromkeys(heads, 0))
        weights = torch.stack([layer[0] for layer in run.weights])  # (layers, heads, n, n)
        for layer, head in heads:
            weights[layer, head] = 0
        rows = (1000 * weights).round().long().flatten(end_dim=-2).tolist()
        writes = "".join(LETTERS[word] for word in run.logits[0].argmax(dim=-1))
        found[named(heads)] = {"weights": [" ".join(map(str, row)) for row in rows], "writes": writes}
    return {"off": found}


def run_study(study: HeadsSettings, out: Path) -> None:
    """Measure what is not stored yet, and store it."""
    parts = {f"seed {seed}": partial(measure_two_layers, study, seed) for seed in study.seeds}
    parts["shown"] = partial(measure_shown, study)
    parts["one layer"] = partial(measure_one_layer, study)
    run_parts(parts, out, belongs_to={"versions": {"torch": version("torch")}, "settings": vars(study)})


def _main(
    out: Annotated[Path, typer.Option(help="results; what it holds is not measured again")] = RESULTS,
) -> None:
    """Train and measure what the chapter on the heads reports of ten seeds; store the numbers."""
    torch.set_num_threads(1)  # as for the results in the book
    run_study(HeadsSettings(), out)
    typer.echo(f"{out}: complete")


if __name__ == "__main__":
    typer.run(_main)
