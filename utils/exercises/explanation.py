"""Checks of the exercises of chapters/explanation."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from utils.exercises.checking import (
    Mistake,
    ReadersFunction,
    as_number,
    as_tensor,
    choose,
    compare_with_rubric,
    exercise,
    expect,
    expect_close,
    recognise,
    show,
)


@exercise(1, "predict", "One result is about the weight of one step. The other is about the word.")
def two_results(answer: object) -> Iterator[str]:
    yield from choose(
        answer,
        right="b",
        reason="without the word the output changes, and without this weight it does not.",
        wrong={
            "a": "without Mary in the sentence the translator writes Jean, so it uses the word.",
            "c": "without this weight nothing changes, so the translator does not need this weight.",
            "d": "the two interventions change different things: one step of attention, and what the encoder reads.",
        },
    )


# Numbers that learners get for exercise 2.
RATES = (
    Mistake(
        (0.2, 1 / 3),
        "These are the two rates in the wrong order.",
        "The intersection has the links that both directions make. It comes first.",
    ),
    Mistake(
        (2 / 3, 0.8),
        "These are the shares that must be subtracted from 1.",
        "The rate is 0 when there is no mistake.",
    ),
    Mistake(
        (0.5, 0.0),
        "These are the shares of sure links that are missing. Wrong links make the rate larger, too.",
        "Write down the number of links that are made, of those that are sure, and of those that are both.",
    ),
    Mistake(
        (0.0, 1 / 3),
        "These are the shares of made links that are wrong. Links that are missing make the rate larger, too.",
        "Two sure links are not in the intersection.",
    ),
    Mistake(
        (2 / 3, 0.6),
        "The links that are made and sure are counted once. They count twice, since sure links are possible, too.",
        "If no link is only possible, the numerator is twice the number of links that are made and sure.",
    ),
    Mistake(
        (100 / 3, 20.0),
        "These are the rates in per cent. The rate lies between 0 and 1.",
        "Divide both by 100.",
    ),
)


@exercise(
    2,
    "compute",
    "The intersection is (0, 0) and (1, 2). The union has six links.",
    "The rate is 1 - (|A and S| + |A and P|) / (|A| + |S|), and here P = S.",
)
def two_directions(intersection: object, union: object) -> Iterator[str]:
    rates = [
        as_number(rate, name=name)
        for rate, name in ((intersection, "aer_intersection"), (union, "aer_union"))
    ]
    recognise(rates, RATES[:-1])
    recognise(rates, RATES[-1:], tolerance=0.6)
    expect(
        abs(rates[0] - 1 / 3) < 0.006,
        f"The rate of the intersection is {show(rates[0])}; expected another number.",
        "The intersection has 2 links, both are sure, and 4 links are sure in all.",
    )
    yield "the intersection makes two links and misses two"
    expect(
        abs(rates[1] - 0.2) < 0.006,
        f"The rate of the union is {show(rates[1])}; expected another number.",
        "The union has 6 links, 4 of them are sure, and 4 links are sure in all.",
    )
    yield "the union misses none and makes two wrong ones"


@exercise(
    3,
    "implement",
    "Make a fresh point on the path in each round, and ask torch.autograd.grad for the gradient of f there.",
    "Add up the gradients, divide by `steps`, multiply by `x`, and sum over the last axis.",
)
def along_the_path(answer: ReadersFunction) -> Iterator[str]:
    def linear(x: Tensor) -> Tensor:
        return (x * torch.tensor([[1.0, 2.0], [3.0, 0.0], [0.0, -1.0]])).sum()

    x = torch.tensor([[1.0, 1.0], [2.0, 5.0], [4.0, 3.0]])
    case = "for f(x) = x[0,0] + 2 x[0,1] + 3 x[1,0] - x[2,1] and x = [[1, 1], [2, 5], [4, 3]]"
    result = _per_word(answer(linear, x, 4), x, case)
    for wrong, says, hint in (
        (
            torch.tensor([3.0, 3.0, -1.0]),
            "these are the gradients, not yet multiplied by x.",
            "Multiply by `x`.",
        ),
        (
            torch.tensor([12.0, 24.0, -12.0]),
            "this is the sum over the steps; expected their mean.",
            "Divide by `steps`.",
        ),
    ):
        expect(not torch.allclose(result, wrong.double(), atol=1e-3), f"{case}, {says}", hint)
    expect_close(result, torch.tensor([3.0, 6.0, -3.0]), case)
    yield "for a linear function it is gradient times input"

    def square(x: Tensor) -> Tensor:
        return (x.sum(dim=-1) ** 2).sum()

    x = torch.tensor([[1.0, 1.0], [3.0, 0.0]])
    case = "for f(x), the sum of the squares of the sums of the rows, and x = [[1, 1], [3, 0]]"
    case += " in 5 steps"
    result = _per_word(answer(square, x, 5), x, case)
    _name_the_place(result, square, x, 5, case)
    expect_close(result, torch.tensor([4.0, 9.0]), case, tolerance=1e-3)
    yield "it uses the middle of each part of the path"

    def mixed(x: Tensor) -> Tensor:
        return torch.tanh(x[0] @ x[1]) + x[2].prod()

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        x = torch.randn(3, 2)
    result = _per_word(answer(mixed, x, 300), x, "for a function that mixes the words")
    expect(
        abs(result.sum() - mixed(x)) < 1e-3,
        f"for a function that mixes the words, the numbers of all words add up to {show(result.sum().item())}; "
        f"expected f(x) - f(0), which is {show(mixed(x).item())}.",
        "The gradient is taken at the point on the path, and `x` is multiplied at the end.",
    )
    yield "the numbers of all words add up to f(x) - f(0)"


def _per_word(result: object, x: Tensor, case: str) -> Tensor:
    numbers = as_tensor(result)
    expect(
        tuple(numbers.shape) != tuple(x.shape),
        f"{case}, the result has the shape {tuple(numbers.shape)}; expected one number for each word.",
        "Add up over the last axis.",
    )
    expect(
        tuple(numbers.shape) == tuple(x.shape[:1]),
        f"{case}, the result has the shape {tuple(numbers.shape)}; expected {tuple(x.shape[:1])}.",
        "The axis of the words stays.",
    )
    return numbers.double()


def _name_the_place(result: Tensor, f: Callable[[Tensor], Tensor], x: Tensor, steps: int, case: str) -> None:
    """Raise ``Wrong`` if the gradients were taken at other points of the path."""
    for name, shares, hint in (
        ("at x itself", [1.0] * steps, "The points lie on the way from 0 to x."),
        (
            "at the end of each part of the path",
            [(t + 1) / steps for t in range(steps)],
            "The first of m points is 0.5 / m of x.",
        ),
        (
            "at the beginning of each part of the path",
            [t / steps for t in range(steps)],
            "The first of m points is 0.5 / m of x, and not 0.",
        ),
    ):
        total = torch.zeros_like(x)
        for share in shares:
            point = (x * share).requires_grad_()
            total += torch.autograd.grad(f(point), point)[0]
        wrong = (total / steps * x).sum(dim=-1).double()
        expect(
            not torch.allclose(result, wrong, atol=1e-3),
            f"{case}, the result is {show(result)}: the gradients are taken {name}. Expected [4, 9].",
            hint,
        )


VECTORS = torch.tensor([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0], [2.0, 1.0]]).double()
HONEST = torch.tensor([0.1, 0.1, 0.1, 0.1, 0.6]).double()


@exercise(
    4,
    "experiment",
    "Give the fifth word nothing. Half of the weight must then lie on the second and the fourth word together.",
    "The third and the fourth word together need 0.35.",
)
def same_context(row: object) -> Iterator[str]:
    weights = as_tensor(row, name="the row").double().flatten()
    expect(
        len(weights) == 5,
        f"the row has {len(weights)} numbers; expected five.",
        "Each word has a weight, also if it is 0.",
    )
    expect(
        bool((weights >= 0).all()),
        f"{show(weights.min().item())} is a negative weight.",
        "A weight is at least 0.",
    )
    expect(
        abs(weights.sum() - 1) < 0.006,
        f"the weights sum to {show(weights.sum().item())}; expected 1.",
        "Divide all five by their sum.",
    )
    yield "these are weights"
    context = weights @ VECTORS
    expect(
        bool(((context - HONEST @ VECTORS).abs() <= 0.0501).all()),
        f"the context is {show([round(number, 3) for number in context.tolist()])}; expected [2, 1.4], to 0.05.",
        "The first number of the context is 4 times the weights of the second and the fourth word, plus 2 times the "
        "fifth.",
    )
    yield "the context is that of the honest weights"
    overlap = torch.minimum(weights, HONEST).sum().item()
    expect(
        overlap <= 0.5001,
        f"the overlap with the honest weights is {show(overlap)}; expected at most 0.5.",
        "The fifth word has 0.6 of the honest weights. Give it less.",
    )
    yield "the weights are others"


@exercise(5, "open")
def review(answer: object) -> Iterator[str]:
    yield from compare_with_rubric(
        answer,
        (
            "It asks for a count over many sentences, and how this sentence was chosen.",
            "It asks for the error rate of the links, and for something to compare it with.",
            "It asks to hide the verb in the step that translates it.",
            "It asks for a control, such as a random other word.",
            "It asks to leave the verb out of the sentence, since other vectors and the first state have read it.",
            "It asks for more than one training.",
        ),
    )
