"""Additive scores one query at a time against the plain form: values, gradients, every further derivative."""

import copy
import pickle

import pytest
import torch
from torch.autograd import forward_ad, functional
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

import utils.attention
from utils.additive_by_query import additive_scores_by_query
from utils.attention import AdditiveAttention, additive_scores

WIDTH = 3


def inputs(*leading, queries=7, keys=5, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    shapes = ((*leading, queries, WIDTH), (*leading, keys, WIDTH), (WIDTH,))
    return tuple(torch.randn(shape, generator=generator, dtype=dtype).requires_grad_() for shape in shapes)


def doubles(tensors):
    return [tensor.detach().double().requires_grad_() for tensor in tensors]


def assert_near(ours, exact, num_roundings):
    """Equal up to this many rounding errors of the largest number."""
    scale = max(1.0, exact.abs().max().item())
    atol = num_roundings * torch.finfo(ours.dtype).eps * scale
    torch.testing.assert_close(ours.double(), exact.double(), rtol=0, atol=atol)


@pytest.fixture
def by_query(monkeypatch):
    """A function to call: afterwards layers of any size score one query at a time."""
    return lambda: monkeypatch.setattr(utils.attention, "MANY_FEATURES", 1)


# --- scores and gradients ------------------------------------------------------------------------------


@pytest.mark.parametrize("leading", [(), (2,), (2, 3)])
def test_scores_and_gradients_are_those_of_the_plain_form(leading):
    arguments = inputs(*leading)
    ours, exact = additive_scores_by_query(*arguments), additive_scores(*arguments)
    assert_near(ours, exact, 10 * WIDTH)
    g = torch.randn(exact.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    gradients = (torch.autograd.grad(scores, arguments, g) for scores in (ours, exact))
    for mine, theirs in zip(*gradients, strict=True):
        assert_near(mine, theirs, 10 * exact.numel())


def test_leading_axes_broadcast():
    queries, _, w_v = inputs(2, 1)
    _, keys, _ = inputs(3)
    arguments = (queries, keys, w_v)
    copies = (*(tensor.expand(2, 3, -1, -1) for tensor in arguments[:2]), w_v)
    ours, exact = additive_scores_by_query(*arguments), additive_scores(*copies)
    assert ours.shape == (2, 3, 7, 5)
    assert_near(ours, exact, 10 * WIDTH)
    gradients = (torch.autograd.grad(scores.square().sum(), arguments) for scores in (ours, exact))
    for mine, theirs in zip(*gradients, strict=True):
        assert_near(mine, theirs, 10 * exact.numel())


class LargestTensor(TorchDispatchMode):
    """Records the size of the largest tensor that an operation returns."""

    numel = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        outputs = function(*args, **(kwargs or {}))
        for output in outputs if isinstance(outputs, tuple) else (outputs,):
            self.numel = max(self.numel, output.numel() if isinstance(output, torch.Tensor) else 0)
        return outputs


@pytest.mark.parametrize("function", [additive_scores, additive_scores_by_query])
def test_the_features_of_all_pairs_are_never_in_memory(function):
    arguments = inputs(queries=11, keys=13)
    with LargestTensor() as largest:
        function(*arguments).square().sum().backward()
    assert largest.numel == (11 * 13 if function is additive_scores_by_query else 11 * 13 * WIDTH)


def test_a_compiler_sees_the_plain_form(monkeypatch):
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    with LargestTensor() as largest:
        additive_scores_by_query(*inputs(queries=11, keys=13))
    assert largest.numel == 11 * 13 * WIDTH


def test_the_number_of_threads_is_given_back():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        additive_scores_by_query(*inputs(2)).sum().backward()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(("queries", "keys"), [(0, 5), (7, 0), (1, 1)])
def test_no_queries_or_no_keys(queries, keys):
    arguments = inputs(2, queries=queries, keys=keys)
    scores = additive_scores_by_query(*arguments)
    assert scores.shape == (2, queries, keys)
    scores.sum().backward()
    assert arguments[2].grad.shape == (WIDTH,)


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
    exact_inputs = doubles((queries, keys, w_v))
    ours, exact = additive_scores_by_query(queries, keys, w_v), additive_scores(*exact_inputs)
    # e^x of a rounded x is off by |x| eps of itself, and x goes up to twice the size.
    assert_near(ours, exact, 4 * size * WIDTH)
    gradients = (
        torch.autograd.grad(scores.square().sum(), arguments)
        for scores, arguments in ((ours, (queries, keys, w_v)), (exact, exact_inputs))
    )
    for mine, theirs in zip(*gradients, strict=True):
        assert_near(mine, theirs, 4 * size * exact.numel())


def test_nan_is_passed_on():
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
    assert_near(ours, additive_scores(*exact), 4 * WIDTH)


def test_float32_keeps_its_digits_over_many_queries_and_keys():
    arguments = inputs(queries=211, keys=307, dtype=torch.float32)
    g = torch.randn(211, 307, generator=torch.Generator().manual_seed(1))
    exact_inputs = doubles(arguments)
    exact = torch.autograd.grad(additive_scores(*exact_inputs), exact_inputs, g.double())
    ours = torch.autograd.grad(additive_scores_by_query(*arguments), arguments, g)
    for mine, theirs in zip(ours, exact, strict=True):
        assert_near(mine, theirs, (211 * 307) ** 0.5)  # rounding errors of a sum add up like a random walk


# --- every derivative that the plain form has ----------------------------------------------------------


def layer_and_inputs(**kwargs):
    torch.manual_seed(0)
    layer = AdditiveAttention(1, 2, 5, **kwargs).double()
    return layer, *(torch.randn(2, *shape, dtype=torch.float64) for shape in ((2, 1), (3, 2), (3, 1)))


def third_order(f, *tensors):
    tensors = [tensor.detach().requires_grad_() for tensor in tensors]
    results = [f(*tensors)]
    for power in (2, 3, 2):
        total = sum(result.pow(power).sum() for result in results)
        results = torch.autograd.grad(total, tensors, create_graph=True)
    return results


def dual(f, *tensors):
    """The tangent along the tensors themselves, and the tangent of the gradient."""
    with forward_ad.dual_level():
        inputs = [forward_ad.make_dual(tensor.detach().requires_grad_(), tensor) for tensor in tensors]
        output = f(*inputs)
        gradients = torch.autograd.grad(output.square().sum(), inputs)
        return [forward_ad.unpack_dual(tensor).tangent.detach() for tensor in (output, *gradients)]


def dual_gradient(f, *tensors):
    """The tangent of the gradient along a gradient of the output alone."""
    tensors = [tensor.detach().requires_grad_() for tensor in tensors]
    output = f(*tensors)
    with forward_ad.dual_level():
        g = forward_ad.make_dual(torch.ones_like(output), torch.ones_like(output).cumsum(-1))
        gradients = torch.autograd.grad(output, tensors, g)
        return [forward_ad.unpack_dual(gradient).tangent for gradient in gradients]


def scalar(f):
    return lambda *tensors: f(*tensors).square().sum().sin()


ALL = (0, 1, 2)
DERIVATIVES = {
    "third order": third_order,
    "func.grad": lambda f, *t: torch.func.grad(scalar(f), ALL)(*t),
    "func.grad of func.grad": lambda f, *t: torch.func.grad(scalar(torch.func.grad(scalar(f))), ALL)(*t),
    "jacrev": lambda f, *t: torch.func.jacrev(f, ALL)(*t),
    "jacfwd": lambda f, *t: torch.func.jacfwd(f, ALL)(*t),
    "jacfwd of jacfwd": lambda f, *t: torch.func.jacfwd(torch.func.jacfwd(scalar(f), ALL), ALL)(*t),
    "hessian": lambda f, *t: torch.func.hessian(scalar(f), ALL)(*t),
    "jvp": lambda f, *t: torch.func.jvp(f, t, t),
    "vjp": lambda f, *t: torch.func.vjp(scalar(f), *t)[1](t[0].sum()),
    "vmap": lambda f, *t: torch.func.vmap(lambda c: f(c * t[0], t[1], c * t[2]))(torch.arange(1.0, 4)),
    "vmap of grad": lambda f, *t: torch.func.vmap(
        lambda c: torch.func.grad(scalar(f), ALL)(c * t[0], t[1], t[2] / c)
    )(torch.arange(1.0, 4)),
    "forward_ad": dual,
    "forward_ad of the gradient": dual_gradient,
    "functional.jacobian, batched": lambda f, *t: functional.jacobian(f, t, vectorize=True),
    "functional.hessian, batched": lambda f, *t: functional.hessian(scalar(f), t, vectorize=True),
    "functional.jacobian, forward": lambda f, *t: functional.jacobian(
        f, t, vectorize=True, strategy="forward-mode"
    ),
    "functional.hessian": lambda f, *t: functional.hessian(scalar(f), t),
    "functional.hvp": lambda f, *t: functional.hvp(scalar(f), t, t),
}


@pytest.mark.filterwarnings("ignore")  # torch warns that its batching of some operations is slow
@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_do_not_depend_on_the_size(by_query, name):
    layer, queries, keys, values = layer_and_inputs()

    def context(queries, keys, weight):
        return torch.func.functional_call(layer, {"w_v.weight": weight}, (queries, keys, values))[0]

    arguments = (context, queries, keys, layer.w_v.weight.detach())
    exact = DERIVATIVES[name](*arguments)
    by_query()
    torch.testing.assert_close(DERIVATIVES[name](*arguments), exact, rtol=1e-9, atol=1e-9)


def test_derivatives_by_finite_differences():
    arguments = inputs(queries=2, keys=3)
    assert torch.autograd.gradcheck(
        additive_scores_by_query, arguments, check_forward_ad=True, check_batched_grad=True
    )
    assert torch.autograd.gradgradcheck(additive_scores_by_query, arguments, check_fwd_over_rev=True)


def test_gradients_per_example_of_every_parameter(by_query):
    layer, queries, keys, values = layer_and_inputs()
    parameters = dict(layer.named_parameters())

    def loss(parameters, queries, keys, values):
        context, _ = torch.func.functional_call(layer, parameters, (queries, keys, values))
        return context.square().sum()

    exact = [
        torch.autograd.grad(loss(parameters, *example), parameters.values())
        for example in zip(queries, keys, values, strict=True)
    ]
    by_query()
    ours = torch.func.vmap(torch.func.grad(loss), (None, 0, 0, 0))(parameters, queries, keys, values)
    for mine, theirs in zip(ours.values(), zip(*exact, strict=True), strict=True):
        torch.testing.assert_close(mine, torch.stack(theirs))


# --- the layer on both sides of the threshold ----------------------------------------------------------


def results(layer, queries, keys, values, mask=None):
    """Context, weights and the gradients of the parameters."""
    context, weights = layer(queries, keys, values, mask)
    return [context, weights, *torch.autograd.grad(context.double().square().sum(), list(layer.parameters()))]


def test_the_threshold_is_a_number_of_features(monkeypatch):
    layer, queries, keys, values = layer_and_inputs()
    calls = []

    def scores_by_query(*arguments):
        calls.append(arguments)
        return additive_scores_by_query(*arguments)

    monkeypatch.setattr(utils.attention, "additive_scores_by_query", scores_by_query)
    for threshold, num_calls in ((2 * 2 * 3 * 5 + 1, 0), (2 * 2 * 3 * 5, 1)):
        monkeypatch.setattr(utils.attention, "MANY_FEATURES", threshold)
        layer(queries, keys, values)
        assert len(calls) == num_calls


@pytest.mark.parametrize("masked", [False, True])
def test_the_layer_gives_the_same_either_way(by_query, masked):
    arguments = layer_and_inputs()
    mask = torch.rand(2, 2, 3) < 0.7 if masked else None
    exact = results(*arguments, mask)
    by_query()
    torch.testing.assert_close(results(*arguments, mask), exact)


def test_autocast_gives_the_same_dtypes_and_nearly_the_same_numbers(by_query):
    layer, *tensors = layer_and_inputs()
    exact = results(layer, *tensors)
    layer, tensors = layer.float(), [tensor.float() for tensor in tensors]

    def autocast_results():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return results(layer, *tensors)

    def autocast_derivatives():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return third_order(lambda *tensors: layer(*tensors)[0].float(), *tensors)

    plain, plain_derivatives = autocast_results(), autocast_derivatives()
    by_query()
    for ours, theirs, double in zip(autocast_results(), plain, exact, strict=True):
        assert ours.dtype == theirs.dtype
        torch.testing.assert_close(
            ours.double(),
            double,
            rtol=0,
            atol=8 * torch.finfo(torch.bfloat16).eps * double.abs().max().item(),
        )
    for ours, theirs in zip(autocast_derivatives(), plain_derivatives, strict=True):
        assert ours.dtype == theirs.dtype


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_checkpointing_changes_nothing(by_query, use_reentrant):
    layer, queries, keys, values = layer_and_inputs()
    exact = results(layer, queries, keys, values)
    by_query()

    def with_checkpoint(queries, *rest):
        return checkpoint(layer, queries.requires_grad_(), *rest, use_reentrant=use_reentrant)

    context, weights = with_checkpoint(queries, keys, values)
    context.square().sum().backward()
    ours = [context, weights, *(parameter.grad for parameter in layer.parameters())]
    torch.testing.assert_close(ours, exact)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda layer: pickle.loads(pickle.dumps(layer))])
def test_a_copy_of_a_layer_that_has_been_used_gives_the_same(by_query, duplicate):
    by_query()
    layer, *tensors = layer_and_inputs(dropout=0.5)
    layer.eval()
    exact = results(layer, *tensors)
    torch.testing.assert_close(results(duplicate(layer), *tensors), exact, rtol=0, atol=0)
