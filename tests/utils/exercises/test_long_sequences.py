"""Answers to the exercises of chapters/long_sequences."""

import torch
from answers import Answers

from utils.exercises import long_sequences as check

answers = Answers()


def online(q, k, v, block):
    m, t, c = torch.full((len(q),), -torch.inf), torch.zeros(len(q)), torch.zeros(len(q), v.shape[1])
    for keys, values in zip(k.split(block), v.split(block), strict=True):
        scores = q @ keys.T / q.shape[1] ** 0.5
        new = torch.maximum(m, scores.amax(1))
        parts = torch.exp(scores - new[:, None])
        t, c, m = (
            torch.exp(m - new) * t + parts.sum(1),
            torch.exp(m - new)[:, None] * c + parts @ values,
            new,
        )
    return c / t[:, None]


answers.add(
    check.online,
    [online],
    [(lambda q, k, v, block: (q @ k.T / q.shape[1] ** 0.5).softmax(-1) @ v, "a tensor of all 21 scores")],
)


def recurrent(q, k, v, *, turned=False):
    state, z, contexts = torch.zeros(q.shape[1], v.shape[1]), torch.zeros(q.shape[1]), []
    for query, key, value in zip(q, k, v, strict=True):
        state, z = state + (torch.outer(value, key) if turned else torch.outer(key, value)), z + key
        contexts.append(query @ state / (query @ z))
    return torch.stack(contexts)


answers.add(
    check.recurrent,
    [recurrent],
    [(lambda *given: recurrent(*given, turned=True), "raised RuntimeError")],
)


def merged(m1, t1, c1, m2, t2, c2):
    m = max(m1, m2)
    return m, (m1 - m).exp() * t1 + (m2 - m).exp() * t2, (m1 - m).exp() * c1 + (m2 - m).exp() * c2


def without_maximum(m1, t1, c1, m2, t2, c2):
    m, total = torch.maximum(m1, m2), m1.exp() * t1 + m2.exp() * t2
    return m, total / m.exp(), (m1.exp() * c1 + m2.exp() * c2) / m.exp()


answers.add(check.merge, [merged], [(without_maximum, "with scores near 200, t is")])
answers.add(
    check.replace,
    [lambda state, key, value: state - torch.outer(key, key) @ state + torch.outer(key, value)],
    [(lambda state, key, value: torch.outer(value, key), "has the shape (2, 3)")],
)
test_right, test_wrong = answers.tests()
