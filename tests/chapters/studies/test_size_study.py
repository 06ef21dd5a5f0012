"""The size study, on files of sentences of the grammar; and the stored results."""

import json

import pytest

from studies.size_study import PLANS, RESULTS, STEPS, pieces

pytestmark = pytest.mark.trains


def test_no_merge_leaves_characters():
    vocabulary = pieces(["小猫喝水", "小猫"], merges=0)
    assert vocabulary.tokens(vocabulary.encode(["小猫"])[0]) == ["▁", "小", "猫"]
    assert vocabulary.decode(vocabulary.encode(["水猫"])[0]) == "水猫"


def test_the_stored_results_are_complete():
    parts = json.loads(RESULTS.read_text("utf-8"))["parts"]
    for source, plans in PLANS.items():
        stored = [parts[f"{source} {plan.pairs}"] for plan in plans]
        assert [(part["pairs"], part["epochs"]) for part in stored] == [plan[:2] for plan in plans]
        assert all(low < part["bleu"] < high for part in stored for low, high in [part["interval"]])
        scores = [part["bleu"] for part in stored]
        assert scores == sorted(scores)
    assert all(0 < parts["steps"][str(number)]["at"] <= number for number in STEPS)
