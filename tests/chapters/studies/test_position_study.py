"""The study of positions, with a small training; and its stored results."""

import json

import pytest
import torch

from studies.position_study import (
    KEY_HEADS,
    KINDS,
    RESULTS,
    PositionSettings,
    logits_of,
    recall_texts,
    run_study,
    scaled_rates,
    spread_mask,
)
from utils.fast_decoding import GPT, POSITIONS
from utils.long_sequences import window_mask

pytestmark = pytest.mark.trains

SMALL = PositionSettings(
    n=16, steps=(2, 2), further_steps=1, batch_size=(3, 4), seeds=(5,), width=32, sentences=61, marks=2
)


@pytest.mark.parametrize("kind", POSITIONS)
def test_without_a_change_the_logits_are_those_of_the_model(kind):
    torch.manual_seed(0)
    model = GPT(11, 32, num_heads=8, num_layers=2, positions=kind)
    ids = torch.randint(11, (3, 13))
    for changes in ({}, {"mask": window_mask(13, window=13)}, {"clip": 12}):
        torch.testing.assert_close(logits_of(model, ids, **changes), model(ids)[0], atol=1e-4, rtol=1e-4)
    window = window_mask(13, window=5)
    other = ids.clone()
    other[:, 0] = (ids[:, 0] + 1) % 11
    near, changed = (logits_of(model, some, mask=window) for some in (ids, other))
    torch.testing.assert_close(near[:, 9:], changed[:, 9:])


def test_words_spread_over_the_text_are_as_many_as_a_window():
    mask = spread_mask(31, 7)
    assert mask.sum(dim=1).tolist() == [min(row + 1, 7) for row in range(31)]
    assert not mask.triu(1).any()
    assert (mask | ~window_mask(31, window=3)).all()
    assert mask[-1, :20].any()


@pytest.mark.parametrize("num_key_heads", KEY_HEADS)
def test_heads_that_share_keys_give_the_logits_of_the_model(num_key_heads):
    torch.manual_seed(0)
    model = GPT(11, 32, num_heads=8, num_layers=2, num_key_heads=num_key_heads)
    ids = torch.randint(11, (3, 13))
    torch.testing.assert_close(logits_of(model, ids), model(ids)[0], atol=1e-4, rtol=1e-4)


def test_the_letter_after_both_marks_is_the_same():
    study = PositionSettings()
    ids, second, distance = recall_texts(study, 17, 32, torch.Generator().manual_seed(0))
    first = second - distance
    assert (distance >= 2).all()
    assert torch.equal(ids.gather(1, first), ids.gather(1, second))
    assert torch.equal(ids.gather(1, first + 1), ids.gather(1, second + 1))
    assert ((ids >= study.letters).sum(dim=1) == 2 * study.marks).all()


def test_scaled_rates():
    rates = scaled_rates(8, 32)
    torch.testing.assert_close(rates["as trained"] / rates["interpolated"], torch.full((4,), 4.0))
    base = rates["as trained"] / rates["larger base"]
    assert base[0] == 1
    assert base[3].item() == pytest.approx(4)
    torch.testing.assert_close(rates["as trained"] / rates["slow pairs"], torch.tensor([1.0, 4, 4, 4]))


@pytest.mark.slow
def test_it_is_measured_once(tmp_path):
    out = tmp_path / "study.json"
    parts = ["recall, rotary", "next, none", "keys of 2 heads", "keys of 1 heads"]
    run_study(SMALL, out, parts)
    stored = json.loads(out.read_text("utf-8"))["parts"]
    assert list(stored) == parts
    assert len(stored["recall, rotary"]["further, interpolated"]) == 1
    few, one = (stored[f"keys of {number} heads"] for number in (2, 1))
    assert len(few["losses"]) == 1
    assert abs(few["parameters"] - one["parameters"]) < 100


def test_the_stored_results_are_those_of_these_settings():
    stored = json.loads(RESULTS.read_text("utf-8"))
    assert stored["settings"] == json.loads(json.dumps(vars(PositionSettings())))
    positions = {f"{task}, {kind}" for task, kinds in KINDS.items() for kind in kinds}
    assert set(stored["parts"]) == positions | {f"keys of {number} heads" for number in KEY_HEADS}
