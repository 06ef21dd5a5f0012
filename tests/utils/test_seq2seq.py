"""The translator's parts against plain loops, torch's own cells and answers worked out by hand."""

import math
from functools import partial

import pytest
import torch
from torch import nn

from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder, FixedContextDecoder, GatedUnit

BOTH = pytest.mark.parametrize("decoder_type", [BahdanauDecoder, FixedContextDecoder])


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def tokens(*shape: int, vocab: int = 11, seed: int = 0) -> torch.Tensor:
    return torch.randint(4, vocab, shape, generator=generator(seed))


def model(decoder_type, *, num_layers: int = 1, bidirectional: bool = True, **options) -> EncoderDecoder:
    torch.manual_seed(0)
    encoder = Encoder(11, 5, 7, num_layers=num_layers, bidirectional=bidirectional)
    decoder = decoder_type(13, 3, 17, encoder.d_out, d_enc_state=7, num_layers=num_layers, **options)
    return EncoderDecoder(encoder, decoder).eval()


def test_encoder_outputs_are_those_of_each_sentence_alone():
    encoder = model(BahdanauDecoder).encoder
    src, src_lens = tokens(3, 5), torch.tensor([5, 2, 3])
    outputs, state = encoder(src, src_lens)
    for row, length in enumerate(src_lens.tolist()):
        embedded = encoder.embedding(src[row, :length])
        for direction, order in enumerate([range(length), reversed(range(length))]):
            cell = gru_cell(encoder.gru, "_reverse" if direction else "")
            h = torch.zeros(7)
            for j in order:
                h = cell(embedded[j], h)
                torch.testing.assert_close(outputs[row, j, 7 * direction : 7 * direction + 7], h)
            torch.testing.assert_close(state[0, row, direction], h)
        assert (outputs[row, length:] == 0).all()


def gru_cell(gru: nn.GRU, suffix: str) -> nn.GRUCell:
    cell = nn.GRUCell(gru.input_size, gru.hidden_size)
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    cell.load_state_dict({name: getattr(gru, f"{name}_l0{suffix}") for name in names})
    return cell


@BOTH
@pytest.mark.parametrize("num_layers", [1, 2, 3])
@pytest.mark.parametrize("cell", ["gru", "gated"])
def test_padding_never_changes_a_valid_output(decoder_type, num_layers, cell):
    translator = model(decoder_type, num_layers=num_layers, cell=cell)
    src, tgt_in = tokens(2, 3), tokens(2, 5, vocab=13)
    src_lens = torch.tensor([3, 2])
    logits, weights = translator(src, src_lens, tgt_in)
    padded = torch.cat([src, tokens(2, 4, seed=1)], dim=1)
    padded[1, 2] = 9
    padded_logits, padded_weights = translator(padded, src_lens, tgt_in)
    torch.testing.assert_close(padded_logits, logits)
    if weights is not None:
        torch.testing.assert_close(padded_weights[:, :, :3], weights)
        assert (padded_weights[:, :, 3:] == 0).all()
        assert (padded_weights[1, :, 2:] == 0).all()


@BOTH
@pytest.mark.parametrize("num_layers", [1, 2])
def test_all_steps_at_once_equal_single_steps(decoder_type, num_layers):
    translator = model(decoder_type, num_layers=num_layers)
    src, tgt_in, src_lens = tokens(2, 3), tokens(2, 5, vocab=13), torch.tensor([3, 1])
    memory, hidden = translator.start(src, src_lens)
    at_once, last, _ = translator.decoder(tgt_in, memory, hidden)
    for i in range(5):
        logits, hidden, _ = translator.decoder(tgt_in[:, i : i + 1], memory, hidden)
        torch.testing.assert_close(logits[:, 0], at_once[:, i])
    torch.testing.assert_close(hidden, last)


