"""Measuring a trained run."""

import json

import pytest
from tiny import trained_run

from utils.metrics import bleu, chrf
from utils.translator.using.evaluation import RESAMPLES, evaluate_run
from utils.translator.using.translating import Translation, translate_sentences

pytestmark = pytest.mark.trains


def test_an_evaluation_is_computed_and_stored(tmp_path):
    run = trained_run()
    result = evaluate_run(run)
    result.save(tmp_path)
    texts = [
        translation.text for translation in translate_sentences(run, [example.source for example in run.test])
    ]
    references = [list(example.references) for example in run.test]
    assert result.num_sentences == 7
    assert result.bleu == bleu(texts, references, lang="fr", resamples=RESAMPLES)
    assert result.chrf == chrf(texts, references, resamples=RESAMPLES)
    assert result.bleu.value > 50
    assert sum(bucket.num_sentences for bucket in result.by_length) == 7
    assert [text for _, text, _ in result.examples] == texts
    stored = json.loads((tmp_path / "evaluation.json").read_text())
    assert stored["bleu"]["value"] == result.bleu.value
    assert [entry["translation"] for entry in stored["translations"]] == texts
    assert [entry["references"] for entry in stored["translations"]] == references
    assert evaluate_run(run) == result


def test_empty_and_cut_off_translations_are_counted(monkeypatch):
    run = trained_run()

    def translations(_run, sentences, _search):
        first = [Translation("", [], [], None, True), Translation("a b", ["x"], ["a", "b"], None, False)]
        return first + [Translation("c", ["x"], ["c"], None, True)] * (len(sentences) - 2)

    monkeypatch.setattr("utils.translator.using.evaluation.translate_sentences", translations)
    result = evaluate_run(run)
    assert (result.empty, result.cut_off) == (1 / 7, 1 / 7)
