"""The study of one vector: what the decoder gets, and the stored results."""

import json
from itertools import pairwise

import pytest
import torch

from studies.one_vector_study import GROWING, KINDS, RESULTS, OneVectorSettings, translator

STORED = json.loads(RESULTS.read_text("utf-8"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_decoder_gets_as_many_numbers_as_the_kind_says(kind):
    model = translator(kind, 7, 11)
    outputs, state = model.encoder(torch.tensor([[4, 5, 6], [5, 4, 0]]), torch.tensor([3, 2]))
    memory, first = model.decoder.start(outputs, state, torch.tensor([3, 2]))
    assert memory.values.shape == (2, 1, int(kind))
    torch.testing.assert_close(memory.values, state[0].flatten(1)[:, None])
    assert first.shape == (1, 2, 128)


def test_only_the_narrow_vector_is_squeezed():
    narrow, usual, wide = (translator(kind, 7, 11).encoder for kind in KINDS)
    assert narrow.gru.hidden_size == usual.gru.hidden_size == wide.gru.hidden_size / 2
    assert [hasattr(each, "squeeze") for each in (narrow, usual, wide)] == [True, False, False]


def test_the_stored_results_are_whole():
    settings, parts = OneVectorSettings(), STORED["parts"]
    assert list(parts) == [*KINDS, "growing"]
    assert {name: STORED[name] for name in settings._asdict()} == json.loads(json.dumps(settings._asdict()))
    assert len(parts["growing"]["written"]) == len(GROWING)
    for kind in KINDS:
        part = parts[kind]
        assert sum(part["num_by_length"]) == settings.num_test
        assert [run["seed"] for run in part["runs"]] == list(settings.seeds)
        assert all(len(run["right_by_length"]) == len(settings.edges) for run in part["runs"])
        scores = {trial["lr"]: trial["right"] for trial in part["validation"]}
        assert part["lr"] == max(scores, key=scores.get)
        assert min(scores) < part["lr"] < max(scores)
        sizes = translator(kind, 328, 447).parameters()  # of the vocabularies
        assert part["parameters"] == sum(size.numel() for size in sizes)


def test_the_sentence_grows():
    lengths = [len(english.split()) for english, _ in GROWING]
    assert lengths == sorted(set(lengths))
    for (before, _), (after, _) in pairwise(GROWING):
        following = iter(after.split())
        assert all(word in following for word in before.split())  # in the same order
