"""Checks of the exercises of chapters/inside_heads."""

from collections.abc import Iterator

import torch
from torch import Tensor

from utils.exercises.checking import (
    ReadersFunction,
    as_tensor,
    exercise,
    expect,
    expect_close,
    expect_numbers,
)


@exercise(
    2,
    "The earlier head writes (0, 3) where it has looked at a, and (3, 0) where it has looked at b.",
    "Each entry is a query times M times what was written, divided by the square root of 4.",
)
def circuit_by_hand(a_a: object, a_b: object, b_a: object, b_b: object) -> Iterator[str]:
    scale = "Divide by the square root of the width of a head, which is 4."
    through = "The columns are words that the earlier head has looked at. What does it write for each?"
    rows = "A query is a row: first times M, then times the written vector."
    mistakes = (
        ((3, 0, 0, 6), "the scale is missing", scale),
        ((0.75, 0, 0, 1.5), "the scores are divided by 4", scale),
        ((0, 0.5, 1, 0), "the columns are the words at the keys themselves", through),
        ((3, 0, 0, 1.5), "rows and columns of M are exchanged", rows),
    )
    numbers = {"a_a": a_a, "a_b": a_b, "b_a": b_a, "b_b": b_b}
    expect_numbers(numbers, [1.5, 0, 0, 3], mistakes, tolerance=0.01)
    yield "each word asks for the place after its own like"


#: Texts of exercise 3, by what is special about them.
TEXTS = {
    "of a block that stands twice": [3, 1, 2, 3, 1, 2],
    "without a word that stands twice": [4, 0, 2],
    "with a word that stands three times": [5, 1, 5, 2, 5],
    "in which a word follows itself": [6, 6, 0, 6],
}


def _perfect(tokens: list[int], *, place: int = 1, last: bool = True, rest: str = "first") -> Tensor:
    """Weights ``place`` places after the last or first earlier place of the query's word, else on 0 or on itself."""
    weights = torch.zeros(len(tokens), len(tokens))
    for i, word in enumerate(tokens):
        earlier = [j for j in range(i) if tokens[j] == word]
        new = 0 if rest == "first" else i
        weights[i, earlier[-1 if last else 0] + place if earlier else new] = 1
    return weights


@exercise(
    3,
    "For each place i: at which earlier places j does `tokens[j] == tokens[i]` hold? Take the last of them.",
    "The 1 stands in row i and column j + 1; a row without such a j has it in column 0.",
)
def perfect_head(answer: ReadersFunction) -> Iterator[str]:
    for name, tokens in TEXTS.items():
        case = f"for a text {name}"
        n = len(tokens)
        weights = as_tensor(
            answer(torch.tensor(tokens)), "It has a row and a column for each place.", shape=(n, n)
        )
        weights = weights.to(torch.float32)
        expect(
            bool((weights.triu(1) == 0).all()),
            f"{case} a place looks at a later place.",
            "Only earlier places of the same word count: j < i.",
        )
        expect(
            bool((weights.sum(dim=1) > 0).all()),
            f"{case} a row has no weight.",
            "A word that is new looks at place 0.",
        )
        after = "The copying head looks at the word that came after the earlier place."
        mistakes = [
            (_perfect(tokens, place=0), "each word looks at its earlier place itself", after),
            (_perfect(tokens, rest="itself"), "a new word looks at itself", "A new word looks at place 0."),
            (
                _perfect(tokens, last=False),
                "the first earlier place counts",
                "The last earlier place counts.",
            ),
        ]
        expect_close(weights, _perfect(tokens), case, after, name="the weights", mistakes=mistakes)
        yield f"{case} the weights are right"
