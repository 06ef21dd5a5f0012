"""Answers to the exercises of chapters/transformer."""

import math
from functools import partial

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


def layer(x, attention, network, norms, *, after=False, bare=(False, False), second=1, kept=True):
    parts = (attention, norms[0]), (network, norms[second])
    for (part, norm), is_bare in zip(parts, bare, strict=True):
        if after:
            x = norm(x + part(x))
        else:
            x = (x if kept or part is attention else 0) + part(x if is_bare else norm(x))
    return x


def from_the_beginning(x, attention, network, norms):
    return x + attention(norms[0](x)) + network(norms[1](x))


def added_to_the_norm(x, attention, network, norms):
    y = norms[0](x)
    x = y + attention(y)
    return x + network(norms[1](x))


answers.add(
    check.layer,
    [layer],
    [
        (partial(layer, after=True), "stand after the sums"),
        (partial(layer, bare=(False, True)), "the network reads vectors without"),
        (partial(layer, bare=(True, False)), "attention reads vectors without"),
        (partial(layer, kept=False), "nothing is added"),
        (partial(layer, second=0), "the same norm"),
        (from_the_beginning, "what stood before attention"),
        (added_to_the_norm, "is added to norm(x)"),
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