def test_one_decoder_step_follows_the_equations():
    translator = model(BahdanauDecoder)
    decoder, src, src_lens = translator.decoder, tokens(1, 5), torch.tensor([5])
    outputs, state = translator.encoder(src, src_lens)
    memory, hidden = decoder.start(outputs, state, src_lens)
    word = torch.tensor([[4]])
    logits, new_hidden, weights = decoder(word, memory, hidden)

    s = torch.tanh(decoder.start_state.weight @ state[0, 0, 1] + decoder.start_state.bias)
    torch.testing.assert_close(hidden[0, 0], s)
    w_q, w_k, w_v = (getattr(decoder.attention, name).weight for name in ("w_q", "w_k", "w_v"))
    scores = torch.stack([w_v[0] @ torch.tanh(w_q @ s + w_k @ h) for h in outputs[0]])
    alpha = torch.softmax(scores, dim=0)
    torch.testing.assert_close(weights[0, 0], alpha)
    c = sum(alpha[j] * outputs[0, j] for j in range(5))
    y = decoder.embedding.weight[4]
    cell = decoder.cells[0]
    reference = nn.GRUCell(cell.input_size, cell.hidden_size)
    reference.load_state_dict(cell.state_dict())
    s_new = reference(torch.cat([y, c]), s)
    torch.testing.assert_close(new_hidden[0, 0], s_new)
    t = decoder.readout.weight @ torch.cat([s_new, y, c]) + decoder.readout.bias
    maxout = torch.stack([torch.maximum(t[2 * k], t[2 * k + 1]) for k in range(17)])
    torch.testing.assert_close(logits[0, 0], decoder.output.weight @ maxout + decoder.output.bias)


def test_of_two_layers_the_last_one_asks_and_dropout_lies_between():
    translator = model(BahdanauDecoder, num_layers=2)
    decoder, src_lens = translator.decoder, torch.tensor([5])
    memory, state = translator.start(tokens(1, 5), src_lens)
    decoder.dropout = nn.Identity()
    y = decoder.embedding(torch.tensor([4]))
    context, weights = decoder.attend(state[1], memory)
    first = decoder.cells[0](y, context, state[0])
    expected = torch.stack([first, decoder.cells[1](first, state[1])])
    _, new_state, new_weights = decoder(torch.tensor([[4]]), memory, state)
    torch.testing.assert_close((new_state, new_weights[:, 0]), (expected, weights))
    decoder.dropout = nn.Dropout(1.0).train()  # the second layer reads zeros from the first
    torch.testing.assert_close(
        decoder.advance(y, context, state)[1], decoder.cells[1](torch.zeros_like(first), state[1])
    )


def test_widths_and_dropout_where_nothing_is_said():
    assert Encoder(11, 5, 7, num_layers=2, dropout=0.3).gru.dropout == 0.3
    assert Encoder(11, 5, 7, dropout=0.3).gru.dropout == 0  # there is nothing between the layers of one
    assert Encoder(11, 5, 7).d_out == 14  # in both directions
    decoder = BahdanauDecoder(13, 3, 17, 14)
    translator = EncoderDecoder(Encoder(11, 5, 7), decoder)
    inputs = tokens(2, 5), torch.tensor([5, 3]), tokens(2, 3, vocab=13)
    torch.testing.assert_close(translator.train()(*inputs), translator.eval()(*inputs))  # nothing is dropped
    assert decoder.attention.w_v.in_features == 17
    assert decoder.start_state.in_features == 7


def test_without_attention_every_step_sees_the_same_summary():
    translator = model(FixedContextDecoder)
    src, src_lens = tokens(2, 5), torch.tensor([5, 3])
    _, state = translator.encoder(src, src_lens)
    memory, _ = translator.start(src, src_lens)
    torch.testing.assert_close(memory.values[:, 0], torch.cat([state[0, :, 0], state[0, :, 1]], dim=-1))
    assert translator(src, src_lens, tokens(2, 3, vocab=13))[1] is None


def test_a_forward_encoder_starts_the_decoder():
    translator = model(BahdanauDecoder, bidirectional=False)
    src, src_lens = tokens(2, 5), torch.tensor([5, 3])
    outputs, state = translator.encoder(src, src_lens)
    assert outputs.shape == (2, 5, 7)
    torch.testing.assert_close(state[0, 1, 0], outputs[1, 2])
    _, hidden = translator.start(src, src_lens)
    torch.testing.assert_close(hidden[0], torch.tanh(translator.decoder.start_state(state[0, :, 0])))


