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


def _state(d: int, d_value: int) -> Case:
    state, value = torch.randn(d, d_value, generator=_RANDOM), torch.randn(d_value, generator=_RANDOM)
    key = torch.nn.functional.normalize(torch.randn(d, generator=_RANDOM), dim=0)
    point = f"with d = {d} the key gets the new value, and a key at right angles its old answer"
    rest = "Change the state by an outer product of the key, and leave the rest as it is."
    return Case(f"with d = {d}", (state, key, value), point, rest)


@against(
    3,
    "First ask the state: `key @ state`. The difference from the value is what must be added.",
    "`state + torch.outer(key, value - key @ state)`",
    cases=[_state(3, 2), _state(5, 7)],
    mistakes={
        "the old value is still in the answer | What does the state answer before you write?": {"old": 0},
        "the change has the wrong sign | The difference is the value minus the answer.": {"sign": -1},
        "all other answers are gone | Add to the old state.": lambda state, k, value: torch.outer(k, value),
    },
    parts=["the new state"],
)
def replace(state: Tensor, key: Tensor, value: Tensor, *, old: int = 1, sign: int = 1) -> Tensor:
    return state + sign * torch.outer(key, value - old * (key @ state))
