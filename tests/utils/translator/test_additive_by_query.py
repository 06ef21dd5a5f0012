"""Additive scores one query at a time against the plain form: values, gradients, memory, and the layer."""

from inspect import unwrap

import pytest
import torch
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

from utils.attention import AdditiveAttention, additive_scores, length_mask
from utils.translator.additive_by_query import additive_scores_by_query

WIDTH = 3


def inputs(queries, keys, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    shapes = (*queries, WIDTH), (*keys, WIDTH), (WIDTH,)
    return [torch.randn(shape, generator=generator, dtype=dtype).requires_grad_() for shape in shapes]


def assert_like_the_plain_form(arguments, num_roundings):
    """Scores and gradients are equal up to this many rounding errors of the largest number."""
    results = []
    for function, tensors in (
        (additive_scores_by_query, arguments),
        (unwrap(additive_scores), [t.double() for t in arguments]),
    ):
        scores = function(*tensors)
        g = torch.randn(scores.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        results.append([scores, *torch.autograd.grad(scores, tensors, g.to(scores.dtype))])
    for ours, exact in zip(*results, strict=True):
        assert ours.dtype == arguments[0].dtype
        atol = num_roundings * torch.finfo(ours.dtype).eps * max(1.0, exact.abs().max().item())
        assert_close(ours.double(), exact, rtol=0, atol=atol)


LEADING = [((7,), (5,)), ((2, 7), (2, 5)), ((2, 1, 7), (3, 5))]  # the last two broadcast


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("queries", "keys"), LEADING)
def test_scores_and_gradients_equal_the_plain_form(queries, keys, dtype):
    assert_like_the_plain_form(inputs(queries, keys, dtype), 10 * 2 * 3 * 7 * 5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_sums_over_many_queries_keep_their_digits(dtype):
    # Rounding errors of a sum add up like a random walk; those of 16-bit types come from the last step alone.
    assert_like_the_plain_form(
        inputs((211,), (307,), dtype), (211 * 307) ** 0.5 if dtype == torch.float32 else 4
    )


@pytest.mark.parametrize(
    ("queries", "keys"), [((2, 7), (2, 5)), ((2, 0), (2, 5)), ((2, 7), (2, 0)), ((0, 7), (0, 5))]
)
def test_sums_of_scores_also_of_none(queries, keys):
    arguments = inputs(queries, keys)
    results = [f(*arguments) for f in (additive_scores_by_query, additive_scores)]
    assert_close(*results)
    assert_close(*(torch.autograd.grad(scores.sum(), arguments) for scores in results))


def test_large_sums_saturate_and_nan_is_passed_on():
    queries, keys, w_v = inputs((7,), (5,), torch.float32)
    arguments = [queries * 1e30, keys, w_v]
    assert_like_the_plain_form(arguments, 10 * 7 * 5)
    keys = keys.detach().clone()
    keys[2, 1] = torch.nan
    assert additive_scores_by_query(queries, keys, w_v).isnan().any(dim=0).tolist() == [
        j == 2 for j in range(5)
    ]


class LargestTensor(TorchDispatchMode):
    """Records the size of the largest tensor that an operation returns."""

    numel = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        outputs = function(*args, **(kwargs or {}))
        for output in outputs if isinstance(outputs, tuple) else (outputs,):
            self.numel = max(self.numel, output.numel() if isinstance(output, torch.Tensor) else 0)
        return outputs


@pytest.mark.parametrize(("function", "h"), [(additive_scores, WIDTH), (additive_scores_by_query, 1)])
def test_all_features_are_never_in_memory_together(function, h):
    with LargestTensor() as largest:
        function(*inputs((11,), (13,))).square().sum().backward()
    assert largest.numel == 11 * 13 * h


def test_what_it_refuses():
    arguments = inputs((7,), (5,))
    total = additive_scores_by_query(*arguments).sum()
    with pytest.raises(
        RuntimeError, match=r"no second derivative \(create_graph=True\); additive_scores has"
    ):
        torch.autograd.grad(total, arguments, create_graph=True)
    with pytest.raises(RuntimeError, match="functorch transforms"):
        torch.func.grad(lambda *tensors: additive_scores_by_query(*tensors).sum())(*arguments)
    with pytest.raises(ValueError, match="projected_keys must have width 3, got 2"):
        unwrap(additive_scores_by_query)(arguments[0], arguments[1][:, :2], arguments[2])


@pytest.mark.parametrize("autocast", [False, True])
def test_the_layer_gives_the_same_with_either_score(autocast):
    torch.manual_seed(0)
    layers = AdditiveAttention(2, 5, 11), AdditiveAttention(2, 5, 11, score=additive_scores_by_query)
    layers[1].load_state_dict(layers[0].state_dict())
    tensors = (
        torch.randn(2, 3, 2),
        torch.randn(2, 7, 5),
        torch.randn(2, 7, 13),
        length_mask(torch.tensor([7, 4]), 7),
    )
    results = []
    for layer in layers:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
            context, weights = layer(*tensors)
            gradients = torch.autograd.grad(context.float().square().sum(), list(layer.parameters()))
        results.append([context, weights, *gradients])
    tolerance = 8 * torch.finfo(torch.bfloat16 if autocast else torch.float32).eps
    for theirs, mine in zip(*results, strict=True):
        assert mine.dtype == theirs.dtype
        assert_close(mine, theirs, rtol=0, atol=tolerance * theirs.abs().max().item())
