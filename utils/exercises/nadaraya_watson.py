"""Checks of the exercises of chapters/nadaraya_watson."""

from functools import partial

import torch
from torch import Tensor, arange, tensor

from utils.exercises.tables import Case, against, normal
from utils.kernels import gaussian

_GAUSSIAN = "The Gaussian is exp(−u²/2)."


@against(
    1,
    "Multiply the vector of each word by the weight of this word, and add the products.",
    "One product does both: `weights @ values`.",
    cases=[
        Case(
            "for the weights 0.2, 0.7 and 0.1 and the vectors (1, 5), (2, 0) and (−3, 4)",
            (tensor([0.2, 0.7, 0.1]), tensor([[1.0, 5], [2, 0], [-3, 4]])),
            "the context is one vector, as wide as the vectors of the words",
            "The result is one vector: the shape is (d,).",
        ),
        Case(
            "for 7 words of 5 numbers",
            lambda: (torch.softmax(normal((7,))[0], dim=0), *normal((7, 5))),
            "this is so for other words",
        ),
    ],
    mistakes={
        "each word counts the same | Use the weights.": lambda w, v: v.mean(dim=0),
        "the vectors are added without their weights | Use the weights.": lambda w, v: v.sum(dim=0),
        "the sum is divided by the number of words | The weights already sum to 1.": lambda w, v: (
            w @ v / len(w)
        ),
        "only the word with the largest weight counts | Every word counts as much as its weight.": (
            lambda w, v: v[w.argmax()]
        ),
    },
    parts=["the context"],
)
def my_context(weights: Tensor, values: Tensor) -> Tensor:
    return weights @ values


@against(
    2,
    "Divide the differences by the bandwidth, take the Gaussian of each, and divide each by their sum.",
    "`closeness = torch.exp(-((query - keys) / bandwidth) ** 2 / 2)`, and then the share of each in the sum.",
    cases=[
        Case(
            "for the query 3, the keys 2, 3 and 7 and the bandwidth 3",  # not 2: 2 · 2 is 2², and 2/2 is 1
            (3.0, tensor([2.0, 3, 7]), 3.0),
            "the nearest key gets the largest weight, and the weights sum to 1",
            "One weight for each key: the shape is (n,).",
        ),
        Case("for the query 14.5 and 11 keys", (14.5, 2.2 * arange(11), 0.7), "this is so for other keys"),
    ],
    mistakes={
        "they do not sum to 1 | Divide by the sum.": lambda q, k, h: torch.exp(-(((q - k) / h) ** 2) / 2),
        "far keys get more | Mind the minus.": {"kernel": lambda u: 1 / gaussian(u)},
        f"this is the triangular kernel | {_GAUSSIAN}": {"kernel": lambda u: (1 - u.abs()).clamp(min=0)},
        f"the factor 1/2 is missing | {_GAUSSIAN}": {"kernel": lambda u: gaussian(u) ** 2},
        f"u is not squared | {_GAUSSIAN}": {"kernel": lambda u: torch.exp(-u / 2)},
        f"|u| takes the place of u² | {_GAUSSIAN}": {"kernel": lambda u: torch.exp(-u.abs() / 2)},
        "the bandwidth has no effect | Divide the difference by it.": {"power": 0},
        "the differences are multiplied by the bandwidth | Divide.": {"power": -1},
        "the bandwidth is not squared | Divide by it first, and then square.": {"power": 1 / 2},
        "the bandwidth is not squared, and the factor 1/2 is missing | Write u, and then exp(−u²/2).": {
            "power": 1 / 2,
            "kernel": lambda u: gaussian(u) ** 2,
        },
    },
    parts=["the weights"],
)
def my_weights(query: float, keys: Tensor, bandwidth: float, *, kernel=gaussian, power=1) -> Tensor:
    closeness = kernel((query - keys) / bandwidth**power)
    return closeness / closeness.sum()


_SHARES = partial(torch.softmax, dim=1)


@against(
    4,
    "Divide queries and keys by the bandwidths, and sum the squared differences over the coordinates.",
    "With one row of `scores` per query, the weights are `torch.softmax(scores, dim=1)`.",
    cases=[
        Case(
            "for the query (0, 0), the keys (2, 0) and (0, 1) and the bandwidths (2, 0.6)",
            (torch.zeros(1, 2), tensor([[2.0, 0], [0, 1]]), tensor([3.0, 5]), tensor([2, 0.6])),
            "the nearer key gets the larger weight, and each coordinate has its own bandwidth",
        ),
        Case(
            "for 3 queries and 7 keys of 5 numbers",
            (*normal((3, 5), (7, 5), (7,)), tensor([0.5, 0.7, 1.1, 1.3, 0.8])),
            "each context is the average of the values with weights that sum to 1",
            "The weights of one query sum to 1: `dim=1`. Multiply each value by its weight, and add.",
        ),
        Case(
            "for the query 300, the keys 0 and 1 and the bandwidth 2",
            (tensor([[300.0]]), tensor([[0.0], [1]]), tensor([3.0, 5]), tensor([2.0])),
            "a query far from every key gets its weights too",
        ),
    ],
    mistakes={
        "the softmax runs over the queries | Take `dim=1`.": {"share": partial(torch.softmax, dim=0)},
        "they do not sum to 1 | Divide each exponential by the sum.": {"share": torch.exp},
        "their signs are wrong | Near keys score high.": {"share": lambda scores: _SHARES(-scores)},
        "the bandwidths have no effect | Divide by them.": {"width": torch.ones_like},
        "only the square is divided by the bandwidth | Divide first.": {"width": torch.sqrt},
        f"the factor 1/2 is missing | {_GAUSSIAN}": {"share": lambda scores: _SHARES(2 * scores)},
        "every exponential rounds to 0 | `torch.softmax` subtracts the highest score first.": {
            "share": lambda scores: scores.exp() / scores.exp().sum(dim=1, keepdim=True)
        },
    },
    parts=["the context", "the row of weights"],
    last_first=True,
)
def attend(queries, keys, values, bandwidths, *, share=_SHARES, width=torch.clone) -> tuple[Tensor, Tensor]:
    weights = share(-((queries[:, None] - keys) / width(bandwidths)).square().sum(dim=-1) / 2)
    return weights @ values, weights
