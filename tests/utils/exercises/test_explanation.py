"""Answers to the exercises of chapters/explanation."""

import torch
from answers import Answers

from utils.exercises import explanation as check

answers = Answers()


answers.add(
    check.same_context,
    [[0.325, 0.325, 0.175, 0.175, 0.0], torch.tensor([0.15, 0.5, 0.35, 0.0, 0.0])],
    [
        ([0.1, 0.1, 0.1, 0.1, 0.6], "the overlap with the honest"),
        ([0.25, 0.25, 0.25, 0.25, 0], "the context is [2, 2]"),
        ([0.5, 0.5, 0.2, 0.2, 0], "with the sum 1.4"),
        ([0.5, 0.5], "the shape (2,)"),
    ],
)
test_right, test_wrong = answers.tests()
