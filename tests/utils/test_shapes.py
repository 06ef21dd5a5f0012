"""Every layer of attention with inputs of other shapes: the right answer, or an error that names the argument.

The run-time check of shapes is off, as it is for readers.
"""

import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from utils.attention import (
    AdditiveAttention,
    CosineAttention,
    DotProductAttention,
)
from utils.attention_variants import (
    ConcatAttention,
    DotAttention,
    GeneralAttention,
    LocationAttention,
    masked_sparsemax,
)
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder
from utils.transformer import (
    EncoderLayer,
    MultiHeadAttention,
    TransformerDecoder,
    TransformerEncoder,
)

D, D_V, HEADS = 6, 11, 3
BATCH, QUERIES, KEYS = 2, 5, 7


pytestmark = pytest.mark.usefixtures("unchecked_shapes")

LAYERS = {
    "scaled dot product": DotProductAttention(),
    "fused": lambda *inputs: DotProductAttention()(*inputs, need_weights=False),
    "cosine": CosineAttention(),
    "additive": AdditiveAttention(D, D, 13),
    "dot": DotAttention(),
    "sparse": DotAttention(normalise=masked_sparsemax),
    "general": GeneralAttention(D, D),
    "concat": ConcatAttention(D, D, 13),
    "location": LocationAttention(D, KEYS),
}


def heads_of(num_heads: int) -> Callable[..., tuple[Tensor, Tensor]]:
    """Multi-head attention from keys and values that are not projected yet; its values have the width of the keys."""
    layer = MultiHeadAttention(D, num_heads)
    return lambda queries, keys, values, *mask: layer(
        queries, *layer.project(keys, values[..., :D] if values.dim() > 1 else values), *mask
    )


LAYERS |= {"one head": heads_of(1), "three heads": heads_of(HEADS)}
every_layer = pytest.mark.parametrize("name", LAYERS)


def inputs(leading: tuple[int, ...] = (BATCH,), num_keys: int = KEYS) -> list[Tensor]:
    torch.manual_seed(0)
    shapes = (QUERIES, D), (num_keys, D), (num_keys, D_V)
    return [torch.randn(*leading, *shape) for shape in shapes]


@every_layer
@pytest.mark.parametrize("leading", [(BATCH,), (BATCH, 3)])
def test_leading_axes_are_as_many_computations(name, leading):
    tensors, layer = inputs(leading), LAYERS[name]
    mask = torch.rand(*leading, QUERIES, KEYS) > 0.4
    context, weights = layer(*tensors, mask)
    for place in torch.cartesian_prod(*map(torch.arange, leading)).view(-1, len(leading)).tolist():
        alone = layer(*(tensor[*place] for tensor in tensors), mask[*place])
        assert_close(context[*place], alone[0])
        if weights is not None:
            assert_close(weights[*place], alone[1])


@every_layer
@pytest.mark.parametrize(("leading", "num_keys"), [((0,), KEYS), ((BATCH,), 0), ((), 0)])
def test_no_sentence_and_no_key(name, leading, num_keys):
    context, weights = LAYERS[name](*inputs(leading, num_keys))
    assert context.shape[:-1] == (*leading, QUERIES)
    assert context.isfinite().all()
    if weights is not None:
        assert weights.shape[-2:] == (QUERIES, num_keys)
        assert weights.shape[: len(leading)] == leading
    if name not in ("one head", "three heads") and not num_keys:  # these add a bias
        assert not context.any()


@every_layer
@pytest.mark.parametrize(("number", "argument"), [(0, "queries"), (1, "keys"), (2, "values")])
@pytest.mark.parametrize("shape", [(D,), ()])
def test_one_axis_is_refused_and_named(name, number, argument, shape):
    tensors = inputs(())
    tensors[number] = torch.zeros(shape)
    message = rf"{argument} must have at least two axes, length and width, got shape {re.escape(str(shape))}"
    with pytest.raises(ValueError, match=message):
        LAYERS[name](*tensors)


