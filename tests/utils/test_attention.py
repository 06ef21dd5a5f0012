"""`utils.attention` against torch's own attention, plain loops and numbers worked out by hand."""

import math
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close

from utils.attention import (
    AdditiveAttention,
    Attention,
    CosineAttention,
    DotProductAttention,
    additive_scores,
    cosine_scores,
    dot_scores,
    length_mask,
    masked_softmax,
    scaled_dot_scores,
)

# Different primes, so that swapped axes cannot pass.
BATCH, QUERIES, KEYS, D, D_V, D_Q, HIDDEN = 2, 3, 5, 7, 11, 13, 17
HALVES = [torch.float16, torch.bfloat16]
FLOATS = [*HALVES, torch.float32, torch.float64]
INF, NAN = math.inf, math.nan


def near(dtype: torch.dtype) -> dict[str, float]:
    """Tolerances for sums of at most a hundred products of numbers near 1."""
    tolerance = 100 * torch.finfo(dtype).eps
    return {"rtol": tolerance, "atol": tolerance}


SINGLE, DOUBLE = near(torch.float32), near(torch.float64)
few_examples = settings(max_examples=30)


def randn(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def make_layer(name: str, **kwargs) -> nn.Module:
    """One of the three layers, for queries and keys of the same width D, in float64."""
    torch.manual_seed(0)
    if name == "additive":
        return AdditiveAttention(D, D, HIDDEN, **kwargs).double()
    return {"dot": DotProductAttention, "cosine": CosineAttention}[name](**kwargs).double()


every_layer = pytest.mark.parametrize("name", ["dot", "cosine", "additive"])


def qkv(dtype: torch.dtype = torch.float64, d_v: int = D_V) -> tuple[Tensor, Tensor, Tensor]:
    return (
        randn(BATCH, QUERIES, D, seed=1, dtype=dtype),
        randn(BATCH, KEYS, D, seed=2, dtype=dtype),
        randn(BATCH, KEYS, d_v, seed=3, dtype=dtype),
    )


def softmax_by_hand(scores: list[float], mask: list[bool]) -> list[float]:
    allowed = [s for s, m in zip(scores, mask, strict=True) if m]
    if not allowed:
        return [0.0] * len(scores)
    exps = [math.exp(s - max(allowed)) if m else 0.0 for s, m in zip(scores, mask, strict=True)]
    return [e / sum(exps) for e in exps]


# --- length_mask ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
def test_length_mask_by_hand(dtype):
    mask = length_mask(torch.tensor([2, 0, 5], dtype=dtype), 5)
    assert mask.dtype == torch.bool
    assert mask.int().tolist() == [[[1, 1, 0, 0, 0]], [[0, 0, 0, 0, 0]], [[1, 1, 1, 1, 1]]]
    mask = length_mask(torch.tensor([[1, 3], [2, 4]], dtype=dtype), 4)
    assert mask.int().tolist() == [[[1, 0, 0, 0], [1, 1, 1, 0]], [[1, 1, 0, 0], [1, 1, 1, 1]]]
    assert length_mask(torch.zeros(0, dtype=dtype), 3).shape == (0, 1, 3)
    assert length_mask(torch.zeros(2, dtype=dtype), 0).shape == (2, 1, 0)


# --- masked_softmax ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("valid_lens", "expected"),
    [
        (
            [2, 3],
            [
                [[1 / 3, 2 / 3, 0, 0], [5 / 11, 6 / 11, 0, 0]],
                [[9 / 30, 10 / 30, 11 / 30, 0], [13 / 42, 14 / 42, 15 / 42, 0]],
            ],
        ),
        (
            [[1, 3], [2, 4]],
            [
                [[1, 0, 0, 0], [5 / 18, 6 / 18, 7 / 18, 0]],
                [[9 / 19, 10 / 19, 0, 0], [13 / 58, 14 / 58, 15 / 58, 16 / 58]],
            ],
        ),
    ],
)
def test_masked_softmax_by_hand(valid_lens, expected):
    scores = torch.arange(1.0, 17.0).log().reshape(2, 2, 4)  # e^score is 1 to 16
    mask = length_mask(torch.tensor(valid_lens), 4)
    weights = masked_softmax(scores, mask)
    assert_close(weights, torch.tensor(expected), **SINGLE)
    assert (weights[~mask.expand_as(weights)] == 0).all()


