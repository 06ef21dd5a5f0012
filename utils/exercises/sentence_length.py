"""Checks of the exercises of chapters/sentence_length."""

import math
from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from utils.exercises.checking import (
    Mistake,
    ReadersFunction,
    Wrong,
    as_number,
    as_tensor,
    choose,
    compare_with_rubric,
    exercise,
    expect,
    recognise,
    show,
)


@exercise(
    1,
    "predict",
    "Take two finished hypotheses: 10 words with the log-probability -4, and 20 words with -10. "
    "Compute their scores for both exponents.",
    "For the exponent 1 the scores are -0.4 and -0.5. For the exponent 3 they are -0.004 and -0.00125.",
)
def larger_exponent(answer: object) -> Iterator[str]:
    yield from choose(
        answer,
        right="b",
        reason="a log-probability is negative, and division by a large number brings it near 0. With the exponent 3 a "
        "long hypothesis is divided by so much that it often wins, although it is less probable.",
        wrong={
            "a": "the division by a larger number is no punishment here. Scores are negative, so it makes them larger.",
            "c": "this would be true if all hypotheses had one length. At the end they have different ones.",
            "d": "the exponent 0 ranks by the probability itself. The larger the exponent, the less the probability "
            "decides.",
        },
    )


# Numbers that learners get for exercise 2, with the length ratio 0.6 and 27 BLEU.
_PENALTY = math.exp(1 - 1 / 0.6)
_MEAN = 0.27 / _PENALTY
_HIGHEST = (
    Mistake(
        (60,),
        "highest is 60, which is 100 times the length ratio. The brevity penalty is another number.",
        "The penalty is e to the power 1 - r/c.",
    ),
    Mistake(
        (100 * math.exp(0.4),),
        "highest is 149. No BLEU is above 100.",
        "The length ratio is c/r. The penalty needs r/c.",
    ),
    Mistake(
        (100 * math.exp(-0.4),),
        "highest is 67: the exponent is c/r - 1. Expected 1 - r/c.",
        "c/r is 0.6. What is r/c?",
    ),
    Mistake(
        (100 * math.exp(-0.6),),
        "highest is 54.9: the exponent is minus the length ratio. Expected 1 - r/c.",
        "c/r is 0.6, so r/c is 1/0.6.",
    ),
    Mistake(
        (_PENALTY,),
        "highest is 0.513, which is the brevity penalty. BLEU has the factor 100.",
        "If all n-grams are right, BLEU is 100 times the brevity penalty.",
    ),
    Mistake(
        (27,),
        "highest is 27, the BLEU that it has. How much could it have at most?",
        "Take 1 for each of the four shares.",
    ),
    Mistake(
        (100,),
        "highest is 100, as if the translations were long enough. With the length ratio 0.6 there is a penalty.",
        "Multiply 100 by the brevity penalty.",
    ),
    Mistake(
        (45,),
        "highest is 45, which is 27/0.6. How high it can be does not depend on the 27.",
        "If all n-grams are right, only the brevity penalty is left.",
    ),
)
_DIVIDE = "Divide BLEU by the BLEU of a translation without a wrong n-gram."
_MEANS = (
    Mistake((0.27,), "precision is 0.27: you left out the brevity penalty.", _DIVIDE),
    Mistake((27,), "precision is 27, which is BLEU with its penalty. Take the penalty out.", _DIVIDE),
    Mistake(
        (0.45,),
        "precision is 0.45: you divided by the length ratio. Expected the brevity penalty there.",
        _DIVIDE,
    ),
    Mistake(
        (1 / _MEAN,), "precision is 1.9: you divided the other way round. A share is at most 1.", _DIVIDE
    ),
    *(
        Mistake((number,), "precision is a difference here. BLEU is a product.", _DIVIDE)
        for number in (_PENALTY - 0.27, 100 * _PENALTY - 27)
    ),
    *(
        Mistake(
            (number,), "there is one power or root too many. BLEU has the mean itself as a factor.", _DIVIDE
        )
        for number in (_MEAN**4, _MEAN**0.25)
    ),
)


def _recognise_one(number: float, mistakes: Iterable[Mistake]) -> None:
    for mistake in mistakes:
        recognise([number], [mistake], tolerance=0.012 * mistake.result[0])