@every_layer
@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((2, 5, 6), (3, 7, 6), (3, 7, 11)), "leading .* axes do not fit together"),
        (((2, 5, 6), (2, 7, 6), (3, 7, 11)), "leading .* axes do not fit together"),
        (((2, 5, 6), (2, 7, 6), (2, 4, 11)), "keys and values must have the same length, got 7 and 4"),
        (((2, 5, 13), (2, 7, 6), (2, 7, 11)), "width"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(name, shapes, message):
    with pytest.raises(ValueError, match=message):
        LAYERS[name](*map(torch.zeros, shapes))


@every_layer
@pytest.mark.parametrize("shape", [(BATCH, QUERIES, 4), (4,), (13, BATCH, QUERIES, KEYS)])
def test_the_error_of_a_mask_names_its_shape(name, shape):
    with pytest.raises(ValueError, match=rf"mask of shape {re.escape(str(shape))} does not broadcast"):
        LAYERS[name](*inputs(), torch.ones(shape, dtype=torch.bool))
    with pytest.raises(ValueError, match="mask must be boolean"):
        LAYERS[name](*inputs(), torch.ones(BATCH, QUERIES, KEYS))


def test_a_mask_for_each_head():
    layer, (queries, keys, _) = MultiHeadAttention(D, HEADS), inputs()
    projected = layer.project(keys, keys)
    mask = torch.rand(BATCH, HEADS, QUERIES, KEYS) > 0.4
    _, weights = layer(queries, *projected, mask)
    assert torch.equal(weights > 0, mask)
    for head in range(HEADS):
        _, shared = layer(queries, *projected, mask[:, head])
        assert_close(weights[:, head], shared[:, head])
    for axis in range(3):  # one mask for all sentences, heads or queries
        part = mask.narrow(axis, 0, 1)
        assert torch.equal(layer(queries, *projected, part)[1] > 0, part.expand_as(mask))
    x = torch.randn(BATCH, QUERIES, D)
    own = torch.rand(BATCH, HEADS, QUERIES, QUERIES) > 0.4
    assert torch.equal(EncoderLayer(D, HEADS, 13)(x, own, need_weights=True)[1] > 0, own)
    with pytest.raises(ValueError, match=r"mask of shape \(2, 4, 5, 7\) does not .* shape \(2, 3, 5, 7\)"):
        layer(queries, *projected, torch.ones(BATCH, 4, QUERIES, KEYS, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"mask of shape \(2, 5, 4\) does not .* shape \(2, 5, 7\)"):
        layer(queries, *projected, torch.ones(BATCH, QUERIES, 4, dtype=torch.bool))


@pytest.mark.parametrize("num_heads", [1, HEADS])
def test_multi_head_attention_names_what_is_not_projected(num_heads):
    layer, (queries, keys, _) = MultiHeadAttention(D, num_heads), inputs()
    projected = layer.project(keys, keys)
    for wrong in ((keys, projected[1]), (projected[0], keys), (projected[0][0], projected[1][0])):
        with pytest.raises(ValueError, match=rf"must come from project, with an axis of {num_heads} heads"):
            layer(queries, *wrong)


@pytest.mark.parametrize("name", ["recurrent", "transformer"])
@pytest.mark.parametrize(
    ("src", "src_lens", "tgt_in", "message"),
    [
        ((5,), (), (3, 4), r"src must have shape \(batch, n\), got \(5,\)"),
        ((5,), (5,), (3, 4), r"src must have shape \(batch, n\), got \(5,\)"),
        ((2, 5, 3), (2,), (2, 4), r"src must have shape \(batch, n\), got \(2, 5, 3\)"),
        ((0, 5), (0,), (0, 4), "src_lens must hold one length per sentence"),
        ((2, 5), (3,), (2, 4), "src_lens must hold one length per sentence"),
        ((2, 5), (2,), (4,), r"tgt_in must have shape \(batch, t\).* each of 2 sentences, got \(4,\)"),
        ((2, 5), (2,), (3, 4), r"tgt_in must have shape .* each of 2 sentences, got \(3, 4\)"),
        ((2, 5), (2,), (1, 4), r"tgt_in must have shape .* each of 2 sentences, got \(1, 4\)"),
        ((2, 5), (2,), (2, 0), r"tgt_in must have shape .* t at least 1 .* got \(2, 0\)"),
    ],
)
def test_a_translator_names_ids_that_do_not_fit(name, src, src_lens, tgt_in, message):
    if name == "recurrent":
        encoder = Encoder(11, D, 13)
        model = EncoderDecoder(encoder, BahdanauDecoder(7, D, 13, encoder.d_out))
    else:
        options = {"num_heads": HEADS, "num_layers": 2}
        model = EncoderDecoder(TransformerEncoder(11, D, **options), TransformerDecoder(7, D, **options))
    ids = (torch.ones(shape, dtype=torch.long) for shape in (src, src_lens, tgt_in))
    with pytest.raises(ValueError, match=message):
        model(*ids)
