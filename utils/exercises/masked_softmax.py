"""Checks of the exercises of chapters/masked_softmax."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from utils.attention import length_mask, masked_softmax
from utils.exercises.checking import ReadersFunction, Wrong, as_tensor, expect, show
from utils.exercises.tables import Case, against

_LOGS, _TWO = torch.tensor([[[1.0, 2.0, 4.0]]]).log(), torch.tensor([[[True, True, False]]])
_BY_HAND = "for the scores ln [1, 2, 4] and the mask [True, True, False]"
_FIRST_TWO = torch.tensor([[[True, True, False, False]]])
_BATCH = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(3))
_SHARED = "a mask of shape (batch, 1, keys) serves all queries"


def _divided_again(scores: Tensor, mask: Tensor) -> Tensor:
    weights = torch.softmax(scores, dim=-1) * mask
    return weights / weights.sum(dim=-1, keepdim=True)


def _of_exponentials(scores: Tensor, mask: Tensor) -> Tensor:
    shares = scores.exp() * mask
    return shares / shares.sum(dim=-1, keepdim=True)


#: What both exercises that mask a softmax call wrong.
_MASKS = {
    "they sum to 3/7 | Divide by the sum of what is left.": lambda s, m: torch.softmax(s, dim=-1) * m,
    "the mask has no effect | Let the forbidden key have no share.": lambda s, m: torch.softmax(s, dim=-1),
    "the forbidden key gets them | True in the mask means 'may attend'.": lambda s, m: _divided_again(s, ~m),
}


def _four(*scores: float) -> Case:
    says = f"for the scores {show(list(scores))}, of which the first two are allowed"
    return Case(says, (torch.tensor([[scores]]), _FIRST_TWO))


@against(
    1,
    "Give each forbidden key a score whose exponential is 0, and then use the ordinary softmax.",
    "Write minus infinity over forbidden scores with `masked_fill`. An empty row gets finite scores before the "
    "softmax, and zeros after it.",
    cases=[
        Case(_BY_HAND, (_LOGS, _TWO), "a forbidden key gets nothing, and the others share all the weight"),
        Case(
            "for scores of shape (2, 3, 5) and a mask of (2, 1, 5)",
            (_BATCH, length_mask(torch.tensor([4, 2]), 5)),
            _SHARED,
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
    ],
    mistakes=_MASKS
    | {
        "the forbidden key got the score 0 | The exponential of 0 is 1.": {"fill": 0},
        "these are the exponentials | Divide each by the sum of its row.": lambda s, m: s.exp() * m,
        "e to the 100 is infinite | `torch.softmax` knows what to do.": _of_exponentials,
        "the forbidden score took all the weight | Hide it before the softmax, not after.": _divided_again,
        "what you write over forbidden scores is higher | It must be lower than any score.": {"fill": -1e6},
        "an empty row is 0/0 | `mask.any(dim=-1, keepdim=True)` finds it.": {"fill": -math.inf},
        "all keys of the empty row get the same weight | No key of this row is allowed.": {"fill": -3e38},
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


def _fails_for(answer: ReadersFunction, bad_scores: object) -> Iterator[str]:
    row = "Write one row of four scores: `torch.tensor([[0.0, 1.0, 2.0, 3.0]])` has this shape."
    bad = as_tensor(bad_scores, row, shape=(1, 4), name="bad_scores").float()
    expect(
        bad.isfinite().all() and bad.abs().max() <= 200,
        f"bad_scores is {show(bad)}; expected finite numbers between -200 and 200.",
        "Two scores between -200 and 200 can be far enough apart.",
    )
    mask = _FIRST_TWO[0]
    result = as_tensor(answer(bad, mask), shape=(1, 4), name="for bad_scores the result")
    right, case = masked_softmax(bad, mask), f"for bad_scores {show(bad)}"
    if torch.allclose(result, right.double(), atol=1e-4):
        expect(
            torch.softmax(bad, dim=-1)[mask].sum() > 0,
            f"{case} your function gives the right weights, {show(result)}: it does not fail.",
            "Keep to the three steps, in float32: the ordinary softmax of *all* scores, times the mask, divided by the "
            "sum of the row.",
        )
        raise Wrong(
            f"{case} both ways give the same weights: {show(right[mask])} for the two allowed words.",
            "The sum that you divide by must be 0, so *both* allowed words must lose all their weight. How far below "
            "the largest score must a score lie for that? The section on scores and weights has the number.",
        )
    yield f"{case} your function gives {show(result)}, and the masked softmax {show(right)}"


@against(
    3,
    "On paper the sum of the first softmax cancels. In float32 a weight can be rounded to 0 before you divide by it.",
    "Give a forbidden word a score so high that the allowed words get weights that round to 0.",
    cases=[
        Case(_BY_HAND, (_LOGS[0], _TWO[0])),
        Case("for a batch of shape (2, 3, 5)", (_BATCH, length_mask(torch.tensor([5, 2]), 5))),
        Case(
            "for the scores [100, 100], both allowed",
            (torch.full((1, 2), 100.0), torch.ones(1, 2).bool()),
            "multiplying and dividing again gives the weights of the masked softmax",
        ),
    ],
    mistakes=_MASKS
    | {
        "the sum is that of all rows | Sum over the last axis, and keep it: `keepdim=True`.": (
            lambda s, m: (shares := torch.softmax(s, dim=-1) * m) / shares.sum()
        ),
        "e to the 100 is infinite | `torch.softmax` subtracts the largest score first.": _of_exponentials,
    },
    parts=["the row of weights"],
    also=_fails_for,
)
def renormalised(scores: Tensor, mask: Tensor) -> Tensor:
    return _divided_again(scores, mask)
