"""Counts, places, probabilities and sizes that cannot be are errors that name them; numbers that are large are right.

The run-time check of shapes and types is off, as it is for readers.
"""

import math
from functools import partial

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from utils.attention import (
    AdditiveAttention,
    CosineAttention,
    cosine_scores,
    length_mask,
)
from utils.attention_variants import (
    AttentionDecoder,
    ConcatAttention,
    GeneralAttention,
    LocationAttention,
    PointerDecoder,
    score_layer,
)
from utils.checks import check_count, check_number
from utils.circuits import AttentionOnly, CausalHeads, at_place, output_value_circuit, query_key_circuit
from utils.corpus.batches import Batch, ShuffledBatches, batches
from utils.corpus.vocabulary import PAD
from utils.fast_decoding import (
    GPT,
    GroupedQueryAttention,
    cache_bytes,
    generate,
    speculative,
)
from utils.fast_training import vocabulary_loss
from utils.long_sequences import online_attention, window_mask
from utils.metrics import bleu, bleu_by_length, chrf, diagonal_links, links_from_weights, paired_bootstrap
from utils.positions import alibi, rotate
from utils.search import Hypothesis, beam_search, greedy, next_word_probabilities
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder, GatedUnit
from utils.training import fit, seeded, sequence_loss
from utils.transformer import (
    FeedForward,
    MultiHeadAttention,
    Residual,
    TransformerDecoder,
    TransformerEncoder,
    causal_mask,
    sinusoids,
)
from utils.translator.models import Settings
from utils.translator.options import Search

pytestmark = pytest.mark.usefixtures("unchecked_shapes")

ONES = torch.ones(3, 2)
PROMPT = torch.tensor([[1, 2]])
IDS = [[4, 5], [6]]
BLEU = ["a b c d"], [["a b c d e"]]


def gpt(**options) -> GPT:
    return GPT(**{"vocab_size": 7, "d_model": 8, "num_heads": 2, "num_layers": 2} | options)


def translator() -> EncoderDecoder:
    torch.manual_seed(0)
    encoder = Encoder(11, 3, 5)
    return EncoderDecoder(encoder, BahdanauDecoder(13, 3, 5, encoder.d_out)).eval()


def with_beam(**options) -> list:
    return beam_search(
        translator(), torch.tensor(IDS[:1]), torch.tensor([2]), **{"beam": 2, "max_len": 3} | options
    )


def circuits() -> AttentionOnly:
    return AttentionOnly(5, 4, num_heads=2, num_layers=3, max_len=3)


TRANSFORMER = {"vocab_size": 7, "d_model": 8, "num_heads": 2, "num_layers": 2}
RECURRENT = {"vocab_size": 7, "d_embed": 3, "d_hidden": 5}
DECODER = RECURRENT | {"d_enc": 10}


def of(function, **arguments):
    """The function of one argument by name, with the others given."""
    return lambda name, value: function(**arguments | {name: value})


