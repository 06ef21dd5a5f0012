"""Checks of the exercises of chapters/dot_product_attention."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from utils.attention import dot_scores, scaled_dot_scores
from utils.exercises.checking import (
    LargestTensor,
    ReadersFunction,
    as_number,
    as_parts,
    as_tensor,
    exercise,
    expect,
    expect_close,
    expect_numbers,
    show,
)
from utils.kernels import nadaraya_watson


@exercise(
    1,
    "`queries @ keys.T` has the score of query i and key j in row i and column j.",
    "The softmax runs along each row: `dim=-1`. The contexts are the product of the weights and the values.",
)
def attend_to_all(answer: ReadersFunction) -> Iterator[str]:
    queries, keys = torch.tensor([[1.0], [0.0]]), torch.tensor([[0.0], [math.log(3)]])
    values = torch.tensor([[4.0, 0.0, 1.0], [8.0, 2.0, 1.0]])
    case = "for the queries [1] and [0] and the keys [0] and [ln 3]"
    contexts, weights = as_parts(answer(queries, keys, values), "contexts", "weights")
    expect(
        getattr(contexts, "shape", None) != (2, 2),
        "the first result has the shape of the weights.",
        "Return the contexts first, and then the weights.",
    )
    mistakes = (
        (((0, math.log(3)), (0, 0)), "these are the scores", "Apply the softmax to them."),
        (((1, 3), (1, 1)), "these are the exponentials", "Divide each by the sum of its row."),
        (((1 / 2, 3 / 4), (1 / 2, 1 / 4)), "the softmax runs over the queries", "Along each row: `dim=-1`."),
        (((1 / 4, 1 / 2), (3 / 4, 1 / 2)), "rows and columns are exchanged", "A row belongs to a query."),
    )
    right = [[1 / 4, 3 / 4], [1 / 2, 1 / 2]]
    expect_close(weights, right, case, name="the result of weights", mistakes=mistakes)
    yield "each row of weights belongs to a query, and sums to 1"
    mean = "Row i of `weights @ values` is the context of query i."
    expect_close(contexts, [[7, 1.5, 1], [6, 1, 1]], case, mean, name="the result of contexts")
    queries, keys, values = inputs = _normal((3, 5), (7, 5), (7, 2))
    case = "for 3 queries and 7 keys of width 5, and values of width 2"
    contexts, weights = as_parts(answer(*inputs), "contexts", "weights")
    scaled = torch.softmax(scaled_dot_scores(queries, keys), dim=-1)
    mistakes = [
        (scaled, "the scores are divided by √5", "The loop divides by nothing; the page comes to this.")
    ]
    expected = torch.softmax(dot_scores(queries, keys), dim=-1)
    expect_close(weights, expected, case, name="the weights", mistakes=mistakes)
    expect_close(contexts, expected @ values, case, mean, name="the contexts")
    yield "each context is the sum of the values, each times its weight"
    calls = []
    for m, n in ((3, 7), (31, 37)):
        with _Calls() as counted:
            answer(*_normal((m, 5), (n, 5), (n, 2)))
        calls.append(counted.number)
    expect(
        calls[0] == calls[1],
        f"with 31 queries and 37 keys it calls functions of torch {calls[1]} times, and with 3 and 7 {calls[0]} times.",
        "Without a loop the number stays the same: use products of matrices.",
    )
    yield "it needs no loop"


class _Calls(TorchFunctionMode):
    """Counts the calls of functions of torch within its block."""

    number = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.number += 1
        return function(*args, **(kwargs or {}))


@exercise(
    3,
    "Multiply out −½‖q − k‖². Which of its three terms is the same for all keys?",
    "Half the squared length of each key has the shape (n,). It broadcasts over the rows of the scores.",
)
def gaussian_scores(answer: ReadersFunction) -> Iterator[str]:
    query, keys = torch.tensor([[1.0]]), torch.tensor([[0.0], [6.0]])
    case = "for the query [1] and the keys [0] and [6]"
    rows = "Rows are queries, columns are keys."
    scores = as_tensor(answer(query, keys), rows, shape=(1, 2), name=f"{case}, the result")
    expect(
        abs(scores.sum() - 1) > 2e-6 or scores.min() <= 0,
        f"{case} the result is {show(scores)}: these are weights.",
        "Return the scores, before the softmax.",
    )
    half = "The Gaussian kernel has ½ of the *squared* distance."
    mistakes = (
        (6, "this is the dot product alone", "Which term is missing that differs from key to key?"),
        (-30, "the whole squared length is taken away", half),
        (24, "the squared length is added", "Long keys are far away, so they must lose."),
    )
    name = "the second score minus the first"
    expect_close(scores[0, 1] - scores[0, 0], -12, case, name=name, tolerance=1e-3, mistakes=mistakes)
    yield "a long key loses half its squared length"
    queries, keys = _normal((3, 5), (7, 5))
    case = "for 3 queries and 7 keys of width 5"
    scores = as_tensor(answer(queries, keys), rows, shape=(3, 7), name=f"{case}, the result")
    scaled = (dot_scores(queries, keys) - keys.square().sum(-1) / 2) / math.sqrt(5)
    mistakes = [(torch.softmax(scaled, dim=-1), "your scores are divided by √5", "Leave it out.")]
    _, expected = nadaraya_watson(queries, keys, keys)
    expect_close(torch.softmax(scores, dim=-1), expected, case, name="the weight", mistakes=mistakes)
    yield "for keys of any length the softmax gives the weights of the kernel"
    with LargestTensor() as tensors:
        answer(*_normal((31, 41), (37, 41)))
    expect(
        tensors.peak < 31 * 37 * 41 // 2,
        f"for 31 queries and 37 keys of width 41 your function keeps {tensors.peak:,} numbers at one time: a number "
        "for each query, key and component, as in the differences of all queries and keys.",
        "Use the product of matrices `queries @ keys.T`.",
    )
    yield "it does not need all differences"


@exercise(
    4,
    "When the largest score grows from a to b, all old exponentials are too large by the factor e^(b − a).",
    "Multiply both sums by e^(a − b) before you add the new block. At the end divide one sum by the other.",
)
def attend_in_blocks(answer: ReadersFunction) -> Iterator[str]:
    yield from _three_keys_by_hand(answer)
    yield from _equals_the_layer(answer)
    m, n, block = 23, 83, 5
    with LargestTensor() as tensors:
        answer(*_normal((m, 3), (n, 3), (n, 2)), block)
    case = f"for {m} queries, {n} keys and blocks of {block}"
    next_block = "Take the next `block` keys only, `keys[start:start + block]`, and keep no earlier scores."
    for shape in sorted(tensors.shapes, key=math.prod, reverse=True):
        tells = f"{case} your function makes a tensor of shape {shape}."
        expect(n not in shape or {*shape} & {2, 3}, tells, next_block)
    expect(
        tensors.peak < m * n,
        f"{case} your function keeps up to {tensors.peak:,} numbers at one time, and all scores are {m * n:,}.",
        "Use the scores of a block at once, and do not put them into a list.",
    )
    yield "it never keeps the scores of all keys"


def _three_keys_by_hand(attend: ReadersFunction) -> Iterator[str]:
    query, keys = torch.ones(1, 1), torch.tensor([[0.0], [math.log(3)], [0.0]])
    values = torch.tensor([[1.0], [5.0], [11.0]])
    both = "A larger score turned up in the second block: both sums must become smaller."
    mistakes = {
        3: [(9, "the sum of the values is not divided", "Divide by that of the exponentials.")],
        1: [
            (17 / 3, "this is the mean of the blocks", "A block with larger scores must count more."),
            (29 / 7, "the sums were not corrected", both),
            (27 / 7, "the sum of the exponentials was not corrected", both),
            (29 / 5, "the sum of the values was not corrected", both),
        ],
        2: [],
    }
    largest = "Before the first block the largest score is −∞. What does your factor become when it grows from there?"
    for block, wrong in mistakes.items():
        case = f"for the scores [0, ln 3, 0], the values [1, 5, 11] and blocks of {block}"
        context = attend(query, keys, values, block)
        expect_close(context, [[5.4]], case, largest, name="the context", tolerance=2e-4, mistakes=wrong)
        yield f"blocks of {block} are right for three keys"


def _equals_the_layer(attend: ReadersFunction) -> Iterator[str]:
    queries, keys, values = _normal((3, 5), (11, 5), (11, 2))
    unscaled = torch.softmax(dot_scores(queries, keys), dim=-1) @ values
    mistakes = [(unscaled, "the scale is missing", "Divide by √d.")]
    one = "Each query has one context, as wide as a value."
    largest = "Subtract the largest score before the exponential."
    first = (
        "Which number is the largest score so far, before the first block? 0 is larger than all these scores."
    )
    for asking, asked, case, hint in (
        (queries, keys, "for 3 queries and 11 keys of width 5", one),
        (1000 * queries, keys, "for queries a thousand times as long", largest),
        (-1000 * keys[:3].abs() - 1000, keys.abs() + 1, "for scores that all lie below −1000", first),
    ):
        expected = torch.softmax(scaled_dot_scores(asking, asked), dim=-1) @ values
        for block in (4, 1, 7, 20):
            context, of_blocks = attend(asking, asked, values, block), f"{case} and blocks of {block}"
            expect_close(context, expected, of_blocks, hint, name="the context", mistakes=mistakes)
        yield f"{case} it equals `DotProductAttention`"


def _normal(*shapes: tuple[int, ...]) -> list[Tensor]:
    torch.manual_seed(5)
    return list(map(torch.randn, shapes))


@exercise(
    5,
    "`torch.softmax(scaled_dot_scores(x, x), dim=-1)` has the weights of a row for itself on its diagonal.",
    "Draw `x` of shape (500, 10, d), and take the mean of `weights.diagonal(dim1=-2, dim2=-1)`.",
)
def queries_are_keys(own_4: object, own_256: object, width: object) -> Iterator[str]:
    right = _own_weight(4)
    mistakes = (
        ((100 * right, 100), "these are per cent", "A weight is a number from 0 to 1."),
        ((0.52, 1), "the scale is missing", "Divide the scores by √d."),
        ((0.23, 0.23), "you divided by d", "Divide by √d."),
        ((0.116, 0.295), "this happens if the numbers lie between 0 and 1", "Take `torch.randn`."),
        ((0.1, 0.1), "this is the mean of all weights", "Take the weight of each row for itself."),
        ((1, right), "the two are exchanged", "The wider, the more a row gives to itself."),
    )
    diagonal = "Take the weight of each row for itself, not the largest one, and the mean over 500 tensors."
    expect_numbers({"own_4": own_4, "own_256": own_256}, [right, 1], mistakes, diagonal, tolerance=0.0175)
    yield f"at d = 4 a row gives itself {right:.2f} of its weight, and at d = 256 nearly all"
    chosen_width = as_number(width, name="width")
    powers = [2**power for power in range(9)]
    nine = "Measure the mean at each of these nine widths, and take the first."
    expect(chosen_width in powers, f"width is {show(chosen_width)}; expected one of {show(powers)}.", nine)
    reached = _own_weight(int(chosen_width))
    case = f"at width {int(chosen_width)} a row gives itself {reached:.3f} of its weight"
    expect(reached > 0.9, f"{case}; expected more than 0.9.", "Try the larger widths, too.")
    smallest = min(power for power in powers if _own_weight(power) > 0.9)
    expect(chosen_width == smallest, f"{case}, but a smaller width gives more than 0.9 as well.", nine)
    yield f"from width {smallest} on it gives itself more than 0.9"


def _own_weight(d: int) -> float:
    """Mean weight of a row for itself."""
    torch.manual_seed(11)
    x = torch.randn(500, 10, d)
    return torch.softmax(scaled_dot_scores(x, x), dim=-1).diagonal(dim1=-2, dim2=-1).mean().item()
