"""Checks of the exercises of chapters/attention_variants."""

from functools import partial

import torch
from torch import Tensor, nn, tensor

from utils.attention_variants import masked_sparsemax
from utils.exercises.tables import Case, against, normal

_AS_IT_IS = nn.Identity()


def _sizes(n: int, d_q: int, d_k: int, d_hidden: int) -> Case:
    says = f"for n = {n}, d_q = {d_q} and d_k = {d_k}"
    inputs = normal((d_q,), (n, d_k), (d_hidden, d_q + d_k), (d_hidden,))
    return Case(says, inputs, f"{says}, the scores are right", "There is one number for each key.")


_TANH = "It comes before the product with `v`."


@against(
    1,
    "`q` must stand before each key: `q.expand(n, -1)` repeats it n times, and `torch.cat(..., dim=-1)` joins rows.",
    "Multiply the n pairs by `w.T`, take the tanh, and multiply by `v`.",
    cases=[_sizes(7, 3, 2, 5), _sizes(1, 2, 3, 11)],
    mistakes={
        "the key stands before q | Put q first.": {"key_first": True},
        f"the tanh is missing | {_TANH}": {"inner": _AS_IT_IS},
        f"the tanh comes too late | {_TANH}": {"inner": _AS_IT_IS, "outer": torch.tanh},
        "these are weights | Return the scores.": {"outer": partial(torch.softmax, dim=0)},
        "`v` is missing | Multiply the hidden numbers by `v`.": {
            "times": lambda hidden, v: hidden.sum(dim=-1)
        },
    },
    parts=["the scores"],
)
def concat(q, keys, w, v, *, inner=torch.tanh, outer=_AS_IT_IS, times=torch.mv, key_first=False) -> Tensor:
    pair = [q.expand(len(keys), -1), keys]
    return outer(times(inner(torch.cat(pair[::-1] if key_first else pair, dim=-1) @ w.T), v))


def _of_all(scores: Tensor) -> Tensor:
    return scores - (scores.sum() - 1) / len(scores)


@against(
    2,
    "Sort the scores from the highest to the lowest. With the k highest, τ is (their sum - 1) / k.",
    "The largest k with `ordered[k - 1] > τ` is the right one; then `(scores - τ).clamp(min=0)`.",
    cases=[
        Case(says, (scores,), f"{says}, the weights are right", "There is a weight for each score.")
        for says, scores in {
            "for the scores 1.5, 0.9 and −0.4": tensor([1.5, 0.9, -0.4]),
            "for the scores −0.4, 0.9 and 1.5": tensor([-0.4, 0.9, 1.5]),
            "for four equal scores": torch.full((4,), 0.2),
            "for the scores 3, 1 and 0": tensor([3.0, 1, 0]),
            "for eleven random scores": normal((11,))[0],
        }.items()
    ],
    mistakes={
        "they are sorted | Sort only to find τ, and subtract it from the scores as they came.": (
            lambda scores: masked_sparsemax(scores[None])[0].sort(descending=True).values
        ),
        "this is the softmax | Subtract the same number from all scores.": partial(torch.softmax, dim=0),
        "τ was made of all scores | A score below τ must not count in the sum that makes τ.": _of_all,
        "τ was made of all scores, then what is negative was cut | The sum must stay 1.": (
            lambda scores: _of_all(scores).clamp(min=0)
        ),
    },
    parts=["the weights"],
)
def sparsemax(scores: Tensor) -> Tensor:
    return masked_sparsemax(scores[None])[0]
