"""Answers to the exercises of chapters/encoder_decoder."""

import torch
from answers import Answers

from utils.attention import length_mask, masked_softmax
from utils.exercises import encoder_decoder as check
from utils.seq2seq import Encoder

answers = Answers()


def by_places(embedded, lens):
    places = torch.arange(embedded.shape[1]).expand(len(lens), -1)
    source = torch.where(places < lens[:, None], lens[:, None] - 1 - places, places)
    return embedded.gather(1, source[..., None].expand_as(embedded))


answers.add(check.reverse_words, [by_places])


def with_masked_softmax(enc_outputs, src_lens):
    mask = length_mask(src_lens, enc_outputs.shape[1])
    return (masked_softmax(torch.zeros(mask.shape), mask) @ enc_outputs).squeeze(1)


answers.add(check.mean_context, [with_masked_softmax])
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
        ((RIGHT, RIGHT), "is not the encoder"),
    ],
)
test_right, test_wrong = answers.tests()
