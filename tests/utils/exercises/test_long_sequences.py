"""Answers to the exercises of chapters/long_sequences."""

import torch
from answers import Answers

from utils.exercises import long_sequences as check

answers = Answers()
answers.add(
    check.two_blocks,
    [(1.135, 1.418, 0.259), (1.14, 1.42, 0.26), ("1.13", torch.tensor(1.42), [0.26])],
    [
        ((8.39, 28.47, 0.26), "no maximum subtracted"),
        ((1.14, 2.14, 0.47), "keeps its old maximum"),
        ((1.14, 4.09, 0.67), "the old sum has grown"),
        ((1.14, 1.42, 0.37), "not yet divided"),
        ((1.14, 1.42, 0.71), "the exponential of its own block"),
        ((1.14, 1.2, 0.26), "sum_2 is 1.2; expected another"),
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
