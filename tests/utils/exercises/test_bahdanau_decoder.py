"""Answers to the exercises of chapters/bahdanau_decoder."""

import math

import torch
from answers import Answers

from utils.exercises import bahdanau_decoder as check
from utils.search import greedy

answers = Answers()
WEIGHTS = (0.19, 0.19, 0.63)
answers.add(
    check.another_query,
    [(-0.76, *WEIGHTS), ("-0.7599", torch.tensor(0.187), "18.7 %", [0.626])],
    [
        ((-0.76, 0.073, 0.073, 0.853), "these are for the state"),
        ((-0.76, 0.63, 0.19, 0.19), "the order is wrong"),
        ((-0.76, 0.49, 0.49, 0.01), "are multiplied"),
        ((-0.76, 0.02, 0.02, 0.96), "w_flower is 0.96: the tanh"),
        ((-0.76, -1.97, -1.97, -0.76), "expected numbers from 0 to 1"),
        ((-0.76, 0.14, 0.14, 0.47), "with the sum 0.75"),
        ((-0.8, *WEIGHTS), "e_flower is -0.8: the tanh"),
        ((1.871, *WEIGHTS), "(1.5, 0.8) of the page"),
        ((-0.38, *WEIGHTS), "factor 2 is missing"),
        ((0.5, *WEIGHTS), "expected another number"),
    ],
)


def asks_with(s, h):
    return (torch.softmax(h @ s[:, :, None], dim=1) * h).sum(dim=1)


def with_a_product(cell, y, s, h):
    s = cell(y, s)
    return asks_with(s, h), s


def softmax_over_one_query(cell, y, s, h):
    new = cell(y, s)
    return (torch.softmax(h @ new[:, :, None], dim=-1) * h).sum(dim=1), new


def weights_of_the_first_sentence(cell, y, s, h):
    new = cell(y, s)
    return asks_with(new[:1].expand_as(new), h), new


answers.add(
    check.luong_step,
    [with_a_product],
    [
        (lambda cell, y, s, h: (asks_with(s, h), cell(y, s)), "asked with the old state"),
        (lambda cell, y, s, h: (asks_with(cell(y, s), h), s), "this is the old state"),
        (lambda cell, y, s, h: (asks_with(cell(s, y), h), cell(s, y)), "with the state first"),
        (lambda *inputs: with_a_product(*inputs)[::-1], "results are exchanged"),
        (lambda cell, y, s, h: (asks_with(cell(y, s) / math.sqrt(2), h), cell(y, s)), "there is a scale"),
        (lambda cell, y, s, h: (h.mean(dim=1), cell(y, s)), "all weights are equal"),
        (softmax_over_one_query, "every weight is 1"),
        (weights_of_the_first_sentence, "states of width 7, the context"),
    ],
)


def weights_of(model, ids, length=40):
    padded = torch.zeros(1, 40, dtype=torch.long)
    padded[0, : len(ids)] = torch.tensor(ids)
    (found,) = greedy(model, padded, torch.tensor([length]), max_len=50)
    return found.weights


def on_padding(model, ids, length=40):
    return weights_of(model, ids, length)[:, len(ids) :]


answers.add(
    check.weight_on_padding,
    [lambda model, ids: on_padding(model, ids).max()],
    [
        (lambda model, ids: on_padding(model, ids, len(ids)).max(), "input.numel() == 0"),
        (lambda model, ids: weights_of(model, ids).max(), "of all 40 places"),
        (lambda model, ids: weights_of(model, ids)[:, : len(ids)].max(), "on a real word"),
        (lambda model, ids: on_padding(model, ids)[:, 1:].max(), "is left out"),
        (lambda model, ids: on_padding(model, ids).mean(), "the mean weight"),
        (lambda model, ids: on_padding(model, ids)[0].max(), "of the first step alone"),
        (on_padding, "numbers; expected one"),
    ],
)
IDENTITY = [[1, 0], [0, 1]]
SWITCHES = [[-4, 7.5], [8, -1]]
answers.add(
    check.two_units,
    [
        (SWITCHES, IDENTITY, [4, 4]),
        (torch.tensor(SWITCHES), torch.eye(2, requires_grad=True), torch.ones(1, 2)),
    ],
    [
        ((IDENTITY, IDENTITY, [1, 1]), "white is first"),
        (([[1, -1], [1, -1]], [[1, -1], [1, -1]], [2, 2]), "flower is first"),
        (([[0, 0], [0, 0]], IDENTITY, [0, 0]), "are [0, 0, 0]"),
        (([1, -1], [1, -1], 2), "w_q has the shape (2,)"),
        ((SWITCHES, IDENTITY, [1]), "w_v holds [1]"),
    ],
)
test_right, test_wrong = answers.tests()
