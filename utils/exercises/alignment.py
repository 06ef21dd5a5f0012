"""Checks of the exercises of chapters/alignment."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from utils.exercises.checking import (
    ReadersFunction,
    Wrong,
    as_number,
    exercise,
    expect,
    show,
)

Pairs = Sequence[tuple[Sequence[str], Sequence[str]]]
Table = Mapping[tuple[str, str], float]

_TWO = [(["the", "flower"], ["la", "fleur"]), (["the", "house"], ["la", "maison"])]
_THREE = [
    (["the", "white", "flower"], ["la", "fleur", "blanche"]),
    (["the", "flower"], ["la", "fleur"]),
    (["the", "flower", "and", "the", "house"], ["la", "fleur", "et", "la", "maison"]),
]


def _equal(pairs: Pairs) -> dict[tuple[str, str], float]:
    """The table to begin with: all probabilities of words that meet are equal."""
    return {(x, y): 1.0 for source, target in pairs for x in source for y in target}


def _next_table(pairs: Pairs, table: Table, mistake: str = "") -> dict[tuple[str, str], float]:
    """One round of model 1; or one with a mistake that learners make."""
    votes: Counter = Counter()
    for source, target in pairs:
        for y in target:
            norm = sum(table[x, y] for x in source)
            best = max(table[x, y] for x in source)
            for x in source:
                share = table[x, y] / norm
                if mistake == "no share":
                    share = table[x, y]
                elif mistake == "over the target words":
                    share = table[x, y] / sum(table[x, other] for other in target)
                elif mistake == "without the table":
                    share = 1 / len(source)
                elif mistake == "the best alone":
                    share = float(table[x, y] == best)
                elif mistake == "each pair once":
                    share = max(share - votes[x, y], 0)
                votes[x, y] += share
    totals: Counter = Counter()
    for (x, y), number in votes.items():
        totals[y if mistake == "divided by y" else x] += number
    if mistake == "votes":
        return dict(votes)
    return {(x, y): n / (totals[y if mistake == "divided by y" else x] or 1) for (x, y), n in votes.items()}


_ROUND_MISTAKES = {
    "votes": ("these are votes, not probabilities", "Divide the votes for a source word by all its votes."),
    "divided by y": (
        "the votes are divided by all votes of the target word",
        "p(y | x) belongs to the source word x: divide by all votes for x.",
    ),
    "no share": (
        "the votes of a target word do not add up to 1",
        "Divide each p(y | x) by the sum over the source words of this sentence.",
    ),
    "over the target words": (
        "the votes are shared among the target words",
        "Each target word divides its vote among the source words of its sentence.",
    ),
    "without the table": (
        "every source word gets the same share",
        "After the first round the shares are in the ratio of the probabilities in `table`.",
    ),
    "the best alone": (
        "each vote goes to one source word alone",
        "A vote is divided: each source word gets a share.",
    ),
    "each pair once": (
        "the votes of the sentences are not added up",
        "A pair of words that meets in two sentences gets the votes of both: use `+=`.",
    ),
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
    after_one = _next_table(_TWO, _equal(_TWO))
    cases = (
        (_TWO, _equal(_TWO), "for the two pairs of the page, from equal numbers"),
        (_TWO, after_one, "for these pairs, from the table of the first round"),
        (_THREE, _next_table(_THREE, _equal(_THREE)), "for three pairs, one with a word twice"),
    )
    results = [_as_table(answer(pairs, table)) for pairs, table, _ in cases]
    for got, (pairs, table, case) in zip(results, cases, strict=True):
        right = _next_table(pairs, table)
        if {(t, s) for s, t in right} == got.keys():
            raise Wrong(f"{case} the keys are (target word, source word).", "The source word comes first.")
        if not _same_table(got, right):
            for name, (what, hint) in _ROUND_MISTAKES.items():
                wrong = [_next_table(*given, name) for *given, _ in cases]
                if all(map(_same_table, results, wrong)):
                    raise Wrong(f"{case}: {what}.", hint)
            key = max(right, key=lambda k: abs(got.get(k, 0.0) - right[k]))
            raise Wrong(
                f"{case} p({key[1]} | {key[0]}) is {got.get(key, 0.0):.4g}; expected {right[key]:.4g}."
            )
        yield f"{case}: right"


Links = set[tuple[int, int]]


def _grown(forward: Links, backward: Links, mistake: str = "") -> Links:
    """Grow the intersection into the union; or with a mistake that learners make."""
    union, links = forward | backward, set(forward & backward)
    if mistake == "union":
        return union
    if mistake == "nothing":
        return links
    while True:
        before = len(links)
        for i, j in sorted(union - links):
            around = {
                (i + a, j + b) for a in (-1, 0, 1) for b in (-1, 0, 1) if mistake != "sides" or not a * b
            }
            next_to = bool(around & links)
            free_i, free_j = all(i != k for k, _ in links), all(j != k for _, k in links)
            free = (free_i and free_j) if mistake == "both" else (free_i or free_j)
            if (next_to or mistake == "anywhere") and (free or mistake == "any word"):
                links.add((i, j))
        if len(links) == before or mistake == "one pass":
            return links


_GROWN_MISTAKES = {
    "union": ("this is the union", "Begin with the intersection, and add only links that pass both tests."),
    "nothing": ("this is the intersection", "Add the links of the union that pass both tests."),
    "one pass": (
        "you go through the union once",
        "An added link has neighbours of its own: repeat until nothing is added.",
    ),
    "sides": ("links that touch at a corner are left out", "(1, 1) and (2, 2) are neighbours, too."),
    "both": (
        "a link is added only if both of its words have no link",
        "It is enough that one of its two words has no link yet.",
    ),
    "anywhere": ("a link is added far from all others", "It must be a neighbour of a link that is there."),
    "any word": (
        "a link is added although both of its words have links",
        "At least one of its two words must have no link yet.",
    ),
}
#: Links of two directions, and what the case has.
_GROWN_CASES = (
    ({(0, 0), (1, 1)}, {(0, 0), (2, 1)}, "a word with two links"),
    ({(0, 0), (1, 1), (2, 2), (3, 3)}, {(0, 0)}, "a chain of corners"),
    ({(0, 0), (1, 0), (2, 1), (5, 4)}, {(0, 0), (1, 1)}, "a link that stands alone"),
    ({(0, 0), (1, 1), (0, 1)}, {(0, 0), (1, 1)}, "a link between two words that have links"),
    ({(2, 2), (1, 1), (0, 0)}, {(2, 2)}, "a chain that grows backwards"),
    ({(1, 0), (2, 3)}, {(0, 1), (4, 2)}, "nothing in common"),
)


@exercise(
    3,
    "Begin with `forward & backward`, and go through the rest of the union in sorted order.",
    "Repeat the pass as long as the last one has added a link.",
)
def grow(answer: ReadersFunction) -> Iterator[str]:
    results = [_as_links(answer(set(forward), set(backward))) for forward, backward, _ in _GROWN_CASES]
    for got, (forward, backward, case) in zip(results, _GROWN_CASES, strict=True):
        right = _grown(forward, backward)
        if got != right:
            call = f"{case} (forward {show(sorted(forward))}, backward {show(sorted(backward))})"
            for name, (what, hint) in _GROWN_MISTAKES.items():
                if results == [_grown(*given, name) for *given, _ in _GROWN_CASES]:
                    raise Wrong(f"{call}: {what}.", hint)
            raise Wrong(f"{call}: the links are {show(sorted(got))}; expected {show(sorted(right))}.")
        yield f"{case}: {show(sorted(right))}"


def _as_links(result: object) -> Links:
    try:
        return {(int(i), int(j)) for i, j in result}  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise Wrong(f"the result is {show(result)}; expected a set of pairs.") from None
