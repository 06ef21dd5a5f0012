"""The study of a chat model: its masks and texts, what is computed from a changed layer on, and what is stored."""

import json
from types import SimpleNamespace

import pytest
import torch

from studies.chat_model import (
    FILE,
    HEADS,
    INVENTED,
    OPPOSITES,
    RESULTS,
    TEXTS,
    ChatMeter,
    ChatSettings,
    Looks,
    Reader,
    chosen,
    copying_scores,
    drawn,
    looks,
    measure_few_keys,
    measure_windows,
    of_largest,
    pairs_of,
    repeated,
    turns,
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


class Cutter:
    """Cuts a text at its blanks; a piece is the length of its word."""

    def encode(self, line):
        return SimpleNamespace(ids=[len(word) % 97 for word in line.split()])

    def decode(self, ids):
        return {1: "user", 3: "assistant"}.get(ids[0], f" w{ids[0]}")

    def token_to_id(self, mark):
        return {"<|im_start|>": 95, "<|im_end|>": 96}[mark]


def test_the_keys_of_the_largest_scores_are_kept():
    scores = torch.tensor([[9.0, 9, 9, 9], [1, 2, 9, 9], [5, 4, 6, 9], [1, 3, 4, 2]])
    expected = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0]]
    assert of_largest(scores, 2).int().tolist() == expected
    of_heads = torch.tensor([[0.6, 0.4, 0.0], [0.1, 0.0, 0.9]])[:, None].expand(2, 3, 3)
    assert chosen(1)(lambda: of_heads)[2].tolist() == [False, False, True]  # 0.9 is more than 0.7


def test_drawn_keys_are_others_in_each_layer():
    choose = drawn(31, 5, first=True, seed=3)
    one, other = choose(None), choose(None)
    for mask in (one, other):
        assert mask.sum(dim=1).tolist() == [min(i + 1, 5) for i in range(31)]
        assert mask[:, 0].all()
        assert mask.diagonal().all()
        assert not mask.triu(1).any()
    assert not torch.equal(one, other)
    assert not drawn(31, 5, first=False, seed=3)(None)[:, 0].all()


def test_few_keys_are_as_good_as_all_if_they_are_all(model):
    settings = ChatSettings(texts=2, pieces=19, skipped=3, windows=(), few=(7, 19))
    meter = ChatMeter(model, Cutter(), settings)
    losses, everything = measure_few_keys(meter), measure_windows(meter)["all"]
    assert list(losses) == [
        "chosen 7",
        "chosen 19",
        "drawn 7 with the first",
        "drawn 19 with the first",
        "drawn 19",
    ]
    assert losses["chosen 19"] == losses["drawn 19"] == pytest.approx(everything, abs=2e-4)
    assert losses["chosen 7"] != everything != losses["drawn 7 with the first"]


def test_a_chat_is_read_part_by_part(model):
    # <start> system \n 50 51 <end> \n <start> user \n 60 61 <end> \n <start> assistant \n, twice
    asked = [95, 1, 10, 60, 61, 96, 10, 95, 3, 10]
    found = looks(model, Cutter(), [95, 7, 10, 50, 51, 96, 10, *asked, 40, 96, 10, *asked], most=3)
    assert found.seen[:8] == ["first", "system", "w60", "w61", "answer", "w60₂", "w61₂", "marks"]
    assert found.weights.shape == (5, 3, len(found.writes), 7 + len(found.writes))
    whole = found.weights.sum(dim=-1)
    torch.testing.assert_close(whole, torch.ones_like(whole))
    assert (found.weights[:, :, 0, 8:] == 0).all()


def test_the_weight_on_the_piece_that_is_written_next():
    # "b" comes again, in the first row before it is written, and "c" is new
    weights = torch.tensor([[0.1, 0.2, 0.7, 0.0], [0.3, 0.3, 0.2, 0.2]])[None, None]
    found = Looks(["b", "c"], ["first", "a", "b", "b₂"], weights)
    assert found.on_first().item() == pytest.approx(0.2)
    assert found.on_same().item() == pytest.approx(0.7)
    assert Looks(["x"], ["first", "a"], torch.ones(1, 1, 1, 2)).on_same().item() == 0


def test_the_lists_are_what_they_say():
    assert [message["role"] for message in turns("a", "b", "c")] == ["user", "assistant", "user"]
    assert len(set(pairs_of(OPPOSITES))) == 30
    assert len(set(INVENTED.split())) == 12


def test_windows_change_losses_after_the_first_pieces_alone(model):
    settings = ChatSettings(texts=2, pieces=19, skipped=3, windows=(2,), kept=(0,))
    meter = ChatMeter(model, Cutter(), settings)
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
    assert len(stored["parts"]["shown"]["weights"]) == 30
    assert stored["parts"]["names"]["random"].keys() == stored["parts"]["chosen"]["random"].keys()
    assert len(TEXTS.read_text("utf-8").splitlines()) == ChatSettings().texts


@pytest.mark.slow
@pytest.mark.trains
def test_it_is_measured_once():
    if not has_network("smollm2"):
        pytest.skip("the network is not there: attention-course data get smollm2")
    model, tokenizer, _ = read_chat_model(get_network("smollm2") / FILE)
    meter = ChatMeter(model, tokenizer, ChatSettings())
    reader = meter.random_reader(ChatSettings().sequences, seed=0)
    stored = json.loads(RESULTS.read_text("utf-8"))["parts"]["each head"]
    for name, off in (("nothing", []), ("L16H0", [(16, 0)]), ("L2H3", [(2, 3)])):
        assert reader.right(off).mean().item() == pytest.approx(stored[name]["right"], abs=0.04)
