"""The study of the variants: what it counts, by hand, and results that grow one training at a time."""

import json

import pytest
import torch

from studies import variants_study
from studies.variants_study import INTO_CHINESE, LONGER, NAMES, RESULTS, VARIANTS, VariantsSettings
from utils.corpus.grammar import Triple
from utils.corpus.vocabulary import UNK, Vocabulary

NONE = frozenset()
TINY = VariantsSettings(num_sentences=120, num_test=7, width=10, steps=2, seeds=(0,))


def sentence(fr: str, en: str = "a cat") -> Triple:
    return Triple(tuple(en.split()), tuple(fr.split()), (), NONE, NONE, NONE, "")


def test_new_names_replace_a_person_in_both_languages():
    t = sentence("Marie voit Paul et Marie dort", "Mary sees Paul and Mary sleeps")
    [(en, fr)] = variants_study.with_new_names([t], ["Zora", "Bodi", "Kel", "Tam"], share=1.0, seed=0)
    assert en[0] == en[4] == fr[0] == fr[4]
    assert en[2] == fr[2] != en[0]
    assert {en[0], en[2]} < {"Zora", "Bodi", "Kel", "Tam"}
    names = variants_study.invented_names(400, seed=0)
    assert len(set(names)) == 400
    en, fr = TINY.vocabularies["en"], TINY.vocabularies["fr"]
    assert en.encode([names]) == fr.encode([names]) == [[UNK] * 400]


#: The attention of a translation of 我在赫尔辛基买书; the rows are I, bought, books, in, Helsinki, and the end.
WEIGHTS = torch.tensor(
    [
        [0.8, 0.1, 0.0, 0.1, 0.0],
        [0.1, 0.0, 0.1, 0.7, 0.1],
        [0.0, 0.0, 0.1, 0.2, 0.7],
        [0.0, 0.9, 0.1, 0.0, 0.0],
        [0.0, 0.4, 0.6, 0.0, 0.0],
        [0.2, 0.2, 0.2, 0.2, 0.2],
    ]
)


def test_unknown_words_are_copied():
    src, tokens = ["我", "在", "赫尔辛基", "买", "书"], ["I", "<unk>", "books", "in", "<unk>"]
    for weights in (WEIGHTS, WEIGHTS[:5]):  # with a row for the end of the sentence, and without one
        copied = variants_study.replace_unknown(tokens, src, weights)
        assert copied == ["I", "买", "books", "in", "赫尔辛基"]


def test_a_pointer_leads_to_the_first_of_equal_words():
    src, vocabulary = ["Zoé", "et", "Zoé"], Vocabulary.words([["and"]])
    ids = variants_study.point_at_source([UNK, 4, UNK], ["Zoé", "and", "Max"], src, vocab_size=5)
    assert ids == [5, 4, UNK]
    assert variants_study.read_pointers([5, 7, 4], vocabulary, src) == ["Zoé", "Zoé", "and"]


def test_where_the_largest_weight_is_counted_by_hand():
    weights = [torch.eye(4)[[1, 1, 3, 0]], torch.eye(3)[[2]]]  # the largest weights are at 1, 1, 3, 0 and 2
    gold = [{(0, 0), (1, 1), (2, 1), (1, 2)}, {(0, 0)}]
    found = variants_study.offsets(weights, gold)
    assert found == {"-2": 0.0, "-1": 0.0, "0": 0.25, "1": 0.25, "2": 0.5}


def test_names_are_scored_by_hand():
    tested = [(["Zora", "sees", "Kel"], ["Zora", "voit", "Kel"]), (["Kel"], ["Kel"])]
    written = [["Kel", "voit", "Zora"], ["Zora"]]  # the order does not count, the third name is wrong
    score = variants_study.score_names(written, tested, ["Zora", "Kel"])
    assert score["names"] == 3
    assert score["right"] == pytest.approx(2 / 3, abs=1e-4)


def test_the_stored_results_are_whole():
    results = json.loads(RESULTS.read_text("utf-8"))
    made = {(r["part"], r["name"], r["seed"]) for r in results["trainings"]}
    parts = {"steps": VARIANTS, "names": NAMES, "chinese": INTO_CHINESE, "long": LONGER}
    assert made == {
        (part, name, seed) for part, names in parts.items() for name in names for seed in (0, 1, 2)
    }
    settings = json.loads(json.dumps(variants_study.asdict(VariantsSettings())))
    assert results["study"] == settings | {"torch": results["study"]["torch"]}
