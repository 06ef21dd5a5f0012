"""Answers to the exercises of chapters/transformer."""

import math

import torch
from answers import Answers

from utils.exercises import transformer as check

answers = Answers()


def split(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def all_heads(
    q, k, v, num_heads, *, cut=split, scale=None, join=lambda heads: heads.transpose(1, 2).flatten(2)
):
    q, k, v = (cut(x, num_heads) for x in (q, k, v))
    weights = (q @ k.mT / (scale or q.shape[-1]) ** 0.5).softmax(dim=-1)
    return join(weights @ v), weights


def looped(q, k, v, num_heads):
    parts = [
        all_heads(*each, 1) for each in zip(*(x.chunk(num_heads, dim=-1) for x in (q, k, v)), strict=True)
    ]
    return torch.cat([context for context, _ in parts], dim=-1), torch.cat(
        [weights for _, weights in parts], dim=1
    )


answers.add(
    check.all_heads,
    [all_heads, looped],
    [
        (lambda q, *rest: all_heads(q, *rest, scale=q.shape[-1]), "divided by √d"),
        (
            lambda *a: all_heads(*a, cut=lambda x, h: x.reshape(len(x), h, x.shape[1], -1)),
            "the weights at [0, 0, 0, 0]",
        ),
        (lambda q, *rest: all_heads(q, *rest, join=lambda heads: heads.reshape(q.shape)), "are mixed"),
        (lambda *a: (all_heads(*a)[0], all_heads(*a)[1].transpose(1, 2)), "the weights has the shape"),
        (lambda *a: all_heads(*a)[0], "returns one thing"),
        (lambda *a: (all_heads(*a)[0][..., :1], all_heads(*a)[1]), "the contexts has the shape"),
    ],
)
answers.add(
    check.exchanged_query,
    [(0.055, 0.931, 0.013), (0.06, 0.93, 0.01), ("0.05", torch.tensor(0.93), [0.01])],
    [
        ((0, 2.83, -1.41), "expected numbers from 0 to 1"),
        ((0.02, 0.98, 0.0), "the scale is missing"),
        ((0.11, 0.84, 0.04), "are divided by 2"),
        ((0.93, 0.06, 0.01), "with its own vector"),
        ((0.06, 0.01, 0.93), "the order is wrong"),
        ((5.5, 93.1, 1.3), "in per cent"),
        ((0.2, 0.3, 0.1), "with the sum 0.6"),
        ((0.3, 0.6, 0.1), "w_white is 0.3; expected another"),
    ],
)


def step(query, key, value, past_keys, past_values, scale=math.sqrt):
    keys, values = torch.cat([past_keys, key[None]]), torch.cat([past_values, value[None]])
    return torch.softmax(keys @ query / scale(len(query)), dim=0) @ values, keys, values


def not_itself(query, key, value, past_keys, past_values):
    context, keys, values = step(query, key, value, past_keys, past_values)
    weights = torch.softmax(past_keys @ query / math.sqrt(len(query)), dim=0)
    return weights @ past_values if len(past_keys) else context, keys, values


def in_front(query, key, value, past_keys, past_values):
    context, *_ = step(query, key, value, past_keys, past_values)
    return context, torch.cat([key[None], past_keys]), torch.cat([value[None], past_values])


answers.add(
    check.one_more_word,
    [step],
    [
        (lambda *inputs: step(*inputs, scale=lambda d: 1), "the scale is missing"),
        (lambda *inputs: step(*inputs, scale=lambda d: d), "divided by d"),
        (not_itself, "does not look at itself"),
        (lambda *inputs: (step(*inputs)[0], *inputs[3:]), "`keys` still has 0 rows"),
        (in_front, "stands before the others"),
        (lambda *inputs: (step(*inputs)[0], *step(*inputs)[:0:-1]), "`keys` has the shape (1, 3)"),
    ],
)


def turned(angle: float, length: float) -> list[list[float]]:
    sin, cos = length * math.sin(angle), length * math.cos(angle)
    return [[cos, -sin], [sin, cos]]


answers.add(
    check.word_before,
    [turned(-0.5, 60), torch.tensor(turned(-0.5, 30)), turned(-0.55, 100)],
    [
        (turned(0, 60), "at itself"),
        (turned(0.5, 60), "at the word after it"),
        (turned(-1.0, 60), "second word before"),
        (turned(-0.5, 2), "only 0."),
        (turned(0, 0), "nearly equal"),
        (turned(math.pi, 60), "word 1 (counted from 0)"),
        ([1, 2], "has the shape (2,)"),
    ],
)
test_right, test_wrong = answers.tests()
