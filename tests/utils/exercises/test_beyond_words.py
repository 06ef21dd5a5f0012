"""Answers to the exercises of chapters/beyond_words."""

import torch
from answers import Answers

from utils.exercises import beyond_words as check

answers = Answers()


def in_loops(image, size):
    rows = image.split(size, dim=1)
    return torch.stack([patch.flatten() for row in rows for patch in row.split(size, dim=2)])


answers.add(check.cut_one, [in_loops])


answers.add(
    check.ask_for_red_square,
    [(4, -4), ("3", torch.tensor(-6.0))],
    [
        ((4, 4), "the red circle has the largest"),
        ((-4, -4), "the blue square has the largest"),
        ((4, 0), "two things share"),
        ((1, -1), "has only 0.53"),
    ],
)
test_right, test_wrong = answers.tests()
