"""Checks of the exercises of chapters/sentence_length."""

import math
from itertools import pairwise
from statistics import mean

import torch
from torch import Tensor

from utils.exercises.checking import show
from utils.exercises.tables import Case, Row, against, numbers
from utils.metrics import bleu

HYPOTHESES = [
    "il dort .", "elle danse .", "Marie a un chat .", "Paul aime le grand chien noir .",
    "Luc a vu la petite maison .", "les enfants ont vu le chat noir et le chien .",
    "Anne a trouvé une fleur dans le jardin .",
]  # fmt: skip
REFERENCES = [
    "il dort .", "elle danse bien .", "Marie a un chat blanc .", "Paul aime le grand chien noir .",
    "Luc a vu la petite maison hier soir .", "les enfants ont vu un chat noir et un chien .",
    "Anne a trouvé une petite fleur rouge dans le jardin .",
]  # fmt: skip
LENGTHS = [3, 4, 5, 7, 8, 11, 7]


def _bleu(pairs: list[tuple[str, str]]) -> float:
    return bleu([text for text, _ in pairs], [[reference] for _, reference in pairs], lang="fr").value


def _ratio(pairs: list[tuple[str, str]]) -> float:
    written, wanted = (" ".join(texts).split() for texts in zip(*pairs, strict=True))
    return len(written) / len(wanted)


_TOGETHER = "Give `bleu` all texts of a bucket at once, and divide the sums of their words."


@against(
    1,
    "Choose the sentences of a bucket with `low < length <= high`. Count over all of them, and divide then.",
    "`pairwise([0, *edges, math.inf])` gives `low` and `high` of each bucket.",
    cases=[
        Case(
            f"for seven sentences of {show(LENGTHS)} English words and the edges {show(edges)}",
            (HYPOTHESES, REFERENCES, LENGTHS, edges),
            f"for the edges {show(edges)} both numbers of each bucket are right",
            "Return a list with a pair for each bucket.",
        )
        for edges in ((5, 8), (4,), (3, 7, 9))
    ],
    mistakes={
        f"these are means over the sentences | {_TOGETHER}": {"means": (_bleu, _ratio)},
        f"this is the mean of the BLEU of single sentences | {_TOGETHER}": {"means": (_bleu,)},
        f"this is the mean of the ratios of single sentences | {_TOGETHER}": {"means": (_ratio,)},
        "the ratio is upside down | Divide by the references.": {"second": lambda pairs: 1 / _ratio(pairs)},
        "the two numbers of a pair are exchanged | BLEU comes first.": {"first": _ratio, "second": _bleu},
        "the buckets are those of the French lengths | `lengths` has the English ones.": {"french": True},
        "an edge is in the next bucket | It is the largest length of its own: `low < length <= high`.": {
            "more": 1
        },
    },
    parts=["the list of pairs"],
)
def my_by_length(
    hypotheses, references, lengths, edges, *, means=(), more=0, first=_bleu, second=_ratio, french=False
) -> Tensor:
    lengths = [len(text.split()) for text in references] if french else lengths
    rows = []
    for low, high in pairwise([0, *edges, math.inf]):
        triples = zip(hypotheses, references, lengths, strict=True)
        bucket = [(text, reference) for text, reference, n in triples if low < n + more <= high]
        each = [[pair] for pair in bucket]
        rows.append([mean(map(find, each if find in means else [bucket])) for find in (first, second)])
    return torch.tensor(rows)


_EXPONENT = "The penalty is e to the power 1 - r/c. c/r is 0.6, so r/c is 1/0.6."
_DIVIDE = "Divide BLEU by the BLEU of a translation without a wrong n-gram."


@numbers(
    2,
    "If all n-grams are right, the four shares are 1, and BLEU is 100 times the brevity penalty.",
    "r/c is 1/0.6, so the penalty is e to the power -0.667.",
)
def too_short() -> list[Row]:
    penalty = math.exp(1 - 1 / 0.6)
    high = {
        f"this is 100 times the length ratio | {_EXPONENT}": 60,
        f"no BLEU is above 100 | {_EXPONENT}": 100 * math.exp(0.4),
        "this is the brevity penalty | BLEU has the factor 100.": penalty,
        "there is no penalty | Multiply 100 by the brevity penalty.": 100,
    }
    share = 0.27 / penalty
    shares = {
        f"you left out the brevity penalty | {_DIVIDE}": 0.27,
        f"you divided by the length ratio | {_DIVIDE}": 0.45,
        "this is per cent | A share lies between 0 and 1: divide by 100.": 100 * share,
    }
    penalised = f"with 0.6 of the words and no wrong one, BLEU would be {100 * penalty:.1f}"
    many = f"the geometric mean of the shares is {share:.2f}: many n-grams that it writes are wrong, too"
    return [
        Row({"highest": 100 * penalty}, penalised, high, tolerance=0.012),
        Row({"precision": share}, many, shares),
    ]
