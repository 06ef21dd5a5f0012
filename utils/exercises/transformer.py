"""Checks of the exercises of chapters/transformer."""

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor, nn

from utils.exercises.checking import (
    ReadersFunction,
    as_parts,
    as_tensor,
    exercise,
    expect,
    expect_close,
    expect_numbers,
    show,
)


@exercise(
    1,
    "`x.unflatten(-1, (num_heads, -1)).transpose(1, 2)` has the axes batch, heads, words, numbers of a head.",
    "Join with `heads.transpose(1, 2).flatten(2)`.",
)
def all_heads(answer: ReadersFunction) -> Iterator[str]:
    torch.manual_seed(0)
    for batch, n, m, d, num_heads in ((1, 5, 3, 4, 2), (2, 5, 3, 12, 3), (3, 4, 4, 5, 1)):
        case = f"for {n} queries, {m} keys, width {d} and {num_heads} head{'s' * (num_heads > 1)}"
        q, k, v = 2 * torch.randn(batch, n, d), torch.randn(batch, m, d), torch.randn(batch, m, d)
        context, weights = as_parts(answer(q, k, v, num_heads), "context", "weights")
        width = d // num_heads
        cuts = [slice(width * h, width * (h + 1)) for h in range(num_heads)]

        def attention(scale: float, cuts=cuts, q=q, k=k, v=v) -> tuple[torch.Tensor, torch.Tensor]:
            each = [(q[..., cut] @ k[..., cut].mT / scale).softmax(dim=-1) for cut in cuts]
            contexts = [w @ v[..., cut] for w, cut in zip(each, cuts, strict=True)]
            return torch.cat(contexts, dim=-1), torch.stack(each, dim=1)

        right, right_weights = attention(math.sqrt(width))
        heads = torch.stack([right[..., cut] for cut in cuts], dim=1)  # (b, heads, n, width)
        back = (
            "Before `flatten`, the axis of the heads goes back behind that of the words: `transpose(1, 2)`."
        )
        axes = (
            "The axes are batch, heads, queries, keys. Change the places of heads and words before `attend`."
        )
        given = as_tensor(weights, axes, shape=tuple(right_weights.shape), name=f"{case}, the weights")
        shape = "The heads of a word stand side by side, so the width is that of `q`."
        result = as_tensor(context, shape, shape=tuple(right.shape), name=f"{case}, the contexts")
        part = "A word has d numbers, the first d / H of which are those of head 1: cut the last axis."
        wrong_scale = attention(math.sqrt(d))[1] if num_heads > 1 else None
        mistakes = [(wrong_scale, "the scores are divided by √d", "The width of a head is d / H.")]
        mistakes = mistakes if num_heads > 1 else []
        expect_close(given, right_weights, case, part, name="the weights", mistakes=mistakes)
        yield f"{case} each head has its weights"
        joined = (heads.reshape(right.shape), "words and heads are mixed when they are joined", back)
        mistakes = [joined] if num_heads > 1 else []
        expect_close(result, right, case, back, name="the contexts", mistakes=mistakes)
        yield f"{case} the heads stand side by side"


@exercise(
    2,
    "Each part reads norm(x) and computes a change; the change is added to x, which has no norm.",
    "Two lines are enough: x = x + attention(norms[0](x)), and the same with the network and the other norm.",
)
def layer(answer: ReadersFunction) -> Iterator[str]:
    generator = torch.Generator().manual_seed(17)
    for shape in ((2, 5, 3), (1, 7, 5)):
        x, mixed = (
            torch.randn(shape, generator=generator),
            torch.randn(shape[-1], shape[-1], generator=generator),
        )
        factors = torch.rand(2, shape[-1], generator=generator) + 0.5

        def attention(y: Tensor) -> Tensor:
            return y.cumsum(1) / 3

        def network(y: Tensor, mixed: Tensor = mixed) -> Tensor:
            return (y @ mixed).tanh()

        def normed(y: Tensor, number: int, factors: Tensor = factors) -> Tensor:
            return nn.functional.layer_norm(y, y.shape[-1:]) * factors[number]

        norms = [partial(normed, number=number) for number in range(2)]
        first, second = norms
        read = x + attention(first(x))
        own = "Add the change to `x` itself."
        mistakes = (
            (
                second(first(x + attention(x)) + network(first(x + attention(x)))),
                "the norms stand after the sums",
                own,
            ),
            (read + network(read), "the network reads vectors without a norm", "Its input is `norms[1](x)`."),
            (network(second(read)), "nothing is added to what the network computes", own),
            (
                read + network(second(x)),
                "the network reads what stood before attention",
                "Let it read the new x.",
            ),
            (
                first(x) + attention(first(x)) + network(second(first(x) + attention(first(x)))),
                "the change of attention is added to norm(x)",
                own,
            ),
            (read + network(first(read)), "both parts have the same norm", "The second part has `norms[1]`."),
            (
                x + attention(x) + network(second(x + attention(x))),
                "attention reads vectors without a norm",
                "Its input is `norms[0](x)`.",
            ),
        )
        case = f"for vectors of shape {shape}"
        result = as_tensor(answer(x, attention, network, norms), "A layer keeps the shape.", shape=shape)
        expect_close(result, read + network(second(read)), case, name="the layer's result", mistakes=mistakes)
        yield f"{case} both parts add their change"


@exercise(
    3,
    "The query of white is (2, 0). Its dot products with white, flower and found are 0, 4 and -2.",
    "Divide by the square root of 2: 0, 2.83 and -1.41. Then come the exponentials, each divided by their sum.",
)
def exchanged_query(white: object, flower: object, found: object) -> Iterator[str]:
    scale = "Divide each dot product by the square root of the width 2."
    order = "The order is white, flower, found."
    mistakes = (
        ((0.018, 0.980, 0.002), "the scale is missing", scale),
        ((0.114, 0.844, 0.042), "the scores are divided by 2", scale),
        ((0.931, 0.055, 0.013), "white asks with its own vector", "The query of white is (2, 0)."),
        ((0.055, 0.013, 0.931), "the order is wrong", order),
    )
    weights = {"w_white": white, "w_flower": flower, "w_found": found}
    expect_numbers(weights, [0.055, 0.931, 0.013], mistakes, tolerance=0.0075, weights=True)
    yield "white looks at flower, because it asks for a thing"


#: Places of exercise 4: how fast they turn, and how many there are.
RATE, PLACES = 0.5, 10


@exercise(
    4,
    "A matrix that turns a vector by the angle a is [[cos a, -sin a], [sin a, cos a]].",
    "Turn each place back by 0.5, and multiply by a large number: long queries make sharp weights.",
)
def word_before(w_q: object) -> Iterator[str]:
    matrix = as_tensor(w_q, "It turns a vector of 2 numbers into another.", shape=(2, 2), name="w_q").double()
    angles = RATE * torch.arange(PLACES, dtype=torch.float64)
    places = torch.stack([angles.cos(), angles.sin()], dim=-1)
    weights = torch.softmax(places @ matrix.T @ places.T / math.sqrt(2), dim=-1)
    best, rows = weights.argmax(dim=-1), torch.arange(1, PLACES)
    expect(
        (weights.amax(dim=-1) - weights.amin(dim=-1)).max() > 1e-3,
        "all weights of a word are nearly equal, so it looks nowhere in particular.",
        "Do not make the numbers of the matrix so small.",
    )
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
    expect(
        least > 0.5,
        f"a word gives only {show(least)} of its weight to the word before it; expected more than 0.5.",
        "Make the queries longer: multiply the matrix by a number.",
    )
    yield "it gives this word more than half of its weight"
