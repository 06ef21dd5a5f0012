"""Answers to the exercises of chapters/bert."""

import torch
from answers import Answers

from utils.exercises import bert as check

answers = Answers()


def gaps(ids, vocab, mask, *, share=0.15, words=2, masked=0.8, kept=0.1, one_draw=False, low=4):
    dice = torch.rand(ids.shape)
    chosen = (ids > words) & (dice < share)
    dice = dice if one_draw else torch.rand(ids.shape)
    given = ids.masked_fill(chosen & (dice < masked), mask)
    drawn = torch.randint(low, vocab, ids.shape)
    given = torch.where(chosen & (dice >= masked) & (dice < 1 - kept), drawn, given)
    return given, ids.masked_fill(~chosen, 0)


def word_by_word(ids, vocab, mask):
    given, wanted = ids.clone(), torch.zeros_like(ids)
    for row, place in ((ids > 2) & (torch.rand(ids.shape) < 0.15)).nonzero().tolist():
        wanted[row, place] = ids[row, place]
        dice = torch.rand(()).item()
        if dice < 0.1:
            given[row, place] = torch.randint(4, vocab, ())
        elif dice < 0.9:
            given[row, place] = mask
    return given, wanted


def one_word(ids, vocab, mask):
    given, wanted = gaps(ids, vocab, mask)
    return torch.where((given != ids) & (given != mask), 7, given), wanted


def seeded(*inputs):
    torch.manual_seed(3)
    return gaps(*inputs)


def same_places(ids, vocab, mask):
    chosen = (ids > 2) & (torch.rand(ids.shape[1]) < 0.15)
    return ids.masked_fill(chosen, mask), ids.masked_fill(~chosen, 0)


def also_elsewhere(ids, vocab, mask):
    given, wanted = gaps(ids, vocab, mask)
    return torch.where((ids > 2) & (torch.rand(ids.shape) < 0.01), mask, given), wanted


answers.add(
    check.gaps,
    [gaps, word_by_word],
    [
        (lambda *inputs: gaps(*inputs, words=0), "no word is chosen"),
        (lambda *inputs: gaps(*inputs, share=0.3), "of the words are chosen"),
        (lambda *inputs: gaps(*inputs, one_draw=True), "all chosen words become"),
        (lambda *inputs: gaps(*inputs, masked=0.5), "of the chosen words become"),
        (lambda *inputs: gaps(*inputs, kept=0.0), "stay as they are"),
        (one_word, "the same few"),
        (lambda *inputs: gaps(*inputs, low=0), "the random ids go from"),
        (lambda ids, _, mask: gaps(ids, 600, mask), "do not reach"),
        (
            lambda ids, vocab, mask: (gaps(ids, vocab, mask)[0], ids.masked_fill(ids < 3, 0) + (ids > 2)),
            "other ids",
        ),
        (also_elsewhere, "but it is not wanted"),
        (same_places, "the same places"),
        (seeded, "a second call"),
    ],
)
test_right, test_wrong = answers.tests()
