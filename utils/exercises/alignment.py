"""Checks of the exercises of chapters/alignment."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from utils.exercises.checking import Wrong, as_number, expect, show
from utils.exercises.readers_function import ReadersFunction
from utils.exercises.report import exercise

Pairs = Sequence[tuple[Sequence[str], Sequence[str]]]
Table = Mapping[tuple[str, str], float]

_TWO = [(["the", "flower"], ["la", "fleur"]), (["the", "house"], ["la", "maison"])]
# Sentences of unequal lengths, so that a share of the source words differs from one of the target words.
_UNEQUAL = [
    (["small", "flowers"], ["de", "petites", "fleurs"]),
    (["white", "flowers"], ["des", "fleurs", "blanches"]),
    (["flowers"], ["des", "fleurs"]),
]
_THREE = [
    (["the", "white", "flower"], ["la", "fleur", "blanche"]),
    (["the", "flower"], ["la", "fleur"]),
    (["the", "flower", "and", "the", "house"], ["la", "fleur", "et", "la", "maison"]),
]


def _equal(pairs: Pairs) -> dict[tuple[str, str], float]:
    """The table to begin with: all probabilities of words that meet are equal."""
    return {(x, y): 1.0 for source, target in pairs for x in source for y in target}


def _next_table(pairs: Pairs, table: Table, wrong: str = "") -> dict[tuple[str, str], float]:
    """One round of model 1; or one with a mistake that learners make."""
    votes: Counter = Counter()
    for source, target in pairs:
        if wrong == "a word once":
            source = [*dict.fromkeys(source)]
        for y in target:
            for x in source:
                p, all_p = table[x, y], [table[other, y] for other in source]
                if wrong == "one sentence":
                    votes[x, y] = 0
                votes[x, y] += {
                    "no share": p,
                    "target words": p / sum(table[x, other] for other in target),
                    "equal shares": 1 / len(source),
                    "best alone": float(p == max(all_p)),
                }.get(wrong, p / sum(all_p))
    totals: Counter = Counter()
    for pair, number in votes.items():
        totals[pair[wrong == "divided by y"]] += number
    if wrong == "votes":
        return dict(votes)
    return {pair: number / (totals[pair[wrong == "divided by y"]] or 1) for pair, number in votes.items()}


_ROUND_MISTAKES = {
    "votes": "these are votes, not probabilities | Divide the votes for a source word by all its votes.",
    "divided by y": "the votes are divided by those of the target word | Divide by all votes for the source word x.",
    "no share": "the votes of a target word do not add up to 1 | Divide by the sum over the source words.",
    "target words": "the votes are shared among the target words | A target word shares its vote among source words.",
    "equal shares": "every source word gets the same share | The shares are in the ratio of the numbers in `table`.",
    "best alone": "each vote goes to one source word alone | A vote is divided: each source word gets a share.",
    "one sentence": "the votes of the sentences are not added up | Words that meet twice get both votes: use `+=`.",
    "a word once": "a source word that is twice in its sentence gets one share | Go through the list, not a set.",
}
_ROUNDS = {
    "for the two pairs of the page, from equal numbers": (_TWO, _equal(_TWO)),
    "for three pairs of unequal lengths, from the table of the first round": (
        _UNEQUAL,
        _next_table(_UNEQUAL, _equal(_UNEQUAL)),
    ),
    "for three other pairs, one with a word twice": (_THREE, _next_table(_THREE, _equal(_THREE))),
}


def _same_table(answer: Table, right: Table) -> bool:
    return all(
        abs(answer.get(key, 0.0) - right.get(key, 0.0)) < 1e-6 for key in (answer.keys() | right.keys())
    )


def _as_table(result: object) -> dict[tuple[str, str], float]:
    kind = "a dictionary from (source word, target word) to a probability"
    if not isinstance(result, Mapping):
        raise Wrong(f"the result is {show(result)}; expected {kind}.")
    for key in result:
        pair = isinstance(key, tuple) and len(key) == 2
        expect(pair, f"a key is {show(key)}; expected {kind}.", "The key is `x, y`, the source word first.")
    return {key: as_number(number, name=f"the number of {show(key)}") for key, number in result.items()}


@exercise(
    1,
    "For each target word: add up `table[x, y]` over the source words of its sentence, then give each its share.",
    "Keep two counters: the votes of each (x, y), and all votes for each x. At the end divide the first by the second.",
)
def one_round(answer: ReadersFunction) -> Iterator[str]:
    results = [_as_table(answer(*inputs)) for inputs in _ROUNDS.values()]
    for (case, inputs), got in zip(_ROUNDS.items(), results, strict=True):
        right = _next_table(*inputs)
        if {(y, x) for x, y in right} == got.keys():
            raise Wrong(f"{case} the keys are (target word, source word).", "The source word comes first.")
        if not _same_table(got, right):
            for wrong, says in _ROUND_MISTAKES.items():
                if all(
                    map(_same_table, results, (_next_table(*inputs, wrong) for inputs in _ROUNDS.values()))
                ):
                    what, hint = says.split(" | ", maxsplit=1)
                    raise Wrong(f"{case}: {what}.", hint)
            x, y = max(right, key=lambda pair: abs(got.get(pair, 0.0) - right[pair]))
            raise Wrong(f"{case} p({y} | {x}) is {got.get((x, y), 0.0):.4g}; expected {right[x, y]:.4g}.")
        yield f"{case}: right"
