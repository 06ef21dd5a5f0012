"""The study of explanations, with a small training; and its stored results."""

import json

import pytest
import torch

from studies.explanation import (
    LENGTHS,
    RARE,
    RARE_SENTENCES,
    RESULTS,
    EvenDecoder,
    ExplanationSettings,
    bell,
    control,
    gradient_times_input,
    grammar,
    hidden_in_step,
    misleading_loss,
    off_diagonal,
    rare_numbers,
    translator,
    weights_of,
    with_hidden,
)
from utils.corpus.batches import make_batch
from utils.corpus.grammar import triple, triples
from utils.seq2seq import BahdanauDecoder
from utils.training import batch_loss

pytestmark = pytest.mark.trains

SMALL = ExplanationSettings(
    num_train=61, num_rare=5, num_test=17, epochs=1, epochs_misled=1, width=7, seeds=(0, 1)
)


@pytest.fixture(scope="module")
def data():
    return grammar(SMALL)


def test_the_rare_sentences_are_those_of_the_grammar(data):
    numbers = [int(number) for number in RARE_SENTENCES.read_text("utf-8").split()]
    assert len(numbers) == ExplanationSettings().num_rare
    assert rare_numbers(numbers[7], numbers[29]) == numbers[7:29]
    assert all(RARE & set(triple(number, **LENGTHS).en) for number in numbers)
    assert data.train == [
        *triples(61, split="train", **LENGTHS),
        *(triple(number, **LENGTHS) for number in numbers[:5]),
    ]


def test_a_translator_overlaps_with_itself_by_one(data):
    model = translator(SMALL, data, BahdanauDecoder, 0).eval()
    batch = make_batch(*data.ids(data.test))
    for smoothing in (0.0, 0.1):
        loss = misleading_loss(model, batch, honest=model, label_smoothing=smoothing)
        torch.testing.assert_close(loss, batch_loss(model, batch, label_smoothing=smoothing) + 1)


def test_the_even_decoder_looks_at_real_words_alike(data):
    model = translator(SMALL, data, EvenDecoder, 0).eval()
    batch = make_batch(*data.ids(data.test))
    weights = weights_of(model, batch)
    for row, length in zip(weights, batch.src_lens.tolist(), strict=True):
        torch.testing.assert_close(row[:, :length], torch.full_like(row[:, :length], 1 / length))
        assert not row[:, length:].any()


def test_the_control_is_the_lightest_set_with_as_much_weight():
    weights = torch.tensor([0.15, 0.28, 0.25, 0.2, 0.12])
    assert control(weights, 1) == [3, 4]
    assert control(weights, 1, spared={3}) == [2, 4]
    assert control(weights, 2) == [0, 4]
    assert control(torch.tensor([0.2, 0.6, 0.2]), 1) == []


def test_a_word_is_hidden_in_its_own_step_alone(data):
    model = translator(SMALL, data, BahdanauDecoder, 0).eval()
    batch = make_batch(*data.ids(data.test[:5]))
    nothing = torch.zeros(*batch.tgt_in.shape, batch.src.shape[1], dtype=torch.bool)
    plain = model(batch.src, batch.src_lens, batch.tgt_in)[0].softmax(dim=-1)
    torch.testing.assert_close(with_hidden(model, batch, nothing), plain)
    hidden = nothing.clone()
    hidden[:, 1, 0] = True
    changed = (with_hidden(model, batch, hidden) - plain).abs().amax(dim=-1) > 1e-7
    assert changed[:, 1].all()
    assert not changed[:, 2:].any()
    in_each = hidden_in_step(model, batch, torch.zeros(batch.tgt_in.shape, dtype=torch.long))
    torch.testing.assert_close(in_each[:, 1], with_hidden(model, batch, hidden)[:, 1])


def test_a_bell_lies_around_the_diagonal_and_leaves_padding_out():
    batch = make_batch([[4, 5, 6], [4, 5, 6, 7, 8]], [[4, 5, 6, 7, 8, 9], [4]])
    weights = bell(batch, sigma=0.5)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 7))
    assert weights[0, :6].argmax(dim=-1).tolist() == [0, 0, 1, 1, 2, 2]
    assert weights[1, 0].argmax() == 2
    assert not weights[0, :, 3:].any()
    # The middle of the first of six words is at -1/4 of three: the scores are -1/8, -25/8 and -81/8.
    torch.testing.assert_close(weights[0, 0, :3], torch.tensor([-0.125, -3.125, -10.125]).softmax(dim=0))


def test_words_off_the_diagonal_have_links_and_none_there(data):
    off = off_diagonal(data, data.batch(data.test))
    assert off.any()
    for row, t in enumerate(data.test):
        for j in range(len(t.fr)):
            places = [i for i, word in t.links("en", "fr") if word == j]
            middle = int((j + 0.5) / len(t.fr) * len(t.en))
            assert off[row, j] == (bool(places) and middle not in places)
        assert not off[row, len(t.fr) :].any()


def test_gradient_times_input_is_what_a_longer_vector_changes(data):
    model = translator(SMALL, data, BahdanauDecoder, 0).double().eval()
    batch = make_batch(*data.ids(data.test[:3]))
    ours = gradient_times_input(model, batch, batch.tgt_out)
    logs = []
    for factor in (1 + 1e-4, 1 - 1e-4):

        def longer(layer, ids, x, factor=factor):
            return torch.cat([x[:, :1], factor * x[:, 1:2], x[:, 2:]], dim=1)

        hook = model.encoder.embedding.register_forward_hook(longer)
        logs.append(model(batch.src, batch.src_lens, batch.tgt_in)[0].log_softmax(dim=-1))
        hook.remove()
    slope = ((logs[0] - logs[1]) / 2e-4).gather(-1, batch.tgt_out[..., None]).squeeze(-1)
    torch.testing.assert_close(ours[..., 1], slope, rtol=1e-5, atol=1e-9)


def test_the_stored_results_are_those_of_these_settings():
    assert json.loads(RESULTS.read_text("utf-8"))["settings"] == json.loads(
        json.dumps(vars(ExplanationSettings()))
    )
