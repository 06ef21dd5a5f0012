"""Checks of the exercises of chapters/masked_softmax."""

import math
from collections.abc import Iterator

import torch

from utils.attention import length_mask
from utils.exercises.checking import (
    ReadersFunction,
    Wrong,
    as_tensor,
    exercise,
    expect,
    expect_close,
    show,
)


@exercise(
    1,
    "Give each forbidden key a score whose exponential is 0, and then use the ordinary softmax.",
    "Write minus infinity over forbidden scores with `masked_fill`. An empty row gets finite scores before the "
    "softmax, and zeros after it.",
)
def my_softmax(answer: ReadersFunction) -> Iterator[str]:
    scores, mask = torch.tensor([[[1.0, 2.0, 4.0]]]).log(), torch.tensor([[[True, True, False]]])
    case, row = "for the scores ln [1, 2, 4] and the mask [True, True, False]", "the row of weights"
    mistakes = (
        (
            (1 / 7, 2 / 7, 0),
            "they sum to 3/7",
            "The forbidden key has taken its share before you removed it.",
        ),
        ((1 / 7, 2 / 7, 4 / 7), "the mask has no effect", "Let the forbidden key have no share."),
        ((0, 0, 1), "the forbidden key gets them", "True in the mask means 'may attend'."),
        ((1 / 4, 2 / 4, 1 / 4), "the forbidden key got the score 0", "The exponential of 0 is 1."),
        ((1, 2, 0), "these are the exponentials", "Divide each by the sum of its row."),
    )
    expect_close(answer(scores, mask), [[[1 / 3, 2 / 3, 0]]], case, name=row, mistakes=mistakes)
    yield "a forbidden key gets nothing, and the others share all the weight"
    torch.manual_seed(3)
    scores, mask = torch.randn(2, 3, 5), length_mask(torch.tensor([4, 2]), 5)
    right = _softmax_of_allowed(scores, mask)
    each = "The mask has one row for each sentence here: it broadcasts. Each row of keys has the sum 1."
    expect_close(answer(scores, mask), right, "for scores of shape (2, 3, 5) and a mask of (2, 1, 5)", each)
    yield "a mask of shape (batch, 1, keys) serves all queries"
    first_two = torch.tensor([[[True, True, False, False]]])
    too_large = "The exponential of 100 does not fit into float32. `torch.softmax` knows what to do."
    all_taken = "The forbidden score 150 takes all the weight in the ordinary softmax of all scores."
    not_low = "What you write over forbidden scores must be lower than any score."
    low = -(10**10)
    for scores, hint in (
        ([100, 100, 0, 0], too_large),
        ([0, 0, 150, 0], all_taken),
        ([low, low, 0, 0], not_low),
    ):
        case = f"for the scores {scores}, of which the first two are allowed"
        result = answer(torch.tensor([[scores]], dtype=torch.float32), first_two)
        expect_close(result, [[[0.5, 0.5, 0, 0]]], case, hint, name=row)
    yield "low scores and high scores are right"
    result = as_tensor(answer(torch.zeros(1, 2, 4), length_mask(torch.tensor([[0, 2]]), 4)), shape=(1, 2, 4))
    case = "for a row in which no key is allowed"
    expect(
        not result.isnan().any(),
        f"{case} the weights are {show(result[0, 0])}, not a number: 0/0.",
        "Find the rows without an allowed key with `mask.any(dim=-1, keepdim=True)`.",
    )
    equal = ((0.25,) * 4, "all keys get the same weight", "No key of this row is allowed.")
    expect_close(result[0, 0], [0, 0, 0, 0], case, name=row, mistakes=[equal])
    expect_close(result[0, 1], [0.5, 0.5, 0, 0], "for the row below an empty one", name=row)
    yield "an empty row gets the weights 0"
    case = "in float16, for equal scores, of which two are allowed"
    hint = "The largest number of float16 is 65,504, and -inf fits too."
    try:
        small = answer(torch.zeros(1, 1, 4, dtype=torch.float16), first_two)
    except Wrong as error:
        raise Wrong(f"{case}: {error}", hint) from None
    expect_close(small, [[[0.5, 0.5, 0, 0]]], case, hint)
    yield "it works in float16"


