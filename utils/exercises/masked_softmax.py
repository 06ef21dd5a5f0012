"""Checks of the exercises of chapters/masked_softmax."""

import math
from collections.abc import Iterator

import torch

from utils.attention import length_mask
from utils.exercises.checking import (
    Mistake,
    ReadersFunction,
    Wrong,
    as_number,
    as_tensor,
    choose,
    compare_with_rubric,
    exercise,
    expect,
    expect_close,
    recognise,
    show,
)

PAD = 0


@exercise(1, "predict", "Write down the three exponentials first, and then divide by their sum.")
def filled_with_zero(answer: object) -> Iterator[str]:
    yield from choose(
        answer,
        right="c",
        reason="the exponential of 0 is 1, more than those of -1 and -2, so the padding gets the largest weight.",
        wrong={
            "a": "0 is a score like any other. Its exponential is 1, not 0: only -inf has the exponential 0.",
            "b": "the weights of one row sum to 1. What the padding gets is taken from the real words.",
            "d": "equal weights need equal scores, and these are -1, -2 and 0.",
        },
    )


_EXPONENTIALS = (
    "These are the exponentials. They are not weights yet, because they do not sum to 1.",
    "Divide each exponential by the sum of the allowed ones.",
)
#: Numbers that learners get for exercise 2.
NOT_MASKED_WEIGHTS = (
    Mistake(
        (1 / 153, 3 / 153, 1 - 4 / 153),
        "These are the weights without the mask: the third word takes 0.97 of them.",
        "The third word is padding: its score becomes -inf, whatever it was.",
    ),
    Mistake((25, 75, 0), "These are per cent.", "A weight is a number from 0 to 1: 10 % is 0.1."),
    Mistake((1, 3, 0), *_EXPONENTIALS),
    Mistake((1, 3, 148.41), *_EXPONENTIALS),
)


@exercise(
    2,
    "compute",
    "The exponential of ln 3 is 3, and the exponential of 0 is 1.",
    "The forbidden score is replaced by -inf before the softmax, so the sum has two terms only.",
)
def weights_by_hand(first: object, second: object, third: object) -> Iterator[str]:
    weights = [as_number(w, name=name) for w, name in ((first, "w1"), (second, "w2"), (third, "w3"))]

    expect(
        -math.inf not in weights,
        "-inf is a score, and not a weight.",
        "The weight is the exponential of the score, divided by the sum of the exponentials.",
    )
    expect(
        min(weights) >= 0, f"{show(min(weights))} is a negative weight.", "An exponential is never negative."
    )
    recognise(weights, NOT_MASKED_WEIGHTS)
    expect(
        abs(weights[2]) < 1e-6,
        f"the padding has the weight {show(weights[2])}; expected exactly 0.",
        "Which score must the padding have, so that its exponential is 0?",
    )
    yield "the padding has the weight 0"
    expect(
        abs(sum(weights) - 1) < 0.006,
        f"the weights of the two real words sum to {show(sum(weights))}; expected 1.",
        "Divide by the sum over the allowed words alone.",
    )
    yield "the weights of the real words sum to 1"
    expect(
        abs(weights[0] - 0.75) > 0.006,
        "The two weights are exchanged: the larger score must get the larger weight.",
    )
    expect(
        abs(weights[0] - 0.25) < 0.006,
        f"the first weight is {show(weights[0])}; expected another number.",
        "The ratio of two weights is the exponential of the difference of their scores: here it is 3.",
    )
    yield "the ratio of the weights is e to the difference of the scores, which is 3"


@exercise(
    3,
    "implement",
    "A key may be attended to where its word number is not that of the padding, 0.",
    "`ids != PAD` has the shape (batch, keys). Give it an axis for the queries with `[:, None, :]`.",
)
def mask_from_ids(answer: ReadersFunction) -> Iterator[str]:
    ids = torch.tensor([[7, PAD]])
    result = answer(ids)
    tensor = as_tensor(result, name="the mask")
    flat = tensor.flatten().tolist()
    expect(
        tensor.dtype == torch.bool or flat != [1],
        "the result holds the length of the sentence, [1]; expected True or False for each key.",
        "A mask says of each key whether a query may attend to it.",
    )
    expect(
        tensor.dtype == torch.bool,
        f"the mask holds {show(flat)}; expected True and False.",
        "A comparison such as `ids != PAD` gives True and False.",
    )
    yield "the mask is boolean"
    expect(
        flat != [False, True],
        f"for the ids {show(ids)} the mask is [False, True]: it is True at the padding. True must mean 'may attend'.",
    )
    expect(
        tensor.numel() == 2,
        f"for ids of shape (1, 2) the mask has the shape {tuple(tensor.shape)}; expected (1, 1, 2).",
        "One row for each sentence serves all its queries, and it has one place for each id.",
    )
    expect(
        flat == [True, False],
        f"for the ids {show(ids)} the mask is {show(tensor)}; expected [[[True, False]]].",
    )
    yield "True means 'may attend'"
    batch = torch.tensor([[5, 3, 9, 4, 2], [8, 6, PAD, PAD, PAD], [1, PAD, PAD, PAD, PAD]])
    mask = as_tensor(answer(batch), name="the mask")
    expect(
        mask.shape != batch.shape,
        "for ids of shape (3, 5) the mask has the shape (3, 5), without an axis of queries; expected (3, 1, 5).",
        "Scores have the shape (batch, queries, keys). A mask of shape (3, 5) would meet their last two axes.",
    )
    expect(
        tuple(mask.shape) == (3, 1, 5),
        f"for ids of shape (3, 5) the mask has the shape {tuple(mask.shape)}; expected (3, 1, 5).",
        "The axis of size 1 stands in the middle, where scores have their queries.",
    )
    yield "the shape is (batch, 1, keys)"
    expected = length_mask(torch.tensor([5, 2, 1]), 5)
    for row, (got_row, expected_row) in enumerate(zip(mask, expected, strict=True)):
        expect(
            got_row.equal(expected_row),
            f"the ids {show(batch[row])} of row {row} get the mask {show(got_row)}; expected {show(expected_row)}.",
            "Compare every id of the batch with the number of the padding.",
        )
    yield "each row allows its real words, and nothing else"


