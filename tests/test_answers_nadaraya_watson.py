"""Answers to the exercises of chapters/nadaraya_watson."""

import numpy as np
import torch
from answers import Answers

from utils.exercises import nadaraya_watson as check
from utils.kernels import nadaraya_watson, triangular

answers = Answers(check)

# ---- Exercise 1 ----

for letter in ("b", "B", "(b)"):
    answers.right(check.copied_log, letter)
answers.wrong(check.copied_log, "a", says="The context stays an average", hint="two readings")
answers.wrong(check.copied_log, "c", says="only distances and the bandwidth", hint="two readings")
answers.wrong(check.copied_log, "d", says="now share this 1", hint="two readings")
answers.wrong(check.copied_log, "nothing", says="'nothing' is none", hint="one letter in quotes")

# ---- Exercise 2 ----

answers.right(check.by_hand, 2.2, 1.4, 5)
answers.right(check.by_hand, "11/5", torch.tensor(1.4), [5.0])
for context, says, hint in (
    (2.33, "the triangular kernel", "square of u"),
    (2.84, "the Gaussian kernel", "no exponential"),
    (3.07, "3.07 m is the mean", "What is K(1)?"),
    (2.89, "do not sum to 1", "Divide by the sum"),
    (3.85, "not divided by anything", "Divide by the sum"),
    (2.8, "nearest reading alone", "u = 1/2"),
    (2.0, "are exchanged", "nearer reading"),
    (2.1, "have the same weight", "Compare K(1/2)"),
    (9.571, "an average of the hours", "averages the values"),
    (45.2, "45.2 m is not the context", "Divide them by h"),
    ("2,2", "the text '2,2'", "without commas"),
):
    answers.wrong(check.by_hand, context, 1.4, 5, says=says, hint=hint)
answers.wrong(check.by_hand, 2.2, 0, 100, says="a narrower range", hint="lower than each")
answers.wrong(check.by_hand, 2.2, 9, 12, says="9 and 12 are hours", hint="average of the values")
answers.wrong(check.by_hand, 2.2, 0, 1, says="between these lie the weights", hint="in metres")
answers.wrong(check.by_hand, 2.2, 5, 1.4, says="lowest is 5 and highest", hint="smaller one comes first")
answers.wrong(check.by_hand, 2.2, 1.4, 2.8, says="near 12 hours has a higher", hint="small bandwidth")
answers.wrong(check.by_hand, 2.2, 2.2, 5, says="near 9 hours has a lower", hint="small bandwidth")

# ---- Exercise 3 ----


def by_three_steps(queries, keys, values, bandwidths):
    scores = -0.5 * ((queries[:, None] - keys) / bandwidths).square().sum(dim=-1)
    weights = torch.softmax(scores, dim=1)
    return weights @ values, weights


def by_the_function_of_the_chapter(queries, keys, values, bandwidths):
    return nadaraya_watson(queries / bandwidths, keys / bandwidths, values)


def by_loops(queries, keys, values, bandwidths):
    contexts, table = [], []
    for query in queries.tolist():
        scores = [
            -sum(((q - k) / h) ** 2 for q, k, h in zip(query, key, bandwidths.tolist(), strict=True)) / 2
            for key in keys.tolist()
        ]
        row = torch.softmax(torch.tensor(scores, dtype=torch.float64), dim=0).tolist()
        table.append(row)
        contexts.append(sum(weight * value for weight, value in zip(row, values.tolist(), strict=True)))
    return [contexts, table]


def by_matrix_products(queries, keys, values, bandwidths):
    q, k = (queries / bandwidths).double(), (keys / bandwidths).double()
    weights = torch.softmax(torch.einsum("qd,kd->qk", q, k) - (k**2).sum(1) / 2, dim=-1)
    return weights @ values.double(), weights


def softmax_over_queries(queries, keys, values, bandwidths):
    scores = -0.5 * ((queries[:, None] - keys) / bandwidths).square().sum(dim=-1)
    weights = torch.softmax(scores, dim=0)
    return weights @ values, weights


def with_weights(change):
    """An answer whose weights come from another formula."""

    def answer(queries, keys, values, bandwidths):
        weights = change(queries[:, None] - keys, bandwidths)
        return weights @ values, weights

    answer.__name__ = change.__name__
    return answer


@with_weights
def bandwidths_ignored(difference, bandwidths):
    return torch.softmax(-0.5 * difference.square().sum(dim=-1), dim=1)


@with_weights
def bandwidths_multiplied(difference, bandwidths):
    return torch.softmax(-0.5 * (difference * bandwidths).square().sum(dim=-1), dim=1)