@exercise(
    2,
    "compute",
    "If all n-grams are right, the four shares are 1, and BLEU is 100 times the brevity penalty.",
    "r/c is 1/0.6, so the penalty is e to the power -0.667.",
)
def too_short(highest: object, precision: object) -> Iterator[str]:
    number = as_number(highest, name="highest")
    _recognise_one(number, _HIGHEST)
    expect(abs(number - 100 * _PENALTY) < 0.6, f"highest is {show(number)}; expected another number.")
    yield f"with 0.6 of the words and no wrong one, BLEU would be {100 * _PENALTY:.1f}"
    number = as_number(precision, name="precision")
    _recognise_one(number, _MEANS)
    expect(
        abs(number - _MEAN) < 0.006 or abs(number - 100 * _MEAN) < 0.6,
        f"precision is {show(number)}; expected another number.",
        _DIVIDE,
    )
    yield f"the geometric mean of the shares is {_MEAN:.2f}: many of the n-grams that it writes are wrong, too"


#: Results that other ways of counting give for the tensors of :func:`wins`.
_OTHER_COUNTS = (
    Mistake((3, 3), "attention does not win with every seed.", "The answer is not the same for all tensors."),
    Mistake(
        (1, 2), "this counts the wins of one vector.", "Attention wins where its number is the larger one."
    ),
    Mistake(
        (0, 1),
        "this compares the means over the seeds, 63.3 against 73.3 and 30 against 27.7.",
        "Compare before you sum: each seed by itself.",
    ),
    Mistake(
        (6, 5),
        "this compares each seed with every seed.",
        "Row 0 of one tensor belongs to row 0 of the other: they share the seed.",
    ),
    *(
        Mistake(
            mixed,
            "this compares numbers of different seeds, such as sorted numbers, or each seed with a mean or a maximum.",
            "Keep the rows where they are: row 0 of both has the same seed.",
        )
        for mixed in ((2, 2), (2, 0))
    ),
    Mistake(
        (2 / 3, 1 / 3), "this is the share of the seeds, not their number.", "Use the sum, not the mean."
    ),
    Mistake(
        (1, 0), "this says whether attention wins with most seeds.", "Count the seeds with which it wins."
    ),
    Mistake((1, -1), "a seed that loses counts as -1.", "A seed that loses adds nothing."),
    Mistake((1, 1), "this says whether attention wins with any seed.", "Count the seeds with which it wins."),
    Mistake(
        (-30, 7), "this adds up the differences.", "Ask for each seed which number is larger, and count."
    ),
)


def _expect_one_per_bucket(counts: Tensor, case: str) -> None:
    """For three seeds and two buckets."""
    shape = tuple(counts.shape)
    expect(
        shape != (),
        f"{case}the result is the one number {show(counts)}; expected one per bucket.",
        "Sum over the seeds only.",
    )
    expect(
        shape != (3, 2),
        f"{case}the result has the shape (3, 2): it says which seed wins where. Count them.",
    )
    expect(
        shape != (3,),
        f"{case}there are three numbers, one per seed; expected two, one per bucket.",
        "Rows are seeds and columns are buckets.",
    )
    expect(
        shape not in {(1, 2), (2, 1)},
        f"{case}the result has the shape {shape}, with an axis of length 1; expected (2,), a number for each bucket.",
        "Leave out `keepdim`, or remove the axis with `squeeze()`.",
    )
    expect(
        shape == (2,),
        f"{case}the result has the shape {shape}; expected (2,), a number for each bucket.",
        "Compute the answer from the two tensors, so that it works for any number of seeds and buckets.",
    )


