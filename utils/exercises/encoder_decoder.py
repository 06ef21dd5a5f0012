"""Checks of the exercises of chapters/encoder_decoder."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from utils.corpus.vocabulary import PAD
from utils.exercises.checking import (
    ReadersFunction,
    as_tensor,
    exercise,
    expect,
    expect_close,
    expect_written,
)
from utils.seq2seq import Encoder


@exercise(
    1,
    "The parts of `cell.weight_ih @ x + cell.bias_ih` belong to r, z and the candidate, as do those of the state.",
    "r multiplies the part of the state within the tanh, and z is the share of the old state.",
)
def gru_step(answer: ReadersFunction) -> Iterator[str]:
    generator = torch.Generator().manual_seed(3)
    for d_in, d_h in ((3, 5), (7, 2)):
        cell = nn.GRUCell(d_in, d_h)
        with torch.no_grad():
            for parameter in cell.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator))
            x, state = torch.randn(d_in, generator=generator), torch.randn(d_h, generator=generator)
            expected = cell(x, state)
            mistakes = list(_mistakes_of_a_step(cell, x, state))
            result = answer(cell, x, state)
        result = as_tensor(result, "The new state has one number for each of the old one.", shape=(d_h,))
        case = f"for an input of {d_in} numbers and a state of {d_h}"
        expect_close(result.detach(), expected, case, name="the new state", mistakes=mistakes)
        yield f"{case} the new state is that of `nn.GRUCell`"


def _mistakes_of_a_step(cell: nn.GRUCell, x: Tensor, state: Tensor) -> Iterator[tuple[Tensor, str, str]]:
    from_x = (cell.weight_ih @ x + cell.bias_ih).chunk(3)
    from_state = (cell.weight_hh @ state + cell.bias_hh).chunk(3)
    first, second = (torch.sigmoid(from_x[i] + from_state[i]) for i in range(2))

    def step(r: Tensor, z: Tensor, of_state: Tensor) -> Tensor:
        return (1 - z) * torch.tanh(from_x[2] + of_state) + z * state

    hidden = cell.weight_hh.chunk(3)[2], cell.bias_hh.chunk(3)[2]
    yield (
        step(first, 1 - second, first * from_state[2]),
        "the shares of the candidate and of the old state are exchanged",
        "z is the share of the old state.",
    )
    yield (
        step(second, first, second * from_state[2]),
        "r and z are exchanged",
        "The first rows are those of r.",
    )
    yield (
        step(first, second, hidden[0] @ (first * state) + hidden[1]),
        "r multiplies the state before the product",
        "PyTorch multiplies the product by r: r ⊙ (U s + b).",
    )
    yield (
        step(first, second, from_state[2]),
        "the candidate does not use r",
        "Multiply the part of the state by r.",
    )
    yield (
        (1 - second) * (from_x[2] + first * from_state[2]) + second * state,
        "the candidate has no tanh",
        "The candidate is a tanh of the sum.",
    )


@exercise(
    2,
    "Take the logarithm of the probability of each right word, leave out those at pads, and take minus their mean.",
)
def loss(answer: ReadersFunction) -> Iterator[str]:
    generator = torch.Generator().manual_seed(5)
    for targets in ([[4, 2, PAD, PAD, PAD], [5, 6, 4, 5, 2]], [[3, 4, 2], [2, PAD, PAD], [6, 2, PAD]]):
        tgt_out = torch.tensor(targets)
        logits = 2 * torch.randn(*tgt_out.shape, 7, generator=generator)
        places = -logits.log_softmax(-1).gather(-1, tgt_out[..., None]).squeeze(-1)
        real = tgt_out != PAD
        sentences = (places * real).sum(1) / real.sum(1)
        mistakes = (
            (places.mean(), "the pads are in the mean", "`tgt_out != PAD` says which places are words."),
            (
                -places[real].mean(),
                "this is the mean of log p, without the minus",
                "A loss grows with the mistake.",
            ),
            (places[real].sum(), "this is the sum over the words", "Divide by the number of real words."),
            (
                (places * real).sum() / real.numel(),
                "the sum over real words is divided by the number of all places",
                "Divide by the number of real words.",
            ),
            (
                sentences.mean(),
                "this is the mean of the means of the sentences",
                "Each word counts the same, in a long sentence too.",
            ),
            (places[real].mean() / math.log(2), "this is in bits", "Take the natural logarithm."),
        )
        case = f"for a batch of {len(targets)} sentences"
        result = answer(logits, tgt_out)
        expect_close(result, places[real].mean(), case, name="the loss", mistakes=mistakes)
        yield f"{case} the loss is the mean over its real words"


@exercise(
    3,
    "In a sentence of n words the new place j holds the word of the old place n - 1 - j.",
    "A loop over the sentences is enough: `embedded[b, :n].flip(0)` turns the n words of one sentence around.",
)
def reverse_words(answer: ReadersFunction) -> Iterator[str]:
    vectors = torch.tensor([1.0, 2, 3, 8, 9])[:, None] * torch.tensor([1.0, 10])
    case = "for the vectors [1, 10], [2, 20], [3, 30] of three words and [8, 80], [9, 90] of two pads"
    same = "The result has the shape of `embedded`."
    result = answer(vectors[None], torch.tensor([3]))
    result = as_tensor(result, same, shape=(1, 5, 2), name=f"{case}, the result")
    pads, last = "Turn the words around, and leave the pads where they are.", "The last word comes first."
    mistakes = [
        (vectors[order], says, hint)
        for order, says, hint in (
            ([4, 3, 2], "the pads come first", pads),
            ([3, 4, 2], "the pads come first", pads),
            ([0, 1, 2], "nothing is turned around", "The words are along axis 1."),
            ([3, 2, 1], "you start one place too late", "The last word is at the place `lens - 1`."),
            ([1, 0, 2], "the last word stays where it is", "The n words of a sentence are `[:n]`."),
        )
    ]
    mistakes.append((vectors[:3].flip(1), "the numbers inside each vector are turned", "Turn the words."))
    expect_close(result[0, :3], vectors[:3].flip(0), case, last, name="the beginning", mistakes=mistakes)
    yield "the words of one sentence are turned around, and the pads stay behind them"
    torch.manual_seed(2)
    own = "Each sentence has a length of its own, and stays in its row."
    for num_places, lens in ((5, [5, 2, 3]), (7, [1, 7])):
        batch = torch.randn(len(lens), num_places, 3)
        result = as_tensor(answer(batch, torch.tensor(lens)), same, shape=tuple(batch.shape))
        for row, length in enumerate(lens):
            case = f"for a batch with the lengths {lens}, in sentence {row} of {length} words"
            expect_close(result[row, :length], batch[row, :length].flip(0), case, own)
    yield "each sentence of a batch has its own length"


@exercise(
    4,
    "Add the vectors of the real words, and divide by the number of real words.",
    "Equal scores give equal weights: `masked_softmax` of zeros, with the mask of the lengths, gives them.",
)
def mean_context(answer: ReadersFunction) -> Iterator[str]:
    case = "for the vectors [2] and [5] of two words and [30] of a pad"
    divide = "Divide by the number of real words, 2."
    mistakes = (
        (37 / 3, "the pad is in the mean", "Only the first `src_lens` places are words."),
        (7 / 3, "the sum of the two words is divided by 3", divide),
        (7.0, "this is the sum", divide),
        (5.0, "this is the last word, or the largest", "All real words have the same weight."),
    )
    context = answer(torch.tensor([[[2.0], [5.0], [30.0]]]), torch.tensor([2]))
    expect_close(context, [[3.5]], case, divide, name="the context", mistakes=mistakes)
    yield "the pad is not in the mean"
    torch.manual_seed(5)
    own = "Each sentence has a mean of its own: divide by its own length."
    for lens, num_places in (([5, 2, 3], 5), ([1, 7], 11)):
        batch = torch.randn(len(lens), num_places, 2)
        means = torch.stack([batch[row, :length].mean(dim=0) for row, length in enumerate(lens)])
        case = f"for a batch with the lengths {lens}"
        expect_close(answer(batch, torch.tensor(lens)), means, case, own, name="the context")
    yield "each sentence of a batch has a mean of its own"


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
    mistakes = (
        (right.flip(1), "the two columns are exchanged", "The forward half comes first."),
        (halves.abs().mean(dim=-1), "these are the mean changes", "Take the largest."),
        (halves.amax(dim=-1), "these are the largest changes with their signs", absolute),
        (_halves(deep, 5).abs().amax(dim=-1), "the sixth word was changed", "Places count from 0."),
    )
    fifth = "Compare the outputs of the encoder before and after, in the first 16 numbers and the last 16."
    expect_close(changes, right, case, fifth, name="moved", tolerance=1e-3, mistakes=mistakes)
    yield "these are the changes of the second layer"
    yield "both halves move at every word, and most at the fifth"


def _halves(encoder: Encoder, place: int) -> Tensor:
    """How much the outputs of both halves of the second layer change, for each of the 7 words."""
    src, lens = torch.tensor([[4, 7, 5, 9, 6, 8, 4]]), torch.tensor([7])
    changed = src.clone()
    changed[0, place] = 9
    with torch.no_grad():
        return (encoder(changed, lens)[0] - encoder(src, lens)[0])[0].unflatten(-1, (2, 16))
