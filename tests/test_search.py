"""Greedy search against a slow loop that decodes one sentence at a time, and against a model set by hand."""

import math

import pytest
import torch

from utils.corpus.vocabulary import BOS, EOS
from utils.search import greedy
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder, FixedContextDecoder


def model(decoder_type=BahdanauDecoder, *, num_layers: int = 1) -> EncoderDecoder:
    torch.manual_seed(3)
    encoder = Encoder(11, 5, 7, num_layers=num_layers)
    translator = EncoderDecoder(encoder, decoder_type(13, 3, 17, encoder.d_out, num_layers=num_layers)).eval()
    with torch.no_grad():  # larger than trained ones, so that different sources end at different lengths
        for parameter in translator.parameters():
            parameter *= 4
    return translator


def sources() -> tuple[torch.Tensor, torch.Tensor]:
    src = torch.randint(4, 11, (19, 5), generator=torch.Generator().manual_seed(1))
    return src, torch.tensor([1, 2, 3, 4, 5] * 3 + [5, 3, 2, 1])


def slow_greedy(translator, src, max_len):
    """One sentence, the whole prefix decoded again at every step: slow, and obviously right."""
    prefix, log_prob = [BOS], 0.0
    while True:
        logits, weights = translator(src[None], torch.tensor([len(src)]), torch.tensor([prefix]))
        log_probs = logits[0, -1].log_softmax(dim=-1)
        word = int(log_probs.argmax())
        if word == EOS:
            return prefix[1:], log_prob + float(log_probs[word]), weights, True
        if len(prefix) > max_len:
            return prefix[1:], log_prob, None if weights is None else weights[:, :-1], False
        log_prob += float(log_probs[word])
        prefix.append(word)


@pytest.mark.parametrize("decoder_type", [BahdanauDecoder, FixedContextDecoder])
@pytest.mark.parametrize("num_layers", [1, 2])
@pytest.mark.parametrize("max_len", [1, 7])
def test_greedy_in_a_batch_equals_one_sentence_at_a_time(decoder_type, num_layers, max_len):
    translator = model(decoder_type, num_layers=num_layers)
    src, lens = sources()
    hypotheses = greedy(translator, src, lens, max_len=max_len)
    for row, hypothesis in enumerate(hypotheses):
        with torch.no_grad():
            words, log_prob, weights, finished = slow_greedy(translator, src[row, : lens[row]], max_len)
        assert hypothesis.tokens == words
        assert hypothesis.finished == finished
        assert hypothesis.log_prob == pytest.approx(log_prob, abs=1e-4)
        if weights is None:
            assert hypothesis.weights is None
        else:
            torch.testing.assert_close(hypothesis.weights, weights[0], atol=1e-5, rtol=1e-4)
            assert len(hypothesis.weights) == len(words) + finished


def test_the_batch_of_the_test_above_holds_finished_and_unfinished_sentences():
    hypotheses = greedy(model(), *sources(), max_len=7)
    assert {hypothesis.finished for hypothesis in hypotheses} == {True, False}
    assert len({len(hypothesis.tokens) for hypothesis in hypotheses}) > 2


def test_a_model_that_always_ends_writes_nothing():
    translator = model()
    with torch.no_grad():
        translator.decoder.output.weight.zero_()
        translator.decoder.output.bias.zero_()[EOS] = math.log(12)  # p(end) = 12 / (12 + 12)
    for hypothesis in greedy(translator, *sources(), max_len=3):
        assert hypothesis.tokens == []
        assert hypothesis.finished
        assert hypothesis.log_prob == pytest.approx(math.log(0.5), abs=1e-6)


def test_a_model_that_never_ends_stops_at_the_limit():
    translator = model()
    with torch.no_grad():
        translator.decoder.output.bias[EOS] = -1e9
    for hypothesis in greedy(translator, *sources(), max_len=5):
        assert len(hypothesis.tokens) == 5
        assert not hypothesis.finished
        assert len(hypothesis.weights) == 5


def test_search_leaves_no_gradient_and_a_useless_limit_is_named():
    hypothesis = greedy(model(), *sources(), max_len=2)[0]
    assert not hypothesis.weights.requires_grad
    with pytest.raises(ValueError, match="max_len must be at least 1, got 0"):
        greedy(model(), *sources(), max_len=0)
