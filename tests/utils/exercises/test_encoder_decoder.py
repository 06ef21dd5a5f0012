"""Answers to the exercises of chapters/encoder_decoder."""

import torch
from answers import Answers

from utils.exercises import encoder_decoder as check

answers = Answers()


def one_by_one(cell, x, mask, order):
    """Each sentence alone, without its pads."""
    states = []
    for sentence, real in zip(x, mask, strict=True):
        state, of_words = torch.zeros(1, cell.hidden_size), {}
        for j in order:
            state = cell(sentence[j][None], state) if real[j] else state
            of_words[j] = state[0]
        states.append(torch.stack([of_words[j] for j in range(len(sentence))]))
    return torch.stack(states)


def with_torch(cell, x, mask, order):
    """PyTorch's GRU over the words alone, and the last state again at each pad."""
    gru = torch.nn.GRU(x.shape[2], cell.hidden_size, batch_first=True).requires_grad_(False)
    gru.load_state_dict({f"{name}_l0": value for name, value in cell.state_dict().items()})
    states = []
    for sentence, real in zip(x, mask, strict=True):
        words, backward = sentence[real], order[0] > order[-1]
        read = gru(words.flip(0) if backward else words)[0]
        read = read.flip(0) if backward else read
        pad = torch.zeros(cell.hidden_size) if backward else read[-1]
        states.append(torch.cat([read, pad.expand(len(sentence) - len(words), -1)]))
    return torch.stack(states)


answers.add(check.read, [one_by_one, with_torch])


def with_linear_layers(cell, x, state):
    of_x = torch.nn.functional.linear(x, cell.weight_ih, cell.bias_ih)
    of_state = torch.nn.functional.linear(state, cell.weight_hh, cell.bias_hh)
    both = (of_x + of_state).sigmoid()
    r, z, _ = both.split(len(state))
    candidate = (of_x.split(len(state))[2] + r * of_state.split(len(state))[2]).tanh()
    return candidate + z * (state - candidate)


answers.add(check.gru_step, [with_linear_layers])


test_right, _ = answers.tests()
