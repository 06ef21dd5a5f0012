"""Kernels and Nadaraya-Watson, against numbers worked out by hand, a loop over Python floats, and softmax."""

import inspect
import math

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from utils.kernels import boxcar, gaussian, nadaraya_watson

KERNELS = [None, gaussian, boxcar]


def triangular(u):
    """A kernel of a reader's own, with a window and a slope in it."""
    return (1 - u.abs()).clamp(min=0)


FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
#: The same kernels on plain numbers, written from the formulae.
PLAIN = {
    gaussian: lambda u: math.exp(-u * u / 2) / math.sqrt(2 * math.pi),
    boxcar: lambda u: 0.5 if u <= 1 else 0.0,
}
PLAIN[None] = PLAIN[gaussian]
# Different primes, so that a swapped axis cannot pass.
NUM_QUERIES, NUM_KEYS, D, D_V = 5, 7, 3, 2
#: Tolerances of sums of at most a hundred products of numbers near 1.
SINGLE, DOUBLE = (
    {"rtol": tolerance, "atol": tolerance}
    for tolerance in (100 * torch.finfo(dtype).eps for dtype in (torch.float32, torch.float64))
)
every_kernel = pytest.mark.parametrize("kernel", KERNELS)


def draw(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def by_loop(queries: Tensor, keys: Tensor, values: Tensor, kernel, bandwidth: float, mask=None):
    """The definition with Python's numbers, one weight at a time; an empty window gives zeros."""
    contexts, rows = [], []
    for i, query in enumerate(queries.reshape(len(queries), -1).tolist()):
        row = []
        for j, key in enumerate(keys.reshape(len(keys), -1).tolist()):
            allowed = mask is None or bool(mask[i, j])
            row.append(PLAIN[kernel](math.dist(query, key) / bandwidth) if allowed else 0.0)
        total = sum(row)
        rows.append([k / total if total else 0.0 for k in row])
        context = torch.zeros_like(values[0])
        for weight, value in zip(rows[-1], values, strict=True):
            context = context + weight * value
        contexts.append(context)
    return torch.stack(contexts), torch.tensor(rows, dtype=values.dtype)


# Kernels


@pytest.mark.parametrize(
    ("kernel", "at_0", "at_half", "at_1", "at_2"),
    [
        (gaussian, 0.3989423, 0.3520653, 0.2419707, 0.0539910),  # the table of the normal density
        (boxcar, 0.5, 0.5, 0.5, 0.0),
    ],
)
@pytest.mark.parametrize("dtype", FLOATS)
def test_kernels_by_hand(kernel, at_0, at_half, at_1, at_2, dtype):
    expected = torch.tensor([[at_2, at_1, at_half, at_0], [at_0, at_half, at_1, at_2]], dtype=dtype)
    assert_close(kernel(torch.tensor([[-2.0, -1, -0.5, 0], [0, 0.5, 1, 2]], dtype=dtype)), expected)


# Nadaraya-Watson


@pytest.mark.parametrize(
    ("kernel", "weights"),
    [
        # Keys at 13, 14 and 18 hours, asked at 14 with a bandwidth of 2: u = 1/2, 0, 2.
        (boxcar, [1 / 2, 1 / 2, 0]),
        (None, [0.437349, 0.495582, 0.067069]),
        (gaussian, [0.437349, 0.495582, 0.067069]),  # e^(-1/8), 1 and e^-2 over their sum, 2.017832
    ],
)
def test_regression_by_hand(kernel, weights):
    keys, values = torch.tensor([13.0, 14.0, 18.0]), torch.tensor([2.0, 3.0, 0.5])
    context, ours = nadaraya_watson(torch.tensor([14.0]), keys, values, kernel=kernel, bandwidth=2.0)
    assert_close(ours, torch.tensor([weights]), **SINGLE)
    expected = 2 * weights[0] + 3 * weights[1] + 0.5 * weights[2]
    assert_close(context, torch.tensor([expected]), **SINGLE)


@every_kernel
@pytest.mark.parametrize("width", [(), (1,), (D,)])
@pytest.mark.parametrize("value_shape", [(), (D_V,), (D_V, 3)])
@pytest.mark.parametrize("masked", [False, True])
def test_regression_equals_the_loop(kernel, width, value_shape, masked):
    queries, keys = draw(NUM_QUERIES, *width), draw(NUM_KEYS, *width, seed=1)
    values = draw(NUM_KEYS, *value_shape, seed=2)
    mask = draw(NUM_QUERIES, NUM_KEYS, seed=3) > 0 if masked else None
    arguments = queries, keys, values
    ours = nadaraya_watson(*arguments, kernel=kernel, bandwidth=1.3, mask=mask)
    assert_close(ours, by_loop(*arguments, kernel, 1.3, mask), **DOUBLE)
    assert ours[0].shape == (NUM_QUERIES, *value_shape)
    assert ours[1].shape == (NUM_QUERIES, NUM_KEYS)
    assert all(argument._version == 0 for argument in arguments)  # nothing was written to them


def test_gaussian_weights_are_softmax_of_squared_distances():
    queries, keys, values = draw(NUM_QUERIES, D), draw(NUM_KEYS, D, seed=1), draw(NUM_KEYS, D_V, seed=2)
    weights = torch.softmax(-(torch.cdist(queries, keys) ** 2) / (2 * 0.7**2), dim=-1)
    assert_close(nadaraya_watson(queries, keys, values, bandwidth=0.7), (weights @ values, weights))


@pytest.mark.parametrize("masked", [False, True])
def test_a_kernel_is_what_it_computes(masked):
    """A function around the Gaussian gives what the Gaussian gives, near and far."""
    queries, keys, values = (
        draw(NUM_QUERIES).float(),
        draw(NUM_KEYS, seed=1).float(),
        draw(NUM_KEYS, seed=2).float(),
    )
    queries[0] += 17  # where the kernel is 0 for some of the keys, and has few digits for others
    mask = draw(NUM_QUERIES, NUM_KEYS, seed=3) > 0 if masked else None
    named = nadaraya_watson(queries, keys, values, kernel=gaussian, mask=mask)
    around = nadaraya_watson(queries, keys, values, kernel=lambda u: gaussian(u), mask=mask)
    for ours, theirs in zip(named, around, strict=True):
        assert torch.equal(ours, theirs)
    unnamed = nadaraya_watson(queries[1:], keys, values, mask=None if mask is None else mask[1:])
    assert_close(unnamed[1], named[1][1:], **SINGLE)


def test_bandwidth_from_nearest_neighbour_to_mean():
    queries, keys = torch.tensor([0.1, 2.4]), torch.tensor([0.0, 1.0, 3.0])
    values = torch.tensor([5.0, 7.0, 11.0])
    for bandwidth, expected in ((1e-3, [5.0, 11.0]), (1e6, [23 / 3] * 2), (math.inf, [23 / 3] * 2)):
        assert_close(nadaraya_watson(queries, keys, values, bandwidth=bandwidth)[0], torch.tensor(expected))


def test_an_empty_window_gives_zeros():
    queries, keys = torch.tensor([0.0, 50.0]), torch.tensor([0.5, -0.5, 2.0])
    values = torch.tensor([[1.0], [3.0], [100.0]])
    context, weights = nadaraya_watson(queries, keys, values, kernel=boxcar)
    assert_close(context, torch.tensor([[2.0], [0.0]]))
    assert_close(weights, torch.tensor([[0.5, 0.5, 0], [0, 0, 0]]))


@every_kernel
def test_a_query_that_may_use_no_key(kernel):
    queries, keys, values = draw(2), draw(NUM_KEYS, seed=1), draw(NUM_KEYS, seed=2)
    mask = torch.tensor([[True] * NUM_KEYS, [False] * NUM_KEYS])
    context, weights = nadaraya_watson(queries, keys, values, kernel=kernel, bandwidth=9.0, mask=mask)
    assert weights.sum(dim=1).tolist() == pytest.approx([1, 0])
    assert context[1] == 0


# Where the Gaussian kernel itself is rounded to 0, or has no digits left


def test_weights_where_every_kernel_value_is_zero():
    query, keys = torch.tensor([30.0]), torch.tensor([0.0, 1.0, 1.5])
    assert (gaussian(query - keys) == 0).all()  # the plain quotient is 0 / 0
    context, weights = nadaraya_watson(query, keys, torch.tensor([4.0, 6.0, 8.0]))
    # Exponents -450, -420.5 and -406.125: the last is larger by 14.375.
    assert_close(weights[0, 1], torch.tensor(math.exp(-14.375)), rtol=1e-4, atol=0)
    assert_close(context, torch.tensor([8.0]), rtol=1e-6, atol=0)


def test_digits_survive_at_a_distance_of_thousands():
    # u² is 25 million here, in float32 steps of 2; the exponents differ by 5000 · 2^-11 = 2.44.
    query, keys = torch.tensor([5000.0]), torch.tensor([0.0, 2.0**-11])
    exact = torch.tensor([[0.0, 5000 * 2.0**-11]]).softmax(dim=-1)
    plain = torch.softmax(-((query[:, None] - keys) ** 2) / 2, dim=-1)
    assert (plain - exact).abs().max() > 0.01
    _, weights = nadaraya_watson(query, keys, torch.zeros(2))
    assert_close(weights, exact)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("left_out", "expected"), [(False, [1.0, 2.0, 4.0]), (True, [2.0, 2.5, 2.0])])
