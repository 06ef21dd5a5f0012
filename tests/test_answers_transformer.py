"""Answers to the exercises of chapters/transformer."""

import math

import torch
from answers import Answers

from utils.exercises import transformer as check

answers = Answers(check)

# ---- Exercise 1 ----

for letter in ("b", "B.", "(b)"):
    answers.right(check.what_changes, letter)
answers.wrong(check.what_changes, "a", says="a part of their averages", hint="Of which words")
answers.wrong(check.what_changes, "c", says="come before word 5", hint="Of which words")
answers.wrong(check.what_changes, "d", says="hold in the encoder", hint="Of which words")
answers.wrong(check.what_changes, 5, says="5 is none", hint="one letter in quotes")

# ---- Exercise 2 ----

answers.right(check.exchanged_query, 0.055, 0.931, 0.013)
answers.right(check.exchanged_query, 0.06, 0.93, 0.01)
answers.right(check.exchanged_query, "0.05", torch.tensor(0.93), [0.01])
answers.right(check.exchanged_query, *torch.softmax(torch.tensor([0.0, 4.0, -2.0]) / math.sqrt(2), dim=0))
for numbers, says, hint in (
    ((0, 2.83, -1.41), "These are the scores", "16.9"),
    ((1, 16.9, 0.24), "These are the exponentials", "sum of the three"),
    ((0.02, 0.98, 0.0), "without the scale", "square root of 2 before"),
    ((0.11, 0.84, 0.04), "are divided by 2", "the width is 2"),
    ((0.93, 0.06, 0.01), "with its own vector", "(2, 0)"),
    ((0.06, 0.01, 0.93), "of white, found and flower", "white, flower, found"),
    ((0.93, 0.01, 0.06), "of flower, found and white", "white, flower, found"),
    ((5.5, 93.1, 1.3), "in per cent", "0.93"),
    ((0.2, 0.3, 0.1), "sum to 0.6", "Divide"),
    ((0.3, 0.6, 0.1), "white has the weight 0.3", "of white again"),
    ((-0.1, 1.0, 0.1), "a negative weight", "positive"),
    (("low", "high", "low"), "the text 'low'", "(2, 0)"),
):
    if numbers[0] == "low":
        hint = "digits alone"
    answers.wrong(check.exchanged_query, *numbers, says=says, hint=hint)

# ---- Exercise 3 ----


def with_cat(query, key, value, past_keys, past_values):
    keys, values = torch.cat([past_keys, key[None]]), torch.cat([past_values, value[None]])
    weights = torch.softmax(keys @ query / math.sqrt(len(query)), dim=0)
    return weights @ values, keys, values


def with_loops(query, key, value, past_keys, past_values):
    keys, values = [*past_keys.tolist(), key.tolist()], [*past_values.tolist(), value.tolist()]
    scores = [sum(a * b for a, b in zip(query.tolist(), k, strict=True)) for k in keys]
    weights = [math.exp(score / len(query) ** 0.5) for score in scores]
    total = sum(weights)
    context = [sum(w * v[i] for w, v in zip(weights, values, strict=True)) / total for i in range(len(value))]
    return [context, keys, values]


def by_pytorch(query, key, value, past_keys, past_values):
    keys, values = torch.vstack([past_keys, key]).double(), torch.vstack([past_values, value]).double()
    parts = query.double()[None, None, None], keys[None, None], values[None, None]
    return torch.nn.functional.scaled_dot_product_attention(*parts)[0, 0, 0], keys, values


def scores_of(scale):
    def step(query, key, value, past_keys, past_values):
        _, keys, values = with_cat(query, key, value, past_keys, past_values)
        return torch.softmax(keys @ query / scale(len(query)), dim=0) @ values, keys, values

    return step


def sums_scores(query, key, value, past_keys, past_values):
    _, keys, values = with_cat(query, key, value, past_keys, past_values)
    return keys @ query / math.sqrt(len(query)) @ values if len(past_keys) else value, keys, values


