"""Checks of the exercises of chapters/explanation."""

from collections.abc import Iterator

import torch
from torch import Tensor

from utils.exercises.checking import (
    ReadersFunction,
    as_tensor,
    exercise,
    expect,
    expect_close,
    expect_distribution,
    show,
)


@exercise(
    2,
    "Make a fresh point on the path in each round, and ask torch.autograd.grad for the gradient of f there.",
    "Add up the gradients, divide by `steps`, multiply by `x`, and sum over the last axis.",
)
def along_the_path(answer: ReadersFunction) -> Iterator[str]:
    def linear(x: Tensor) -> Tensor:
        return (x * torch.tensor([[1.0, 2.0], [3.0, 0.0], [0.0, -1.0]])).sum()

    x = torch.tensor([[1.0, 1.0], [2.0, 5.0], [4.0, 3.0]])
    case = "for f(x) = x[0,0] + 2 x[0,1] + 3 x[1,0] - x[2,1] and x = [[1, 1], [2, 5], [4, 3]]"
    mistakes = (
        ((3, 3, -1), "these are the gradients, not yet multiplied by x", "Multiply by `x`."),
        ((12, 24, -12), "this is the sum over the steps", "Divide by `steps`."),
    )
    one = "There is one number for each word: add up over the last axis, and over no other."
    expect_close(answer(linear, x, 4), [3.0, 6.0, -3.0], case, one, mistakes=mistakes)
    yield "for a linear function it is gradient times input"

    def square(x: Tensor) -> Tensor:
        return (x.sum(dim=-1) ** 2).sum()

    x = torch.tensor([[1.0, 1.0], [3.0, 0.0]])
    case = "for f(x), the sum of the squares of the sums of the rows, and x = [[1, 1], [3, 0]] in 5 steps"
    middle = "The first of m points is 0.5 / m of x, the middle of the first part."
    mistakes = (
        ((8, 18), "the gradients are taken at x itself", "The points lie on the way from 0 to x."),
        ((4.8, 10.8), "the gradients are taken at the end of each part of the path", middle),
        ((3.2, 7.2), "the gradients are taken at the beginning of each part of the path", middle),
    )
    expect_close(answer(square, x, 5), [4.0, 9.0], case, tolerance=1e-3, mistakes=mistakes)
    yield "it uses the middle of each part of the path"

    def mixed(x: Tensor) -> Tensor:
        return torch.tanh(x[0] @ x[1]) + x[2].prod()

    torch.manual_seed(0)
    x = torch.randn(3, 2)
    total = as_tensor(answer(mixed, x, 300), one, shape=(3,)).sum()
    case, change = "for a function that mixes the words", (mixed(x) - mixed(torch.zeros_like(x))).item()
    expect(
        abs(total - change) < 1e-3,
        f"{case}, the numbers of all words add up to {show(total)}; expected f(x) - f(0), which is {show(change)}.",
        "The gradient is taken at the point on the path, and `x` is multiplied at the end.",
    )
    yield "the numbers of all words add up to f(x) - f(0)"


VECTORS = torch.tensor([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0], [2.0, 1.0]]).double()
HONEST = torch.tensor([0.1, 0.1, 0.1, 0.1, 0.6]).double()


@exercise(
    3,
    "Give the fifth word nothing. Half of the weight must then lie on the second and the fourth word together.",
    "The third and the fourth word together need 0.35.",
)
def same_context(row: object) -> Iterator[str]:
    weights = as_tensor(row, "Each word has a weight, also if it is 0.", shape=(5,), name="the row").double()
    expect_distribution(weights.tolist(), "the weights", tolerance=0.006)
    yield "these are weights"
    context = weights @ VECTORS
    expect(
        ((context - HONEST @ VECTORS).abs() <= 0.0501).all(),
        f"the context is {show(context)}; expected [2, 1.4], to 0.05.",
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
