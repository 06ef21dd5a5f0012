"""Checks of the exercises of chapters/inside_heads."""

from collections.abc import Iterator

import torch
from torch import Tensor

from utils.circuits import CausalHeads
from utils.exercises.checking import (
    ReadersFunction,
    as_tensor,
    exercise,
    expect,
    expect_close,
    expect_numbers,
)


def _layer(
    x: Tensor, heads: CausalHeads, kept: list[int], *, distance: bool = True, mask: bool = True, scale=True
) -> Tensor:
    """The states after a layer of which some heads are kept, with parts left out."""
    back = torch.arange(len(x))[:, None] - torch.arange(len(x))
    result = x
    for head in kept:
        q, k, v = (x @ w[head] for w in (heads.w_q, heads.w_k, heads.w_v))
        scores = q @ k.T / (q.shape[-1] ** 0.5 if scale else 1)
        if distance:
            scores = scores + heads.distance[head][back.clamp(min=0)]
        if mask:
            scores = scores.masked_fill(back < 0, -torch.inf)
        result = result + scores.softmax(dim=-1) @ v @ heads.w_o[head]
    return result


@exercise(
    1,
    "For each head that is not in `off`: queries, keys, values, scores with the distances, a mask, a softmax, and w_o.",
    "`layer.distance[head][back.clamp(min=0)]` with `back = places[:, None] - places` are the numbers of all pairs.",
)
def layer(answer: ReadersFunction) -> Iterator[str]:
    torch.manual_seed(0)
    heads = CausalHeads(6, 3, max_len=11).requires_grad_(False)
    for name in ("w_q", "w_k", "w_v", "w_o"):
        getattr(heads, name).mul_(4)
    heads.distance.copy_(torch.randn(3, 11))
    for off, n in (((), 5), ((1,), 7), ((0, 2), 5), ((0, 1, 2), 3)):
        x = torch.randn(n, 6)
        case = "with all heads" if not off else f"with off={off}"
        kept, every = [head for head in range(3) if head not in off], [0, 1, 2]
        right = _layer(x, heads, kept)
        hide = "Leave out the heads whose numbers are in `off`, counted from 0."
        mistakes = [
            (right - x, "the states that the layer reads are missing", "Each head adds to x."),
            (
                _layer(x, heads, kept, mask=False),
                "places look at later places",
                "Hide the keys with i - j < 0.",
            ),
            (
                _layer(x, heads, kept, distance=False),
                "the numbers of the distances are missing",
                "Add b to the scores.",
            ),
            (
                _layer(x, heads, kept, scale=False),
                "the scale is missing",
                "Divide by the root of the width of a head.",
            ),
        ]
        if off:
            mistakes += [
                (_layer(x, heads, every), "no head is hidden", hide),
                (_layer(x, heads, list(off)), "the heads in off are kept and the others hidden", hide),
            ]
        expect_close(answer(x, heads, off), right, case, hide, name="the states", mistakes=mistakes)
        yield f"{case} the states are right"


@exercise(
    3,
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


#: Texts of exercise 4, by what is special about them.
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
    4,
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
