"""Answers to the exercises of chapters/long_sequences."""

import torch
from answers import Answers

from utils.exercises import long_sequences as check

answers = Answers()


def all_scores(q, k, v, block):
    return (q @ k.T / q.shape[1] ** 0.5).softmax(-1) @ v


answers.add(check.online, [], [(all_scores, "a tensor of all 21 scores")])


def recurrent(q, k, v):
    state, z, contexts = torch.zeros(q.shape[1], v.shape[1]), torch.zeros(q.shape[1]), []
    for query, key, value in zip(q, k, v, strict=True):
        state, z = state + torch.outer(key, value), z + key
        contexts.append(query @ state / (query @ z))
    return torch.stack(contexts)


answers.add(check.recurrent, [recurrent])
answers.add(
    check.replace,
    [lambda state, key, value: state - torch.outer(key, key) @ state + torch.outer(key, value)],
)
test_right, test_wrong = answers.tests()
