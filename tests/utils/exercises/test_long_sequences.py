"""Answers to the exercises of chapters/long_sequences."""

import torch
from answers import Answers

from utils.exercises import long_sequences as check

answers = Answers()


def all_scores(q, k, v, block):
    return (q @ k.T / q.shape[1] ** 0.5).softmax(-1) @ v


answers.add(check.online, [], [(all_scores, "a tensor of all 21 scores")])


answers.add(
    check.replace,
    [lambda state, key, value: state - torch.outer(key, key) @ state + torch.outer(key, value)],
)
test_right, test_wrong = answers.tests()
