"""Answers to the exercises of chapters/bahdanau_decoder."""

import math

import torch
from answers import Answers

from utils.exercises import bahdanau_decoder as check
from utils.search import greedy

answers = Answers(check)

# ---- Exercise 1 ----

for letter in ("c", "C.", "(c)"):
    answers.right(check.after_hiding, letter)
answers.wrong(check.after_hiding, "a", says="this sum is now smaller", hint="exponential from the sum")
answers.wrong(check.after_hiding, "b", says="added to that of flower", hint="exponential from the sum")
answers.wrong(check.after_hiding, "d", says="shares nothing equally", hint="exponential from the sum")
answers.wrong(check.after_hiding, 0.91, says="0.91 is none", hint="one letter in quotes")

# ---- Exercise 2 ----

answers.right(check.another_query, -0.76, 0.187, 0.187, 0.626)
answers.right(check.another_query, -0.76, 0.19, 0.19, 0.63)  # their sum is 1.01
answers.right(check.another_query, -0.76, "0.19", torch.tensor(0.19), [0.62])
answers.right(check.another_query, -0.76, *torch.softmax(torch.tensor([-1.967, -1.967, -0.760]), dim=0))
answers.wrong(check.another_query, -0.76, -1.967, -1.967, -0.76, says="These are the scores", hint="0.468")
answers.wrong(
    check.another_query, -0.76, 0.14, 0.14, 0.468, says="These are the exponentials", hint="0.140 + 0.140"
)
answers.wrong(check.another_query, -0.76, 0.073, 0.073, 0.853, says="weights of the page", hint="(0.2, 1.6)")
answers.wrong(
    check.another_query, -0.76, 0.0177, 0.0177, 0.9647, says="without the tanh", hint="2 tanh(-2.4)"
)
answers.wrong(
    check.another_query, -0.76, 0.261, 0.261, 0.478, says="without the factor 2", hint="2 times the tanh"
)
answers.wrong(
    check.another_query, -0.76, 0.0435, 0.0435, 0.913, says="do not depend on the state", hint="-1.4"
)
answers.wrong(check.another_query, -0.76, 0.3, 0.3, 0.3, says="sum to 0.9", hint="Divide")
answers.wrong(check.another_query, -0.76, 0.35, 0.50, 0.15, says="expected the same", hint="0.4 - 1.4")
answers.wrong(
    check.another_query, -0.76, 0.33, 0.33, 0.34, says="flower has the weight 0.34", hint="-1.4 + 1"
)
answers.wrong(
    check.another_query, -0.76, 0.626, 0.187, 0.187, says="in the wrong order", hint="small, white, flower"
)
answers.wrong(check.another_query, -0.76, 0.493, 0.493, 0.014, says="are multiplied", hint="-1.4 + 1")
answers.wrong(check.another_query, -0.76, 0.435, 0.435, 0.13, says="is subtracted", hint="-1.4 + 1")
answers.wrong(check.another_query, -0.76, 18.7, 18.7, 62.6, says="in per cent", hint="0.19")
answers.wrong(check.another_query, -0.76, -0.1, 0.1, 1, says="a negative weight", hint="positive")
answers.wrong(check.another_query, -0.76, "low", "low", "high", says="the text 'low'", hint="Subtract")
WEIGHTS = (0.19, 0.19, 0.63)  # those of the state (1.6, 0.2), too
answers.wrong(check.another_query, 1.967, *WEIGHTS, says="for the state (1.6, 0.2)", hint="0.2 - 1.6")
answers.wrong(check.another_query, 1.87, *WEIGHTS, says="of flower for the state (1.5", hint="(0.2, 1.6)")
answers.wrong(check.another_query, -0.8, *WEIGHTS, says="The tanh is missing", hint="2 tanh")
answers.wrong(check.another_query, -0.38, *WEIGHTS, says="The factor 2 is missing", hint="times 2")
answers.wrong(check.another_query, 0.63, *WEIGHTS, says="before the softmax", hint="2 tanh")
answers.wrong(check.another_query, 0.5, *WEIGHTS, says="e_flower is 0.5", hint="2 tanh")
answers.right(check.another_query, "-0.7599", *WEIGHTS)

# ---- Exercise 3 ----


def with_a_product(cell, y, s, h):
    s = cell(y, s)
    weights = torch.softmax((h @ s[:, :, None]).squeeze(-1), dim=-1)
    return (weights[:, :, None] * h).sum(dim=1), s


def with_einsum(cell, y, s, h):
    new = cell(y, s)
    return torch.einsum("bn,bnd->bd", torch.einsum("bnd,bd->bn", h, new).softmax(dim=-1), h), new


def with_loops(cell, y, s, h):
    new, contexts = cell(y, s), []
    for query, rows in zip(new, h, strict=True):
        exponentials = [math.exp(float(query @ row)) for row in rows]
        contexts.append(sum(e / sum(exponentials) * row for e, row in zip(exponentials, rows, strict=True)))
    return [torch.stack(contexts), new]


