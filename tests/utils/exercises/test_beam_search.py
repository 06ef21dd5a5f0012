"""Answers to the exercises of chapters/beam_search."""

import math

import torch
from answers import Answers

from utils.exercises import beam_search as check

answers = Answers()


def as_tensors(steps, max_len):
    return tuple(map(torch.tensor, check.greedy_search.program(steps, max_len)))


answers.add(check.greedy_search, [as_tensors])
answers.add(
    check.beam_step,
    [lambda *inputs: tuple(check.beam_step.program(*inputs))],
    [(lambda *inputs: math.pi, "expected a list")],
)
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
        (([0.6, 0.3, 0.1], [[0.5, 0.3, 0.2], [0.4, 0.3, 0.3], [0.9, 0.1, 0]]), "the most probable one"),
        (([1 / 3] * 3, [[1 / 3] * 3] * 3), "is an accident"),
        (([0.4, 0.35, 0.35], SECOND), "with the sum 1.1"),
        ((FIRST, torch.tensor(SECOND).T), "the columns of second sum to 1"),
        ((FIRST, FIRST), "second has the shape (3,)"),
    ],
)
test_right, test_wrong = answers.tests()