#: Functions, and their arguments that must be whole numbers, with the smallest one.
COUNTS = [
    (of(partial(length_mask, torch.tensor([], dtype=torch.long))), {"num_keys": 0}),
    (of(AdditiveAttention, d_query=2, d_key=3, d_hidden=5), {"d_query": 1, "d_key": 1, "d_hidden": 1}),
    (of(GeneralAttention, d_query=2, d_key=3), {"d_query": 1, "d_key": 1}),
    (of(ConcatAttention, d_query=2, d_key=3, d_hidden=5), {"d_query": 1, "d_key": 1, "d_hidden": 1}),
    (of(LocationAttention, d_query=2, max_len=3), {"d_query": 1, "max_len": 1}),
    (of(score_layer, score="concat", d_query=2, d_key=3), {"d_query": 1, "d_key": 1, "d_hidden": 1}),
    (of(score_layer, score="location", d_query=2, d_key=3), {"max_len": 1}),
    (of(PointerDecoder, **DECODER, unknown=3), {"unknown": 0}),
    (of(partial(online_attention, ONES, ONES, ONES)), {"block": 1}),
    (of(window_mask, num_queries=3, window=1), {"num_queries": 0, "window": 1, "sinks": 0}),
    (of(cache_bytes, num_layers=1, num_key_heads=1, d_head=1),
     {"num_layers": 1, "num_key_heads": 1, "d_head": 1, "bytes_per_number": 1}),
    (of(rotate, x=ONES), {"start": 0}),
    (of(alibi, num_heads=2, num_queries=1, num_keys=2), {"num_heads": 1, "num_queries": 0, "num_keys": 1}),
    (of(GroupedQueryAttention, d_model=8, num_heads=2), {"d_model": 1, "num_heads": 1, "num_key_heads": 1}),
    (of(gpt), {"vocab_size": 1, "d_model": 1, "num_heads": 1, "num_layers": 1, "num_key_heads": 1,
               "d_hidden": 1, "max_len": 1}),
    (of(gpt(positions="learned").embed, ids=PROMPT), {"start": 0}),
    (of(generate, model=gpt(), prompt=PROMPT), {"num_words": 0}),
    (of(speculative, model=gpt(), draft=gpt(), prompt=PROMPT, num_words=3), {"num_words": 0, "num_drafts": 1}),
    (of(causal_mask, num_queries=2), {"num_queries": 0, "num_keys": 0}),
    (of(sinusoids, num_positions=2, d_model=4), {"num_positions": 0, "start": 0}),
    (of(MultiHeadAttention, d_model=8, num_heads=2), {"d_model": 1, "num_heads": 1}),
    (of(FeedForward, d_model=8, d_hidden=3), {"d_model": 1, "d_hidden": 1}),
    (of(Residual), {"d_model": 1}),
    (of(TransformerEncoder, **TRANSFORMER),
     {"vocab_size": 1, "d_model": 1, "num_heads": 1, "num_layers": 0, "d_hidden": 1}),
    (of(TransformerDecoder, **TRANSFORMER),
     {"vocab_size": 1, "d_model": 1, "num_heads": 1, "num_layers": 1, "d_hidden": 1}),
    (of(Encoder, **RECURRENT), {"vocab_size": 1, "d_embed": 1, "d_hidden": 1, "num_layers": 1}),
    (of(BahdanauDecoder, **DECODER), {"vocab_size": 1, "d_embed": 1, "d_hidden": 1, "d_enc": 1, "d_enc_state": 1,
                                      "num_layers": 1, "d_read": 0}),
    (of(GatedUnit, d_input=2, d_context=3, d_hidden=5), {"d_input": 1, "d_context": 0, "d_hidden": 1}),
    (of(with_beam), {"beam": 1, "max_len": 1, "no_repeat_ngram": 0}),
    (of(partial(greedy, translator(), torch.tensor([[4]]), torch.tensor([1])), max_len=3),
     {"max_len": 1, "no_repeat_ngram": 0}),
    (of(CausalHeads, d_model=4, num_heads=2, max_len=3), {"d_model": 1, "num_heads": 1, "max_len": 1}),
    (of(AttentionOnly, vocab_size=5, d_model=4, num_heads=2, max_len=3),
     {"vocab_size": 1, "d_model": 1, "num_heads": 1, "num_layers": 0, "max_len": 1}),
    (of(partial(query_key_circuit, circuits()), layer=1, head=0), {"layer": 0, "head": 0}),
    (of(partial(output_value_circuit, circuits()), layer=1, head=0), {"layer": 0, "head": 0}),
    (of(partial(bleu, *BLEU)), {"resamples": 0}),
    (of(partial(chrf, *BLEU)), {"resamples": 0}),
    (of(partial(bleu_by_length, *BLEU), lengths=[4]), {"resamples": 0}),
    (of(partial(paired_bootstrap, *BLEU[:1], *BLEU)), {"resamples": 1}),
    (of(partial(links_from_weights, ONES)), {"num_tgt": 0}),
    (of(diagonal_links, num_src=2, num_tgt=3), {"num_src": 1, "num_tgt": 0}),
    (of(partial(fit, translator(), []), epochs=1), {"epochs": 1}),
    (of(partial(vocabulary_loss, ONES, ONES, torch.ones(3), torch.tensor([0, 1, 2]))), {"chunk": 1}),
    (of(partial(batches, IDS, IDS)), {"batch_size": 1, "pool": 1}),
    (of(partial(ShuffledBatches, IDS, IDS)), {"batch_size": 1}),
    (of(Settings, src="en", tgt="fr", model="transformer", num_heads=4),
     {"num_heads": 1, "d_embed": 1, "d_hidden": 1}),
]  # fmt: skip
COUNTS = [(call, name, least) for call, names in COUNTS for name, least in names.items()]


