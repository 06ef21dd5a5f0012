"""The study of what a GPT writes, with a tiny network, and its stored results."""

import json
from types import SimpleNamespace

import torch

from studies.gpt_study import OPPOSITES, PASTS, RESULTS, GPTSettings, answered, drawn, exchanged, pairs_of
from utils.chat_model import ChatModel
from utils.search import next_word_probabilities

STORED = json.loads(RESULTS.read_text("utf-8"))


def tiny() -> ChatModel:
    torch.manual_seed(0)
    return ChatModel(97, 12, num_heads=3, num_key_heads=1, num_layers=2, d_hidden=11).requires_grad_(False)


def test_the_stored_results_are_those_of_these_settings() -> None:
    assert STORED["settings"] == json.loads(json.dumps(GPTSettings()._asdict()))


def test_each_piece_is_drawn_after_all_that_came_before() -> None:
    model, ids = tiny(), torch.tensor([[5, 11, 7]])
    pieces, steps = drawn(model, ids, 6, temperature=0.7, top_p=0.8, seed=3, most=4)
    draw, read = torch.Generator().manual_seed(3), ids
    for piece, step in zip(pieces, steps, strict=True):
        logits = model(read)[0][0, -1]
        logits[:3] = -torch.inf
        assert (
            torch.multinomial(next_word_probabilities(logits, temperature=0.7, top_p=0.8), 1, generator=draw)
            == piece
        )
        best = logits.softmax(dim=0).topk(4).indices.tolist()
        assert [each for each, _ in step] == [piece, *[other for other in best if other != piece][:3]]
        assert abs(step[0][1] - logits.softmax(dim=0)[piece]) < 1e-4
        read = torch.cat([read, torch.tensor([[piece]])], dim=1)


def test_no_question_has_two_answers_and_no_exchanged_example_is_right() -> None:
    for pairs in (pairs_of(OPPOSITES), pairs_of(PASTS)):
        assert len(pairs) == len({left for left, _ in pairs}) == 40
        for (left, wrong), (_, right) in zip(exchanged(pairs), pairs, strict=True):
            assert wrong != right, left


def sums(ids, past=None):
    """A model whose next piece is the sum of all pieces so far, modulo 128."""
    read = ids if past is None else torch.cat([past[0][0][:, 0, :, 0], ids], dim=1)
    every = torch.nn.functional.one_hot(read.cumsum(dim=1) % 128, 128).float()
    return every[:, -ids.shape[1] :], [(read[:, None, :, None],) * 2]


def test_an_answer_is_right_after_its_examples_and_in_all_its_pieces() -> None:
    letters = SimpleNamespace(encode=lambda text: SimpleNamespace(ids=[ord(letter) for letter in text]))
    # "a4 ->" has the sum 288, so a space follows, whose sum is 64, "@"; then 0 follows, which is no letter.
    assert answered(sums, letters, [], [("a4", "@"), ("a5", "@"), ("a4", "@@")]) == [True, False, False]
    # "x -> y" and a new line have the sum 422, and "o ->" has 250: 32 again.
    assert answered(sums, letters, [("x", "y")], [("o", "@"), ("a4", "@"), ("o", "@@")]) == [
        True,
        False,
        False,
    ]
