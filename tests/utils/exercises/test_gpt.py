"""Answers to the exercises of chapters/gpt."""

import torch
from answers import Answers

from utils.exercises import gpt as check
from utils.search import next_word_probabilities

answers = Answers()


def with_the_tool(logits, temperature, top_p):
    return next_word_probabilities(logits, temperature=temperature, top_p=top_p)


answers.add(check.draw, [with_the_tool])
answers.add(
    check.three_numbers,
    [(0.533, 0.571, 5.0), ("8/15", torch.tensor(4 / 7), [5]), (0.53, 0.57, 4.99)],
    [((0.533, 0.571, 3), "perplexity is 3; expected another")],
)


answers.add(check.prefix_mask, [lambda *nums: check.prefix_mask.program(*nums).float()])
test_right, test_wrong = answers.tests()