@exercise(
    3,
    "implement",
    "`attention > one_vector` compares the same seed and bucket of both. Count along the axis of the seeds.",
    "The first axis is that of the seeds: `.sum(dim=0)`.",
)
def wins(answer: ReadersFunction) -> Iterator[str]:
    attention = torch.tensor([[90.0, 20.0], [90.0, 40.0], [10.0, 30.0]])
    one_vector = torch.tensor([[80.0, 28.0], [80.0, 45.0], [60.0, 10.0]])
    case = f"for three seeds and two buckets, attention {show(attention)} and one vector {show(one_vector)}, "
    counts = as_tensor(answer(attention, one_vector), name="the result").double()
    _expect_one_per_bucket(counts, case)
    yield "there is one number per bucket"
    recognise(counts, _OTHER_COUNTS, f"{case}the result is {show(counts)}: ", " Expected [2, 1].")
    expect(counts.tolist() == [2, 1], f"{case}the result is {show(counts)}; expected [2, 1].")
    yield "each seed of one is compared with the same seed of the other"
    tie = as_tensor(answer(torch.tensor([[7.0]]), torch.tensor([[7.0]])), shape=(1,)).double()
    expect(tie.item() == 0, "for one seed and one bucket, 7 against 7, the result is [1]. A tie is no win.")
    yield "a tie is no win"
    generator = torch.Generator().manual_seed(5)
    for num_seeds, num_buckets in ((5, 7), (2, 3), (7, 1)):
        a, b = torch.randint(0, 9, (2, num_seeds, num_buckets), generator=generator).float()
        counts = as_tensor(answer(a, b), shape=(num_buckets,), name="the result").double()
        expected = (a > b).sum(dim=0)
        expect(
            counts.equal(expected.double()),
            f"for {num_seeds} seeds and {num_buckets} buckets the result is {show(counts)}; expected {show(expected)}.",
            "Compute the answer from the two tensors, so that it works for any number of seeds and buckets.",
        )
    yield "it works for any number of seeds and buckets"


def _as_pieces(result: object) -> list[list[int]]:
    """The pieces as lists of ids, in whatever form they come."""
    try:
        pieces = [[int(number) for number in piece] for piece in result]
    except TypeError:
        raise Wrong(
            f"the result is {show(result)}; expected a list of pieces, each of which is a list of ids.",
            "`ids[start:end]` is one piece.",
        ) from None
    except ValueError:
        raise Wrong(f"the result is {show(result)}; expected lists of ids.") from None
    return pieces


@exercise(
    4,
    "implement",
    "How many pieces must there be at least? Round the division up: `math.ceil(len(ids) / longest)`.",
    "With n pieces, piece number i begins at `len(ids) * i // n`.",
)
def in_pieces(answer: ReadersFunction) -> Iterator[str]:
    def pieces(num: int, longest: int) -> list[list[int]]:
        ids = list(range(11, 11 + num))
        result = _as_pieces(answer(ids, longest))
        lengths = [len(piece) for piece in result]
        all_ids = [number for piece in result for number in piece]
        case = f"for the ids {show(ids)} and at most {longest} per piece the pieces are {show(result)}: "
        if num > 12:
            case = f"for {num} ids and at most {longest} per piece the pieces have the lengths {lengths}: "
        if missing := set(ids) - set(all_ids):
            raise Wrong(f"{case}{show(sorted(missing))} is missing.", "The pieces must hold every id.")
        expect(
            len(all_ids) == num,
            f"{case}an id stands in two pieces.",
            "A piece begins where the piece before it has ended.",
        )
        expect(
            all_ids == ids,
            f"{case}the ids are no longer in their order.",
            "A piece is a part of the sentence without gaps: `ids[start:end]`.",
        )
        expect(
            max(lengths) <= longest,
            f"{case}one has {max(lengths)} ids, which is too long.",
            "Too few pieces. Round the number of pieces up.",
        )
        fewest = math.ceil(num / longest)
        expect(
            min(lengths) > 0,
            f"{case}one is empty.",
            "At which place does the last piece begin, and is anything left?",
        )
        expect(
            len(result) == fewest,
            f"{case}{len(result)} pieces. {fewest} would be enough.",
            "Round the division up, and do not add 1 if it comes out even.",
        )
        expect(
            max(lengths) - min(lengths) <= 1,
            f"{case}their lengths differ by {max(lengths) - min(lengths)}; expected at most 1.",
            "First find the number of pieces, then spread the ids evenly over them.",
        )
        return result

    pieces(6, 3)
    yield "six ids make two pieces of three"
    pieces(7, 3)
    yield "seven ids make three pieces, as equal as possible"
    for num, longest in ((25, 12), (5, 7), (23, 7), (29, 1), (17, 16), (13, 13)):
        pieces(num, longest)
    yield "no piece is too long, there are as few as possible, and every id is there once, in order"


