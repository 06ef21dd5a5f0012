"""Checks of the exercises of chapters/encoder_decoder."""

from functools import partial

import torch
from torch import Tensor, arange, nn, tensor
from torch.nn.functional import cross_entropy

from utils.corpus.vocabulary import PAD
from utils.exercises.tables import Case, against, normal


def _cell(d_in: int, d_h: int) -> tuple[nn.GRUCell, Tensor, Tensor]:
    """A cell with random parameters, an input and a state."""
    torch.manual_seed(3)  # the check puts the old state back
    return nn.GRUCell(d_in, d_h).requires_grad_(False), *normal((d_in,), (d_h,))


@against(
    1,
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


@against(
    2,
    "Add the vectors of the real words, and divide by the number of real words.",
    "Equal scores give equal weights: `masked_softmax` of zeros, with the mask of the lengths, gives them.",
    cases=[
        Case(
            "for the vectors [2] and [5] of two words and [30] of a pad",
            (tensor([[[2.0], [5], [30]]]), tensor([2])),
            "the pad is not in the mean",
            "Divide by the number of real words, 2.",
        ),
        Case(
            "for a batch with the lengths [5, 2, 3]",
            (normal((3, 5, 2))[0], tensor([5, 2, 3])),
            "each sentence of a batch has a mean of its own",
            "Each sentence has a mean of its own: divide by its own length.",
        ),
    ],
    mistakes={
        "the pad is in the mean | Only the first `src_lens` places are words.": lambda h, src_lens: h.mean(
            dim=1
        ),
        "the sum of the two words is divided by 3 | Divide by 2.": {
            "divisor": lambda h, src_lens: h.shape[1]
        },
        "this is the sum | Divide by the number of real words.": {"divisor": lambda h, src_lens: 1},
        "this is the last word, or the largest | All real words have the same weight.": (
            lambda h, src_lens: h[arange(len(h)), src_lens - 1]
        ),
    },
    parts=["the context"],
)
def mean_context(enc_outputs, src_lens, *, divisor=lambda _, src_lens: src_lens[:, None]) -> Tensor:
    sums = [row[:length].sum(dim=0) for row, length in zip(enc_outputs, src_lens, strict=True)]
    return torch.stack(sums) / divisor(enc_outputs, src_lens)


@against(
    3,
    "Take the logarithms of the probabilities of the right words, and add up those of each sentence.",
    "The pads are not words: set what stands at them to 0 before the sum. `tgt_out != PAD` says where words are.",
    cases=[
        Case(
            f"for a batch of {len(targets)} sentences",
            (2 * normal((len(targets), len(targets[0]), 7))[0], tensor(targets)),
            f"for a batch of {len(targets)} sentences each has the sum over its own words",
            "The result has one number for each sentence.",
        )
        for targets in ([[4, 2, PAD, PAD, PAD], [5, 6, 4, 5, 2]], [[3, 4, 2], [2, PAD, PAD], [6, 2, PAD]])
    ],
    mistakes={
        "the pads are in the sum | Take `tgt_out != PAD`.": {"pad": -1},
        "this is the loss of each sentence: the minus | A logarithm of a probability is not above 0.": {
            "sign": -1
        },
        "this is the mean over the words | Add them up, and do not divide.": {
            "of_words": lambda each, real: each.sum(dim=1) / real.sum(dim=1)
        },
        "this is one number for the whole batch | Add along the words alone.": {
            "of_words": lambda each, real: each.sum()
        },
        "these are probabilities | Leave out the `exp`.": {
            "of_words": lambda each, real: each.sum(dim=1).exp()
        },
    },
    parts=["the log-probabilities"],
)
def log_probabilities(
    logits, tgt_out, *, pad=PAD, sign=1, of_words=lambda each, real: each.sum(dim=1)
) -> Tensor:
    every = -cross_entropy(logits.mT, tgt_out, ignore_index=pad, reduction="none")  # 0 at each pad
    return of_words(sign * every, tgt_out != PAD)