@pytest.mark.parametrize(("call", "name", "least"), COUNTS)
def test_a_count_that_cannot_be_is_named(call, name, least):
    for value in (least - 1, -7):
        with pytest.raises(ValueError, match=rf"{name} must be (at least|from) {least}.*, got {value}"):
            call(name, value)
    for value in (2.5, math.nan, math.inf, True, "2"):
        with pytest.raises(ValueError, match=rf"{name} must be a whole number, got {value!r}"):
            call(name, value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: query_key_circuit(circuits(), 3, 0), "layer must be from 0 to 2, got 3"),
        (lambda: query_key_circuit(circuits(), 0, 2), "head must be from 0 to 1, got 2"),
        (lambda: query_key_circuit(circuits(), 1, 0, through=(-1, 0)), "layer must be from 0 to 2, got -1"),
        (lambda: query_key_circuit(circuits(), 1, 0, through=(0, -1)), "head must be from 0 to 1, got -1"),
        (lambda: output_value_circuit(circuits(), 0, 2), "head must be from 0 to 1, got 2"),
        (lambda: circuits()(PROMPT, replace={-1: 0}), r"layers and heads of this network, got \[-1\]"),
        (lambda: circuits()(PROMPT, replace={(0, -1): 0}), r"heads of this network, got \[\(0, -1\)\]"),
        (lambda: at_place(ONES, ONES, 3), "place must be from -3 to 2, got 3"),
        (lambda: PointerDecoder(**DECODER, unknown=7), "unknown must be from 0 to 6, got 7"),
        (lambda: links_from_weights(ONES, num_tgt=4), "num_tgt must be from 0 to 3, got 4"),
        (lambda: diagonal_links(0, 1), "num_src must be at least 1, got 0"),
        (lambda: bleu_by_length(*BLEU, [-1]), "lengths must be at least 0, got -1"),
        (lambda: bleu_by_length(*BLEU, [4], edges=(-5, 3)), "edges must be at least 0, got -5"),
        (lambda: seeded(2.5).__enter__(), "seed must be a whole number, got 2.5"),
        (lambda: seeded(2**64).__enter__(), "seed must be from .*, got 18446744073709551616"),
        (lambda: AttentionDecoder(**DECODER, d_attention=0), "d_hidden must be at least 1, got 0"),
        (lambda: BahdanauDecoder(**DECODER, d_attention=0), "d_hidden must be at least 1, got 0"),
        (lambda: Search(beam=2.5), "beam must be a whole number, got 2.5"),
        (lambda: Search(length_penalty=math.nan), "length_penalty must be from 0 to 10, got nan"),
    ],
)
def test_a_place_that_is_not_there_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_layer_whose_weights_are_wanted_must_be_there():
    model = EncoderDecoder(TransformerEncoder(**TRANSFORMER), TransformerDecoder(**TRANSFORMER))
    for layer in (-1, 2):
        model.decoder.weights_of = layer
        with pytest.raises(ValueError, match=f"weights_of must be from 0 to 1, got {layer}"):
            model(PROMPT, torch.tensor([2]), PROMPT)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (CosineAttention, "scale"),
        (partial(rotate, ONES), "base"),
        (partial(fit, translator(), [None, None], epochs=1), "lr"),
    ],
)
def test_a_scale_is_positive_and_finite(call, name):
    for value in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match=f"{name} must be positive and finite, got {value}"):
            call(**{name: value})


@pytest.mark.parametrize("call", [with_beam, Hypothesis([5], -1.0, None, finished=True).score])
def test_a_length_penalty_is_a_number_from_0_on(call):
    for value, message in ((-0.5, "at least 0"), (math.nan, "at least 0"), (math.inf, "finite")):
        with pytest.raises(ValueError, match=f"length_penalty must be {message}, got {value}"):
            call(length_penalty=value)


def test_none_stands_for_an_argument_that_was_left_out():
    check_count(1, d_hidden=None)
    check_number(0, 1, dropout=None)


# ---- Nothing to go on from ----


