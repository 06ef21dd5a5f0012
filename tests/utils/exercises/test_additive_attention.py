"""Answers to the exercises of chapters/additive_attention."""

import torch
from answers import Answers

from utils.exercises import additive_attention as check

answers = Answers()


def loop_over_queries(queries, keys, w_q, w_k, w_v):
    projected = keys @ w_k.T
    return torch.stack([torch.tanh(w_q @ q + projected) @ w_v for q in queries])


answers.add(check.scale_for, [lambda weight, n: torch.tensor(weight * (n - 1) / (1 - weight)).log() / 2])
answers.add(check.additive, [loop_over_queries])


def units(c, *, bias=1.0):
    """W_q, W_k and w_v of the score with four units."""
    w_k = torch.tensor([[c, 0, bias], [-c, 0, bias], [0, c, bias], [0, -c, bias]])
    return -w_k * torch.tensor([1.0, 1.0, 0.0]), w_k, torch.ones(4)


queries, keys, ones = units(0.1)
answers.add(
    check.peaks,
    [(queries, keys, ones), (queries.tolist(), keys.tolist(), [1, 1, 1, 1]), (keys, queries, 3 * ones[None])],
    [
        (units(1.0), "for 96.4 of 100 spots; expected 99."),
        ((queries, keys, -ones), "has the lowest score"),
        ((-queries, keys, ones), "4.4 of 100"),
        (units(0.1, bias=0.0), "No unit has the 1"),
        ((queries, keys.T, ones), "peak_k has the shape (3, 4)"),
        ((torch.ones(32, 3), torch.ones(32, 3), torch.ones(32)), "32 hidden units"),
        ((queries[:2], keys[:2], ones[:2]), "does not see the second"),
    ],
)
test_right, test_wrong = answers.tests()