def rows_and_masks(min_score: float, max_score: float):
    """Lists of (score, allowed), at least one of them."""
    pair = st.tuples(st.floats(min_score, max_score, allow_subnormal=False), st.booleans())
    return st.lists(pair, min_size=1, max_size=8)


@given(rows_and_masks(-30, 30), st.sampled_from([0.0, 1e30, -1e30, INF, -INF, NAN]))
@few_examples
def test_a_masked_score_is_never_read(pairs, junk):
    scores, mask = (torch.tensor(column) for column in zip(*pairs, strict=True))
    spoilt = scores.masked_fill(~mask, junk)[None].requires_grad_()
    weights = masked_softmax(spoilt, mask[None])
    assert torch.equal(weights, masked_softmax(scores[None], mask[None]))
    weights.square().sum().backward()
    assert spoilt.grad.isfinite().all()
    assert (spoilt.grad[0, ~mask] == 0).all()


@pytest.mark.parametrize(
    ("dtype", "large"),
    [(torch.float16, 6e4), (torch.bfloat16, 1e30), (torch.float32, 1e30), (torch.float64, 1e300)],
)
def test_huge_scores_of_either_sign(dtype, large):
    scores = torch.tensor(
        [[large, 0, -large], [-large, -large, large], [-large, -large, large]], dtype=dtype
    ).requires_grad_()
    mask = torch.tensor([[True, True, True], [True, True, False], [False, False, False]])
    weights = masked_softmax(scores, mask)
    assert weights.tolist() == [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 0]]
    (weights * torch.tensor([1, 2, 3], dtype=dtype)).sum().backward()
    assert scores.grad.tolist() == [[0, 0, 0], [-0.25, 0.25, 0], [0, 0, 0]]


@pytest.mark.parametrize("mask", [None, torch.tensor([True, True, True])])
def test_infinite_allowed_scores_behave_as_in_torch(mask):
    assert masked_softmax(torch.tensor([[0.0, -INF, 0.0]]), mask).tolist() == [[0.5, 0, 0.5]]
    for row in ([0.0, INF, 0.0], [-INF, -INF, -INF], [0.0, NAN, 0.0]):
        weights = masked_softmax(torch.tensor([row, [0.0, -INF, 0.0]]), mask)
        assert weights[0].isnan().all()
        assert weights[1].tolist() == [0.5, 0, 0.5]  # the other rows keep their weights


def test_a_masked_weight_is_zero_beside_infinity():
    weights = masked_softmax(torch.tensor([[0.0, INF, 0.0]]), torch.tensor([True, True, False]))
    assert weights[0].isnan().tolist() == [True, True, False]


@pytest.mark.parametrize("dtype", FLOATS)
def test_no_mask_is_torch_softmax(dtype):
    scores = randn(BATCH, QUERIES, KEYS, dtype=dtype)
    assert torch.equal(masked_softmax(scores), torch.softmax(scores, dim=-1))
    assert torch.equal(masked_softmax(scores, torch.tensor([True] * KEYS)), torch.softmax(scores, dim=-1))


@pytest.mark.parametrize("dtype", FLOATS)
def test_every_float_type_with_an_empty_row(dtype):
    scores = (5 * randn(BATCH, QUERIES, KEYS)).to(dtype).requires_grad_()
    mask = length_mask(torch.tensor([[0, 1, 2], [3, 5, 0]]), KEYS)
    weights = masked_softmax(scores, mask)
    assert weights.dtype == dtype
    tolerance = (KEYS + 3) * torch.finfo(dtype).eps  # a softmax over the keys rounds about so often
    exact = masked_softmax(scores.detach().double(), mask)
    assert_close(weights.double(), exact, rtol=tolerance, atol=tolerance)
    assert (weights[~mask] == 0).all()
    weights.backward(randn(BATCH, QUERIES, KEYS, seed=1, dtype=dtype))
    assert scores.grad.isfinite().all()
    assert (scores.grad[~mask] == 0).all()


