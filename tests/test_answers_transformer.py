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


def with_two_conditions(num_given, num_words):
    words = torch.arange(num_words)
    return (words <= words[:, None]) | (words < num_given)


def with_loops(num_given, num_words):
    return [[key <= query or key < num_given for key in range(num_words)] for query in range(num_words)]


def with_lengths(num_given, num_words):
    lengths = torch.arange(1, num_words + 1).clamp(min=num_given)
    return torch.arange(num_words) < lengths[:, None]


def of_numbers(num_given, num_words):
    mask = torch.tril(torch.ones(num_words, num_words))
    mask[:, :num_given] = 1
    return mask


def hides(num_given, num_words):
    return ~with_two_conditions(num_given, num_words)


def by_column(num_given, num_words):
    return with_two_conditions(num_given, num_words).T


def only_causal(num_given, num_words):
    return torch.ones(num_words, num_words).tril().bool()


def everything(num_given, num_words):
    return torch.ones(num_words, num_words, dtype=torch.bool)


def given_alone(num_given, num_words):
    return (torch.arange(num_words) < num_given).expand(num_words, num_words)


def given_rows(num_given, num_words):
    mask = only_causal(num_given, num_words)
    mask[:num_given] = True
    return mask


def both_conditions(num_given, num_words):
    words = torch.arange(num_words)
    return (words <= words[:, None]) & (words < num_given)


def not_itself(num_given, num_words):
    words = torch.arange(num_words)
    return (words < words[:, None]) | (words < num_given)


def one_too_many(num_given, num_words):
    return with_two_conditions(num_given + 1, num_words)


def one_too_few(num_given, num_words):
    return with_two_conditions(num_given - 1, num_words)


def one_row(num_given, num_words):
    return torch.arange(num_words) < num_given


def floor_of_scores(num_given, num_words):
    return torch.zeros(num_words, num_words).masked_fill(hides(num_given, num_words), -math.inf)


for function in (with_two_conditions, with_loops, with_lengths, of_numbers):
    answers.right(check.prefix_mask, function)
for function, says, hint in (
    (hides, "True and False are exchanged", "may look at the key"),
    (by_column, "rows and columns are exchanged", "Rows are queries"),
    (only_causal, "the causal mask alone", "all given words"),
    (everything, "every word may look at every word", "later are hidden"),
    (given_alone, "cannot be seen at all", "itself, too"),
    (given_rows, "the given words may look at all words", "given words alone"),
    (both_conditions, "only given words that come before", "is enough"),
    (not_itself, "may not look at itself", "j = i"),
    (one_too_many, "one word too many", "`num_given` - 1"),
    (one_too_few, "forbids word 0 to look at word 2", "counted from 0"),
    (one_row, "has the shape (6,)", "a row for each query"),
    (floor_of_scores, "the mask holds [-inf]", "A comparison"),
):
    answers.wrong(check.prefix_mask, function, says=says, hint=hint)

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
