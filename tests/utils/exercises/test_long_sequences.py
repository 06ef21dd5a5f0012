"""Answers to the exercises of chapters/long_sequences."""

from functools import partial

import torch
from answers import Answers

from utils.exercises import long_sequences as check

answers = Answers()


def online(q, k, v, block, *, shrink=True, divided=True, scaled=True, relative=True, own=False):
    m = torch.full((len(q), 1), -torch.inf)
    t, c = torch.zeros(len(q), 1), torch.zeros(len(q), v.shape[1])
    for start in range(0, len(k), block):
        scores = q @ k[start : start + block].T / (q.shape[1] ** 0.5 if scaled else 1)
        higher = torch.maximum(m, scores.amax(1, keepdim=True)) if relative else torch.zeros_like(m)
        if own:  # the largest score of the block alone
            higher = scores.amax(1, keepdim=True)
        factor = (m - higher).exp() if shrink and relative else 1
        parts = (scores - higher).exp()
        t, c, m = (
            factor * t + parts.sum(1, keepdim=True),
            factor * c + parts @ v[start : start + block],
            higher,
        )
    return c / t if divided else c


answers.add(
    check.online,
    [online],
    [
        (partial(online, shrink=False), "keep their old maximum"),
        (partial(online, divided=False), "is not divided by t"),
        (partial(online, scaled=False), "are not divided by √d"),
        (partial(online, relative=False), "with scores near 1,000, the contexts at"),
        (lambda q, k, v, block: online(q, k[:block], v[:block], block), "only the first block counts"),
        (partial(online, own=True), "last block of scores near -1,000, the contexts at"),
        (
            lambda q, k, v, block: online(
                q, k[: len(k) // block * block], v[: len(k) // block * block], block
            ),
            "which is shorter, is left out",
        ),
        (lambda q, k, v, block: (q @ k.T / q.shape[1] ** 0.5).softmax(-1) @ v, "a tensor of all 21 scores"),
    ],
)


def recurrent(q, k, v, *, add_first=True, divided=True, all_keys=True, turned=False):
    state, z, contexts = torch.zeros(q.shape[1], v.shape[1]), torch.zeros(q.shape[1]), []
    for one, key, value in zip(q, k, v, strict=True):
        old = state, z
        state, z = state + torch.outer(key, value), z + key if all_keys else key
        if turned:
            state = state + torch.outer(value, key)
        used, total = (state, z) if add_first else old
        contexts.append(one @ used / ((one @ total).clamp(min=1e-9) if divided else 1))
    return torch.stack(contexts)


answers.add(
    check.recurrent,
    [recurrent, lambda q, k, v: (q @ k.T).tril() @ v / (q @ k.T).tril().sum(1, keepdim=True)],
    [
        (partial(recurrent, divided=False), "not divided by q"),
        (partial(recurrent, all_keys=False), "the last key alone"),
        (partial(recurrent, add_first=False), "before it is added"),
        (lambda q, k, v: (q @ k.T) @ v / (q @ k.T).sum(1, keepdim=True), "also reads the later words"),
        (lambda q, k, v: (q @ k.T).tril() @ v / (q @ k.T).sum(1, keepdim=True), "the keys of later words"),
        (partial(recurrent, turned=True), "raised RuntimeError"),
    ],
)


def merged(m1, t1, c1, m2, t2, c2):
    m = torch.maximum(m1, m2)
    one, two = (m1 - m).exp(), (m2 - m).exp()
    return m, one * t1 + two * t2, one * c1 + two * c2


def crossed(m1, t1, c1, m2, t2, c2):
    m = torch.maximum(m1, m2)
    one, two = (m1 - m).exp(), (m2 - m).exp()
    return m, two * t1 + one * t2, two * c1 + one * c2


def averaged(*halves):
    m, total, context = merged(*halves)
    return m, total, context / total


def not_shrunk(m1, t1, c1, m2, t2, c2):
    m, total, _ = merged(m1, t1, c1, m2, t2, c2)
    return m, total, c1 + c2


def without_maximum(m1, t1, c1, m2, t2, c2):
    total = m1.exp() * t1 + m2.exp() * t2
    m = torch.maximum(m1, m2)
    return m, total / m.exp(), (m1.exp() * c1 + m2.exp() * c2) / m.exp()


answers.add(
    check.merge,
    [merged],
    [
        (
            lambda m1, *others: (m1, *merged(m1, *others)[1:]),
            "with the larger score in the second half, m is",
        ),
        (
            lambda m1, t1, c1, m2, t2, c2: (torch.maximum(m1, m2), t1 + t2, c1 + c2),
            "sums are added as they are",
        ),
        (crossed, "the factor of the other"),
        (averaged, "already divided by t"),
        (not_shrunk, "contexts are added as they are"),
        (without_maximum, "with scores near 200, t is"),
    ],
)
answers.add(
    check.replace,
    [
        lambda state, key, value: state + torch.outer(key, value - key @ state),
        lambda state, key, value: state - torch.outer(key, key) @ state + torch.outer(key, value),
    ],
    [
        (lambda state, key, value: state + torch.outer(key, value), "still in the answer"),
        (lambda state, key, value: state - torch.outer(key, value - key @ state), "the wrong sign"),
        (lambda state, key, value: torch.outer(key, value), "the answer to an orthogonal key"),
        (lambda state, key, value: torch.outer(value, key), "has the shape (2, 3)"),
    ],
)
test_right, test_wrong = answers.tests()
