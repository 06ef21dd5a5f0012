"""Checks of the exercises of chapters/encoder_decoder."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor, arange, nn, tensor
from torch.nn.functional import cross_entropy

from utils.corpus.vocabulary import PAD
from utils.exercises.checking import as_tensor, exercise, expect, expect_close, expect_written
from utils.exercises.tables import Case, against, normal
from utils.seq2seq import Encoder


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
    "Take the logarithm of the probability of each right word, leave out those at pads, and take minus their mean.",
    cases=[
        Case(
            f"for a batch of {len(targets)} sentences",
            (2 * normal((len(targets), len(targets[0]), 7))[0], tensor(targets)),
            f"for a batch of {len(targets)} sentences the loss is the mean over its real words",
        )
        for targets in ([[4, 2, PAD, PAD, PAD], [5, 6, 4, 5, 2]], [[3, 4, 2], [2, PAD, PAD], [6, 2, PAD]])
    ],
    mistakes={
        "the pads are in the mean | Take `tgt_out != PAD`.": {"pad": -1},
        "the minus is missing | A loss grows with the mistake.": {"sign": -1},
        "this is the sum over the words | Divide by their number.": {"mean": lambda each, real: each.sum()},
        "you divided by the number of all places | Count real words.": {
            "mean": lambda each, real: each.mean()
        },
        "this is the mean of the means of the sentences | Each word counts the same.": {
            "mean": lambda each, real: (each.sum(dim=1) / real.sum(dim=1)).mean()
        },
    },
    parts=["the loss"],
)
def loss(logits, tgt_out, *, pad=PAD, sign=1, mean=lambda each, real: each.sum() / real.sum()) -> Tensor:
    every = cross_entropy(logits.mT, tgt_out, ignore_index=pad, reduction="none")  # 0 at each pad
    return sign * mean(every, tgt_out != pad)


@against(
    3,
    "In a sentence of n words the new place j holds the word of the old place n - 1 - j.",
    "A loop over the sentences is enough: `embedded[b, :n].flip(0)` turns the n words of one sentence around.",
    cases=[
        Case(
            "for the vectors [1, 10], [2, 20], [3, 30] of three words and two pads of zeros",
            (tensor([[[1.0, 10], [2, 20], [3, 30], [0, 0], [0, 0]]]), tensor([3])),
            "the words of one sentence are turned around, and the pads stay behind them",
            "The last word comes first, and the result has the shape of `embedded`.",
        ),
        Case(
            "for a batch with the lengths [5, 2, 3]",
            ((arange(5) < tensor([[5], [2], [3]]))[..., None] * normal((3, 5, 7))[0], tensor([5, 2, 3])),
            "each sentence of a batch has its own length",
            "Each sentence has a length of its own, and stays in its row.",
        ),
    ],
    mistakes={
        "the pads come first | Turn the words around, and leave the pads.": lambda words, lens: words.flip(1),
        "nothing is turned around | The words are along axis 1.": lambda words, lens: words.flip(0),
        "you start one place too late | The last word is at `lens - 1`.": {"start": 1},
        "the last word stays | The n words are `[:n]`.": {"length": lambda lens: lens - 1},
        "all have one length | Each has its own.": {"length": lambda lens: 0 * lens + max(lens)},
    },
)
def reverse_words(embedded: Tensor, lens: Tensor, *, start=0, length=torch.clone) -> Tensor:
    turned = embedded.clone()
    for row, n in enumerate(length(lens).tolist()):
        turned[row, :n] = embedded[row, start : start + n].flip(0)
    return turned


@against(
    4,
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
        "the pad is in the mean | Only the first `src_lens` places are words.": lambda h, lens: h.mean(dim=1),
        "the sum of the two words is divided by 3 | Divide by 2.": {"divisor": lambda h, lens: h.shape[1]},
        "this is the sum | Divide by the number of real words.": {"divisor": lambda h, lens: 1},
        "this is the last word, or the largest | All real words have the same weight.": (
            lambda h, lens: h[arange(len(h)), lens - 1]
        ),
    },
    parts=["the context"],
)
def mean_context(enc_outputs, src_lens, *, divisor=lambda _, lens: lens[:, None]) -> Tensor:
    sums = [row[:length].sum(dim=0) for row, length in zip(enc_outputs, src_lens, strict=True)]
    return torch.stack(sums) / divisor(enc_outputs, src_lens)


@exercise(
    5,
    "Run the encoder on both sentences, subtract the outputs, and take absolute values.",
    "`unflatten(-1, (2, 16))` cuts the 32 numbers into the two halves, and `amax(dim=-1)` takes the largest of each.",
)
def two_layers(encoder: object, moved: object) -> Iterator[str]:
    deep = getattr(encoder, "function", encoder)
    expect_written(moved)
    expect(isinstance(deep, Encoder), "`deep` is not the encoder of the cell. Run that cell again.")
    case = "for the fifth word changed to 9"
    shape = "A row for each of the 7 words, a column for each half: `moved.T` exchanges them."
    changes = as_tensor(moved, shape, shape=(7, 2), name="moved")
    expect(
        not (changes.any() and not changes[:4, 0].any() and not changes[5:, 1].any()),
        "the forward half does not move before the fifth word, and the backward half not after it. In one layer it "
        "would be so.",
        "Measure the outputs of `deep`. Its second layer reads both halves of the first.",
    )
    halves, right = _halves(deep, 4), _halves(deep, 4).abs().amax(dim=-1)
    absolute = "Take absolute values before the maximum."
    for result, says, hint in (
        (right.flip(1), "the two columns are exchanged", "The forward half comes first."),
        (halves.abs().mean(dim=-1), "these are the mean changes", "Take the largest."),
        (halves.amax(dim=-1), "these are the largest changes with their signs", absolute),
        (_halves(deep, 5).abs().amax(dim=-1), "the sixth word was changed", "Places count from 0."),
    ):
        is_this = torch.allclose(changes, result.double(), rtol=1e-3, atol=1e-3)
        expect(not is_this, f"{case}, moved: {says}.", hint)
    fifth = "Compare the outputs of the encoder before and after, in the first 16 numbers and the last 16."
    expect_close(changes, right, case, fifth, name="moved", tolerance=1e-3)
    yield "these are the changes of the second layer"
    yield "both halves move at every word, and most at the fifth"


def _halves(encoder: Encoder, place: int) -> Tensor:
    """How much the outputs of both halves of the second layer change, for each of the 7 words."""
    src, lens = torch.tensor([[4, 7, 5, 9, 6, 8, 4]]), torch.tensor([7])
    changed = src.clone()
    changed[0, place] = 9
    with torch.no_grad():
        return (encoder(changed, lens)[0] - encoder(src, lens)[0])[0].unflatten(-1, (2, 16))