@with_weights
def first_bandwidth(difference, bandwidths):
    return torch.softmax(-0.5 * (difference / bandwidths[0]).square().sum(dim=-1), dim=1)


@with_weights
def no_half(difference, bandwidths):
    return torch.softmax(-(difference / bandwidths).square().sum(dim=-1), dim=1)


@with_weights
def no_square(difference, bandwidths):
    return torch.softmax(-(difference / bandwidths).norm(dim=-1), dim=1)


@with_weights
def farthest_wins(difference, bandwidths):
    return torch.softmax(0.5 * (difference / bandwidths).square().sum(dim=-1), dim=1)


@with_weights
def square_not_divided_twice(difference, bandwidths):
    return torch.softmax(-0.5 * (difference.square() / bandwidths).sum(dim=-1), dim=1)


@with_weights
def mean_over_the_coordinates(difference, bandwidths):
    return torch.softmax(-0.5 * (difference / bandwidths).square().mean(dim=-1), dim=1)


@with_weights
def no_softmax(difference, bandwidths):
    return -0.5 * (difference / bandwidths).square().sum(dim=-1)


@with_weights
def exponentials(difference, bandwidths):
    return (-0.5 * (difference / bandwidths).square().sum(dim=-1)).exp()


@with_weights
def sum_of_exponentials(difference, bandwidths):
    weights = (-0.5 * (difference / bandwidths).square().sum(dim=-1)).exp()
    return weights / weights.sum(dim=1, keepdim=True)


@with_weights
def sum_before_the_square(difference, bandwidths):
    return torch.softmax(-0.5 * (difference / bandwidths).sum(dim=-1) ** 2, dim=1)


@with_weights
def divided_by_the_sum_of_all(difference, bandwidths):
    weights = (-0.5 * (difference / bandwidths).square().sum(dim=-1)).exp()
    return weights / weights.sum()


def weights_first(queries, keys, values, bandwidths):
    return by_three_steps(queries, keys, values, bandwidths)[::-1]


def contexts_alone(queries, keys, values, bandwidths):
    return by_three_steps(queries, keys, values, bandwidths)[0]


def keys_as_rows(queries, keys, values, bandwidths):
    contexts, weights = by_three_steps(queries, keys, values, bandwidths)
    return contexts, weights.T


def two_numbers(queries, keys, values, bandwidths):
    return 1, 2


def mean_of_the_values(queries, keys, values, bandwidths):
    weights = by_three_steps(queries, keys, values, bandwidths)[1]
    return values.mean().expand(len(queries)), weights


for right in (by_three_steps, by_the_function_of_the_chapter, by_loops, by_matrix_products):
    answers.right(check.attend, right)
answers.wrong(check.attend, softmax_over_queries, says="runs over the queries", hint="dim=1")
answers.wrong(check.attend, bandwidths_ignored, says="bandwidths have no effect", hint="second one by 0.6")
answers.wrong(check.attend, bandwidths_multiplied, says="multiplied by its", hint="count less")
answers.wrong(check.attend, first_bandwidth, says="the first bandwidth", hint="of its own")
answers.wrong(check.attend, no_half, says="factor 1/2 is missing", hint="exp(-u²/2)")
answers.wrong(check.attend, no_square, says="is not squared", hint="exp(-u²/2)")
answers.wrong(check.attend, farthest_wins, says="the sign of the scores", hint="*minus*")
answers.wrong(check.attend, square_not_divided_twice, says="not by its square", hint="then take the square")
answers.wrong(
    check.attend, mean_over_the_coordinates, says="the mean over the coordinates", hint="is the sum"
)
answers.wrong(check.attend, keys_as_rows, says="has the shape (2, 1)", hint="a weight for each key")
answers.wrong(check.attend, no_softmax, says="these are scores", hint="by a softmax")
answers.wrong(check.attend, exponentials, says="they do not sum to 1", hint="sum of its row")
answers.wrong(check.attend, sum_of_exponentials, says="for the query 300", hint="highest score first")
answers.wrong(
    check.attend, sum_before_the_square, says="keys of 5 numbers, the weight at", hint="squared differences"
)
answers.wrong(check.attend, divided_by_the_sum_of_all, says="of the queries sum to", hint="of one query")
answers.wrong(check.attend, weights_first, says="the weights come first", hint="return context, weights")
answers.wrong(check.attend, contexts_alone, says="returns one tensor", hint="return context, weights")
answers.wrong(check.attend, two_numbers, says="has the shape ()", hint="by the bandwidths")
answers.wrong(check.attend, mean_of_the_values, says="the context at [0]", hint="Multiply each value")

# ---- Exercise 4 ----


