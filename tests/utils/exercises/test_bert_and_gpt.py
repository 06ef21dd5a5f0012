"""Answers to the exercises of chapters/bert_and_gpt."""

import torch
from answers import Answers

from utils.exercises import bert_and_gpt as check
from utils.transformer import causal_mask

answers = Answers()
answers.add(
    check.three_numbers,
    [(0.533, 0.571, 5.0), ("8/15", torch.tensor(4 / 7), [5]), (0.53, 0.57, 4.99)],
    [
        ((0.3255, 0.571, 5), "the temperature 2"),
        ((0.16, 0.571, 5), "this is 0.4 squared"),
        ((0.8, 0.571, 5), "divided 0.4 by 1/2"),
        ((0.533, 0.4, 5), "0.4, as before"),
        ((0.533, 0.444, 5), "kept three words"),
        ((0.533, 0.571, 125), "one divided by the product"),
        ((0.533, 0.571, 0.2), "the mean probability"),
        ((0.533, 0.571, 1.609), "the cross-entropy in nats"),
        ((0.533, 0.571, 3), "perplexity is 3; expected another"),
    ],
)


def opened(num_read, num_written):
    mask = causal_mask(num_read + num_written)
    mask[:num_read, :num_read] = True
    return mask


def reads_the_future(num_read, num_written):
    mask = causal_mask(num_read + num_written)
    mask[:num_read] = True
    return mask


answers.add(
    check.prefix_mask,
    [opened, lambda *nums: opened(*nums).float()],
    [
        (lambda *nums: causal_mask(sum(nums)), "does not see the words after it"),
        (lambda *nums: torch.ones(sum(nums), sum(nums)), "see what comes later"),
        (lambda *nums: ~opened(*nums), "True and False are exchanged"),
        (lambda *nums: opened(*nums).T, "rows and columns are exchanged"),
        (reads_the_future, "sees the words that will be written"),
        (lambda num_read, _: torch.ones(num_read, num_read), "the shape (3, 3)"),
        (lambda *nums: torch.zeros(sum(nums), sum(nums)).masked_fill(~opened(*nums), -1e9), "[0, 0] is 0"),
    ],
)
test_right, test_wrong = answers.tests()
