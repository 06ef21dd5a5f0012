"""Answers to the exercises of chapters/beam_search."""

import math

import torch
from answers import Answers

from utils.corpus.vocabulary import BOS, EOS
from utils.exercises import beam_search as check

answers = Answers()
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
        (
            ([0.6, 0.3, 0.1], [[0.5, 0.3, 0.2], [0.4, 0.3, 0.3], [0.9, 0.1, 0]]),
            "which is the most probable one",
        ),
        (([1 / 3] * 3, [[1 / 3] * 3] * 3), "is an accident"),
        (([0.4, 0.35, 0.35], SECOND), "with the sum 1.1"),
        ((FIRST, torch.tensor(SECOND).T), "the columns of second sum to 1"),
        ((FIRST, FIRST), "second has the shape (3,)"),
    ],
)


def greedy(steps, max_len, *, add=True, update=True):
    words, log_prob, state = [BOS], 0.0, steps.first
    while words[-1] != EOS and len(words) <= max_len:
        log_probs, new = steps.next(words[-1], state)
        state = new if update else state
        words.append(int(log_probs.argmax()))
        log_prob = add * log_prob + log_probs.max().item()
    return words, log_prob


def changed(change):
    """Greedy search whose result is changed."""
    return lambda steps, max_len: change(*greedy(steps, max_len))


answers.add(
    check.greedy_search,
    [greedy, changed(lambda words, log_prob: (torch.tensor(words), torch.tensor(log_prob)))],
    [
        (changed(lambda words, log_prob: (words[:-1], log_prob)), "stop before"),
        (changed(lambda words, log_prob: (words[1:], log_prob)), "is missing"),
        (lambda steps, max_len: ([BOS, 5, 7, EOS], math.log(0.216)), "the most probable sentence"),
        (changed(lambda words, log_prob: (words, math.exp(log_prob))), "this is the probability"),
        (changed(lambda words, log_prob: (words, log_prob - math.log(0.8))), "is left out"),
        (lambda steps, max_len: greedy(steps, max_len, add=False), "the last word alone"),
        (lambda steps, max_len: greedy(steps, max_len, update=False), "raised ValueError"),
        (lambda steps, max_len: greedy(steps, 10), "with max_len=1"),
        (changed(lambda words, log_prob: words), "expected words, log_prob"),
    ],
)


def step(steps, hypotheses, beam, gamma, *, ends=True, old_state=False, start=1, each=False, drop=False):
    candidates = []
    for words, log_prob, state in hypotheses:
        if ends and words[-1] == EOS:
            candidates += [] if drop else [(words, log_prob, state)]
            continue
        log_probs, new = steps.next(words[-1], state)
        best = log_probs.topk(1 if each else beam)
        candidates += [
            ([*words, word], start * log_prob + more, state if old_state else new)
            for more, word in zip(best.values.tolist(), best.indices.tolist(), strict=True)
        ]
    return sorted(candidates, key=lambda c: c[1] / (len(c[0]) - 1) ** gamma, reverse=True)[:beam]


def with_options(**options):
    return lambda steps, hypotheses, beam, gamma: step(steps, hypotheses, beam, gamma, **options)


answers.add(
    check.beam_step,
    [step, lambda *given: tuple(step(*given))],
    [
        (
            with_options(drop=True),
            "with a finished hypothesis and gamma 0 it keeps <bos> le chat, <bos> le fleur",
        ),
        (with_options(old_state=True), "is not the one after"),
        (with_options(start=0), "that of the last word alone"),
        (with_options(ends=False), "raised ValueError"),
        (lambda steps, hypotheses, beam, gamma: step(steps, hypotheses, beam, 0), "with gamma 1 it keeps"),
        (lambda steps, hypotheses, beam, gamma: step(steps, hypotheses, beam, gamma)[0], "returns"),
    ],
)
test_right, test_wrong = answers.tests()
