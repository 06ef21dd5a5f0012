"""Checks of the exercises of chapters/additive_attention."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import pad

from utils.attention import additive_scores
from utils.exercises.checking import (
    ReadersFunction,
    as_tensor,
    exercise,
    expect,
    expect_close,
    expect_numbers,
    expect_written,
)


@exercise(
    3,
    "The scores are β and −β, so the exponentials are exp(β), once, and exp(−β), n − 1 times.",
    "Write the weight p as 1 / (1 + (n − 1) exp(−2β)), and solve for β.",
)
def scale_for(answer: ReadersFunction) -> Iterator[str]:
    for weight, num_keys in ((0.9, 2), (0.9, 1000), (0.9, 3), (0.6, 7), (0.99, 11), (0.5, 101)):
        odds = weight / (1 - weight)
        right = math.log(odds * (num_keys - 1)) / 2
        mistakes = (
            (2 * right, "it is twice as large", "The scores differ by 2β, not by β."),
            (-right, "it has the wrong sign", "Which is the larger score, that of the first key?"),
            (math.log(odds * num_keys) / 2, "the score −β comes too often", "It comes n − 1 times."),
            (math.log(odds) / 2, "this is right for 2 keys alone", "The score −β comes n − 1 times."),
        )
        name = f"the scale for the weight {weight} and {num_keys} keys"
        expect_numbers({name: answer(weight, num_keys)}, [right], mistakes, tolerance=1e-3)
        yield f"for {num_keys} keys the first one gets the weight {weight}"


@exercise(
    1,
    "`queries @ w_q.T` has the shape (m, d_h), and `keys @ w_k.T` the shape (n, d_h). Their sum must hold every pair.",
    "Add `(queries @ w_q.T)[:, None]` and `(keys @ w_k.T)[None]`: the shape is (m, n, d_h). Then tanh, then `@ w_v`.",
)
def additive(answer: ReadersFunction) -> Iterator[str]:
    queries, keys, matrix = torch.tensor([[1.0]]), torch.tensor([[0.0], [2.0]]), torch.ones(1, 1)
    case = "for the query [1], the keys [0] and [2], w_q = w_k = [[1]] and w_v = [2]"
    first = "First add the two parts, then take the tanh of the sum, then multiply by w_v."
    mistakes = (
        ((2, 6), "the tanh is missing", first),
        ((0.7616, 0.9951), "w_v is missing", "Multiply each unit by its number of w_v, and add."),
        ((0.3853, 0.6147), "these are weights", "Return the scores, before the softmax."),
        ((1.5232, 3.4513), "this is the tanh of each part, added", first),
        ((0, 1.9281), "the two parts are multiplied", "Add them: the score is called additive."),
    )
    result = answer(queries, keys, matrix, matrix, torch.tensor([2.0]))
    expect_close(result, [[1.5232, 1.9901]], case, name="the score", tolerance=1e-3, mistakes=mistakes)
    yield "for one query the scores are right"
    for sizes in ((5, 7, 11), (5, 5, 3)):
        arrays = _random_layer(*sizes)
        m, n, h = sizes
        case, scores = (
            f"for {m} queries of width 2, {n} keys of width 3 and {h} hidden units",
            _scores(*arrays),
        )
        mistakes = [(scores / math.sqrt(h), f"there is a factor 1/√{h}", "Leave it out.")]
        add = "Rows are queries: the projection of query i is added to the projections of all keys."
        expect_close(answer(*arrays), scores, case, add, name="the score", mistakes=mistakes)
    yield "rows are queries and columns are keys, for any widths"


def _random_layer(num_queries: int, num_keys: int, h: int) -> list[Tensor]:
    """Queries of width 2, keys of width 3, W_q, W_k and w_v."""
    torch.manual_seed(7)
    return list(map(torch.randn, ((num_queries, 2), (num_keys, 3), (h, 2), (h, 3), (h,))))


def _scores(queries: Tensor, keys: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Tensor:
    return additive_scores(queries @ w_q.mT, keys @ w_k.mT, w_v)


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
    torch.manual_seed(5)
    places, spots = (torch.randn(250, 8, 2, dtype=torch.float64) for _ in range(2))
    inputs = [pad(vectors, (0, 1), value=1.0) for vectors in (spots, places)]
    scores, right = _scores(*inputs, w_q, w_k, w_v), torch.cdist(spots, places).argmin(-1)
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
