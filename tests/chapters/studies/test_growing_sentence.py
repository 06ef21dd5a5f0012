"""The stored translations of the growing sentence: they are of today's sentence, and their right words are counted."""

import json

from studies.growing_sentence import FIRST, RESULTS, lengths, right_places

STUDY = json.loads(RESULTS.read_text("utf-8"))


def test_right_words_by_hand():
    assert right_places(["la", "petite", "fleur", "la"], ["la", "fleur"]) == [0, 2]
    assert right_places(["fleur", "la", "petite"], ["la", "petite", "fleur"]) == [1, 2]
    assert right_places([], ["la"]) == right_places(["la"], []) == []


def test_the_stored_translations_are_of_this_sentence():
    assert [(each["english"], each["french"]) for each in STUDY["translations"]] == lengths()
    for each in STUDY["translations"]:
        for name in ("attention", "one vector"):
            assert each[name]["right"] == right_places(each[name]["words"], each["french"])
        weights = each["attention"]["weights"]
        assert [len(row) for row in weights] == [FIRST[0] + 1] * FIRST[1]
        assert all(abs(sum(row) - 1) < 1e-3 for row in weights)
        assert "weights" not in each["one vector"]
