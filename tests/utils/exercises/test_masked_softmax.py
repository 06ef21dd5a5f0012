"""Answers to the exercises of chapters/masked_softmax."""

import torch
from answers import Answers

from utils.attention import length_mask
from utils.exercises import masked_softmax as check

answers = Answers()
answers.add(
    check.mask_from_ids,
    [lambda ids: (ids != 0)[:, None, :]],
    [
        (lambda ids: (ids != 0).long()[:, None, :], "the mask holds"),
        (lambda ids: (ids == 0)[:, None], "True at the padding"),
        (lambda ids: ids != 0, "the shape (3, 5);"),
        (lambda ids: (ids != 0)[:, :, None], "shape (3, 5, 1)"),
        (lambda ids: (ids[:1] != 0)[:, None].expand(len(ids), 1, -1), "of row 1 get"),
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
