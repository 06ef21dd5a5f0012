"""Answers to the exercises of chapters/nadaraya_watson."""

import torch
from answers import Answers

from utils.exercises import nadaraya_watson as check
from utils.kernels import nadaraya_watson

answers = Answers()


def shares(kernel):
    """The weights that a kernel of the query, the keys and the bandwidth gives."""

    def answer(query, keys, bandwidth):
        closeness = kernel((query - keys) / bandwidth)
        return closeness / closeness.sum()

    return answer


def gauss(u):
    return torch.exp(-u.square() / 2)


answers.add(
    check.my_weights,
    [
        shares(gauss),
        lambda q, k, h: torch.softmax(-(((q - k) / h) ** 2) / 2, dim=0),
        lambda q, k, h: nadaraya_watson(torch.tensor([q]), k, k, bandwidth=h)[1][0],
    ],
    [
        (lambda q, k, h: gauss((q - k) / h), "they do not sum to 1"),
        (shares(lambda u: 1 / gauss(u)), "far keys get more"),
        (shares(lambda u: (1 - u.abs()).clamp(min=0)), "the triangular kernel"),
        (shares(lambda u: torch.exp(-u.square())), "the factor 1/2 is missing"),
        (lambda q, k, h: shares(gauss)(q, k, 1.0), "the bandwidth has no effect"),
        (lambda q, k, h: shares(gauss)(q, k, 1 / h), "are multiplied by the bandwidth"),
        (shares(lambda u: torch.exp(-u / 2)), "u is not squared"),
        (lambda q, k, h: torch.full_like(k, 1 / len(k)), "all weights are equal"),
        (lambda q, k, h: shares(gauss)(q, k, h)[None], "has the shape (1, 3)"),
    ],
)


def attends(scores, *, dim=1):
    """The function that has these scores of a tensor of differences and of the bandwidths."""

    def answer(queries, keys, values, bandwidths):
        weights = torch.softmax(scores(queries[:, None] - keys, bandwidths), dim=dim)
        return weights @ values, weights

    return answer


def with_sums(difference, h):
    return -0.5 * (difference / h).square().sum(dim=-1)


def sum_of_exponentials(queries, keys, values, bandwidths):
    exponentials = with_sums(queries[:, None] - keys, bandwidths).exp()
    weights = exponentials / exponentials.sum(dim=1, keepdim=True)
    return weights @ values, weights


answers.add(
    check.attend,
    [attends(with_sums), lambda q, k, v, h: nadaraya_watson(q / h, k / h, v)],
    [
        (attends(with_sums, dim=0), "runs over the queries"),
        (attends(lambda d, h: -0.5 * d.square().sum(dim=-1)), "bandwidths have no effect"),
        (attends(lambda d, h: -(d / h).square().sum(dim=-1)), "factor 1/2 is missing"),
        (
            attends(lambda d, h: -0.5 * (d.square() / h).sum(dim=-1)),
            "divided by the bandwidth, not by its square",
        ),
        (attends(lambda d, h: -with_sums(d, h)), "the sign of the scores"),
        (sum_of_exponentials, "for the query 300"),
        (lambda q, k, v, h: (v[:1], with_sums(q[:, None] - k, h).exp()), "they do not sum to 1"),
    ],
)


def with_numbers(queries, keys, values, bandwidth):
    """The weighted averages and slopes, and the way from the mean keys to the queries."""
    mean_value, weights = nadaraya_watson(queries, keys, values, bandwidth=bandwidth)
    mean_key = weights @ keys
    offsets = keys - mean_key[:, None]
    slope = (weights * offsets * values).sum(dim=1) / (weights * offsets**2).sum(dim=1)
    return mean_value, slope, queries - mean_key


def through_the_means(queries, keys, values, bandwidth):
    mean_value, slope, way = with_numbers(queries, keys, values, bandwidth)
    return mean_value + slope * way


def by_normal_equations(queries, keys, values, bandwidth):
    heights = []
    for query in queries:
        weights = torch.exp(-(((query - keys) / bandwidth) ** 2) / 2)
        rows = torch.stack([torch.ones_like(keys), keys - query], dim=1)
        left, right = rows.T @ (weights[:, None] * rows), rows.T @ (weights * values)
        heights.append(float(torch.linalg.solve(left, right)[0]))
    return heights


def all_readings_alike(queries, keys, values, bandwidth):
    return through_the_means(queries, keys, values, 1e6)


def weights_of_the_first_query(queries, keys, values, bandwidth):
    mean_value, slope, way = with_numbers(queries[:1], keys, values, bandwidth)
    return mean_value + slope * (queries - queries[:1] + way)


answers.add(
    check.local_line,
    [through_the_means, by_normal_equations],
    [
        (lambda *inputs: with_numbers(*inputs)[0], "this is the weighted average"),
        (lambda *inputs: with_numbers(*inputs)[1], "the slope of the line"),
        (all_readings_alike, "has the same weight"),
        (lambda q, k, v, bandwidth: through_the_means(q, k, v, 1.0), "has no effect"),
        (lambda q, k, v, h: through_the_means(q, k, v, h / 2**0.5), "counts with its square"),
        (weights_of_the_first_query, "for 3 queries"),
        (lambda *inputs: through_the_means(*inputs)[:, None], "has the shape (1, 1)"),
    ],
)
test_right, test_wrong = answers.tests()
