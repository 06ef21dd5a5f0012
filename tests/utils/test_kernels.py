"""Kernels and Nadaraya-Watson, against hand-worked numbers, a loop over Python floats and softmax."""

import inspect
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from utils.attention import masked_softmax
from utils.kernels import boxcar, epanechnikov, gaussian, nadaraya_watson, triangular

KERNELS = [gaussian, boxcar, triangular, epanechnikov]
#: The same kernels on plain numbers, written from the formulae, as an oracle.
PLAIN = {
    gaussian: lambda u: math.exp(-u * u / 2) / math.sqrt(2 * math.pi),
    boxcar: lambda u: 0.5 if u <= 1 else 0.0,
    triangular: lambda u: 1 - u if u <= 1 else 0.0,
    epanechnikov: lambda u: 0.75 * (1 - u * u) if u <= 1 else 0.0,
}
# Different primes, so that a swapped axis cannot pass.
NUM_QUERIES, NUM_KEYS, D, D_V = 5, 7, 3, 2


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


#: Tolerances of sums of at most a hundred products of numbers near 1.
SINGLE, DOUBLE = (
    {"rtol": tolerance, "atol": tolerance}
    for tolerance in (100 * torch.finfo(dtype).eps for dtype in (torch.float32, torch.float64))
)
few_examples = settings(max_examples=30)


class TestKernels:
    @pytest.mark.parametrize(
        ("kernel", "at_0", "at_half", "at_1", "at_2"),
        [
            (gaussian, 0.3989423, 0.3520653, 0.2419707, 0.0539910),  # the table of the normal density
            (boxcar, 0.5, 0.5, 0.5, 0.0),
            (triangular, 1.0, 0.5, 0.0, 0.0),
            (epanechnikov, 0.75, 0.5625, 0.0, 0.0),
        ],
    )
    def test_by_hand(self, kernel, at_0, at_half, at_1, at_2):
        values = kernel(torch.tensor([0.0, 0.5, 1.0, 2.0]))
        torch.testing.assert_close(values, torch.tensor([at_0, at_half, at_1, at_2]))

    @pytest.mark.parametrize("kernel", KERNELS)
    def test_a_density_that_is_even(self, kernel):
        u = torch.linspace(-9, 9, 180_001, dtype=torch.float64)
        values = kernel(u)
        assert (values >= 0).all()
        torch.testing.assert_close(values, values.flip(0))
        assert torch.trapezoid(values, u).item() == pytest.approx(1, abs=1e-4)

    def test_triangular_is_not_epanechnikov(self):
        peak, half = torch.tensor(0.0), torch.tensor(0.5)
        assert triangular(half) / triangular(peak) == 0.5
        assert epanechnikov(half) / epanechnikov(peak) == 0.75

    @pytest.mark.parametrize("kernel", KERNELS)
    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
    def test_keeps_dtype_and_shape(self, kernel, dtype):
        u = draw(2, 3, 5, dtype=dtype)
        assert kernel(u).dtype == dtype
        assert kernel(u).shape == (2, 3, 5)


