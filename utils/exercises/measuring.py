"""Checks of the exercises of chapters/measuring."""

import math
from collections import Counter

import torch
from torch import Tensor

from utils.exercises.tables import Case, Row, against, numbers


def _right(ours: Counter, theirs: Counter) -> int:
    return (ours & theirs).total()


def _kinds(ours: Counter, theirs: Counter) -> int:
    return len(ours.keys() & theirs.keys())


@against(
    1,
    "`Counter(zip(words, words[1:]))` counts the pairs. How do you get triples?",
    "For each n-gram of the translation add the smaller one of its count there and its count in the reference.",
    cases=[
        Case(
            f"for the translation “{written}” and the reference “{reference}”",
            (written.split(), reference.split()),
            point,
            "Count by hand: for n = 1, 2, 3 and 4 the right n-grams and all of them, and then the two lengths.",
        )
        for written, reference, point in (
            (
                "la petite petite fleur dort",
                "la petite fleur blanche dort bien",
                "a word that is repeated counts as often as the reference has it",
            ),
            ("le le le le", "le chat voit le chien .", "a word that the reference has twice may count twice"),
            ("le chat", "le chat", "a text of two words has no triple: 0 of 0"),
            ("a b a b a b c", "b a b a b c a", "longer texts have the right counts, too"),
        )
    ],
    mistakes={
        "the counts are not clipped | The reference has “petite” once, so it counts once.": {
            "hits": lambda ours, theirs: sum(ours[gram] for gram in ours if gram in theirs)
        },
        "an n-gram that comes twice is counted once among all n-grams | Keep all counts.": {
            "hits": _kinds,
            "size": lambda ours, _: len(ours),
        },
        "an n-gram counts once here | The reference has “le” twice, so two count.": {"hits": _kinds},
        "you counted those of the reference | Count those of the translation.": {
            "size": lambda _, theirs: theirs.total()
        },
        "one is missing each time | Five words have 4 pairs.": {"size": lambda ours, _: ours.total() - 1},
        "the two lengths are exchanged | The translation comes first.": {"order": "0123456798"},
        "the eight numbers have another order | Two for each n.": {"order": "0246135789"},
    },
)
def clipped_counts(
    written, reference, *, hits=_right, size=lambda ours, _: ours.total(), order="0123456789"
) -> Tensor:
    found = []
    for n in (1, 2, 3, 4):
        pieces = [zip(*(words[i:] for i in range(n)), strict=False) for words in (written, reference)]
        ours, theirs = map(Counter, pieces)
        found += [hits(ours, theirs), size(ours, theirs)]
    found += [len(written), len(reference)]
    return torch.tensor([found[int(place)] for place in order])


@numbers(
    2,
    "Count the right pieces of 1, 2, 3 and 4 words, and divide each count by the number of pieces.",
    "The penalty is e to the 1 - r/c, where r is the length of the reference and c that of the translation.",
)
def score_by_hand() -> list[Row]:
    penalty, root, exponent = (
        math.exp(1 - 6 / 5),
        (1 / 5) ** (1 / 4),
        "With c = 5 and r = 6 the exponent is 1 - 6/5.",
    )
    product = {
        "both words très count | The reference has one: 4 of 5 words are right.": 1 / 4,
        "this is the mean of the four shares | BLEU multiplies the shares.": 0.679,
        "you divided by the numbers of the reference | The translation has 5 words.": 1 / 15,
    }
    shorter = {
        f"this is for a translation that is not shorter than the reference | {exponent}": 1,
        f"r and c are exchanged | {exponent}": 1 / penalty,
    }
    score = {
        "the factor 100 is missing | Multiply by 100.": penalty * root,
        "the root is missing | Take the fourth root of 1/5.": 100 * penalty / 5,
        "the penalty is missing | Multiply by 0.819.": 100 * root,
    }
    last = "the score is 100 times the penalty times the fourth root of 1/5"
    return [
        Row({"product": 1 / 5}, "the product of the four shares is 1/5", product, tolerance=1e-3),
        Row({"penalty": penalty}, "the penalty is e to the -0.2", shorter, tolerance=3e-3),
        Row({"score": 100 * penalty * root}, last, score, tolerance=0.0035),
    ]
