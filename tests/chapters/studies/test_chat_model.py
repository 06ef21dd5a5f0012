"""The study of a chat model: its masks and texts, what is computed from a changed layer on, and what is stored."""

import json

import pytest
import torch

from studies.chat_model import (
    FILE,
    HEADS,
    RESULTS,
    TEXTS,
    ChatMeter,
    ChatSettings,
    Reader,
    copying_scores,
    measure_windows,
    repeated,
    window_with,
)
from utils.chat_model import ChatModel, read_chat_model
from utils.corpus.download import get_network, has_network


@pytest.fixture
def model():
    torch.manual_seed(0)
    sizes = {"num_heads": 3, "num_key_heads": 1, "num_layers": 5, "d_hidden": 11}
    return ChatModel(97, 12, **sizes).requires_grad_(False)


def test_random_pieces_come_twice():
    texts = repeated(3, 7, seed=1)
    assert texts.shape == (3, 14)
    assert torch.equal(texts[:, :7], texts[:, 7:])
    assert not torch.equal(texts, repeated(3, 7, seed=2))
    assert 300 <= texts.min() <= texts.max() < 49_152


def test_a_window_and_one_piece_more():
    expected = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 1, 1, 1, 0], [0, 1, 0, 1, 1]]
    assert window_with(5, 2, kept=1).int().tolist() == expected


@pytest.mark.parametrize("off", [[], [(0, 2)], [(3, 0), (3, 1), (4, 2)]])
def test_what_is_computed_again_is_what_the_model_computes(model, off):
    ids = torch.randint(97, (2, 13))
    reader = Reader(model, ids, first=5)
    logits, _ = model(ids, without=off)
    torch.testing.assert_close(reader.logits(off), logits[:, 5:-1])
    log_p = logits[:, 5:-1].log_softmax(dim=-1)
    loss = -log_p.gather(-1, ids[:, 6:, None]).squeeze(-1).mean(dim=1)
    torch.testing.assert_close(reader.loss(off), loss)
    best = logits[:, 5:-1].argmax(dim=-1)
    assert reader.right(off).tolist() == pytest.approx((best == ids[:, 6:]).double().mean(dim=1).tolist())


def test_a_copying_score_is_the_weight_after_the_earlier_piece(model):
    ids = torch.arange(5).repeat(2)[None]
    weights = model.read(ids).weights
    expected = sum(weights[2][0, 1, place, place - 4].item() for place in (5, 6, 7, 8)) / 4
    assert copying_scores(model, ids)[2, 1].item() == pytest.approx(expected)


def test_windows_change_losses_after_the_first_pieces_alone(model):
    settings = ChatSettings(texts=2, pieces=19, skipped=3, windows=(2,), kept=(0,))
    meter = ChatMeter(model, lambda line: [len(word) % 97 for word in line.split()], settings)
    losses = measure_windows(meter)
    assert list(losses) == ["all", "2", "2 and 0"]
    whole = Reader(model, meter.texts, first=3)
    assert losses["all"] == pytest.approx(whole.loss().tolist(), abs=1e-4)
    assert losses["2"] != losses["all"] != losses["2 and 0"]


def test_the_stored_results_are_those_of_these_settings():
    stored = json.loads(RESULTS.read_text("utf-8"))
    assert stored["settings"] == json.loads(json.dumps(ChatSettings()._asdict()))
    assert len(stored["parts"]["each head"]) == len(HEADS) + 2  # with nothing off, and the minutes
    assert len(stored["parts"]["chosen"]["random"]) == ChatSettings().sets
    assert len(TEXTS.read_text("utf-8").splitlines()) == ChatSettings().texts


@pytest.mark.slow
@pytest.mark.trains
def test_it_is_measured_once():
    if not has_network("smollm2"):
        pytest.skip("the network is not there: attention-course data get smollm2")
    model, tokenizer, _ = read_chat_model(get_network("smollm2") / FILE)
    meter = ChatMeter(model, lambda text: tokenizer.encode(text).ids, ChatSettings())
    reader = meter.random_reader(ChatSettings().sequences, seed=0)
    stored = json.loads(RESULTS.read_text("utf-8"))["parts"]["each head"]
    for name, off in (("nothing", []), ("L16H0", [(16, 0)]), ("L2H3", [(2, 3)])):
        assert reader.right(off).mean().item() == pytest.approx(stored[name]["right"], abs=0.04)
