"""The size study, on files of sentences of the grammar; and the stored results."""

import json

import pytest

from studies import size_study
from studies.size_study import MERGES, PAIRS_OF_MERGES, PLANS, RESULTS, STEPS, Plan, pieces, run_study
from utils.corpus.pairs import DATA_VARIABLE

pytestmark = pytest.mark.trains


def test_no_merge_leaves_characters():
    vocabulary = pieces(["小猫喝水", "小猫"], merges=0)
    assert vocabulary.tokens(vocabulary.encode(["小猫"])[0]) == ["▁", "小", "猫"]
    assert vocabulary.decode(vocabulary.encode(["水猫"])[0]) == "水猫"


@pytest.mark.slow
def test_it_measures_each_number_of_pairs_once(folder, tmp_path, monkeypatch):
    monkeypatch.setenv(DATA_VARIABLE, str(folder))
    monkeypatch.setattr(size_study, "NUM_TEST", 23)
    plans, out = {"zh": [Plan(67, 2, 0.1)], "fr": [Plan(131, 1, 0.0)]}, tmp_path / "sizes.json"
    smaller = {"merges": (5, 11), "pairs": 67, "steps": (2, 51)}
    run_study(plans, out, **smaller)
    parts = json.loads(out.read_text("utf-8"))["parts"]
    merges, steps = parts.pop("merges"), parts.pop("steps")
    assert [merges[name]["steps"] for name in ("5", "11")] == [4, 4]
    assert merges["11"]["gain"]["bleu"] == 0
    assert steps["2"]["at"] == 2
    assert [(name, part["pairs"], part["steps"]) for name, part in parts.items()] == [
        ("zh 67", 67, 4),
        ("fr 131", 131, 3),
    ]
    assert all(part["test"] >= 23 and 0 <= part["bleu"] <= part["chrf"] for part in parts.values())
    before = out.read_text("utf-8")
    run_study(plans, out, **smaller)
    assert out.read_text("utf-8") == before


def test_the_stored_results_are_complete():
    parts = json.loads(RESULTS.read_text("utf-8"))["parts"]
    for source, plans in PLANS.items():
        stored = [parts[f"{source} {plan.pairs}"] for plan in plans]
        assert [(part["pairs"], part["epochs"]) for part in stored] == [plan[:2] for plan in plans]
        assert all(low < part["bleu"] < high for part in stored for low, high in [part["interval"]])
        scores = [part["bleu"] for part in stored]
        assert scores == sorted(scores)
    assert [parts["merges"][str(number)]["pairs"] for number in MERGES] == [PAIRS_OF_MERGES] * len(MERGES)
    assert all(0 < parts["steps"][str(number)]["at"] <= number for number in STEPS)
