"""Checks of the exercises of chapters/dot_product_attention."""

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor, tensor

from utils.attention import dot_scores, scaled_dot_scores
from utils.exercises.checking import LargestTensor, ReadersFunction, as_tensor, expect
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
            "for the queries [1] and [0] and the keys [0] and [ln 3]",
            (tensor([[1.0], [0]]), tensor([[0], [math.log(3)]]), tensor([[4.0, 0, 1], [8, 2, 1]])),
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


def _takes_no_differences(answer: ReadersFunction) -> Iterator[str]:
    with LargestTensor() as tensors:
        answer(*normal((31, 41), (37, 41)))
    expect(
        tensors.peak < 31 * 37 * 41 // 2,
        f"for 31 queries and 37 keys of width 41 your function keeps {tensors.peak:,} numbers at one time: a number "
        "for each query, key and component, as in the differences of all queries and keys.",
        "Use the product of matrices `queries @ keys.T`.",
    )
    yield "it does not need all differences"


@against(
    3,
    "Multiply out −½‖q − k‖². Which of its three terms is the same for all keys?",
    "Half the squared length of each key has the shape (n,). It broadcasts over the rows of the scores.",
    cases=[
        Case(
            "for the query [1] and the keys [0] and [6]",
            (tensor([[1.0]]), tensor([[0.0], [6]])),
            "a long key loses half its squared length",
            "Rows are queries, columns are keys.",
        ),
        Case(
            "for 3 queries and 7 keys of width 5",
            normal((3, 5), (7, 5)),
            "for keys of any length the softmax gives the weights of the kernel",
        ),
    ],
    mistakes={
        "these are weights | Return the scores.": {"outer": _SHARES},
        "this is the dot product alone | Which term differs from key to key?": {"share": 0},
        "the whole squared length is taken away | The kernel has ½ of it.": {"share": 1},
        "the squared length is added | Long keys are far away: they lose.": {"share": -0.5},
        "your scores are divided by √5 | Leave it out.": {"outer": lambda scores: scores / 5**0.5},
    },
    parts=["each score minus the first of its row"],
    compared=lambda scores: (rows := as_tensor(scores)) - rows[..., :1],  # a row may have any constant
    also=_takes_no_differences,
)
def gaussian_scores(queries: Tensor, keys: Tensor, *, share=0.5, outer=torch.clone) -> Tensor:
    return outer(queries @ keys.T - share * keys.square().sum(dim=-1))


def _keeps_no_scores(answer: ReadersFunction) -> Iterator[str]:
    m, n, block = 23, 83, 5
    with LargestTensor() as tensors:
        answer(*normal((m, 3), (n, 3), (n, 2)), block)
    case = f"for {m} queries, {n} keys and blocks of {block} your function"
    next_block = "Take the next `block` keys only, `keys[start:start + block]`, and keep no earlier scores."
    for shape in sorted(tensors.shapes, key=math.prod, reverse=True):
        expect(n not in shape or {*shape} & {2, 3}, f"{case} makes a tensor of shape {shape}.", next_block)
    expect(
        tensors.peak < m * n,
        f"{case} keeps up to {tensors.peak:,} numbers at one time, and all scores are {m * n:,}.",
        "Use the scores of a block at once, and do not put them into a list.",
    )
    yield "it never keeps the scores of all keys"


_LN3 = tensor([[0], [math.log(3)], [0]])
_QUERIES, _KEYS, _VALUES = normal((3, 5), (11, 5), (11, 2))
_KEYS_AND_MORE = {
    "for the scores [0, ln 3, 0], the values [1, 5, 11]": (
        torch.ones(1, 1),
        _LN3,
        tensor([[1.0], [5], [11]]),
    ),
    "for 3 queries and 11 keys of width 5": (_QUERIES, _KEYS, _VALUES),
    "for queries a thousand times as long": (1000 * _QUERIES, _KEYS, _VALUES),
    "for scores that all lie below −1000": (-1000 * _KEYS[:3].abs() - 1000, _KEYS.abs() + 1, _VALUES),
}
_BOTH = "A larger score turned up in the second block: both sums must become smaller."


@against(
    4,
    "When the largest score grows from a to b, all old exponentials are too large by the factor e^(b − a).",
    "Multiply both sums by e^(a − b) before you add the new block. At the end divide one sum by the other.",
    cases=[
        Case(
            f"{says} and blocks of {block}",
            (*inputs, block),
            f"{says} and blocks of {block} the context is right",
            "Before the first block the largest score is −∞. What does your factor become when it grows from there?",
        )
        for says, inputs in _KEYS_AND_MORE.items()
        for block in (3, 1, 4)
    ],
    mistakes={
        "the sum of the values is not divided | Divide by the other.": {"wrong": "divisor"},
        f"the sums were not corrected | {_BOTH}": {"wrong": "sums"},
        f"the sum of the exponentials was not corrected | {_BOTH}": {"wrong": "total"},
        f"the sum of the values was not corrected | {_BOTH}": {"wrong": "weighted"},
        "the scale is missing | Divide by √d.": {"wrong": "scale"},
        "an exponential is too large | Subtract the largest score first.": {"wrong": "largest"},
        "0 is larger than all these scores | The first largest score is −∞.": {"wrong": "first"},
    },
    parts=["the context"],
    also=_keeps_no_scores,
)
def attend_in_blocks(queries: Tensor, keys: Tensor, values: Tensor, block: int, *, wrong="") -> Tensor:
    a = torch.full((len(queries), 1), 0 if wrong == "first" else -math.inf)
    total, weighted = torch.zeros(1), torch.zeros(1)
    for k, v in zip(keys.split(block), values.split(block), strict=True):
        scores = (dot_scores if wrong == "scale" else scaled_dot_scores)(queries, k)
        b = torch.zeros(1) if wrong == "largest" else torch.maximum(a, scores.amax(dim=-1, keepdim=True))
        factor, exponentials = torch.exp(a - b), torch.exp(scores - b)
        total = (1 if wrong in ("total", "sums") else factor) * total + exponentials.sum(dim=-1, keepdim=True)
        weighted = (1 if wrong in ("weighted", "sums") else factor) * weighted + exponentials @ v
        a = b
    return weighted if wrong == "divisor" else weighted / total


@numbers(
    5,
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