def through_the_means(queries, keys, values, bandwidth):
    mean_value, weights = nadaraya_watson(queries, keys, values, bandwidth=bandwidth)
    mean_key = weights @ keys
    offsets = keys - mean_key[:, None]
    slope = (weights * offsets * values).sum(dim=1) / (weights * offsets**2).sum(dim=1)
    return mean_value + slope * (queries - mean_key)


def by_normal_equations(queries, keys, values, bandwidth):
    heights = []
    for query in queries:
        weights = torch.exp(-(((query - keys) / bandwidth) ** 2) / 2)
        rows = torch.stack([torch.ones_like(keys), keys - query], dim=1)
        left, right = rows.T @ (weights[:, None] * rows), rows.T @ (weights * values)
        heights.append(torch.linalg.solve(left, right)[0])
    return torch.stack(heights)


def by_least_squares(queries, keys, values, bandwidth):
    return [
        float(np.polyval(np.polyfit(keys.numpy(), values.numpy(), 1, w=np.sqrt(weights.numpy())), query))
        for query, weights in zip(
            queries.tolist(),
            nadaraya_watson(queries, keys, values, bandwidth=bandwidth)[1],
            strict=True,
        )
    ]


def plain_average(queries, keys, values, bandwidth):
    return nadaraya_watson(queries, keys, values, bandwidth=bandwidth)[0]


def unweighted_least_squares(queries, keys, values, bandwidth):
    slope, height = np.polyfit(keys.numpy(), values.numpy(), 1)
    return slope * queries + height


def bandwidth_ignored(queries, keys, values, bandwidth):
    return through_the_means(queries, keys, values, 1.0)


def weights_for_their_roots(queries, keys, values, bandwidth):
    weights = nadaraya_watson(queries, keys, values, bandwidth=bandwidth)[1].numpy()
    fits = [np.polyfit(keys.numpy(), values.numpy(), 1, w=row) for row in weights]
    return [float(np.polyval(fit, query)) for fit, query in zip(fits, queries.tolist(), strict=True)]


def slope_alone(queries, keys, values, bandwidth):
    _, weights = nadaraya_watson(queries, keys, values, bandwidth=bandwidth)
    offsets = keys - (weights @ keys)[:, None]
    return (weights * offsets * values).sum(dim=1) / (weights * offsets**2).sum(dim=1)


def slope_from_zero(queries, keys, values, bandwidth):
    slope = slope_alone(queries, keys, values, bandwidth)
    return plain_average(queries, keys, values, bandwidth) + slope * queries


def height_at_zero(queries, keys, values, bandwidth):
    _, weights = nadaraya_watson(queries, keys, values, bandwidth=bandwidth)
    slope = slope_alone(queries, keys, values, bandwidth)
    return plain_average(queries, keys, values, bandwidth) - slope * (weights @ keys)


def slope_without_weights(queries, keys, values, bandwidth):
    mean_value, weights = nadaraya_watson(queries, keys, values, bandwidth=bandwidth)
    offsets = keys - keys.mean()
    slope = (offsets * values).sum() / (offsets**2).sum()
    return mean_value + slope * (queries - weights @ keys)


def weights_of_the_first_query(queries, keys, values, bandwidth):
    mean_value, weights = nadaraya_watson(queries[:1], keys, values, bandwidth=bandwidth)
    mean_key = weights @ keys
    offsets = keys - mean_key
    slope = (weights @ (offsets * values)) / (weights @ offsets**2)
    return mean_value + slope * (queries - mean_key)


def with_the_weights(queries, keys, values, bandwidth):
    return through_the_means(queries, keys, values, bandwidth), keys


def with_another_kernel(queries, keys, values, bandwidth):
    mean_value, weights = nadaraya_watson(queries, keys, values, kernel=triangular, bandwidth=bandwidth)
    mean_key = weights @ keys
    offsets = keys - mean_key[:, None]
    slope = (weights * offsets * values).sum(dim=1) / (weights * offsets**2).sum(dim=1)
    return mean_value + slope * (queries - mean_key)


def slope_counted_from_the_query(queries, keys, values, bandwidth):
    mean_value, weights = nadaraya_watson(queries, keys, values, bandwidth=bandwidth)
    offsets = keys - queries[:, None]
    slope = (weights * offsets * (values - mean_value[:, None])).sum(dim=1) / (weights * offsets**2).sum(
        dim=1
    )
    return mean_value + slope * (queries - weights @ keys)


def parabola(queries, keys, values, bandwidth):
    roots = nadaraya_watson(queries, keys, values, bandwidth=bandwidth)[1].double().numpy() ** 0.5
    fits = [np.polyfit(keys.numpy(), values.numpy(), 2, w=row) for row in roots]
    return [float(np.polyval(fit, query)) for fit, query in zip(fits, queries.tolist(), strict=True)]


