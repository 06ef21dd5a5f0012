"""Checks of the exercises of chapters/beam_search."""

from collections.abc import Iterator

from utils.exercises.checking import (
    ReadersFunction,
    as_tensor,
    exercise,
    expect,
    expect_distribution,
    show,
)


@exercise(
    2,
    "The most probable sentence must begin with the word that the beam drops in its first step.",
    "After the dropped word, let one word be nearly certain. After the two other words, let all three be about equal.",
)
def missed_by_the_beam(first: object, second: object) -> Iterator[str]:
    three = "There is a probability for each of the words 0, 1 and 2."
    start = as_tensor(first, three, shape=(3,), name="first").double()
    rows = "Row i has the probabilities of the words that follow word i."
    then = as_tensor(second, rows, shape=(3, 3), name="second").double()
    expect_distribution(start.tolist(), "first", tolerance=1e-3)
    columns_sum, rows_sum = (((then.sum(dim=dim) - 1).abs() < 1e-3).all() for dim in (0, 1))
    expect(rows_sum or not columns_sum, "the columns of second sum to 1; expected 1 for each row.", rows)
    for word in range(3):
        expect_distribution(then[word].tolist(), f"second[{word}]", tolerance=1e-3)
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
        at = int(both[words].argmax())
        return both[words].max().item(), f"{words[at // 3]} {at % 3}"

    kept, words_of_beam = best_of(kept_words)
    dropped, dropped_words = best_of([dropped_word])
    case = (
        f"the beam keeps the words {kept_words[0]} and {kept_words[1]}, and finds the sentence {words_of_beam} with "
        f"the probability {show(kept)}"
    )
    expect(
        dropped > kept + 1e-6,
        f"{case}, which is the most probable one.",
        f"The best sentence that begins with the dropped word {dropped_word} is {dropped_words}, with "
        f"{show(dropped)}. Make it more probable.",
    )
    yield f"{case}; the sentence {dropped_words} has {show(dropped)}"


@exercise(
    3,
    "A further word cannot raise a log-probability. So compare the best of both lists.",
    "`max(unfinished, default=-math.inf)` is the best unfinished one, also if there is none.",
)
def may_stop(answer: ReadersFunction) -> Iterator[str]:
    nothing = "Without a finished hypothesis there is nothing to return yet."
    best = "Compare the largest number of one list with the largest of the other. A number near 0 is large."
    cases = (
        ([-2.0, -1.5], [-3.0, -2.5], True, "all finished ones are better than all unfinished ones", best),
        ([-2.0, -1.5], [-1.0, -9.0], False, "the unfinished one with -1.0 can still end above -1.5", best),
        (
            [-4.0, -1.5],
            [-2.0, -3.0],
            True,
            "the best finished one, -1.5, is better than the best unfinished",
            best,
        ),
        ([-1.5, -3.0], [-1.5], True, "an unfinished one that is equal cannot get better", "Use `>=`."),
        ([], [-0.5, -2.0], False, "no hypothesis is finished", nothing),
        ([-7.0], [], True, "no hypothesis is unfinished", "The largest of an empty list needs a default."),
    )
    for finished, unfinished, right, why, hint in cases:
        case = f"for finished {show(finished)} and unfinished {show(unfinished)}"
        result = answer(list(finished), list(unfinished))
        kinds = f"{case} the result is {show(result)}; expected True or False."
        expect(isinstance(result, bool), kinds, "A comparison such as `a >= b` gives True or False.")
        expect(result == right, f"{case} the result is {result}: {why}.", hint)
        yield f"{case}: {result}"
