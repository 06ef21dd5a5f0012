"""Answers to the exercises of chapters/attention_variants."""

from fractions import Fraction
from itertools import combinations

import torch
from answers import Answers

from utils.exercises import attention_variants as check

answers = Answers()


def key_by_key(q, keys, w, v):
    return [v @ torch.tanh(w @ torch.cat([q, key])) for key in keys]


answers.add(check.concat, [key_by_key], [(lambda *inputs: key_by_key(*inputs)[:1], "the shape (1,)")])


def with_sort(scores):
    ordered = scores.sort(descending=True).values.tolist()
    thresholds = [(sum(ordered[:k]) - 1) / k for k in range(1, len(ordered) + 1)]
    best = max(k for k, threshold in enumerate(thresholds) if ordered[k] > threshold)
    return (scores - thresholds[best]).clamp(min=0)


answers.add(check.sparsemax, [with_sort], [(lambda scores: with_sort(scores)[:1], "the shape (1,)")])


def share(first, second):
    everything, n = first + second, len(first)
    gaps = []
    for chosen in combinations(everything, n):
        rest = sum(everything) - sum(chosen)
        gaps.append(abs(Fraction(sum(chosen)) / n - Fraction(rest) / len(second)))
    return sum(gap >= gaps[0] for gap in gaps) / len(gaps)


answers.add(check.luck, [share], [(lambda first, second: 0.5, "is 0.5; expected 0.1")])
test_right, test_wrong = answers.tests()
