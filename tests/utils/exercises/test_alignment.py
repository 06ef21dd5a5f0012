"""Answers to the exercises of chapters/alignment."""

from answers import Answers

from utils.exercises import alignment as check

answers = Answers()
answers.add(
    check.second_round,
    [(0.83, 0.63), (1.6 / (1.6 + 1 / 3), "0.625")],
    [
        ((0.75, 0.625), "the value of the first round"),
        ((0.6, 0.625), "the share of one vote"),
        ((0.8, 0.625), "divided by the number of votes of x"),
        ((0.83, 0.5), "had this value after the first round"),
        ((0.83, 0.67), "this is the vote of y"),
        ((0.83, 0.375), "this is p(x | b)"),
        ((0.2, 0.625), "expected another number"),
    ],
)


def rate(links, sure, possible):
    return 1 - (len(links & sure) + len(links & (possible | sure))) / (len(links) + len(sure))


answers.add(
    check.error_rate,
    [rate],
    [
        (lambda *sets: 1 - rate(*sets), "share of links that agree"),
        (
            lambda a, s, p: 1 - (len(a & s) + len(a & p)) / (len(a) + len(s)),
            "sure links are not counted among the possible ones",
        ),
        (
            lambda a, s, p: 1 - (len(a & s) + len(a & (p | s))) / (len(a) + len(s | p)),
            "possible links are counted as required",
        ),
        (lambda a, s, p: rate(a, s, set()), "possible links are counted as wrong"),
        (lambda *sets: 0.5, "expected another number"),
    ],
)
test_right, test_wrong = answers.tests()
