"""Checks of the exercises of chapters/measuring."""

import math
from collections import Counter
from collections.abc import Iterator

from utils.exercises.checking import (
    ReadersFunction,
    as_tensor,
    exercise,
    expect,
    expect_close,
    expect_numbers,
    show,
)


def _ngrams(words: list[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def _eight(written: list[str], reference: list[str]) -> list[int]:
    """How many n-grams are right and how many there are, for n from 1 to 4."""
    numbers = []
    for n in (1, 2, 3, 4):
        ours, theirs = Counter(_ngrams(written, n)), Counter(_ngrams(reference, n))
        numbers += [sum(min(count, theirs[gram]) for gram, count in ours.items()), sum(ours.values())]
    return numbers


@exercise(
    1,
    "`Counter(zip(words, words[1:]))` counts the pairs. How do you get triples?",
    "For each n-gram of the translation add the smaller one of its count there and its count in the reference.",
)
def clipped_counts(answer: ReadersFunction) -> Iterator[str]:
    def ten(written: str, reference: str) -> tuple[list[str], list[str], list[int]]:
        ours, theirs = written.split(), reference.split()
        return ours, theirs, [*_eight(ours, theirs), len(ours), len(theirs)]

    def case(ours: list[str], theirs: list[str]) -> str:
        return f"for the translation “{' '.join(ours)}” and the reference “{' '.join(theirs)}”"

    ours, theirs, right = ten("la petite petite fleur dort", "la petite fleur blanche dort bien")
    where = case(ours, theirs)
    shape = "Return ten numbers: right and all n-grams for n = 1, 2, 3 and 4, and then the two lengths."
    numbers = as_tensor(answer(ours, theirs), shape, shape=(10,), name=f"{where}, the result")
    grams = [(_ngrams(ours, n), _ngrams(theirs, n)) for n in (1, 2, 3, 4)]
    clip = "“petite” is twice in the translation and once in the reference: it counts once."
    lengths = right[8:]
    unclipped = [x for a, b in grams for x in (sum(g in b for g in a), len(a))]
    distinct = [x for a, b in grams for x in (len(set(a) & set(b)), len(set(a)))]
    of_reference = [x for k, (_, b) in enumerate(grams) for x in (right[2 * k], len(b))]
    too_few = [x for n in (1, 2, 3, 4) for x in (right[2 * n - 2], len(ours) - n)]
    mistakes = (
        ([*unclipped, *lengths], "the counts are not clipped", clip),
        (
            [*distinct, *lengths],
            "an n-gram that comes twice is counted once among all n-grams",
            "Keep all counts.",
        ),
        (
            [*of_reference, *lengths],
            "you counted all n-grams of the reference",
            "Divide by those of the translation.",
        ),
        ([*too_few, *lengths], "one n-gram is missing each time", "Five words have 4 pairs."),
        (
            [*right[:8], *lengths[::-1]],
            "the two lengths are exchanged",
            "That of the translation comes first.",
        ),
        ([*right[0:8:2], *right[1:8:2], *lengths], "the eight numbers have another order", shape),
        (
            [right[i ^ 1] for i in range(8)] + lengths,
            "right and all n-grams are exchanged",
            "The right ones come first.",
        ),
    )
    expect_close(numbers, right, where, "Write the 5 words down and count by hand.", mistakes=mistakes)
    yield "a word that is repeated counts as often as the reference has it"
    ours, theirs, right = ten("le le le le", "le chat voit le chien .")
    once = ([1, *right[1:]], "an n-gram counts once here", "The reference has “le” twice, so two count.")
    expect_close(answer(ours, theirs), right, case(ours, theirs), "Count “le” by hand.", mistakes=[once])
    yield "a word that the reference has twice may count twice"
    for pair in (
        ("le chat", "le chat"),
        ("il dort", "elle dort très bien ici ."),
        ("a b a b a b c", "b a b a b c a"),
    ):
        ours, theirs, right = ten(*pair)
        short = "Count all n-grams by hand; a text of two words has no triple: 0 of 0."
        expect_close(answer(ours, theirs), right, case(ours, theirs), short)
    yield "shorter and longer texts have the right counts, too"


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
