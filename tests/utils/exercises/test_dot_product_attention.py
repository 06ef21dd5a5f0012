"""Answers to the exercises of chapters/dot_product_attention."""

import math

import torch
from answers import Answers

from utils.exercises import dot_product_attention as check

answers = Answers()


def all_at_once(queries, keys, values, dim=-1):
    weights = torch.softmax(queries @ keys.T, dim=dim)
    return weights @ values, weights


def attend_by_loop(queries, keys, values):
    weights = torch.stack([torch.stack([q @ k for k in keys]).softmax(-1) for q in queries])
    return weights @ values, weights


answers.add(
    check.attend_to_all,
    [
        all_at_once,
        lambda q, k, v: ((w := torch.einsum("id,jd->ij", q, k).softmax(1)) @ v, w),
        lambda q, k, v: ((w := (e := (q @ k.T).exp()) / e.sum(1, keepdim=True)) @ v, w),
    ],
    [
        (lambda q, k, v: all_at_once(q, k, v)[0], "returns one thing"),
        (lambda q, k, v: all_at_once(q, k, v)[::-1], "the first result has the shape of the weights"),
        (lambda q, k, v: (q @ k.T @ v, q @ k.T), "these are the scores"),
        (lambda q, k, v: ((w := (q @ k.T).exp()) @ v, w), "these are the exponentials"),
        (lambda q, k, v: all_at_once(q, k, v, dim=0), "runs over the queries"),
        (lambda q, k, v: ((w := (q @ k.T).softmax(1)) @ v, w.T), "rows and columns are exchanged"),
        (lambda q, k, v: (all_at_once(q, k, v)[0] / 2, all_at_once(q, k, v)[1]), "result of contexts at"),
        (lambda q, k, v: all_at_once(q / math.sqrt(q.shape[1]), k, v), "the scores are divided by √5"),
        (attend_by_loop, "it calls functions of torch"),
    ],
)


def one_product(queries, keys):
    return queries @ keys.T - keys.square().sum(-1) / 2


answers.add(
    check.gaussian_scores,
    [one_product, lambda q, k: one_product(q, k) - q.square().sum(-1, keepdim=True) / 2],
    [
        (lambda q, k: q @ k.T, "the dot product alone"),
        (lambda q, k: q @ k.T - k.square().sum(-1), "the whole squared length"),
        (lambda q, k: q @ k.T + k.square().sum(-1) / 2, "is added"),
        (lambda q, k: -(q[:, None] - k).square().sum(-1) / 2, "as in the differences"),
        (lambda q, k: torch.softmax(one_product(q, k), dim=-1), "these are weights"),
        (lambda q, k: one_product(q, k) / math.sqrt(k.shape[-1]), "your scores are divided by √5"),
        (lambda q, k: one_product(q, k).T, "has the shape (2, 1)"),
    ],
)


def online(queries, keys, values, block=4, *, totals=True, sums=True, first=-math.inf, divided=True):
    """The online softmax; an option that is switched off is a mistake."""
    largest = queries.new_full((len(queries), 1), first)
    total = queries.new_zeros(len(queries), 1)
    weighted = queries.new_zeros(len(queries), values.shape[1])
    for start in range(0, len(keys), block):
        scores = queries @ keys[start : start + block].T / math.sqrt(queries.shape[-1])
        new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        rescale, exponentials = torch.exp(largest - new), torch.exp(scores - new)
        total = (rescale if totals else 1) * total + exponentials.sum(dim=-1, keepdim=True)
        weighted = (rescale if sums else 1) * weighted + exponentials @ values[start : start + block]
        largest = new
    return weighted / total if divided else weighted


def softmax(queries, keys, dim=-1):
    return torch.softmax(queries @ keys.T / math.sqrt(queries.shape[-1]), dim=dim)


def mean_of_the_blocks(queries, keys, values, block):
    pieces = zip(keys.split(block), values.split(block), strict=True)
    return torch.stack([softmax(queries, k) @ v for k, v in pieces]).mean(0)


def exponentials_without_the_largest(queries, keys, values, block):
    total, weighted = 0, 0
    for k, v in zip(keys.split(block), values.split(block), strict=True):
        exponentials = torch.exp(queries @ k.T / math.sqrt(queries.shape[-1]))
        total, weighted = total + exponentials.sum(-1, keepdim=True), weighted + exponentials @ v
    return weighted / total


def all_blocks_kept(queries, keys, values, block):
    scores = [queries @ k.T / math.sqrt(queries.shape[-1]) for k in keys.split(block)]
    largest = torch.stack([s.amax(-1, keepdim=True) for s in scores]).amax(0)
    parts = [torch.exp(s - largest) for s in scores]
    total = sum(part.sum(-1, keepdim=True) for part in parts)
    return sum(part @ v for part, v in zip(parts, values.split(block), strict=True)) / total


answers.add(
    check.attend_in_blocks,
    [
        online,
        lambda q, *others: torch.cat([online(query[None], *others) for query in q]),
        lambda q, k, v, block: online(q, k, v, 1),
    ],
    [
        (lambda q, k, v, block: softmax(q, k) @ v, "a tensor of shape (23, 83)"),
        (
            lambda q, k, v, block: torch.cat([softmax(row[None], k) @ v for row in q]),
            "a tensor of shape (1, 83)",
        ),
        (lambda *inputs: online(*inputs, first=0.0), "all lie below −1000"),
        (lambda *inputs: online(*inputs, divided=False), "values is not divided"),
        (lambda *inputs: online(*inputs, totals=False), "the sum of the exponentials was not"),
        (lambda *inputs: online(*inputs, sums=False), "the sum of the values was not"),
        (lambda *inputs: online(*inputs, totals=False, sums=False), "the sums were not corrected"),
        (lambda q, *others: online(q * math.sqrt(q.shape[1]), *others), "the scale is missing"),
        (mean_of_the_blocks, "the mean of the blocks"),
        (exponentials_without_the_largest, "a thousand times as long"),
        (all_blocks_kept, "numbers at one time"),
    ],
)
answers.add(
    check.queries_are_keys,
    [(0.37, 1.0, 32), (torch.tensor(0.3581), "0.9999", [32])],
    [
        ((0.52, 1.0, 32), "the scale is missing"),
        ((0.23, 0.23, 32), "divided by d"),
        ((0.116, 0.295, 32), "lie between 0 and 1"),
        ((0.1, 0.1, 32), "the mean of all weights"),
        ((1.0, 0.365, 32), "the two are exchanged"),
        ((36.5, 100, 32), "per cent"),
        ((0.37, 1.0, 16), "expected more than 0.9"),
        ((0.37, 1.0, 256), "a smaller width"),
        ((0.37, 1.0, 24), "width is 24"),
    ],
)
test_right, test_wrong = answers.tests()
