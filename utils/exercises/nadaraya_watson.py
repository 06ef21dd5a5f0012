"""Checks of the exercises of chapters/nadaraya_watson."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from utils.exercises.checking import (
    ReadersFunction,
    as_parts,
    exercise,
    expect_close,
)
from utils.kernels import nadaraya_watson


@exercise(
    1,
    "Divide the differences by the bandwidth, take the Gaussian of each, and divide each by their sum.",
    "`closeness = torch.exp(-((query - keys) / bandwidth) ** 2 / 2)`, and then the share of each in the sum.",
)
def my_weights(answer: ReadersFunction) -> Iterator[str]:
    keys = torch.tensor([2.0, 3.0, 7.0])
    case = "for the query 3, the keys 2, 3 and 7 and the bandwidth 2"
    sign = "Near keys must get more than far ones: mind the minus."
    mistakes = (
        ((0.8825, 1, 0.1353), "they do not sum to 1", "Divide each by the sum of all."),
        ((0.3521, 0.3989, 0.0540), "they do not sum to 1", "Divide each by the sum of all."),
        (_softmax(0.125, 0, 2), "far keys get more than near ones", sign),
        ((1 / 3, 2 / 3, 0), "this is the triangular kernel", "The Gaussian is exp(−u²/2)."),
        (_softmax(-0.25, 0, -4), "the factor 1/2 is missing", "The Gaussian is exp(−u²/2)."),
        (
            _softmax(-0.5, 0, -8),
            "the bandwidth has no effect",
            "u is the difference divided by the bandwidth.",
        ),
        (_softmax(-2, 0, -32), "the differences are multiplied by the bandwidth", "Divide by it."),
        (_softmax(0.25, 0, -1), "u is not squared", "The Gaussian is exp(−u²/2)."),
        (_softmax(-0.25, 0, 1), "u is not squared", "The Gaussian is exp(−u²/2)."),
        ((1 / 3, 1 / 3, 1 / 3), "this is the mean: all weights are equal", "Let the weights depend on u."),
    )
    row = "One weight for each key: the shape is (n,)."
    result = answer(3.0, keys, 2.0)
    expect_close(
        result, _softmax(-0.125, 0, -2), case, row, name="the weights", tolerance=1e-3, mistakes=mistakes
    )
    yield "the nearest key gets the largest weight, and the weights sum to 1"
    torch.manual_seed(5)
    for bandwidth in (0.7, 3.0):
        keys = 24 * torch.rand(11)
        right = nadaraya_watson(torch.tensor([14.5]), keys, keys, bandwidth=bandwidth)[1][0]
        case = f"for the query 14.5, 11 keys and the bandwidth {bandwidth}"
        expect_close(answer(14.5, keys, bandwidth), right, case, row, name="the weights")
    yield "this is so for other keys and bandwidths"


def _softmax(*scores: float) -> Tensor:
    return torch.softmax(torch.tensor(scores, dtype=torch.float64), dim=0)


@exercise(
    3,
    "Divide queries and keys by the bandwidths, and sum the squared differences over the coordinates.",
    "With one row of `scores` per query, the weights are `torch.softmax(scores, dim=1)`.",
)
def attend(answer: ReadersFunction) -> Iterator[str]:
    keys, values = torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.tensor([3.0, 5.0])
    result = answer(torch.zeros(1, 2), keys, values, torch.tensor([2.0, 0.6]))
    _, weights = as_parts(result, "context", "weights")
    case = "for the query (0, 0), the keys (2, 0) and (0, 1) and the bandwidths (2, 0.6)"
    gaussian_is = "The Gaussian kernel is exp(-u²/2)."
    mistakes = (
        ((1.0, 1.0), "the softmax runs over the queries", "Those of a query sum to 1: `dim=1`."),
        ((0.6065, 0.2494), "they do not sum to 1", "Divide each exponential by the sum of its row."),
        ((0.2913, 0.7087), "the sign of the scores is wrong", "The nearest key scores highest."),
        ((0.1824, 0.8176), "the bandwidths have no effect", "Divide by them."),
        ((0.4584, 0.5416), "it is divided by the bandwidth, not by its square", "Divide before you square."),
        ((0.8554, 0.1446), "the factor 1/2 is missing", gaussian_is),
    )
    row = "the row of weights"
    expect_close(weights, [[0.7087, 0.2913]], case, name=row, tolerance=2e-4, mistakes=mistakes)
    yield "the nearer key gets the larger weight, and each coordinate has its own bandwidth"

    torch.manual_seed(3)
    queries, keys, values, bandwidths = (
        torch.randn(3, 5),
        torch.randn(7, 5),
        torch.randn(7),
        torch.rand(5) + 0.5,
    )
    expected = nadaraya_watson(queries / bandwidths, keys / bandwidths, values)
    context, weights = as_parts(answer(queries, keys, values, bandwidths), "context", "weights")
    case = "for 3 queries and 7 keys of 5 numbers"
    expect_close(weights, expected[1], case, "The weights of one query sum to 1: `dim=1`.", name="the weight")
    expect_close(context, expected[0], case, "Multiply each value by its weight and add.", name="the context")
    yield "each context is the average of the values with weights that sum to 1"

    far, keys = torch.tensor([[300.0]]), torch.tensor([[0.0], [1.0]])
    result = answer(far, keys, torch.tensor([3.0, 5.0]), torch.tensor([2.0]))
    _, weights = as_parts(result, "context", "weights")
    case = "for the query 300, the keys 0 and 1 and the bandwidth 2"
    rounded = "Here every exponential rounds to 0. `torch.softmax` subtracts the highest score first."
    expect_close(weights, [[0.0, 1.0]], case, rounded, name="the weight")
    yield "a query far from every key gets its weights too"


def _line(queries: Tensor, keys: Tensor, values: Tensor, bandwidth: float) -> Tensor:
    """Height at each query of the straight line that fits best with the Gaussian weights of this query."""
    mean_value, weights = nadaraya_watson(queries, keys, values, bandwidth=bandwidth)
    mean_key = weights @ keys
    offsets = keys - mean_key[:, None]
    slope = (weights * offsets * values).sum(dim=1) / (weights * offsets**2).sum(dim=1)
    return mean_value + slope * (queries - mean_key)


@exercise(
    4,
    "The best line goes through the weighted mean of the keys and the weighted mean of the values. Its slope is made "
    "of the differences from these means.",
    "Its slope is the weighted sum of (key - mean key) times value, divided by the weighted sum of (key - mean key)².",
)
def local_line(answer: ReadersFunction) -> Iterator[str]:
    name = "the estimate"
    keys, end = torch.arange(5.0), torch.tensor([4.0])
    way = "Start at the weighted means, and add the slope times the way from the mean key to the query."
    mistakes = ((7.9598, "this is the weighted average", way), (2.0, "this is the slope of the line", way))
    case = "for the keys 0 to 4, the values 2k + 1 and the query 4"
    own_line = "One height for each query: each has weights, means and a slope of its own."
    result = answer(end, keys, 2 * keys + 1, 1.0)
    expect_close(result, [9.0], case, own_line, name=name, tolerance=0.001, mistakes=mistakes)
    yield "a straight line is found exactly, also at its end"

    keys, query = torch.arange(7.0), torch.tensor([1.0])
    cubes = keys**3
    roots = "A function that multiplies the *errors* by `w` needs the square roots of the weights."
    case = "for the keys 0 to 6, the values k³, the query 1 and the bandwidth 0.8"
    mistakes = (
        (-5.0, "every reading has the same weight", "Multiply each squared error by its weight."),
        (_line(query, keys, cubes, 0.8 / math.sqrt(2)), "each weight counts with its square", roots),
        (_line(query, keys, cubes, 1.0), "the bandwidth has no effect", "Pass `bandwidth` on."),
    )
    hint = "The means and the slope must all take the weights."
    expected, result = _line(query, keys, cubes, 0.8), answer(query, keys, cubes, 0.8)
    expect_close(result, expected, case, hint, name=name, tolerance=0.003, mistakes=mistakes)
    torch.manual_seed(5)
    for num_queries, num_keys, bandwidth in ((3, 11, 0.7), (5, 7, 1.3)):
        inputs = 4 * torch.rand(num_queries), 4 * torch.rand(num_keys), torch.randn(num_keys), bandwidth
        case = f"for {num_queries} queries, {num_keys} keys and the bandwidth {bandwidth}"
        expect_close(answer(*inputs), _line(*inputs), case, own_line, name=name, tolerance=0.01)
    yield "each query has its own line, with its own weights"
