"""Answers to the exercises of chapters/nadaraya_watson."""

import torch
from answers import Answers

from utils.exercises import nadaraya_watson as check

answers = Answers()


def by_loop(weights, values):
    return sum(weight * value for weight, value in zip(weights, values, strict=True))


def by_softmax(query, keys, bandwidth):
    return torch.softmax(-(((query - keys) / bandwidth) ** 2) / 2, dim=0)


answers.add(check.my_context, [by_loop])
answers.add(check.my_weights, [by_softmax])
test_right, _ = answers.tests()