def test_half_precision_where_the_square_overflows(dtype, left_out, expected):
    keys = torch.tensor([0.0, 512.0, 1024.0], dtype=dtype)
    values = torch.tensor([1.0, 2.0, 4.0], dtype=dtype)
    mask = ~torch.eye(3, dtype=torch.bool) if left_out else None
    context, weights = nadaraya_watson(keys, keys, values, mask=mask)
    assert context.tolist() == expected
    assert context.dtype == weights.dtype == dtype


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("bandwidth", [1e-6, 1e-30])
def test_a_tiny_bandwidth_leaves_the_nearest_keys(dtype, bandwidth):
    # Distances divided by it overflow.
    queries, keys = torch.tensor([0.5, 0.75], dtype=dtype), torch.tensor([0.0, 1.0, 4.0], dtype=dtype)
    _, weights = nadaraya_watson(queries, keys, keys, bandwidth=bandwidth)
    assert weights.tolist() == [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]
    without_second = torch.tensor([[True, False, True]]).expand(2, 3)
    _, weights = nadaraya_watson(queries, keys, keys, bandwidth=bandwidth, mask=without_second)
    assert weights.tolist() == [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]


# Gradients


@pytest.mark.parametrize("kernel", [None, gaussian, triangular])
@pytest.mark.parametrize("masked", [False, True])
def test_gradients_by_finite_differences(kernel, masked):
    mask = draw(2, 5, seed=3) > 0 if masked else None
    inputs = [draw(2, D), draw(5, D, seed=1), draw(5, 1, seed=2), torch.tensor(2.3, dtype=torch.float64)]

    def both(queries, keys, values, bandwidth):
        return nadaraya_watson(queries, keys, values, kernel=kernel, bandwidth=bandwidth, mask=mask)

    assert torch.autograd.gradcheck(both, [x.requires_grad_() for x in inputs])


