"""The Transformer against torch's own layers on the same weights, and its decoder as one of the translator's."""

import math
from functools import partial

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from utils.attention import length_mask
from utils.corpus.batches import batches, pad_ids
from utils.search import beam_search, greedy
from utils.seq2seq import Decoder, EncoderDecoder
from utils.training import fit
from utils.transformer import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    MultiHeadAttention,
    Residual,
    TransformerDecoder,
    TransformerEncoder,
    causal_mask,
    sinusoids,
)

D, HEADS, HIDDEN, BATCH, N, T = 12, 3, 17, 2, 5, 7


def randomised(module: nn.Module) -> nn.Module:
    """The module with random numbers in every parameter, so that no bias is 0 and no norm is the identity."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module.double().eval()


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    projections = (ours.w_q, ours.w_k, ours.w_v)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([part.weight for part in projections]))
        theirs.in_proj_bias.copy_(torch.cat([part.bias for part in projections]))
    theirs.out_proj.load_state_dict(ours.w_o.state_dict())


def copy_layer(ours: EncoderLayer | DecoderLayer, theirs: nn.Module) -> None:
    copy_attention(ours.self_attention, theirs.self_attn)
    if isinstance(ours, DecoderLayer):
        copy_attention(ours.cross_attention, theirs.multihead_attn)
    theirs.linear1.load_state_dict(ours.feed_forward[0].state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward[3].state_dict())
    for number, residual in enumerate(ours.residuals, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(residual.norm.state_dict())


def test_several_heads_are_those_of_torch():
    torch.manual_seed(0)
    ours = randomised(MultiHeadAttention(D, HEADS))
    theirs = nn.MultiheadAttention(D, HEADS, batch_first=True).double().eval()
    copy_attention(ours, theirs)
    queries, keys, values = (torch.randn(BATCH, n, D).double() for n in (T, N, N))
    mask = length_mask(torch.tensor([5, 2]), N)
    expected, expected_weights = theirs(
        queries, keys, values, key_padding_mask=~mask.squeeze(1), average_attn_weights=False
    )
    for need_weights in (True, False):
        context, weights = ours(queries, *ours.project(keys, values), mask, need_weights=need_weights)
        assert_close(context, expected)
    assert weights is None
    assert_close(ours(queries, *ours.project(keys, values), mask)[1], expected_weights)
    allowed = torch.arange(N) < 3  # a mask of the keys alone
    alike = ours(queries, *ours.project(keys, values), allowed.expand(BATCH, T, N))
    assert_close(ours(queries, *ours.project(keys, values), allowed), alike)


@pytest.mark.parametrize("options", [{}, {"norm_first": False}])
def test_an_encoder_layer_is_that_of_torch(options):
    norm_first = options.get("norm_first", True)
    torch.manual_seed(1)
    ours = randomised(EncoderLayer(D, HEADS, HIDDEN, **options))
    theirs = (
        nn.TransformerEncoderLayer(D, HEADS, HIDDEN, batch_first=True, norm_first=norm_first).double().eval()
    )
    copy_layer(ours, theirs)
    x, mask = torch.randn(BATCH, N, D).double(), length_mask(torch.tensor([3, 5]), N)
    expected = theirs(x, src_key_padding_mask=~mask.squeeze(1))
    real = mask.squeeze(1)
    assert_close(ours(x, mask)[0][real], expected[real])
    assert_close(ours(x, causal_mask(N))[0], theirs(x, src_mask=~causal_mask(N)))


@pytest.mark.parametrize("options", [{}, {"norm_first": False}])
def test_a_decoder_layer_is_that_of_torch(options):
    norm_first = options.get("norm_first", True)
    torch.manual_seed(2)
    ours = randomised(DecoderLayer(D, HEADS, HIDDEN, **options))
    theirs = (
        nn.TransformerDecoderLayer(D, HEADS, HIDDEN, batch_first=True, norm_first=norm_first).double().eval()
    )
    copy_layer(ours, theirs)
    x, source = torch.randn(BATCH, T, D).double(), torch.randn(BATCH, N, D).double()
    mask = length_mask(torch.tensor([2, 5]), N)
    expected = theirs(x, source, tgt_mask=~causal_mask(T), memory_key_padding_mask=~mask.squeeze(1))
    projected = ours.cross_attention.project(source, source)
    past = (x.new_zeros(BATCH, HEADS, 0, D // HEADS),) * 2
    assert_close(ours(x, projected, mask, past)[0], expected)
    for position in range(T):
        step, past, _ = ours(x[:, position : position + 1], projected, mask, past)
        assert_close(step, expected[:, position : position + 1])


def test_sinusoids_are_those_of_a_loop():
    table = sinusoids(5, 6)
    for t in range(5):
        for i in range(3):
            angle = torch.tensor(t / 10_000 ** (2 * i / 6))
            assert_close(table[t, 2 * i], angle.sin())
            assert_close(table[t, 2 * i + 1], angle.cos())
    assert_close(sinusoids(2, 6, start=3), table[3:])


def test_words_are_scaled_and_their_positions_added():
    bare = TransformerEncoder(7, 4, num_heads=1, num_layers=0, norm_first=False)
    nn.init.constant_(bare.embedding.weight, 3.0)
    outputs, _ = bare(torch.tensor([[5, 6]]), torch.tensor([2]))
    assert_close(outputs[0], 6 + sinusoids(2, 4))  # 3 times the root of 4


def small_translator(d_model: int = 8, num_layers: int = 2) -> EncoderDecoder:
    torch.manual_seed(3)
    sizes = {"num_heads": 2, "num_layers": num_layers}
    return EncoderDecoder(
        TransformerEncoder(11, d_model, **sizes), TransformerDecoder(13, d_model, **sizes)
    ).eval()


def test_the_decoder_fits_and_padding_changes_nothing():
    model = small_translator()
    assert isinstance(model.decoder, Decoder)
    src, src_lens, tgt = torch.tensor([[4, 5, 6, 7, 8]]), torch.tensor([3]), torch.tensor([[1, 5, 9]])
    logits, weights = model(src, src_lens, tgt)
    short, short_weights = model(src[:, :3], src_lens, tgt)
    assert_close(logits, short)
    assert_close(weights[..., :3], short_weights)
    assert (weights[..., 3:] == 0).all()
    assert_close(weights.sum(-1), torch.ones(1, 3))
    _, _, of_heads = model.decoder.features(tgt, *model.start(src, src_lens))
    assert of_heads.shape == (1, 2, 3, 5)
    assert_close(weights, (of_heads[:, 0] + of_heads[:, 1]) / 2)


def test_the_weights_are_those_of_the_last_layer():
    model, inputs = small_translator(), (torch.tensor([[4, 5, 6]]), torch.tensor([3]), torch.tensor([[1, 5]]))
    _, last = model(*inputs)
    found = []
    for model.decoder.weights_of in (0, 1):
        found.append(model(*inputs)[1])
    assert torch.equal(last, found[1])
    assert not torch.equal(last, found[0])


def test_where_nothing_is_said_nothing_is_dropped_and_norms_come_first():
    model, x = small_translator(), torch.randn(1, 3, 8)
    inputs = torch.tensor([[4, 5, 6]]), torch.tensor([3]), torch.tensor([[1, 5]])
    assert_close(model.train()(*inputs), model.eval()(*inputs))
    heads, residual = MultiHeadAttention(8, 2), Residual(8)
    layers = EncoderLayer(8, 2, 16), DecoderLayer(8, 2, 16)
    for module in (heads, residual, FeedForward(8, 16), *layers):
        assert {part.p for part in module.modules() if isinstance(part, nn.Dropout)} == {0.0}
    for module in (model, residual, *layers):
        assert {part.norm_first for part in module.modules() if isinstance(part, Residual)} == {True}
    assert isinstance(model.encoder.norm, nn.LayerNorm)
    assert isinstance(model.decoder.norm, nn.LayerNorm)
    projected = heads.project(x, x)
    assert layers[0](x)[1] is None
    assert (
        layers[1](x, projected, torch.ones(1, 1, 3, dtype=torch.bool), heads.project(x[:, :0], x[:, :0]))[2]
        is None
    )


def test_the_hidden_layer_has_four_times_the_width():
    model = small_translator(d_model=6)
    for layer in (*model.encoder.layers, *model.decoder.layers):
        assert [tuple(layer.feed_forward[i].weight.shape) for i in (0, 3)] == [(24, 6), (6, 24)]


def test_a_word_is_predicted_from_earlier_words_alone():
    model = small_translator()
    src, src_lens = torch.tensor([[4, 5, 6]]), torch.tensor([3])
    logits = model(src, src_lens, torch.tensor([[1, 5, 9, 4]]))[0]
    others = model(src, src_lens, torch.tensor([[1, 5, 12, 7]]))[0]
    assert_close(logits[:, :2], others[:, :2])
    assert not torch.allclose(logits[:, 2:], others[:, 2:])


@pytest.mark.trains
def test_it_learns_to_reverse_by_both_searches():
    generator = torch.Generator().manual_seed(4)
    sources = [torch.randint(4, 11, (n,), generator=generator).tolist() for n in (1, 2, 3) * 40]
    targets = [source[::-1] for source in sources]
    model = small_translator(16, 1)
    history = fit(
        model, list(batches(sources, targets, batch_size=20)), epochs=30, lr=1e-2, label_smoothing=0.0
    )
    assert history.losses[-1] < 0.3 < history.losses[0]
    src, src_lens = pad_ids(sources[:6]), torch.tensor([1, 2, 3] * 2)
    found = [best.tokens for best in greedy(model, src, src_lens, max_len=8)]
    assert sum(a == b for a, b in zip(found, targets, strict=False)) >= 5
    assert [best[0].tokens for best in beam_search(model, src, src_lens, beam=1, max_len=8)] == found


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MultiHeadAttention(12, 5), "d_model must be a multiple of num_heads, got 12 and 5"),
        (lambda: MultiHeadAttention(12, 0), "num_heads must be at least 1, got 0"),
        (lambda: sinusoids(4, 5), "d_model must be even, got 5"),
        (lambda: causal_mask(4, 3), "there must be a key for each query, got 4 queries and 3 keys"),
    ],
)
def test_wrong_sizes_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


SIZES = {"num_heads": 2, "num_layers": 1}


@pytest.mark.parametrize("dropout", [-0.1, 1.1, math.nan])
@pytest.mark.parametrize(
    "make",
    [
        partial(MultiHeadAttention, 8, 2),
        partial(FeedForward, 8, 3),
        partial(Residual, 8),
        partial(TransformerEncoder, 11, 8, **SIZES),
        partial(TransformerDecoder, 13, 8, **SIZES),
    ],
)
def test_a_dropout_is_from_0_to_1(make, dropout):
    with pytest.raises(ValueError, match=f"dropout must be from 0 to 1, got {dropout}"):
        make(dropout=dropout)
