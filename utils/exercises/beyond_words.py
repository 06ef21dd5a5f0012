"""Checks of the exercises of chapters/beyond_words."""

from collections.abc import Iterator

import torch
from torch import Tensor

from utils.exercises.checking import (
    Mistake,
    ReadersFunction,
    Wrong,
    as_number,
    as_tensor,
    choose,
    compare_with_rubric,
    exercise,
    expect,
    recognise,
    show,
)


@exercise(1, "predict", "The context is a sum over the squares. Does a sum depend on the order of its terms?")
def shuffled(answer: object) -> Iterator[str]:
    yield from choose(
        answer,
        right="c",
        reason="each square keeps its score, so the weights are exchanged like the squares, and the sum is the same.",
        wrong={
            "a": "the softmax divides by the sum of all exponentials, and this sum does not depend on the order.",
            "b": "the first state comes from the mean of the vectors, and a mean does not depend on their order.",
            "d": "each term of a context is a weight times its own vector. Both have moved together, in every step.",
        },
    )


#: Numbers that learners get for the three parts of exercise 2.
SQUARES = (
    Mistake(
        (14.0,), "this is the number of squares in one row.", "The squares stand in 14 rows and 14 columns."
    ),
    Mistake((256.0,), "this is the number of pixels in a square.", "How often does 16 fit into 224?"),
    Mistake((50176.0,), "this is the number of pixels.", "A square has 16 times 16 of them."),
)
NUMBERS = (
    Mistake((256.0,), "this counts each pixel once.", "A pixel has three numbers: red, green and blue."),
    Mistake((48.0,), "this is one row of the square.", "A square has 16 rows."),
    Mistake((150528.0,), "this is the whole picture.", "A square is 16 pixels wide and 16 pixels high."),
)
WEIGHTS = (
    Mistake((196.0,), "these are the weights of one word.", "Each of the 10 words has weights of its own."),
    Mistake(
        (1960.0 * 3,), "you counted red, green and blue.", "A square has one vector, so it has one weight."
    ),
    Mistake((100.0,), "this would be words that look at words.", "The keys are the squares of the picture."),
)


@exercise(
    2,
    "compute",
    "224 divided by 16 is 14.",
    "The squares stand in a grid of 14 by 14, and each has 16 · 16 pixels of three numbers.",
)
def three_numbers(squares: object, numbers: object, weights: object) -> Iterator[str]:
    parts = (
        ("squares", squares, 196, SQUARES, "14 rows of 14 squares"),
        ("numbers", numbers, 768, NUMBERS, "16 times 16 pixels, each with three numbers"),
        ("weights", weights, 1960, WEIGHTS, "196 for each of the 10 words"),
    )
    for name, answer, right, mistakes, point in parts:
        number = as_number(answer, name=name)
        recognise([number], mistakes, f"{name} is {show(number)}: ", tolerance=0.5)
        expect(abs(number - right) < 0.5, f"{name} is {show(number)}; expected another number.")
        yield f"{name}: {point}"


