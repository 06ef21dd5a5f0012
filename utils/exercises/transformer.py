"""Checks of the exercises of chapters/transformer."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from utils.exercises.checking import (
    Mistake,
    ReadersFunction,
    as_number,
    as_tensor,
    choose,
    compare_with_rubric,
    exercise,
    expect,
    expect_close,
    recognise,
    show,
)


@exercise(1, "predict", "The new vector of word 3 is an average. Of which words, with the causal mask?")
def what_changes(answer: object) -> Iterator[str]:
    yield from choose(
        answer,
        right="b",
        reason="word 5 is hidden from the words before it, and the words 5 to 8 average its value.",
        wrong={
            "a": "words 6 to 8 may look at word 5, so its value is a part of their averages.",
            "c": "words 1 to 4 come before word 5. The causal mask hides it from them.",
            "d": "this would hold in the encoder. Here the mask hides word 5 from some of the words.",
        },
    )


# Numbers that learners get for exercise 2.
SCORES = Mistake(
    (0, 2.828, -1.414),
    "These are the scores. The weights come after the softmax.",
    "The exponentials of the scores are 1, 16.9 and 0.243.",
)
EXPONENTIALS = Mistake(
    (1, 16.9, 0.243),
    "These are the exponentials. They are not weights yet, because they do not sum to 1.",
    "Divide each exponential by the sum of the three.",
)
PER_CENT = Mistake(
    (5.5, 93.1, 1.3),
    "These are the weights in per cent. Weights sum to 1, not to 100.",
    "93 per cent is 0.93.",
)
OTHER_WEIGHTS = (
    Mistake(
        (0.018, 0.980, 0.002),
        "These are the weights without the scale.",
        "Divide each dot product by the square root of 2 before the softmax.",
    ),
    Mistake(
        (0.114, 0.844, 0.042),
        "These are the weights if the scores are divided by 2.",
        "The scale is the square root of the width, and the width is 2.",
    ),
    Mistake(
        (0.931, 0.055, 0.013),
        "These are the weights if white asks with its own vector, (0, 2).",
        "W_q exchanges the two numbers, so the query of white is (2, 0).",
    ),
    Mistake(
        (0.055, 0.013, 0.931),
        "These are the weights of white, found and flower, in the wrong order.",
        "The order is white, flower, found.",
    ),
    Mistake(
        (0.931, 0.013, 0.055),
        "These are the weights of flower, found and white, in the wrong order.",
        "The order is white, flower, found.",
    ),
)


@exercise(
    2,
    "compute",
    "The query of white is (2, 0). Its dot products with white, flower and found are 0, 4 and -2.",
    "Divide by the square root of 2: 0, 2.83 and -1.41. Then come the exponentials, each divided by their sum.",
)
def exchanged_query(white: object, flower: object, found: object) -> Iterator[str]:
    names = ("white", "flower", "found")
    weights = [as_number(w, name=f"w_{name}") for w, name in zip((white, flower, found), names, strict=True)]
    recognise(weights, [SCORES], tolerance=0.0065)
    expect(min(weights) >= 0, f"{show(min(weights))} is a negative weight.", "An exponential is positive.")
    yield "no weight is negative"
    recognise(weights, [PER_CENT], tolerance=0.65)
    recognise(weights, [EXPONENTIALS], tolerance=0.06)
    expect(
        abs(sum(weights) - 1) < 0.016,  # three numbers of two decimals each
        f"the three weights sum to {show(sum(weights))}; expected 1.",
        "Divide each exponential by the sum of the three.",
    )
    yield "the weights sum to 1"
    recognise(weights, OTHER_WEIGHTS, tolerance=0.0065)
    for name, weight, right in zip(names, weights, (0.055, 0.931, 0.013), strict=True):
        expect(
            abs(weight - right) < 0.0075,
            f"{name} has the weight {show(weight)}; expected another number.",
            f"Compute the dot product of (2, 0) with the vector of {name} again.",
        )
    yield "white looks at flower, because it asks for a thing"


@exercise(
    3,
    "implement",
    "The new word may look at itself, too: its key and its value join the others before the scores are computed.",
    "`torch.cat([past_keys, key[None]])` has one row more. The rest is the attention of a single query.",
)
def one_more_word(answer: ReadersFunction) -> Iterator[str]:
    torch.manual_seed(0)
    for num_past, d, d_value in ((0, 2, 3), (1, 2, 3), (5, 3, 2)):
        case = f"with {num_past} word{'' if num_past == 1 else 's'} in the cache"
        query, key, value = 2 * torch.randn(d), torch.randn(d), torch.randn(d_value)
        past = torch.randn(num_past, d), torch.randn(num_past, d_value)
        result = answer(query, key, value, *past)
        expect(
            isinstance(result, tuple | list) and len(result) == 3,
            f"{case}, the function returns {_how_many(result)}; expected three things.",
            "End with `return context, keys, values`.",
        )
        context, *cache = result
        for name, part, old, new in zip(("keys", "values"), cache, past, (key, value), strict=True):
            _check_cache(name, part, old, new, case)
        yield f"{case} the new cache is right"
        keys, values = (torch.cat([old, new[None]]) for old, new in zip(past, (key, value), strict=True))
        scores = keys @ query
        average = as_tensor(
            context,
            "It is an average of the values, so it is as wide as a value.",
            shape=(d_value,),
            name=f"{case}, the context",
        )
        recognise(
            average,
            [
                Mistake(
                    tuple((scores.softmax(0) @ values).tolist()), "the scale is missing", "Divide by √d."
                ),
                Mistake(
                    tuple(((scores / d).softmax(0) @ values).tolist()),
                    "the scores are divided by d",
                    "The scale is the square root of the width of a key.",
                ),
                Mistake(
                    tuple((scores / math.sqrt(d) @ values).tolist()),
                    "the values are summed with the scores",
                    "A softmax turns scores into weights.",
                ),
                Mistake(
                    tuple(((scores / math.sqrt(d))[:-1].softmax(0) @ values[:-1]).tolist()),
                    "the new word does not look at itself",
                    "Put its key and value into the cache first.",
                ),
                Mistake(
                    tuple(values.mean(0).tolist()), "all weights are equal", "Which part uses the query?"
                ),
            ][: 5 if num_past else 0],
            f"{case}, ",
            ".",
            tolerance=1e-4,
        )
        right = (scores / math.sqrt(d)).softmax(0) @ values
        expect_close(
            average, right, case, "Compute scores, weights and the average in turn.", name="the context"
        )
        yield f"{case} the context is that of causal attention"


def _how_many(result: object) -> str:
    return f"{len(result)} things" if isinstance(result, tuple | list) else "one thing"


def _check_cache(name: str, rows: object, old: Tensor, new: Tensor, case: str) -> None:
    rows = as_tensor(rows, name=f"{case}, `{name}`").float()
    expect(
        tuple(rows.shape) != tuple(old.shape),
        f"{case}, `{name}` still has {len(old)} rows; expected one more.",
        "The next word must find the new one in the cache.",
    )
    right = torch.cat([old, new[None]])
    expect(
        rows.shape == right.shape,
        f"{case}, `{name}` has the shape {tuple(rows.shape)}; expected {tuple(right.shape)}.",
        "`new[None]` makes a row of a vector, and `torch.cat` puts rows below each other.",
    )
    if len(old):
        expect(
            not torch.allclose(rows, torch.cat([new[None], old])),
            f"{case}, the new row of `{name}` stands before the others.",
            "The rows are in the order of the words.",
        )
    expect(
        torch.allclose(rows, right, atol=1e-6),
        f"{case}, `{name}` is not the old rows with the new one behind them.",
        "Earlier rows stay as they are: that is why they may be kept.",
    )


#: Places of exercise 4: how fast they turn, and how many there are.
RATE, PLACES = 0.5, 10


@exercise(
    4,
    "experiment",
    "A matrix that turns a vector by the angle a is [[cos a, -sin a], [sin a, cos a]].",
    "Turn each place back by 0.5, and multiply by a large number: long queries make sharp weights.",
)
def word_before(w_q: object) -> Iterator[str]:
    matrix = as_tensor(w_q, "It turns a vector of 2 numbers into another.", shape=(2, 2), name="w_q").double()
    expect(bool(matrix.isfinite().all()), "some of the numbers are infinite or NaN; expected finite ones.")
    angles = RATE * torch.arange(PLACES, dtype=torch.float64)
    places = torch.stack([angles.cos(), angles.sin()], dim=-1)
    weights = torch.softmax(places @ matrix.T @ places.T / math.sqrt(2), dim=-1)
    best = weights.argmax(dim=-1)
    rows = torch.arange(1, PLACES)
    spread = weights[1:].amax(dim=-1) - weights[1:].amin(dim=-1)
    expect(
        spread.max() > 1e-3,
        "all weights of a word are nearly equal, so it looks nowhere in particular.",
        "Do not make the numbers of the matrix so small.",
    )
    yield "the words look at some places more than at others"
    for shift, says, hint in (
        (
            0,
            "each word looks most at itself.",
            "The query must be turned. By which angle does the place before differ?",
        ),
        (1, "each word looks most at the word after it.", "Turn the query the other way: back, not forward."),
        (
            -2,
            "each word looks most at the second word before it.",
            "Turn by 0.5, the angle between two neighbours.",
        ),
    ):
        expect(not torch.equal(best[2:-1], rows[1:-1] + shift), says, hint)
    wrong = (best[1:] != rows - 1).nonzero().flatten()
    if len(wrong):
        word = int(wrong[0]) + 1
        expect(
            False,
            f"word {word} (counted from 0) looks most at word {int(best[word])}; expected word {word - 1}.",
            "Draw the ten places on a circle. Where must the query of a word point?",
        )
    yield "each word looks most at the word before it"
    least = weights[rows, rows - 1].min().item()
    expect(
        least > 0.5,
        f"a word gives only {show(least)} of its weight to the word before it; expected more than 0.5.",
        "Make the queries longer: multiply the matrix by a number.",
    )
    yield "it gives this word more than half of its weight"


@exercise(5, "open")
def all_at_once(answer: object) -> Iterator[str]:
    yield from compare_with_rubric(
        answer,
        (
            "In training all true words are given, so all places are computed at once.",
            "When the model writes, each word is an input of the next, so 20 words need 20 steps.",
            "The cache keeps the keys and values of the words so far. So a step reads one new word, but it is still a "
            "step.",
            "It says what one would measure: the time of a training step and the time to write, for short and long "
            "sentences.",
        ),
    )
