"""Answers to the exercises of chapters/encoder_decoder."""

import math

import torch
from answers import Answers

from utils.attention import length_mask, masked_softmax
from utils.exercises import encoder_decoder as check
from utils.seq2seq import Encoder

answers = Answers(check)

# ---- Exercise 1 ----

for letter in ("b", "B)", " b"):
    answers.right(check.closed_to_words, letter)
answers.wrong(check.closed_to_words, "a", says="through the candidate", hint="z = 1")
answers.wrong(check.closed_to_words, "c", says="nothing to average", hint="z = 1")
answers.wrong(check.closed_to_words, "d", says="no word is ever added", hint="z = 1")
answers.wrong(check.closed_to_words, 0, says="0 is none", hint="one letter in quotes")

# ---- Exercise 2 ----

PENALTY = math.exp(-0.2)

answers.right(check.score_by_hand, 1 / 5, PENALTY, 54.75)
answers.right(check.score_by_hand, "1/5", "0.819", 54.8)
answers.right(check.score_by_hand, torch.tensor(0.2), [0.82], "54.7")
answers.wrong(check.score_by_hand, 1 / 4, PENALTY, 57.9, says="both words très count", hint="4 of the 5")
answers.wrong(
    check.score_by_hand, 0.679, PENALTY, 55.6, says="the mean of the four shares", hint="multiplies"
)
answers.wrong(check.score_by_hand, 0.669, PENALTY, 54.75, says="the fourth root of", hint="for the score")
answers.wrong(check.score_by_hand, 1 / 15, PENALTY, 41.6, says="those of the reference", hint="4 pairs")
answers.wrong(check.score_by_hand, 20, PENALTY, 54.75, says="product in per cent", hint="0.8")
answers.wrong(check.score_by_hand, 1 / 5, -0.2, 54.75, says="is the exponent", hint="between 0 and 1")
answers.wrong(check.score_by_hand, 2 / 15, PENALTY, 49, says="is 0.1333; expected", hint="4/5")
answers.wrong(check.score_by_hand, 1 / 5, 1, 66.9, says="not shorter than the reference", hint="1 - 6/5")
answers.wrong(check.score_by_hand, 1 / 5, math.exp(1 / 6), 79, says="r and c are exchanged", hint="6")
answers.wrong(check.score_by_hand, 1 / 5, 5 / 6, 55.7, says="the ratio of the lengths", hint="-0.2")
answers.wrong(check.score_by_hand, 1 / 5, 0.2, 13, says="the penalty is 0.2", hint="1 - 6/5")
answers.wrong(check.score_by_hand, 1 / 5, PENALTY, 0.5475, says="factor 100", hint="Multiply by 100")
answers.wrong(check.score_by_hand, 1 / 5, PENALTY, 16.4, says="without the root", hint="fourth root")
answers.wrong(check.score_by_hand, 1 / 5, PENALTY, 36.6, says="the square root", hint="four shares")
answers.wrong(check.score_by_hand, 1 / 5, PENALTY, 66.9, says="does not have the penalty", hint="0.819")
answers.wrong(check.score_by_hand, 1 / 5, PENALTY, 55.6, says="the arithmetic mean", hint="fourth root")
answers.wrong(check.score_by_hand, 1 / 5, PENALTY, 80, says="the score is 80", hint="times the penalty")
answers.wrong(check.score_by_hand, "a fifth", PENALTY, 54.8, says="the text 'a fifth'", hint="pieces")

# ---- Exercise 3 ----


def row_by_row(embedded, lens):
    turned = embedded.clone()
    for row, length in enumerate(lens.tolist()):
        turned[row, :length] = embedded[row, :length].flip(0)
    return turned


def by_places(embedded, lens):
    places = torch.arange(embedded.shape[1]).expand(len(lens), -1)
    source = torch.where(places < lens[:, None], lens[:, None] - 1 - places, places)
    return embedded.gather(1, source[..., None].expand_as(embedded))