#: Lengths that learners get in exercise 4 for one sentence of 2 words and 3 queries.
LENGTHS = (
    Mistake((1, 2, 3), "query 2 sees a padded key.", "No query may see more keys than its sentence has."),
    Mistake((2, 2, 2), "query 0 sees key 1, which comes later.", "Query i may see i + 1 keys at most."),
    Mistake(
        (1, 2, 0),
        "query 2, at a padded position, sees nothing.",
        "A query at a padded position sees all real words of its sentence.",
    ),
    Mistake(
        (2, 2, 3),
        "each of them is the larger of two limits.",
        "Both limits hold, so the smaller one decides.",
    ),
    Mistake((1, 1, 1), "query 1 does not see key 1, itself.", "A sentence of 2 words has the keys 0 and 1."),
)


def _lengths(answer: ReadersFunction, valid: list[int], num_queries: int) -> torch.Tensor:
    result = answer(torch.tensor(valid), num_queries)
    lengths = as_tensor(result, name="the result")
    expect(
        not isinstance(result, torch.Tensor) or not result.is_floating_point(),
        f"the lengths have the type {getattr(result, 'dtype', '')}, which `length_mask` refuses.",
        "Lengths are integers: `torch.arange(1, 4)`, without a point.",
    )
    expect(
        lengths.dtype != torch.bool,
        "the result is a mask; expected lengths, which `length_mask` turns into a mask.",
        "Return a number for each query: how many keys it may see.",
    )
    expect(
        tuple(lengths.shape) != (len(valid),),
        f"the result has the shape {tuple(lengths.shape)}: one length per sentence. Expected one for each query.",
        "Bring the lengths into a column with `valid_lens[:, None]`.",
    )
    shape = (len(valid), num_queries)
    expect(
        tuple(lengths.shape) == shape,
        f"for {len(valid)} {'sentence' if len(valid) == 1 else 'sentences'} and {num_queries} queries the shape is "
        f"{tuple(lengths.shape)}; expected {shape}.",
        "Take the number of queries from `num_queries`."
        if lengths.dim() == 2 and len(lengths) == len(valid)
        else "There is one row for each sentence, and it has one length for each query.",
    )
    return lengths


@exercise(
    4,
    "implement",
    "Without padding query i may see the keys 0 to i, so i + 1 keys. It never sees more keys than its sentence has "
    "words.",
    "The limit is the smaller of i + 1 and the length of the sentence: `torch.minimum` with one row and one column.",
)
def causal_lens(answer: ReadersFunction) -> Iterator[str]:
    lengths = _lengths(answer, [2], 3)[0].tolist()
    yield "there is one length for each query"
    case = "for one sentence of 2 words and 3 queries the lengths are "
    expect(
        lengths[0] != 0,
        case + f"{show(lengths)}: query 0 sees nothing. It sees key 0, itself, so its length is 1.",
        "Positions count from 0, lengths from 1.",
    )
    yield "query 0 sees itself"
    recognise(lengths, LENGTHS, f"{case}{show(lengths)}: ", " Expected [1, 2, 2].")
    expect(lengths == [1, 2, 2], case + f"{show(lengths)}; expected [1, 2, 2].")
    for valid, num_queries in (([7, 3, 1], 7), ([5, 2], 3), ([0, 4], 5)):
        expected = torch.minimum(torch.arange(1, num_queries + 1), torch.tensor(valid)[:, None])
        expect_close(
            _lengths(answer, valid, num_queries),
            expected,
            f"for the lengths {valid} and {num_queries} queries",
        )
    yield "no query sees a later word or padding"


