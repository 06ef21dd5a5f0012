"""Answers to the exercises of chapters/beam_search."""

import math

import torch
from answers import Answers

from utils.corpus.vocabulary import BOS, EOS
from utils.exercises import beam_search as check

answers = Answers()


def greedy(steps, max_len, *, update=True):
    words, log_prob, state = [BOS], 0.0, steps.first
    while words[-1] != EOS and len(words) <= max_len:
        log_probs, new = steps.next(words[-1], state)
        state = new if update else state
        words.append(int(log_probs.argmax()))
        log_prob = log_prob + log_probs.max().item()
    return words, log_prob


answers.add(
    check.greedy_search,
    [greedy, lambda steps, max_len: tuple(map(torch.tensor, greedy(steps, max_len)))],
    [
        (lambda steps, max_len: greedy(steps, max_len, update=False), "raised ValueError"),
        (lambda steps, max_len: greedy(steps, max_len)[0], "expected words, log_prob"),
    ],
)


def step(steps, hypotheses, beam, gamma, *, ends=True):
    kept = []
    for words, log_prob, state in hypotheses:
        if ends and words[-1] == EOS:
            kept.append((words, log_prob, state))
            continue
        log_probs, new = steps.next(words[-1], state)
        kept += [([*words, word], log_prob + more, new) for word, more in enumerate(log_probs)]
    return tuple(sorted(kept, key=lambda c: c[1] / (len(c[0]) - 1) ** gamma, reverse=True)[:beam])


answers.add(
    check.beam_step,
    [step],
    [
        (lambda *inputs: step(*inputs, ends=False), "raised ValueError"),
        (lambda *inputs: step(*inputs)[0], "returns"),
        (lambda *inputs: math.pi, "expected a list"),
    ],
)
FIRST = [0.4, 0.35, 0.25]
SECOND = [[0.34, 0.33, 0.33], [0.4, 0.3, 0.3], [0.9, 0.05, 0.05]]
answers.add(
    check.missed_by_the_beam,
    [
        (FIRST, SECOND),
        (
            torch.tensor([0.3, 0.36, 0.34]),
            torch.tensor([[0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]]),
        ),
    ],
    [
        (([0.6, 0.3, 0.1], [[0.5, 0.3, 0.2], [0.4, 0.3, 0.3], [0.9, 0.1, 0]]), "the most probable one"),
        (([1 / 3] * 3, [[1 / 3] * 3] * 3), "is an accident"),
        (([0.4, 0.35, 0.35], SECOND), "with the sum 1.1"),
        ((FIRST, torch.tensor(SECOND).T), "the columns of second sum to 1"),
        ((FIRST, FIRST), "second has the shape (3,)"),
    ],
)
test_right, test_wrong = answers.tests()