@exercise(
    2,
    "Without padding query i may see the keys 0 to i, so i + 1 keys. It never sees more keys than its sentence has "
    "words.",
    "The limit is the smaller of i + 1 and the length of the sentence: `torch.minimum` with one row and one column.",
)
def causal_lens(answer: ReadersFunction) -> Iterator[str]:
    result = answer(torch.tensor([2]), 3)
    dtype = getattr(result, "dtype", torch.long)
    expect(
        dtype in (torch.long, torch.int),
        f"the lengths have the type {dtype}; expected integers, which `length_mask` turns into a mask.",
        "Return for each query how many keys it may see: `torch.arange(1, 4)`, without a point.",
    )
    mistakes = (
        ((0, 1, 2), "query 0 sees nothing", "It sees itself, so its length is 1."),
        ((1, 2, 3), "query 2 sees a padded key", "No query may see more keys than its sentence has."),
        ((2, 2, 2), "query 0 sees key 1, which comes later", "Query i may see i + 1 keys at most."),
    )
    rows = (
        "There is one row for each sentence, with a length for each query: `valid_lens[:, None]` is a column."
    )
    expect_close(result, [[1, 2, 2]], "for one sentence of 2 words and 3 queries", rows, mistakes=mistakes)
    yield "query 0 sees itself"
    for valid, num_queries in (([7, 3, 1], 7), ([5, 2], 3), ([0, 4], 5)):
        expected = torch.minimum(torch.arange(1, num_queries + 1), torch.tensor(valid)[:, None])
        case = f"for the lengths {valid} and {num_queries} queries"
        expect_close(answer(torch.tensor(valid), num_queries), expected, case, rows)
    yield "no query sees a later word or padding"


@exercise(
    3,
    "On paper the sum of the first softmax cancels. In float32 a weight can be rounded to 0 before you divide by it.",
    "Give a forbidden word a score so high that the allowed words get weights that round to 0.",
)
def renormalised(answer: ReadersFunction, bad_scores: object) -> Iterator[str]:
    mistakes = (
        ((1 / 7, 2 / 7, 0), "they sum to 3/7", "After the product with the mask, divide by the sum."),
        ((1 / 7, 2 / 7, 4 / 7), "the mask has no effect", "Multiply the softmax by the mask."),
        ((0, 0, 1), "the forbidden key gets them", "True in the mask means 'may attend'."),
    )
    scores, mask = torch.tensor([[1.0, 2.0, 4.0]]).log(), torch.tensor([[True, True, False]])
    case = "for the scores ln [1, 2, 4] and the mask [True, True, False]"
    right, row = [[1 / 3, 2 / 3, 0]], "the row of weights"
    expect_close(answer(scores, mask), right, case, name=row, mistakes=mistakes)
    torch.manual_seed(3)
    scores, allowed = torch.randn(2, 3, 5), length_mask(torch.tensor([5, 2]), 5)
    right, keep = _softmax_of_allowed(scores, allowed), "Sum over the last axis, and keep it: `keepdim=True`."
    expect_close(answer(scores, allowed), right, "for a batch of shape (2, 3, 5)", keep)
    large, both = torch.tensor([[100.0, 100.0]]), torch.tensor([[True, True]])
    highest = "e to the 100 does not fit into float32. Take `torch.softmax`, which subtracts the largest score first."
    expect_close(answer(large, both), [[0.5, 0.5]], "for the scores [100, 100], both allowed", highest)
    yield "multiplying and dividing again gives the weights of the masked softmax"
    row = "Write one row of four scores: `torch.tensor([[0.0, 1.0, 2.0, 3.0]])` has this shape."
    bad = as_tensor(bad_scores, row, shape=(1, 4), name="bad_scores").float()
    expect(
        bad.isfinite().all() and bad.abs().max() <= 200,
        f"bad_scores is {show(bad)}; expected finite numbers between -200 and 200.",
        "Two scores between -200 and 200 can be far enough apart.",
    )
    first_two = torch.tensor([[True, True, False, False]])
    result = as_tensor(answer(bad, first_two), shape=(1, 4), name="for bad_scores the result")
    right, case = _softmax_of_allowed(bad, first_two), f"for bad_scores {show(bad)}"
    if torch.allclose(result, right.double(), atol=1e-4):
        expect(
            torch.softmax(bad, dim=-1)[first_two].sum() > 0,
            f"{case} your function gives the right weights, {show(result)}: it does not fail.",
            "Keep to the three steps, in float32: the ordinary softmax of *all* scores, times the mask, divided by the "
            "sum of the row.",
        )
        raise Wrong(
            f"{case} both ways give the same weights: {show(right[first_two])} for the two allowed words.",
            "The sum that you divide by must be 0, so *both* allowed words must lose all their weight. How far below "
            "the largest score must a score lie for that? The section on scores and weights has the number.",
        )
    yield f"{case} your function gives {show(result)}, and the masked softmax {show(right)}"


def _softmax_of_allowed(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)
