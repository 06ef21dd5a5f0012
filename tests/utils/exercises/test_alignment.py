"""Answers to the exercises of chapters/alignment."""

from collections import Counter, defaultdict
from functools import partial

from answers import Answers

from utils.exercises import alignment as check

answers = Answers()


def one_round(pairs, table):
    votes, totals = defaultdict(float), Counter()
    for source, target in pairs:
        for t in target:
            norm = sum(table[s, t] for s in source)
            for s in source:
                votes[s, t] += table[s, t] / norm
                totals[s] += table[s, t] / norm
    return {(s, t): number / totals[s] for (s, t), number in votes.items()}


def wrong_round(mistake):
    return partial(check._next_table, mistake=mistake)


def turned(pairs, table):
    return {(t, s): number for (s, t), number in one_round(pairs, table).items()}


def nested(pairs, table):
    return {s: {t: number} for (s, t), number in one_round(pairs, table).items()}


answers.add(
    check.one_round,
    [one_round, lambda *given: defaultdict(float, one_round(*given))],
    [
        (wrong_round("votes"), "votes, not probabilities"),
        (wrong_round("divided by y"), "all votes of the target word"),
        (wrong_round("no share"), "do not add up to 1"),
        (wrong_round("over the target words"), "shared among the target words"),
        (wrong_round("without the table"), "the same share"),
        (wrong_round("the best alone"), "one source word alone"),
        (wrong_round("each pair once"), "are not added up"),
        (turned, "(target word, source word)"),
        (nested, "a key is 'the'"),
        (lambda pairs, table: [0.5, 0.25], "the result is [0.5"),
        (lambda pairs, table: dict.fromkeys(table, 0.3), "expected 0.5"),
    ],
)


def wrong_growth(mistake):
    return partial(check._grown, mistake=mistake)


answers.add(
    check.grow,
    [check._grown, lambda f, b: sorted(check._grown(f, b))],
    [
        (wrong_growth("union"), "this is the union"),
        (wrong_growth("nothing"), "this is the intersection"),
        (wrong_growth("one pass"), "go through the union once"),
        (wrong_growth("sides"), "touch at a corner"),
        (wrong_growth("both"), "both of its words have no link"),
        (wrong_growth("anywhere"), "far from all others"),
        (wrong_growth("any word"), "although both of its words have links"),
        (lambda f, b: {(0, 0)}, "the links are"),
        (lambda f, b: 3, "expected a set of pairs"),
    ],
)
test_right, test_wrong = answers.tests()
