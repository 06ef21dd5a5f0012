"""Checks of the exercises of chapters/masked_softmax."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from utils.attention import length_mask, masked_softmax
from utils.exercises.checking import expect, show
from utils.exercises.readers_function import ReadersFunction
from utils.exercises.tables import Case, against, normal

_FIRST_TWO = torch.tensor([[[True, True, False, False]]])


def _divided_again(scores: Tensor, mask: Tensor) -> Tensor:
    weights = torch.softmax(scores, dim=-1) * mask
    return weights / weights.sum(dim=-1, keepdim=True)


def _over_lowest(scores: Tensor, mask: Tensor) -> Tensor:
    lowest = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(~mask, lowest), dim=-1) * mask


def _over_queries(scores: Tensor, mask: Tensor, fill: float = -math.inf) -> Tensor:
    return torch.softmax(scores.masked_fill(~mask, fill), dim=-2)


def _four(*scores: float, dtype: torch.dtype = torch.float32) -> Case:
    says = f"for the scores {show(list(scores))}, of which the first two are allowed"
    says = f"in float16, {says}" if dtype == torch.float16 else says
    return Case(says, (torch.tensor([[scores]], dtype=dtype), _FIRST_TWO))


@against(
    1,
    "Give each forbidden key a score whose exponential is 0, and then use the ordinary softmax.",
    "Write minus infinity over forbidden scores with `masked_fill`. An empty row gets finite scores before the "
    "softmax, and zeros after it.",
    cases=[
        Case(
            "for the scores ln [1, 2, 4] and the mask [True, True, False]",
            (torch.tensor([[[1.0, 2.0, 4.0]]]).log(), torch.tensor([[[True, True, False]]])),
            "a forbidden key gets nothing, and the others share all the weight",
        ),
        Case(
            "for scores of shape (2, 3, 5) and a mask of (2, 1, 5)",
            (*normal((2, 3, 5)), length_mask(torch.tensor([4, 2]), 5)),
            "a mask of shape (batch, 1, keys) serves all queries",
            "The mask has one row for each sentence here: it broadcasts. Each row of keys has the sum 1.",
        ),
        _four(100.0, 100.0, 0.0, 0.0),
        _four(0.0, 0.0, 150.0, 0.0),
        _four(-1e10, -1e10, 0.0, 0.0)._replace(point="low scores and high scores are right"),
        Case(
            "for a row in which no key is allowed, and one below it",
            (torch.zeros(1, 2, 4), length_mask(torch.tensor([[0, 2]]), 4)),
            "an empty row gets the weights 0",
        ),
        Case(
            "in float16, for equal scores, of which two are allowed",
            (torch.zeros(1, 1, 4, dtype=torch.float16), _FIRST_TWO),
            "it works in float16",
            "The largest number of float16 is 65,504, and -inf fits too.",
        ),
        _four(-65504.0, -65504.0, 0.0, 0.0, dtype=torch.float16)._replace(
            point="what you write over forbidden scores is lower than any score can be"
        ),
    ],
    mistakes={
        "they sum to 3/7 | Divide by the sum of what is left.": lambda s, m: torch.softmax(s, dim=-1) * m,
        "the mask has no effect | Let the forbidden key have no share.": lambda s, m: torch.softmax(
            s, dim=-1
        ),
        "the forbidden key gets them | True in the mask means 'may attend'.": lambda s, m: _divided_again(
            s, ~m
        ),
        "the forbidden key got the score 0 | The exponential of 0 is 1.": {"fill": 0},
        "the softmax runs over the queries | The weights of one query lie along the last axis: `dim=-1`.": (
            lambda s, m: _over_queries(s, m).masked_fill(~m, 0.0)
        ),
        "a key that no query may see is 0/0: the softmax runs over the queries | It needs `dim=-1`.": (
            _over_queries
        ),
        "each key has the weight 1: the softmax runs over the queries | It needs `dim=-1`.": (
            lambda s, m: _over_queries(s, m, -1e9)
        ),
        "these are the exponentials | Divide each by the sum of its row.": lambda s, m: s.exp() * m,
        "e to the 100 is infinite | `torch.softmax` knows what to do.": lambda s, m: (
            (shares := s.exp() * m) / shares.sum(dim=-1, keepdim=True)
        ),
        "the forbidden score took all the weight | Hide it before the softmax, not after.": _divided_again,
        "what you write over forbidden scores is higher | It must be lower than any score.": {"fill": -1e6},
        "an empty row is 0/0 | `mask.any(dim=-1, keepdim=True)` finds it.": {"fill": -math.inf},
        "all keys of the empty row get the same weight | No key of this row is allowed.": {"fill": -3e38},
        "the forbidden keys have the same score as the allowed ones | -inf is lower than any number.": (
            _over_lowest
        ),
    },
    parts=["the row of weights"],
)
def my_softmax(scores: Tensor, mask: Tensor, *, fill: float | None = None) -> Tensor:
    if fill is None:
        return masked_softmax(scores, mask)
    return torch.softmax(scores.masked_fill(~mask, fill), dim=-1)


def _integers(answer: ReadersFunction) -> Iterator[str]:
    dtype = getattr(answer(torch.tensor([2]), 3), "dtype", torch.long)
    expect(
        dtype in (torch.long, torch.int),
        f"the lengths have the type {dtype}; expected integers, which `length_mask` turns into a mask.",
        "`torch.arange(1, 4)`, without a point, has integers.",
    )
    yield "the lengths are integers"


@against(
    2,
    "Without padding query i may see the keys 0 to i, so i + 1 keys. It never sees more keys than its sentence has "
    "words.",
    "The limit is the smaller of i + 1 and the length of the sentence: `torch.minimum` with one row and one column.",
    cases=[
        Case("for one sentence of 2 words and 3 queries", (torch.tensor([2]), 3), "query 0 sees itself"),
        Case("for the lengths [7, 3, 1] and 7 queries", (torch.tensor([7, 3, 1]), 7)),
        Case("for the lengths [5, 2] and 3 queries", (torch.tensor([5, 2]), 3)),
        Case(
            "for the lengths [0, 4] and 5 queries",
            (torch.tensor([0, 4]), 5),
            "no query sees a later word or padding",
        ),
    ],
    mistakes={
        "query 0 sees nothing | It sees itself, so its length is 1.": {"first": 0},
        "query 2 sees a padded key | No query may see more keys than its sentence has.": {"longest": 99},
        "query 0 sees key 1, which comes later | Query i may see i + 1 keys at most.": {"first": 99},
        "each sentence has one length | `valid_lens[:, None]` is a column.": lambda valid_lens, num: (
            valid_lens
        ),
        "this is a mask | Return for each query how many keys it may see.": length_mask,
    },
    parts=["the lengths"],
    also=_integers,
)
def causal_lens(valid_lens: Tensor, num_queries: int, *, first: int = 1, longest: int = 0) -> Tensor:
    return torch.minimum(torch.arange(num_queries) + first, valid_lens[:, None] + longest)