class TestNadarayaWatson:
    @pytest.mark.parametrize(
        ("kernel", "weights"),
        [
            # Keys at 13, 14 and 18 hours, asked at 14 with a bandwidth of 2: u = 1/2, 0, 2.
            (triangular, [1 / 3, 2 / 3, 0]),
            (epanechnikov, [3 / 7, 4 / 7, 0]),
            (boxcar, [1 / 2, 1 / 2, 0]),
            (gaussian, [0.437349, 0.495582, 0.067069]),  # e^(-1/8), 1 and e^-2 over their sum, 2.017832
        ],
    )
    def test_by_hand(self, kernel, weights):
        keys, values = torch.tensor([13.0, 14.0, 18.0]), torch.tensor([2.0, 3.0, 0.5])
        context, ours = nadaraya_watson(torch.tensor([14.0]), keys, values, kernel=kernel, bandwidth=2.0)
        torch.testing.assert_close(ours, torch.tensor([weights]), **SINGLE)
        expected = 2 * weights[0] + 3 * weights[1] + 0.5 * weights[2]
        torch.testing.assert_close(context, torch.tensor([expected]), **SINGLE)

    @pytest.mark.parametrize("kernel", KERNELS)
    @pytest.mark.parametrize("width", [(), (1,), (D,)])
    @pytest.mark.parametrize("value_shape", [(), (D_V,), (D_V, 3)])
    @pytest.mark.parametrize("masked", [False, True])
    def test_equals_the_loop(self, kernel, width, value_shape, masked):
        queries, keys = draw(NUM_QUERIES, *width), draw(NUM_KEYS, *width, seed=1)
        values = draw(NUM_KEYS, *value_shape, seed=2)
        mask = draw(NUM_QUERIES, NUM_KEYS, seed=3) > 0 if masked else None
        ours = nadaraya_watson(queries, keys, values, kernel=kernel, bandwidth=1.3, mask=mask)
        torch.testing.assert_close(ours, by_loop(queries, keys, values, kernel, 1.3, mask), **DOUBLE)
        assert ours[0].shape == (NUM_QUERIES, *value_shape)
        assert ours[1].shape == (NUM_QUERIES, NUM_KEYS)

    @pytest.mark.parametrize("masked", [False, True])
    def test_gaussian_is_softmax_of_scores(self, masked):
        queries, keys, values = draw(NUM_QUERIES, D), draw(NUM_KEYS, D, seed=1), draw(NUM_KEYS, D_V, seed=2)
        w = 1 / 0.7
        mask = ~torch.eye(NUM_QUERIES, NUM_KEYS, dtype=torch.bool) if masked else None
        scores = -(torch.cdist(queries, keys) ** 2) * w**2 / 2
        weights = torch.softmax(scores if mask is None else scores.masked_fill(~mask, -math.inf), dim=-1)
        ours = nadaraya_watson(queries, keys, values, bandwidth=0.7, mask=mask)
        torch.testing.assert_close(ours, (weights @ values, weights))
        torch.testing.assert_close(ours[1], masked_softmax(scores, mask))

    def test_gaussian_given_as_another_function_agrees(self):
        # The kernel's own values, normalised, are the definition; the softmax is how `gaussian` is computed.
        queries, keys, values = draw(NUM_QUERIES), draw(NUM_KEYS, seed=1), draw(NUM_KEYS, seed=2)
        definition = nadaraya_watson(queries, keys, values, kernel=lambda u: gaussian(u))
        torch.testing.assert_close(nadaraya_watson(queries, keys, values), definition)

    def test_constant_factor_of_a_kernel_cancels(self):
        queries, keys, values = draw(NUM_QUERIES), draw(NUM_KEYS, seed=1), draw(NUM_KEYS, seed=2)
        taller = nadaraya_watson(queries, keys, values, kernel=lambda u: 7 * triangular(u), bandwidth=2.0)
        torch.testing.assert_close(
            taller, nadaraya_watson(queries, keys, values, kernel=triangular, bandwidth=2.0)
        )

    def test_width_from_nearest_neighbour_to_mean(self):
        queries, keys = torch.tensor([0.1, 2.4]), torch.tensor([0.0, 1.0, 3.0])
        values = torch.tensor([5.0, 7.0, 11.0])
        nearest, _ = nadaraya_watson(queries, keys, values, bandwidth=1e-3)
        torch.testing.assert_close(nearest, torch.tensor([5.0, 11.0]))
        for bandwidth in (1e6, math.inf):
            mean, _ = nadaraya_watson(queries, keys, values, bandwidth=bandwidth)
            torch.testing.assert_close(mean, torch.full((2,), 23 / 3))

    @pytest.mark.parametrize("kernel", [boxcar, triangular, epanechnikov])
    def test_empty_window(self, kernel):
        queries, keys = torch.tensor([0.0, 50.0]), torch.tensor([0.5, -0.5, 2.0])
        values = torch.tensor([[1.0], [3.0], [100.0]])
        context, weights = nadaraya_watson(queries, keys, values, kernel=kernel)
        torch.testing.assert_close(context, torch.tensor([[2.0], [0.0]]))
        torch.testing.assert_close(weights, torch.tensor([[0.5, 0.5, 0], [0, 0, 0]]))

    @pytest.mark.parametrize("kernel", KERNELS)
    def test_row_emptied_by_the_mask(self, kernel):
        queries, keys, values = draw(2), draw(NUM_KEYS, seed=1), draw(NUM_KEYS, seed=2)
        mask = torch.tensor([[True] * NUM_KEYS, [False] * NUM_KEYS])
        context, weights = nadaraya_watson(queries, keys, values, kernel=kernel, bandwidth=9.0, mask=mask)
        assert weights.sum(dim=1).tolist() == pytest.approx([1, 0])
        assert context[1] == 0

    def test_leave_one_out_is_the_log_without_that_reading(self):
        keys, values = draw(NUM_KEYS), draw(NUM_KEYS, seed=1)
        mask = ~torch.eye(NUM_KEYS, dtype=torch.bool)
        for kernel in KERNELS:
            context, weights = nadaraya_watson(keys, keys, values, kernel=kernel, bandwidth=0.8, mask=mask)
            assert (weights.diagonal() == 0).all()
            for i in range(NUM_KEYS):
                rest = torch.arange(NUM_KEYS) != i
                alone, _ = nadaraya_watson(
                    keys[i : i + 1], keys[rest], values[rest], kernel=kernel, bandwidth=0.8
                )
                torch.testing.assert_close(context[i : i + 1], alone)

    def test_no_queries(self):
        context, weights = nadaraya_watson(draw(0, D), draw(NUM_KEYS, D), draw(NUM_KEYS, D_V))
        assert (context.shape, weights.shape) == ((0, D_V), (0, NUM_KEYS))

    def test_arguments_are_not_written_to(self):
        arguments = [draw(NUM_QUERIES), draw(NUM_KEYS, seed=1), draw(NUM_KEYS, seed=2)]
        copies = [argument.clone() for argument in arguments]
        for kernel in KERNELS:
            nadaraya_watson(*arguments, kernel=kernel)
        assert all(torch.equal(*pair) for pair in zip(arguments, copies, strict=True))


