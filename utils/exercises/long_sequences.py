"""Checks of the exercises of chapters/long_sequences."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from utils.exercises.checking import (
    LargestTensor,
    ReadersFunction,
    as_parts,
    as_tensor,
    exercise,
    expect,
    expect_close,
)


@exercise(
    1,
    "When a block brings a larger score, multiply both old sums by exp(m - m') before you add those of the block.",
    "Subtract the new maximum from the scores of the block, and divide by the total once, at the end.",
)
def online(answer: ReadersFunction) -> Iterator[str]:
    generator = torch.Generator().manual_seed(11)
    low = -1000.0
    for shifts, block, says in (
        ([0.0] * 7, 7, "with all keys in one block"),
        ([0.0] * 7, 3, "with blocks of 3 for 7 keys"),
        ([1000.0] * 11, 2, "with scores near 1,000"),
        ([low] * 13, 1, "with scores near -1,000"),
        ([0.0] * 4 + [low] * 2, 2, "with a last block of scores near -1,000"),
        ([low] * 2 + [0.0] * 4, 2, "with a first block of scores near -1,000"),
    ):
        num_keys = len(shifts)
        q, k = torch.randn(3, 5, generator=generator), torch.randn(num_keys, 5, generator=generator)
        q[:, 0], k[:, 0] = 1.0, k[:, 0] + torch.tensor(shifts) * math.sqrt(5)
        v = torch.randn(num_keys, 2, generator=generator)
        scores = q @ k.T / math.sqrt(5)
        expected = scores.softmax(-1) @ v
        parts = (scores - scores.amax(-1, keepdim=True)).exp()
        mistakes = [
            (parts @ v, "c is not divided by t", "At the end the context is c / t."),
            (
                (q @ k.T).softmax(-1) @ v,
                "the scores are not divided by √d",
                "Divide them by `math.sqrt(q.shape[1])`.",
            ),
            (v.mean(0).expand(3, 2), "each key has the same weight", "Use the scores of the block."),
        ]
        first = scores[:, :block].softmax(-1) @ v[:block]
        last = scores[:, (num_keys - 1) // block * block :]
        mistakes += [
            (first, "only the first block counts", "Add the sums of every block."),
            (last.softmax(-1) @ v[-last.shape[1] :], "only the last block counts", "Keep the old sums."),
            (
                _unshrunk(scores, v, block),
                "the old sums keep their old maximum",
                "Multiply both by exp(m - m').",
            ),
            (
                scores[:, : num_keys // block * block].softmax(-1) @ v[: num_keys // block * block],
                "the last block, which is shorter, is left out",
                "`range(0, len(k), block)` begins the last block too.",
            ),
        ]
        with LargestTensor() as largest:
            result = answer(q, k, v, block)
        result = as_tensor(result, "There is a context for each query.", shape=(3, 2))
        hint = "m is the largest score of all keys so far, and both old sums get the factor exp(m - m')."
        expect_close(result, expected, says, hint, name="the contexts", mistakes=mistakes)
        expect(
            block == num_keys or (3, num_keys) not in largest.shapes,
            f"{says} your function makes a tensor of all {3 * num_keys} scores.",
            "Compute the scores of one block inside the loop.",
        )
        yield f"{says} the contexts are those of the softmax"


def _unshrunk(scores: Tensor, values: Tensor, block: int) -> Tensor:
    """The contexts if the sums of earlier blocks keep the maximum that they were made with."""
    total = context = torch.zeros(())
    for start in range(0, scores.shape[1], block):
        top = scores[:, : start + block].amax(-1, keepdim=True)
        parts = (scores[:, start : start + block] - top).exp()
        total, context = total + parts.sum(-1, keepdim=True), context + parts @ values[start : start + block]
    return context / total


@exercise(
    2,
    "Begin with S = 0 and z = 0. A word adds the outer product of its key and its value to S, and its key to z.",
    "First add the word, then answer: each word also averages over itself.",
)
def recurrent(answer: ReadersFunction) -> Iterator[str]:
    generator = torch.Generator().manual_seed(13)
    for num, d, d_v in ((1, 3, 2), (7, 5, 2), (11, 2, 3)):
        q, k = (torch.rand(num, d, generator=generator) + 0.1 for _ in range(2))
        v = torch.randn(num, d_v, generator=generator)
        kernel = q @ k.T
        causal = kernel.tril()
        expected = causal @ v / causal.sum(1, keepdim=True)
        before = kernel.tril(-1)
        mistakes = [
            (causal @ v, "it is not divided by q · z", "z is the sum of the keys so far."),
            (causal @ v / kernel.diagonal()[:, None], "z holds the last key alone", "Add each key to z."),
            (
                causal @ v / kernel.sum(1, keepdim=True),
                "z holds the keys of later words",
                "Add one key at each word.",
            ),
            (
                kernel @ v / kernel.sum(1, keepdim=True),
                "each word also reads the later words",
                "Answer inside the loop, with the state of this word.",
            ),
            (
                before @ v / before.sum(1, keepdim=True).clamp(min=1e-9),
                "a word answers before it is added",
                "Each word also averages over itself.",
            ),
        ]
        case = f"for {num} word{'s' * (num > 1)}"
        result = as_tensor(answer(q, k, v), "There is a context for each word.", shape=(num, d_v))
        expect_close(result, expected, case, name="the contexts", mistakes=mistakes)
        yield f"{case} the contexts are those of the average"


def _read(scores: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    top = scores.max()
    parts = (scores - top).exp()
    return top, parts.sum(), parts @ values


@exercise(
    4,
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
    5,
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
