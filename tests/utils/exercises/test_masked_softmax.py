"""Answers to the exercises of chapters/masked_softmax."""

import torch
from answers import Answers

from utils.attention import length_mask
from utils.exercises import masked_softmax as check

answers = Answers()
INF = float("inf")


def by_hand(scores, mask):
    empty = ~mask.any(dim=-1, keepdim=True)
    filled = scores.masked_fill(~mask, -INF).masked_fill(empty, 0.0)
    return torch.softmax(filled, dim=-1).masked_fill(~mask, 0.0)


def by_exponentials(scores, mask):
    shifted = (scores - torch.where(mask, scores, -INF).amax(-1, keepdim=True)).masked_fill(~mask, -INF)
    shares = shifted.exp().nan_to_num()
    return shares / shares.sum(-1, keepdim=True).clamp(min=1)


def fills(number):
    return lambda scores, mask: torch.softmax(scores.masked_fill(~mask, number), dim=-1)


def in_place(scores, mask):
    scores[~mask.expand_as(scores)] = -INF
    return torch.softmax(scores, dim=-1)


def own_exponentials(scores, mask):
    shares = scores.exp() * mask
    return shares / shares.sum(-1, keepdim=True)


def divided_again(scores, mask):
    weights = torch.softmax(scores, dim=-1) * mask
    return weights / weights.sum(-1, keepdim=True)


answers.add(
    check.my_softmax,
    [
        by_hand,
        by_exponentials,
        lambda scores, mask: fills(-INF)(scores, mask).nan_to_num(),
        lambda scores, mask: fills(torch.finfo(scores.dtype).min)(scores, mask) * mask,
    ],
    [
        (lambda scores, mask: torch.softmax(scores, dim=-1), "the mask has no effect"),
        (lambda scores, mask: torch.softmax(scores, dim=-1) * mask, "they sum to 3/7"),
        (lambda scores, mask: by_hand(scores, ~mask), "the forbidden key gets them"),
        (fills(0.0), "the forbidden key got the score 0"),
        (lambda scores, mask: scores.exp() * mask, "these are the exponentials"),
        (in_place, "changes what it is given"),
        (lambda scores, mask: by_hand(scores, mask[:1]), "mask of (2, 1, 5)"),
        (fills(-1e6), "for the scores [-10000000000, "),
        (divided_again, "for the scores [0, 0, 150, 0]"),
        (own_exponentials, "for the scores [100, 100, 0, 0]"),
        (fills(-INF), "not a number: 0/0"),
        (
            lambda scores, mask: fills(torch.finfo(scores.dtype).min)(scores, mask),
            "all keys get the same weight",
        ),
        (lambda scores, mask: fills(-1e30)(scores, mask) * mask, "in float16, for equal scores"),
    ],
)


def smaller_of_both(valid_lens, num_queries):
    return torch.minimum(torch.arange(1, num_queries + 1), valid_lens[:, None])


answers.add(
    check.causal_lens,
    [smaller_of_both],
    [
        (lambda lens, num: torch.minimum(torch.arange(num), lens[:, None]), "query 0 sees nothing"),
        (lambda lens, num: torch.arange(1, num + 1).expand(len(lens), -1), "sees a padded key"),
        (lambda lens, num: lens[:, None].expand(-1, num), "which comes later"),
        (lambda lens, num: lens, "has the shape (1,)"),
        (length_mask, "the type torch.bool"),
        (lambda lens, num: smaller_of_both(lens, max(3, int(lens.max()))), "the shape (2, 5)"),
        (lambda lens, num: smaller_of_both(lens, num).float(), "the type torch.float32"),
    ],
)
BAD = torch.tensor([[0.0, 0.0, 150.0, 0.0]])


def softmax_times_mask(scores, mask):
    weights = torch.softmax(scores, dim=-1) * mask
    return weights / weights.sum(dim=-1, keepdim=True)


def with_a_small_number(scores, mask):
    weights = torch.softmax(scores, dim=-1) * mask
    return weights / (weights.sum(dim=-1, keepdim=True) + 1e-9)


def exponentials_times_mask(scores, mask):
    exponentials = scores.exp() * mask
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def divided_by_the_sum_of_all(scores, mask):
    weights = torch.softmax(scores, dim=-1) * mask
    return weights / weights.sum()


def masked_softmax(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)


answers.add(
    check.renormalised,
    [
        (softmax_times_mask, BAD),
        (softmax_times_mask, [[-100, -150, 0, 100]]),
        (with_a_small_number, [[0, 0, 50, 0]]),
    ],
    [
        ((lambda scores, mask: torch.softmax(scores, dim=-1) * mask, BAD), "they sum to 3/7"),
        ((lambda scores, mask: torch.softmax(scores, dim=-1), BAD), "the mask has no effect"),
        ((lambda scores, mask: softmax_times_mask(scores, ~mask), BAD), "the forbidden key gets"),
        ((exponentials_times_mask, BAD), "[100, 100]"),
        ((divided_by_the_sum_of_all, BAD), "(2, 3, 5), the result"),
        ((masked_softmax, BAD), "it does not fail"),
        ((BAD, BAD), "got a Tensor; expected a function"),
        ((softmax_times_mask, [[0, 0, 50, 0]]), "both ways give the same weights"),
        ((softmax_times_mask, [[0, 0, 1e4, 0]]), "between -200 and 200"),
    ],
)
test_right, test_wrong = answers.tests()
