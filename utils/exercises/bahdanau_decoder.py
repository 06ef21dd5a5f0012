"""Checks of the exercises of chapters/bahdanau_decoder."""

import math
from collections.abc import Callable, Iterator
from functools import cache, partial

import torch
from torch import Tensor, arange, nn, tensor

from utils.attention import AdditiveAttention, masked_softmax
from utils.exercises.checking import as_number, as_tensor, exercise, expect, show
from utils.exercises.tables import Case, against, normal
from utils.search import greedy
from utils.seq2seq import BahdanauDecoder, ContextGRUCell, Encoder, EncoderDecoder


def _two_sentences() -> tuple:
    """What a step takes, for sentences of 5 and 3 words."""
    torch.manual_seed(0)  # the check puts the old state back
    layer, cell = AdditiveAttention(7, 10, 7), ContextGRUCell(3, 10, 7)
    for parameter in layer.parameters():
        nn.init.normal_(parameter)
    y, s, h = normal((2, 3), (2, 7), (2, 5, 10))
    layer, cell = layer.requires_grad_(False), cell.requires_grad_(False)
    return layer, cell, y, s, h, layer.w_k(h), arange(5) < tensor([[5], [3]])


def _step(layer, cell, y, s, h, keys, mask, wrong: str) -> tuple[Tensor, Tensor, Tensor]:
    """A step with a mistake."""
    query = {"no query": torch.zeros_like(s), "no w_q": s}.get(wrong, layer.w_q(s))
    sums = query[:, None] + keys
    scores = layer.w_v(sums if wrong == "no tanh" else torch.tanh(sums)).squeeze(-1)
    weights = masked_softmax(scores, mask | (wrong == "no mask"))
    equal = mask / mask.sum(dim=1, keepdim=True)
    shares = {"no weights": torch.ones(2, 5), "equal": equal}.get(wrong, weights)
    context = (shares[:, :, None] * h).sum(dim=1)
    state = s if wrong == "old state" else cell(y, context * (wrong != "no context"), s)
    return state, context, scores if wrong == "scores" else weights


_CONTEXT = "Call `cell(y, context, s)` with the context of this step and the state before."


@against(
    1,
    "The order is: query plus keys, tanh, `w_v`, the masked softmax, the average of `h`, and the cell.",
    "`features = torch.tanh(layer.w_q(s)[:, None] + keys)` has the shape (b, n, d_s). What does `w_v` make of it?",
    cases=[
        Case(
            "for two sentences of 5 and 3 words",
            _two_sentences,
            "the weights are those of the real words, the context is the average of the vectors with these weights, "
            "and the new state is that of the gated unit",
            "The weights of one sentence sum to 1, over its words. End with `return state, context, weights`.",
        )
    ],
    mistakes={
        "the padding has weight | Give the mask to `masked_softmax`.": partial(_step, wrong="no mask"),
        "the state was added to the keys as it is | First call `layer.w_q`.": partial(_step, wrong="no w_q"),
        "the tanh is missing | It comes after the sum of query and keys.": partial(_step, wrong="no tanh"),
        "the state is not in the scores | Add the query to the keys.": partial(_step, wrong="no query"),
        "these are the scores | Use the masked softmax.": partial(_step, wrong="scores"),
        "all words have the same share | Multiply each `h` with its weight.": partial(_step, wrong="equal"),
        "the weights are not used | Multiply each `h` with its weight.": partial(_step, wrong="no weights"),
        f"this is the old state | {_CONTEXT}": partial(_step, wrong="old state"),
        f"the cell got no context | {_CONTEXT}": partial(_step, wrong="no context"),
    },
    parts=["the new state", "the context", "the weights"],
    last_first=True,
)
def one_step(layer, cell, y, s, h, keys, mask) -> tuple[Tensor, Tensor, Tensor]:
    context, weights = (part[:, 0] for part in layer(s[:, None], h, h, mask=mask[:, None]))
    return cell(y, context, s), context, weights


def _asks(state: Tensor, h: Tensor) -> Tensor:
    return (torch.softmax(h @ state[:, :, None], dim=1) * h).sum(dim=1)


