"""Checks of the exercises of chapters/measuring."""

import math
from collections.abc import Iterator

from utils.exercises.checking import (
    ReadersFunction,
    exercise,
    expect,
    expect_numbers,
    show,
)


@exercise(
    2,
    "Count the right pieces of 1, 2, 3 and 4 words, and divide each count by the number of pieces.",
    "The penalty is e to the 1 - r/c, where r is the length of the reference and c that of the translation.",
)
def score_by_hand(product: object, penalty: object, score: object) -> Iterator[str]:
    mistakes = (
        (1 / 4, "both words très count", "The reference has one: 4 of 5 words are right."),
        (0.679, "this is the mean of the four shares", "BLEU multiplies the shares."),
        (1 / 15, "you divided by the numbers of the reference", "The translation has 5 words."),
    )
    expect_numbers({"product": product}, [1 / 5], mistakes, "The first share is 4/5.", tolerance=1e-3)
    yield "the product of the four shares is 1/5"
    exponent = "With c = 5 and r = 6 the exponent is 1 - 6/5."
    mistakes = (
        (1, "this is for a translation that is not shorter than the reference", exponent),
        (math.exp(1 / 6), "r and c are exchanged", exponent),
    )
    expect_numbers({"penalty": penalty}, [math.exp(-0.2)], mistakes, exponent, tolerance=3e-3)
    yield "the penalty is e to the -0.2"
    factor, root = 100 * math.exp(-0.2), "Take the fourth root of 1/5."
    right = factor * (1 / 5) ** (1 / 4)
    mistakes = (
        (right / 100, "the factor 100 is missing", "Multiply by 100."),
        (factor / 5, "the root is missing", root),
        (100 * (1 / 5) ** (1 / 4), "the penalty is missing", "Multiply by 0.819."),
    )
    expect_numbers({"score": score}, [right], mistakes, root, tolerance=0.0035)
    yield "the score is 100 times the penalty times the fourth root of 1/5"


@exercise(
    3,
    "Keep the number of the best epoch so far, and compare it with the number of the present one.",
    "Break when the present epoch is `patience` epochs after the best one, and return both numbers.",
)
def stop(answer: ReadersFunction) -> Iterator[str]:
    def case(losses: list[float], patience: int, right: tuple[int, int], *wrong: tuple[object, str]) -> None:
        given = answer(list(losses), patience)
        text = f"for the losses {losses} and a patience of {patience} your function returns {show(given)}"
        is_pair = isinstance(given, tuple | list) and len(given) == 2
        expect(is_pair, f"{text}; expected two numbers.", "End it with `return stopped_after, best_epoch`.")
        given = tuple(given)
        for mistake, message in wrong:
            expect(given != mistake, f"{text}: {message}.")
        expect(given == right, f"{text}; expected {right}.")

    falling = [3.0, 2.0, 1.5, 1.2]
    case(falling, 2, (4, 4), ((3, 3), "epochs are counted from 1"), ((5, 4), "there is no fifth epoch"))
    yield "a curve that falls is read to its end"
    rising = [3.0, 2.0, 2.2, 2.4, 2.6]
    case(
        rising,
        2,
        (4, 2),
        ((2, 4), "the two numbers are exchanged"),
        ((3, 2), "it stops one epoch too early"),
        ((5, 2), "it stops too late, or never"),
        ((4, 4), "the second number is not the epoch with the lowest loss"),
        ((3, 1), "epochs are counted from 1"),
    )
    yield "it stops when the patience is at its end"
    bump = [3.0, 2.0, 2.1, 1.9, 2.2, 2.3, 1.0]
    anew = "epoch 4 has a new lowest loss, and the count begins anew"
    case(bump, 2, (6, 4), ((4, 2), anew), ((5, 4), anew))
    yield "a new lowest loss begins the count anew"
    case([2.0, 2.0, 2.0], 2, (3, 1), ((3, 3), "an equal loss is not a new lowest one"))
    yield "an equal loss is not a new lowest one"
