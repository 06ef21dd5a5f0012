"""The fast form against the plain one: the same losses, gradients, states and weights, whatever the sizes."""

import pytest
import torch
from tiny import SEARCH_ROUNDING
from torch.nn.functional import cross_entropy, linear

from utils.corpus.batches import Batch, make_batch
from utils.search import DecoderSteps, beam_search, greedy
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder, FixedContextDecoder
from utils.training import sequence_loss
from utils.transformer import TransformerDecoder, TransformerEncoder
from utils.translator.fast import (
    FastSteps,
    attention_weights,
    encode,
    fast_loss,
    steps_for,
)
from utils.translator.vocabulary_loss import vocabulary_loss

BOTH = pytest.mark.parametrize("decoder_type", [BahdanauDecoder, FixedContextDecoder])


def batch() -> Batch:
    """Five sentences of different lengths, padded on both sides."""
    generator = torch.Generator().manual_seed(0)

    def sentences(lengths, vocab):
        return [torch.randint(4, vocab, (length,), generator=generator).tolist() for length in lengths]

    return make_batch(sentences([7, 3, 1, 5, 2], 11), sentences([4, 6, 2, 0, 3], 13))


# The models compute in float64, in which two right forms differ by about 1e-15. The tolerance of assert_close, 1e-7 for
# float64, then finds a term that is left out or wrong.


def model(decoder_type=BahdanauDecoder, *, num_layers=1, bidirectional=True, cell="gru", dropout=0.0):
    torch.manual_seed(0)
    encoder = Encoder(11, 5, 7, num_layers=num_layers, bidirectional=bidirectional, dropout=dropout)
    options = {"d_enc_state": 7, "num_layers": num_layers, "cell": cell, "dropout": dropout}
    if decoder_type is BahdanauDecoder:
        options["d_attention"] = 19
    return EncoderDecoder(encoder, decoder_type(13, 3, 17, encoder.d_out, **options)).double()


def plain_loss(translator, data, **options):
    logits, _ = translator(data.src, data.src_lens, data.tgt_in)
    return sequence_loss(logits, data.tgt_out, **options)


def gradients(loss, translator) -> list[torch.Tensor]:
    return list(torch.autograd.grad(loss, list(translator.parameters())))


@BOTH
@pytest.mark.parametrize("num_layers", [1, 2, 3])
@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("cell", ["gru", "context"])
def test_loss_and_gradients_equal_the_plain_form(decoder_type, num_layers, bidirectional, cell):
    translator = model(decoder_type, num_layers=num_layers, bidirectional=bidirectional, cell=cell)
    data = batch()
    plain = plain_loss(translator, data, label_smoothing=0.1)
    fast = fast_loss(translator, data, label_smoothing=0.1, chunk=7)
    torch.testing.assert_close(fast, plain)
    pairs = zip(gradients(fast, translator), gradients(plain, translator), strict=True)
    for (name, _), (ours, wanted) in zip(translator.named_parameters(), pairs, strict=True):
        torch.testing.assert_close(ours, wanted, msg=lambda text, name=name: name + text)


@pytest.mark.parametrize("num_layers", [1, 2, 3])
@pytest.mark.parametrize("bidirectional", [True, False])
def test_the_source_is_read_as_torch_reads_it(num_layers, bidirectional):
    encoder, data = model(num_layers=num_layers, bidirectional=bidirectional).encoder, batch()
    src = torch.nn.functional.pad(data.src, (0, 2), value=9)  # what stands behind a sentence is never read
    ours, plain = encode(encoder, src, data.src_lens), encoder(src, data.src_lens)
    torch.testing.assert_close(ours, plain)
    assert (ours[0][1, 3:] == 0).all()
    assert (ours[0][:, 7:] == 0).all()


def test_dropout_acts_on_words_and_between_layers():
    data = batch()
    for num_layers, gru_dropout, embedding_dropout in [(1, 0.5, 0.0), (2, 0.5, 0.0), (1, 0.0, 0.5)]:
        encoder = model(num_layers=num_layers).encoder
        encoder.gru.dropout, encoder.dropout.p = gru_dropout, embedding_dropout
        same = torch.equal(*(encode(encoder, data.src, data.src_lens)[0] for _ in range(2)))
        assert same == (num_layers == 1 and embedding_dropout == 0)


