"""Answers to the exercises of chapters/explanation."""

import torch
from answers import Answers

from utils.exercises import explanation as check

answers = Answers()


def along(f, x, shares):
    total = torch.zeros_like(x)
    for share in shares:
        point = (x * share).detach().requires_grad_()
        total += torch.autograd.grad(f(point), point)[0]
    return total / len(shares)


def middles(steps):
    return [(t + 0.5) / steps for t in range(steps)]


def with_the_mean(f, x, steps):
    return (along(f, x, middles(steps)) * x).sum(dim=-1)


answers.add(
    check.along_the_path,
    [with_the_mean],
    [
        (lambda f, x, steps: (along(f, x, [1.0]) * x).sum(dim=-1), "taken at x itself"),
        (lambda f, x, m: (along(f, x, [(t + 1) / m for t in range(m)]) * x).sum(dim=-1), "at the end of"),
        (lambda f, x, m: (along(f, x, [t / m for t in range(m)]) * x).sum(dim=-1), "at the beginning of"),
        (lambda f, x, steps: steps * with_the_mean(f, x, steps), "the sum over the steps"),
        (lambda f, x, steps: along(f, x, middles(steps)).sum(dim=-1), "not yet multiplied"),
        (lambda f, x, steps: along(f, x, middles(steps)) * x, "has the shape (3, 2)"),
        (lambda f, x, steps: with_the_mean(f, x, 1), "add up to"),
    ],
)
answers.add(
    check.same_context,
    [[0.325, 0.325, 0.175, 0.175, 0.0], torch.tensor([0.15, 0.5, 0.35, 0.0, 0.0])],
    [
        ([0.1, 0.1, 0.1, 0.1, 0.6], "the overlap with the honest"),
        ([0.25, 0.25, 0.25, 0.25, 0], "the context is [2, 2]"),
        ([0.5, 0.5, 0.2, 0.2, 0], "with the sum 1.4"),
        ([0.5, 0.5, 0.25, -0.25, 0], "expected numbers from 0 to 1"),
        ([0.5, 0.5], "has the shape (2,)"),
    ],
)
test_right, test_wrong = answers.tests()
