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
    "Each row is `q`, then a key: `q.expand(n, -1)` repeats `q` n times, and `torch.cat(..., dim=-1)` joins rows.",
    "Multiply the n pairs by `w.T`, take the tanh, and multiply by `v`.",
    cases=[_sizes(7, 3, 2, 5), _sizes(1, 2, 3, 11)],
    mistakes={
        "the key comes before q | Put q first.": {"key_first": True},
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


def _probabilities(num_words: int, n: int, gate: float) -> Case:
    says = f"for {num_words} words, n = {n} and the gate {gate}"
    p_words, weights = (numbers.softmax(dim=0) for numbers in normal((num_words,), (n,)))
    inputs = p_words, weights, tensor(gate)
    return Case(
        says, inputs, f"{says}, the probabilities are right", "There are as many as words and pointers."
    )


@against(
    2,
    "The words share the probability `gate`, and the pointers share the rest, `1 - gate`.",
    "`torch.cat` puts the two vectors one after the other.",
    cases=[_probabilities(7, 3, 0.8), _probabilities(2, 5, 0.3), _probabilities(3, 2, 1.0)],
    mistakes={
        "the gate is the wrong way round | It is the probability of writing a word of the vocabulary.": (
            lambda p_words, weights, gate: torch.cat([(1 - gate) * p_words, gate * weights])
        ),
        "the gate is missing | Multiply the words by it, and the weights by what is left of 1.": (
            lambda p_words, weights, gate: torch.cat([p_words, weights])
        ),
        "the words are not multiplied by the gate | All probabilities together must sum to 1.": (
            lambda p_words, weights, gate: torch.cat([p_words, (1 - gate) * weights])
        ),
        "the weights are not multiplied by 1 - gate | All probabilities together must sum to 1.": (
            lambda p_words, weights, gate: torch.cat([gate * p_words, weights])
        ),
        "both are multiplied by the gate | The pointers share what is left of 1.": (
            lambda p_words, weights, gate: torch.cat([gate * p_words, gate * weights])
        ),
        "the pointers come before the words | Put the words first.": (
            lambda p_words, weights, gate: torch.cat([(1 - gate) * weights, gate * p_words])
        ),
    },
    parts=["the probabilities"],
)
def pointers(p_words: Tensor, weights: Tensor, gate: Tensor) -> Tensor:
    return torch.cat([gate * p_words, (1 - gate) * weights])


def _of_all(scores: Tensor) -> Tensor:
    return scores - (scores.sum() - 1) / len(scores)


@against(
    3,
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
        "they were divided by their sum | Subtract the right τ, and the sum is 1.": (
            lambda scores: scores.clamp(min=0) / scores.clamp(min=0).sum()
        ),
    },
    parts=["the weights"],
)
def sparsemax(scores: Tensor) -> Tensor:
    return masked_sparsemax(scores[None])[0]
