"""Answers to the exercises of chapters/gpt."""

import torch
from answers import Answers

from utils.exercises import gpt as check
from utils.search import next_word_probabilities
from utils.transformer import causal_mask

answers = Answers()


def one_by_one(logits, temperature, top_p):
    probs = torch.softmax(logits / temperature, dim=0).tolist()
    kept, total = [0.0] * len(probs), 0.0
    for place in sorted(range(len(probs)), key=lambda place: -probs[place]):
        if total < top_p:
            kept[place] = probs[place]
        total += probs[place]
    return [p / sum(kept) for p in kept]


answers.add(
    check.draw,
    [
        one_by_one,
        lambda x, temperature, top_p: next_word_probabilities(x, temperature=temperature, top_p=top_p),
    ],
    [(lambda *inputs: one_by_one(*inputs)[:2], "has the shape (2,)")],
)
answers.add(
    check.three_numbers,
    [(0.533, 0.571, 5.0), ("8/15", torch.tensor(4 / 7), [5]), (0.53, 0.57, 4.99)],
    [((0.533, 0.571, 3), "perplexity is 3; expected another")],
)


def opened(num_read, num_written):
    mask = causal_mask(num_read + num_written)
    mask[:num_read, :num_read] = True
    return mask


answers.add(
    check.prefix_mask,
    [opened, lambda *nums: opened(*nums).float()],
    [(lambda *nums: torch.where(opened(*nums), 0.0, -1e9), "the mask at [0, 0] is 0")],
)
test_right, test_wrong = answers.tests()