def test_gradient_by_finite_differences():
    scores = randn(BATCH, QUERIES, KEYS).requires_grad_()
    for mask in (None, length_mask(torch.tensor([2, 0]), KEYS), randn(BATCH, QUERIES, KEYS, seed=4) > 0):
        assert torch.autograd.gradcheck(lambda s, m=mask: masked_softmax(s, m), (scores,))
        assert torch.autograd.gradgradcheck(lambda s, m=mask: masked_softmax(s, m), (scores,))


@pytest.mark.parametrize(
    "shape",
    [(), (1,), (KEYS,), (1, KEYS), (QUERIES, 1), (QUERIES, KEYS), (BATCH, 1, KEYS), (BATCH, QUERIES, KEYS)],
)
def test_masks_broadcast(shape):
    scores = randn(BATCH, QUERIES, KEYS)
    mask = randn(*shape, seed=5) > 0
    whole = mask.expand(BATCH, QUERIES, KEYS)
    weights = masked_softmax(scores, mask)
    assert torch.equal(weights, masked_softmax(scores, whole.contiguous()))
    for b in range(BATCH):
        for q in range(QUERIES):
            by_hand = softmax_by_hand(scores[b, q].tolist(), whole[b, q].tolist())
            assert weights[b, q].tolist() == pytest.approx(by_hand, abs=1e-15)


# --- scores --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("function", "divisor"), [(dot_scores, 1), (scaled_dot_scores, math.sqrt(D))])
def test_dot_scores_equal_the_loop(function, divisor):
    queries, keys, _ = qkv()
    scores = function(queries, keys)
    assert scores.shape == (BATCH, QUERIES, KEYS)
    for b in range(BATCH):
        for i in range(QUERIES):
            for j in range(KEYS):
                by_hand = sum(queries[b, i, c] * keys[b, j, c] for c in range(D)) / divisor
                assert_close(scores[b, i, j], by_hand)


def test_scaled_scores_of_wide_float16_vectors_stay_finite():
    queries = torch.full((1, 1024), 16.0, dtype=torch.float16)
    assert dot_scores(queries, queries).isinf().all()  # 262144 > 65504
    assert scaled_dot_scores(queries, queries).item() == 8192


def test_cosine_scores_equal_torch_cosine_similarity():
    queries, keys, _ = (t.requires_grad_() for t in qkv())
    ours = cosine_scores(queries, keys, scale=3.0)
    theirs = 3 * nn.functional.cosine_similarity(queries[:, :, None], keys[:, None], dim=-1)
    assert ours.shape == (BATCH, QUERIES, KEYS)
    assert_close(ours, theirs, **DOUBLE)
    upstream = randn(BATCH, QUERIES, KEYS, seed=4)
    for a, b in zip(
        torch.autograd.grad(ours, (queries, keys), upstream),
        torch.autograd.grad(theirs, (queries, keys), upstream),
        strict=True,
    ):
        assert_close(a, b, **DOUBLE)


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_cosine_of_zeros_is_zero(dtype):
    queries = torch.zeros(1, D, dtype=dtype).requires_grad_()
    scores = cosine_scores(queries, torch.ones(KEYS, D, dtype=dtype))
    assert scores.dtype == dtype
    assert scores.tolist() == [[0] * KEYS]
    scores.sum().backward()
    assert not queries.grad.isnan().any()


def additive_by_loops(queries: Tensor, keys: Tensor, layer: AdditiveAttention) -> Tensor:
    scores = torch.empty(BATCH, QUERIES, KEYS, dtype=torch.float64)
    for b in range(BATCH):
        for i in range(QUERIES):
            for j in range(KEYS):
                scores[b, i, j] = sum(
                    layer.w_v.weight[0, h]
                    * math.tanh(
                        layer.w_q.weight[h] @ queries[b, i] + layer.w_k.weight[h] @ keys[b, j],
                    )
                    for h in range(HIDDEN)
                )
    return scores


