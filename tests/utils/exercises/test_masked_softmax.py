"""Answers to the exercises of chapters/masked_softmax."""

import torch
from answers import Answers

from utils.exercises import masked_softmax as check

answers = Answers()
INF = float("inf")


def by_exponentials(scores, mask):
    shifted = (scores - torch.where(mask, scores, -INF).amax(-1, keepdim=True)).masked_fill(~mask, -INF)
    shares = shifted.exp().nan_to_num()
    return shares / shares.sum(-1, keepdim=True).clamp(min=1)


def fills(number):
    return lambda scores, mask: torch.softmax(scores.masked_fill(~mask, number), dim=-1)


def in_place(scores, mask):
    scores[~mask.expand_as(scores)] = -INF
    return torch.softmax(scores, dim=-1)


answers.add(
    check.my_softmax,
    [
        by_exponentials,
        lambda scores, mask: fills(-INF)(scores, mask).nan_to_num(),
    ],
    [
        (in_place, "changes what it is given"),
        (lambda scores, mask: fills(-1e30)(scores, mask) * mask, "in float16, for equal scores"),
        (
            lambda scores, mask: fills(torch.finfo(scores.dtype).min)(scores, mask) * mask,
            "the same score as the allowed ones",
        ),
        (lambda scores, mask: fills(-INF)(scores.mT, mask.mT).mT, "a key that no query may see is 0/0"),
    ],
)


answers.add(
    check.causal_lens,
    [],
    [(lambda *inputs: check.causal_lens.program(*inputs).float(), "the type torch.float32")],
)
test_right, test_wrong = answers.tests()
