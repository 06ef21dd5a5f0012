"""Answers to the exercises of chapters/bahdanau_decoder."""

import math

import torch
from answers import Answers

from utils.attention import masked_softmax
from utils.exercises import bahdanau_decoder as check
from utils.search import greedy

answers = Answers()


def bahdanau(layer, cell, y, s, h, keys, mask):
    weights = masked_softmax(layer.w_v(torch.tanh(layer.w_q(s)[:, None] + keys)).squeeze(-1), mask)
    context = (weights[:, :, None] * h).sum(dim=1)
    return cell(y, context, s), context, weights


def word_by_word(layer, cell, y, s, h, keys, mask):
    scores = [layer.w_v(torch.tanh(layer.w_q(s) + keys[:, j])) for j in range(keys.shape[1])]
    weights = torch.cat(scores, dim=-1).masked_fill(~mask, -math.inf).softmax(dim=-1)
    context = torch.einsum("bn,bnd->bd", weights, h)
    return cell(y, context, s), context, weights


def with_scores(score, weigh=masked_softmax):
    def step(layer, cell, y, s, h, keys, mask):
        weights = weigh(score(layer, s, keys).squeeze(-1), mask)
        context = (weights[:, :, None] * h).sum(dim=1)
        return cell(y, context, s), context, weights

    return step


def additive(layer, s, keys):
    return layer.w_v(torch.tanh(layer.w_q(s)[:, None] + keys))


def changed(change):
    def step(layer, cell, y, s, h, keys, mask):
        return change(cell, y, s, h, mask, *bahdanau(layer, cell, y, s, h, keys, mask))

    return step


def of_equal_weights(cell, y, s, h, mask, new, context, weights):
    return new, (h * mask[:, :, None]).sum(dim=1) / mask.sum(dim=1, keepdim=True), weights


answers.add(
    check.one_step,
    [bahdanau, word_by_word],
    [
        (with_scores(additive, lambda scores, mask: scores.softmax(dim=-1)), "the padding has weight"),
        (with_scores(lambda layer, s, keys: layer.w_v(torch.tanh(s[:, None] + keys))), "as it is"),
        (with_scores(lambda layer, s, keys: layer.w_v(layer.w_q(s)[:, None] + keys)), "tanh is missing"),
        (with_scores(lambda layer, s, keys: layer.w_v(torch.tanh(keys))), "the state is not in the scores"),
        (with_scores(additive, lambda scores, mask: scores), "these are the scores"),
        (
            with_scores(additive, lambda scores, mask: masked_softmax(scores.T, mask.T).T),
            "the weights at [0, 0]",
        ),
        (changed(of_equal_weights), "the same share"),
        (changed(lambda cell, y, s, h, mask, new, c, w: (new, h.sum(dim=1), w)), "the weights are not used"),
        (changed(lambda cell, y, s, h, mask, new, c, w: (s, c, w)), "the new state: this is the old state"),
        (
            changed(lambda cell, y, s, h, mask, new, c, w: (cell(y, 0 * c, s), c, w)),
            "the cell got no context",
        ),
        (changed(lambda cell, y, s, h, mask, new, c, w: (c, w, new)), "in another order"),
    ],
)


def asks_with(s, h):
    return (torch.softmax(h @ s[:, :, None], dim=1) * h).sum(dim=1)


def with_a_product(cell, y, s, h):
    s = cell(y, s)
    return asks_with(s, h), s


def softmax_over_one_query(cell, y, s, h):
    new = cell(y, s)
    return (torch.softmax(h @ new[:, :, None], dim=-1) * h).sum(dim=1), new


def weights_of_the_first_sentence(cell, y, s, h):
    new = cell(y, s)
    return asks_with(new[:1].expand_as(new), h), new


answers.add(
    check.luong_step,
    [with_a_product],
    [
        (lambda cell, y, s, h: (asks_with(s, h), cell(y, s)), "asked with the old state"),
        (lambda cell, y, s, h: (asks_with(cell(y, s), h), s), "this is the old state"),
        (lambda cell, y, s, h: (asks_with(cell(s, y), h), cell(s, y)), "with the state first"),
        (lambda *inputs: with_a_product(*inputs)[::-1], "results are exchanged"),
        (lambda cell, y, s, h: (asks_with(cell(y, s) / math.sqrt(2), h), cell(y, s)), "there is a scale"),
        (lambda cell, y, s, h: (h.mean(dim=1), cell(y, s)), "all weights are equal"),
        (softmax_over_one_query, "every weight is 1"),
        (weights_of_the_first_sentence, "states of width 7, the context"),
    ],
)


def weights_of(model, ids, length=40):
    padded = torch.zeros(1, 40, dtype=torch.long)
    padded[0, : len(ids)] = torch.tensor(ids)
    (found,) = greedy(model, padded, torch.tensor([length]), max_len=50)
    return found.weights


def on_padding(model, ids, length=40):
    return weights_of(model, ids, length)[:, len(ids) :]


answers.add(
    check.weight_on_padding,
    [lambda model, ids: on_padding(model, ids).max()],
    [
        (lambda model, ids: on_padding(model, ids, len(ids)).max(), "input.numel() == 0"),
        (lambda model, ids: weights_of(model, ids).max(), "of all 40 places"),
        (lambda model, ids: weights_of(model, ids)[:, : len(ids)].max(), "on a real word"),
        (lambda model, ids: on_padding(model, ids)[:, 1:].max(), "is left out"),
        (lambda model, ids: on_padding(model, ids).mean(), "the mean weight"),
        (lambda model, ids: on_padding(model, ids)[0].max(), "of the first step alone"),
        (on_padding, "numbers; expected one"),
    ],
)
IDENTITY = [[1, 0], [0, 1]]
SWITCHES = [[-4, 7.5], [8, -1]]
answers.add(
    check.two_units,
    [
        (SWITCHES, IDENTITY, [4, 4]),
        (torch.tensor(SWITCHES), torch.eye(2, requires_grad=True), torch.ones(1, 2)),
    ],
    [
        ((IDENTITY, IDENTITY, [1, 1]), "white is first"),
        (([[1, -1], [1, -1]], [[1, -1], [1, -1]], [2, 2]), "flower is first"),
        (([[0, 0], [0, 0]], IDENTITY, [0, 0]), "are [0, 0, 0]"),
        (([1, -1], [1, -1], 2), "w_q has the shape (2,)"),
        ((SWITCHES, IDENTITY, [1]), "w_v holds [1]"),
    ],
)
test_right, test_wrong = answers.tests()
