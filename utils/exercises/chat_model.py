"""Checks of the exercises of chapters/chat_model."""

import torch
from torch import Tensor

from utils.exercises.tables import Case, against
from utils.positions import rotate
from utils.transformer import causal_mask

_RANDOM = torch.Generator().manual_seed(0)
_BASE = 100_000


def _text(says: str, n: int, num_heads: int, num_key_heads: int, width: int) -> Case:
    """A text of n pieces, and the matrices of a layer by the names in the file."""
    d, shared = num_heads * width, num_key_heads * width
    layer = {
        f"attn_{part}": torch.randn(rows, d, generator=_RANDOM) / 3
        for part, rows in (("q", d), ("k", shared), ("v", shared))
    }
    x = torch.randn(n, d, generator=_RANDOM)
    return Case(says, (x, layer, num_heads, num_key_heads), f"{says} the weights and the context are right")


@against(
    1,
    "Split the last axis of the queries into the heads, `unflatten(-1, (num_heads, -1))`, and exchange two axes, so "
    "that the heads come first. Keys and values have `num_key_heads` heads.",
    "Turn queries and keys with `rotate(…, base=100_000)`, and give each key head to the heads of its group with "
    "`repeat_interleave(num_heads // num_key_heads, dim=0)`.",
    "Divide by the root of the width of **one head**, and give every later piece the score minus infinity before the "
    "softmax: `scores.masked_fill(~causal_mask(len(x)), float('-inf'))`.",
    cases=[
        _text("for 5 pieces, and a key head for each of 2 heads", 5, 2, 2, 6),
        _text("for 7 pieces, and 2 key heads for 6 heads", 7, 6, 2, 4),
    ],
    mistakes={
        "the matrices are not transposed | W has a row for each output: x @ W.T.": {"wrong": "W"},
        "the scale is that of all heads | Divide by the root of the width of one head.": {"wrong": "all"},
        "the scores are not scaled | Divide by the root of the width of a head.": {"wrong": "scale"},
        "later pieces get weight | No piece may look at a later one.": {"wrong": "later"},
        "nothing is turned | Rotate queries and keys, with the base 100,000.": {"wrong": "still"},
        "the base is 10,000 | Give `rotate` the base of this network, 100,000.": {"wrong": "base"},
        "the pairs are halves | This file's pairs are neighbours: leave out `halves`.": {"wrong": "halves"},
        "the values are turned, too | Rotate queries and keys alone.": {"wrong": "values"},
        "the key heads go round | Neighbouring heads share: repeat_interleave, not repeat.": {
            "wrong": "round"
        },
        "the heads are joined in the wrong order | First exchange the axes again.": {"wrong": "join"},
    },
    parts=["the context", "the weights"],
    last_first=True,
)
def attention_of_layer(x, layer, num_heads, num_key_heads, *, wrong="") -> tuple[Tensor, Tensor]:
    parts = []
    for part, heads in (("q", num_heads), ("k", num_key_heads), ("v", num_key_heads)):
        matrix = layer[f"attn_{part}"]
        parts.append((x @ (matrix if wrong == "W" else matrix.T)).unflatten(-1, (heads, -1)).transpose(0, 1))
    for i in range({"still": 0, "values": 3}.get(wrong, 2)):
        parts[i] = rotate(parts[i], base=10_000 if wrong == "base" else _BASE, halves=wrong == "halves")
    q, k, v = parts
    group = num_heads // num_key_heads
    k, v = (p.repeat(group, 1, 1) if wrong == "round" else p.repeat_interleave(group, dim=0) for p in (k, v))
    scores = q @ k.mT / {"all": x.shape[1], "scale": 1}.get(wrong, q.shape[-1]) ** 0.5
    if wrong != "later":
        scores = scores.masked_fill(~causal_mask(len(x)), -torch.inf)
    weights = scores.softmax(dim=-1)
    context = weights @ v
    return context.reshape(x.shape) if wrong == "join" else context.transpose(0, 1).flatten(1), weights
