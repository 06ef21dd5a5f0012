"""Checks of the exercises of chapters/sentence_length."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from utils.exercises.checking import (
    Mistake,
    ReadersFunction,
    Wrong,
    as_number,
    as_tensor,
    exercise,
    expect,
    expect_close,
    expect_numbers,
    show,
)
from utils.metrics import bleu_by_length


@exercise(
    1,
    "Choose the sentences of a bucket with `low < length <= high`. Count over all of them, and divide then.",
    "`pairwise([0, *edges, math.inf])` gives `low` and `high` of each bucket.",
)
def my_by_length(answer: ReadersFunction) -> Iterator[str]:
    hypotheses = [
        "il dort .", "elle danse .", "Marie a un chat .", "Paul aime le grand chien noir .",
        "Luc a vu la petite maison .", "les enfants ont vu le chat noir et le chien .",
        "Anne a trouvé une fleur dans le jardin .",
    ]  # fmt: skip
    references = [
        "il dort .", "elle danse bien .", "Marie a un chat blanc .", "Paul aime le grand chien noir .",
        "Luc a vu la petite maison hier soir .", "les enfants ont vu un chat noir et un chien .",
        "Anne a trouvé une petite fleur rouge dans le jardin .",
    ]  # fmt: skip
    lengths = [3, 4, 5, 7, 8, 11, 7]
    for edges in ((5, 8), (4,), (3, 7, 9)):
        right = _by_length(hypotheses, references, lengths, edges)
        case = f"for seven sentences of {show(lengths)} English words and the edges {show(edges)}"
        result = answer(hypotheses, references, lengths, edges)
        pairs = as_tensor(result, "Return a list with a pair for each bucket.", shape=(len(edges) + 1, 2))
        expect_close(
            pairs, right, case, mistakes=list(_mistakes_by_length(hypotheses, references, lengths, edges))
        )
        yield f"{case} both numbers of each bucket are right"


def _by_length(
    hypotheses: list[str], references: list[str], lengths: list[int], edges: tuple[int, ...]
) -> Tensor:
    """BLEU and length ratio of each bucket."""
    pairs = []
    accepted = [[text] for text in references]
    for bucket in bleu_by_length(hypotheses, accepted, lengths, edges=edges, lang="fr"):
        rows = [i for i, n in enumerate(lengths) if bucket.low <= n <= bucket.high]
        written, wanted = (sum(len(texts[i].split()) for i in rows) for texts in (hypotheses, references))
        pairs.append((bucket.score.value, written / wanted))
    return torch.tensor(pairs)


def _mistakes_by_length(
    hypotheses: list[str], references: list[str], lengths: list[int], edges: tuple[int, ...]
) -> Iterator[Mistake]:
    value, ratio = _by_length(hypotheses, references, lengths, edges).unbind(1)
    single = [
        _by_length([text], [other], [1], ()) for text, other in zip(hypotheses, references, strict=True)
    ]
    bucket = torch.bucketize(torch.tensor(lengths), torch.tensor(edges))
    means = torch.stack([torch.cat(single)[bucket == number].mean(dim=0) for number in range(len(value))])
    together = "Give `bleu` all texts of a bucket at once, and divide the sums of their words."
    for numbers, says, hint in (
        ((means[:, 0], means[:, 1]), "these are means over the sentences", together),
        ((means[:, 0], ratio), "this is the mean of the BLEU of single sentences", together),
        ((value, means[:, 1]), "this is the mean of the ratios of single sentences", together),
        ((value, 1 / ratio), "the ratio is upside down", "Divide by the references."),
        ((ratio, value), "the two numbers of a pair are exchanged", "BLEU comes first."),
    ):
        yield torch.stack(numbers, dim=1), says, hint
    own, longer = [len(text.split()) for text in references], [n + 1 for n in lengths]
    for others, says, hint in (
        (own, "the buckets are those of the French lengths", "`lengths` has the English ones."),
        (
            longer,
            "a sentence as long as an edge is in the next bucket",
            "An edge is the largest length of its bucket: `low < length <= high`.",
        ),
    ):
        yield _by_length(hypotheses, references, others, edges), says, hint


@exercise(
    2,
    "If all n-grams are right, the four shares are 1, and BLEU is 100 times the brevity penalty.",
    "r/c is 1/0.6, so the penalty is e to the power -0.667.",
)
def too_short(highest: object, precision: object) -> Iterator[str]:
    penalty = math.exp(1 - 1 / 0.6)
    exponent = "The penalty is e to the power 1 - r/c. c/r is 0.6, so r/c is 1/0.6."
    mistakes = (
        (60, "this is 100 times the length ratio", exponent),
        (100 * math.exp(0.4), "no BLEU is above 100", exponent),
        (penalty, "this is the brevity penalty", "BLEU has the factor 100."),
        (100, "there is no penalty", "Multiply 100 by the brevity penalty."),
    )
    expect_numbers({"highest": highest}, [100 * penalty], mistakes, tolerance=0.012)
    yield f"with 0.6 of the words and no wrong one, BLEU would be {100 * penalty:.1f}"
    mean = 0.27 / penalty
    divide = "Divide BLEU by the BLEU of a translation without a wrong n-gram."
    mistakes = (
        (0.27, "you left out the brevity penalty", divide),
        (0.45, "you divided by the length ratio", divide),
        (1 / mean, "you divided the other way round", divide),
    )
    share = as_number(precision, name="precision")
    share = share / 100 if abs(share - 100 * mean) < 0.6 else share
    expect_numbers({"precision": share}, [mean], mistakes, divide)
    yield f"the geometric mean of the shares is {mean:.2f}: many of the n-grams that it writes are wrong, too"


@exercise(
    3,
    "How many pieces must there be at least? Round the division up: `math.ceil(len(ids) / longest)`.",
    "With n pieces, piece number i begins at `len(ids) * i // n`.",
)
def in_pieces(answer: ReadersFunction) -> Iterator[str]:
    for num, longest in ((6, 3), (7, 3), (25, 12), (5, 7), (23, 7), (29, 1), (17, 16), (13, 13)):
        ids = list(range(11, 11 + num))
        result = answer(ids, longest)
        try:
            pieces = [[int(number) for number in piece] for piece in result]
        except (TypeError, ValueError):
            message = f"the result is {show(result)}; expected a list of pieces, each of them a list of ids."
            raise Wrong(message, "`ids[start:end]` is one piece.") from None
        lengths, fewest = [len(piece) for piece in pieces], math.ceil(num / longest)
        all_ids = [number for piece in pieces for number in piece]
        case = f"for the ids {show(ids)} and at most {longest} per piece the pieces are {show(pieces)}"
        if missing := set(ids) - set(all_ids):
            raise Wrong(f"{case}: {show(sorted(missing))} is missing.", "The pieces must hold every id.")
        begins, without_gaps = "A piece begins where the one before it ends.", "`ids[start:end]` has no gaps."
        expect(len(all_ids) == num, f"{case}: an id stands in two pieces.", begins)
        expect(all_ids == ids, f"{case}: the ids are no longer in their order.", without_gaps)
        round_up = "Round the number of pieces up. Add no 1 if the division comes out even."
        expect(max(lengths) <= longest, f"{case}: one piece is too long.", round_up)
        expect(len(pieces) == fewest, f"{case}: {fewest} would be enough.", round_up)
        expect(
            max(lengths) - min(lengths) <= 1,
            f"{case}: their lengths are {lengths}; expected a difference of at most 1.",
            "First find the number of pieces, then spread the ids evenly over them.",
        )
        yield f"for {num} ids and at most {longest} per piece the lengths are {lengths}"
