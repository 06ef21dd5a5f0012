"""Checks of the exercises of chapters/attention_variants."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import torch
from torch import Tensor

from utils.attention_variants import masked_sparsemax
from utils.exercises.checking import (
    ReadersFunction,
    as_number,
    as_tensor,
    exercise,
    expect,
    expect_close,
    show,
)


@exercise(
    1,
    "`q` must stand before each key: `q.expand(n, -1)` repeats it n times, and `torch.cat(..., dim=-1)` joins rows.",
    "Multiply the n pairs by `w.T`, take the tanh, and multiply by `v`.",
)
def concat(answer: ReadersFunction) -> Iterator[str]:
    torch.manual_seed(1)
    for n, d_q, d_k, d_hidden in (7, 3, 2, 5), (1, 2, 3, 11):
        q, keys, w, v = (
            torch.randn(shape) for shape in ((d_q,), (n, d_k), (d_hidden, d_q + d_k), (d_hidden,))
        )
        repeated = q.expand(n, -1)
        hidden = torch.cat([repeated, keys], dim=-1) @ w.T
        right = torch.tanh(hidden) @ v
        mistakes = (
            (
                torch.tanh(torch.cat([keys, repeated], dim=-1) @ w.T) @ v,
                "the key stands before q",
                "Put q first.",
            ),
            (hidden @ v, "the tanh is missing", "It comes before the product with `v`."),
            (torch.tanh(hidden @ v), "the tanh comes too late", "It comes before the product with `v`."),
            (
                right.softmax(dim=0),
                "these are weights",
                "The exercise asks for the scores, before the softmax.",
            ),
            (torch.tanh(hidden).sum(dim=-1), "`v` is missing", "Multiply the hidden numbers by `v`."),
        )
        case = f"for n = {n}, d_q = {d_q} and d_k = {d_k}"
        one = "There is one number for each key."
        expect_close(answer(q, keys, w, v), right, case, one, mistakes=mistakes)
        yield f"{case}, the {'score is' if n == 1 else 'scores are'} right"


@exercise(
    2,
    "Sort the scores from the highest to the lowest. With the k highest, τ is (their sum - 1) / k.",
    "The largest k with `ordered[k - 1] > τ` is the right one; then `(scores - τ).clamp(min=0)`.",
)
def sparsemax(answer: ReadersFunction) -> Iterator[str]:
    torch.manual_seed(2)
    for scores, case in (
        (torch.tensor([1.5, 0.9, -0.4]), "for the scores 1.5, 0.9 and −0.4"),
        (torch.tensor([-0.4, 0.9, 1.5]), "for the scores −0.4, 0.9 and 1.5"),
        (torch.tensor([0.2, 0.2, 0.2, 0.2]), "for four equal scores"),
        (torch.tensor([3.0, 1.0, 0.0]), "for the scores 3, 1 and 0"),
        (torch.randn(11), "for eleven random scores"),
    ):
        right = masked_sparsemax(scores[None])[0]
        expect_close(
            answer(scores), right, case, "There is a weight for each score.", mistakes=_not_sparse(scores)
        )
        yield f"{case}, the weights are right"


def _not_sparse(scores: Tensor) -> list[tuple[Tensor, str, str]]:
    right, positive = masked_sparsemax(scores[None])[0], scores.clamp(min=0)
    of_all = scores - (scores.sum() - 1) / len(scores)
    ordered = right.sort(descending=True).values
    order = "Sort only to find τ, and subtract it from the scores as they came."
    return [
        (ordered, "the weights are sorted", order),
        (
            scores.softmax(dim=0),
            "these are the weights of the softmax",
            "Subtract the same number from all scores.",
        ),
        (of_all, "τ was made of all scores", "A score below τ must not count in the sum that makes τ."),
        (
            of_all.clamp(min=0),
            "τ was made of all scores, then what is negative was cut",
            "The sum must stay 1.",
        ),
        (
            positive / positive.sum(),
            "the scores were divided by their sum",
            "Subtract the same number from all.",
        ),
        (
            (scores == scores.max()).float(),
            "the highest score gets all",
            "Others get weight if they lie above τ.",
        ),
    ]


@exercise(
    4,
    "`itertools.combinations(range(n), k)` gives all ways to choose the places of the first model's results.",
    "For each way: is the distance of the two means at least that of the real split? Count these, and divide.",
)
def luck(answer: ReadersFunction) -> Iterator[str]:
    for first, second in (
        ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]),
        ([5.0, 6.0, 9.0], [4.0, 7.0, 8.0]),
        ([2.0, 2.0], [2.0, 3.0, 5.0]),
    ):
        case = f"for the results {show(first)} and {show(second)}"
        gaps, real = _gaps(first, second)
        share = sum(abs(gap) >= abs(real) - 1e-9 for gap in gaps) / len(gaps)
        found = as_number(answer(list(first), list(second)), name=f"{case}, the result")
        strict = sum(abs(gap) > abs(real) + 1e-9 for gap in gaps) / len(gaps)
        ways = share * len(gaps)
        for wrong, says, hint in (
            (
                ways,
                f"is the number of ways, {show(ways)}",
                f"Divide it by {len(gaps)}, the number of all ways.",
            ),
            (1 - share, "counts the ways with a smaller distance", "Count those with at least the real one."),
            (
                strict,
                "counts only larger distances",
                "An equal distance counts too, also that of the real split.",
            ),
            (
                sum(gap * real >= abs(real) ** 2 - 1e-9 for gap in gaps) / len(gaps),
                "counts one side only",
                "Luck could also put the other model ahead: compare distances without a sign.",
            ),
        ):
            expect(
                abs(found - wrong) > 1e-6 or abs(found - share) < 1e-6, f"{case}, the result {says}.", hint
            )
        expect(abs(found - share) < 1e-6, f"{case}, the result is {show(found)}; expected {show(share)}.")
        yield f"{case}, the share is {show(share)}"


def _gaps(first: Sequence[float], second: Sequence[float]) -> tuple[list[float], float]:
    """The distance of the means for each way to give out the results, and for the real one."""
    everything, n = as_tensor([*first, *second]).tolist(), len(first)
    gaps = []
    for chosen in combinations(range(len(everything)), n):
        rest = [value for place, value in enumerate(everything) if place not in chosen]
        gaps.append(sum(everything[place] for place in chosen) / n - sum(rest) / len(rest))
    return gaps, gaps[0]
