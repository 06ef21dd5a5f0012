"""The network of attention alone against torch's functions, a loop and answers worked by hand."""

import math

import pytest
import torch
from torch.nn import functional
from torch.testing import assert_close

from utils.circuits import (
    AttentionOnly,
    CausalHeads,
    at_place,
    induction_score,
    output_value_circuit,
    previous_token_score,
    query_key_circuit,
)

BATCH, N, VOCAB, HEADS, D_HEAD, MAX_LEN = 2, 5, 7, 3, 11, 13
D_MODEL = HEADS * D_HEAD


def network(num_layers: int = 2) -> AttentionOnly:
    torch.manual_seed(0)
    model = AttentionOnly(VOCAB, D_MODEL, num_heads=HEADS, num_layers=num_layers, max_len=MAX_LEN).double()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model.requires_grad_(False)


def text(num: int = BATCH, seed: int = 1) -> torch.Tensor:
    return torch.randint(VOCAB, (num, N), generator=torch.Generator().manual_seed(seed))


def test_heads_are_those_of_torch():
    layer, x = network().layers[0], torch.randn(BATCH, N, D_MODEL, dtype=torch.float64)
    outputs, weights = layer(x)
    places = torch.arange(N)
    for head in range(HEADS):
        q, k, v = (x @ w[head] for w in (layer.w_q, layer.w_k, layer.w_v))
        bias = torch.full((N, N), -math.inf, dtype=torch.float64)
        for i in range(N):
            for j in range(i + 1):
                bias[i, j] = layer.distance[head, i - j]
        theirs = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        assert_close(outputs[:, head], theirs @ layer.w_o[head])
    assert_close(weights.sum(dim=-1), torch.ones(BATCH, HEADS, N, dtype=torch.float64))
    assert (weights[..., places[:, None] < places] == 0).all()


def test_a_run_is_a_sum_of_parts():
    model, tokens = network(), text()
    run = model(tokens)
    parts = run.outputs[0].sum(dim=1) + run.outputs[1].sum(dim=1)
    assert_close(run.states[2], model.embedding(tokens) + parts)
    assert_close(run.logits, run.states[2] @ model.output.weight.T)


def test_later_words_change_nothing():
    model, tokens = network(), text()
    other = tokens.clone()
    other[:, 3:] = (other[:, 3:] + 1) % VOCAB
    assert_close(model(other).logits[:, :3], model(tokens).logits[:, :3])


# ---- Replaced parts ----


def test_own_parts_change_nothing():
    model, tokens = network(), text()
    run = model(tokens)
    own = {0: run.states[0], 1: run.states[1], 2: run.states[2]}
    own |= {(layer, head): run.outputs[layer][:, head] for layer in range(2) for head in range(HEADS)}
    assert_close(model(tokens, replace=own), run)


def test_all_states_of_another_run_give_its_answer():
    model, tokens, other = network(), text(seed=1), text(seed=2)
    theirs = model(other)
    for layer in range(3):
        assert_close(model(tokens, replace={layer: theirs.states[layer]}).logits, theirs.logits)


def test_a_head_that_is_off_adds_nothing():
    model, tokens = network(), text()
    off = model(tokens, replace={(0, 1): 0})
    twin = network()
    twin.layers[0].w_o[1] = 0
    assert_close(off, twin(tokens))
    assert (off.outputs[0][:, 1] == 0).all()


def test_a_patch_moves_no_earlier_place():
    model, tokens, other = network(), text(seed=1), text(seed=2)
    ours, theirs = model(tokens), model(other)
    patched = model(tokens, replace={1: at_place(ours.states[1], theirs.states[1], 2)})
    assert_close(patched.logits[:, :2], ours.logits[:, :2])
    assert not torch.allclose(patched.logits[:, 2:], ours.logits[:, 2:])


# ---- Scores ----


