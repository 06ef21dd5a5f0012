"""Checks of the exercises of chapters/alignment."""

from collections.abc import Iterator

from utils.exercises.checking import (
    ReadersFunction,
    exercise,
    expect_numbers,
)


@exercise(
    2,
    "Each target word gives one vote for each pair. Its shares are in the ratio of the probabilities.",
    "In a b / x y, x gives 0.75 / 1.25 to a, and y gives 0.25 / 0.75. Then divide the votes of a word by their sum.",
)
def second_round(p_x_a: object, p_y_b: object) -> Iterator[str]:
    votes = "Add up the votes for the source word, and divide by all of its votes."
    mistakes = (
        (0.75, "this is the value of the first round", "Divide the votes anew, by the new probabilities."),
        (1.6, "these are votes", votes),
        (0.6, "this is the share of one vote in the first pair", votes),
        (0.8, "the votes are divided by the number of votes of x", votes),
    )
    expect_numbers({"p_x_a": p_x_a}, [1.6 / (1.6 + 1 / 3)], mistakes, votes)
    yield "a gets 1.6 votes from x and a third of a vote from y"
    mistakes = (
        (
            0.5,
            "p(y | b) had this value after the first round",
            "Divide the votes anew, by the new probabilities.",
        ),
        (2 / 3, "this is the vote of y", votes),
        (0.375, "this is p(x | b)", "The question is p(y | b)."),
    )
    expect_numbers({"p_y_b": p_y_b}, [2 / 3 / (2 / 3 + 0.4)], mistakes, votes)
    yield "b gets two thirds of a vote from y and 0.4 from x"


@exercise(
    3,
    "Count the links of the machine that are sure, and those that are sure or possible.",
    "The rate is 1 - (len(links & sure) + len(links & (possible | sure))) / (len(links) + len(sure)).",
)
def error_rate(answer: ReadersFunction) -> Iterator[str]:
    sure_too = "P holds the sure links too: `possible | sure`."
    bottom = "Divide by the number of links made plus the number of sure links."
    cases = (
        (
            {(0, 0), (1, 1), (2, 2), (3, 1)},
            {(0, 0), (1, 1), (2, 3)},
            {(2, 2)},
            "four links, two sure, one possible, one wrong",
            5,
            7,
        ),
        (
            {(0, 0), (1, 2), (2, 2)},
            {(0, 0), (1, 1)},
            {(1, 2)},
            "three links, one sure, one possible, one wrong",
            3,
            5,
        ),
    )
    for links, sure, possible, case, agreed, total in cases:
        in_sure, in_possible = len(links & sure), len(links & possible)
        mistakes = (
            (agreed / total, "this is the share of links that agree", "Subtract it from 1."),
            (
                1 - (in_sure + in_possible) / total,
                "sure links are not counted among the possible ones",
                sure_too,
            ),
            (
                1 - agreed / (len(links) + len(sure | possible)),
                "possible links are counted as required",
                bottom,
            ),
            (1 - 2 * in_sure / total, "possible links are counted as wrong", sure_too),
        )
        expect_numbers(
            {"the result": answer(set(links), set(sure), set(possible))}, [1 - agreed / total], mistakes
        )
        yield f"{case}: the rate is {1 - agreed / total:.2f}"
    links = {(0, 0), (1, 1)}
    expect_numbers({"the result": answer(set(links), {(0, 0)}, {(1, 1)})}, [0.0])
    yield "without a mistake it is 0"
