"""Answers to the exercises of chapters/alignment."""

from collections import Counter, defaultdict
from functools import partial
from itertools import combinations

import pytest
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


def turned(pairs, table):
    return {(t, s): number for (s, t), number in one_round(pairs, table).items()}


def nested(pairs, table):
    return {s: {t: number} for (s, t), number in one_round(pairs, table).items()}


answers.add(
    check.one_round,
    [one_round, lambda *given: defaultdict(float, one_round(*given))],
    [
        *(
            (partial(check._next_table, wrong=wrong), says.partition(" | ")[0])
            for wrong, says in check._ROUND_MISTAKES.items()
        ),
        (turned, "(target word, source word)"),
        (nested, "a key is 'the'"),
        (lambda pairs, table: [0.5, 0.25], "the result is [0.5"),
        (lambda pairs, table: dict.fromkeys(table, 0.3), "expected 0.5"),
    ],
)
test_right, test_wrong = answers.tests()


@pytest.mark.parametrize("case", [*check._ROUNDS][1:])
def test_no_two_mistakes_coincide(case):
    inputs = check._ROUNDS[case]
    # A word that is twice in its sentence makes a difference in the last case alone.
    names = [name for name in check._ROUND_MISTAKES if name != "a word once" or inputs[0] is check._THREE]
    tables = [check._next_table(*inputs, wrong) for wrong in ("", *names)]
    assert not any(check._same_table(*two) for two in combinations(tables, 2))
