"""Answers to the exercises of chapters/gpt."""

import torch
from answers import Answers

from utils.exercises import gpt as check
from utils.search import next_word_probabilities
from utils.transformer import causal_mask

answers = Answers()


def drawn(logits, temperature, top_p, *, order=True, divide=True, crossing=True):
    probs = torch.softmax(logits / temperature, dim=0)
    ordered, which = probs.sort(descending=True)
    total = ordered.cumsum(dim=0) - (ordered if crossing else 0)
    ordered = ordered.masked_fill(total >= top_p if crossing else total > top_p + 1e-6, 0)
    kept = torch.zeros_like(probs).index_put((which,), ordered) if order else ordered
    return kept / kept.sum() if divide else kept


def one_by_one(logits, temperature, top_p):
    probs = torch.softmax(logits / temperature, dim=0).tolist()
    kept, total = [0.0] * len(probs), 0.0
    for place in sorted(range(len(probs)), key=lambda place: -probs[place]):
        if total < top_p:
            kept[place] = probs[place]
        total += probs[place]
    return [p / sum(kept) for p in kept]


def top_p_first(logits, temperature, top_p):
    kept = drawn(logits, 1, top_p) ** (1 / temperature)
    return kept / kept.sum()


answers.add(
    check.draw,
    [
        drawn,
        one_by_one,
        lambda x, temperature, top_p: next_word_probabilities(x, temperature=temperature, top_p=top_p),
    ],
    [
        (lambda x, t, p: drawn(x * t, 1, p), "multiplied by the temperature"),
        (lambda x, t, p: drawn(x, 1, p), "the temperature changes nothing"),
        (lambda x, t, p: torch.softmax(x.softmax(0) / t, dim=0), "the softmax of probabilities"),
        (lambda x, t, p: torch.softmax(x / t, dim=0), "all words stay"),
        (lambda *inputs: drawn(*inputs, divide=False), "do not sum to 1"),
        (lambda *inputs: drawn(*inputs, crossing=False), "a word too few stays"),
        (lambda *inputs: drawn(*inputs, order=False), "in the order of their size"),
        (top_p_first, "top-p came before the temperature"),
        (lambda x, t, p: drawn(x, t, p)[:2], "has the shape (2,)"),
    ],
)
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
