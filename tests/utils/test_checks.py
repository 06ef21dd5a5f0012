"""What is no tensor, no fraction, no word or no mask is refused by name; what torch compiles and exports works.

The run-time check of shapes and types is off, as it is for readers. Counts and numbers are in ``test_arguments``.
"""

import re
from functools import partial

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from utils.attention import (
    AdditiveAttention,
    CosineAttention,
    DotProductAttention,
    length_mask,
    masked_softmax,
    weighted_sum,
)
from utils.attention_variants import ConcatAttention, GeneralAttention, LocationAttention, masked_sparsemax
from utils.chat_model import ChatModel
from utils.circuits import AttentionOnly
from utils.corpus.vocabulary import PAD
from utils.fast_decoding import GPT
from utils.long_sequences import linear_attention, online_attention, recurrent_attention
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder
from utils.training import sequence_loss
from utils.transformer import MultiHeadAttention, TransformerDecoder, TransformerEncoder

pytestmark = pytest.mark.usefixtures("unchecked_shapes")

TRANSFORMER = {"d_model": 8, "num_heads": 2, "num_layers": 2}
LENS = torch.tensor([2, 3])


# ---- Fractions ----

VECTORS = {
    "dot": DotProductAttention(),
    "fused": partial(DotProductAttention(), need_weights=False),
    "cosine": CosineAttention(),
    "additive": AdditiveAttention(3, 3, 5),
    "general": GeneralAttention(3, 3),
    "concat": ConcatAttention(3, 3, 5),
    "location": LocationAttention(3, 7),
    "online": online_attention,
    "linear": linear_attention,
    "linear, features of its own": partial(linear_attention, features=lambda x: x),
    "recurrent": recurrent_attention,
}


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize(("place", "argument"), list(enumerate(["queries", "keys", "values"])))
@pytest.mark.parametrize(
    ("turned", "message"),
    [
        (Tensor.long, "must be floating-point numbers, got dtype torch.int64"),
        (Tensor.numpy, "must be a tensor, got a value of type ndarray"),
    ],
)
def test_attention_is_of_fractions_alone(name, place, argument, turned, message):
    """In whole numbers the average of the values 1 and 2 would be 1."""
    tensors = [torch.ones(7, 3) for _ in range(3)]
    tensors[place] = turned(tensors[place])
    if name == "location" and place == 1 and turned is Tensor.long:
        pytest.skip("this score looks only at the number of keys")
    with pytest.raises(ValueError, match=f"{argument} {message}"):
        VECTORS[name](*tensors)


@pytest.mark.parametrize("normalise", [masked_softmax, masked_sparsemax])
@pytest.mark.parametrize("mask", [None, torch.tensor([True, True, False])])
def test_scores_are_fractions(normalise, mask):
    with pytest.raises(ValueError, match=r"scores must be floating-point numbers, got dtype torch\.int64"):
        normalise(torch.tensor([[1, 2, 3]]), mask)
    with pytest.raises(ValueError, match="scores must be a tensor, got a value of type list"):
        normalise([[1.0, 2.0]], mask)


def test_weights_and_values_are_fractions():
    with pytest.raises(ValueError, match="values must be floating-point numbers"):
        weighted_sum(torch.ones(2, 3), torch.ones(3, 5, dtype=torch.long))
    with pytest.raises(ValueError, match="weights must be floating-point numbers"):
        weighted_sum(torch.ones(2, 3, dtype=torch.long), torch.ones(3, 5))


# ---- Words ----


def translator(encoder: nn.Module, decoder: nn.Module):
    model = EncoderDecoder(encoder, decoder).eval()
    return {
        "src": lambda ids: model(ids, LENS, torch.ones(2, 5, dtype=torch.long)),
        "tgt_in": lambda ids: model(torch.ones(2, 3, dtype=torch.long), LENS, ids),
    }


