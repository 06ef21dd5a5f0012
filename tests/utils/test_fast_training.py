"""The fast form of the loss against the plain one: the same number and gradients, whatever the sizes."""

import re

import pytest
import torch
from torch.nn.functional import cross_entropy, linear

from utils.corpus.batches import Batch, make_batch
from utils.fast_training import attention_weights, fast_loss, vocabulary_loss
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder, FixedContextDecoder
from utils.training import batch_loss
from utils.transformer import TransformerDecoder, TransformerEncoder


def batch() -> Batch:
    """Five sentences of different lengths, padded on both sides."""
    generator = torch.Generator().manual_seed(0)

    def sentences(lengths, vocab):
        return [torch.randint(4, vocab, (length,), generator=generator).tolist() for length in lengths]

    return make_batch(sentences([7, 3, 1, 5, 2], 11), sentences([4, 6, 2, 0, 3], 13))


# The models compute in float64, in which two right forms differ by about 1e-15. The tolerance of assert_close, 1e-7 for
# float64, then finds a term that is left out or wrong.


def recurrent(decoder_type=BahdanauDecoder, *, num_layers=1, cell="gru", dropout=0.0) -> EncoderDecoder:
    torch.manual_seed(0)
    encoder = Encoder(11, 5, 7, num_layers=num_layers, dropout=dropout)
    options = {"d_enc_state": 7, "num_layers": num_layers, "cell": cell, "dropout": dropout}
    return EncoderDecoder(encoder, decoder_type(13, 3, 17, encoder.d_out, **options)).double()


def transformer() -> EncoderDecoder:
    torch.manual_seed(0)
    options = {"num_heads": 3, "num_layers": 2}
    return EncoderDecoder(
        TransformerEncoder(11, 12, **options), TransformerDecoder(13, 12, **options)
    ).double()


class LastWordDecoder(FixedContextDecoder):
    """A decoder with a context of its own, which the fast form computes too."""

    def attend(self, query, memory):
        return 2 * memory.values.squeeze(1), None


class LouderDecoder(BahdanauDecoder):
    """A decoder whose logits are not those of its output layer; it has no fast form."""

    def forward(self, tgt_in, memory, state):
        logits, state, weights = super().forward(tgt_in, memory, state)
        return 2 * logits, state, weights


MODELS = {
    "attention": recurrent,
    "three layers, the paper's cell": lambda: recurrent(num_layers=3, cell="gated"),
    "one vector": lambda: recurrent(FixedContextDecoder),
    "own context": lambda: recurrent(LastWordDecoder),
    "own logits": lambda: recurrent(LouderDecoder),
    "Transformer": transformer,
}


@pytest.mark.parametrize("make_model", MODELS.values(), ids=MODELS)
def test_loss_gradients_and_weights_equal_the_plain_form(make_model):
    model, data = make_model(), batch()
    losses = [loss(model, data, label_smoothing=0.1) for loss in (fast_loss, batch_loss)]
    torch.testing.assert_close(*losses)
    pairs = zip(*(torch.autograd.grad(loss, list(model.parameters())) for loss in losses), strict=True)
    for (name, _), (ours, wanted) in zip(model.named_parameters(), pairs, strict=True):
        torch.testing.assert_close(ours, wanted, msg=lambda text, name=name: name + text)
    weights, plain = attention_weights(model, data), model(data.src, data.src_lens, data.tgt_in)[1]
    assert (weights is None) == (plain is None)
    if plain is not None:
        torch.testing.assert_close(weights, plain)


@pytest.mark.parametrize("make_model", [recurrent, transformer])
def test_logits_are_computed_of_real_tokens_alone(make_model, monkeypatch):
    rows = []

    def counting(hidden, *arguments, **options):
        rows.append(len(hidden))
        return vocabulary_loss(hidden, *arguments, **options)

    monkeypatch.setattr("utils.fast_training.vocabulary_loss", counting)
    fast_loss(make_model(), batch())
    assert rows == [4 + 6 + 2 + 0 + 3 + 5]  # the words and the end of each of the five sentences


def test_dropout_acts_in_training_alone():
    model, data = recurrent(num_layers=2, dropout=0.4), batch()
    model.eval()
    torch.testing.assert_close(fast_loss(model, data), batch_loss(model, data))
    model.train()
    assert len({round(fast_loss(model, data).item(), 4) for _ in range(5)}) == 5


def test_bfloat16_products_change_numbers_by_their_rounding():
    model, data = recurrent(num_layers=2, cell="gated").float(), batch()
    plain = batch_loss(model, data)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        fast = fast_loss(model, data)
    assert fast.dtype == torch.float32
    # bfloat16 rounds by 2^-8 of a number. There are eight products between a word and its logits, and as many on the
    # way back. The loss changes by twice as much as a logit at the most.
    logit = model(data.src, data.src_lens, data.tgt_in)[0].abs().max().item()
    torch.testing.assert_close(fast, plain, atol=2 * 8 * 2**-8 * logit, rtol=0)
    gradients = [torch.autograd.grad(loss, list(model.parameters())) for loss in (fast, plain)]
    assert {gradient.dtype for gradient in gradients[0]} == {torch.float32}
    ours, wanted = (torch.cat([part.flatten() for part in parts]) for parts in gradients)
    assert (ours - wanted).norm() < 16 * 2**-8 * wanted.norm()


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


def test_vocabulary_loss_names_mistakes():
    hidden, weight, bias, target = vocabulary_inputs()
    with pytest.raises(ValueError, match="hidden must hold at least one token"):
        vocabulary_loss(hidden[:0], weight, bias, target[:0])
    with pytest.raises(ValueError, match="chunk must be at least 1, got 0"):
        vocabulary_loss(hidden, weight, bias, target, chunk=0)
    with pytest.raises(ValueError, match=r"label_smoothing must be from 0 to 1, got 1\.1"):
        vocabulary_loss(hidden, weight, bias, target, label_smoothing=1.1)


@pytest.mark.parametrize("true_words", [[0, -1], [0, -100], [3, 0]])
def test_a_true_word_is_in_the_vocabulary(true_words):
    with pytest.raises(
        ValueError, match=re.escape(f"from 0 to 2, got {min(true_words)} to {max(true_words)}")
    ):
        vocabulary_loss(torch.ones(2, 5), torch.ones(3, 5), torch.ones(3), torch.tensor(true_words))
