"""Checks of the exercises of chapters/additive_attention."""

from functools import partial

import torch
from torch import Tensor, tensor
from torch.nn.functional import pad

from utils.attention import additive_scores
from utils.exercises.checking import as_parts, as_tensor
from utils.exercises.tables import Case, against, normal

_FIRST = "First add the two parts, then take the tanh of the sum, then multiply by w_v."


@against(
    1,
    "`queries @ w_q.T` has the shape (m, d_h), and `keys @ w_k.T` the shape (n, d_h). Their sum must hold every pair.",
    "Add `(queries @ w_q.T)[:, None]` and `(keys @ w_k.T)[None]`: the shape is (m, n, d_h). Then tanh, then `@ w_v`.",
    cases=[
        Case(
            "for the query [1], the keys [0] and [2], w_q = w_k = [[1]] and w_v = [2]",
            (tensor([[1.0]]), tensor([[0.0], [2]]), torch.ones(1, 1), torch.ones(1, 1), tensor([2.0])),
            "for one query the scores are right",
        ),
        Case(
            "for 5 queries of width 2, 7 keys of width 3 and 11 hidden units",
            normal((5, 2), (7, 3), (11, 2), (11, 3), (11,)),
            "rows are queries and columns are keys, for any widths",
            "Rows are queries: the projection of query i is added to the projections of all keys.",
        ),
    ],
    mistakes={
        f"the tanh is missing | {_FIRST}": {"squash": torch.clone},
        f"this is the tanh of each part, added | {_FIRST}": {
            "join": lambda q, k: q.tanh() + k.tanh(),
            "squash": torch.clone,
        },
        f"the tanh is outside, around the score | {_FIRST}": {"squash": torch.clone, "outer": torch.tanh},
        "the two parts are multiplied | Add them: it is called additive.": {"join": torch.mul},
        "these are weights | Return the scores.": {"outer": partial(torch.softmax, dim=-1)},
        "there is a factor 1/√11 | Leave it out.": {"change_v": lambda w_v: w_v / len(w_v) ** 0.5},
    },
    parts=["the score"],
)
def additive(*inputs, join=torch.add, squash=torch.tanh, change_v=torch.clone, outer=torch.clone) -> Tensor:
    queries, keys, w_q, w_k, w_v = inputs
    return outer(squash(join((queries @ w_q.mT)[:, None], keys @ w_k.mT)) @ change_v(w_v))


def _scores(matrices: object) -> Tensor:
    """The scores of 3 queries, which end in a constant 1, and 5 keys, by the matrices of a reader."""
    w_q, w_k, w_v = as_parts(matrices, "w_q", "w_k", "w_v")
    w_v = as_tensor(w_v, name="w_v").flatten()
    w_q = as_tensor(w_q, shape=(len(w_v), 3), name="w_q")
    w_k = as_tensor(w_k, shape=(len(w_v), 2), name="w_k")
    queries, keys = (vectors.double() for vectors in normal((3, 2), (5, 2)))
    return additive_scores(pad(queries, (0, 1), value=1.0) @ w_q.mT, keys @ w_k.mT, w_v)


@against(
    2,
    "The first unit is tanh(1 + c k1 − c q1). Write its sum as a row of `w_k` times (k1, k2) plus a row of `w_q` times "
    "(q1, q2, 1).",
    "The first row of `w_k` is [c, 0], and that of `w_q` is [−c, 0, 1]. The other three units are like it.",
    cases=[
        Case(f"for c = {c}", (c,), f"for c = {c} the scores of 3 queries and 5 keys are right")
        for c in (2.0, 0.5)
    ],
    mistakes={
        "no unit has the 1 of 1 + x | Queries end in a constant 1: which number multiplies it?": {"one": 0},
        "key and query are added | Where k = q they must cancel.": {"sign": 1},
        "the score has a valley instead of a peak | Look at the sign of `w_v`.": {"v": (-1, -1, -1, -1)},
        "*f* subtracts one of its two tanh | It adds them.": {"v": (1, -1, 1, -1)},
        "the second number of a key is not seen | Two units compare the second numbers.": {"v": (1, 1, 0, 0)},
        "there is no c | It multiplies the numbers of key and query.": {"power": 0},
        "the numbers are divided by c | Multiply them by it.": {"power": -1},
    },
    parts=["the score"],
    compared=_scores,
)
def four_units(c: float, *, one=1, sign=-1, v=(1, 1, 1, 1), power=1) -> tuple:
    c = c**power
    w_k = tensor([[c, 0.0], [-c, 0], [0, c], [0, -c]])
    return pad(sign * w_k, (0, 1), value=one), w_k, tensor(v)
