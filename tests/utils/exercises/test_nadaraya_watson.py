"""Answers to the exercises of chapters/nadaraya_watson."""

import torch
from answers import Answers

from utils.exercises import nadaraya_watson as check

answers = Answers()


def by_softmax(query, keys, bandwidth):
    return torch.softmax(-(((query - keys) / bandwidth) ** 2) / 2, dim=0)


answers.add(check.my_weights, [by_softmax])
test_right, _ = answers.tests()
