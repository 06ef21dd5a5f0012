"""Answers to the exercises of chapters/encoder_decoder."""

from functools import partial
from math import log

import torch
from answers import Answers
from torch.nn.functional import cross_entropy

from utils.attention import length_mask, masked_softmax
from utils.corpus.vocabulary import PAD
from utils.exercises import encoder_decoder as check
from utils.seq2seq import Encoder

answers = Answers()


def step(cell, x, state, *, exchanged=False, before=False, order=(0, 1), squash=torch.tanh, reset=True):
    from_x = (cell.weight_ih @ x + cell.bias_ih).chunk(3)
    from_state = (cell.weight_hh @ state + cell.bias_hh).chunk(3)
    r, z = (torch.sigmoid(from_x[i] + from_state[i]) for i in order)
    of_state = r * from_state[2] if reset else from_state[2]
    if before:
        of_state = cell.weight_hh.chunk(3)[2] @ (r * state) + cell.bias_hh.chunk(3)[2]
    candidate = squash(from_x[2] + of_state)
    return z * candidate + (1 - z) * state if exchanged else (1 - z) * candidate + z * state


answers.add(
    check.gru_step,
    [step, lambda cell, x, state: cell(x[None], state[None])[0]],
    [
        (partial(step, exchanged=True), "the shares of the candidate"),
        (partial(step, before=True), "before the product"),
        (partial(step, order=(1, 0)), "r and z are exchanged"),
        (partial(step, squash=lambda a: a), "has no tanh"),
        (partial(step, reset=False), "does not use r"),
        (lambda cell, x, state: cell(x[None], state[None]), "shape"),
    ],
)


def of_words(logits, tgt_out):
    return cross_entropy(logits.flatten(0, 1), tgt_out.flatten(), ignore_index=PAD)


def of_places(logits, tgt_out):
    return cross_entropy(logits.mT, tgt_out, ignore_index=PAD, reduction="none")


answers.add(
    check.loss,
    [of_words, lambda logits, tgt_out: of_words(logits, tgt_out).item()],
    [
        (lambda logits, tgt: cross_entropy(logits.mT, tgt), "the pads are in the mean"),
        (lambda logits, tgt: -of_words(logits, tgt), "without the minus"),
        (
            lambda logits, tgt: cross_entropy(logits.mT, tgt, ignore_index=PAD, reduction="sum"),
            "sum over the words",
        ),
        (lambda logits, tgt: of_words(logits, tgt) / log(2), "in bits"),
        (lambda logits, tgt: of_places(logits, tgt).mean(), "divided by the number of all places"),
        (
            lambda logits, tgt: (of_places(logits, tgt).sum(1) / (tgt != PAD).sum(1)).mean(),
            "the mean of the means of the sentences",
        ),
    ],
)


def row_by_row(embedded, lens):
    turned = embedded.clone()
    for row, length in enumerate(lens.tolist()):
        turned[row, :length] = embedded[row, :length].flip(0)
    return turned


def by_places(embedded, lens, shift=1):
    places = torch.arange(embedded.shape[1]).expand(len(lens), -1)
    source = torch.where(places < lens[:, None], lens[:, None] - shift - places, places)
    return embedded.gather(1, source[..., None].expand_as(embedded))


def in_lists_with_zeros_at_the_pads(embedded, lens):
    width, places = embedded.shape[2], embedded.shape[1]
    return [
        [*row[:n].flip(0).tolist(), *[[0.0] * width] * (places - n)]
        for row, n in zip(embedded, lens.tolist(), strict=True)
    ]


answers.add(
    check.reverse_words,
    [row_by_row, by_places, in_lists_with_zeros_at_the_pads],
    [
        (lambda embedded, lens: embedded.flip(1), "the pads come first"),
        (lambda embedded, lens: embedded.flip(-1), "inside each vector"),
        (lambda embedded, lens: embedded.flip(0), "nothing is turned around"),
        (lambda embedded, lens: by_places(embedded, lens, shift=0), "one place too late"),
        (lambda embedded, lens: by_places(embedded, lens - 1), "the last word stays"),
        (lambda embedded, lens: by_places(embedded, lens[:1].expand(len(lens))), "in sentence 1 of 2 words"),
        (lambda embedded, lens: by_places(embedded, lens)[:, : int(lens.max())], "has the shape (1, 3, 2)"),
    ],
)


def with_masked_softmax(enc_outputs, src_lens):
    mask = length_mask(src_lens, enc_outputs.shape[1])
    return (masked_softmax(torch.zeros(mask.shape), mask) @ enc_outputs).squeeze(1)


def with_a_sum(enc_outputs, src_lens):
    real = torch.arange(enc_outputs.shape[1]) < src_lens[:, None]
    return (enc_outputs * real[..., None]).sum(dim=1) / src_lens[:, None]


def one_mean_for_all(enc_outputs, src_lens):
    real = torch.arange(enc_outputs.shape[1]) < src_lens[:, None]
    return enc_outputs[real].mean(dim=0).expand(len(src_lens), -1)


answers.add(
    check.mean_context,
    [with_masked_softmax, with_a_sum],
    [
        (lambda outputs, lens: outputs.mean(dim=1), "the pad is in the mean"),
        (lambda outputs, lens: with_a_sum(outputs, lens) * lens[:, None] / outputs.shape[1], "divided by 3"),
        (lambda outputs, lens: with_a_sum(outputs, lens) * lens[:, None], "this is the sum"),
        (lambda outputs, lens: outputs[torch.arange(len(lens)), lens - 1], "this is the last word"),
        (lambda outputs, lens: with_a_sum(outputs, lens)[:, None], "has the shape (1, 1, 1)"),
        (one_mean_for_all, "for a batch with the lengths"),
    ],
)
torch.manual_seed(0)
DEEP = Encoder(10, 8, 16, num_layers=2)
SHALLOW = Encoder(10, 8, 16)
SRC, LENS = torch.tensor([[4, 7, 5, 9, 6, 8, 4]]), torch.tensor([7])


def halves(place, encoder=DEEP):
    changed = SRC.clone()
    changed[0, place] = 9
    with torch.no_grad():
        return (encoder(changed, LENS)[0] - encoder(SRC, LENS)[0])[0].unflatten(-1, (2, 16))


RIGHT = halves(4).abs().amax(dim=-1)
answers.add(
    check.two_layers,
    [(DEEP, RIGHT), (DEEP, [row.double().numpy().round(4).tolist() for row in RIGHT])],
    [
        ((DEEP, torch.ones(7, 2)), "moved at [0, 0] is 1"),
        ((DEEP, RIGHT.flip(1)), "columns are exchanged"),
        ((DEEP, halves(4).abs().mean(dim=-1)), "the mean changes"),
        ((DEEP, halves(4).amax(dim=-1)), "with their signs"),
        ((DEEP, halves(4, SHALLOW).abs().amax(dim=-1)), "In one layer it would be so"),
        ((DEEP, halves(5).abs().amax(dim=-1)), "the sixth word was changed"),
        ((DEEP, RIGHT.T), "has the shape (2, 7)"),
        ((RIGHT, RIGHT), "is not the encoder"),
    ],
)
test_right, test_wrong = answers.tests()