class TestNumbersFarAway:
    """Where the Gaussian kernel itself has been rounded to 0, or has no digits left."""

    def test_underflow(self):
        query, keys, values = (
            torch.tensor([30.0]),
            torch.tensor([0.0, 1.0, 1.5]),
            torch.tensor([4.0, 6.0, 8.0]),
        )
        assert (gaussian(query - keys) == 0).all()  # the naive quotient is 0 / 0
        context, weights = nadaraya_watson(query, keys, values)
        # Exponents -450, -420.5 and -406.125: the last is larger by 14.375.
        torch.testing.assert_close(weights[0, 1], torch.tensor(math.exp(-14.375)), rtol=1e-4, atol=0)
        torch.testing.assert_close(context, torch.tensor([8.0]), rtol=1e-6, atol=0)

    def test_digits_survive_at_a_distance_of_thousands(self):
        # u² is 25 million here, in float32 steps of 2; the exponents differ by 5000 · 2^-11 = 2.44.
        query, keys = torch.tensor([5000.0]), torch.tensor([0.0, 2.0**-11])
        exact = torch.tensor([[0.0, 5000 * 2.0**-11]]).softmax(dim=-1)
        naive = torch.softmax(-((query[:, None] - keys) ** 2) / 2, dim=-1)
        assert (naive - exact).abs().max() > 0.01
        _, weights = nadaraya_watson(query, keys, torch.zeros(2))
        torch.testing.assert_close(weights, exact)

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
    @pytest.mark.parametrize("left_out", [False, True])
    def test_half_precision_where_the_square_overflows(self, dtype, left_out):
        keys, values = (
            torch.tensor([0.0, 512.0, 1024.0], dtype=dtype),
            torch.tensor([1.0, 2.0, 4.0], dtype=dtype),
        )
        mask = ~torch.eye(3, dtype=torch.bool) if left_out else None
        context, weights = nadaraya_watson(keys, keys, values, mask=mask)
        expected = [2.0, 2.5, 2.0] if left_out else [1.0, 2.0, 4.0]
        assert context.tolist() == expected
        assert context.dtype == weights.dtype == dtype

    def test_half_precision_where_the_sum_of_two_distances_overflows(self):
        query = torch.tensor([40_000.0], dtype=torch.float16)
        keys = torch.tensor([0.0, 32.0], dtype=torch.float16)
        assert nadaraya_watson(query, keys, keys)[0].tolist() == [32.0]

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
    @pytest.mark.parametrize("bandwidth", [1e-6, 1e-30])
    def test_a_bandwidth_so_small_that_scaled_distances_overflow_leaves_the_nearest_keys(
        self, dtype, bandwidth
    ):
        queries = torch.tensor([0.5, 0.75], dtype=dtype)
        keys = torch.tensor([0.0, 1.0, 4.0], dtype=dtype)
        _, weights = nadaraya_watson(queries, keys, keys, bandwidth=bandwidth)
        assert weights.tolist() == [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]
        beside_the_nearest = torch.tensor([[True, False, True]]).expand(2, 3)
        _, weights = nadaraya_watson(queries, keys, keys, bandwidth=bandwidth, mask=beside_the_nearest)
        assert weights.tolist() == [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]


