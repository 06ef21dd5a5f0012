"""The attention study: its groups by length, and its stored results."""

import json

import pytest

from studies.attention_study import KINDS, LONGER, MAPS, RESULTS, AttentionSettings, by_length
from utils.corpus.grammar import Triple

pytestmark = pytest.mark.trains


def sentence(num_words: int) -> Triple:
    return Triple(["a"] * num_words, ["b"], [], frozenset(), frozenset(), frozenset(), "")


def test_sentences_are_counted_by_their_length():
    sentences = [sentence(length) for length in (3, 5, 6, 8, 8)]
    assert by_length([True, True, False, True, True], sentences, (5, 7, 8)) == [2, 0, 2]


def test_the_stored_results_are_whole():
    stored, settings = json.loads(RESULTS.read_text("utf-8")), AttentionSettings()
    parts = stored["parts"]
    assert list(parts) == [*KINDS, LONGER, MAPS]
    assert {name: stored[name] for name in settings._asdict()} == json.loads(json.dumps(settings._asdict()))
    for name in (*KINDS, LONGER):
        assert [run["seed"] for run in parts[name]["runs"]] == list(settings.seeds)
        assert sum(parts[name]["num_by_length"]) == settings.num_test
        assert all(run["right"] == sum(run["right_by_length"]) for run in parts[name]["runs"])
    for name in KINDS:
        scores = {trial["lr"]: trial["right"] for trial in parts[name]["validation"]}
        assert parts[name]["lr"] == max(scores, key=scores.get)
        assert min(scores) < parts[name]["lr"] < max(scores)
    maps = parts[MAPS]
    assert len(maps["weights"]) == len(settings.map_steps)
    for weights in maps["weights"]:
        assert [len(row) for row in weights] == [len(maps["english"])] * len(maps["french"])
        assert all(abs(sum(row) - 1) < 0.01 for row in weights)
