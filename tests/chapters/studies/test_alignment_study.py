"""The alignment study: counts by hand, a small training, and the stored results."""

import json

import pytest
import torch

from studies.alignment_study import (
    EDGES,
    ENGLISH,
    OURS,
    RESULTS,
    SETTINGS,
    STEPS,
    Hidden,
    by_distance,
    by_weight,
    hide_own_words,
    kind_of,
    look,
    measure,
)
from studies.explanation import ExplanationSettings, Grammar, grammar, read, translator, with_hidden
from utils.corpus.grammar import Triple
from utils.seq2seq import BahdanauDecoder

SMALL = ExplanationSettings(num_train=61, num_rare=5, num_test=17, epochs=1, width=7, seeds=(0, 1))


def test_kinds_of_words():
    words = [("Paul", 0), ("Paul", 3), ("dog", 1), ("sleeps", 2), ("red", 2), ("yesterday", 2)]
    kinds = ["first name", "name", "noun", "verb", "adjective", "other"]
    assert [kind_of(word, place) for word, place in words] == kinds


def test_steps_are_counted_by_kind_and_weight():
    steps = [
        Hidden("noun", 0.25, True, True, False),
        Hidden("noun", 0.26, True, False, True),
        Hidden("noun", 0.5, False, False, None),
        Hidden("name", 1.0, True, True, None),
    ]
    empty = [0] * 6
    assert by_weight(steps) == {
        "noun": [[1, 1, 1, 1, 1, 0], [2, 1, 0, 1, 0, 1], empty, empty],
        "name": [empty, empty, empty, [1, 1, 1, 0, 0, 0]],
    }


def test_right_links_are_counted_by_their_distance_from_the_diagonal():
    # Five words each, so the diagonal joins equal places; word 4 has two links, of which the nearer one counts.
    links = frozenset({(0, 0), (2, 1), (1, 2), (4, 3), (1, 4), (3, 4)})
    sentence = Triple(("a",) * 5, ("b",) * 5, ("c",) * 5, links, links, frozenset(), "")
    data = Grammar([], [sentence], None, None)
    found = frozenset({(0, 0), (2, 1), (3, 2), (4, 3), (1, 4)})
    assert by_distance([found], data) == [[1, 1], [4, 3], [0, 0], [0, 0]]
    far = sentence._replace(en_fr=frozenset({(4, 0), (0, 3), (2, 4)}))
    assert by_distance([frozenset({(4, 0), (1, 3), (2, 4)})], data._replace(test=[far])) == [
        [0, 0],
        [0, 0],
        [1, 1],
        [2, 1],
    ]


def test_the_own_word_is_hidden_and_the_control_is_not():
    data = grammar(SMALL)
    data = data._replace(test=data.test[:7])
    model = translator(SMALL, data, BahdanauDecoder, 0).eval()
    batch = data.batch(data.test)
    _, weights = read(model, batch)
    steps = iter(hide_own_words(model, data))
    for row, sentence in enumerate(data.test):
        for j, word in enumerate(sentence.fr):
            own = [i for i, k in sentence.en_fr if k == j]
            if len(own) != 1:
                continue
            hidden = torch.zeros(weights.shape, dtype=torch.bool)
            hidden[row, j, own[0]] = True
            best = with_hidden(model, batch, hidden)[row, j].argmax().item()
            step = next(steps)
            assert step.kind == kind_of(sentence.en[own[0]], j)
            assert step.weight == pytest.approx(weights[row, j, own[0]].item())
            assert step.after == (best == batch.tgt_out[row, j]), word
    assert next(steps, None) is None


def test_a_hidden_word_loses_its_weight_and_the_others_share_it():
    data = grammar(SMALL)
    model = translator(SMALL, data, BahdanauDecoder, 0).train()
    seen, without = (look(model, data, word) for word in ("", "small"))
    assert model.training
    assert len(without["written"]) == len(OURS["fr"])
    for before, after in zip(seen["weights"], without["weights"], strict=True):
        assert after[3] == 0 < before[3]
        assert after[0] == pytest.approx(before[0] / (1 - before[3]), abs=2e-4)


@pytest.mark.trains
def test_a_small_study_has_every_number():
    part = measure("zh", SMALL)
    assert part["num"] == 17
    assert part["trained on"] >= 61
    assert [run["seed"] for run in part["runs"]] == [0, 1]
    assert [each["step"] for each in part["maps"]] == [0]
    assert torch.tensor(part["maps"][0]["weights"]).shape == (11, 8)
    assert len(part["maps"][0]["written"]) == 11
    assert sum(right for _, right in part["runs"][0]["by distance"]) <= sum(
        number for number, _ in part["runs"][0]["by distance"]
    )


def test_the_stored_results_are_whole():
    stored = json.loads(RESULTS.read_text("utf-8"))
    assert stored["settings"] == json.loads(json.dumps(vars(SETTINGS)))
    assert list(stored["parts"]) == list(OURS)
    for part in stored["parts"].values():
        assert (part["num"], len(part["runs"])) == (500, 3)
        for run in part["runs"]:
            assert all(len(bands) == len(EDGES) for bands in run["hidden"].values())
    maps = stored["parts"]["zh"]["maps"]
    assert [each["step"] for each in maps] == list(STEPS)
    for each in maps:
        weights = torch.tensor(each["weights"])
        assert weights.shape == (len(OURS["zh"]), len(ENGLISH))
        assert (weights.sum(dim=1) - 1).abs().max() < 1e-3
    assert maps[-1]["written"] == OURS["zh"]
    without = stored["parts"]["fr"]["without"]
    assert list(without) == ["nothing", *ENGLISH]
    for word, seen in without.items():
        weights = torch.tensor(seen["weights"])
        assert weights.shape == (len(OURS["fr"]), len(ENGLISH))
        assert [place for place in range(8) if not weights[:, place].any()] == [
            place for place in range(8) if ENGLISH[place] == word
        ]
