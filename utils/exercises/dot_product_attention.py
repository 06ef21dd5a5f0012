"""Checks of the exercises of chapters/dot_product_attention."""

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor, tensor

from utils.attention import scaled_dot_scores
from utils.exercises.checking import LargestTensor, expect
from utils.exercises.readers_function import ReadersFunction
from utils.exercises.tables import Case, Row, against, normal, numbers


def _needs_no_loop(answer: ReadersFunction) -> Iterator[str]:
    calls = []
    for m, n in ((3, 7), (31, 37)):
        with LargestTensor() as tensors:
            answer(*normal((m, 5), (n, 5), (n, 2)))
        calls.append(tensors.calls)
    expect(
        calls[0] == calls[1],
        f"with 31 queries and 37 keys it calls functions of torch {calls[1]} times, and with 3 and 7 {calls[0]} times.",
        "Without a loop the number stays the same: use products of matrices.",
    )
    yield "it needs no loop"


_SHARES = partial(torch.softmax, dim=-1)


@against(
    1,
    "`queries @ keys.T` has the score of query i and key j in row i and column j.",
    "The softmax runs along each row: `dim=-1`. The contexts are the product of the weights and the values.",
    cases=[
        Case(
            "for the queries [1] and [2] and the keys [0] and [ln 3]",
            (tensor([[1.0], [2]]), tensor([[0], [math.log(3)]]), tensor([[4.0, 0, 1], [8, 2, 1]])),
            "each row of weights belongs to a query, and sums to 1",
            "Row i of `weights @ values` is the context of query i.",
        ),
        Case(
            "for 3 queries and 7 keys of width 5, and values of width 2",
            normal((3, 5), (7, 5), (7, 2)),
            "each context is the sum of the values, each times its weight",
        ),
    ],
    mistakes={
        "the two results are exchanged | Return the contexts first.": {"order": -1},
        "these are the scores | Apply the softmax to them.": {"weigh": torch.clone},
        "these are the exponentials | Divide each by the sum of its row.": {"weigh": torch.exp},
        "the softmax runs over the queries | Take `dim=-1`.": {"weigh": partial(torch.softmax, dim=0)},
        "the scores are divided by √5 | The loop does not.": {"weigh": lambda e: _SHARES(e / 5**0.5)},
    },
    parts=["the contexts", "the weights"],
    last_first=True,
    also=_needs_no_loop,
)
def attend_to_all(queries: Tensor, keys: Tensor, values: Tensor, *, weigh=_SHARES, order=1) -> tuple:
    weights = weigh(queries @ keys.T)
    return (weights @ values, weights)[::order]


@numbers(
    3,
    "`torch.softmax(scaled_dot_scores(x, x), dim=-1)` has the weights of a row for itself on its diagonal.",
    "Draw `x` of shape (500, 10, d), and take the mean of `weights.diagonal(dim1=-2, dim2=-1)`.",
)
def queries_are_keys() -> list[Row]:
    own = {}  # the width, and the mean weight of a row for itself
    (widest,) = normal((500, 10, 256), seed=11)
    for d in (1, 2, 4, 8, 16, 32, 64, 128, 256):
        x = widest[..., :d]
        own[d] = scaled_dot_scores(x, x).softmax(dim=-1).diagonal(dim1=-2, dim2=-1).mean().item()
    smallest = min(width for width in own if own[width] > 0.9)
    shares = Row(
        {"own_4": own[4], "own_256": own[256]},
        f"at d = 4 a row gives itself {own[4]:.2f} of its weight, and at d = 256 nearly all",
        {
            "these are per cent | A weight is a number from 0 to 1.": (100 * own[4], 100),
            "the scale is missing | Divide the scores by √d.": (0.52, 1),
            "you divided by d | Divide by √d.": (0.23, 0.23),
            "this happens if the numbers lie between 0 and 1 | Take `torch.randn`.": (0.116, 0.295),
            "this is the mean of all weights | Take the weight of each row for itself.": (0.1, 0.1),
        },
        tolerance=0.0175,
    )
    last = Row(
        {"width": smallest},
        f"from width {smallest} on it gives itself more than 0.9",
        {f"{d} numbers give {own[d]:.3f} | Find the first above 0.9.": d for d in own if d != smallest},
    )
    return [shares, last]
