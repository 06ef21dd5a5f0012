"""Attention over long sequences against torch's fused function, loops over single keys, and cases worked by hand."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from utils.attention import length_mask
from utils.long_sequences import (
    linear_attention,
    online_attention,
    positive_features,
    recurrent_attention,
    window_mask,
)
from utils.transformer import causal_mask

BATCH, HEADS, QUERIES, KEYS, D, D_V = 2, 3, 5, 11, 7, 13


def tensors(*, queries: int = QUERIES, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    torch.manual_seed(0)
    shapes = (BATCH, HEADS, queries, D), (BATCH, HEADS, KEYS, D), (BATCH, HEADS, KEYS, D_V)
    return [torch.randn(shape, dtype=dtype) for shape in shapes]


# ---- Blocks ----


@pytest.mark.parametrize("block", [1, 2, 3, KEYS, 100])
@pytest.mark.parametrize("shared", [None, "queries", "batch"])
def test_blocks_equal_the_fused_function(block, shared):
    queries, keys, values = tensors()
    mask = None
    if shared == "queries":
        mask = causal_mask(QUERIES, KEYS)
    elif shared == "batch":
        mask = length_mask(torch.tensor([KEYS, 4]), KEYS)[:, None]
    expected = scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    assert_close(online_attention(queries, keys, values, mask, block=block), expected)


@pytest.mark.parametrize("block", [1, 3, KEYS])
def test_empty_rows_have_context_zero(block):
    queries, keys, values = tensors()
    mask = torch.zeros(QUERIES, KEYS, dtype=torch.bool)
    mask[1, KEYS - 1] = True  # its first blocks have no allowed key
    context = online_attention(queries, keys, values, mask, block=block)
    assert (context[..., [0, 2, 3, 4], :] == 0).all()
    assert_close(context[..., 1, :], values[..., KEYS - 1, :])


def test_gradients_reach_empty_rows_without_nan():
    inputs = [x.requires_grad_() for x in tensors()]
    mask = torch.zeros(QUERIES, KEYS, dtype=torch.bool)
    mask[1, 7:] = True
    for attend in (online_attention, scaled_dot_product_attention):
        attend(*inputs, mask).sum().backward()
    # Both gradients were added up: the sum is twice each of them.
    both = [x.grad.clone() for x in inputs]
    for x in inputs:
        x.grad = None
    online_attention(*inputs, mask, block=2).sum().backward()
    for x, twice in zip(inputs, both, strict=True):
        assert_close(2 * x.grad, twice)


@given(st.lists(st.floats(-500, 500), min_size=1, max_size=9), st.integers(1, 9))
@settings(max_examples=50, deadline=None)
def test_scores_of_any_size_give_the_softmax(scores, block):
    keys = torch.tensor(scores, dtype=torch.float64)[:, None]
    values = torch.eye(len(scores), dtype=torch.float64)
    weights = online_attention(torch.ones(1, 1, dtype=torch.float64), keys, values, block=block)
    assert_close(weights[0], torch.softmax(keys[:, 0], dim=0))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_types_are_summed_in_float32(dtype):
    queries, keys, values = tensors(dtype=dtype)
    context = online_attention(queries, keys, values, block=2)
    assert context.dtype == dtype
    exact = scaled_dot_product_attention(queries.double(), keys.double(), values.double())
    assert_close(context.double(), exact, atol=0.02, rtol=0.02)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_long_sums_of_narrow_types_do_not_overflow(dtype):
    n, d = 3001, 37  # each kernel is 37 · 4, so the sum passes 65,504 at row 442
    ones, values = torch.ones(n, d, dtype=dtype), torch.full((n, 2), 3.0, dtype=dtype)
    context, weights = linear_attention(ones, ones, values)
    assert context.dtype == weights.dtype == dtype
    assert (context == 3).all()
    assert_close(weights[-1], torch.full((n,), 1 / n, dtype=dtype))
    assert (online_attention(ones, ones, values) == 3).all()
    sums, state = recurrent_attention(ones[:, :1], ones[:, :1], values)
    assert (sums.dtype, state.dtype) == (dtype, torch.float32)
    assert state.tolist() == [[3 * n, 3 * n]]  # in float16 it would stop at 8,192
    assert torch.equal(sums[:, 0], (3 * torch.arange(1, n + 1)).to(dtype))


# ---- Windows ----


@pytest.mark.parametrize(("window", "sinks"), [(1, 0), (3, 0), (3, 2), (2, 5), (KEYS, 0)])
def test_a_window_is_that_of_a_loop(window, sinks):
    mask = window_mask(QUERIES, KEYS, window=window, sinks=sinks)
    for i in range(QUERIES):
        at = KEYS - QUERIES + i
        for j in range(KEYS):
            assert mask[i, j] == (j <= at and (at - j < window or j < sinks))


def test_without_sinks_a_window_is_all_that_is_seen():
    seen = [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    assert window_mask(4, window=2).int().tolist() == seen


# ---- States ----


def test_linear_attention_is_that_of_a_loop():
    queries, keys, values = tensors(queries=KEYS)
    contexts, weights = linear_attention(queries, keys, values)
    assert_close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))
    assert (weights >= 0).all()
    for i in range(KEYS):
        kernel = torch.stack(
            [
                (positive_features(queries[1, 2, i]) * positive_features(keys[1, 2, j])).sum()
                for j in range(i + 1)
            ]
        )
        assert_close(contexts[1, 2, i], kernel / kernel.sum() @ values[1, 2, : i + 1])


def test_features_of_an_exponential_give_softmax():
    # With one-hot keys the kernel e^(q·k) is a product of features: e^q for the query, and k for the key.
    queries = torch.randn(KEYS, D, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    keys = torch.eye(D, dtype=torch.float64)[torch.arange(KEYS) % D]
    values = torch.arange(2.0 * KEYS, dtype=torch.float64).view(KEYS, 2)
    contexts, _ = linear_attention(queries.exp(), keys, values, features=lambda x: x)
    expected = scaled_dot_product_attention(queries, keys, values, is_causal=True, scale=1.0)
    assert_close(contexts, expected)


def test_the_recurrence_gives_linear_attention():
    queries, keys, values = tensors(queries=KEYS)
    with_ones = torch.cat([values, torch.ones_like(values[..., :1])], dim=-1)
    features = positive_features(queries), positive_features(keys)
    sums, _ = recurrent_attention(*features, with_ones)
    assert_close(sums[..., :-1] / sums[..., -1:], linear_attention(queries, keys, values)[0])


@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("corrected", [False, True])
def test_a_sequence_may_be_read_in_two_parts(gated, corrected):
    queries, keys, values = tensors(queries=KEYS)
    numbers = torch.rand(2, BATCH, HEADS, KEYS, dtype=torch.float64)
    gates, rates = numbers[0] if gated else None, numbers[1] if corrected else None

    def part(where, state=None):
        options = {
            name: None if x is None else x[..., where] for name, x in (("gates", gates), ("rates", rates))
        }
        return recurrent_attention(*(x[..., where, :] for x in (queries, keys, values)), state, **options)

    contexts, state = recurrent_attention(queries, keys, values, gates=gates, rates=rates)
    first, half = part(slice(0, 4))
    kept = half.clone()
    second, end = part(slice(4, None), half)
    assert_close((torch.cat([first, second], dim=-2), end), (contexts, state))
    assert torch.equal(half, kept)


def test_the_gated_delta_rule_is_its_formula():
    queries, keys, values = (x[0, 0] for x in tensors(queries=KEYS))
    gates, rates = torch.rand(2, KEYS, dtype=torch.float64)
    state = torch.zeros(D_V, D, dtype=torch.float64)  # values are rows, as in the paper
    for key, value, gate, rate in zip(keys, values, gates, rates, strict=True):
        erase = torch.eye(D, dtype=torch.float64) - rate * torch.outer(key, key)
        state = gate * state @ erase + rate * torch.outer(value, key)
    assert_close(recurrent_attention(queries, keys, values, gates=gates, rates=rates)[1], state.T)


def test_the_delta_rule_replaces_a_value():
    keys, values = torch.eye(3)[[0, 1, 0]], torch.tensor([[1.0], [2.0], [5.0]])
    _, state = recurrent_attention(keys, keys, values, rates=torch.ones(3))
    assert_close(state, torch.tensor([[5.0], [2.0], [0.0]]))
    _, state = recurrent_attention(keys, keys, values, gates=torch.full((3,), 0.5))
    assert_close(state, torch.tensor([[5.25], [1.0], [0.0]]))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda q, k, v: online_attention(q, k, v, block=0), "block must be at least 1, got 0"),
        (lambda q, k, v: online_attention(q[..., :2], k, v), "same width, got 2 and 7"),
        (lambda q, k, v: online_attention(q, k, v[..., :2, :]), "same length, got 11 and 2"),
        (lambda q, k, v: online_attention(q, k, v, torch.ones(QUERIES, KEYS)), "mask must be boolean"),
        (lambda q, k, v: online_attention(q, k, v, causal_mask(3)), "does not broadcast"),
        (lambda q, k, v: window_mask(3, window=0), "window must be at least 1"),
        (lambda q, k, v: window_mask(3, window=1, sinks=-1), "sinks must be at least 0, got -1"),
        (lambda q, k, v: window_mask(3, 2, window=1), "got 3 queries and 2 keys"),
        (lambda q, k, v: linear_attention(q, k, v), "got 5 queries and 11 keys"),
        (lambda q, k, v: recurrent_attention(k, k, v, gates=torch.ones(3)), "gates must have one number"),
        (lambda q, k, v: recurrent_attention(k, k, v, rates=torch.ones(3)), "rates must have one number"),
        (lambda q, k, v: recurrent_attention(k, k, v, torch.ones(D, D)), r"state must have the last axes \(7, 13\)"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("unchecked_shapes")
def test_errors_name_the_argument(call, says):
    with pytest.raises(ValueError, match=says):
        call(*tensors())


def test_answers_worked_by_hand():
    scores = torch.tensor([[2.0], [0.0], [3.0]])
    weights = online_attention(torch.ones(1, 1), scores, torch.eye(3), block=2)
    total = math.exp(-1) * (1 + math.exp(-2)) + 1
    assert_close(weights, torch.tensor([[math.exp(-1), math.exp(-3), 1.0]]) / total)
