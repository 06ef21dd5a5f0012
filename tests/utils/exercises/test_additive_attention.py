"""Answers to the exercises of chapters/additive_attention."""

import torch
from answers import Answers

from utils.exercises import additive_attention as check

answers = Answers()


def loop_over_queries(queries, keys, w_q, w_k, w_v):
    projected = keys @ w_k.T
    return torch.stack([torch.tanh(w_q @ q + projected) @ w_v for q in queries])


answers.add(check.additive, [loop_over_queries])


def other_signs(c):
    """The units in another order, and the tanh of −x."""
    w_k = torch.tensor([[0, c], [-c, 0], [0, -c], [c, 0]])
    return torch.cat([-w_k, -torch.ones(4, 1)], dim=1).tolist(), w_k.tolist(), [[-1, -1, -1, -1]]


answers.add(
    check.four_units,
    [other_signs],
    [
        (lambda c: check.four_units.program(c)[:2], "expected w_q, w_k, w_v"),
        (
            lambda c: (torch.ones(3, 4), torch.ones(3, 4), torch.ones(4)),
            "w_q has the shape (3, 4); expected (4, 3)",
        ),
    ],
)
test_right, test_wrong = answers.tests()
