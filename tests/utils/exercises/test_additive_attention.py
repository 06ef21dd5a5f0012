"""Answers to the exercises of chapters/additive_attention."""

import math

import torch
from answers import Answers

from utils.exercises import additive_attention as check

answers = Answers()


def scale_by_formula(weight, num_keys):
    return 0.5 * math.log(weight * (num_keys - 1) / (1 - weight))


answers.add(
    check.scale_for,
    [scale_by_formula],
    [
        (lambda *inputs: 2 * scale_by_formula(*inputs), "twice as large"),
        (lambda *inputs: -scale_by_formula(*inputs), "the wrong sign"),
        (lambda weight, n: 0.5 * math.log(weight * n / (1 - weight)), "comes too often"),
        (lambda weight, n: 0.5 * math.log(weight / (1 - weight)), "right for 2 keys alone"),
        (lambda weight, n: weight, "expected another number"),
    ],
)


def loop_over_queries(queries, keys, w_q, w_k, w_v):
    projected = keys @ w_k.T
    return torch.stack([torch.tanh(w_q @ q + projected) @ w_v for q in queries])


def all_pairs(queries, keys, w_q, w_k, w_v):
    return torch.tanh((queries @ w_q.T)[:, None] + keys @ w_k.T) @ w_v


answers.add(
    check.additive,
    [all_pairs, loop_over_queries],
    [
        (
            lambda q, k, w_q, w_k, w_v: ((q @ w_q.T)[:, None] + k @ w_k.T) @ w_v,
            "the tanh is missing",
        ),
        (lambda q, k, w_q, w_k, w_v: all_pairs(q, k, w_q, w_k, w_v / w_v), "w_v is missing"),
        (lambda *inputs: torch.softmax(all_pairs(*inputs), dim=-1), "these are weights"),
        (
            lambda q, k, w_q, w_k, w_v: ((q @ w_q.T).tanh()[:, None] + (k @ w_k.T).tanh()) @ w_v,
            "the tanh of each part, added",
        ),
        (
            lambda q, k, w_q, w_k, w_v: torch.tanh((q @ w_q.T)[:, None] * (k @ w_k.T)) @ w_v,
            "the two parts are multiplied",
        ),
        (lambda *inputs: all_pairs(*inputs) / math.sqrt(len(inputs[-1])), "a factor 1/√11"),
        (lambda *inputs: all_pairs(*inputs).T, "has the shape (2, 1)"),
        (lambda q, k, w_q, w_k, w_v: torch.tanh(q @ w_q.T + k @ w_k.T) @ w_v, "has the shape (2,)"),
    ],
)


def units(c, *, bias=1.0):
    """W_q, W_k and w_v of the score with four units."""
    w_k = torch.tensor([[c, 0, bias], [-c, 0, bias], [0, c, bias], [0, -c, bias]])
    return -w_k * torch.tensor([1.0, 1.0, 0.0]), w_k, torch.ones(4)


queries, keys, ones = units(0.1)
answers.add(
    check.peaks,
    [(queries, keys, ones), (queries.tolist(), keys.tolist(), [1, 1, 1, 1]), (keys, queries, 3 * ones[None])],
    [
        (units(1.0), "for 96.5 of 100 spots; expected 99."),
        ((queries, keys, -ones), "has the lowest score"),
        ((-queries, keys, ones), "5.9 of 100"),
        (units(0.1, bias=0.0), "No unit has the 1"),
        ((queries, keys.T, ones), "peak_k has the shape (3, 4)"),
        ((torch.ones(32, 3), torch.ones(32, 3), torch.ones(32)), "32 hidden units"),
        ((queries[:2], keys[:2], ones[:2]), "does not see the second"),
    ],
)
test_right, test_wrong = answers.tests()
