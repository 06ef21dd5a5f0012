"""Checks of the exercises of chapters/encoder_decoder."""

from functools import partial

import torch
from torch import Tensor, nn

from utils.exercises.tables import Case, against, normal


def _cell(d_in: int, d_h: int) -> tuple[nn.GRUCell, Tensor, Tensor]:
    """A cell with random parameters, an input and a state."""
    torch.manual_seed(3)  # the check puts the old state back
    return nn.GRUCell(d_in, d_h).requires_grad_(False), *normal((d_in,), (d_h,))


def _reading(order: list[int], pads: list[int]) -> tuple[nn.GRUCell, Tensor, Tensor, list[int]]:
    """A cell, two sentences of five places, the second with these pads, and the order in which the places are read."""
    cell, *_ = _cell(3, 7)
    mask = torch.ones(2, 5, dtype=torch.bool)
    mask[1, pads] = False
    return cell, normal((2, 5, 3))[0], mask, order


@against(
    1,
    "Begin with `state = torch.zeros(len(x), cell.hidden_size)`, and go through the places with `for j in order`.",
    "`torch.where(mask[:, j, None], new, state)` takes the new state at words, and the old one at pads.",
    cases=[
        Case("for two sentences without pads, from left to right", partial(_reading, [0, 1, 2, 3, 4], [])),
        Case(
            "for two sentences of 5 and 2 words, from left to right",
            partial(_reading, [0, 1, 2, 3, 4], [2, 3, 4]),
            "from left to right each word has its state, and pads leave it as it was",
        ),
        Case(
            "for two sentences of 5 and 2 words, from right to left",
            partial(_reading, [4, 3, 2, 1, 0], [2, 3, 4]),
            "from right to left, too, the states stand at the places of their words",
        ),
    ],
    mistakes={
        "each word is read from zeros | `cell(x[:, j], state)` gives the state for the next word.": {
            "wrong": "from zeros"
        },
        "at each word this is the state before it | Store the state after the cell has read the word.": {
            "wrong": "before"
        },
        "the pads are read like words | Where the mask is False, keep the old state.": {"wrong": "no mask"},
        "the states at pads are 0 | A pad leaves the state as it was, so the last place has the last state.": {
            "wrong": "lost"
        },
        "the states are in the order of reading | Put the state of word j at place j.": {"wrong": "appended"},
        "the order has no effect | Go through the places with `for j in order`.": {"wrong": "no order"},
    },
    parts=["the states"],
)
def read(cell: nn.GRUCell, x: Tensor, mask: Tensor, order: list[int], *, wrong: str = "") -> Tensor:
    state = zeros = x.new_zeros(len(x), cell.hidden_size)
    states = [zeros] * x.shape[1]
    for turn, j in enumerate(range(x.shape[1]) if wrong == "no order" else order):
        before, real = state, mask[:, j, None] | (wrong == "no mask")
        new = cell(x[:, j], zeros if wrong == "from zeros" else state)
        state = torch.where(real, new, zeros if wrong == "lost" else state)
        states[turn if wrong == "appended" else j] = before if wrong == "before" else state
    return torch.stack(states, dim=1)


@against(
    2,
    "The parts of `cell.weight_ih @ x + cell.bias_ih` belong to r, z and the candidate, as do those of the state.",
    "r multiplies the part of the state within the tanh, and z is the share of the old state.",
    cases=[
        Case(
            f"for an input of {d_in} numbers and a state of {d_h}",
            partial(_cell, d_in, d_h),
            f"for an input of {d_in} numbers and a state of {d_h} the new state is that of `nn.GRUCell`",
            "The new state has one number for each of the old one.",
        )
        for d_in, d_h in ((3, 5), (7, 2))
    ],
    mistakes={
        "the two shares are exchanged | z is the share of the old state.": {"wrong": "shares"},
        "r and z are exchanged | The first rows are those of r.": {"wrong": "gates"},
        "r multiplies the state before the product | It is r ⊙ (U s + b).": {"wrong": "before"},
        "the candidate does not use r | Multiply its part of the state by r.": {"wrong": "no r"},
        "the candidate has no tanh | The candidate is a tanh of the sum.": {"wrong": "no tanh"},
    },
    parts=["the new state"],
)
def gru_step(cell: nn.GRUCell, x: Tensor, state: Tensor, *, wrong: str = "") -> Tensor:
    from_x = (cell.weight_ih @ x + cell.bias_ih).chunk(3)
    from_state = (cell.weight_hh @ state + cell.bias_hh).chunk(3)
    r, z = (torch.sigmoid(from_x[i] + from_state[i]) for i in ((1, 0) if wrong == "gates" else (0, 1)))
    before = cell.weight_hh.chunk(3)[2] @ (r * state) + cell.bias_hh.chunk(3)[2]
    within = {"before": before, "no r": from_state[2]}.get(wrong, r * from_state[2])
    candidate = from_x[2] + within if wrong == "no tanh" else torch.tanh(from_x[2] + within)
    return z * candidate + (1 - z) * state if wrong == "shares" else (1 - z) * candidate + z * state
