"""Checks of the exercises of chapters/inside_heads."""

from functools import cache

import torch
from torch import Tensor

from utils.circuits import CausalHeads
from utils.exercises.tables import Case, Row, against, numbers


@cache
def _heads() -> CausalHeads:
    generator = torch.Generator().manual_seed(0)
    heads = CausalHeads(6, 3, max_len=11).requires_grad_(False)
    for parameter in heads.parameters():
        parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return heads


def _case(off: tuple[int, ...], n: int) -> Case:
    says = f"with off={off}" if off else "with all heads"
    x = torch.randn(n, 6, generator=torch.Generator().manual_seed(n))
    return Case(says, lambda: (x, _heads(), off), f"{says} the states are right")


@against(
    1,
    "For each head that is not in `off`: queries, keys, values, scores with the distances, a mask, a softmax, and w_o.",
    "`layer.distance[head][back.clamp(min=0)]` with `back = places[:, None] - places` are the numbers of all pairs.",
    cases=[_case((), 5), _case((1,), 7), _case((0, 2), 5), _case((0, 1, 2), 3)],
    mistakes={
        "the states that the layer reads are missing | Each head adds to x.": {"read": 0},
        "places look at later places | Hide the keys with i - j < 0.": {"mask": False},
        "the numbers of the distances are missing | Add b to the scores.": {"distance": False},
        "the scale is missing | Divide by the root of the width of a head.": {"scale": False},
        "no head is hidden | Leave out the heads in `off`, counted from 0.": {"hide": False},
        "the heads in off are kept and the others hidden | Leave out the heads in `off`.": {"swap": True},
    },
    parts=["the states"],
)
def layer(x, heads, off, *, read=1, hide=True, swap=False, distance=True, mask=True, scale=True) -> Tensor:
    back = torch.arange(len(x))[:, None] - torch.arange(len(x))
    result = read * x
    for head in range(3):
        if hide and off and (head in off) != swap:
            continue
        q, k, v = (x @ w[head] for w in (heads.w_q, heads.w_k, heads.w_v))
        scores = q @ k.T / (q.shape[-1] ** 0.5 if scale else 1)
        scores = scores + heads.distance[head][back.clamp(min=0)] * distance
        if mask:
            scores = scores.masked_fill(back < 0, -torch.inf)
        result = result + scores.softmax(dim=-1) @ v @ heads.w_o[head]
    return result


@numbers(
    3,
    "The earlier head writes (0, 3) where it has looked at a, and (3, 0) where it has looked at b.",
    "Each entry is a query times M times what was written, divided by the square root of 4.",
)
def circuit_by_hand() -> list[Row]:
    mistakes = {
        "the scale is missing | Divide by the square root of the width of a head, which is 4.": (3, 0, 0, 6),
        "the scores are divided by 4 | Divide by the square root of 4.": (
            0.75,
            0,
            0,
            1.5,
        ),
        "the columns are the words at the keys | The earlier head has looked at others.": (0, 0.5, 1, 0),
        "rows and columns of M are exchanged | A query is a row: first times M.": (
            3,
            0,
            0,
            1.5,
        ),
    }
    right = {"a_a": 1.5, "a_b": 0, "b_a": 0, "b_b": 3}
    return [Row(right, "each word asks for the place after its own like", mistakes, tolerance=0.01)]
