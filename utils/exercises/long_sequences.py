"""Checks of the exercises of chapters/long_sequences."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from utils.exercises.checking import (
    ReadersFunction,
    as_parts,
    as_tensor,
    exercise,
    expect_close,
    expect_numbers,
)


@exercise(
    2,
    "In the first block m is 2, so its exponentials are those of 2 - 2 and 0 - 2.",
    "The second block raises m to 3. Multiply the first sum by the exponential of 2 - 3, and add that of 3 - 3.",
)
def two_blocks(sum_1: object, sum_2: object, weight_1: object) -> Iterator[str]:
    one = 1 + math.exp(-2)
    two = math.exp(-1) * one + 1
    right = [one, two, math.exp(-1) / two]
    relative = "Subtract the largest score so far before you take the exponential."
    mistakes = (
        ((8.389, 28.475, 0.259), "these sums have no maximum subtracted", relative),
        ((one, one + 1, 1 / (one + 1)), "the first sum keeps its old maximum", "Multiply it by exp(2 - 3)."),
        (
            (one, math.e * one + 1, math.e / (math.e * one + 1)),
            "the old sum has grown",
            "A larger maximum makes the old exponentials smaller.",
        ),
        ((one, two, math.exp(-1)), "the last number is not yet divided", "A weight is divided by the sum."),
        (
            (one, two, 1 / two),
            "the first key has the exponential of its own block",
            "At the end m is 3, so the exponential of the first key is that of 2 - 3.",
        ),
    )
    answers = {"sum_1": sum_1, "sum_2": sum_2, "weight_1": weight_1}
    expect_numbers(answers, right, mistakes, tolerance=0.0075)
    yield "the weight is that of the softmax over all three keys"


def _read(scores: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    top = scores.max()
    parts = (scores - top).exp()
    return top, parts.sum(), parts @ values


@exercise(
    3,
    "Every exponential must have the new maximum subtracted: a half with the maximum m1 gets the factor exp(m1 - m).",
    "`m = torch.maximum(m1, m2)`, then multiply t1 and c1 by one factor, t2 and c2 by the other, and add.",
)
def merge(answer: ReadersFunction) -> Iterator[str]:
    torch.manual_seed(0)
    cases = (
        ("with the larger score in the first half", 3.0, 0.0),
        ("with the larger score in the second half", 0.0, 3.0),
        ("with scores near 200", 200.0, 198.0),
    )
    for case, first, second in cases:
        scores, values = torch.randn(7), torch.randn(7, 3)
        scores = scores + torch.tensor([first] * 3 + [second] * 4)
        one, two = _read(scores[:3], values[:3]), _read(scores[3:], values[3:])
        m, t, c = as_parts(answer(*one, *two), "m", "t", "c")
        expect_close(m, scores.max(), case, "It is the larger of m1 and m2.", name="m")
        _, total, context = _read(scores, values)
        both = "Multiply each half by the exponential of its own maximum minus m."
        swapped = (two[0] - scores.max()).exp() * one[1] + (one[0] - scores.max()).exp() * two[1]
        mistakes = [
            (one[1] + two[1], "the sums are added as they are", both),
            (swapped, "each half has the factor of the other", both),
        ]
        expect_close(t, total, case, both, name="t", mistakes=mistakes)
        same = "It gets the same factors as t."
        plain = (one[2] + two[2], "the contexts are added as they are", same)
        divided = (
            context / total,
            "c is already divided by t",
            "Return the sum; the division comes at the end.",
        )
        expect_close(c, context, case, same, name="c", mistakes=[plain, divided])
        yield f"{case} m, t and c are those of all keys"


@exercise(
    4,
    "First ask the state: `key @ state`. The difference from the value is what must be added.",
    "`state + torch.outer(key, value - key @ state)`",
)
def replace(answer: ReadersFunction) -> Iterator[str]:
    torch.manual_seed(0)
    for d, d_value in ((3, 2), (5, 7)):
        case = f"with d = {d}"
        state, value = torch.randn(d, d_value), torch.randn(d_value)
        axes = torch.linalg.qr(torch.randn(d, d))[0]
        key, other = axes[0], axes[1]
        right = state + torch.outer(key, value - key @ state)
        result = as_tensor(answer(state, key, value), shape=(d, d_value), name="the new state").float()
        ask = "What does the state answer to the key before you write?"
        mistakes = [
            (key @ (state + torch.outer(key, value)), "the old value is still in the answer", ask),
            (key @ (state - torch.outer(key, value - key @ state)), "the change has the wrong sign", ask),
        ]
        expect_close(key @ result, value, case, ask, name="the answer to the key", mistakes=mistakes)
        yield f"{case} the state answers the new value"
        rest = "Change the state by an outer product of the key, and leave the rest as it is."
        expect_close(other @ result, other @ right, case, rest, name="the answer to an orthogonal key")
        yield f"{case} it answers to an orthogonal key as before"
