"""Additive scores one query at a time against the broadcast form and finite differences."""

import pytest
import torch

import utils.attention
from utils.additive_by_query import additive_scores_by_query
from utils.attention import AdditiveAttention, additive_scores


def inputs(*leading, queries=7, keys=5, h=3, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    shapes = ((*leading, queries, h), (*leading, keys, h), (h,))
    return tuple(torch.randn(shape, generator=generator, dtype=dtype).requires_grad_() for shape in shapes)


@pytest.mark.parametrize("leading", [(), (2,), (2, 3)])
def test_scores_and_gradients_are_those_of_the_broadcast_form(leading):
    arguments = inputs(*leading)
    ours, wanted = additive_scores_by_query(*arguments), additive_scores(*arguments)
    torch.testing.assert_close(ours, wanted, rtol=1e-12, atol=1e-12)
    g = torch.randn(wanted.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    gradients = (torch.autograd.grad(scores, arguments, g) for scores in (ours, wanted))
    for mine, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-12, atol=1e-12)


def test_gradients_by_finite_differences():
    assert torch.autograd.gradcheck(additive_scores_by_query, inputs(2))


def test_leading_axes_broadcast():
    queries, _, w_v = inputs(2, 1)
    _, keys, _ = inputs(3)
    arguments = (queries, keys, w_v)
    copies = (*(tensor.expand(2, 3, -1, -1) for tensor in arguments[:2]), w_v)
    ours, wanted = additive_scores_by_query(*arguments), additive_scores(*copies)
    assert ours.shape == (2, 3, 7, 5)
    torch.testing.assert_close(ours, wanted)
    gradients = (torch.autograd.grad(scores.square().sum(), arguments) for scores in (ours, wanted))
    for mine, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, theirs)


def test_the_number_of_threads_is_given_back():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        arguments = inputs(2)
        additive_scores_by_query(*arguments).sum().backward()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(("queries", "keys"), [(0, 5), (7, 0), (1, 1)])
def test_no_queries_or_no_keys(queries, keys):
    arguments = inputs(2, queries=queries, keys=keys)
    scores = additive_scores_by_query(*arguments)
    assert scores.shape == (2, queries, keys)
    scores.sum().backward()
    assert arguments[2].grad.shape == (3,)


def test_large_sums_saturate_without_nan():
    queries, keys, w_v = inputs(dtype=torch.float32)
    arguments = (queries * 1e30, keys, w_v)
    scores = additive_scores_by_query(*arguments)
    torch.testing.assert_close(scores, additive_scores(*arguments))
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(scores.sum(), (keys, w_v)))


@pytest.mark.parametrize("size", [21.0, 22.0, 60.0])
def test_exponentials_keep_their_digits_up_to_the_end_of_the_range_and_are_not_taken_beyond(size):
    generator = torch.Generator().manual_seed(0)
    queries = torch.randn(7, 3, generator=generator).add(size).requires_grad_()
    keys = torch.randn(5, 3, generator=generator).sub(size).requires_grad_()
    w_v = torch.randn(3, generator=generator).requires_grad_()
    doubles = [tensor.detach().double().requires_grad_() for tensor in (queries, keys, w_v)]
    ours, wanted = additive_scores_by_query(queries, keys, w_v), additive_scores(*doubles)
    torch.testing.assert_close(ours.double(), wanted, atol=3e-5, rtol=0)  # the sums have lost as much
    gradients = (
        torch.autograd.grad(scores.square().sum(), arguments)
        for scores, arguments in ((ours, (queries, keys, w_v)), (wanted, doubles))
    )
    for mine, exact in zip(*gradients, strict=True):
        torch.testing.assert_close(mine.double(), exact, atol=1e-4 * exact.abs().max().item(), rtol=0)


def test_a_number_that_is_none_is_passed_on():
    queries, keys, w_v = inputs(dtype=torch.float32)
    with torch.no_grad():
        keys[2, 1] = torch.nan
    scores = additive_scores_by_query(queries, keys, w_v)
    assert scores[:, 2].isnan().all()
    assert scores[:, [0, 1, 3, 4]].isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_stays_half_precision(dtype):
    exact = inputs(2)
    ours = additive_scores_by_query(*(tensor.to(dtype) for tensor in exact))
    assert ours.dtype == dtype
    torch.testing.assert_close(ours.double(), additive_scores(*exact), atol=0.05, rtol=0.05)


@pytest.mark.parametrize("masked", [False, True])
def test_the_layer_gives_the_same_either_way(monkeypatch, masked):
    torch.manual_seed(0)
    layer = AdditiveAttention(3, 5, 11)
    queries, keys, values = torch.randn(2, 13, 3), torch.randn(2, 7, 5), torch.randn(2, 7, 4)
    mask = torch.rand(2, 13, 7) < 0.7 if masked else None
    results = []
    for limit in (utils.attention._MANY_FEATURES, 1):
        monkeypatch.setattr(utils.attention, "_MANY_FEATURES", limit)
        layer.zero_grad()
        context, weights = layer(queries, keys, values, mask)
        context.square().sum().backward()
        results.append([context, weights, *(parameter.grad.clone() for parameter in layer.parameters())])
    for ours, wanted in zip(*results, strict=True):
        torch.testing.assert_close(ours, wanted, atol=1e-5, rtol=1e-5)


def test_the_layer_works_under_autocast_either_way(monkeypatch):
    torch.manual_seed(0)
    layer = AdditiveAttention(3, 5, 11)
    queries, keys, values = torch.randn(2, 13, 3), torch.randn(2, 7, 5), torch.randn(2, 7, 4)
    exact, _ = layer(queries, keys, values)
    exact.square().sum().backward()
    wanted = [parameter.grad.clone() for parameter in layer.parameters()]
    for limit in (utils.attention._MANY_FEATURES, 1):
        monkeypatch.setattr(utils.attention, "_MANY_FEATURES", limit)
        layer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            context, _ = layer(queries, keys, values)
        context.float().square().sum().backward()
        torch.testing.assert_close(context.float(), exact, atol=0.02, rtol=0.02)
        for parameter, gradient in zip(layer.parameters(), wanted, strict=True):
            atol = 0.03 * gradient.abs().max().item()
            torch.testing.assert_close(parameter.grad, gradient, atol=atol, rtol=0)


def test_float32_keeps_its_digits_over_many_queries_and_keys():
    arguments = inputs(queries=211, keys=307, h=23, dtype=torch.float32)
    g = torch.randn(211, 307, generator=torch.Generator().manual_seed(1))
    doubles = [tensor.detach().double().requires_grad_() for tensor in arguments]
    wanted = torch.autograd.grad(additive_scores(*doubles), doubles, g.double())
    ours = torch.autograd.grad(additive_scores_by_query(*arguments), arguments, g)
    for mine, exact in zip(ours, wanted, strict=True):
        torch.testing.assert_close(mine.double(), exact, atol=1e-5 * exact.abs().max().item(), rtol=1e-5)
