"""Answers to the exercises of chapters/inside_heads."""

import torch
from answers import Answers

from utils.exercises import inside_heads as check

answers = Answers()


def layer(x, heads, off=()):
    return x + sum((heads(x)[0][head] for head in range(3) if head not in off), torch.zeros(6))


answers.add(check.layer, [layer], [(lambda x, heads, off=(): layer(x, heads, off)[0], "have the shape (6,)")])
answers.add(
    check.circuit_by_hand,
    [(1.5, 0, 0, 3), (torch.tensor(1.5), 0.0, [0], "3")],
    [((1.5, 1, 0, 3), "a_b is 1; expected another")],
)


def perfect(tokens):
    weights = torch.zeros(len(tokens), len(tokens))
    for i, word in enumerate(tokens):
        earlier = [j for j in range(i) if tokens[j] == word]
        weights[i, earlier[-1] + 1 if earlier else 0] = 1
    return weights


answers.add(
    check.perfect_head,
    [perfect, lambda tokens: perfect(tokens.tolist()), lambda tokens: perfect(tokens).bool()],
    [(lambda tokens: perfect(tokens)[0], "have the shape (6,)")],
)
test_right, test_wrong = answers.tests()
