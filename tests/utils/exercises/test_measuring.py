"""Answers to the exercises of chapters/measuring."""

import math
from collections import Counter

import torch
from answers import Answers

from utils.exercises import measuring as check

answers = Answers()


def grams(words, n):
    return [*zip(*(words[i:] for i in range(n)), strict=False)]


def with_counters(written, reference, *, lengths=True):
    numbers = []
    for n in (1, 2, 3, 4):
        ours, theirs = Counter(grams(written, n)), Counter(grams(reference, n))
        numbers += [(ours & theirs).total(), ours.total()]
    return [*numbers, len(written), len(reference)] if lengths else numbers


def by_removing(written, reference):
    numbers = []
    for n in (1, 2, 3, 4):
        left, right = grams(reference, n), 0
        for gram in grams(written, n):
            if gram in left:
                left.remove(gram)
                right += 1
        numbers += [right, len(grams(written, n))]
    return torch.tensor([*numbers, len(written), len(reference)])


def not_clipped(written, reference):
    each = [(grams(written, n), grams(reference, n)) for n in (1, 2, 3, 4)]
    return [x for a, b in each for x in (sum(g in b for g in a), len(a))] + [len(written), len(reference)]


def as_sets(written, reference):
    each = [({*grams(written, n)}, {*grams(reference, n)}) for n in (1, 2, 3, 4)]
    return [x for a, b in each for x in (len(a & b), len(a))] + [len(written), len(reference)]


def one_for_each_kind(written, reference):
    each = [(grams(written, n), grams(reference, n)) for n in (1, 2, 3, 4)]
    return [x for a, b in each for x in (len({*a} & {*b}), len(a))] + [len(written), len(reference)]


def in_the_order(*order):
    return lambda *texts: [with_counters(*texts)[i] for i in order]


def all_of_the_reference(written, reference):
    numbers = with_counters(written, reference)
    numbers[1:8:2] = [len(grams(reference, n)) for n in (1, 2, 3, 4)]
    return numbers


def one_too_few(written, reference):
    numbers = with_counters(written, reference)
    numbers[1:8:2] = [len(written) - n for n in (1, 2, 3, 4)]
    return numbers


answers.add(
    check.clipped_counts,
    [with_counters, by_removing],
    [
        (not_clipped, "are not clipped"),
        (as_sets, "is counted once among all"),
        (one_for_each_kind, "counts once here"),
        (all_of_the_reference, "all n-grams of the reference"),
        (one_too_few, "is missing each time"),
        (in_the_order(*range(8), 9, 8), "the two lengths are exchanged"),
        (in_the_order(0, 2, 4, 6, 1, 3, 5, 7, 8, 9), "have another order"),
        (in_the_order(1, 0, 3, 2, 5, 4, 7, 6, 8, 9), "right and all n-grams are exchanged"),
        (lambda *texts: with_counters(*texts, lengths=False), "has the shape (8,)"),
        (lambda a, b: [float(x + (len(a) == 7)) for x in with_counters(a, b)], "“a b a b a b c”"),
    ],
)
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
