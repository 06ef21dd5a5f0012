"""Translating with a trained run."""

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from tiny import trained_run

from utils.corpus.vocabulary import EOS, Vocabulary
from utils.translator.options import Search
from utils.translator.using.translating import n_best, translate_sentences

pytestmark = pytest.mark.trains


def test_translations_come_in_order_whatever_the_batch():
    run = trained_run()
    sentences = ["I see two dogs.", "", "We have six books.", " \u200b ", "They want three keys.", "dogs"]
    together = translate_sentences(run, sentences)
    assert [translation.text for translation in together] == [
        translate_sentences(run, [sentence])[0].text for sentence in sentences
    ]
    assert [t.text for t in translate_sentences(run, sentences, batch_size=2)] == [t.text for t in together]
    assert translate_sentences(run, []) == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("utils.translator.using.translating.MAX_WEIGHTS", 1)  # one sentence per batch
        assert [t.text for t in translate_sentences(run, sentences)] == [t.text for t in together]


@pytest.mark.parametrize("batch_size", [0, -1])
def test_a_batch_has_a_sentence(batch_size):
    with pytest.raises(ValueError, match=f"batch_size must be at least 1, got {batch_size}"):
        translate_sentences(trained_run(), ["a b"], batch_size=batch_size)


def test_the_length_limit_is_independent_of_batches():
    run = trained_run()
    model = deepcopy(run.model)
    with torch.no_grad():
        model.decoder.output.bias[EOS] = -1e9  # no translation ends by itself
    endless = replace(run, model=model)
    for beam in (1, 2):
        [alone] = translate_sentences(endless, ["dogs"], Search(beam=beam))
        together, _ = translate_sentences(
            endless, ["dogs", "They want three keys and two dogs and six books."], Search(beam=beam)
        )
        assert not alone.finished
        assert len(together.tgt_tokens) == len(alone.tgt_tokens) >= 2 * len(alone.src_tokens) + 10


def test_a_vocabulary_of_words_reads_text():
    words = Vocabulary.words([["I", "don't", "see", "Tom", "."]])
    run = replace(trained_run(), src_vocabulary=words)
    [translation] = translate_sentences(run, [" I don’t see\u00a0Tom ."])
    assert translation.src_tokens == ["I", "don't", "see", "Tom", "."]


def test_n_best_translations_differ_in_order():
    run = trained_run()
    sentences = ["They want three keys.", "", "I see two dogs."]
    by_sentence = n_best(run, sentences, Search(beam=5))
    assert [len(translations) for translations in by_sentence] == [5, 1, 5]
    assert [best.text for best, *_ in by_sentence] == [
        best.text for best in translate_sentences(run, sentences, Search(beam=5))
    ]
    for translations in by_sentence:
        assert len({tuple(t.tgt_tokens) for t in translations}) == len(translations)
        assert [t.score for t in translations] == sorted((t.score for t in translations), reverse=True)
        assert all(
            t.weights is None or t.weights.shape == (len(t.tgt_tokens), len(t.src_tokens))
            for t in translations
        )
    without = n_best(run, sentences, Search(beam=5), keep_weights=False)
    assert [[t._replace(weights=None) for t in translations] for translations in by_sentence] == without
    with pytest.raises(ValueError, match="beam must be from 1 to 100, got 0"):
        translate_sentences(run, sentences, Search(beam=0))
