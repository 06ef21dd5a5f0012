"""Checks of the exercises of chapters/transformer."""

import math
import operator
from collections.abc import Iterator

import torch
from torch import Tensor

from utils.exercises.checking import as_tensor, expect, show
from utils.exercises.report import exercise
from utils.exercises.tables import Case, Row, against, normal, numbers


def _split(x: Tensor, num_heads: int) -> Tensor:
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def _join(heads: Tensor) -> Tensor:
    return heads.transpose(1, 2).flatten(2)


def _sizes(batch: int, n: int, m: int, d: int, num_heads: int) -> Case:
    says = f"for {n} queries, {m} keys, width {d} and {num_heads} head{'s' * (num_heads > 1)}"
    inputs = (*normal((batch, n, d), (batch, m, d), (batch, m, d)), num_heads)
    return Case(says, inputs, f"{says} each head has its weights, and the heads stand side by side", _CUT)


_CUT = "A word has d numbers, the first d / H of which are those of head 0: cut the last axis."
_AXES = "The axes are batch, heads, queries, keys. Change the places of heads and words before `attend`."
_BACK = "Before `flatten`, the axis of the heads goes back behind that of the words: `transpose(1, 2)`."


@against(
    1,
    "`x.unflatten(-1, (num_heads, -1)).transpose(1, 2)` has the axes batch, heads, words, numbers of a head.",
    "Join with `heads.transpose(1, 2).flatten(2)`.",
    cases=[_sizes(1, 5, 3, 6, 2), _sizes(2, 5, 3, 15, 3), _sizes(3, 4, 4, 5, 1)],
    mistakes={
        "the scores are divided by √d | The width of a head is d / H.": {"scale": lambda d, num_heads: d},
        "the scores are not scaled | `attend` divides them by the root of the width of a head.": {
            "scale": lambda d, num_heads: 1
        },
        f"a head has numbers of several words | {_CUT}": {
            "split": lambda x, num_heads: x.reshape(len(x), num_heads, x.shape[1], -1)
        },
        f"the axes of words and heads are exchanged | {_AXES}": {"swap": True},
        f"words and heads are mixed when they are joined | {_BACK}": {
            "join": lambda heads: heads.reshape(len(heads), heads.shape[2], -1)
        },
    },
    parts=["the contexts", "the weights"],
    last_first=True,
)
def all_heads(q, k, v, num_heads, *, split=_split, join=_join, scale=operator.floordiv, swap=False) -> tuple:
    width = scale(q.shape[-1], num_heads)
    q, k, v = (split(x, num_heads) for x in (q, k, v))
    weights = torch.softmax(q @ k.mT / math.sqrt(width), dim=-1)
    return join(weights @ v), weights.transpose(1, 2) if swap else weights


_SCALE = "Divide each dot product by the square root of the width 2."


@numbers(
    2,
    "The query of white is (1, 0). Its dot products with white, flower and found are 0, 2 and -1.",
    "Divide by the square root of 2: 0, 1.41 and -0.71. Then come the exponentials, each divided by their sum.",
)
def exchanged_query() -> list[Row]:
    right = {"w_white": 0.178, "w_flower": 0.734, "w_found": 0.088}
    mistakes = {
        f"the scale is missing | {_SCALE}": (0.114, 0.844, 0.042),
        f"the scores are divided by 2 | {_SCALE}": (0.231, 0.629, 0.140),
        f"the scores are divided by the root of the three words | {_SCALE}": (0.211, 0.670, 0.119),
        "white asks with its own vector | The query of white is (1, 0).": (0.576, 0.284, 0.140),
        "the order is wrong | The order is white, flower, found.": (0.734, 0.178, 0.088),
    }
    return [Row(right, "white looks at flower, because it asks for a thing", mistakes, 0.0075, weights=True)]


#: Places of exercise 3: how fast they turn, and how many there are.
RATE, PLACES = 0.5, 10


@exercise(
    3,
    "A matrix that turns a vector by the angle a is [[cos a, -sin a], [sin a, cos a]].",
    "Turn each place back by 0.5, and multiply by a large number: long queries make sharp weights.",
)
def word_before(w_q: object) -> Iterator[str]:
    matrix = as_tensor(w_q, "It turns a vector of 2 numbers into another.", shape=(2, 2), name="w_q").double()
    angles = RATE * torch.arange(PLACES, dtype=torch.float64)
    places = torch.stack([angles.cos(), angles.sin()], dim=-1)
    weights = torch.softmax(places @ matrix.T @ places.T / math.sqrt(2), dim=-1)
    best, rows = weights.argmax(dim=-1), torch.arange(1, PLACES)
    flat = (weights.amax(dim=-1) - weights.amin(dim=-1)).max() <= 1e-3
    small = "Do not make the numbers of the matrix so small."
    expect(not flat, "all weights of a word are nearly equal, so it looks nowhere in particular.", small)
    yield "the words look at some places more than at others"
    for shift, says, hint in (
        (0, "itself", "The query must be turned. By which angle does the place before differ?"),
        (1, "the word after it", "Turn the query the other way: back, not forward."),
        (-2, "the second word before it", "Turn by 0.5, the angle between two neighbours."),
    ):
        expect(not torch.equal(best[2:-1], rows[1:-1] + shift), f"each word looks most at {says}.", hint)
    circle = "Draw the ten places on a circle. Where must the query of a word point?"
    for word in range(1, PLACES):
        looked = f"word {word} (counted from 0) looks most at word {int(best[word])}"
        expect(best[word] == word - 1, f"{looked}; expected word {word - 1}.", circle)
    yield "each word looks most at the word before it"
    least = weights[rows, rows - 1].min().item()
    gives = f"a word gives only {show(least)} of its weight to the word before it; expected more than 0.5."
    expect(least > 0.5, gives, "Make the queries longer: multiply the matrix by a number.")
    yield "it gives this word more than half of its weight"
