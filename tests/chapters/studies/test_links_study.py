"""The links study: the links of a later step by hand, the stored translator, and the stored results."""

import json

import torch

from studies.links_study import RESULTS, TEXTS, moved
from utils.translator.using.aligning import WordAlignment


def test_links_of_another_step_by_hand():
    weights = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1]])
    alignment = WordAlignment(["a", "b", "c"], ["x", "y", "z", "w"], weights)
    assert moved(alignment, 0) == {(0, 0), (1, 1), (2, 2), (0, 3)}
    assert moved(alignment, 1) == {(1, 0), (2, 1), (0, 2), (0, 3)}
    assert moved(alignment, -1) == {(0, 0), (0, 1), (1, 2), (2, 3)}
    assert moved(WordAlignment([], ["x"], None), 1) == frozenset()


def test_the_stored_results_are_whole():
    parts = json.loads(RESULTS.read_text("utf-8"))["parts"]
    assert list(parts) == ["training", *TEXTS]
    assert [parts[name]["num"] for name in TEXTS] == [1000, 1056, 447]
    assert "model 1" not in parts["tatoeba"]["aer"]
