"""Answers to the exercises of chapters/measuring."""

import math

import torch
from answers import Answers

from utils.exercises import measuring as check

answers = Answers()
PENALTY = math.exp(-0.2)
answers.add(
    check.score_by_hand,
    [(1 / 5, PENALTY, 54.75), ("1/5", "0.819", 54.8), (torch.tensor(0.2), [0.82], "54.7")],
    [
        ((1 / 4, PENALTY, 57.9), "both words très count"),
        ((0.679, PENALTY, 55.6), "product is 0.679: this is the mean"),
        ((1 / 15, PENALTY, 41.6), "the numbers of the reference"),
        ((1 / 5, 1, 66.9), "not shorter than the reference"),
        ((1 / 5, math.exp(1 / 6), 79), "r and c are exchanged"),
        ((1 / 5, PENALTY, 0.5475), "factor 100"),
        ((1 / 5, PENALTY, 16.4), "the root is missing"),
        ((1 / 5, PENALTY, 66.9), "the penalty is missing"),
        ((1 / 5, PENALTY, 80), "expected another number"),
    ],
)


def by_loop(losses, patience):
    best = 1
    for epoch in range(1, len(losses) + 1):
        if losses[epoch - 1] < losses[best - 1]:
            best = epoch
        elif epoch - best == patience:
            return epoch, best
    return len(losses), best


def never_anew(losses, patience):
    worse = 0
    for epoch in range(1, len(losses)):
        worse += losses[epoch] >= min(losses[:epoch])
        if worse == patience:
            return epoch + 1, losses.index(min(losses[: epoch + 1])) + 1
    return len(losses), losses.index(min(losses)) + 1


def last_of_equals(losses, patience):
    best = 1
    for epoch, loss in enumerate(losses, start=1):
        if loss <= losses[best - 1]:
            best = epoch
        if epoch - best >= patience:
            return epoch, best
    return len(losses), best


def changed(stop, losses=0, best=0):
    return lambda values, patience: (stop(values, patience)[0] + losses, stop(values, patience)[1] + best)


answers.add(
    check.stop,
    [by_loop, lambda losses, patience: list(by_loop(losses, patience))],
    [
        (changed(by_loop, -1, -1), "epochs are counted from 1"),
        (lambda losses, patience: by_loop(losses, patience)[::-1], "the two numbers are exchanged"),
        (lambda losses, patience: by_loop(losses, patience - 1), "one epoch too early"),
        (lambda losses, patience: by_loop(losses, 99), "too late, or never"),
        (lambda losses, patience: by_loop(losses, patience)[0], "expected two numbers"),
        (lambda losses, patience: (by_loop(losses, patience)[0],) * 2, "not the epoch with the lowest loss"),
        (never_anew, "the count begins anew"),
        (last_of_equals, "an equal loss is not a new lowest one"),
    ],
)
test_right, test_wrong = answers.tests()