def _luong(cell: Callable, y: Tensor, s: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    new = cell(y, s)
    return _asks(new, h), new


_WORDS = "The softmax runs over the axis of the words, and the weights of one sentence sum to 1."


@against(
    2,
    "The order is: the new state, the scores, the softmax, the average.",
    "The score of row j is the dot product of the new state and `h[:, j]`. `h @ s[:, :, None]` computes all of them.",
    cases=[
        Case(
            "for a cell that subtracts, y = [ln 3, 0], s = [0, −ln 2] and h = [[1, 0], [0, 1], [0, 0]]",
            (torch.sub, tensor([[math.log(3), 0]]), tensor([[0, -math.log(2)]]), torch.eye(3)[None, :, :2]),
            "the new state comes from the cell, and the decoder asks with it",
            "The new state is `cell(y, s)`.",
        ),
        Case(
            "for a batch of 2 sentences with 5 words and states of width 7",
            (torch.mul, *normal((2, 7), (2, 7), (2, 5, 7))),
            "each sentence of a batch has weights of its own, over its words",
            f"Call the cell that you are given, with y and s. {_WORDS}",
        ),
    ],
    mistakes={
        "this is the old state | The new one is `cell(y, s)`.": lambda c, y, s, h: (_asks(c(y, s), h), s),
        "you call the cell with the state first | Give y first.": lambda c, y, s, h: _luong(c, s, y, h),
        "the two results are exchanged | `return context, s`": lambda *inputs: _luong(*inputs)[::-1],
        "you asked with the old state | Ask with the new one.": lambda c, y, s, h: (_asks(s, h), c(y, s)),
        f"all weights are equal | {_WORDS}": lambda c, y, s, h: (h.mean(dim=1), c(y, s)),
        f"every weight is 1: the softmax ran over an axis of length 1 | {_WORDS}": (
            lambda c, y, s, h: (h.sum(dim=1), c(y, s))
        ),
        "there is a scale | Leave it out.": lambda c, y, s, h: (_asks(c(y, s) / 2**0.5, h), c(y, s)),
    },
    parts=["the context", "the new state"],
    last_first=True,
)
def luong_step(cell: Callable, y: Tensor, s: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    return _luong(cell, y, s, h)


@cache
def _small_translator(seed: int) -> EncoderDecoder:
    torch.manual_seed(seed)
    model = EncoderDecoder(Encoder(11, 5, 7), BahdanauDecoder(11, 5, 7, 14))
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    return model.eval()


def _weights(model: EncoderDecoder, ids: list[int]) -> Tensor:
    (hypothesis,) = greedy(model, tensor([ids + [0] * (40 - len(ids))]), tensor([40]), max_len=50)
    return hypothesis.weights


_COLUMNS = "Rows are steps and columns are places: `weights[:, len(ids):]` are those of the padding."
_ONE = "Take the maximum over all steps and over all places of the padding."


@against(
    3,
    "Make a tensor of 40 zeros, write the ids into its first places, and give `greedy` the length 40.",
    "`greedy(...)` returns a list with one result, and its `weights` have a row per step and 40 columns.",
    cases=[
        Case(
            f"for {len(ids)} ids",
            lambda seed=seed, ids=ids: (_small_translator(seed), ids),
            f"for {len(ids)} ids it is the largest weight that any step gives to the padding",
            "Is no weight left? The mask hid the padding: give the length 40, wrong on purpose.",
        )
        for seed, ids in ((1485, [5, 8, 4]), (76, [4, 9, 6, 7, 10]))
    ],
    mistakes={
        f"this is the largest weight of all 40 places | {_COLUMNS}": lambda *inputs: _weights(*inputs).max(),
        f"this is the largest on a word | {_COLUMNS}": lambda m, ids: _weights(m, ids)[:, : len(ids)].max(),
        f"the first pad is left out | {_COLUMNS}": lambda m, ids: _weights(m, ids)[:, len(ids) + 1 :].max(),
        f"this is the mean on the padding | {_ONE}": lambda m, ids: _weights(m, ids)[:, len(ids) :].mean(),
        f"this is the first step alone | {_ONE}": lambda m, ids: _weights(m, ids)[0, len(ids) :].max(),
    },
    compared=as_number,
    tolerance=1e-5,
)
def weight_on_padding(model: EncoderDecoder, ids: list[int]) -> Tensor:
    return _weights(model, ids)[:, len(ids) :].max()


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
    keys = tensor([[0.2, 1.2], [0.4, 1.4], [1.5, 0.5]]).double()
    for chosen, state, expected_word in (("petite", (1.5, 0.8), "flower"), ("fleur", (0.2, 1.6), "white")):
        scores = torch.tanh(query_matrix @ tensor(state).double() + keys @ key_matrix.T) @ last
        when = f"when {chosen} has been chosen"
        case = f"{when}, for the state {state}, the scores of {', '.join(words)} are {show(scores)}"
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
        yield f"{when}, the decoder looks most at {expected_word}"