def asks_with(s, h):
    return (torch.softmax((h @ s[:, :, None]).squeeze(-1), dim=-1)[:, :, None] * h).sum(dim=1)


def asks_with_the_old_state(cell, y, s, h):
    return asks_with(s, h), cell(y, s)


def asks_with_the_word(cell, y, s, h):
    return asks_with(y, h), cell(y, s)


def returns_the_old_state(cell, y, s, h):
    return asks_with(cell(y, s), h), s


def exchanges_the_results(cell, y, s, h):
    return with_a_product(cell, y, s, h)[::-1]


def scaled(cell, y, s, h):
    new = cell(y, s)
    return asks_with(new / math.sqrt(2), h), new


def scores_for_weights(cell, y, s, h):
    new = cell(y, s)
    return (h @ new[:, :, None] * h).sum(dim=1), new


def softmax_over_one_query(cell, y, s, h):
    new = cell(y, s)
    return (torch.softmax(h @ new[:, :, None], dim=-1) * h).sum(dim=1), new


def mean_of_the_rows(cell, y, s, h):
    return h.mean(dim=1), cell(y, s)


def scores_through_a_tanh(cell, y, s, h):
    new = cell(y, s)
    weights = torch.softmax(torch.tanh(h @ new[:, :, None]), dim=1)
    return (weights * h).sum(dim=1), new


def divided_by_the_number_of_words(cell, y, s, h):
    context, new = with_a_product(cell, y, s, h)
    return context / h.shape[1], new


def the_best_row(cell, y, s, h):
    new = cell(y, s)
    return h[torch.arange(len(h)), (h @ new[:, :, None])[:, :, 0].argmax(dim=1)], new


def scores_divided_by_their_sum(cell, y, s, h):
    new = cell(y, s)
    scores = h @ new[:, :, None]
    return (scores / scores.sum(dim=1, keepdim=True) * h).sum(dim=1), new


def added_up_over_the_words(cell, y, s, h):
    new = cell(y, s)
    return torch.softmax((new[:, None] * h).sum(dim=1), dim=-1), new


def weights_for_the_context(cell, y, s, h):
    new = cell(y, s)
    return torch.softmax((h @ new[:, :, None]).squeeze(-1), dim=-1), new


def keeps_the_axis_of_the_query(cell, y, s, h):
    context, new = with_a_product(cell, y, s, h)
    return context[:, None], new


def returns_the_context_alone(cell, y, s, h):
    return asks_with(cell(y, s), h)


def returns_the_weights_too(cell, y, s, h):
    return *with_a_product(cell, y, s, h), None


def exchanges_word_and_state(cell, y, s, h):
    new = cell(s, y)
    return asks_with(new, h), new


def weights_of_the_first_sentence(cell, y, s, h):
    new = cell(y, s)
    return asks_with(new[:1].expand_as(new), h), new


def makes_a_cell_of_its_own(cell, y, s, h):
    new = y + s if y.shape == s.shape else torch.tanh(s)
    return asks_with(new, h), new


for function in (with_a_product, with_einsum, with_loops):
    answers.right(check.luong_step, function)
for function, says, hint in (
    (asks_with_the_old_state, "asked with the old state", "new state first"),
    (asks_with_the_word, "asked with the word y", "query is the new state"),
    (returns_the_old_state, "is the old one", "cell(y, s)"),
    (exchanges_the_results, "two results are exchanged", "return context, s"),
    (scaled, "divided by the square root of 2", "without a scale"),
    (scores_for_weights, "the scores are used as weights", "scores into weights"),
    (softmax_over_one_query, "every weight is 1", "axis of length 1"),
    (mean_of_the_rows, "the plain mean of the rows", "sum to 1 over its words"),
    (keeps_the_axis_of_the_query, "the shape (1, 1, 2)", "squeeze(1)"),
    (returns_the_context_alone, "returns one thing", "return context, s"),
    (returns_the_weights_too, "returns 3 things", "return context, s"),
    (exchanges_word_and_state, "with the state first", "cell(y, s)"),
    (scores_through_a_tanh, "went through a tanh", "without a tanh"),
    (divided_by_the_number_of_words, "divided by the number of words", "sum to 1 already"),
    (weights_for_the_context, "weights of the three words", "average of the rows"),
    (the_best_row, "only the row with the largest score", "average of all rows"),
    (scores_divided_by_their_sum, "divided by their sum", "divides the exponentials"),
    (added_up_over_the_words, "added up over the words", "along the last axis"),
    (weights_of_the_first_sentence, "states of width 7, the context", "over the words"),
    (makes_a_cell_of_its_own, "states of width 7, the new state", "that you are given"),
):
    answers.wrong(check.luong_step, function, says=says, hint=hint)

# ---- Exercise 4 ----


def weights_of(model, ids, length=40):
    padded = torch.zeros(1, 40, dtype=torch.long)
    padded[0, : len(ids)] = torch.tensor(ids)
    (found,) = greedy(model, padded, torch.tensor([length]), max_len=50)
    return found.weights


def largest(model, ids):
    return weights_of(model, ids)[:, len(ids) :].max().item()


