"""Checks of the exercises of chapters/real_network."""

import torch
from torch import Tensor

from utils.exercises.tables import Case, against

_RANDOM = torch.Generator().manual_seed(0)
_PARTS = ("query", "key", "value")


def _layer(d: int) -> dict[str, Tensor]:
    """Random matrices with the names that a layer of the file has."""
    return {
        f"attention.self.{part}.{kind}": torch.randn(shape, generator=_RANDOM)
        for part in _PARTS
        for kind, shape in (("weight", (d, d)), ("bias", (d,)))
    }


def _sentences(says: str, num_heads: int, d: int, src_lens: tuple[int, int]) -> Case:
    h, real = torch.randn(2, 5, d, generator=_RANDOM), torch.arange(5) < torch.tensor(src_lens)[:, None]
    joined = "Move the axis of the heads back, and join the last two: `.transpose(1, 2).flatten(2)`."
    return Case(
        says, (h, _layer(d), real, num_heads), f"{says} the weights and the context are right", joined
    )


@against(
    1,
    "Split the last axis into the heads, `unflatten(-1, (num_heads, -1))`, and move the axis of the heads before that "
    "of the pieces with `transpose(1, 2)`.",
    "Divide the scores by the root of the width of **one head**, and give the columns where `real` is False the score "
    "minus infinity: `masked_fill(~real[:, None, None], float('-inf'))`.",
    cases=[
        _sentences("for two sentences of 5 pieces", 3, 6, (5, 5)),
        _sentences("for sentences of 5 and of 2 pieces", 2, 14, (5, 2)),
    ],
    mistakes={
        "the matrices are not transposed | W has a row for each output: x @ W.T + b.": {"wrong": "W"},
        "the biases are missing | Each of the three has a bias.": {"wrong": "b"},
        "the scale is that of all heads | Divide by the root of the width of one head.": {"wrong": "all"},
        "the scores are not scaled | Divide by the root of the width of a head.": {"wrong": "scale"},
        "the softmax runs over the queries | Each row sums to 1: softmax(dim=-1).": {"wrong": "axis"},
        "padding gets weight | Where `real` is False, no piece may look.": {"wrong": "padding"},
        "the heads are cut out of the pieces | Split the last axis, then exchange axes.": {"wrong": "cut"},
        "the heads are joined in the wrong order | First exchange the axes again.": {"wrong": "join"},
    },
    parts=["the context", "the weights"],
)
def heads_of_layer(h, layer, real, num_heads, *, wrong="") -> tuple[Tensor, Tensor]:
    parts = []
    for part in _PARTS:
        weight, bias = (layer[f"attention.self.{part}.{kind}"] for kind in ("weight", "bias"))
        x = h @ (weight if wrong == "W" else weight.T) + bias * (wrong != "b")
        cut = x.view(len(h), num_heads, h.shape[1], -1)
        parts.append(cut if wrong == "cut" else x.unflatten(-1, (num_heads, -1)).transpose(1, 2))
    q, k, v = parts
    width = {"all": h.shape[-1], "scale": 1}.get(wrong, q.shape[-1])
    seen = (real | (wrong == "padding"))[:, None, None]
    scores = (q @ k.mT / width**0.5).masked_fill(~seen, -torch.inf)
    weights = scores.softmax(dim=-2 if wrong == "axis" else -1)
    context = weights @ v
    return context.reshape(h.shape) if wrong == "join" else context.transpose(1, 2).flatten(2), weights


def _columns(head: int, width: int, num_heads: int) -> slice:
    return slice(head * width, (head + 1) * width)


@against(
    2,
    "The context is joined of the heads: head 0 has the first d / num_heads numbers.",
    "`W_o` has a row for each output and a column for each number of the context: set columns to 0, in a copy.",
    cases=[
        Case(
            f"for head {head} of {num_heads}",
            (torch.randn(d, d, generator=_RANDOM), head, num_heads),
            f"for head {head} of {num_heads} the right columns are 0",
        )
        for num_heads, d, head in ((3, 6, 1), (5, 35, 0), (2, 6, 1))
    ],
    mistakes={
        "rows are 0 | A row makes one number of the output, from all heads.": {"turn": torch.t},
        "all other heads are hidden | Hide this head, and keep the others.": {"others": True},
        "each is of another head | The columns of a head stand side by side.": {
            "columns": lambda head, _, num_heads: slice(head, None, num_heads)
        },
    },
    parts=["the matrix"],
)
def hide_head(matrix, head, num_heads, *, turn=lambda x: x, columns=_columns, others=False) -> Tensor:
    hidden = matrix.clone()
    turn(hidden)[:, columns(head, len(matrix) // num_heads, num_heads)] = 0
    return matrix - hidden if others else hidden