def test_an_empty_prompt_has_no_next_word():
    empty = torch.zeros(1, 0, dtype=torch.long)
    for call in (partial(generate, gpt()), partial(speculative, gpt(), gpt())):
        with pytest.raises(ValueError, match=r"prompt must have at least one word, got shape \(1, 0\)"):
            call(empty, 3)
    with pytest.raises(ValueError, match="prompt must be one text, got 2"):
        speculative(gpt(), gpt(), PROMPT.expand(2, -1), 3)


def test_a_batch_without_a_word_to_predict_is_named():
    nothing = torch.full((2, 3), PAD)
    with pytest.raises(ValueError, match="tgt_out must hold at least one token that is not padding"):
        sequence_loss(torch.zeros(2, 3, 7), nothing)

    # As in the chapter on BERT, where a short batch may have no hidden word.
    def gaps(model: nn.Module, batch: Batch, *, label_smoothing: float) -> torch.Tensor:
        return sequence_loss(model(batch.src), batch.tgt, label_smoothing=label_smoothing)

    batch = Batch(torch.tensor([[4, 5]]), torch.tensor([2]), torch.tensor([[PAD, PAD]]))
    with pytest.raises(ValueError, match="tgt_out must hold at least one token"):
        fit(nn.Embedding(7, 7), [batch, batch], epochs=1, loss=gaps)


@pytest.mark.parametrize("logit", [-math.inf, math.nan, math.inf])
def test_without_a_word_that_is_allowed_there_is_no_distribution(logit):
    with pytest.raises(ValueError, match="logits must allow a word"):
        next_word_probabilities(torch.tensor([[0.0, 1.0], [logit, logit]]))


# ---- Large and small numbers ----


LARGEST = {
    torch.float16: [1e-7, 1e-3, 3e3, 6e4],
    torch.bfloat16: [1e-38, 1e-20, 1e18, 3e38],
    torch.float32: [1e-45, 1e-30, 1e18, 3e38],
    torch.float64: [1e-320, 1e-200, 1e155, 1e308],
}


@pytest.mark.parametrize(
    ("dtype", "size"), [(dtype, size) for dtype, sizes in LARGEST.items() for size in sizes]
)
def test_cosines_do_not_depend_on_the_lengths(dtype, size):
    """The vectors (1, 1), (1, -1) and (0, 1), of any size: the angles are 0, 90 and 45 degrees."""
    queries = size * torch.tensor([[1.0, 1.0]], dtype=torch.float64)
    keys = size * torch.tensor([[1.0, 1.0], [1.0, -1.0], [0.0, 1.0], [0.0, 0.0]], dtype=torch.float64)
    queries, keys = queries.to(dtype).requires_grad_(), keys.to(dtype).requires_grad_()
    scores = cosine_scores(queries, keys)
    expected = torch.tensor([[1.0, 0.0, math.sqrt(0.5), 0.0]], dtype=dtype)
    assert_close(scores, expected, rtol=0, atol=4 * torch.finfo(dtype).eps)
    if size > 1:
        scores.sum().backward()
        assert queries.grad.isfinite().all()
        assert keys.grad.isfinite().all()


def test_the_gradient_of_a_cosine_by_hand():
    """Against (1, 0) it is q1 / sqrt(q1² + q2²): its derivatives at (3, 4) are 16/125 and -12/125, and at 0 finite."""
    queries = torch.tensor([[3.0, 4.0], [0.0, 0.0]], dtype=torch.float64, requires_grad=True)
    cosine_scores(queries, torch.tensor([[1.0, 0.0]], dtype=torch.float64)).sum().backward()
    assert_close(queries.grad, torch.tensor([[16 / 125, -12 / 125], [2.0, 0.0]], dtype=torch.float64))


@pytest.mark.parametrize("temperature", [1e20, 1e308, math.inf])
def test_a_large_temperature_makes_all_words_equal_that_are_allowed(temperature):
    logits = torch.tensor([5.0, -math.inf, 0.0, -3.0])
    expected = torch.tensor([1 / 3, 0.0, 1 / 3, 1 / 3])
    assert_close(next_word_probabilities(logits, temperature=temperature), expected)


def test_a_score_may_become_0_but_no_error():
    long = Hypothesis([5] * 999, -8.0, None, finished=True)
    assert long.score(100.0) == pytest.approx(-8e-300)
    assert long.score(1e6) == 0