@torch.no_grad()
def test_additive_attention_equals_plain_loops():
    torch.manual_seed(0)
    layer = AdditiveAttention(D_Q, D, HIDDEN).double()
    queries, (_, keys, values) = randn(BATCH, QUERIES, D_Q), qkv()
    scores = additive_by_loops(queries, keys, layer)
    projected = layer.w_q(queries), layer.project_keys(keys)
    assert_close(additive_scores(*projected, layer.w_v.weight[0]), scores, **DOUBLE)

    valid_lens = torch.tensor([2, 4])
    context, weights = layer(queries, keys, values, length_mask(valid_lens, KEYS))
    for b in range(BATCH):
        for i in range(QUERIES):
            by_hand = softmax_by_hand(scores[b, i].tolist(), [j < valid_lens[b] for j in range(KEYS)])
            assert weights[b, i].tolist() == pytest.approx(by_hand, abs=1e-12)
            expected = sum(by_hand[j] * values[b, j] for j in range(KEYS))
            assert_close(context[b, i], expected, **DOUBLE)


# --- layers: worked examples and oracles ---------------------------------------------------------------


MASKS = {
    "none": None,
    "a length per sequence": length_mask(torch.tensor([2, 5]), KEYS),
    "a length per query": length_mask(torch.tensor([[1, 2, 3], [5, 4, 2]]), KEYS),
    "causal": torch.ones(QUERIES, KEYS, dtype=torch.bool).tril(),
    "an empty row": length_mask(torch.tensor([[0, 2, 3], [5, 0, 1]]), KEYS),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("d_v", [D_V, D])  # torch has another kernel for values as wide as the keys
def test_equals_torch_attention_in_values_and_gradients(mask, dtype, need_weights, d_v):
    inputs = [t.requires_grad_() for t in qkv(dtype, d_v)]
    ours, weights = DotProductAttention()(*inputs, mask, need_weights=need_weights)
    theirs = nn.functional.scaled_dot_product_attention(*inputs, attn_mask=mask)
    assert ours.shape == (BATCH, QUERIES, d_v)
    assert_close(ours, theirs, **near(dtype))

    upstream = randn(BATCH, QUERIES, d_v, seed=4, dtype=dtype)
    gradients = torch.autograd.grad(ours, inputs, upstream)
    for a, b in zip(gradients, torch.autograd.grad(theirs, inputs, upstream), strict=True):
        assert_close(a, b, **near(dtype))
    if need_weights:
        assert weights.shape == (BATCH, QUERIES, KEYS)
        assert_close(weights @ inputs[2], theirs, **near(dtype))
    else:
        assert weights is None


@pytest.mark.parametrize("leading", [(), (2,), (2, 3), (2, 3, 2)])
def test_every_mask_works_without_weights(leading):
    queries, keys = randn(*leading, QUERIES, D), randn(*leading, KEYS, D, seed=1)
    values = randn(*leading, KEYS, D, seed=2)
    layer = DotProductAttention()
    shape = (*leading, QUERIES, KEYS)
    for mask_shape in (
        shape,
        shape[-2:],
        shape[-1:],
        (),
        (*leading, 1, KEYS),
        (*leading, QUERIES, 1),
        (1, KEYS),
    ):
        mask = randn(*mask_shape, seed=3) > 0
        context, _ = layer(queries, keys, values, mask)
        fused, _ = layer(queries, keys, values, mask, need_weights=False)
        assert fused.shape == (*leading, QUERIES, D)
        assert_close(fused, context, **DOUBLE)


def test_cosine_attention_learns_its_scale():
    layer = make_layer("cosine", scale=4.0)
    queries, keys, values = qkv()
    context, weights = layer(queries, keys, values)
    cosines = nn.functional.cosine_similarity(queries[:, :, None], keys[:, None], dim=-1)
    assert_close(weights, torch.softmax(4 * cosines, -1), **SINGLE)  # the scale is a float32 log
    assert_close(context, weights @ values)
    context.sum().backward()
    assert layer.log_scale.grad != 0


def test_the_cosine_of_equal_directions_scores_10_at_first():
    scores = CosineAttention().scores(torch.tensor([[3.0, 0.0]]), torch.tensor([[7.0, 0.0], [0.0, 5.0]]))
    assert_close(scores, torch.tensor([[10.0, 0.0]]))


@every_layer
def test_projected_keys_are_reused(name):
    layer = make_layer(name)
    queries, keys, values = (t.requires_grad_() for t in qkv())
    mask = MASKS["an empty row"]
    projected = layer.project_keys(keys)
    assert projected.shape == (BATCH, KEYS, HIDDEN if name == "additive" else D)
    with_keys = layer(queries, keys, values, mask)
    with_projected = layer(queries, None, values, mask, projected_keys=projected)
    assert torch.equal(with_keys[0], with_projected[0])
    assert torch.equal(with_keys[1], with_projected[1])
    parameters = [keys, *layer.parameters()]
    for a, b in zip(
        torch.autograd.grad(with_keys[0].square().sum(), parameters),
        torch.autograd.grad(with_projected[0].square().sum(), parameters),
        strict=True,
    ):
        assert torch.equal(a, b)

    # One query after the other, as a decoder asks, gives what all at once gave.
    for i in range(QUERIES):
        context, _ = layer(queries[:, i : i + 1], None, values, mask[:, i : i + 1], projected_keys=projected)
        assert_close(context[:, 0], with_keys[0][:, i])


# --- layers: the contract they share -------------------------------------------------------------------


every_call = pytest.mark.parametrize(
    ("name", "options"), [("dot", {}), ("dot", {"need_weights": False}), ("cosine", {}), ("additive", {})]
)


@every_call
@pytest.mark.parametrize("dtype", FLOATS)
def test_layers_in_every_float_type(name, options, dtype):
    layer = make_layer(name).to(dtype)
    context, weights = layer(*qkv(dtype), MASKS["an empty row"], **options)
    exact, exact_weights = layer.double()(*(t.double() for t in qkv(dtype)), MASKS["an empty row"])
    tolerance = 4 * (HIDDEN + D + KEYS) * torch.finfo(dtype).eps  # the longest sums, of numbers near 1
    assert context.dtype == dtype
    assert_close(context.double(), exact, rtol=tolerance, atol=tolerance)
    if not options:
        assert weights.dtype == dtype
        assert_close(weights.double(), exact_weights, rtol=tolerance, atol=tolerance)
    assert (context[0, 0] == 0).all()
    assert (context[1, 1] == 0).all()


@every_layer
def test_gradients_of_the_layers_by_finite_differences(name):
    torch.manual_seed(0)
    layer = AdditiveAttention(3, 3, 2).double() if name == "additive" else make_layer(name)
    shapes = ((2, 2, 3), (2, 5, 3), (2, 5, 1))
    inputs = [randn(*shape, seed=i).requires_grad_() for i, shape in enumerate(shapes)]
    mask = length_mask(torch.tensor([[0, 3], [5, 2]]), 5)
    assert torch.autograd.gradcheck(lambda *qkv: layer(*qkv, mask), inputs)


@every_layer
def test_nan_under_the_mask_leaks_from_values_only(name):
    layer, mask = make_layer(name), MASKS["a length per sequence"]
    queries, keys, values = qkv()
    pad = ~mask.mT  # the last three keys of sequence 0, none of sequence 1
    context, weights = layer(queries, keys, values, mask)
    with_key, key_weights = layer(queries, keys.masked_fill(pad, NAN), values, mask)
    assert torch.equal(with_key, context)
    assert torch.equal(key_weights, weights)

    with_value, value_weights = layer(queries, keys, values.masked_fill(pad, NAN), mask)
    assert torch.equal(value_weights, weights)
    assert with_value[0].isnan().all()  # 0 times NaN is NaN, as the docstring warns
    assert torch.equal(with_value[1], context[1])
    theirs = nn.functional.scaled_dot_product_attention(queries, keys, values.masked_fill(pad, NAN), mask)
    assert theirs[0].isnan().all()


@every_call
def test_dropout_changes_the_context_in_training(name, options):
    queries, keys, _ = qkv()
    values = torch.eye(KEYS, dtype=torch.float64).repeat(BATCH, 1, 1)  # so that the context shows the weights
    layer = make_layer(name, dropout=0.5)
    expected = layer.eval()(queries, keys, values)[1]
    assert_close(layer(queries, keys, values, **options)[0], expected)
    torch.manual_seed(1)
    context, weights = layer.train()(queries, keys, values, **options)
    if options:
        assert weights is None
    else:
        assert torch.equal(weights, expected)
    dropped = context == 0
    assert 0 < dropped.sum() < dropped.numel()
    assert_close(context[~dropped], 2 * expected[~dropped])  # survivors are doubled


@every_layer
def test_a_call_leaves_layer_and_inputs_alone(name):
    layer, inputs = make_layer(name, dropout=0.5), qkv()

    def contents():
        return [(path, key, id(value)) for path, m in layer.named_modules() for key, value in vars(m).items()]

    before = contents()
    layer(*inputs, MASKS["an empty row"])
    assert contents() == before
    assert all(tensor._version == 0 for tensor in inputs)


# --- layers: errors ------------------------------------------------------------------------------------


@every_call
def test_every_layer_wants_keys_once(name, options):
    layer = make_layer(name)
    queries, keys, values = qkv()
    for arguments in ((keys, layer.project_keys(keys)), (None, None)):
        with pytest.raises(ValueError, match="give exactly one of keys and projected_keys"):
            layer(queries, arguments[0], values, projected_keys=arguments[1], **options)


def test_a_layer_must_define_its_score():
    with pytest.raises(NotImplementedError, match="Attention must define scores"):
        Attention()(*qkv())


def test_the_fused_function_knows_one_way_to_normalise():
    layer = DotProductAttention(normalise=lambda scores, mask: scores.sigmoid())
    queries, keys, values = qkv()
    context, weights = layer(queries, keys, values)
    assert_close(weights, scaled_dot_scores(queries, keys).sigmoid())
    assert_close(context, weights @ values)
    with pytest.raises(ValueError, match="need_weights=False needs normalise=masked_softmax"):
        layer(queries, keys, values, need_weights=False)


# --- import --------------------------------------------------------------------------------------------


# --- shapes that are not checked at run time, as for readers -------------------------------------------


@pytest.mark.parametrize(
    ("valid_lens", "message"),
    [
        (torch.tensor([2, -3]), "valid_lens must lie between 0 and 5, got -3 to 2"),
        (torch.tensor([[2], [6]]), "valid_lens must lie between 0 and 5, got 2 to 6"),
        (torch.tensor([2.0, 3.0]), "valid_lens must be integers, got dtype torch.float32"),
        (torch.tensor([True, False]), "valid_lens must be integers, got dtype torch.bool"),
        (torch.tensor([1 + 2j]), "valid_lens must be integers, got dtype torch.complex64"),
        (torch.tensor(3), r"valid_lens must have shape \(batch,\) or \(batch, queries\), got \(\)"),
        (torch.ones(2, 3, 5, dtype=torch.long), r"valid_lens must have shape .*, got \(2, 3, 5\)"),
    ],
)
def test_length_mask_names_what_is_wrong(unchecked_shapes, valid_lens, message):
    with pytest.raises(ValueError, match=message):
        length_mask(valid_lens, 5)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((7,), (5, 7)), "projected_queries must have at least two axes"),
        (((3, 7), (7,)), "projected_keys must have at least two axes"),
        (((3, 1), (5, 7)), "projected_queries must have width 7, got 1"),  # would broadcast without a word
        (((3, 7), (5, 1)), "projected_keys must have width 7, got 1"),
        (((2, 3, 7), (3, 5, 7)), r"do not fit together: \{'queries': \(2,\), 'keys': \(3,\)\}"),
    ],
)
def test_additive_scores_name_shapes_that_do_not_fit(unchecked_shapes, shapes, message):
    with pytest.raises(ValueError, match=message):
        additive_scores(*map(torch.zeros, shapes), torch.zeros(7))


@pytest.mark.parametrize("dropout", [-0.1, 1.1, NAN, INF])
@pytest.mark.parametrize("make", [DotProductAttention, partial(AdditiveAttention, 2, 3, 5)])
def test_a_dropout_is_from_0_to_1(unchecked_shapes, make, dropout):
    with pytest.raises(ValueError, match=f"dropout must be from 0 to 1, got {dropout}"):
        make(dropout=dropout)
