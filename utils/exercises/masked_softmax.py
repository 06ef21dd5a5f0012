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

PAD = 0


@exercise(
    2,
    "A key may be attended to where its word number is not that of the padding, 0.",
    "`ids != PAD` has the shape (batch, keys). Give it an axis for the queries with `[:, None, :]`.",
)
def mask_from_ids(answer: ReadersFunction) -> Iterator[str]:
    batch = torch.tensor([[5, 3, 9, 4, 2], [8, 6, PAD, PAD, PAD], [1, PAD, PAD, PAD, PAD]])
    result = as_tensor(answer(batch), name="the mask")
    expect(
        result.dtype == torch.bool,
        f"the mask holds {show(result.flatten()[:5])}; expected True and False.",
        "A comparison such as `ids != PAD` gives True and False for each key.",
    )
    yield "the mask is boolean"
    queries = "Scores have the shape (batch, queries, keys): the axis of size 1 stands where they have their queries."
    mask = as_tensor(result, queries, shape=(3, 1, 5), name="for ids of shape (3, 5) the mask")
    yield "the shape is (batch, 1, keys)"
    expected = length_mask(torch.tensor([5, 2, 1]), 5)
    expect(
        not mask.equal(~expected),
        "the mask is True at the padding. True must mean 'may attend'.",
        "Which of two comparisons is it, `==` or `!=`?",
    )
    for row in range(3):
        expect(
            mask[row].equal(expected[row]),
            f"the ids {show(batch[row])} of row {row} get the mask {show(mask[row])}; expected {show(expected[row])}.",
            "Compare every id of the batch with the number of the padding.",
        )
    yield "each row allows its real words, and nothing else"


@exercise(
    3,
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
    4,
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
