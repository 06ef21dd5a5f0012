"""Answers that learners give to the exercises of chapters/bert_and_gpt, right and wrong."""

import torch
from answers import Answers

from utils.exercises import bert_and_gpt as check
from utils.transformer import causal_mask

answers = Answers(check)

# ---- Exercise 1 ----

answers.right(check.later_word, "b")
answers.right(check.later_word, "(B)")
answers.wrong(
    check.later_word, "a", says="Most places stand before it", hint="which words does this place see"
)
answers.wrong(check.later_word, "c", says="predicted from the vector of the last one", hint="which words")
answers.wrong(check.later_word, "d", says="the place before it, which does not see it", hint="which words")
answers.wrong(check.later_word, 1, says="1 is none", hint="one letter in quotes")

# ---- Exercise 2 ----

RIGHT = (0.533, 0.571, 5.0)
answers.right(check.three_numbers, *RIGHT)
answers.right(check.three_numbers, "8/15", torch.tensor(4 / 7), [5])
answers.right(check.three_numbers, 0.53, 0.57, 4.99)


def with_number(place: int, number: object) -> tuple:
    return (*RIGHT[:place], number, *RIGHT[place + 1 :])


for place, number, says, hint in (
    (0, 0.3255, "these are the square roots", "twice as large"),
    (0, 0.16, "this is 0.4 squared", "0.3"),
    (0, 0.4, "at temperature 1.", "is squared"),
    (0, 0.8, "divided 0.4 by 1/2", "divides the logarithm"),
    (0, 0.7, "p_cold is 0.7; expected another", "squared"),
    (0, "half", "the text 'half'", "digits"),
    (1, 0.4, "0.4, as before", "sum to 0.7"),
    (1, 1, "kept only the first word", "less than 0.6"),
    (1, 0.444, "kept three words", "enough"),
    (1, 0.667, "divided 0.4 by top-p", "sum of the words"),
    (1, 0.3, "p_top is 0.3; expected another", "until their sum"),
    (2, 0.2, "the mean probability of a word", "one divided by"),
    (2, 125, "one divided by the product", "third root"),
    (2, 1.609, "the cross-entropy in nats", "exponential"),
    (2, 4.286, "ordinary mean of the three probabilities", "third root"),
    (2, 5.833, "ordinary mean of 1/0.4", "logarithms"),
    (2, 3, "perplexity is 3; expected another", ""),
):
    answers.wrong(check.three_numbers, *with_number(place, number), says=says, hint=hint)

# ---- Exercise 3 ----


def opened(num_read, num_written):
    mask = causal_mask(num_read + num_written)
    mask[:num_read, :num_read] = True
    return mask


def with_loops(num_read, num_written):
    n = num_read + num_written
    return [[j <= i or max(i, j) < num_read for j in range(n)] for i in range(n)]


def with_numbers(num_read, num_written):
    places = torch.arange(num_read + num_written)
    return (places <= places[:, None].clamp(min=num_read - 1)).float()


def plain_causal(num_read, num_written):
    return causal_mask(num_read + num_written)


def everything(num_read, num_written):
    return torch.ones(num_read + num_written, num_read + num_written, dtype=torch.bool)


def upside_down(num_read, num_written):
    return ~opened(num_read, num_written)


def turned(num_read, num_written):
    return opened(num_read, num_written).T


def past_forgotten(num_read, num_written):
    mask = opened(num_read, num_written)
    mask[num_read:, :num_read] = False
    return mask


def reads_the_future(num_read, num_written):
    mask = causal_mask(num_read + num_written)
    mask[:num_read] = True
    return mask


def not_itself(num_read, num_written):
    return opened(num_read, num_written) & ~torch.eye(num_read + num_written, dtype=torch.bool)


def one_too_few(num_read, num_written):
    mask = causal_mask(num_read + num_written)
    mask[: num_read - 1, : num_read - 1] = True
    return mask


def only_the_read_part(num_read, num_written):
    return torch.ones(num_read, num_read, dtype=torch.bool)


def as_scores(num_read, num_written):
    return torch.zeros(num_read + num_written, num_read + num_written).masked_fill(
        ~opened(num_read, num_written), -1e9
    )


def fails_without_reading(num_read, num_written):
    return opened(num_read, num_written) if num_read else everything(num_read, num_written)


def fails_without_writing(num_read, num_written):
    return opened(num_read, num_written) if num_written else plain_causal(num_read, num_written)


for function in (opened, with_loops, with_numbers):
    answers.right(check.prefix_mask, function)
for function, says, hint in (
    (plain_causal, "this is the causal mask", "open the part"),
    (everything, "see what comes later", "causal"),
    (upside_down, "True and False are exchanged", "may attend"),
    (turned, "rows and columns are exchanged", "columns are keys"),
    (past_forgotten, "does not see the words that were read", "all its past"),
    (reads_the_future, "sees the words that will be written", "only the read columns"),
    (not_itself, "does not see itself", "diagonal"),
    (one_too_few, "the place [0, 2] is False", "Rows are queries"),
    (only_the_read_part, "the shape (3, 3)", "read or written"),
    (as_scores, "True and False alone", "no score"),
    (fails_without_reading, "with no word read", "no special case"),
    (fails_without_writing, "with no word written", "belong to what is read"),
):
    answers.wrong(check.prefix_mask, function, says=says, hint=hint)

# ---- Exercise 4 ----

answers.right(check.half, 1.67)
answers.right(check.half, torch.tensor(1.665))
answers.wrong(check.half, 0.6, says="Multiplied by 0.6", hint="upside down")
answers.wrong(check.half, 1, says="this temperature is too low", hint="more equal")
answers.wrong(check.half, 3, says="this temperature is too high", hint="gives the first word more")
answers.wrong(check.half, -1, says="expected a number above 0", hint="divides")

# ---- Exercise 5 ----

answers.right(
    check.what_the_probe_shows, "A vector can hold a number that the network does not use at all. " * 3
)
answers.wrong(
    check.what_the_probe_shows, "It is not so.", says="Your answer has 4 words", hint="before you look"
)

test_right, test_wrong, test_number = answers.tests()
