"""Answers to the exercises of chapters/attention_variants."""

import torch
from answers import Answers

from utils.exercises import attention_variants as check

answers = Answers()


def key_by_key(q, keys, w, v):
    return [v @ torch.tanh(w @ torch.cat([q, key])) for key in keys]


def filled_in(p_words, weights, gate):
    probabilities = torch.empty(len(p_words) + len(weights))
    probabilities[: len(p_words)] = p_words * gate
    probabilities[len(p_words) :] = weights - gate * weights
    return probabilities


answers.add(check.concat, [key_by_key])
answers.add(check.pointers, [filled_in])
test_right, _ = answers.tests()
