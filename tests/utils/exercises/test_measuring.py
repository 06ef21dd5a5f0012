"""Answers to the exercises of chapters/measuring."""

import math

import torch
from answers import Answers

from utils.exercises import measuring as check

answers = Answers()


def by_removing(written, reference):
    numbers = []
    for n in (1, 2, 3, 4):
        ours, left = ([*zip(*(words[i:] for i in range(n)), strict=False)] for words in (written, reference))
        right = 0
        for gram in ours:
            if gram in left:
                left.remove(gram)
                right += 1
        numbers += [right, len(ours)]
    return [*numbers, len(written), len(reference)]


answers.add(
    check.clipped_counts,
    [by_removing, lambda *texts: torch.tensor(by_removing(*texts)).double()],
    [(lambda a, b: [x + (len(a) == 7) for x in by_removing(a, b)], "“a b a b a b c”")],
)
answers.add(
    check.score_by_hand,
    [(1 / 5, math.exp(-0.2), 54.75), ("1/5", "0.819", 54.8), (torch.tensor(0.2), [0.82], "54.7")],
    [((1 / 5, 0.819, 80), "score is 80; expected another number")],
)
test_right, test_wrong = answers.tests()
