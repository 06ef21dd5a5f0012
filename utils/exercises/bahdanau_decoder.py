"""Checks of the exercises of chapters/bahdanau_decoder."""

import math
from collections.abc import Iterator
from functools import cache

import torch
from torch import Tensor, nn

from utils.attention import AdditiveAttention
from utils.exercises.checking import (
    ReadersFunction,
    Wrong,
    as_parts,
    as_tensor,
    exercise,
    expect,
    expect_close,
    expect_numbers,
    show,
)
from utils.search import greedy
from utils.seq2seq import BahdanauDecoder, ContextGRUCell, Encoder, EncoderDecoder


@exercise(
    1,
    "The order is: query plus keys, tanh, `w_v`, the masked softmax, the average of `h`, and the cell.",
    "`features = torch.tanh(layer.w_q(s)[:, None] + keys)` has the shape (b, n, d_s). What does `w_v` make of it?",
)
def one_step(answer: ReadersFunction) -> Iterator[str]:
    torch.manual_seed(0)
    layer, cell = AdditiveAttention(7, 10, 7), ContextGRUCell(3, 10, 7)
    lens = [5, 3]
    mask = torch.arange(5) < torch.tensor(lens)[:, None]
    with torch.no_grad():
        for parameter in layer.parameters():
            nn.init.normal_(parameter)
        y, s, h = torch.randn(2, 3), torch.randn(2, 7), torch.randn(2, 5, 10)
        keys = layer.w_k(h)
        state, context, weights = as_parts(
            answer(layer, cell, y, s, h, keys, mask), "the new state", "the context", "the weights"
        )
        queries = layer.w_q(s)
        scores = torch.stack(
            [
                torch.stack([layer.w_v(torch.tanh(q + k)).squeeze() for k in row])
                for q, row in zip(queries, keys, strict=True)
            ]
        )

        def over_words(numbers: Tensor, hidden: Tensor = ~mask) -> Tensor:
            return torch.softmax(numbers.masked_fill(hidden, -math.inf), dim=-1)

        right = over_words(scores)
        average = torch.einsum("bn,bnd->bd", right, h)
        expected = cell(y, average, s)
        no_query = layer.w_v(torch.tanh(s[:, None] + keys)).squeeze(-1)
        no_tanh = layer.w_v(queries[:, None] + keys).squeeze(-1)
        only_keys = layer.w_v(torch.tanh(keys)).squeeze(-1)
    case = "for two sentences of 5 and 3 words"
    order = "End with `return state, context, weights`."
    shapes = [tuple(getattr(part, "shape", ())) for part in (state, context, weights)]
    expect(
        sorted(shapes) != [(2, 5), (2, 7), (2, 10)] or shapes == [(2, 7), (2, 10), (2, 5)],
        f"{case}, the three results have the shapes {show(shapes)}: they come in another order.",
        order,
    )
    mistakes = (
        (over_words(scores, mask & False), "the padding has weight", "Give the mask to `masked_softmax`."),
        (
            over_words(no_query),
            "the state was added to the keys as it is",
            "Call `layer.w_q` first: it makes the query.",
        ),
        (over_words(no_tanh), "the tanh is missing", "It comes after the sum of query and keys."),
        (over_words(only_keys), "the state is not in the scores", "Add the query to the keys."),
        (scores, "these are the scores", "Turn them into weights with the masked softmax."),
    )
    words = "The weights of one sentence sum to 1, over its words."
    expect_close(weights, right, case, words, name="the weights", mistakes=mistakes)
    yield "the weights are those of the real words"
    means = torch.stack([row[:length].mean(dim=0) for row, length in zip(h, lens, strict=True)])
    mistakes = (
        (means, "all words have the same share", "Multiply each `h` with its weight."),
        (h.sum(dim=1), "the weights are not used", "Multiply each `h` with its weight."),
    )
    average_of = "The context is the sum of the `h`, each times its weight: `weights[:, :, None] * h`."
    expect_close(context, average, case, average_of, name="the context", mistakes=mistakes)
    yield "the context is the average of the vectors with these weights"
    given = "Call `cell(y, context, s)` with the context of this step and the state before."
    mistakes = (
        (s, "this is the old state", given),
        (cell(y, torch.zeros(2, 10), s).detach(), "the cell got no context", given),
    )
    expect_close(state, expected, case, given, name="the new state", mistakes=mistakes)
    yield "the new state is that of the gated unit"