@exercise(
    3,
    "implement",
    "Two loops will do: over the rows of squares, and over the squares of a row.",
    "`image[:, size * row : size * (row + 1), size * column : size * (column + 1)].flatten()` is one square.",
)
def cut_one(answer: ReadersFunction) -> Iterator[str]:
    image = torch.arange(24.0).reshape(1, 4, 6)
    case = "for one channel of 4 by 6 pixels, numbered 0, 1, 2, …, and size 2"
    squares = as_tensor(answer(image, 2), name="the squares")
    expect(
        tuple(squares.shape) == (6, 4),
        f"{case}, the squares have the shape {tuple(squares.shape)}; expected (6, 4).",
        "There are 2 rows of 3 squares, and each has 4 numbers.",
    )
    right = _squares(image, 2)
    for wrong_squares, says, hint in (
        (
            image.flatten().reshape(6, 4),
            "each row of the result has four pixels of one row of the picture",
            "A square has pixels of two rows: the first one holds 0, 1, 6 and 7.",
        ),
        (
            right.reshape(2, 3, 4).transpose(0, 1).reshape(6, 4),
            "the squares go down the columns",
            "Go through a row of squares from left to right, then to the next row.",
        ),
        (
            right.reshape(6, 2, 2).mT.reshape(6, 4),
            "the pixels of a square go down its columns",
            "Go through a row of pixels from left to right, then to the next row.",
        ),
    ):
        expect(not torch.equal(squares, wrong_squares.double()), f"{case}, {says}.", hint)
    _expect_rows(squares, right, case)
    yield "the squares come row by row, and so do the pixels of a square"
    generator = torch.Generator().manual_seed(0)
    image = torch.rand(3, 8, 12, generator=generator)
    case = "for three channels of 8 by 12 pixels and size 4"
    squares = as_tensor(answer(image, 4), name="the squares")
    right = _squares(image, 4)
    expect(
        tuple(squares.shape) == tuple(right.shape),
        f"{case}, the squares have the shape {tuple(squares.shape)}; expected {tuple(right.shape)}.",
        "A square holds the pixels of all channels.",
    )
    by_pixel = right.reshape(6, 3, 16).mT.reshape(6, 48)
    expect(
        not torch.allclose(squares, by_pixel.double()),
        f"{case}, the three channels of a pixel stand side by side.",
        "All pixels of red come first, then those of green, then those of blue: `flatten` does this.",
    )
    _expect_rows(squares, right, case)
    yield "each square has its red pixels, then the green ones, then the blue ones"


def _squares(image: Tensor, size: int) -> Tensor:
    """The squares of an image, as PyTorch's own function cuts them."""
    return torch.nn.functional.unfold(image[None], size, stride=size)[0].T


def _expect_rows(squares: Tensor, right: Tensor, case: str) -> None:
    for number, (row, expected) in enumerate(zip(squares, right.double(), strict=True)):
        if not torch.allclose(row, expected):
            raise Wrong(
                f"{case}, square {number} begins with {show(row[:4])}; expected {show(expected[:4])}."
            )


#: How red and how round four things are.
THINGS = {
    "red circle": (1.0, 1.0),
    "red square": (1.0, 0.0),
    "blue circle": (0.0, 1.0),
    "blue square": (0.0, 0.0),
}


@exercise(
    4,
    "experiment",
    "The first number of the query rewards red things. What does a negative second number do?",
    "Try (2, -2) first. Then make both numbers larger.",
)
def ask_for_red_square(first: object, second: object) -> Iterator[str]:
    query = torch.tensor([as_number(n, name=name) for n, name in ((first, "first"), (second, "second"))])
    expect(
        query.isfinite().all(), "the query holds a number that is not finite.", "Large numbers are enough."
    )
    yield "the query has two numbers"
    weights = torch.softmax(torch.tensor(list(THINGS.values())).double() @ query.double(), dim=0)
    best, red_square = list(THINGS)[int(weights.argmax())], weights[1].item()
    all_weights = ", ".join(
        f"{name} {weight:.2f}" for name, weight in zip(THINGS, weights.tolist(), strict=True)
    )
    highest, next_weight = weights.sort(descending=True).values[:2].tolist()
    expect(
        highest - next_weight > 1e-6,
        f"two things share the largest weight: {all_weights}.",
        "Both numbers matter.",
    )
    expect(
        best == "red square",
        f"the {best} has the largest weight: {all_weights}.",
        "The score of a thing is its redness times the first number, plus its roundness times the second.",
    )
    yield "the red square has the largest weight"
    expect(
        red_square >= 0.9,
        f"the red square has only {red_square:.2f}: {all_weights}.",
        "Make both numbers larger.",
    )
    yield f"it has {red_square:.2f}"


@exercise(5, "open")
def does_it_see(answer: object) -> Iterator[str]:
    yield from compare_with_rubric(
        answer,
        (
            "It says that a map shows weights, and a large weight is no proof that the word depends on this place.",
            "It says what to change: hide the square or paint another thing into it, and see whether the word changes.",
            "It asks for a control: hide another square, drawn at random.",
            "It counts over many pictures, and with pictures of another kind than those of training.",
        ),
    )
