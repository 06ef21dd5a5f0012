"""The study of the scale: what attention learns with it and without it, at each of several learning rates.

Run as ``PYTHONPATH=chapters python -m studies.scale_study``. It needs half a minute on one core. The results are stored
beside this file; chapters/dot_product_attention reads them, and takes the training from here.
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


def learn(
    scale: float, optimizer: type[torch.optim.Optimizer], lr: float, seed: int, start: float = 1.0
) -> list[float]:
    """Train two matrices so that attention finds the vector that the query is a noisy copy of.

    Each of the 32 questions of a step has 16 random vectors of 256 numbers, and a random value of 8 numbers for each.

    Args:
        scale: what the scores are multiplied by.
        optimizer: of the matrices for queries and for keys.
        lr: its learning rate.
        seed: of the matrices and of all vectors.
        start: what the matrices are multiplied by at the start; with 1, a component of a query has the variance 1.

    Returns:
        The loss of each of the 200 steps, on vectors that are drawn for it: the mean squared distance, by component,
        between the context and the value of the vector that was copied.
    """
    draw = torch.Generator().manual_seed(seed)
    w = (start / 256**0.5 * torch.randn(2, 256, 256, generator=draw)).requires_grad_()
    steps, losses = optimizer([w], lr=lr), []  # pyright: ignore[reportCallIssue]
    for _ in range(200):
        h, right = torch.randn(32, 16, 256, generator=draw), torch.randint(16, (32,), generator=draw)
        s = h[range(32), right] + torch.randn(32, 256, generator=draw)
        v = torch.randn(32, 16, 8, generator=draw)
        scores = scale * (s @ w[0].T @ w[1])[:, None] @ h.mT  # W_q s · W_k h for each h
        context = (torch.softmax(scores, dim=-1) @ v)[:, 0]
        loss = (context - v[range(32), right]).square().mean()
        steps.zero_grad()
        loss.backward()
        steps.step()
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


def main() -> None:
    """Measure what the chapter reports."""
    torch.set_num_threads(1)  # as for the results in the book
    rates = {name: tried for name, (_, tried) in TRIED.items()}
    run_parts({"rates": measure_rates}, RESULTS, belongs_to={"torch": torch.__version__, "tried": rates})


if __name__ == "__main__":
    main()
