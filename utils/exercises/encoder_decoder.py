"""Checks of the exercises of chapters/encoder_decoder."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from utils.exercises.checking import (
    Mistake,
    ReadersFunction,
    as_number,
    as_tensor,
    choose,
    compare_with_rubric,
    exercise,
    expect,
    expect_close,
    expect_written,
    recognise,
    show,
)
from utils.seq2seq import Encoder


@exercise(1, "predict", "Put z = 1 into the last line of the GRU. What is left of it?")
def closed_to_words(answer: object) -> Iterator[str]:
    yield from choose(
        answer,
        right="b",
        reason="the new state is the old one at every word, and the first state is a vector of zeros.",
        wrong={
            "a": "the last word enters the state through the candidate, and the candidate has the share 1 - z = 0.",
            "c": "no word enters the state, so there is nothing to average.",
            "d": "z = 1 does keep the whole old state. But the state begins with zeros, and no word is ever added.",
        },
    )


# Numbers that learners get for exercise 2.
PRODUCTS = (
    Mistake(
        (1 / 4,),
        "The product is 1/4 if both words très count. The reference has only one, so only one counts.",
        "4 of the 5 words are right.",
    ),
    Mistake(
        ((4 / 5 + 3 / 4 + 2 / 3 + 1 / 2) / 4,),
        "0.679 is the mean of the four shares; expected their product.",
        "BLEU multiplies the shares. One share of 0 makes it 0.",
    ),
    Mistake(
        (0.2**0.25,),
        "0.669 is the fourth root of the product. Expected the product itself.",
        "Multiply the four shares, and keep the root for the score.",
    ),
    Mistake(
        (4 / 6 * 3 / 5 * 2 / 4 * 1 / 3,),
        "The counts are divided by those of the reference; expected those of the translation.",
        "The translation has 5 words, so it has 4 pairs, 3 triples and 2 quadruples.",
    ),
    Mistake(
        (20,), "20 is the product in per cent; expected a number from 0 to 1.", "The first share is 0.8."
    ),
)
PENALTIES = (
    Mistake(
        (1,),
        "The penalty is 1 only for a translation that is not shorter than the reference. This one has 5 words for 6.",
        "With c = 5 and r = 6 the exponent is 1 - 6/5.",
    ),
    Mistake(
        (math.exp(1 / 6),),
        "1.181 is above 1, so it is no penalty: r and c are exchanged.",
        "r is the length of the reference, 6. c is the length of the translation, 5.",
    ),
    Mistake(
        (5 / 6,),
        "5/6 is the ratio of the lengths. The penalty is e to the 1 - r/c.",
        "The exponent is 1 - 6/5 = -0.2.",
    ),
    Mistake((-0.2,), "-0.2 is the exponent. The penalty is e to this power.", "It lies between 0 and 1."),
)


@exercise(
    2,
    "compute",
    "Count the right pieces of 1, 2, 3 and 4 words, and divide each count by the number of pieces.",
    "The penalty is e to the 1 - r/c, where r is the length of the reference and c that of the translation.",
)
def score_by_hand(product: object, penalty: object, score: object) -> Iterator[str]:
    shares = as_number(product, name="product")
    recognise([shares], PRODUCTS, tolerance=1e-3)
    expect(
        abs(shares - 1 / 5) < 1e-3,
        f"the product of the four shares is {show(shares)}; expected another number.",
        "The first share is 4/5, and the second is 3/4.",
    )
    yield "the product of the four shares is 1/5"
    factor = as_number(penalty, name="penalty")
    recognise([factor], PENALTIES, tolerance=3e-3)
    expect(
        abs(factor - math.exp(-0.2)) < 3e-3,
        f"the penalty is {show(factor)}; expected another number.",
        "The exponent is 1 - 6/5.",
    )
    yield "the penalty is e to the -0.2"
    yield from _score(as_number(score, name="score"))


def _score(value: float) -> Iterator[str]:
    right = 100 * math.exp(-0.2) * (1 / 5) ** (1 / 4)
    for wrong_score, says, hint in (
        (right / 100, "lies between 0 and 1; the formula has a factor 100", "Multiply by 100."),
        (
            100 * math.exp(-0.2) / 5,
            "has the product itself in it, without the root",
            "Take the fourth root of 1/5.",
        ),
        (100 * math.exp(-0.2) / math.sqrt(5), "has the square root of the product", "There are four shares."),
        (100 * (1 / 5) ** (1 / 4), "does not have the penalty in it", "Multiply by 0.819."),
        (
            100 * math.exp(-0.2) * 0.6792,
            "has the arithmetic mean of the four shares",
            "Take the fourth root of 1/5.",
        ),
    ):
        tolerance = 0.2 if wrong_score > 1 else 0.002
        expect(abs(value - wrong_score) > tolerance, f"The score {show(value)} {says}.", hint)
    expect(
        abs(value - right) < 0.2,
        f"the score is {show(value)}; expected another number.",
        "The score is 100 times the penalty times the fourth root of the product.",
    )
    yield "the score is 100 times the penalty times the fourth root of 1/5"


def _three(first: int, second: int, third: int) -> tuple[float, ...]:
    """The numbers of the vectors [1, 10], [2, 20] and so on that have these first numbers."""
    return tuple(number * factor for number in (first, second, third) for factor in (1, 10))


_TURNED_WRONGLY = (
    *(
        Mistake(
            _three(*begin),
            "the pads come first.",
            "Turn the words around, and leave the pads where they are.",
        )
        for begin in ((9, 8, 3), (8, 9, 3))
    ),
    Mistake(
        _three(1, 2, 3), "nothing is turned around.", "The last word comes first. The words are along axis 1."
    ),
    Mistake(
        (10, 1, 20, 2, 30, 3),
        "the numbers inside each vector are turned around.",
        "Turn the axis of the words.",
    ),
    Mistake(_three(8, 3, 2), "you start one place too late.", "The last word is at the place `lens - 1`."),
    Mistake(
        _three(2, 1, 3),
        "the last word stays where it is.",
        "A slice does not hold its end: the n words of a sentence are `[:n]`.",
    ),
    Mistake(_three(1, 3, 2), "the first word stays where it is.", "The first word has the place 0."),
    *(
        Mistake(_three(*begin), "the words are moved, not turned around.", "The last word comes first.")
        for begin in ((2, 3, 8), (9, 1, 2), (3, 1, 2), (2, 3, 1))
    ),
)


@exercise(
    3,
    "implement",
    "In a sentence of n words the new place j holds the word of the old place n - 1 - j.",
    "A loop over the sentences is enough: `embedded[b, :n].flip(0)` turns the n words of one sentence around.",
)
def reverse_words(answer: ReadersFunction) -> Iterator[str]:
    embedded = torch.tensor([1.0, 2, 3, 8, 9])[None, :, None] * torch.tensor([1.0, 10])
    first_result = as_tensor(answer(embedded, torch.tensor([3])), name="the result")
    expect(
        tuple(first_result.shape) == (1, 5, 2),
        f"for 1 sentence of 5 places and vectors of 2 numbers the shape is {tuple(first_result.shape)}; "
        "expected (1, 5, 2).",
        "The result has the shape of `embedded`.",
    )
    begins = (
        "for the vectors [1, 10], [2, 20], [3, 30] of three words and [8, 80], [9, 90] of two pads the result begins "
        f"with {', '.join(show(vector) for vector in first_result[0, :3])}"
    )
    recognise(first_result[0, :3], _TURNED_WRONGLY, f"{begins}: ", tolerance=1e-4)
    right = embedded[0, :3].flip(0).double()
    expect(
        torch.allclose(first_result[0, :3].double(), right), f"{begins}; expected [3, 30], [2, 20], [1, 10]."
    )
    yield "the words of one sentence are turned around, and the pads stay behind them"
    generator = torch.Generator().manual_seed(2)
    for num_places, lens in ((5, [5, 2, 3]), (7, [1, 7])):
        batch = torch.randn(len(lens), num_places, 3, generator=generator)
        result = as_tensor(answer(batch, torch.tensor(lens)), shape=tuple(batch.shape), name="the result")
        for row, length in enumerate(lens):
            expect_close(
                result[row, :length],
                batch[row, :length].flip(0),
                f"for a batch with the lengths {lens}, in sentence {row} of {length} words",
                "Each sentence has a length of its own, and stays in its row.",
            )
    yield "each sentence of a batch has its own length"


@exercise(
    4,
    "implement",
    "Add the vectors of the real words, and divide by the number of real words.",
    "Equal scores give equal weights: `masked_softmax` of zeros, with the mask of the lengths, gives them.",
)
def mean_context(answer: ReadersFunction) -> Iterator[str]:
    embedded = torch.tensor([[[2.0], [5.0], [30.0]]])
    example = "for the vectors [2] and [5] of two words and [30] of a pad"
    context = as_tensor(answer(embedded, torch.tensor([2])), name="the context")
    expect(
        tuple(context.shape) != (1, 1, 1),
        "for one sentence and vectors of 1 number the context has the shape (1, 1, 1); expected (1, 1).",
        "Remove the axis of the words with `squeeze(1)`.",
    )
    expect(
        tuple(context.shape) == (1, 1),
        f"for one sentence and vectors of 1 number the context has the shape {tuple(context.shape)}; expected (1, 1).",
        "One vector for each sentence, as wide as the vectors of the words.",
    )
    value = context.item()
    for wrong_value, says, hint in (
        (37 / 3, "the pad is in the mean", "Only the first `src_lens` places are words."),
        (7 / 3, "the sum of the two words is divided by 3", "Divide by the number of real words, 2."),
        (7.0, "this is the sum", "Divide by the number of real words."),
        (18.5, "the sum of all three is divided by 2", "The pad may not enter the sum."),
        (5.0, "this is the last word, or the largest", "All real words have the same weight."),
        (2.0, "this is the first word alone", "A slice does not hold its end: the n words are `[:n]`."),
        (3.0, "what stands after the point is lost", "Divide with `/`, and keep the kind of number."),
    ):
        expect(
            abs(value - wrong_value) > 1e-4,
            f"{example} the context is {show(value)}: {says}. Expected 3.5.",
            hint,
        )
    expect(abs(value - 3.5) < 1e-4, f"{example} the context is {show(value)}; expected 3.5.")
    yield "the pad is not in the mean"
    generator = torch.Generator().manual_seed(5)
    for lens, num_places in (([5, 2, 3], 5), ([1, 7], 11)):
        batch = torch.randn(len(lens), num_places, 2, generator=generator)
        means = torch.stack([batch[row, :length].mean(dim=0) for row, length in enumerate(lens)])
        case = f"for a batch with the lengths {lens}"
        hint = "Each sentence has a mean of its own: divide by its own length."
        expect_close(answer(batch, torch.tensor(lens)), means, case, hint, name="the context")
    yield "each sentence of a batch has a mean of its own"


@exercise(
    5,
    "experiment",
    "Run the encoder on both sentences, subtract the outputs, and take absolute values.",
    "`unflatten(-1, (2, 16))` cuts the 32 numbers into the two halves, and `amax(dim=-1)` takes the largest of each.",
)
def two_layers(encoder: object, moved: object) -> Iterator[str]:
    deep = getattr(encoder, "function", encoder)
    expect_written(moved)
    expect(isinstance(deep, Encoder), "`deep` is not the encoder of the cell. Run that cell again.")
    changes = as_tensor(moved, name="moved")
    expect(
        tuple(changes.shape) != (2, 7),
        "moved has the shape (2, 7); expected (7, 2).",
        "A row for each word, a column for each half: `moved.T` has this shape.",
    )
    expect(
        tuple(changes.shape) == (7, 2),
        f"moved has the shape {tuple(changes.shape)}; expected (7, 2).",
        "A row for each of the 7 words, a column for each half.",
    )
    expect(
        changes.dtype != torch.bool,
        "moved holds True and False; expected numbers, the largest change in each half.",
        "Keep the numbers before you compare them with 0.",
    )
    yield "there is a row for each word and a column for each half"
    changes = changes.double()
    expect(
        (changes >= 0).all(),
        "some numbers of moved are negative.",
        "Take absolute values before the maximum.",
    )
    expect(
        not (changes.any() and not changes[:4, 0].any() and not changes[5:, 1].any()),
        "the forward half does not move before the fifth word, and the backward half not after it. In one layer it "
        "would be so.",
        "Measure the outputs of `deep`. Its second layer reads both halves of the first.",
    )
    recognise(
        changes,
        _wrongly_moved(deep),
        f"moved is {show(changes[:2])} for the first two words: ",
        tolerance=1e-3,
    )
    right = _largest(_difference(deep, 4).abs())
    place = int((changes - right).abs().amax(dim=1).argmax())
    expect(
        torch.allclose(changes, right.double(), rtol=1e-3, atol=1e-3),
        f"for word {place + 1}, moved is {show(changes[place])}; expected {show(right[place].double())}.",
        "Change the fifth word to 9, and compare the outputs of the encoder before and after.",
    )
    yield "these are the changes of the second layer"
    yield "both halves move at every word, and most at the fifth"


def _wrongly_moved(deep: Encoder) -> list[Mistake]:
    difference = _difference(deep, 4).abs()
    interleaved = difference.unflatten(-1, (16, 2)).amax(dim=1)
    mistakes = (
        (
            interleaved,
            "the halves are split wrongly: every other number is in a half",
            "The first 16 numbers are the forward half.",
        ),
        (_largest(difference).flip(1), "the two columns are exchanged", "The forward half comes first."),
        (difference.unflatten(-1, (2, 16)).mean(dim=-1), "these are the mean changes", "Take the largest."),
        (
            difference.unflatten(-1, (2, 16)).sum(dim=-1),
            "these are the sums of the changes",
            "Take the largest.",
        ),
        (
            _largest(_difference(deep, 4)),
            "these are the largest changes with their signs",
            "A change of -0.2 is larger than one of 0.1: take absolute values before the maximum.",
        ),
        (_largest(_difference(deep, 5).abs()), "the sixth word was changed", "Places count from 0."),
        (
            _largest(_difference(deep, 3).abs()),
            "nothing moves: place 3 held the id 9 already",
            "Places count from 0.",
        ),
    )
    return [
        Mistake(tuple(changes.flatten().tolist()), f"{says}.", hint)
        for changes, says, hint in mistakes
        if not torch.allclose(changes, _largest(difference), atol=2e-3)
    ]


def _difference(encoder: Encoder, place: int) -> Tensor:
    """How much each output of the second layer changes, for each of the 7 words."""
    src, lens = torch.tensor([[4, 7, 5, 9, 6, 8, 4]]), torch.tensor([7])
    changed = src.clone()
    changed[0, place] = 9
    with torch.no_grad():
        return (encoder(changed, lens)[0] - encoder(src, lens)[0])[0]


def _largest(difference: Tensor) -> Tensor:
    return difference.unflatten(-1, (2, 16)).amax(dim=-1)


@exercise(6, "open")
def accuracy_and_translation(answer: object) -> Iterator[str]:
    yield from compare_with_rubric(
        answer,
        (
            "It says what the 97% measure: the next word when the decoder reads the true words before it.",
            "It says what is different in a translation: the decoder reads its own words, also the wrong ones.",
            "It says that one wrong word makes a sentence wrong: with 97% per word, and if mistakes were independent, "
            "a sentence of 16 words would be without mistake in about 61% of the cases (0.97 to the 16).",
            "It says what to measure instead: BLEU of translations, or how many are the same as the reference, on "
            "sentences that were not in training.",
        ),
    )
