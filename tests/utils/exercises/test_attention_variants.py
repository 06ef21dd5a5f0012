"""Answers to the exercises of chapters/attention_variants."""

from itertools import combinations

import torch
from answers import Answers

from utils.exercises import attention_variants as check

answers = Answers()


def pairs(q, keys):
    return torch.cat([q.expand(len(keys), -1), keys], dim=-1)


answers.add(
    check.concat,
    [
        lambda q, keys, w, v: torch.tanh(pairs(q, keys) @ w.T) @ v,
        lambda q, keys, w, v: torch.stack([v @ torch.tanh(w @ torch.cat([q, k])) for k in keys]),
    ],
    [
        (
            lambda q, keys, w, v: torch.stack([v @ torch.tanh(w @ torch.cat([k, q])) for k in keys]),
            "the key stands before q",
        ),
        (lambda q, keys, w, v: pairs(q, keys) @ w.T @ v, "the tanh is missing"),
        (lambda q, keys, w, v: torch.tanh(pairs(q, keys) @ w.T @ v), "the tanh comes too late"),
        (lambda q, keys, w, v: (torch.tanh(pairs(q, keys) @ w.T) @ v).softmax(dim=0), "these are weights"),
        (lambda q, keys, w, v: torch.tanh(pairs(q, keys) @ w.T).sum(dim=-1), "`v` is missing"),
        (lambda q, keys, w, v: torch.tanh(pairs(q, keys) @ w.T), "has the shape (7, 5)"),
    ],
)


def threshold(scores, count):
    return (scores.sort(descending=True).values[:count].sum() - 1) / count


def with_sort(scores):
    ordered = scores.sort(descending=True).values
    count = max(k for k in range(1, len(scores) + 1) if ordered[k - 1] > threshold(scores, k))
    return (scores - threshold(scores, count)).clamp(min=0)


answers.add(
    check.sparsemax,
    [with_sort],
    [
        (lambda scores: with_sort(scores).sort(descending=True).values, "the weights are sorted"),
        (lambda scores: scores.softmax(dim=0), "weights of the softmax"),
        (lambda scores: scores - threshold(scores, len(scores)), "τ was made of all scores. Expected"),
        (
            lambda scores: (scores - threshold(scores, len(scores))).clamp(min=0),
            "then what is negative was cut",
        ),
        (lambda scores: scores.clamp(min=0) / scores.clamp(min=0).sum(), "divided by their sum"),
        (lambda scores: (scores == scores.max()).float(), "the highest score gets all"),
        (lambda scores: with_sort(scores)[:1], "has the shape (1,)"),
        (
            lambda scores: (scores - threshold(scores, 2)).clamp(min=0),
            "for four equal scores, the result at [0]",
        ),
    ],
)


def distances(first, second):
    everything = first + second
    total, n = sum(everything), len(first)
    sums = [sum(chosen) for chosen in combinations(everything, n)]
    return [part / n - (total - part) / (len(everything) - n) for part in sums]


def share(counted):
    return sum(counted) / len(counted)


answers.add(
    check.luck,
    [
        lambda a, b: share([abs(d) >= abs(distances(a, b)[0]) - 1e-9 for d in distances(a, b)]),
    ],
    [
        (
            lambda a, b: sum(abs(d) >= abs(distances(a, b)[0]) - 1e-9 for d in distances(a, b)),
            "is the number of ways, 2",
        ),
        (
            lambda a, b: share([abs(d) > abs(distances(a, b)[0]) + 1e-9 for d in distances(a, b)]),
            "counts only larger",
        ),
        (
            lambda a, b: share([abs(d) < abs(distances(a, b)[0]) - 1e-9 for d in distances(a, b)]),
            "counts the ways with a smaller",
        ),
        (lambda a, b: share([d <= distances(a, b)[0] + 1e-9 for d in distances(a, b)]), "counts one side"),
        (lambda a, b: 0.5, "is 0.5; expected 0.1"),
    ],
)
test_right, test_wrong = answers.tests()