def in_lists_with_zeros_at_the_pads(embedded, lens):
    width, places = embedded.shape[2], embedded.shape[1]
    return [
        [*row[:n].flip(0).tolist(), *[[0.0] * width] * (places - n)]
        for row, n in zip(embedded, lens.tolist(), strict=True)
    ]


def flipped(embedded, lens):
    return embedded.flip(1)


def flipped_vectors(embedded, lens):
    return embedded.flip(-1)


def flipped_batch(embedded, lens):
    return embedded.flip(0)


def one_place_too_far(embedded, lens):
    places = torch.arange(embedded.shape[1]).expand(len(lens), -1)
    source = torch.where(places < lens[:, None], lens[:, None] - places, places)
    return embedded.gather(1, source[..., None].expand_as(embedded))


def moved_in_a_circle(embedded, lens):
    return embedded.roll(1, dims=1)


def pads_put_first(embedded, lens):
    return torch.stack([torch.cat([row[n:], row[:n].flip(0)]) for row, n in zip(embedded, lens, strict=True)])


def without_the_last_word(embedded, lens):
    return by_places(embedded, lens - 1)


def first_length_for_all(embedded, lens):
    return by_places(embedded, lens[:1].expand(len(lens)))


def cut_to_the_longest(embedded, lens):
    return by_places(embedded, lens)[:, : int(lens.max())]


def written_into_the_argument(embedded, lens):
    for row, length in enumerate(lens.tolist()):
        embedded[row, :length] = embedded[row, :length].flip(0)
    return embedded


for function in (row_by_row, by_places, in_lists_with_zeros_at_the_pads):
    answers.right(check.reverse_words, function)
for function, says, hint in (
    (flipped, "[9, 90], [8, 80], [3, 30]: the pads come first", "leave the pads"),
    (pads_put_first, "[8, 80], [9, 90], [3, 30]: the pads come first", "leave the pads"),
    (without_the_last_word, "the last word stays", "[:n]"),
    (flipped_vectors, "the numbers inside each vector", "axis of the words"),
    (flipped_batch, "nothing is turned around", "along axis 1"),
    (one_place_too_far, "one place too late", "lens - 1"),
    (moved_in_a_circle, "the words are moved", "last word comes first"),
    (first_length_for_all, "in sentence 1 of 2 words", "a length of its own"),
    (cut_to_the_longest, "the shape is (1, 3, 2)", "the shape of `embedded`"),
    (written_into_the_argument, "changes what it is given", "new object"),
):
    answers.wrong(check.reverse_words, function, says=says, hint=hint)

# ---- Exercise 4 ----


def with_masked_softmax(enc_outputs, src_lens):
    mask = length_mask(src_lens, enc_outputs.shape[1])
    return (masked_softmax(torch.zeros(mask.shape), mask) @ enc_outputs).squeeze(1)


def with_a_sum(enc_outputs, src_lens):
    real = torch.arange(enc_outputs.shape[1]) < src_lens[:, None]
    return (enc_outputs * real[..., None]).sum(dim=1) / src_lens[:, None]


def in_lists(enc_outputs, src_lens):
    return [
        [float(column[:n].mean()) for column in sentence.T]
        for sentence, n in zip(enc_outputs, src_lens, strict=True)
    ]


def of_all_places(enc_outputs, src_lens):
    return enc_outputs.mean(dim=1)


def divided_by_all_places(enc_outputs, src_lens):
    return with_a_sum(enc_outputs, src_lens) * src_lens[:, None] / enc_outputs.shape[1]


def not_divided(enc_outputs, src_lens):
    return with_a_sum(enc_outputs, src_lens) * src_lens[:, None]


def sum_of_all_places(enc_outputs, src_lens):
    return enc_outputs.sum(dim=1) / src_lens[:, None]


def the_last_word(enc_outputs, src_lens):
    return enc_outputs[torch.arange(len(src_lens)), src_lens - 1]


def without_the_last_of_the_words(enc_outputs, src_lens):
    return torch.stack([row[: n - 1].mean(dim=0) for row, n in zip(enc_outputs, src_lens, strict=True)])


def in_whole_numbers(enc_outputs, src_lens):
    return with_a_sum(enc_outputs, src_lens).int()


