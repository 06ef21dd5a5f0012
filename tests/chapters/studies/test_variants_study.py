"""The study of the variants: what it counts, by hand, and results that grow one training at a time."""

import json
from dataclasses import replace

import pytest
import torch

from studies import variants_study
from studies.variants_study import LONG, NAMES, RESULTS, TIMED, VARIANTS, Study, run_study
from utils.corpus.grammar import Triple
from utils.corpus.vocabulary import UNK

NONE = frozenset()
TINY = Study(num_sentences=120, num_test=7, long_words=(13, 16), width=10, steps=2, seconds=0.01, seeds=(0,))


def sentence(fr: str, en: str = "a cat") -> Triple:
    return Triple(tuple(en.split()), tuple(fr.split()), (), NONE, NONE, NONE, "")


def test_missing_and_repeated_nouns_are_counted_by_hand():
    references = [sentence("le chat voit la fleur ."), sentence("la fleur et le chat .")]
    written = [["le", "chat", "voit", "le", "chat", "."], ["la", "fleur", "et", "le", "chat", "."]]
    errors = variants_study.count_errors(references, written)
    # Of four nouns one is missing and one comes twice; no three words in a row come again.
    assert errors == {"missing": 0.25, "repeated": 0.25, "again": 0.0}
    again = variants_study.count_errors(references[:1], [["a", "b", "c", "a", "b", "c"]])
    assert again["again"] == 0.25


def test_new_names_replace_a_person_in_both_languages():
    t = sentence("Marie voit Paul et Marie dort", "Mary sees Paul and Mary sleeps")
    [(en, fr)] = variants_study.with_new_names([t], ["Zora", "Bodi", "Kel", "Tam"], share=1.0, seed=0)
    assert en[0] == en[4] == fr[0] == fr[4]
    assert en[2] == fr[2] != en[0]
    assert {en[0], en[2]} < {"Zora", "Bodi", "Kel", "Tam"}
    names = variants_study.invented_names(400, seed=0)
    assert len(set(names)) == 400
    en, fr = TINY.vocabularies
    assert en.encode([names]) == fr.encode([names]) == [[UNK] * 400]


def test_names_are_scored_by_hand():
    tested = [(["Zora", "sees", "Kel"], ["Zora", "voit", "Kel"]), (["Kel"], ["Kel"])]
    written = [["Kel", "voit", "Zora"], ["Zora"]]  # the order does not count, the third name is wrong
    score = variants_study.score_names(written, tested, ["Zora", "Kel"])
    assert score["names"] == 3
    assert score["right"] == pytest.approx(2 / 3, abs=1e-4)


def test_results_grow_one_training_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(
        variants_study, "VARIANTS", {name: VARIANTS[name] for name in ("dot", "general, local")}
    )
    monkeypatch.setattr(variants_study, "TIMED", ("dot",))
    monkeypatch.setattr(variants_study, "LONG", {"coverage": LONG["coverage"]})
    some = {name: NAMES[name] for name in ("general, pointer", "additive, before, unknown")}
    monkeypatch.setattr(variants_study, "NAMES", some)
    out = tmp_path / "results.json"
    assert run_study(TINY, out, at_most=1, say=lambda *_: None) == 5
    first = json.loads(out.read_text("utf-8"))
    assert run_study(TINY, out, say=lambda *_: None) == 0
    results = json.loads(out.read_text("utf-8"))
    assert results["trainings"][0] == first["trainings"][0]
    made = [(r["part"], r["name"]) for r in results["trainings"]]
    assert made == [
        ("steps", "dot"),
        ("steps", "general, local"),
        ("names", "general, pointer"),
        ("names", "additive, before, unknown"),
        ("seconds", "dot"),
        ("long", "coverage"),
    ]
    assert torch.tensor(first["trainings"][0]["weights"]).shape == (9, 8)
    with pytest.raises(ValueError, match="other settings"):
        run_study(replace(TINY, steps=3), out)


def test_the_stored_results_are_whole():
    results = json.loads(RESULTS.read_text("utf-8"))
    made = {(r["part"], r["name"], r["seed"]) for r in results["trainings"]}
    parts = {"steps": VARIANTS, "long": LONG, "names": NAMES, "seconds": TIMED}
    assert made == {
        (part, name, seed) for part, names in parts.items() for name in names for seed in (0, 1, 2)
    }
    settings = json.loads(json.dumps(variants_study.asdict(Study())))
    assert results["study"] == settings | {"torch": results["study"]["torch"]}
