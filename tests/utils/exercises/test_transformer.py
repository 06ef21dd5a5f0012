"""Answers to the exercises of chapters/transformer."""

import math

import torch
from answers import Answers
from torch.nn.functional import scaled_dot_product_attention

from utils.exercises import transformer as check

answers = Answers()


def head_by_head(q, k, v, num_heads):
    parts = list(zip(*(x.chunk(num_heads, dim=-1) for x in (q, k, v)), strict=True))
    weights = [scaled_dot_product_attention(q, k, torch.eye(k.shape[1])) for q, k, _ in parts]
    contexts = [weight @ v for weight, (_, _, v) in zip(weights, parts, strict=True)]
    return torch.cat(contexts, dim=-1), torch.stack(weights, dim=1)


answers.add(
    check.all_heads,
    [head_by_head],
    [(lambda *inputs: (inputs[0][..., :1], head_by_head(*inputs)[1]), "the contexts have the shape")],
)


answers.add(
    check.exchanged_query,
    [(0.178, 0.734, 0.088), (0.18, 0.73, 0.09), ("0.18", torch.tensor(0.73), [0.09])],
    [
        ((0, 1.41, -0.71), "expected numbers from 0 to 1"),
        ((17.8, 73.4, 8.8), "in per cent"),
        ((0.3, 0.6, 0.1), "w_white is 0.3; expected another"),
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
        ([1, 2], "the shape (2,)"),
    ],
)
test_right, test_wrong = answers.tests()