def not_itself(query, key, value, past_keys, past_values):
    _, keys, values = with_cat(query, key, value, past_keys, past_values)
    if not len(past_keys):
        return value, keys, values
    return torch.softmax(past_keys @ query / math.sqrt(len(query)), dim=0) @ past_values, keys, values


def equal_weights(query, key, value, past_keys, past_values):
    _, keys, values = with_cat(query, key, value, past_keys, past_values)
    return values.mean(dim=0), keys, values


def old_cache(*inputs):
    return with_cat(*inputs)[0], *inputs[3:]


def old_values(*inputs):
    context, keys, _ = with_cat(*inputs)
    return context, keys, inputs[4]


def in_front(query, key, value, past_keys, past_values):
    context, _, _ = with_cat(query, key, value, past_keys, past_values)
    return context, torch.cat([key[None], past_keys]), torch.cat([value[None], past_values])


def averages_keys(*inputs):
    context, keys, values = with_cat(*inputs)
    return inputs[1] * 0 + context.mean(), keys, values


def exchanged(*inputs):
    context, keys, values = with_cat(*inputs)
    return context, values, keys


def context_alone(*inputs):
    return with_cat(*inputs)[0]


def newest(*inputs):
    _, keys, values = with_cat(*inputs)
    return values[-1], keys, values


def other_rows(*inputs):
    context, keys, values = with_cat(*inputs)
    return context, 2 * keys, values


for function in (with_cat, with_loops, by_pytorch, scores_of(lambda d: d**0.5)):
    answers.right(check.one_more_word, function)
for function, says, hint in (
    (scores_of(lambda d: 1), "the scale is missing", "√d"),
    (scores_of(lambda d: d), "divided by d", "square root of the width"),
    (sums_scores, "summed with the scores", "A softmax"),
    (not_itself, "does not look at itself", "into the cache first"),
    (equal_weights, "all weights are equal", "uses the query"),
    (old_cache, "`keys` still has 0 rows", "must find the new one"),
    (old_values, "`values` still has 0 rows", "must find the new one"),
    (in_front, "`keys` stands before the others", "order of the words"),
    (averages_keys, "the context has the shape (2,)", "as wide as a value"),
    (exchanged, "`keys` has the shape (1, 3)", "makes a row of a vector"),
    (context_alone, "returns one thing", "return context, keys, values"),
    (newest, "the context at [0] is", "in turn"),
    (other_rows, "`keys` is not the old rows", "stay as they are"),
):
    answers.wrong(check.one_more_word, function, says=says, hint=hint)

# ---- Exercise 4 ----


def turned(angle: float, length: float) -> list[list[float]]:
    sin, cos = length * math.sin(angle), length * math.cos(angle)
    return [[cos, -sin], [sin, cos]]


answers.right(check.word_before, turned(-0.5, 60))
answers.right(check.word_before, torch.tensor(turned(-0.5, 30)))
answers.right(check.word_before, turned(-0.55, 100))
for matrix, says, hint in (
    (turned(0, 60), "at itself", "must be turned"),
    (turned(0.5, 60), "at the word after it", "back, not forward"),
    (turned(-1.0, 60), "second word before", "by 0.5"),
    (turned(-0.5, 2), "only 0.", "longer"),
    (turned(0, 0), "nearly equal", "so small"),
    (turned(math.pi, 60), "expected word", "circle"),
    ([1, 2], "has the shape (2,)", "another"),
    ([[math.inf, 0], [0, 1]], "infinite or NaN", "turns a vector"),
):
    answers.wrong(check.word_before, matrix, says=says, hint=hint)

# ---- Exercise 5 ----

answers.right(
    check.all_at_once,
    "In training every French word is known, so the model reads all of them in one call. When it writes, it must know "
    "a word before it can write the next one, so twenty words need twenty calls.",
)
answers.wrong(check.all_at_once, "It is false.", says="Your answer has 3 words", hint="Write down")

test_right, test_wrong, test_each_exercise_has_answers = answers.tests()
