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


def by_vmap(queries, keys, w_q, w_k, w_v, **options):
    return torch.vmap(lambda q: torch.tanh(w_q @ q + keys @ w_k.T) @ w_v, **options)(queries)


def units_of_all_queries_kept(queries, keys, w_q, w_k, w_v):
    units = [torch.tanh(w_q @ q + keys @ w_k.T) for q in queries]
    return torch.stack([own @ w_v for own in units])


answers.add(
    check.scores_by_query,
    [loop_over_queries, lambda *inputs: by_vmap(*inputs, chunk_size=1)],
    [
        (lambda q, k, w_q, w_k, w_v: torch.tanh((q @ w_q.T)[:, None] + k @ w_k.T) @ w_v, "enough"),
        (
            lambda q, k, w_q, w_k, w_v: torch.stack([(w_q @ row + k @ w_k.T) @ w_v for row in q]),
            "tanh is missing",
        ),
        (lambda q, k, w_q, w_k, w_v: loop_over_queries(q, k, w_q, w_k, w_v / w_v), "w_v is missing"),
        (lambda *inputs: torch.softmax(loop_over_queries(*inputs), dim=-1), "these are weights"),
        (lambda *inputs: loop_over_queries(*inputs) / math.sqrt(len(inputs[-1])), "a factor 1/√11"),
        (lambda *inputs: loop_over_queries(*inputs).T, "has the shape (2, 1)"),
    ],
)


def test_hidden_units_of_all_queries_are_too_many() -> None:
    for answer in (by_vmap, units_of_all_queries_kept):
        assert "numbers at one time; 37 · 41 = 1,517 are enough" in check.scores_by_query(answer).wrong


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