def _expect_distribution(probabilities: Tensor, name: str) -> None:
    message = f"{name} is {show(probabilities)}"
    if not (probabilities.isfinite().all() and probabilities.min() >= 0):
        if probabilities.max() <= 0:
            raise Wrong(
                f"{message}; expected probabilities, from 0 to 1.",
                "These are probabilities and not their logarithms.",
            )
        raise Wrong(f"{message}; each number must lie between 0 and 1.", "No probability is below 0.")
    total = probabilities.sum().item()
    expect(
        abs(total - 100) > 0.1,
        f"{message}, in per cent; expected numbers from 0 to 1.",
        "50 per cent is 0.5.",
    )
    expect(
        abs(total - 1) < 1e-3,
        f"{message}, with the sum {show(total)}; expected 1.",
        "Some word must come next, so the probabilities of the three words sum to 1.",
    )


@exercise(
    5,
    "experiment",
    "The most probable sentence must begin with the word that the beam drops in its first step.",
    "After the dropped word, let one word be nearly certain. After the two other words, let all three be about equal.",
)
def missed_by_the_beam(first: object, second: object) -> Iterator[str]:
    start = as_tensor(first, name="first").double()
    then = as_tensor(second, name="second").double()
    for tensor, name, shape, hint in (
        (start, "first", (3,), "There is a probability for each of the words 0, 1 and 2."),
        (
            then,
            "second",
            (3, 3),
            "There is a row for each first word, with the probabilities of the next word.",
        ),
    ):
        message = f"{name} has the shape {tuple(tensor.shape)}; expected {shape}."
        expect(tuple(tensor.shape) == shape, message, hint)
    _expect_distribution(start, "first")
    columns, rows = then.sum(dim=0), then.sum(dim=1)
    expect(
        not torch.allclose(columns, torch.ones_like(columns), atol=1e-3)
        or torch.allclose(rows, torch.ones_like(rows), atol=1e-3),
        f"the columns of second sum to 1, and its rows to {show(rows)}; expected 1 for each row.",
        "Row i has the probabilities of the words that follow word i.",
    )
    for word in range(3):
        _expect_distribution(then[word], f"second[{word}]")
    yield "first and each row of second are probabilities"
    order = start.argsort(descending=True, stable=True).tolist()
    kept_words, dropped_word = sorted(order[:2]), order[2]
    expect(
        start[order[1]] - start[dropped_word] > 1e-6,
        f"in first, {show(start)}, the words {min(order[1:])} and {max(order[1:])} are equally probable: "
        "which of them the beam keeps is an accident.",
        "Make one word of the three less probable than the two others.",
    )
    both = start[:, None] * then

    def best_of(words: list[int]) -> tuple[float, str]:
        rows = both[words]
        at = int(rows.argmax())
        return rows.max().item(), f"{words[at // 3]} {at % 3}"

    best_of_beam, words_of_beam = best_of(kept_words)
    best, best_words = best_of([0, 1, 2])
    greedy = both[order[0]].max().item()
    case = (
        f"the beam keeps the words {kept_words[0]} and {kept_words[1]}, and finds the sentence {words_of_beam} with "
        f"the probability {show(best_of_beam)}"
    )
    if best > best_of_beam + 1e-6:
        yield f"{case}; the sentence {best_words} has {show(best)}"
        return
    dropped_best, dropped_words = best_of([dropped_word])
    expect(
        greedy >= best - 1e-6,
        f"{case}, which is the most probable one. Greedy search misses it, but two hypotheses are enough.",
        f"The best sentence that begins with the dropped word is {dropped_words}, with {show(dropped_best)}.",
    )
    raise Wrong(
        f"{case}, which is the most probable one. Greedy search finds it, too.",
        f"The best sentence that begins with the dropped word {dropped_word} is {dropped_words}, with "
        f"{show(dropped_best)}. Make it more probable.",
    )


@exercise(6, "open")
def two_falling_lines(answer: object) -> Iterator[str]:
    yield from compare_with_rubric(
        answer,
        (
            "It says that the figure mixes two questions: sentences as long as those of training, and longer ones. "
            "At 40 words both translators are beyond the 25 words that they were trained on.",
            "It asks for the lengths up to 25 words: there the two lines may lie far apart.",
            "It proposes a test: train both again with a limit of 60 words and the same budget.",
            "It asks how the translations fail. A length ratio far below 1 means that they stop too early.",
            "It names another thing that the figure should tell: more than one seed, the budget, or that both "
            "encoders are equal.",
        ),
    )