def test_scores_are_those_of_a_loop():
    weights = torch.randn(BATCH, HEADS, N, N).softmax(dim=-1).tril()
    tokens = torch.tensor([[3, 1, 3, 3, 1], [2, 0, 5, 6, 4]])
    before = [sum(float(weights[0, 1, i, i - 1]) for i in range(1, N)) / (N - 1)]
    assert_close(previous_token_score(weights)[0, 1], torch.tensor(before[0]))
    for head in range(HEADS):
        found = []
        for b in range(BATCH):
            for i in range(N):
                earlier = [j for j in range(i) if tokens[b, j] == tokens[b, i]]
                if earlier:
                    found.append(sum(float(weights[b, head, i, j + 1]) for j in earlier))
        assert_close(induction_score(weights, tokens)[head], torch.tensor(sum(found) / len(found)))


# ---- Circuits ----


def test_circuits_by_hand():
    model = AttentionOnly(2, 1, num_heads=1, max_len=3).requires_grad_(False)
    model.embedding.weight[:] = torch.tensor([[1.0], [-2.0]])
    model.output.weight[:] = torch.tensor([[1.0], [4.0]])
    first, second = model.layers
    first.w_v[:], first.w_o[:], second.w_q[:], second.w_k[:] = 3, 5, 2, 7
    assert_close(query_key_circuit(model, 1, 0), torch.tensor([[14.0, -28.0], [-28.0, 56.0]]))
    through = query_key_circuit(model, 1, 0, through=(0, 0))
    assert_close(through, 15 * torch.tensor([[14.0, -28.0], [-28.0, 56.0]]))
    assert_close(output_value_circuit(model, 0, 0), 15 * torch.tensor([[1.0, 4.0], [-2.0, -8.0]]))


def test_a_score_is_circuit_and_distance():
    model, tokens = network(num_layers=1), text(num=1)
    weights = model(tokens).weights[0][0]
    for head in range(HEADS):
        asked = query_key_circuit(model, 0, head)
        last = [
            asked[tokens[0, -1], tokens[0, j]] + model.layers[0].distance[head, N - 1 - j] for j in range(N)
        ]
        assert_close(weights[head, -1], torch.stack(last).softmax(dim=0))


def test_written_logits_are_those_of_the_circuit():
    model, tokens = network(num_layers=1), text()
    run = model(tokens)
    expected = run.states[0] @ model.output.weight.T
    for head in range(HEADS):
        expected = expected + run.weights[0][:, head] @ output_value_circuit(model, 0, head)[tokens]
    assert_close(run.logits, expected)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: CausalHeads(7, 2, max_len=3), "multiple of num_heads, got 7 and 2"),
        (lambda: network().layers[0](torch.zeros(2, 3)), "x must have width 33, got 3"),
        (lambda: network()(torch.zeros(1, 17, dtype=torch.long)), "at most 13 places, got 17"),
        (lambda: network()(text(), replace={(2, 0): 0}), r"got \[\(2, 0\)\]"),
        (lambda: network()(text(), replace={1: torch.zeros(5, 33)}), r"must have the shape \(2, 5, 33\)"),
        (lambda: at_place(torch.zeros(3, 2), torch.zeros(1, 2), 0), r"shape \(3, 2\), got \(1, 2\)"),
        (lambda: network()(text(), replace=[(0, 1)]), "replace must be a dict of layers and heads, got list"),
        (lambda: network()(text() + VOCAB), "tokens must be from 0 to 6"),
        (
            lambda: at_place(text(), text() / 2, 0),
            "theirs must have the dtype torch.int64, got torch.float32",
        ),
        (lambda: previous_token_score(torch.ones(1, 1)), r"at least two places, .* got shape \(1, 1\)"),
        (lambda: previous_token_score(torch.ones(3, 2)), r"as many keys as queries, got shape \(3, 2\)"),
        (lambda: induction_score(torch.ones(2, 1, 2, 2), text(1)), r"got \(2, 1, 2, 2\) and \(1, 5\)"),
        (
            lambda: query_key_circuit(network(), 1, 0, through=3),
            "through must hold pairs of a layer and a head",
        ),
        (lambda: induction_score(torch.ones(1, 1, 2, 2), torch.tensor([[0, 1]])), "stands twice"),
        (lambda: query_key_circuit(network(), 0, 0, through=(0, 1)), r"before 0, got \(0, 1\)"),
    ],
)
@pytest.mark.usefixtures("unchecked_shapes")
def test_errors_say_what_is_wrong(call, words):
    with pytest.raises(ValueError, match=words):
        call()
