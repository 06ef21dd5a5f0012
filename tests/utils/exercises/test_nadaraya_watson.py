"""Answers to the exercises of chapters/nadaraya_watson."""

import torch
from answers import Answers

from utils.exercises import nadaraya_watson as check

answers = Answers()


def by_softmax(query, keys, bandwidth):
    return torch.softmax(-(((query - keys) / bandwidth) ** 2) / 2, dim=0)


answers.add(check.my_weights, [by_softmax])


def by_normal_equations(queries, keys, values, bandwidth):
    heights = []
    for query in queries:
        weights = torch.exp(-(((query - keys) / bandwidth) ** 2) / 2)
        rows = torch.stack([torch.ones_like(keys), keys - query], dim=1)
        left, right = rows.T @ (weights[:, None] * rows), rows.T @ (weights * values)
        heights.append(float(torch.linalg.solve(left, right)[0]))
    return heights


answers.add(check.local_line, [by_normal_equations])
test_right, _ = answers.tests()