def with_an_axis_of_queries(enc_outputs, src_lens):
    return with_a_sum(enc_outputs, src_lens)[:, None]


def one_mean_for_all(enc_outputs, src_lens):
    real = torch.arange(enc_outputs.shape[1]) < src_lens[:, None]
    return enc_outputs[real].mean(dim=0).expand(len(src_lens), -1)


def one_number_for_each_sentence(enc_outputs, src_lens):
    return with_a_sum(enc_outputs, src_lens).mean(dim=-1)


for function in (with_masked_softmax, with_a_sum, in_lists):
    answers.right(check.mean_context, function)
for function, says, hint in (
    (of_all_places, "the pad is in the mean", "src_lens"),
    (divided_by_all_places, "divided by 3", "real words, 2"),
    (not_divided, "this is the sum", "Divide by"),
    (sum_of_all_places, "divided by 2", "may not enter"),
    (the_last_word, "this is the last word", "the same weight"),
    (without_the_last_of_the_words, "the first word alone", "[:n]"),
    (in_whole_numbers, "after the point is lost", "with `/`"),
    (with_an_axis_of_queries, "the shape (1, 1, 1)", "squeeze(1)"),
    (one_mean_for_all, "for a batch with the lengths", "its own length"),
    (one_number_for_each_sentence, "has the shape (1,)", "as wide as"),
):
    answers.wrong(check.mean_context, function, says=says, hint=hint)

# ---- Exercise 5 ----

torch.manual_seed(0)
DEEP = Encoder(10, 8, 16, num_layers=2)
SHALLOW = Encoder(10, 8, 16)
SRC, LENS = torch.tensor([[4, 7, 5, 9, 6, 8, 4]]), torch.tensor([7])


def changes(place, encoder=DEEP):
    changed = SRC.clone()
    changed[0, place] = 9
    with torch.no_grad():
        return (encoder(changed, LENS)[0] - encoder(SRC, LENS)[0])[0]


def halves(difference):
    return difference.unflatten(-1, (2, 16)).abs().amax(dim=-1)


RIGHT = halves(changes(4))

answers.right(check.two_layers, DEEP, RIGHT)
answers.right(check.two_layers, DEEP, RIGHT.tolist())
answers.right(check.two_layers, DEEP, [row.double().numpy().round(4).tolist() for row in RIGHT])
for moved, says, hint in (
    (torch.ones(7, 2), "for word", "Change the fifth word"),
    (changes(4).abs().unflatten(-1, (16, 2)).amax(dim=1), "the halves are split wrongly", "first 16"),
    (RIGHT.flip(1), "columns are exchanged", "forward half comes first"),
    (changes(4).unflatten(-1, (2, 16)).abs().mean(dim=-1), "the mean changes", "largest"),
    (changes(4).unflatten(-1, (2, 16)).abs().sum(dim=-1), "the sums of the changes", "largest"),
    (changes(4).unflatten(-1, (2, 16)).amin(dim=-1), "are negative", "absolute"),
    (changes(4).unflatten(-1, (2, 16)).amax(dim=-1), "with their signs", "absolute values before"),
    (halves(changes(4, SHALLOW)), "In one layer it would be so", "second layer"),
    (halves(changes(5)), "the sixth word was changed", "from 0"),
    (halves(changes(3)), "nothing moves", "from 0"),
    (RIGHT.T, "has the shape (2, 7)", "moved.T"),
    (RIGHT > 0, "True and False", "Keep the numbers"),
    (changes(4).abs(), "has the shape (7, 32)", "column for each half"),
):
    answers.wrong(check.two_layers, DEEP, moved, says=says, hint=hint)
answers.wrong(check.two_layers, RIGHT, RIGHT, says="is not the encoder", hint="subtract the outputs")

# ---- Exercise 6 ----

answers.right(
    check.accuracy_and_translation,
    "The decoder reads the true words in one case and its own in the other. " * 2,
)
answers.wrong(
    check.accuracy_and_translation, "Words are not sentences.", says="has 4 words", hint="before you look"
)

test_right, test_wrong, test_number = answers.tests()
