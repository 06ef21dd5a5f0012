"""For the studies of real sentences: files that hold sentences of the grammar, and sizes for them."""

import pytest

from studies.links_study import FRENCH, HANSARDS, HANSARDS_LINKS
from studies.real_sentences import CHINESE
from utils.corpus.grammar import join_words, triples
from utils.translator.using.gold_links import format_links


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A data folder whose files hold sentences of the grammar, some with two translations."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("tatoeba", "hansards"):
        (folder / name).mkdir()
    drawn = triples(311, max_words=11)
    for path, lang in ((CHINESE, "zh"), (FRENCH, "fr")):
        rows = [f"{join_words(t.en, 'en')}\t{join_words(t.words(lang), lang)}\tCC-BY" for t in drawn]
        rows += [
            f"Well, {join_words(t.en, 'en')}\t{join_words(t.words(lang), lang)}\tCC-BY" for t in drawn[::3]
        ]
        (folder / path).write_text("\n".join(rows) + "\n", "utf-8")
    linked = triples(13, split="test", max_words=19)
    lines = [f"{' '.join(t.en)} ||| {' '.join(t.fr)}" for t in linked]
    (folder / HANSARDS).write_text("\n".join(lines) + "\n", "utf-8")
    gold = [format_links((i + 1, j + 1) for i, j in t.en_fr) for t in linked]
    (folder / HANSARDS_LINKS).write_text("\n".join(gold) + "\n", "utf-8")
    return folder


@pytest.fixture
def tiny_study():
    return {"epochs": 1, "width": 11, "vocabulary_size": 900, "num_test": 23, "num_valid": 7}