@pytest.mark.parametrize("kernel", [None, gaussian, triangular])
def test_gradients_are_finite_on_keys_and_empty_rows(kernel):
    keys, values = draw(NUM_KEYS, D), draw(NUM_KEYS, seed=1)
    queries = torch.cat([keys[:2], keys[:1] + 1e3]).requires_grad_()  # two on a key, one far away
    bandwidth = torch.tensor(0.01, dtype=torch.float64, requires_grad=True)
    mask = torch.ones(3, NUM_KEYS, dtype=torch.bool)
    mask[1] = False
    context, _ = nadaraya_watson(queries, keys, values, kernel=kernel, bandwidth=bandwidth, mask=mask)
    context.sum().backward()
    assert queries.grad.isfinite().all()
    assert bandwidth.grad.isfinite()
    assert (queries.grad[1] == 0).all()


# Errors. The run-time check of shapes would raise its own first, so these call the bare function, as readers do.


@pytest.mark.parametrize(
    "bandwidth", [0.0, -1.5, math.nan, torch.tensor(-1.5), torch.tensor([1.0]), torch.ones(2)]
)
def test_a_bandwidth_must_be_a_positive_number(bandwidth):
    number = bandwidth.tolist() if isinstance(bandwidth, Tensor) else bandwidth
    with pytest.raises(ValueError, match="bandwidth must be one positive number, got") as error:
        inspect.unwrap(nadaraya_watson)(draw(2), draw(3), draw(3), bandwidth=bandwidth)
    assert str(error.value).endswith(str(number))


@pytest.mark.parametrize("kernel", [lambda u: u - 0.5, lambda u: u.sum()])
def test_a_kernel_gives_a_number_from_0_on_for_each_distance(kernel):
    with pytest.raises(ValueError, match="kernel must give a number for each distance, and none below 0"):
        nadaraya_watson(draw(2), draw(3, seed=1), draw(3), kernel=kernel)


WIDTHS = r"queries and keys must be numbers \(n,\) or vectors .* of the same width, got "
LENGTHS = "keys and values must have the same length, at least 1, got shapes "


@pytest.mark.parametrize(
    ("queries", "keys", "values", "mask", "message"),
    [
        (draw(2, 3), draw(5, 4), draw(5), None, WIDTHS + r"\(2, 3\) and \(5, 4\)"),
        (draw(2), draw(5, 1), draw(5), None, WIDTHS + r"\(2,\) and \(5, 1\)"),
        (draw(2, 3), draw(5), draw(5), None, WIDTHS),
        (draw(2, 3, 1), draw(5, 3, 1), draw(5), None, WIDTHS),
        (draw(), draw(5), draw(5), None, WIDTHS + r"\(\) and \(5,\)"),
        (draw(2), draw(), draw(5), None, WIDTHS),
        (draw(2), draw(3), draw(2), None, LENGTHS + r"\(3,\) and \(2,\)"),
        (draw(2), draw(0), draw(0), None, LENGTHS),
        (draw(2), draw(3), draw(), None, LENGTHS),
        (draw(2), draw(3).float(), draw(3), None, "got torch.float64, torch.float32 and torch.float64"),
        (*[torch.arange(3)] * 3, None, "floating-point dtype, got torch.int64"),
        (draw(2), draw(3), draw(3), torch.ones(2, 3), r"mask must be boolean \(True = may use\) of shape \(2, 3\)"),
        (draw(2), draw(3), draw(3), torch.ones(3, 2) > 0, "got torch.bool of shape .3, 2."),
    ],
)  # fmt: skip
def test_tensors_that_do_not_fit_are_named(queries, keys, values, mask, message):
    for kernel in KERNELS:
        with pytest.raises(ValueError, match=message):
            inspect.unwrap(nadaraya_watson)(queries, keys, values, kernel=kernel, mask=mask)