RECURRENT = translator(Encoder(11, 3, 5), BahdanauDecoder(11, 3, 5, 10))
LATER = translator(TransformerEncoder(11, **TRANSFORMER), TransformerDecoder(11, **TRANSFORMER))
READERS = {
    "recurrent src": RECURRENT["src"],
    "recurrent tgt_in": RECURRENT["tgt_in"],
    "Transformer src": LATER["src"],
    "Transformer tgt_in": LATER["tgt_in"],
    "GPT ids": GPT(11, **TRANSFORMER),
    "chat model ids": ChatModel(11, 8, num_heads=2, num_key_heads=1, num_layers=2, d_hidden=7),
    "circuits tokens": AttentionOnly(11, 8, num_heads=2, max_len=5),
    "loss tgt_out": lambda ids: sequence_loss(torch.zeros(*ids.shape, 11), ids),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("outside", [11, -1, 10**9])
def test_a_word_outside_the_vocabulary_is_named(name, outside):
    ids = torch.tensor([[4, 5, 6], [7, outside, 10]])
    message = f"{name.split()[-1]} must be from 0 to 10, for a vocabulary of 11, got {outside}"
    with pytest.raises(ValueError, match=message):
        READERS[name](ids)
    READERS[name](ids.clamp(PAD, 10))  # the last word is one


# ---- Lengths and masks ----


@pytest.mark.parametrize(
    ("lens", "message"),
    [
        ([1, 3], "valid_lens must be a tensor of integers, got a value of type list"),
        (np.array([1, 3]), "valid_lens must be a tensor of integers, got a value of type ndarray"),
        (torch.tensor([1.0, 3.0]), r"valid_lens must be integers, got dtype torch\.float32"),
        (torch.tensor([1, 4]), "valid_lens must lie between 0 and 3, got 1 to 4"),
    ],
)
def test_lengths_are_a_tensor_of_integers(lens, message):
    with pytest.raises(ValueError, match=message):
        length_mask(lens, 3)


@pytest.mark.parametrize("normalise", [masked_softmax, masked_sparsemax])
@pytest.mark.parametrize("mask", [[True, False], np.array([True, False])])
def test_a_mask_is_a_tensor(normalise, mask):
    with pytest.raises(
        ValueError, match=rf"mask must be a boolean tensor .*, got a value of type {type(mask).__name__}"
    ):
        normalise(torch.zeros(1, 2), mask)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, mask: masked_softmax(x @ x.mT, mask),
        lambda x, mask: masked_sparsemax(x @ x.mT, mask),
        lambda x, mask: online_attention(x, x, x, mask),
        lambda x, mask: DotProductAttention()(x, x, x, mask),
        lambda x, mask: DotProductAttention()(x, x, x, mask, need_weights=False),
    ],
    ids=["softmax", "sparsemax", "online", "dot", "fused"],
)
def test_a_mask_of_sentences_never_meets_the_axis_of_heads(call):
    """Of two sentences and two heads, torch would hide the second sentence's padding from the second heads."""
    x, mask = torch.randn(2, 2, 3, 5), length_mask(torch.tensor([3, 1]), 3)
    with pytest.raises(
        ValueError, match=r"mask of shape \(2, 1, 3\) must have as many axes .*mask\[:, None\]"
    ):
        call(x, mask)
    call(x, mask[:, None])
    call(x, mask[None])
    call(x, mask[:1])


def test_the_mask_of_a_sentence_hides_its_padding_from_all_its_heads():
    weights = masked_softmax(torch.zeros(2, 3, 5, 7), length_mask(torch.tensor([7, 2]), 7)[:, None])
    assert_close(weights[0], torch.full((3, 5, 7), 1 / 7))
    assert_close(weights[1, :, :, :2], torch.full((3, 5, 2), 1 / 2))
    assert not weights[1, :, :, 2:].any()


def test_heads_share_a_mask_of_sentences():
    torch.manual_seed(0)
    layer, x, mask = MultiHeadAttention(8, 2), torch.randn(2, 3, 8), length_mask(torch.tensor([3, 1]), 3)
    _, weights = layer(x, *layer.project(x, x), mask)
    assert not weights[1, :, :, 1:].any()
    assert weights[0].all()


def test_the_chat_model_refuses_a_mask_of_sentences():
    model = READERS["chat model ids"]
    ids, mask = torch.ones(2, 3, dtype=torch.long), torch.ones(2, 3, 3, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"must have as many axes as scores of shape \(2, 2, 3, 3\)"):
        model(ids, mask=mask)
    model(ids, mask=mask[:, None])


# ---- Compiled and exported ----


class Masked(nn.Module):
    def forward(self, scores: Tensor, lens: Tensor) -> Tensor:
        return masked_softmax(scores, length_mask(lens, scores.shape[-1]))


MODELS = {
    "softmax": (Masked(), torch.randn(2, 5, 7)),
    "Transformer": (TransformerEncoder(11, **TRANSFORMER).eval(), torch.ones(2, 7, dtype=torch.long)),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "made",
    [
        lambda model, _inputs: torch.compile(model, fullgraph=True, backend="eager"),
        lambda model, inputs: torch.export.export(model, inputs).module(),
        lambda model, inputs: torch.export.export(model, inputs, strict=True).module(),
    ],
    ids=["compiled", "exported", "exported strictly"],
)
def test_lengths_are_read_when_the_program_runs(name, made):
    model, x = MODELS[name]
    program = made(model, (x, torch.tensor([7, 2])))
    for lens in (torch.tensor([7, 2]), torch.tensor([3, 5])):
        expected, got = model(x, lens), program(x, lens)
        expected, got = (out[0] if isinstance(out, tuple) else out for out in (expected, got))
        assert_close(got, expected)


def test_a_message_is_a_sentence_with_the_shape():
    message = re.escape("mask of shape (3,) does not broadcast to scores of shape (2, 5)")
    with pytest.raises(ValueError, match=message):
        masked_softmax(torch.zeros(2, 5), torch.ones(3, dtype=torch.bool))