@exercise(
    5,
    "experiment",
    "On paper the sum of the first softmax cancels. In float32 a weight can be rounded to 0 before you divide by it.",
    "Give a forbidden word a score so high that the allowed words get weights that round to 0.",
)
def renormalised(answer: ReadersFunction, bad_scores: object) -> Iterator[str]:
    _three_keys_by_hand(answer)
    generator = torch.Generator().manual_seed(3)
    scores = torch.randn(2, 3, 5, generator=generator)
    allowed = length_mask(torch.tensor([5, 2]), 5)
    expect_close(
        answer(scores, allowed),
        _softmax_of_allowed(scores, allowed),
        "for a batch of shape (2, 3, 5)",
        "Sum over the last axis, the keys, and keep that axis: `keepdim=True`.",
        name="the result",
    )
    large, all_allowed = torch.tensor([[100.0, 100.0]]), torch.tensor([[True, True]])
    expect_close(
        answer(large, all_allowed),
        torch.tensor([[0.5, 0.5]]),
        "for the scores [100, 100], both allowed",
        "e to the 100 does not fit into float32. Take `torch.softmax`, which subtracts the largest score first.",
        name="the result",
    )
    yield "multiplying and dividing again gives the weights of the masked softmax"
    bad = as_tensor(
        bad_scores,
        "Write one row of four scores: `torch.tensor([[0.0, 1.0, 2.0, 3.0]])` has this shape.",
        shape=(1, 4),
        name="bad_scores",
    ).float()
    expect(
        bad.isfinite().all() and bad.abs().max() <= 200,
        f"bad_scores is {show(bad)}; expected finite numbers between -200 and 200.",
        "Two scores between -200 and 200 can be far enough apart.",
    )
    first_two = torch.tensor([[True, True, False, False]])
    result = as_tensor(answer(bad, first_two), shape=(1, 4), name="for bad_scores the result")
    right = _softmax_of_allowed(bad, first_two)
    rounded_away = torch.softmax(bad, dim=-1)[first_two].sum() == 0
    if torch.allclose(result, right.double(), atol=1e-4):
        expect(
            not rounded_away,
            f"for bad_scores {show(bad)} your function gives the right weights, {show(result)}: it does not fail.",
            "Keep to the three steps, in float32: the ordinary softmax of *all* scores, times the mask, divided by the "
            "sum of the row.",
        )
        raise Wrong(
            f"for bad_scores {show(bad)} both ways give the same weights: {show(right[first_two])} for the two allowed "
            "words.",
            "The sum that you divide by must be 0, so *both* allowed words must lose all their weight. How far below "
            "the largest score must a score lie for that? The section on scores and weights has the number.",
        )
    reason = (
        "the allowed weights round to 0 before the division" if rounded_away else "the division goes wrong"
    )
    yield f"for bad_scores {reason}: your function gives {show(result)}, and the masked softmax {show(right)}"


def _softmax_of_allowed(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)


def _three_keys_by_hand(answer: ReadersFunction) -> None:
    scores, mask = torch.tensor([[1.0, 2.0, 4.0]]).log(), torch.tensor([[True, True, False]])
    one_row = (
        "Give a tensor of the shape of the scores: a forbidden key keeps its place and has the weight 0."
    )
    weights = as_tensor(answer(scores, mask), one_row, shape=(1, 3), name="the result")
    mistakes = (
        Mistake(
            (1 / 7, 2 / 7, 0),
            "they sum to 3/7",
            "After the product with the mask, divide each row by its sum.",
        ),
        Mistake((1 / 7, 2 / 7, 4 / 7), "the mask has no effect", "Multiply the softmax by the mask."),
        Mistake((0, 0, 1), "the forbidden key gets them", "True in the mask means 'may attend'."),
    )
    case = "for the scores ln [1, 2, 4] and the mask [True, True, False]"
    expected = " Expected [[0.3333, 0.6667, 0]]."
    expect(
        not torch.equal(weights[0, :2], torch.ones(2).double()),
        f"{case} the weights are {show(weights)}: the sums run over the queries.{expected}",
        "The weights of one query over all keys sum to 1: `dim=-1`.",
    )
    recognise(weights, mistakes, f"{case} the weights are {show(weights)}: ", f".{expected}", tolerance=1e-4)
    expect_close(
        weights, torch.tensor([[1 / 3, 2 / 3, 0]]), case, "Softmax first, then the mask, then the division."
    )


@exercise(6, "open")
def empty_row(answer: object) -> Iterator[str]:
    yield from compare_with_rubric(
        answer,
        (
            "It says what happens in the forward pass: every score of the row is -inf, the sum of exponentials is 0, "
            "and 0/0 is NaN.",
            "It says that the NaN does not stay in its row: any later sum over the batch, such as the loss, is NaN.",
            "It gives a better rule, weights 0 for the row, and says what the context is then: the zero vector.",
            "It names a price of that rule: the weights no longer sum to 1, so a sum of 1 cannot be used as a test.",
        ),
    )
