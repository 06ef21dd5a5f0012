"""The study of seeds: ten networks of attention alone, which differ in their seeds, learn to continue repeated texts.

Run as ``PYTHONPATH=chapters python -m studies.heads_study``, for about five minutes on one core. It needs no file.
chapters/inside_heads reads the results, which are stored beside this file, and shows texts and training; networks and
scores come from ``utils``.
"""

from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import product
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
#: The letters from a to x.
NUM_WORDS = 24


@dataclass(frozen=True)
class HeadsSettings:
    """The settings of the study; the defaults are those of the stored results.

    Attributes:
        seeds: a network is trained with each.
        steps: of each training.
        batch_size: texts per step.
        lr: learning rate of the matrices; the numbers of the distances have ten times as much.
        other_rates: those that a network of one layer is also trained with, with the first seed.
        num_test: texts on which heads are switched off.
        length: words of a block in these texts.
    """

    seeds: tuple[int, ...] = tuple(range(10))
    steps: int = 1000
    batch_size: int = 64
    lr: float = 0.002
    other_rates: tuple[float, ...] = (0.001, 0.004, 0.008)
    num_test: int = 200
    length: int = 10


def repeated(num_texts: int, draw: torch.Generator, length: int | None = None) -> Int[Tensor, "texts n"]:
    """Texts of a block of different words, twice; the block has 4 to 16 words if no length is given."""
    if length is None:
        length = int(torch.randint(4, 17, (), generator=draw))
    block = torch.rand(num_texts, NUM_WORDS, generator=draw).argsort(dim=1)[:, :length]
    return torch.cat([block, block], dim=1)


def train(study: HeadsSettings, seed: int, *, layers: int, lr: float) -> tuple[AttentionOnly, list[float]]:
    """A network, and the losses of the words of the second block, each a mean over 25 steps, or over those left."""
    with seeded(seed):
        model = AttentionOnly(NUM_WORDS, 64, num_heads=4 // layers, num_layers=layers, max_len=32)
    named = list(model.named_parameters())
    groups = [
        {"params": [p for name, p in named if "distance" not in name], "lr": lr},
        {"params": [p for name, p in named if "distance" in name], "lr": 10 * lr},
    ]
    optimizer = torch.optim.Adam(groups, betas=(0.9, 0.99))
    draw, losses = torch.Generator().manual_seed(seed), []
    for _ in range(study.steps):
        texts = repeated(study.batch_size, draw)
        logits = model(texts[:, :-1]).logits.transpose(1, 2)
        loss = nn.functional.cross_entropy(logits, texts[:, 1:], reduction="none")
        optimizer.zero_grad()
        loss.mean().backward()
        optimizer.step()
        losses.append(loss[:, texts.shape[1] // 2 :].mean().item())
    means = [piece.mean().item() for piece in torch.tensor(losses).split(25)]
    return model.requires_grad_(False), [round(number, 3) for number in means]


def right_and_loss(model: AttentionOnly, texts: Tensor, replace: dict) -> list[float]:
    """The share of right words of the second block but the first, and their loss."""
    half = texts.shape[1] // 2
    logits, words = model(texts, replace=replace).logits[:, half:-1], texts[:, half + 1 :]
    hits = (logits.argmax(dim=-1) == words).float().mean().item()
    return [round(hits, 4), round(nn.functional.cross_entropy(logits.transpose(1, 2), words).item(), 3)]


#: Pairs of layer and head, counted from 0: each head alone, and both heads of layer 1.
GROUPS = [[place] for place in product(range(2), repeat=2)] + [[(1, 0), (1, 1)]]


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
        off[" and ".join(head_name(*place) for place in heads)] = {
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
    """The losses at the end of networks of one layer with as many heads, by seed and by learning rate."""
    by_seed = [train(study, seed, layers=1, lr=study.lr)[1] for seed in study.seeds]
    by_rate = {str(lr): train(study, study.seeds[0], layers=1, lr=lr)[1][-1] for lr in study.other_rates}
    return {"losses": by_seed[0], "ends": [losses[-1] for losses in by_seed], "other rates": by_rate}


def run_study(study: HeadsSettings, out: Path) -> None:
    """Measure what is not stored yet, and store it."""
    parts = {f"seed {seed}": partial(measure_two_layers, study, seed) for seed in study.seeds}
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
