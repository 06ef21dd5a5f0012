"""Answers to the exercises of chapters/dot_product_attention."""

import math

import torch
from answers import Answers

from utils.exercises import dot_product_attention as check

answers = Answers()


def by_loop(queries, keys, values):
    weights = torch.stack([torch.stack([q @ k for k in keys]).softmax(-1) for q in queries])
    return weights @ values, weights


def with_another_constant(queries, keys):
    return check.gaussian_scores.program(queries, keys) - queries.square().sum(-1, keepdim=True) / 2


def by_differences(queries, keys):
    return -(queries[:, None] - keys).square().sum(-1) / 2


answers.add(check.attend_to_all, [], [(by_loop, "it calls functions of torch")])
answers.add(check.gaussian_scores, [with_another_constant], [(by_differences, "as in the differences")])
online = check.attend_in_blocks.program


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
