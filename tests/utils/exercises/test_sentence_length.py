"""Answers to the exercises of chapters/sentence_length."""

import math
from itertools import pairwise

import torch
from answers import Answers

from utils.exercises import sentence_length as check

answers = Answers()
answers.add(
    check.too_short,
    [(51.3, 0.526), (torch.tensor(51.34), "53 %"), ([100 * math.exp(-2 / 3)], 52.6)],
    [
        ((60, 0.45), "100 times the length ratio"),
        ((149.2, 0.18), "no BLEU is above 100"),
        ((0.513, 0.526), "this is the brevity penalty"),
        ((100, 0.27), "there is no penalty"),
        ((47.2, 0.6), "highest is 47.2; expected"),
        ((51.3, 0.27), "left out the brevity penalty"),
        ((51.3, 0.45), "divided by the length ratio"),
        ((51.3, 1.9), "the other way round"),
    ],
)


answers.add(
    check.wins,
    [lambda a, o: (a > o).sum(dim=0), lambda a, o: (a.numpy() > o.numpy()).sum(axis=0)],
    [
        (lambda a, o: [3] * a.shape[1], "does not win with every seed"),
        (lambda a, o: a.mean(dim=0) > o.mean(dim=0), "compares the means"),
        (lambda a, o: (a > o).sum(dim=1), "has the shape (3,)"),
        (lambda a, o: a > o, "has the shape (3, 2)"),
        (lambda a, o: (a < o).sum(dim=0), "the wins of one vector"),
        (lambda a, o: (a > o).float().mean(dim=0), "share of the seeds"),
        (lambda a, o: (a >= o).sum(dim=0), "7 against 7"),
        (lambda a, o: (a[:3] > o[:3]).sum(dim=0), "for 5 seeds and 7 buckets"),
    ],
)


def cut(ids, num):
    return [ids[start:end] for start, end in pairwise(len(ids) * i // num for i in range(num + 1))]


def least(ids, longest):
    return math.ceil(len(ids) / longest)


def without_the_rest(ids, longest):
    size = len(ids) // least(ids, longest)
    return [ids[i * size : (i + 1) * size] for i in range(least(ids, longest))]


answers.add(
    check.in_pieces,
    [
        lambda ids, longest: cut(ids, least(ids, longest)),
        lambda ids, longest: torch.tensor(ids).tensor_split(least(ids, longest)),
    ],
    [
        (
            lambda ids, longest: [ids[i : i + longest] for i in range(0, len(ids), longest)],
            "lengths are [3, 3, 1]",
        ),
        (lambda ids, longest: cut(ids, len(ids) // longest + 1), "2 would be enough"),
        (lambda ids, longest: cut(ids, max(1, len(ids) // longest)), "is too long"),
        (
            lambda ids, longest: [ids[i :: least(ids, longest)] for i in range(least(ids, longest))],
            "in their order",
        ),
        (without_the_rest, "[17] is missing"),
        (lambda ids, longest: [3, 3], "expected a list of pieces"),
        (lambda ids, longest: [ids[max(0, i - 1) : i + 1] for i in range(len(ids))], "stands in two pieces"),
    ],
)
test_right, test_wrong = answers.tests()
