"""The study of the variants: what it counts, by hand, and results that grow one training at a time."""

import json
from dataclasses import replace

import pytest
import torch

from studies import variants_study
from studies.variants_study import INTO_CHINESE, NAMES, RESULTS, VARIANTS, Study, run_study
from utils.corpus.grammar import Triple
from utils.corpus.vocabulary import UNK

NONE = frozenset()
TINY = Study(num_sentences=120, num_test=7, width=10, steps=2, seeds=(0,))


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


@pytest.mark.slow
@pytest.mark.trains
def test_results_grow_one_training_at_a_time(tmp_path, monkeypatch):
    names = ("dot", "general, sparse", "general, sparse late")
    monkeypatch.setattr(variants_study, "VARIANTS", {name: VARIANTS[name] for name in names})
    monkeypatch.setattr(variants_study, "INTO_CHINESE", ("dot",))
    some = {name: NAMES[name] for name in ("general, pointer", "additive, before, unknown")}
    monkeypatch.setattr(variants_study, "NAMES", some)
    out = tmp_path / "results.json"
    assert run_study(TINY, out, at_most=1, say=lambda *_: None) == 5
    first = json.loads(out.read_text("utf-8"))
    assert run_study(TINY, out, say=lambda *_: None) == 0
    results = json.loads(out.read_text("utf-8"))
    assert results["trainings"][0] == first["trainings"][0]
    assert [(r["part"], r["name"]) for r in results["trainings"]] == [
        ("steps", "dot"),
        ("steps", "general, sparse"),
        ("steps", "general, sparse late"),
        ("names", "general, pointer"),
        ("names", "additive, before, unknown"),
        ("chinese", "dot"),
    ]
    assert torch.tensor(first["trainings"][0]["weights"]).shape == (9, 8)
    made = {(r["part"], r["name"]): r for r in results["trainings"]}
    for name, num_rates in {"dot": 3, "general, sparse": 3, "general, sparse late": 1}.items():
        assert len(made["steps", name]["valid"]) == num_rates
    best = made["steps", "dot"]["valid"]
    assert made["steps", "dot"]["lr"] == TINY.lrs[best.index(min(best))] == made["chinese", "dot"]["lr"]
    with pytest.raises(ValueError, match="other settings"):
        run_study(replace(TINY, steps=5), out)


def test_the_stored_results_are_whole():
    results = json.loads(RESULTS.read_text("utf-8"))
    made = {(r["part"], r["name"], r["seed"]) for r in results["trainings"]}
    parts = {"steps": VARIANTS, "names": NAMES, "chinese": INTO_CHINESE}
    assert made == {
        (part, name, seed) for part, names in parts.items() for name in names for seed in (0, 1, 2)
    }
    settings = json.loads(json.dumps(variants_study.asdict(Study())))
    assert results["study"] == settings | {"torch": results["study"]["torch"]}