def test_keys_are_projected_once_per_sentence():
    translator = model(BahdanauDecoder)
    calls = []
    translator.decoder.attention.w_k.register_forward_hook(lambda *_: calls.append(1))
    translator(tokens(2, 3), torch.tensor([3, 2]), tokens(2, 7, vocab=13))
    assert len(calls) == 1


def test_the_context_cell_equals_the_papers_equations():
    torch.manual_seed(0)
    d_y, d_c, d_s = 3, 5, 2
    cell = GatedUnit(d_y, d_c, d_s).double()
    y, c, s = (torch.randn(d, dtype=torch.double, generator=generator(d)) for d in (d_y, d_c, d_s))
    w_yr, w_yz, w_ys = cell.from_input.weight.chunk(3)
    b_r, b_z, b_s = cell.from_input.bias.chunk(3)
    w_cr, w_cz, w_cs = cell.from_context.weight.chunk(3)
    w_sr, w_sz = cell.from_state.weight.chunk(2)
    w_ss = cell.from_reset_state.weight

    def linear(row, w_y, w_s, w_c, b, state):
        total = b[row]
        for weight, vector in ((w_y, y), (w_s, state), (w_c, c)):
            for column in range(len(vector)):
                total = total + weight[row, column] * vector[column]
        return total

    r = [torch.sigmoid(linear(k, w_yr, w_sr, w_cr, b_r, s)) for k in range(d_s)]
    z = [torch.sigmoid(linear(k, w_yz, w_sz, w_cz, b_z, s)) for k in range(d_s)]
    reset = [s[k] * r[k] for k in range(d_s)]
    candidate = [torch.tanh(linear(k, w_ys, w_ss, w_cs, b_s, reset)) for k in range(d_s)]
    expected = torch.stack([z[k] * s[k] + (1 - z[k]) * candidate[k] for k in range(d_s)])
    actual = cell(y[None], c[None], s[None])[0]
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-14)


def test_recurrent_matrices_start_orthogonal():
    translator = model(BahdanauDecoder, num_layers=2)
    squares = [
        *translator.encoder.gru.weight_hh_l1_reverse.chunk(3),
        *translator.decoder.cells[0].weight_hh.chunk(3),
        *translator.decoder.cells[1].weight_hh.chunk(3),
        GatedUnit(3, 5, 7).from_reset_state.weight,
    ]
    for square in squares:
        torch.testing.assert_close(square @ square.T, torch.eye(len(square)), atol=1e-5, rtol=0)


@pytest.mark.parametrize("src_lens", [[3, 0], [3, 6]])
def test_impossible_source_lengths_are_named(src_lens):
    with pytest.raises(ValueError, match=rf"between 1 and 5.*{min(src_lens)} to {max(src_lens)}"):
        model(BahdanauDecoder).encoder(tokens(2, 5), torch.tensor(src_lens))


def test_sentences_without_tokens_are_named():
    with pytest.raises(ValueError, match="src must have at least one token per sentence, got none"):
        model(BahdanauDecoder).encoder(tokens(2, 0), torch.tensor([0, 0]))


def test_unknown_cell_and_unequal_depths_are_named():
    with pytest.raises(ValueError, match=r"cell must be .*'lstm'"):
        BahdanauDecoder(5, 2, 3, 4, cell="lstm")
    encoder = Encoder(11, 5, 7, num_layers=2)
    decoder = BahdanauDecoder(13, 3, 17, encoder.d_out)
    with pytest.raises(ValueError, match="the same number of layers, got 2 and 1"):
        EncoderDecoder(encoder, decoder)(tokens(1, 2), torch.tensor([2]), tokens(1, 2))


@BOTH
def test_every_parameter_learns(decoder_type):
    translator = model(decoder_type, num_layers=2, cell="gated").train()
    logits, _ = translator(tokens(2, 3), torch.tensor([3, 2]), tokens(2, 5, vocab=13))
    logits.square().sum().backward()
    for name, parameter in translator.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("dropout", [-0.1, 1.1, math.nan])
@pytest.mark.parametrize("make", [partial(Encoder, 11, 5, 7), partial(BahdanauDecoder, 13, 3, 17, 14)])
def test_a_dropout_is_from_0_to_1(make, dropout):
    with pytest.raises(ValueError, match=f"dropout must be from 0 to 1, got {dropout}"):
        make(dropout=dropout)