@exercise(
    2,
    "The order is: the new state, the scores, the softmax, the average.",
    "The score of row j is the dot product of the new state and `h[:, j]`. `h @ s[:, :, None]` computes all of them.",
)
def luong_step(answer: ReadersFunction) -> Iterator[str]:
    def add_less(y: Tensor, s: Tensor) -> Tensor:
        # The state is another one if word and state are exchanged.
        return y + s - torch.tensor([[0.0, math.log(3) / 2]]) * (y[:, 1:] > 0)

    ln2, ln3 = math.log(2), math.log(3)
    y, s, h = torch.tensor([[ln3, 0.0]]), torch.tensor([[0.0, ln2]]), torch.eye(3)[None, :, :2]
    example = "for a cell that adds, y = [ln 3, 0], s = [0, ln 2] and h = [[1, 0], [0, 1], [0, 0]]"
    context, state = as_parts(answer(add_less, y, s, h), "context", "s")
    new = "The new state is `cell(y, s)`."
    mistakes = (
        (s, "this is the old state", new),
        (add_less(s, y), "you call the cell with the state first", new),
        ((1 / 2, 1 / 3), "the two results are exchanged", "End with `return context, s`."),
    )
    expect_close(state, [[ln3, ln2]], example, new, name="the new state", mistakes=mistakes)
    yield "the new state comes from the cell"
    scaled = torch.softmax(torch.tensor([ln3, ln2, 0]) / math.sqrt(2), dim=0)[:2]
    words = "The softmax runs over the axis of the words, and the weights of one sentence sum to 1."
    plain = "This exercise asks for the plain dot product, without a scale."
    mistakes = (
        ((1 / 4, 1 / 2), "the decoder asked with the old state", "Compute the new state first."),
        ((1 / 3, 1 / 3), "all weights are equal", words),
        ((1, 1), "every weight is 1: the softmax ran over an axis of length 1", words),
        (scaled, "there is a scale", plain),
    )
    expect_close(context, [[1 / 2, 1 / 3]], example, name="the context", mistakes=mistakes)
    yield "the decoder asks with the new state"
    torch.manual_seed(0)
    with torch.no_grad():
        cell = nn.GRUCell(3, 7)
        y, s, h = torch.randn(2, 3), torch.randn(2, 7), torch.randn(2, 5, 7)
        context, state = as_parts(answer(cell, y, s, h), "context", "s")
        expected = cell(y, s)
        right = torch.softmax(torch.einsum("bnd,bd->bn", h, expected), dim=-1)
    case = "for a batch of 2 sentences with 5 words and states of width 7"
    given = "Call the cell that you are given, with y and s."
    expect_close(state, expected, case, given, name="the new state")
    expect_close(context, torch.einsum("bn,bnd->bd", right, h), case, words, name="the context")
    yield "each sentence of a batch has weights of its own, over its words"


PADDED = 40


@exercise(
    3,
    "Make a tensor of 40 zeros, write the ids into its first places, and give `greedy` the length 40.",
    "`greedy(...)` returns a list with one result, and its `weights` have a row per step and 40 columns.",
)
def weight_on_padding(answer: ReadersFunction) -> Iterator[str]:
    columns = "Rows are steps and columns are places: `weights[:, len(ids):]` are those of the padding."
    one = "Take the maximum over all steps and over all places of the padding."
    for seed, ids in ((1485, [5, 8, 4]), (76, [4, 9, 6, 7, 10])):
        model = _small_translator(seed)
        padded = torch.tensor([ids + [0] * (PADDED - len(ids))])
        (hypothesis,) = greedy(model, padded, torch.tensor([PADDED]), max_len=50)
        weights = hypothesis.weights
        padding, words = weights[:, len(ids) :], weights[:, : len(ids)]
        mistakes = (
            (weights.max(), "this is the largest weight of all 40 places", columns),
            (words.max(), "this is the largest weight on a real word", columns),
            (padding[:, 1:].max(), "the first place of the padding is left out", columns),
            (padding.mean(), "this is the mean weight on the padding", one),
            (padding[0].max(), "this is the largest weight of the first step alone", one),
        )
        try:
            result = answer(model, ids)
        except Wrong as wrong:
            masked = "Is no weight left? The mask hid the padding: give the length 40, wrong on purpose."
            raise Wrong(str(wrong), masked, *wrong.hints) from None
        expect_numbers({"the result": result}, [padding.max().item()], mistakes, tolerance=1e-5)
        yield f"for {len(ids)} ids it is the largest weight that any step gives to the padding"


@cache
def _small_translator(seed: int) -> EncoderDecoder:
    torch.manual_seed(seed)
    model = EncoderDecoder(Encoder(11, 5, 7), BahdanauDecoder(11, 5, 7, 14))
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    return model.eval()


@exercise(
    4,
    "The tanh hardly changes where its input is far from 0. So a state can switch a unit off by making its sum large.",
    "Let unit 1 look at the thing and unit 2 at the quality: W_k = [[1, 0], [0, 1]]. Which W_q makes unit 2 large and "
    "leaves unit 1 at 0 for the first state, and the other way round for the second?",
)
def two_units(w_q: object, w_k: object, w_v: object) -> Iterator[str]:
    rows = "Each hidden unit has a row, with a number for each of the two numbers of a vector."
    query_matrix, key_matrix = (
        as_tensor(w, rows, shape=(2, 2), name=name).double() for w, name in ((w_q, "w_q"), (w_k, "w_k"))
    )
    last = as_tensor(w_v, name="w_v").double().flatten()
    expect(len(last) == 2, f"w_v holds {show(last)}; expected two numbers, one for each hidden unit.")
    yield "there are two hidden units"
    words = ("small", "white", "flower")
    keys = torch.tensor([[0.2, 1.2], [0.4, 1.4], [1.5, 0.5]]).double()
    for after, state, expected_word in (("petite", (1.5, 0.8), "flower"), ("fleur", (0.2, 1.6), "white")):
        scores = torch.tanh(query_matrix @ torch.tensor(state).double() + keys @ key_matrix.T) @ last
        case = f"after {after}, for the state {state}, the scores of {', '.join(words)} are {show(scores)}"
        highest, second, _ = scores.sort(descending=True).values.tolist()
        expect(
            highest - second > 1e-3,
            f"{case}: the two highest differ by less than 0.001, so no word gets a clearly larger weight.",
            "Make `w_v` larger, or choose matrices that keep the words apart.",
        )
        best = words[int(scores.argmax())]
        expect(
            best == expected_word,
            f"{case}: {best} is first. Expected {expected_word}.",
            f"Print the hidden units for this state. In which of them does {expected_word} have the largest number?",
        )
        yield f"after {after} the decoder looks most at {expected_word}"
