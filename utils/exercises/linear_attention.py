"""Checks of the exercises of chapters/linear_attention."""

from collections.abc import Iterator

import torch
from torch import Tensor

from utils.exercises.checking import LargestTensor, expect
from utils.exercises.readers_function import ReadersFunction
from utils.exercises.tables import Case, against

_RANDOM = torch.Generator().manual_seed(13)


def _words(n: int, d: int, d_value: int) -> Case:
    """Features of queries and keys, which are positive, and values."""
    q, k = (torch.rand(n, d, generator=_RANDOM) + 0.1 for _ in range(2))
    v = torch.randn(n, d_value, generator=_RANDOM)
    says = f"for {n} words of {d} features"
    hint = "For each word: add it to S and z, then ask with its query."
    return Case(says, (q, k, v), f"{says} the contexts are those of the average", hint)


_WORDS = _words(7, 3, 2)


def _no_table(answer: ReadersFunction) -> Iterator[str]:
    with LargestTensor() as largest:
        answer(*_WORDS.inputs)
    expect(
        (7, 7) not in largest.shapes,
        f"{_WORDS.says} your function makes a table of all 49 weights.",
        "Keep a matrix S and a vector z, and add each word to both.",
    )
    yield "it never has a weight for each pair of words"


@against(
    1,
    "S grows by `torch.outer(k[i], v[i])` with each word, and z by `k[i]`.",
    "The context of word i is `q[i] @ S / (q[i] @ z)`.",
    cases=[_WORDS, _words(11, 5, 7)],
    mistakes={
        "the contexts are not divided | Divide by q · z, the sum of the kernels so far.": {"by": "nothing"},
        "it divides by the number of words | Divide by q · z, the sum of the kernels so far.": {
            "by": "count"
        },
        "it divides by the sum of z | The query belongs to the kernel: divide by q · z.": {"by": "z"},
        "a word is not in its own average | Add the word to S and z before you ask.": {"asks": "first"},
        "a word sees later words | Ask inside the loop, when only the words so far are in S.": {
            "asks": "last"
        },
        "only the last word is in the state | Add to the old S and z.": {"keeps": 0},
    },
    parts=["the contexts"],
    also=_no_table,
)
def loop(q, k, v, *, by="kernels", asks="then", keeps=1) -> Tensor:
    state, total = torch.zeros(k.shape[1], v.shape[1]), torch.zeros(k.shape[1])
    states = []
    for i in range(len(k)):
        before = state, total, i
        state, total = keeps * state + torch.outer(k[i], v[i]), keeps * total + k[i]
        states.append(before if asks == "first" else (state, total, i + 1))
    if asks == "last":
        states = states[-1:] * len(k)
    contexts = []
    for query, (asked, kernels, count) in zip(q, states, strict=True):
        divisors = {"kernels": query @ kernels, "nothing": 1, "count": count, "z": kernels.sum()}
        contexts.append(query @ asked / divisors[by])
    return torch.stack(contexts)


def _state(d: int, d_value: int) -> Case:
    state, value = torch.randn(d, d_value, generator=_RANDOM), torch.randn(d_value, generator=_RANDOM)
    key = torch.nn.functional.normalize(torch.randn(d, generator=_RANDOM), dim=0)
    point = f"with d = {d} the key gets the new value, and a key at right angles its old answer"
    rest = "Change the state by an outer product of the key, and leave the rest as it is."
    return Case(f"with d = {d}", (state, key, value), point, rest)


@against(
    2,
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