@pytest.mark.parametrize("lengths", [[7, 3, 0, 5, 2], [8, 3, 1, 5, 2]])
def test_lengths_out_of_range_are_refused(lengths):
    encoder, data = model().encoder, batch()
    for read in (encoder, lambda *sentences: encode(encoder, *sentences)):
        with pytest.raises(ValueError, match=f"between 1 and 7, got {min(lengths)} to {max(lengths)}"):
            read(data.src, torch.tensor(lengths))


def test_another_encoder_reads_in_its_own_way():
    class Twice(Encoder):
        def forward(self, src, src_lens):
            outputs, state = super().forward(src, src_lens)
            return 2 * outputs, state

    torch.manual_seed(0)
    encoder, data = Twice(11, 5, 7), batch()
    torch.testing.assert_close(encode(encoder, data.src, data.src_lens), encoder(data.src, data.src_lens))


def transformer(dropout=0.0):
    torch.manual_seed(0)
    options = {"num_heads": 3, "num_layers": 2, "dropout": dropout}
    return EncoderDecoder(
        TransformerEncoder(11, 12, **options), TransformerDecoder(13, 12, **options)
    ).double()


def test_a_transformer_equals_its_plain_form():
    translator, data = transformer(), batch()
    plain = plain_loss(translator, data, label_smoothing=0.1)
    fast = fast_loss(translator, data, label_smoothing=0.1, chunk=7)
    torch.testing.assert_close(fast, plain)
    for ours, wanted in zip(gradients(fast, translator), gradients(plain, translator), strict=True):
        torch.testing.assert_close(ours, wanted)
    torch.testing.assert_close(attention_weights(translator, data), translator(*data[:2], data.tgt_in)[1])
    assert steps_for(translator) is DecoderSteps


def test_a_transformer_computes_logits_of_real_tokens_alone(monkeypatch):
    rows = []

    def counting(hidden, *arguments, **options):
        rows.append(len(hidden))
        return vocabulary_loss(hidden, *arguments, **options)

    monkeypatch.setattr("utils.translator.fast.vocabulary_loss", counting)
    fast_loss(transformer(), batch())
    assert rows == [4 + 6 + 2 + 0 + 3 + 5]  # the words and the end of each of the five sentences


def test_dropout_acts_in_training_alone():
    translator, data = model(num_layers=2, dropout=0.4), batch()
    translator.eval()
    torch.testing.assert_close(fast_loss(translator, data), plain_loss(translator, data))
    translator.train()
    losses = {round(fast_loss(translator, data).item(), 4) for _ in range(5)}
    assert len(losses) == 5


def test_bfloat16_products_change_numbers_by_their_rounding():
    translator, data = model(num_layers=2, cell="context").float(), batch()
    plain = plain_loss(translator, data)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        fast = fast_loss(translator, data)
    assert fast.dtype == torch.float32
    # bfloat16 rounds by 2^-8 of a number. There are eight products between a word and its logits, and as many on the
    # way back. The loss changes by twice as much as a logit at the most.
    logit = translator(data.src, data.src_lens, data.tgt_in)[0].abs().max().item()
    torch.testing.assert_close(fast, plain, atol=2 * 8 * 2**-8 * logit, rtol=0)
    for ours, wanted in zip(gradients(fast, translator), gradients(plain, translator), strict=True):
        assert ours.dtype == torch.float32
        assert (ours - wanted).norm() < 16 * 2**-8 * wanted.norm()


class LastWordDecoder(FixedContextDecoder):
    """A decoder without a fast form, because its context is computed in another way."""

    def attend(self, query, memory):
        return 2 * memory.values.squeeze(1), None


def test_another_decoder_takes_the_plain_form():
    translator, data = model(LastWordDecoder), batch()
    assert steps_for(translator) is DecoderSteps
    assert steps_for(model()) is FastSteps
    plain = plain_loss(translator, data, label_smoothing=0.1)
    assert torch.equal(fast_loss(translator, data, label_smoothing=0.1), plain)
    assert not torch.equal(plain, plain_loss(model(FixedContextDecoder), data, label_smoothing=0.1))
    with pytest.raises(TypeError, match="LastWordDecoder has no fast form"):
        FastSteps(translator, data.src, data.src_lens)


