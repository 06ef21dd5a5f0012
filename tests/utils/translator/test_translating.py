"""Translating with a trained run, and measuring it."""

import json
from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from tiny import trained_run

from utils.corpus.vocabulary import EOS, Vocabulary
from utils.metrics import bleu, chrf
from utils.translator.translating import RESAMPLES, Translation, evaluate_run, n_best, translate

pytestmark = pytest.mark.trains


def test_translations_come_in_order_whatever_the_batch():
    run = trained_run()
    sentences = ["I see two dogs.", "", "We have six books.", " \u200b ", "They want three keys.", "dogs"]
    together = translate(run, sentences)
    assert [translation.text for translation in together] == [
        translate(run, [sentence])[0].text for sentence in sentences
    ]
    assert [t.text for t in translate(run, sentences, batch_size=2)] == [t.text for t in together]
    assert translate(run, []) == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("utils.translator.translating.MAX_WEIGHTS", 1)  # one sentence per batch
        assert [t.text for t in translate(run, sentences)] == [t.text for t in together]


def test_the_length_limit_is_independent_of_batches():
    run = trained_run()
    model = deepcopy(run.model)
    with torch.no_grad():
        model.decoder.output.bias[EOS] = -1e9  # no translation ends by itself
    endless = replace(run, model=model)
    for beam in (1, 2):
        [alone] = translate(endless, ["dogs"], beam=beam)
        together, _ = translate(
            endless, ["dogs", "They want three keys and two dogs and six books."], beam=beam
        )
        assert not alone.finished
        assert len(together.tgt_tokens) == len(alone.tgt_tokens) >= 2 * len(alone.src_tokens) + 10


def test_a_vocabulary_of_words_reads_text():
    words = Vocabulary.words([["I", "don't", "see", "Tom", "."]])
    run = replace(trained_run(), src_vocabulary=words)
    [translation] = translate(run, [" I don’t see\u00a0Tom ."])
    assert translation.src_tokens == ["I", "don't", "see", "Tom", "."]


def test_n_best_translations_differ_in_order():
    run = trained_run()
    sentences = ["They want three keys.", "", "I see two dogs."]
    by_sentence = n_best(run, sentences, beam=5)
    assert [len(translations) for translations in by_sentence] == [5, 1, 5]
    assert [best.text for best, *_ in by_sentence] == [
        best.text for best in translate(run, sentences, beam=5)
    ]
    for translations in by_sentence:
        assert len({tuple(t.tgt_tokens) for t in translations}) == len(translations)
        assert [t.score for t in translations] == sorted((t.score for t in translations), reverse=True)
        assert all(
            t.weights is None or t.weights.shape == (len(t.tgt_tokens), len(t.src_tokens))
            for t in translations
        )
    without = n_best(run, sentences, beam=5, keep_weights=False)
    assert [[t._replace(weights=None) for t in translations] for translations in by_sentence] == without
    with pytest.raises(ValueError, match="beam must be from 1 to 100, got 0"):
        translate(run, sentences, beam=0)


def test_a_translation_tells_its_tokens_and_weights():
    run = trained_run()
    [translation] = translate(run, ["They want three keys."])
    assert "".join(translation.src_tokens) == "▁They▁want▁three▁keys."
    assert translation.finished
    assert "".join(translation.tgt_tokens) == "▁" + translation.text.replace(" ", "▁") + "<eos>"
    assert translation.weights.shape == (len(translation.tgt_tokens), len(translation.src_tokens))
    torch.testing.assert_close(translation.weights.sum(dim=1), torch.ones(len(translation.tgt_tokens)))


def test_an_evaluation_is_computed_and_stored(tmp_path):
    run = trained_run()
    result = evaluate_run(run)
    result.save(tmp_path)
    texts = [translation.text for translation in translate(run, [example.source for example in run.test])]
    references = [list(example.references) for example in run.test]
    assert result.num_sentences == 7
    assert result.bleu == bleu(texts, references, lang="fr", resamples=RESAMPLES)
    assert result.chrf == chrf(texts, references, resamples=RESAMPLES)
    assert result.bleu.value > 50
    assert sum(bucket.num_sentences for bucket in result.by_length) == 7
    assert [text for _, text, _ in result.examples] == texts
    stored = json.loads((tmp_path / "evaluation.json").read_text())
    assert stored == json.loads(result.to_json())
    assert stored["bleu"]["value"] == result.bleu.value
    assert stored["bleu"]["interval"] == list(result.bleu.interval)
    assert stored["chrf"]["value"] == result.chrf.value
    assert stored["num_sentences"] == 7
    assert [entry["translation"] for entry in stored["translations"]] == texts
    assert [entry["references"] for entry in stored["translations"]] == references
    assert evaluate_run(run) == result


def test_empty_and_cut_off_translations_are_counted(monkeypatch):
    run = trained_run()

    def translations(_run, sentences, **_):
        first = [Translation("", [], [], None, True), Translation("a b", ["x"], ["a", "b"], None, False)]
        return first + [Translation("c", ["x"], ["c"], None, True)] * (len(sentences) - 2)

    monkeypatch.setattr("utils.translator.translating.translate", translations)
    result = evaluate_run(run)
    assert (result.empty, result.cut_off) == (1 / 7, 1 / 7)
