"""Answers to the exercises of chapters/explanation."""

import torch
from answers import Answers

from utils.exercises import explanation as check

answers = Answers(check)

# ---- Exercise 1 ----

for letter in ("b", "B.", "(b)"):
    answers.right(check.two_results, letter)
answers.wrong(check.two_results, "a", says="so it uses the word", hint="about the word")
answers.wrong(check.two_results, "c", says="does not need this weight", hint="about the word")
answers.wrong(check.two_results, "d", says="change different things", hint="about the word")
answers.wrong(check.two_results, 0.9, says="0.9 is none", hint="one letter in quotes")

# ---- Exercise 2 ----

answers.right(check.two_directions, 0.33, 0.2)
answers.right(check.two_directions, "1/3", "20%")
answers.right(check.two_directions, torch.tensor(1 / 3), [0.20])
answers.wrong(check.two_directions, 0.2, 0.33, says="in the wrong order", hint="It comes first")
answers.wrong(check.two_directions, 0.67, 0.8, says="subtracted from 1", hint="no mistake")
answers.wrong(check.two_directions, 0.5, 0, says="sure links that are missing", hint="that are both")
answers.wrong(check.two_directions, 0, 0.33, says="made links that are wrong", hint="Two sure links")
answers.wrong(check.two_directions, 0.67, 0.6, says="counted once", hint="twice the number")
answers.wrong(check.two_directions, 33, 20, says="in per cent", hint="by 100")
answers.wrong(check.two_directions, 0.4, 0.2, says="of the intersection is 0.4", hint="has 2 links")
answers.wrong(check.two_directions, 1 / 3, 0.25, says="of the union is 0.25", hint="has 6 links")
answers.wrong(check.two_directions, "low", "high", says="the text 'low'", hint="digits alone")

# ---- Exercise 3 ----


def gradient_at(f, x, share):
    point = (x * share).detach().requires_grad_()
    return torch.autograd.grad(f(point), point)[0]


def averaged(f, x, shares):
    return torch.stack([gradient_at(f, x, share) for share in shares]).mean(dim=0)


def middle(steps):
    return [(t + 0.5) / steps for t in range(steps)]


def with_a_mean(f, x, steps):
    return (averaged(f, x, middle(steps)) * x).sum(dim=-1)


def with_backward(f, x, steps):
    total = torch.zeros_like(x)
    for t in range(1, steps + 1):
        point = torch.tensor(((t - 0.5) / steps * x).tolist(), requires_grad=True)
        f(point).backward()
        total = total + point.grad
    return (total * x / steps).sum(dim=1).tolist()


def one_product_for_each_word(f, x, steps):
    mean = averaged(f, x, middle(steps))
    return [float(row @ vector) for row, vector in zip(mean, x, strict=True)]


def at_x_itself(f, x, steps):
    return (gradient_at(f, x, 1.0) * x).sum(dim=-1)


def at_the_ends(f, x, steps):
    return (averaged(f, x, [(t + 1) / steps for t in range(steps)]) * x).sum(dim=-1)


def at_the_beginnings(f, x, steps):
    return (averaged(f, x, [t / steps for t in range(steps)]) * x).sum(dim=-1)


def not_divided(f, x, steps):
    return steps * with_a_mean(f, x, steps)


def not_multiplied(f, x, steps):
    return averaged(f, x, middle(steps)).sum(dim=-1)


def for_each_number(f, x, steps):
    return averaged(f, x, middle(steps)) * x


def for_the_sentence(f, x, steps):
    return with_a_mean(f, x, steps).sum()


def with_too_few_points(f, x, steps):
    return with_a_mean(f, x, 1)


for function in (with_a_mean, with_backward, one_product_for_each_word):
    answers.right(check.along_the_path, function)
answers.wrong(check.along_the_path, at_x_itself, says="taken at x itself", hint="from 0 to x")
answers.wrong(check.along_the_path, at_the_ends, says="at the end of each part", hint="first of m points")
answers.wrong(check.along_the_path, at_the_beginnings, says="at the beginning of each part", hint="and not 0")
answers.wrong(check.along_the_path, not_divided, says="this is the sum over the steps", hint="Divide")
answers.wrong(check.along_the_path, not_multiplied, says="not yet multiplied", hint="Multiply by")
answers.wrong(check.along_the_path, for_each_number, says="one number for each word", hint="last axis")
answers.wrong(check.along_the_path, for_the_sentence, says="the shape ()", hint="axis of the words stays")
answers.wrong(check.along_the_path, with_too_few_points, says="add up to", hint="at the point on the path")
answers.wrong(check.along_the_path, [1, 2], says="got a list", hint="without parentheses")

# ---- Exercise 4 ----

answers.right(check.same_context, [0.325, 0.325, 0.175, 0.175, 0.0])
answers.right(check.same_context, torch.tensor([0.15, 0.5, 0.35, 0.0, 0.0]))
answers.right(check.same_context, (0.275, 0.3, 0.175, 0.15, 0.1))
answers.wrong(
    check.same_context, [0.1, 0.1, 0.1, 0.1, 0.6], says="the overlap with the honest", hint="Give it less"
)
answers.wrong(check.same_context, [0.25, 0.25, 0.25, 0.25, 0], says="the context is [2, 2]", hint="4 times")
answers.wrong(check.same_context, [0.5, 0.5, 0.2, 0.2, 0], says="sum to 1.4", hint="by their sum")
answers.wrong(check.same_context, [0.5, 0.5, 0.25, -0.25, 0], says="-0.25 is a negative", hint="at least 0")
answers.wrong(check.same_context, [0.5, 0.5], says="has 2 numbers", hint="also if it is 0")

# ---- Exercise 5 ----

answers.right(
    check.review, "I ask for a count, for an error rate, for a control and for more than one training. " * 3
)
answers.wrong(check.review, "Count more.", says="has 2 words", hint="before you look")

test_right, test_wrong, test_number = answers.tests()
