"""Checks of the exercises of chapters/sentence_length."""

import math
from collections.abc import Iterator

import torch

from utils.exercises.checking import (
    ReadersFunction,
    Wrong,
    as_number,
    exercise,
    expect,
    expect_close,
    expect_numbers,
    show,
)


@exercise(
    1,
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
    2,
    "`attention > one_vector` compares the same seed and bucket of both. Count along the axis of the seeds.",
    "The first axis is that of the seeds: `.sum(dim=0)`.",
)
def wins(answer: ReadersFunction) -> Iterator[str]:
    attention = torch.tensor([[90.0, 20.0], [90.0, 40.0], [10.0, 30.0]])
    one_vector = torch.tensor([[80.0, 28.0], [80.0, 45.0], [60.0, 10.0]])
    case = f"for three seeds and two buckets, attention {show(attention)} and one vector {show(one_vector)}"
    mistakes = (
        ((3, 3), "attention does not win with every seed", "Compute the answer from the two tensors."),
        ((1, 2), "this counts the wins of one vector", "Attention wins where it is larger."),
        ((0, 1), "this compares the means over the seeds", "Compare each seed by itself."),
        ((2 / 3, 1 / 3), "this is the share of the seeds", "Use the sum, not the mean."),
    )
    columns = "Rows are seeds and columns are buckets: sum over the seeds, and nothing else."
    expect_close(answer(attention, one_vector), [2, 1], case, columns, mistakes=mistakes)
    yield "each seed of one is compared with the same seed of the other"
    tie = torch.tensor([[7.0]])
    expect_close(answer(tie, tie), [0], "for one seed and one bucket, 7 against 7", "A tie is no win.")
    yield "a tie is no win"
    torch.manual_seed(5)
    any_number = "It must work for any number of seeds and buckets."
    for num_seeds, num_buckets in ((5, 7), (2, 3), (7, 1)):
        a, b = torch.randint(0, 9, (2, num_seeds, num_buckets)).float()
        case = f"for {num_seeds} seeds and {num_buckets} buckets"
        expect_close(answer(a, b), (a > b).sum(dim=0), case, any_number)
    yield "it works for any number of seeds and buckets"


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
