"""Checks of the exercises of chapters/bahdanau_decoder."""

import math
from functools import cache

import torch
from torch import Tensor, arange, nn, tensor

from utils.attention import AdditiveAttention, masked_softmax
from utils.exercises.checking import as_number
from utils.exercises.tables import Case, against, normal
from utils.search import greedy
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder


def _two_sentences() -> tuple:
    """What a step takes, for sentences of 5 and 3 words."""
    torch.manual_seed(0)  # the check puts the old state back
    layer, cell = AdditiveAttention(7, 10, 7), nn.GRUCell(3 + 10, 7)
    for parameter in layer.parameters():
        nn.init.normal_(parameter)
    y, s, h = normal((2, 3), (2, 7), (2, 5, 10))
    layer, cell = layer.requires_grad_(False), cell.requires_grad_(False)
    return layer, cell, y, s, h, layer.w_k(h), arange(5) < tensor([[5], [3]])


_CELL = "Call `cell(torch.cat([y, context], dim=-1), s)` with the context of this step and the state before."
_TANH = "It comes after the sum of query and keys, and before `layer.w_v`."


@against(
    1,
    "The order is: query plus keys, tanh, `w_v`, the masked softmax, the average of `h`, and the cell.",
    "`features = torch.tanh(layer.w_q(s)[:, None] + keys)` has the shape (b, n, d_s). What does `w_v` make of it?",
    cases=[
        Case(
            "for two sentences of 5 and 3 words",
            _two_sentences,
            "the weights are those of the real words, the context is the average of the vectors with these weights, "
            "and the new state is that of the GRU",
            "The weights of one sentence sum to 1, over its words. End with `return state, context, weights`.",
        )
    ],
    mistakes={
        "the padding has weight | Give the mask to `masked_softmax`.": {"wrong": "no mask"},
        "the state was added to the keys as it is | First call `layer.w_q`.": {"wrong": "no w_q"},
        f"the tanh is missing | {_TANH}": {"wrong": "no tanh"},
        f"the tanh is outside of `w_v` | {_TANH}": {"wrong": "tanh outside"},
        "the state is not in the scores | Add the query to the keys.": {"wrong": "no query"},
        "these are the scores | Use the masked softmax.": {"wrong": "scores"},
        "the weights are not used | Multiply each `h` with its weight.": {"wrong": "no weights"},
        f"this is the old state | {_CELL}": {"wrong": "old state"},
        f"the cell got no context | {_CELL}": {"wrong": "no context"},
        f"the cell got the context before the word | {_CELL}": {"wrong": "context first"},
        "these are in another order | End with `return state, context, weights`.": {"wrong": "order"},
    },
    parts=["the new state", "the context", "the weights"],
    last_first=True,
)
def one_step(layer, cell, y, s, h, keys, mask, *, wrong="") -> tuple[Tensor, Tensor, Tensor]:
    query = {"no query": torch.zeros_like(s), "no w_q": s}.get(wrong, layer.w_q(s))
    sums = query[:, None] + keys
    scores = layer.w_v(sums if wrong in ("no tanh", "tanh outside") else torch.tanh(sums)).squeeze(-1)
    if wrong == "tanh outside":
        scores = torch.tanh(scores)
    weights = masked_softmax(scores, mask | (wrong == "no mask"))
    shares = torch.ones(2, 5) if wrong == "no weights" else weights
    context = (shares[:, :, None] * h).sum(dim=1)
    inputs = [y, context * (wrong != "no context")]
    state = (
        s
        if wrong == "old state"
        else cell(torch.cat(inputs[:: -1 if wrong == "context first" else 1], -1), s)
    )
    if wrong == "order":
        return weights, context, state
    return state, context, scores if wrong == "scores" else weights


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
        "this is the old state | The new one is `cell(y, s)`.": {"returned": 0},
        "you call the cell with the state first | Give y first.": {"inputs": -1},
        "the two results are exchanged | `return context, s`": {"order": -1},
        "you asked with the old state | Ask with the new one.": {"asks": (1, 0)},
        f"every weight is 1: the softmax ran over an axis of length 1 | {_WORDS}": {"dim": 2},
        "there is a scale | Leave it out.": {"asks": (0, 2**-0.5)},
    },
    parts=["the context", "the new state"],
    last_first=True,
)
def luong_step(cell, y, s, h, *, asks=(0, 1), returned=1, inputs=1, dim=1, order=1) -> tuple:
    new = cell(*(y, s)[::inputs])
    query = asks[0] * s + asks[1] * new
    weights = torch.softmax(h @ query[:, :, None], dim=dim)
    return ((weights * h).sum(dim=1), (s, new)[returned])[::order]


@cache
def _small_translator(seed: int) -> EncoderDecoder:
    torch.manual_seed(seed)
    model = EncoderDecoder(Encoder(11, 5, 7), BahdanauDecoder(11, 5, 7, 14))
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    return model.eval()


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
        f"this is the largest weight of all 40 places | {_COLUMNS}": {"columns": lambda n: slice(None)},
        f"this is the largest on a word | {_COLUMNS}": {"columns": lambda n: slice(n)},
        f"this is the mean on the padding | {_ONE}": {"find": torch.mean},
        f"this is the first step alone | {_ONE}": {"find": lambda weights: weights[0].max()},
    },
    compared=as_number,
    tolerance=1e-5,
)
def weight_on_padding(model, ids, *, columns=lambda n: slice(n, None), find=torch.max) -> Tensor:
    (hypothesis,) = greedy(model, tensor([ids + [0] * (40 - len(ids))]), tensor([40]), max_len=50)
    return find(hypothesis.weights[:, columns(len(ids))])
