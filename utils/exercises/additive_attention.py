"""Checks of the exercises of chapters/additive_attention."""

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor, tensor
from torch.nn.functional import pad

from utils.attention import additive_scores
from utils.exercises.checking import as_number, as_tensor, exercise, expect, expect_written
from utils.exercises.tables import Case, against, normal


@against(
    3,
    "The scores are β and −β, so the exponentials are exp(β), once, and exp(−β), n − 1 times.",
    "Write the weight p as 1 / (1 + (n − 1) exp(−2β)), and solve for β.",
    cases=[
        Case(f"for the weight {p} and {n} keys", (p, n), f"for {n} keys the first one gets the weight {p}")
        for p, n in ((0.9, 2), (0.9, 1000), (0.6, 7))
    ],
    mistakes={
        "it is twice as large | The scores differ by 2β, not by β.": {"factor": 2},
        "it has the wrong sign | The first key has the larger score.": {"factor": -1},
        "the score −β comes too often | It comes n − 1 times.": {"others": lambda n: n},
    },
    parts=["the scale"],
    compared=as_number,
    tolerance=1e-3,
)
def scale_for(weight: float, num_keys: int, *, factor=1, others=lambda n: n - 1) -> float:
    return factor * math.log(weight * others(num_keys) / (1 - weight)) / 2


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
        "the two parts are multiplied | Add them: it is called additive.": {"join": torch.mul},
        "these are weights | Return the scores.": {"outer": partial(torch.softmax, dim=-1)},
        "there is a factor 1/√11 | Leave it out.": {"change_v": lambda w_v: w_v / len(w_v) ** 0.5},
    },
    parts=["the score"],
)
def additive(*inputs, join=torch.add, squash=torch.tanh, change_v=torch.clone, outer=torch.clone) -> Tensor:
    queries, keys, w_q, w_k, w_v = inputs
    return outer(squash(join((queries @ w_q.mT)[:, None], keys @ w_k.mT)) @ change_v(w_v))


@exercise(
    4,
    "In the first unit stands 1 + c k1 − c q1. Write it as a row of `peak_k` times (k1, k2, 1) plus a row of `peak_q` "
    "times (q1, q2, 1).",
    "The first row of `peak_k` is [c, 0, 1], and that of `peak_q` is [−c, 0, 0]. The other three units are like it.",
)
def peaks(peak_q: object, peak_k: object, peak_v: object) -> Iterator[str]:
    expect_written(peak_q, peak_k, peak_v)
    w_v = as_tensor(peak_v, name="peak_v").flatten()
    h = len(w_v)
    w_q, w_k = as_tensor(peak_q, shape=(h, 3), name="peak_q"), as_tensor(peak_k, shape=(h, 3), name="peak_k")
    expect(h <= 8, f"your layer has {h} hidden units; at most 8 are allowed, and 4 are enough.")
    yield f"the shapes are those of a layer with {h} hidden units"
    places, spots = normal((250, 8, 2), (250, 8, 2))
    queries, keys = (pad(vectors, (0, 1), value=1.0).double() for vectors in (spots, places))
    scores = additive_scores(queries @ w_q.mT, keys @ w_k.mT, w_v)
    right = torch.cdist(spots, places).argmin(-1)
    hits, worst = ((found.argmax(-1) == right).double().mean().item() for found in (scores, -scores))
    message = f"Your layer gives the highest score to the nearest word for {100 * hits:.1f} of 100 spots; expected 99."
    expect(
        (w_q[:, 2] + w_k[:, 2]).any() or not w_k[:, :2].any(),
        f"{message} No unit has the 1 of 1 + x.",
        "Queries and keys end in a constant 1: which number multiplies it?",
    )
    expect(
        w_k[:, :2].abs().amax(0).min() > 0,
        f"{message} It does not see the {'second' if w_k[:, 0].any() else 'first'} number of a key.",
        "Two units compare the first numbers of key and query. Two more compare the second numbers.",
    )
    expect(
        worst < 0.9,
        f"{message} For {100 * worst:.1f} of 100 spots the nearest word has the lowest score.",
        "The score has a valley where it should have a peak. Look at the sign of `peak_v`.",
    )
    expect(
        hits > 0.55,
        f"{message} Guessing reaches 12.5.",
        "Where k = q, key and query must cancel in each unit. Which sign and which size have the numbers of `peak_q` "
        "then? And does *f* add its two tanh, or does it subtract one?",
    )
    other_c = "The peak is in the right place. Try a smaller c, and then a larger one: which of them helps?"
    expect(hits >= 0.99, message, other_c)
    yield f"the nearest word has the highest score for {100 * hits:.1f} of 100 spots"