def largest_as_a_tensor(model, ids):
    return weights_of(model, ids)[:, len(ids) :].max()


@torch.no_grad()
def largest_by_steps(model, ids):
    padded = torch.tensor([[*ids, *[0] * (40 - len(ids))]])
    memory, state = model.start(padded, torch.tensor([40]))
    word, best = torch.tensor([[1]]), 0.0
    for _ in range(51):
        logits, state, weights = model.decoder(word, memory, state)
        best = max(best, *weights[0, 0, len(ids) :].tolist())
        word = logits.argmax(dim=-1)
        if word.item() == 2:
            return best
    return best


def always_one(model, ids):
    return 1.0


def in_per_cent(model, ids):
    return 45.2


def right_length(model, ids):
    return weights_of(model, ids, len(ids))[:, len(ids) :].max().item()


def of_all_places(model, ids):
    return weights_of(model, ids).max().item()


def of_the_words(model, ids):
    return weights_of(model, ids)[:, : len(ids)].max().item()


def mean(model, ids):
    return weights_of(model, ids)[:, len(ids) :].mean().item()


def smallest(model, ids):
    return weights_of(model, ids)[:, len(ids) :].min().item()


def sum_of_a_step(model, ids):
    return weights_of(model, ids)[:, len(ids) :].sum(dim=-1).max().item()


def first_step(model, ids):
    return weights_of(model, ids)[0, len(ids) :].max().item()


def last_step(model, ids):
    return weights_of(model, ids)[-1, len(ids) :].max().item()


def first_place_left_out(model, ids):
    return weights_of(model, ids)[:, len(ids) + 1 :].max().item()


def last_word_counted_too(model, ids):
    return weights_of(model, ids)[:, len(ids) - 1 :].max().item()


def rows_for_columns(model, ids):
    return weights_of(model, ids)[len(ids) :].max().item()


def all_weights(model, ids):
    return weights_of(model, ids)[:, len(ids) :]


for function in (largest, largest_as_a_tensor, largest_by_steps):
    answers.right(check.weight_on_padding, function)
for function, says, hint in (
    (always_one, "the result is 1; expected", "40 zeros"),
    (in_per_cent, "between 0 and 1", "share in per cent"),
    (right_length, "the mask hid the padding", "on purpose"),
    (first_place_left_out, "from the second place", "count from 0"),
    (last_word_counted_too, "the last word and the padding", "len(ids) - 1"),
    (rows_for_columns, "of the steps from number 3", "Rows are steps"),
    (of_all_places, "largest weight of all 40", "len(ids)"),
    (of_the_words, "on a real word", "begins at column"),
    (mean, "the mean weight", "maximum"),
    (smallest, "the smallest weight", "maximum"),
    (sum_of_a_step, "the sum of the weights", "add up"),
    (first_step, "of the first step alone", "every step"),
    (last_step, "of the last step alone", "every step"),
    (all_weights, "numbers; expected one", "all steps and of all places"),
):
    answers.wrong(check.weight_on_padding, function, says=says, hint=hint)

# ---- Exercise 5 ----

IDENTITY = [[1, 0], [0, 1]]
SWITCHES = [[-4, 7.5], [8, -1]]

answers.right(check.two_units, SWITCHES, IDENTITY, [4, 4])
answers.right(
    check.two_units,
    torch.tensor(SWITCHES).double(),
    torch.eye(2, requires_grad=True),
    torch.tensor([[1.0, 1.0]]),
)
answers.wrong(check.two_units, IDENTITY, IDENTITY, [1, 1], says="white is first", hint="does flower")
answers.wrong(
    check.two_units, [[1, -1], [1, -1]], [[1, -1], [1, -1]], [2, 2], says="flower is first", hint="does white"
)
answers.wrong(
    check.two_units, [[0, 0], [0, 0]], IDENTITY, [0, 0], says="are [0, 0, 0]", hint="keep the words apart"
)
answers.wrong(
    check.two_units,
    SWITCHES,
    [[1e-4, 0], [0, 1e-4]],
    [1, 1],
    says="after petite, for the state (1.5, 0.8), the scores of small, white and flower are [1, 1, 1]",
    hint="w_v",
)
answers.wrong(check.two_units, [1, -1], [1, -1], 2, says="w_q has the shape (2,)", hint="has a row")
answers.wrong(check.two_units, SWITCHES, IDENTITY, [1], says="w_v holds [1]", hint="one number in `w_v`")
answers.wrong(
    check.two_units, [[math.inf, 0], [0, 1]], IDENTITY, [1, 1], says="infinite", hint="switch a unit off"
)

# ---- Exercise 6 ----

answers.right(
    check.does_it_explain, "I would hide the noun in the step of the article and count what changes. " * 3
)
answers.wrong(
    check.does_it_explain, "Look at the heat map.", says="Your answer has 5 words", hint="before you look"
)
answers.wrong(check.does_it_explain, 0.43, says="is a float", hint="")

test_right, test_wrong, test_number = answers.tests()