class TestGradients:
    @pytest.mark.parametrize("kernel", [gaussian, triangular, epanechnikov])
    @pytest.mark.parametrize("masked", [False, True])
    def test_gradcheck(self, kernel, masked):
        mask = draw(2, 5, seed=3) > 0 if masked else None
        inputs = [draw(2, D), draw(5, D, seed=1), draw(5, 1, seed=2)]
        inputs.append(torch.tensor(2.3, dtype=torch.float64))

        def both(queries, keys, values, bandwidth):
            return nadaraya_watson(queries, keys, values, kernel=kernel, bandwidth=bandwidth, mask=mask)

        assert torch.autograd.gradcheck(both, [x.requires_grad_() for x in inputs])

    def test_bandwidth_by_hand(self):
        # Keys at 0 and 1, asked at 0, values 0 and 1: f = 1 / (1 + e^(1/(2 h^2))), so f' = f (1 - f) / h^3.
        bandwidth = torch.tensor(0.8, dtype=torch.float64, requires_grad=True)
        keys = torch.tensor([0.0, 1.0], dtype=torch.float64)
        context, _ = nadaraya_watson(keys[:1], keys, keys, bandwidth=bandwidth)
        context.sum().backward()
        f = 1 / (1 + math.exp(1 / (2 * 0.8**2)))
        assert context.item() == pytest.approx(f, rel=1e-12)
        assert bandwidth.grad.item() == pytest.approx(f * (1 - f) / 0.8**3, rel=1e-12)

    @pytest.mark.parametrize("kernel", [gaussian, triangular, epanechnikov])
    def test_finite_on_coinciding_vectors_and_empty_rows(self, kernel):
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

    def test_seeing_itself_narrows_the_width_and_leaving_out_widens_it(self):
        # The values alternate, so a neighbour has the opposite value. An estimate that may use its own value does
        # best if it copies it, and one that may not does best with the mean of many.
        keys = torch.linspace(0, 1, 11, dtype=torch.float64)
        values = torch.tensor([1.0, -1.0] * 5 + [1.0], dtype=torch.float64)

        def slope(mask):
            bandwidth = torch.tensor(0.05, dtype=torch.float64, requires_grad=True)
            context, _ = nadaraya_watson(keys, keys, values, bandwidth=bandwidth, mask=mask)
            (context - values).square().mean().backward()
            return bandwidth.grad.item()

        assert slope(None) > 0
        assert slope(~torch.eye(11, dtype=torch.bool)) < 0


