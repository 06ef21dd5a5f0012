"""Translating with a trained run."""

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from tiny import trained_run

from utils.corpus.vocabulary import EOS, Vocabulary
from utils.search import beam_search
from utils.translator.options import Search
from utils.translator.using.translating import translate_lines, translate_sentences

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


def test_the_translation_is_the_best_hypothesis_with_its_weights():
    run = trained_run()
    sentences = ["They want three keys.", "", "I see two dogs."]
    translations = translate_sentences(run, sentences, Search(beam=5))
    for text, translation in zip(sentences, translations, strict=True):
        if not text:
            assert translation == ("", [], [], None, True, 0)
            continue
        ids = run.src_vocabulary.encode([text])
        best, *_ = beam_search(run.model, torch.tensor(ids), torch.tensor([len(ids[0])]), beam=5, max_len=30)[
            0
        ]
        assert translation.text == run.tgt_vocabulary.decode(best.tokens)
        assert translation.score == pytest.approx(best.score())
        torch.testing.assert_close(translation.weights, best.weights)
        assert translation.weights.shape == (len(translation.tgt_tokens), len(translation.src_tokens))
    without = [translation._replace(weights=None) for translation in translations]
    assert list(translate_lines(run, iter(sentences), Search(beam=5))) == without