@BOTH
def test_attention_weights_are_those_of_the_plain_form(decoder_type):
    translator, data = model(decoder_type), batch()
    weights, (_, plain) = attention_weights(translator, data), translator(*data[:2], data.tgt_in)
    if decoder_type is FixedContextDecoder:
        assert weights is None
        assert plain is None
    else:
        torch.testing.assert_close(weights, plain)


@BOTH
@pytest.mark.parametrize("num_layers", [1, 2])
def test_search_with_fast_steps_finds_the_same_translations(decoder_type, num_layers):
    translator, data = model(decoder_type, num_layers=num_layers).eval(), batch()
    with torch.no_grad():  # larger than trained ones, so that no two words are nearly as likely
        for parameter in translator.parameters():
            parameter *= 4
    searches = (
        lambda steps: [[h] for h in greedy(translator, *data[:2], max_len=7, steps=steps)],
        lambda steps: beam_search(translator, *data[:2], beam=3, max_len=7, steps=steps),
    )
    for search in searches:
        for plain, fast in zip(search(DecoderSteps), search(FastSteps), strict=True):
            assert [(h.tokens, h.finished) for h in fast] == [(h.tokens, h.finished) for h in plain]
            for ours, theirs in zip(fast, plain, strict=True):
                assert ours.log_prob == pytest.approx(theirs.log_prob, abs=SEARCH_ROUNDING)
                if theirs.weights is not None:
                    torch.testing.assert_close(ours.weights, theirs.weights)


# The loss over the vocabulary


def vocabulary_inputs(dtype=torch.float64) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(0)
    hidden, weight, bias = (
        torch.randn(shape, generator=generator, dtype=dtype).requires_grad_()
        for shape in ((7, 5), (11, 5), (11,))
    )
    return hidden, weight, bias, torch.randint(11, (7,), generator=generator)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("chunk", [1, 3, 7, 100])
def test_vocabulary_loss_and_its_gradients_are_torch_s(label_smoothing, chunk):
    *inputs, target = vocabulary_inputs()
    # In float64: a sum of at most 77 products of numbers below 10 rounds by less than 77 * 10 * 1e-16.
    wanted = cross_entropy(linear(*inputs), target, label_smoothing=label_smoothing)
    ours = vocabulary_loss(*inputs, target, label_smoothing=label_smoothing, chunk=chunk)
    torch.testing.assert_close(ours, wanted, rtol=1e-12, atol=1e-12)
    for mine, theirs in zip(
        torch.autograd.grad(3 * ours, inputs), torch.autograd.grad(3 * wanted, inputs), strict=True
    ):
        torch.testing.assert_close(mine, theirs, rtol=1e-12, atol=1e-12)


def test_vocabulary_loss_of_large_scores_is_finite():
    *inputs, target = vocabulary_inputs(torch.float32)
    with torch.no_grad():
        inputs[0].mul_(1e4)
    before = [tensor.clone() for tensor in inputs]
    loss = vocabulary_loss(*inputs, target)
    torch.testing.assert_close(loss, cross_entropy(linear(*inputs), target))
    loss.backward()
    assert all(tensor.grad.isfinite().all() for tensor in inputs)
    assert all(torch.equal(tensor, copy) for tensor, copy in zip(inputs, before, strict=True))


def test_vocabulary_loss_may_need_few_gradients():
    hidden, weight, bias, target = vocabulary_inputs()
    with torch.no_grad():
        assert not vocabulary_loss(hidden, weight, bias, target).requires_grad
    frozen = vocabulary_loss(hidden, weight.detach(), bias.detach(), target)
    assert not vocabulary_loss(hidden.detach(), weight.detach(), bias.detach(), target).requires_grad
    (mine,) = torch.autograd.grad(frozen, hidden)
    (theirs,) = torch.autograd.grad(cross_entropy(linear(hidden, weight, bias), target), hidden)
    torch.testing.assert_close(mine, theirs)


def test_vocabulary_loss_names_mistakes():
    hidden, weight, bias, target = vocabulary_inputs()
    with pytest.raises(ValueError, match="hidden must hold at least one token"):
        vocabulary_loss(hidden[:0], weight, bias, target[:0])
    with pytest.raises(ValueError, match="chunk must be at least 1, got 0"):
        vocabulary_loss(hidden, weight, bias, target, chunk=0)
