"""Checks of the exercises of chapters/long_sequences."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from utils.exercises.checking import LargestTensor, expect
from utils.exercises.readers_function import ReadersFunction
from utils.exercises.tables import Case, against

_RANDOM = torch.Generator().manual_seed(11)
_LOW = -1000.0


def _keys(says: str, shifts: list[float], block: int) -> Case:
    """Three queries, and keys whose scores lie near these numbers."""
    q, k = torch.randn(3, 5, generator=_RANDOM), torch.randn(len(shifts), 5, generator=_RANDOM)
    q[:, 0], k[:, 0] = 1.0, k[:, 0] + torch.tensor(shifts) * math.sqrt(5)
    v = torch.randn(len(shifts), 2, generator=_RANDOM)
    hint = "m is the largest score of all keys so far, and both old sums get the factor exp(m - m')."
    return Case(says, (q, k, v, block), f"{says} the contexts are those of the softmax", hint)


_BLOCKS = _keys("with blocks of 3 for 7 keys", [0.0] * 7, 3)


def _one_block_at_a_time(answer: ReadersFunction) -> Iterator[str]:
    with LargestTensor() as largest:
        answer(*_BLOCKS.inputs)
    expect(
        (3, 7) not in largest.shapes,
        f"{_BLOCKS.says} your function makes a tensor of all 21 scores.",
        "Compute the scores of one block inside the loop.",
    )
    yield "it never has the scores of all keys"


@against(
    1,
    "When a block brings a larger score, multiply both old sums by exp(m - m') before you add those of the block.",
    "Subtract the new maximum from the scores of the block, and divide by the total once, at the end.",
    cases=[
        _keys("with all keys in one block", [0.0] * 7, 7),
        _BLOCKS,
        _keys("with scores near 1,000", [1000.0] * 11, 2),
        _keys("with scores near -1,000", [_LOW] * 13, 1),
        _keys("with a last block of scores near -1,000", [0.0] * 4 + [_LOW] * 2, 2),
        _keys("with a first block of scores near -1,000", [_LOW] * 2 + [0.0] * 4, 2),
    ],
    mistakes={
        "c is not divided by t | At the end the context is c / t.": {"divided": False},
        "the scores are not divided by √d | Divide by `math.sqrt(q.shape[1])`.": {"scaled": False},
        "only the last block counts | Keep the old sums.": {"blocks": slice(-1, None)},
        "the old sums keep their old maximum | Multiply both by exp(m - m').": {"shrunk": False},
        "the last block, which is shorter, is left out | It counts, too.": {"whole": True},
        "no maximum is subtracted | exp(1,000) is infinite.": {"top": "none"},
        "the maximum is that of the block alone | Compare it with the one so far.": {"top": "of block"},
    },
    parts=["the contexts"],
    also=_one_block_at_a_time,
)
def online(
    q, k, v, block, *, shrunk=True, divided=True, scaled=True, top="so far", blocks=slice(None), whole=False
) -> Tensor:
    m = torch.full((len(q), 1), -torch.inf)
    total, context = torch.zeros(len(q), 1), torch.zeros(len(q), v.shape[1])
    for keys, values in list(zip(k.split(block), v.split(block), strict=True))[blocks]:
        if whole and len(keys) < block:
            break
        scores = q @ keys.T / (q.shape[1] ** 0.5 if scaled else 1)
        highest = scores.amax(1, keepdim=True)
        new = {"so far": torch.maximum(m, highest), "of block": highest, "none": torch.zeros_like(m)}[top]
        factor = (m - new).exp() if shrunk else 1
        parts = (scores - new).exp()
        total = factor * total + parts.sum(1, keepdim=True)
        context, m = factor * context + parts @ values, new
    return context / total if divided else context


def _parts(says: str, first: list[float], second: list[float]) -> Case:
    """What two readers know of three queries, whose largest scores lie near these numbers."""
    parts = []
    for top in (first, second):
        m = torch.tensor(top)[:, None] + torch.rand(3, 1, generator=_RANDOM)
        t, c = 1 + 4 * torch.rand(3, 1, generator=_RANDOM), torch.randn(3, 2, generator=_RANDOM)
        parts.append((m, t, c))
    hint = "Both parts get a factor: exp of their own maximum minus the common one."
    return Case(says, tuple(parts), f"{says} m, t and c are those of all keys", hint)


@against(
    3,
    "The common m is the larger of both. Each part's t and c get the factor exp(own m - common m).",
    "`shrink_1, shrink_2 = (m_1 - m).exp(), (m_2 - m).exp()`, then `t = shrink_1 * t_1 + shrink_2 * t_2`.",
    cases=[
        _parts("for two parts of the keys", [4.0, 0.5, 5.0], [1.5, 3.0, 3.5]),
        _parts("with scores near 1,000", [1000.0, 998.0, 997.0], [998.5, 1000.5, 999.0]),
    ],
    mistakes={
        "the first part keeps its old maximum | Multiply its t and c by exp(m_1 - m).": {"first": False},
        "the second part keeps its old maximum | Multiply its t and c by exp(m_2 - m).": {"second": False},
        "m is that of the first part | Take the larger one.": {"top": "first"},
        "the maxima are added | Take the larger one.": {"top": "sum"},
        "t is shrunk and c is not | Both sums were made with the old maximum.": {"contexts": False},
    },
    parts=["m", "t", "c"],
)
def merge(one, other, *, first=True, second=True, top="larger", contexts=True):
    (m_1, t_1, c_1), (m_2, t_2, c_2) = one, other
    m = {"larger": torch.maximum(m_1, m_2), "first": m_1, "sum": m_1 + m_2}[top]
    shrink_1 = (m_1 - m).exp() if first else torch.ones_like(m)
    shrink_2 = (m_2 - m).exp() if second else torch.ones_like(m)
    context = shrink_1 * c_1 + shrink_2 * c_2 if contexts else c_1 + c_2
    return m, shrink_1 * t_1 + shrink_2 * t_2, context
