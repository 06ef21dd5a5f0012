"""The links study: error rates and their differences by hand, and the stored results."""

import json

import pytest

from studies.aligning import GoldLinks
from studies.links_study import ALIGNER, RESULTS, TEXTS, aer_of


def gold_of(*links):
    return GoldLinks(frozenset(links), frozenset(links))


def test_error_rates_by_hand():
    gold = [gold_of((0, 0), (1, 1)), gold_of((0, 1))]
    found = aer_of({"first": [{(0, 0)}, {(0, 1)}], "second": [{(0, 0), (1, 1)}, {(2, 1)}]}, gold)
    assert found["first"]["aer"] == pytest.approx(1 - 4 / 5, abs=1e-3)
    assert found["second"]["aer"] == pytest.approx(1 - 4 / 6, abs=1e-3)
    assert found["second"]["difference"]["aer"] == pytest.approx(2 / 6 - 1 / 5, abs=1e-3)
    # All draws of the first sentence alone, and all of the second: 1/3 and 0, 0 and 1.
    assert found["first"]["interval"] == [0, 0.333]
    assert found["second"]["interval"] == [0, 1]
    assert found["second"]["difference"]["interval"] == [-0.333, 1]


def test_a_difference_is_drawn_with_the_same_sentences_for_both():
    gold = [gold_of((0, 0)), gold_of((1, 1)), gold_of((0, 1)), gold_of((2, 2)), gold_of((3, 1))]
    links = [{(0, 0)}, {(0, 1)}, {(0, 1)}, {(0, 2)}, {(0, 1)}]  # right in two of five sentences
    found = aer_of({"first": links, "second": links}, gold)
    assert found["first"]["interval"] == found["second"]["interval"]
    assert found["first"]["interval"][1] - found["first"]["interval"][0] > 0.5
    assert found["second"]["difference"] == {"aer": 0, "interval": [0, 0]}


def test_the_stored_results_are_whole():
    parts = json.loads(RESULTS.read_text("utf-8"))["parts"]
    assert list(parts) == ["training", *TEXTS, ALIGNER]
    assert [parts[name]["num"] for name in TEXTS] == [1000, 1056, 447]
    assert "model 1" not in parts["tatoeba"]["aer"]
    of_aligner = parts[ALIGNER]["aer"]
    assert of_aligner["diagonal"] == parts["hansards"]["aer"]["diagonal"]
    assert of_aligner["aligner of 2021"]["aer"] == 0.041  # published as 4.1 %
