"""Checks of the exercises of chapters/fast_decoding."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from utils.exercises.checking import (
    LargestTensor,
    ReadersFunction,
    as_parts,
    exercise,
    expect,
    expect_close,
    show,
)
from utils.fast_decoding import rotate


def _look(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    return torch.softmax(keys @ query / math.sqrt(len(query)), dim=0) @ values


@exercise(
    1,
    "The new word gives one query, one key and one value. The key and the value become the last rows of the cache.",
    "`keys = torch.cat([keys, (new @ w_k)[None]])`, the same for the values, and then `look(new @ w_q, keys, values)`.",
)
def step(answer: ReadersFunction) -> Iterator[str]:
    torch.manual_seed(0)
    for n, says in ((4, "with four words in the cache"), (0, "with an empty cache")):
        w_q, w_k, w_v = torch.randn(3, 7, 5) / 7**0.5
        keys, values, new = torch.randn(n, 5), torch.randn(n, 5), torch.randn(7)
        result = as_parts(answer(new, keys, values, w_q, w_k, w_v), "context", "keys", "values")
        own = {"keys": (new @ w_k)[None], "values": (new @ w_v)[None]}
        longer = {"keys": torch.cat([keys, own["keys"]]), "values": torch.cat([values, own["values"]])}
        for name, got, old in (("keys", result[1], keys), ("values", result[2], values)):
            last = "The new row is the last one: a word comes after the words before it."
            mistakes = [(torch.cat([own[name], old]), "the new row stands first", last)]
            added = "The cache has one row more than before: what the new word leaves."
            expect_close(got, longer[name], says, added, name=f"the new {name}", mistakes=mistakes)
        query = new @ w_q
        right = _look(query, **longer)
        itself = "A word also looks at itself, so add its key and value to the cache first."
        mistakes = [
            (
                _look(query, longer["values"], longer["keys"]),
                "keys and values are exchanged",
                "Keys are compared.",
            ),
            (_look(new @ w_k, **longer), "the key is used as the query", "The query is `new @ w_q`."),
            (
                torch.softmax(longer["keys"] @ query, dim=0) @ longer["values"],
                "the scale is missing",
                "Use `look`.",
            ),
        ]
        if n:
            mistakes.append((_look(query, keys, values), "the word does not look at itself", itself))
        expect_close(result[0], right, says, itself, name="the context", mistakes=mistakes)
        yield f"{says} the context is right, and the cache has one row more"


def _turned(x: Tensor, place: int, *, way: int = 1, first: int = 0, halves: bool = False) -> Tensor:
    d = len(x)
    angles = place * 10_000 ** (-torch.arange(first, first + d, 2) / d)
    cos, sin = angles.cos(), way * angles.sin()
    a, b = (x[: d // 2], x[d // 2 :]) if halves else (x[0::2], x[1::2])
    parts = [a * cos - b * sin, a * sin + b * cos]
    return torch.cat(parts) if halves else torch.stack(parts, dim=-1).flatten()


@exercise(
    2,
    "A pair (a, b) turned by an angle is (a cos − b sin, a sin + b cos). Begin with a vector of two numbers.",
    "`10_000 ** (-torch.arange(0, d, 2) / d)` are the angles of one place; `x[0::2]` and `x[1::2]` are the pairs.",
)
def turn(answer: ReadersFunction) -> Iterator[str]:
    torch.manual_seed(0)
    for d, place in ((2, 1), (6, 1), (10, 13), (4, 0)):
        x = torch.randn(d)
        case = f"for a vector of {d} numbers at place {place}"
        right = rotate(x[None], start=place)[0]
        against = "The first number becomes a cos − b sin, and the second a sin + b cos."
        rates = "The pair i, counted from 0, has the rate 10,000 to the power of −2i/d."
        pairs = "Pair the neighbours: the first number with the second, the third with the fourth."
        mistakes = [
            (_turned(x, 1), "it is turned as at place 1", "Multiply the rates by the place."),
            (_turned(x, place, way=-1), "the pairs turn the other way", against),
            (_turned(x, place, first=2), "the rates begin with the second one", rates),
            (_turned(x, place, halves=True), "other numbers are paired", pairs),
            (x, "nothing is turned", "Multiply the rates by the place."),
        ]
        result = answer(x, place)
        expect_close(
            result,
            right,
            case,
            rates,
            against,
            name="the turned vector",
            mistakes=mistakes,
        )
        yield f"{case} all pairs are turned"


@exercise(
    3,
    "q · (U c) = (Uᵀ q) · c: move the matrix to the query, once, before you look at the words.",
    "`latents @ (up.T @ query)` are the dot products. Divide by the square root of the width of the query.",
)
def latent_scores(answer: ReadersFunction) -> Iterator[str]:
    torch.manual_seed(0)
    for n, rank, d in ((5, 2, 3), (31, 3, 37)):
        query, latents, up = torch.randn(d), torch.randn(n, rank), torch.randn(d, rank)
        case = f"for {n} words, latent vectors of width {rank} and keys of width {d}"
        with LargestTensor() as tensors:
            result = answer(query, latents, up)
        dots = latents @ up.T @ query
        mistakes = (
            (dots, "the scale is missing", "Divide by √d."),
            (dots / d, "the scores are divided by d", "Divide by √d."),
            (dots / math.sqrt(rank), "the scale is that of the latent vectors", "d is the width of a key."),
            (
                (dots / math.sqrt(d)).softmax(0),
                "these are the weights",
                "Return the scores, before the softmax.",
            ),
        )
        steps = "Build the keys first, to see what is right. Then do without them."
        expect_close(result, dots / math.sqrt(d), case, steps, name="the scores", mistakes=mistakes)
        yield f"{case} the scores are right"
    built = {(31, 37), (37, 31)} & tensors.shapes
    expect(
        not built,
        f"{case} your function builds all keys: a tensor of shape {show(min(built, default=()))}.",
        "`up.T @ query` has only 3 numbers.",
    )
    yield "the keys are never built together"


@exercise(
    4,
    "Where q is at most p, every draft is kept. Where q is too large, keep the share p / q of the drafts.",
    "`accept = (p / q).clamp(max=1)`, and `rest` is `(p - q).clamp(min=0)`, divided by its sum.",
)
def drawn_words(answer: ReadersFunction) -> Iterator[str]:
    cases = (
        ("for two words", [0.9, 0.1], [0.6, 0.4]),
        ("for four words", [0.5, 0.25, 0.2, 0.05], [0.2, 0.5, 0.1, 0.2]),
        ("for a word that the large model never writes", [0.0, 0.75, 0.25], [0.5, 0.25, 0.25]),
    )
    for case, large, small in cases:
        p, q = torch.tensor(large), torch.tensor(small)
        accept, rest = as_parts(answer(p, q), "accept", "rest")
        below, above = (p / q).clamp(max=1), (p - q).clamp(min=0)
        most = (
            "A probability is at most 1. Where the small model proposes a word too seldom, keep every draft."
        )
        mistakes = [
            (p / q, "some are above 1", most),
            ((q / p).clamp(max=1), "large and small are exchanged", "Keep less where q is larger than p."),
            (
                p,
                "these are the probabilities of the large model",
                "The small model has drawn the word already.",
            ),
        ]
        expect_close(accept, below, case, most, name="accept", mistakes=mistakes)
        missing = "Drafts give the word j with the probability q_j · accept_j. What is missing to p_j?"
        mistakes = [
            (above, "this is not yet divided by its sum", "Probabilities sum to 1."),
            (p, "this is p itself", "The drafts that are kept have given a part of p already."),
            ((q - p).clamp(min=0) / above.sum(), "the difference has the wrong sign", missing),
        ]
        expect_close(rest, above / above.sum(), case, missing, name="rest", mistakes=mistakes)
        yield f"{case} each word is written with the probability of the large model"
