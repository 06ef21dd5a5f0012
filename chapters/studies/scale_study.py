"""The study of the scale: what attention learns with it and without it, at each of several learning rates.

Run as ``PYTHONPATH=chapters python -m studies.scale_study``. It needs about a minute on one core. The results are
stored beside this file; chapters/dot_product_attention draws them.
"""

from pathlib import Path
from statistics import mean

import torch

from studies.parts import run_parts

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: What the scores are multiplied by, for vectors of 256 numbers.
SCALES = {"without the scale": 1, "divided by √d": 1 / 16}
#: The optimizers, and the learning rates that were tried, each about three times the one before.
TRIED = {
    "gradient descent": (torch.optim.SGD, (0.03, 0.1, 0.3, 1, 3)),
    "Adam": (torch.optim.Adam, (0.001, 0.003, 0.01)),
}
#: The learning rate with the lowest loss at the end, for each optimizer and each of `SCALES`.
BEST = {"gradient descent": (0.1, 1), "Adam": (0.003, 0.003)}


def learn(
    scale: float,
    optimizer: type[torch.optim.Optimizer],
    lr: float,
    seed: int,
    start: float = 1.0,
    steps: int = 200,
) -> list[float]:
    """Train two matrices so that attention finds the vector that the query is a noisy copy of.

    Each of the 32 questions of a step has 16 random vectors of 256 numbers, and a random value of 8 numbers for each.

    Args:
        scale: what the scores are multiplied by.
        optimizer: of the matrices for queries and for keys.
        lr: its learning rate.
        seed: of the matrices and of all vectors.
        start: what the matrices are multiplied by at the start; with 1, a component of a query has the variance 1.
        steps: of the training.

    Returns:
        The loss of each step, on vectors that are drawn for it: the mean squared distance, by component,
        between the context and the value of the vector that was copied.
    """
    draw = torch.Generator().manual_seed(seed)
    w = (start / 256**0.5 * torch.randn(2, 256, 256, generator=draw)).requires_grad_()
    optimize, losses = optimizer([w], lr=lr), []  # pyright: ignore[reportCallIssue]
    for _ in range(steps):
        h, right = torch.randn(32, 16, 256, generator=draw), torch.randint(16, (32,), generator=draw)
        s = h[range(32), right] + torch.randn(32, 256, generator=draw)
        v = torch.randn(32, 16, 8, generator=draw)
        scores = scale * (s @ w[0].T @ w[1])[:, None] @ h.mT  # W_q s · W_k h for each h
        context = (torch.softmax(scores, dim=-1) @ v)[:, 0]
        loss = (context - v[range(32), right]).square().mean()
        optimize.zero_grad()
        loss.backward()
        optimize.step()
        losses.append(loss.item())
    return losses


def measure_rates() -> dict:
    """The mean loss of the last 20 steps, for each optimizer and scale and with the first seed, by learning rate."""
    return {
        name: {
            kind: [round(mean(learn(scale, optimizer, lr, seed=0)[-20:]), 4) for lr in rates]
            for kind, scale in SCALES.items()
        }
        for name, (optimizer, rates) in TRIED.items()
    }


def measure_curves() -> dict:
    """The mean loss of each 5 steps and of five seeds, for each optimizer and scale at its best learning rate."""
    return {
        name: {
            kind: [
                round(loss, 4)
                for loss in torch.tensor([learn(scale, TRIED[name][0], lr, seed) for seed in range(5)])
                .view(5, -1, 5)
                .mean(dim=(0, 2))
                .tolist()
            ]
            for (kind, scale), lr in zip(SCALES.items(), rates, strict=True)
        }
        for name, rates in BEST.items()
    }


def main() -> None:
    """Measure what the chapter reports."""
    torch.set_num_threads(1)  # as for the results in the book
    rates = {name: tried for name, (_, tried) in TRIED.items()}
    measures = {"rates": measure_rates, "curves": measure_curves}
    run_parts(measures, RESULTS, belongs_to={"torch": torch.__version__, "tried": rates})


if __name__ == "__main__":
    main()
