"""Answers to the exercises of chapters/beam_search."""

import math

import torch
from answers import Answers

from utils.exercises import beam_search as check

answers = Answers()
FIRST = [0.4, 0.35, 0.25]
SECOND = [[0.34, 0.33, 0.33], [0.4, 0.3, 0.3], [0.9, 0.05, 0.05]]
answers.add(
    check.missed_by_the_beam,
    [
        (FIRST, SECOND),
        (
            torch.tensor([0.3, 0.36, 0.34]),
            torch.tensor([[0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]]),
        ),
    ],
    [
        (
            ([0.6, 0.3, 0.1], [[0.5, 0.3, 0.2], [0.4, 0.3, 0.3], [0.9, 0.1, 0]]),
            "which is the most probable one",
        ),
        (([1 / 3] * 3, [[1 / 3] * 3] * 3), "is an accident"),
        (([0.4, 0.35, 0.35], SECOND), "with the sum 1.1"),
        ((FIRST, torch.tensor(SECOND).T), "the columns of second sum to 1"),
        ((FIRST, FIRST), "second has the shape (3,)"),
    ],
)
answers.add(
    check.may_stop,
    [
        lambda f, u: len(f) > 0 and max(f) >= max(u, default=-math.inf),
        lambda f, u: any(all(one >= other for other in u) for one in f),
    ],
    [
        (lambda f, u: not u, "all finished ones are better"),
        (lambda f, u: bool(f), "can still end above"),
        (lambda f, u: bool(f) and min(f) >= max(u, default=-math.inf), "the best finished one, -1.5"),
        (lambda f, u: bool(f) and max(f) > max(u, default=-math.inf), "that is equal"),
        (
            lambda f, u: all(any(one >= other for one in f) for other in u) or not f,
            "no hypothesis is finished",
        ),
        (lambda f, u: bool(f) and max(f) >= max(u), "raised ValueError"),
        (lambda f, u: max(f), "expected True or False"),
    ],
)
test_right, test_wrong = answers.tests()
