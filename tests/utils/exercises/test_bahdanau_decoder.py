"""Answers to the exercises of chapters/bahdanau_decoder."""

import math

import torch
from answers import Answers

from utils.exercises import bahdanau_decoder as check

answers = Answers()


def word_by_word(layer, cell, y, s, h, keys, mask):
    scores = [layer.w_v(torch.tanh(layer.w_q(s) + keys[:, j])) for j in range(keys.shape[1])]
    weights = torch.cat(scores, dim=-1).masked_fill(~mask, -math.inf).softmax(dim=-1)
    context = torch.einsum("bn,bnd->bd", weights, h)
    return cell(torch.cat([y, context], dim=-1), s), context, weights


answers.add(check.one_step, [word_by_word])


def with_einsum(cell, y, s, h):
    s = cell(y, s)
    return torch.einsum("bn,bnd->bd", torch.einsum("bnd,bd->bn", h, s).softmax(dim=-1), h), s


answers.add(check.luong_step, [with_einsum])
test_right, _ = answers.tests()
