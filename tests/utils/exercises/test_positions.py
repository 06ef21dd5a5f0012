"""Answers to the exercises of chapters/positions."""

import math

import torch
from answers import Answers

from utils.exercises import positions as check

answers = Answers()


def by_complex_numbers(x, place):
    rates = 10_000 ** (-torch.arange(0, len(x), 2) / len(x))
    pairs = torch.view_as_complex(x.reshape(-1, 2)) * torch.exp(1j * place * rates)
    return torch.view_as_real(pairs).flatten()


answers.add(check.turn, [by_complex_numbers])
answers.add(
    check.slower,
    [
        lambda rates, n, factor: [r / factor if r * n < 2 * math.pi else r for r in rates.tolist()],
        lambda rates, n, factor: rates / torch.ones_like(rates).masked_fill(n * rates < 2 * torch.pi, factor),
    ],
    [(lambda rates, n, factor: rates.div_(factor), "changes")],
)
test_right, test_wrong = answers.tests()
