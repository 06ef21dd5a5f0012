"""Answers to the exercises of chapters/attention_variants."""

import torch
from answers import Answers

from utils.exercises import attention_variants as check

answers = Answers(check)

# ---- Exercise 1 ----

for letter in ("c", "C.", "(c)"):
    answers.right(check.doubled_vectors, letter)
answers.wrong(check.doubled_vectors, "a", says="become sharper", hint="divides by the length")
answers.wrong(check.doubled_vectors, "b", says="In concat the tanh changes", hint="divides by the length")
answers.wrong(check.doubled_vectors, "d", says="with dot the differences", hint="divides by the length")
answers.wrong(check.doubled_vectors, "cosine", says="'cosine' is none", hint="one letter in quotes")

# ---- Exercise 2 ----

answers.right(check.sparse_weights, 0.8, 0.2, 0)
answers.right(check.sparse_weights, "0.8", torch.tensor(0.2), [0.0])
for weights, says, hint in (
    ((0.59, 0.32, 0.09), "weights of the softmax", "subtracts one number"),
    ((0.625, 0.375, 0), "divided by their sum", "sum to 1"),
    ((0.646, 0.354, 0), "softmax of the two largest", "no exponentials"),
    ((1.167, 0.567, -0.733), "one of them is negative", "first two words alone"),
    ((1.5, 0.9, 0), "nothing was subtracted", "sum to 2.4"),
    ((1, 0, 0), "All the weight lies on the largest", "only 0.6"),
    ((0.8, 0.3, -0.1), "-0.1 is a negative weight", "becomes 0"),
    ((0.8, 0.3, 0), "sum to 1.1", "the same number"),
    ((0.7, 0.1, 0.2), "the third word has the weight 0.2", "more than 1 below"),
    ((0.7, 0.3, 0), "differ by 0.4", "The same number"),
    (("much", "less", "none"), "the text 'much'", "Try with two words"),
):
    answers.wrong(check.sparse_weights, *weights, says=says, hint=hint)

# ---- Exercise 3 ----


def with_cumsum(weights):
    return torch.minimum(weights, weights.cumsum(dim=0) - weights).sum(dim=1).mean()


def with_a_loop(weights):
    coverage, total = torch.zeros(weights.shape[1]), 0.0
    for row in weights:
        total += torch.minimum(row, coverage).sum().item()
        coverage = coverage + row
    return total / len(weights)


def with_lists(weights):
    coverage, total = [0.0] * weights.shape[1], 0.0
    for row in weights.tolist():
        total += sum(map(min, row, coverage))
        coverage = [a + b for a, b in zip(row, coverage, strict=True)]
    return [total / len(weights)]


def with_this_step(weights):
    return torch.minimum(weights, weights.cumsum(dim=0)).sum(dim=1).mean()


def the_larger(weights):
    return torch.maximum(weights, weights.cumsum(dim=0) - weights).sum(dim=1).mean()


def the_product(weights):
    return (weights * (weights.cumsum(dim=0) - weights)).sum(dim=1).mean()


def the_step_before(weights):
    before = torch.cat([torch.zeros(1, weights.shape[1]), weights[:-1]])
    return torch.minimum(weights, before).sum(dim=1).mean()


def summed(weights):
    return torch.minimum(weights, weights.cumsum(dim=0) - weights).sum()


def mean_of_all(weights):
    return torch.minimum(weights, weights.cumsum(dim=0) - weights).mean()


def without_the_first(weights):
    return torch.minimum(weights, weights.cumsum(dim=0) - weights).sum(dim=1)[1:].mean()


def each_step(weights):
    return torch.minimum(weights, weights.cumsum(dim=0) - weights).sum(dim=1)


def always_half(weights):
    return 0.5


def writes_into_the_weights(weights):
    weights -= 0.1
    return weights.sum()


for function in (with_cumsum, with_a_loop, with_lists):
    answers.right(check.overlap, function)
for function, says, hint in (
    (with_this_step, "has the weights of this step in it", "after you have used it"),
    (the_larger, "the larger of weight and coverage", "smaller of the two"),
    (the_product, "multiplies weight and coverage", "not their product"),
    (the_step_before, "with the step before alone", "all steps before"),
    (summed, "the sum over the steps", "number of steps"),
    (mean_of_all, "the mean over steps and words", "words of a step first"),
    (without_the_first, "leaves out the first step", "Its overlap is 0"),
    (each_step, "the result holds 3 numbers", "mean over the steps"),
    (always_half, "the result is 0.5; expected 0.4167", "zeros at first"),
    (writes_into_the_weights, "changes what it is given", "new object"),
):
    answers.wrong(check.overlap, function, says=says, hint=hint)

# ---- Exercise 4 ----

for number in (0.8, "4/5", torch.tensor(0.8), 0.803):
    answers.right(check.best_baseline, number)
answers.wrong(check.best_baseline, 0, says="without a baseline", hint="above 0")
answers.wrong(check.best_baseline, 0.2, says="the usual baseline", hint="further up")
answers.wrong(check.best_baseline, 0.5, says="without the weights", hint="0.5 · 0.2")
answers.wrong(check.best_baseline, 1, says="whenever the right word is drawn", hint="go down a little")
answers.wrong(check.best_baseline, 0.7, says="they differ by 0.1", hint="For which b")
answers.wrong(check.best_baseline, 1e9, says="too large", hint="from 0 to 1")

# ---- Exercise 5 ----

answers.right(
    check.which_is_better,
    "The three seeds of each spread by more than the two means differ, so more seeds. " * 2,
)
answers.wrong(
    check.which_is_better, "No, too few seeds.", says="Your answer has 4 words", hint="before you look"
)
answers.wrong(check.which_is_better, 0.43, says="is a float", hint="")

test_right, test_wrong, test_number = answers.tests()
