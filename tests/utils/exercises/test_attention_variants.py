"""Answers to the exercises of chapters/attention_variants."""

import torch
from answers import Answers

from utils.exercises import attention_variants as check

answers = Answers()
answers.add(
    check.sparse_weights,
    [(0.8, 0.2, 0), ("0.8", torch.tensor(0.2), [0.0])],
    [
        ((0.59, 0.32, 0.09), "weights of the softmax"),
        ((0.625, 0.375, 0), "divided by their sum"),
        ((1.167, 0.567, -0.733), "one of them is negative"),
        ((1.5, 0.9, 0), "nothing was subtracted"),
        ((0.7, 0.3, 0), "w_first is 0.7; expected another"),
    ],
)


def smaller(weights):
    return torch.minimum(weights, weights.cumsum(dim=0) - weights)


def the_step_before(weights):
    before = torch.cat([torch.zeros(1, weights.shape[1]), weights[:-1]])
    return torch.minimum(weights, before).sum(dim=1).mean()


answers.add(
    check.overlap,
    [lambda weights: smaller(weights).sum(dim=1).mean()],
    [
        (
            lambda weights: torch.minimum(weights, weights.cumsum(dim=0)).sum(dim=1).mean(),
            "has this step in it",
        ),
        (lambda weights: (weights * (weights.cumsum(dim=0) - weights)).sum(dim=1).mean(), "it multiplies"),
        (the_step_before, "compares with one step"),
        (lambda weights: smaller(weights).sum(), "the sum over the steps"),
        (lambda weights: smaller(weights).mean(), "the mean over steps and words"),
        (lambda weights: smaller(weights).sum(dim=1), "holds 3 numbers"),
    ],
)
test_right, test_wrong = answers.tests()
