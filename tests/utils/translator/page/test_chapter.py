"""The page of a translator for a chapter: what it offers, and what it refuses."""

import pytest
from page_engine import random_model
from tiny import TRANSFORMER, model, trained_run

from utils.corpus.vocabulary import Vocabulary
from utils.translator.page.chapter import live_translator

WORDS = Vocabulary.words([["we", "see", "a", "cat"], ["nous", "voyons", "un", "chat", "."]])
OPTIONS = {"title": "A translator", "examples": [["we", "see"]]}


def test_what_the_page_cannot_run_is_refused():
    good = random_model(len(WORDS))
    frame = live_translator(good, WORDS, WORDS, **OPTIONS)._repr_html_()
    assert 'title="A translator"' in frame
    with pytest.raises(ValueError, match="runs a BahdanauDecoder, got a TransformerDecoder"):
        live_translator(model(**TRANSFORMER), WORDS, WORDS, **OPTIONS)
    with pytest.raises(ValueError, match="must be of words, got subwords"):
        live_translator(good, WORDS, trained_run().tgt_vocabulary, **OPTIONS)
    with pytest.raises(ValueError, match="examples must hold at least one sentence"):
        live_translator(good, WORDS, WORDS, **OPTIONS | {"examples": []})