def one_column(queries, keys, values, bandwidth):
    return through_the_means(queries, keys, values, bandwidth)[:, None]


def a_constant(queries, keys, values, bandwidth):
    return 1.0


for right in (through_the_means, by_normal_equations, by_least_squares):
    answers.right(check.local_line, right)
answers.wrong(check.local_line, plain_average, says="this is the weighted average", hint="from the mean key")
answers.wrong(check.local_line, unweighted_least_squares, says="the same weight in this fit", hint="squared")
answers.wrong(check.local_line, bandwidth_ignored, says="has no effect", hint="`bandwidth` on")
answers.wrong(check.local_line, weights_for_their_roots, says="counts with its square", hint="square roots")
answers.wrong(check.local_line, slope_alone, says="the slope of the line", hint="Start at the weighted means")
answers.wrong(check.local_line, slope_from_zero, says="is counted from 0", hint="through the means")
answers.wrong(check.local_line, height_at_zero, says="height of the line at 0", hint="at the query")
answers.wrong(check.local_line, slope_without_weights, says="the estimate at [0] is 1.442", hint="slope must")
answers.wrong(check.local_line, weights_of_the_first_query, says="for 3 queries", hint="Each query has")
answers.wrong(check.local_line, with_the_weights, says="several things", hint="one height for each query")
answers.wrong(check.local_line, a_constant, says="has the shape ()", hint="one height for each query")
answers.wrong(check.local_line, parabola, says="the estimate at [0] is 0.6079", hint="slope must")
answers.wrong(check.local_line, one_column, says="has the shape (1, 1)", hint="one height for each query")
answers.wrong(check.local_line, with_another_kernel, says="the estimate is nan", hint="another kernel")
answers.wrong(
    check.local_line,
    slope_counted_from_the_query,
    says="the estimate at [0] is 8.606",
    hint="differences from these means",
)

# ---- Exercise 5 ----

BEST = [0.7, 1.0, 1.5, 1.5]

answers.right(check.best_widths, BEST, 0.027)
answers.right(check.best_widths, torch.tensor(BEST), torch.tensor(0.0269))
answers.right(check.best_widths, dict(zip(check.KERNELS, BEST, strict=True)), "0.03")
for widths, says, hint in (
    ([0.7] * 4, "of the Gaussian for all kernels", "Without `kernel=`"),
    ([0.7, 2.0, 2.0, 2.0], "the 0 of an empty window", "weights.sum(dim=1) > 0"),
    ([0.05] * 4, "repeat each reading best", "not with the readings"),
    ([0.5, 1.0, 1.5, 1.5], "[0.5, 1, 1.5, 1.5] are the bandwidths that leave-one-out", "may use the truth"),
    ([0.5, 0.3, 1.5, 1.5], "[0.5, 0.3, 1.5, 1.5] are the bandwidths that leave-one-out", "may use the truth"),
    ([1.5, 1.5, 1.0, 0.7], "in another order", "Gaussian, boxcar"),
    ([5, 6, 7, 7], "are places in the list", "widths[place]"),
    (list(check.KERNELS), "is a list, not numbers", "lists of numbers"),
    ([0.7, 1.0, 1.5], "has the shape (3,)", "for each kernel"),
    ([3] * 4, "Gaussian: h = 3", "for all bandwidths"),
    ([0.7, 1.0, 2.0, 1.5], "triangular: h = 2", "for all bandwidths"),
    ([0.23, 0.25, 0.23, 0.24], "0.23 is not in `widths`", "not errors"),
    (0.7, "has the shape ()", "for each kernel"),
):
    answers.wrong(check.best_widths, widths, 0.027, says=says, hint=hint)
answers.wrong(check.best_widths, BEST, 0.8, says="in hours", hint="at its best bandwidth")
answers.wrong(check.best_widths, BEST, -0.027, says="the wrong way round", hint="from the largest")
answers.wrong(check.best_widths, BEST, 0.0129, says="two mean squares", hint="`rmse`")
answers.wrong(check.best_widths, BEST, float("nan"), says="spread is nan", hint="no query")
answers.wrong(check.best_widths, BEST, 2.7, says="these are centimetres", hint="in metres")
answers.wrong(check.best_widths, BEST, 0.115, says="closer together", hint="the smallest of these four")
answers.wrong(check.best_widths, BEST, 0.0, says="farther apart", hint="the smallest of these four")

# ---- Exercise 6 ----

answers.right(check.too_good, "The bandwidth went to 0, so each reading predicts itself. Use a mask. " * 2)
answers.wrong(check.too_good, "It cheats.", says="Your answer has 2 words", hint="before you look")

test_right, test_wrong, test_number = answers.tests()