class TestProperties:
    numbers = st.floats(-100, 100, width=32)

    @few_examples
    @given(
        st.lists(numbers, min_size=1, max_size=5),
        st.lists(st.tuples(numbers, numbers), min_size=1, max_size=7),
        st.floats(0.01, 1e3),
        st.sampled_from(KERNELS),
    )
    def test_weights_are_a_distribution_or_nothing(self, queries, points, bandwidth, kernel):
        keys, values = torch.tensor(points).T
        context, weights = nadaraya_watson(
            torch.tensor(queries), keys, values, kernel=kernel, bandwidth=bandwidth
        )
        assert (weights >= 0).all()
        total = weights.sum(dim=1)
        full = total > 0
        torch.testing.assert_close(total[full], torch.ones(int(full.sum())))
        assert (context[~full] == 0).all()
        assert kernel is not gaussian or full.all()
        slack = SINGLE["atol"] * (1 + values.abs().max())
        assert (context[full] >= values.min() - slack).all()
        assert (context[full] <= values.max() + slack).all()

    @few_examples
    @given(st.permutations(range(NUM_KEYS)), st.sampled_from(KERNELS))
    def test_order_of_the_readings_does_not_matter(self, order, kernel):
        queries, keys, values = draw(NUM_QUERIES, D), draw(NUM_KEYS, D, seed=1), draw(NUM_KEYS, D_V, seed=2)
        context, weights = nadaraya_watson(queries, keys, values, kernel=kernel, bandwidth=2.0)
        shuffled, moved = nadaraya_watson(queries, keys[order], values[order], kernel=kernel, bandwidth=2.0)
        torch.testing.assert_close(shuffled, context)
        torch.testing.assert_close(moved, weights[:, order])

    @few_examples
    @given(st.floats(-50, 50), st.floats(0.1, 10), st.sampled_from(KERNELS))
    def test_moving_and_stretching_the_axis_changes_nothing(self, shift, stretch, kernel):
        queries, keys, values = draw(NUM_QUERIES), draw(NUM_KEYS, seed=1), draw(NUM_KEYS, seed=2)
        before = nadaraya_watson(queries, keys, values, kernel=kernel, bandwidth=1.7)
        after = nadaraya_watson(
            stretch * (queries + shift),
            stretch * (keys + shift),
            values,
            kernel=kernel,
            bandwidth=1.7 * stretch,
        )
        torch.testing.assert_close(after, before, rtol=1e-6, atol=1e-9)


class TestErrors:
    # The run-time check of shapes would raise its own error first. So these call the bare function, as readers do.
    bare = staticmethod(inspect.unwrap(nadaraya_watson))

    @pytest.mark.parametrize(
        "bandwidth", [0.0, -1.5, math.nan, torch.tensor(-1.5), torch.tensor([1.0]), torch.ones(2)]
    )
    def test_bandwidth(self, bandwidth):
        number = bandwidth.tolist() if isinstance(bandwidth, Tensor) else bandwidth
        with pytest.raises(ValueError, match="bandwidth must be one positive number, got") as error:
            self.bare(draw(2), draw(3), draw(3), bandwidth=bandwidth)
        assert str(error.value).endswith(str(number))

    @pytest.mark.parametrize(
        ("queries", "keys"),
        [((2, 3), (5, 4)), ((2,), (5, 1)), ((2, 3), (5,)), ((2, 3, 1), (5, 3, 1)), ((), (5,)), ((2,), ())],
    )
    def test_widths(self, queries, keys):
        with pytest.raises(ValueError, match="queries and keys must be numbers") as error:
            self.bare(draw(*queries), draw(*keys), draw(5))
        assert f"got {queries} and {keys}" in str(error.value)

    @pytest.mark.parametrize(("keys", "values"), [((3,), (2,)), ((0,), (0,)), ((3,), ())])
    def test_counts(self, keys, values):
        with pytest.raises(
            ValueError, match="keys and values must have the same length, at least 1"
        ) as error:
            self.bare(draw(2), draw(*keys), draw(*values))
        assert str(error.value).endswith(f"got shapes {keys} and {values}")

    def test_dtypes(self):
        with pytest.raises(ValueError, match=r"got torch.float64, torch.float32 and torch.float64"):
            self.bare(draw(2), draw(3).float(), draw(3))
        with pytest.raises(ValueError, match=r"floating-point dtype, got torch.int64"):
            self.bare(*[torch.arange(3)] * 3)

    @pytest.mark.parametrize("kernel", [gaussian, boxcar])
    @pytest.mark.parametrize("mask", [torch.ones(2, 3), torch.ones(3, 2, dtype=torch.bool)])
    def test_mask(self, mask, kernel):
        with pytest.raises(ValueError, match=r"mask must be boolean \(True = may use\) of shape \(2, 3\)"):
            self.bare(draw(2), draw(3), draw(3), kernel=kernel, mask=mask)
