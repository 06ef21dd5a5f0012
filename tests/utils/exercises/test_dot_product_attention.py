"""Answers to the exercises of chapters/dot_product_attention."""

import math

import torch
from answers import Answers

from utils.exercises import dot_product_attention as check

answers = Answers()


def by_exponentials(queries, keys, values):
    exponentials = torch.einsum("id,jd->ij", queries, keys).exp()
    weights = exponentials / exponentials.sum(dim=1, keepdim=True)
    return weights @ values, weights


def by_loop(queries, keys, values):
    weights = torch.stack([torch.stack([q @ k for k in keys]).softmax(-1) for q in queries])
    return weights @ values, weights


answers.add(
    check.attend_to_all,
    [by_exponentials],
    [
        (lambda *inputs: by_exponentials(*inputs)[0], "returns one thing"),
        (lambda q, k, v: (q @ k.T @ v, by_exponentials(q, k, v)[1]), "the contexts at"),
        (by_loop, "it calls functions of torch"),
    ],
)


def one_product(queries, keys):
    return queries @ keys.T - keys.square().sum(-1) / 2


answers.add(
    check.gaussian_scores,
    [one_product, lambda q, k: (one_product(q, k) - q.square().sum(-1, keepdim=True) / 2).tolist()],
    [
        (lambda q, k: -(q[:, None] - k).square().sum(-1) / 2, "as in the differences"),
        (lambda q, k: one_product(q, k).T, "has the shape (2, 1)"),
    ],
)


def online(queries, keys, values, block=4):
    largest, total, weighted = torch.full((len(queries), 1), -math.inf), 0, 0
    for start in range(0, len(keys), block):
        scores = queries @ keys[start : start + block].T / math.sqrt(queries.shape[-1])
        new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        rescale, exponentials = torch.exp(largest - new), torch.exp(scores - new)
        total = rescale * total + exponentials.sum(dim=-1, keepdim=True)
        weighted = rescale * weighted + exponentials @ values[start : start + block]
        largest = new
    return weighted / total


def all_at_once(queries, keys, values, block):
    return torch.softmax(queries @ keys.T / math.sqrt(queries.shape[-1]), dim=-1) @ values


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
        (all_at_once, "a tensor of shape (23, 83)"),
        (lambda q, *o: torch.cat([all_at_once(row[None], *o) for row in q]), "a tensor of shape (1, 83)"),
        (all_blocks_kept, "numbers at one time"),
    ],
)
answers.add(
    check.queries_are_keys,
    [(0.37, 1.0, 32), (torch.tensor(0.3581), "0.9999", [32])],
    [((0.37, 1.0, 24), "width is 24"), ((0.45, 1.0, 32), "own_4 is 0.45")],
)
test_right, test_wrong = answers.tests()
