"""Checks of the exercises of chapters/beyond_words."""

from collections.abc import Iterator

import torch

from utils.exercises.checking import (
    Mistake,
    ReadersFunction,
    as_number,
    choose,
    compare_with_rubric,
    exercise,
    expect,
    expect_close,
    expect_numbers,
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


@exercise(
    2,
    "compute",
    "224 divided by 16 is 14.",
    "The squares stand in a grid of 14 by 14, and each has 16 · 16 pixels of three numbers.",
)
def three_numbers(squares: object, numbers: object, weights: object) -> Iterator[str]:
    mistakes = (
        Mistake(14, "this is the number of squares in one row", "There are 14 rows of squares, too."),
        Mistake(256, "this is the number of pixels in a square", "How often does 16 fit into 224?"),
        Mistake(50176, "this is the number of pixels", "A square has 16 times 16 of them."),
    )
    expect_numbers({"squares": squares}, [196], mistakes, tolerance=0.001)
    yield "squares: 14 rows of 14 squares"
    mistakes = (
        Mistake(256, "this counts each pixel once", "A pixel has three numbers: red, green and blue."),
        Mistake(48, "this is one row of the square", "A square has 16 rows."),
        Mistake(150528, "this is the whole picture", "A square is 16 pixels wide and 16 pixels high."),
    )
    expect_numbers({"numbers": numbers}, [768], mistakes, tolerance=0.001)
    yield "numbers: 16 times 16 pixels, each with three numbers"
    mistakes = (
        Mistake(196, "these are the weights of one word", "Each of the 10 words has weights of its own."),
        Mistake(5880, "you counted red, green and blue", "A square has one vector, so it has one weight."),
        Mistake(100, "this would be words that look at words", "The keys are the squares of the picture."),
    )
    expect_numbers({"weights": weights}, [1960], mistakes, tolerance=0.0005)
    yield "weights: 196 for each of the 10 words"


@exercise(
    3,
    "implement",
    "Two loops will do: over the rows of squares, and over the squares of a row.",
    "`image[:, size * row : size * (row + 1), size * column : size * (column + 1)].flatten()` is one square.",
)
def cut_one(answer: ReadersFunction) -> Iterator[str]:
    image = torch.arange(24.0).reshape(1, 4, 6)
    right = torch.nn.functional.unfold(image[None], 2, stride=2)[0].T
    grid, rows = right.reshape(2, 3, 4), "Go through a row from left to right, then to the next row."
    mistakes = (
        Mistake(image, "each square has four pixels of one row", "The first one holds 0, 1, 6 and 7."),
        Mistake(grid.transpose(0, 1), "the squares go down the columns", rows),
        Mistake(right.reshape(6, 2, 2).mT, "the pixels of a square go down its columns", rows),
    )
    case = "for one channel of 4 by 6 pixels, numbered 0, 1, 2, …, and size 2"
    expect_close(answer(image, 2), right, case, name="the square", mistakes=mistakes)
    yield "the squares come row by row, and so do the pixels of a square"
    image = torch.rand(3, 8, 12, generator=torch.Generator().manual_seed(0))
    right = torch.nn.functional.unfold(image[None], 4, stride=4)[0].T
    flatten = "All pixels of red come first, then those of green, then those of blue: `flatten` does this."
    by_pixel = Mistake(
        right.reshape(6, 3, 16).mT, "the three channels of a pixel stand side by side", flatten
    )
    case = "for three channels of 8 by 12 pixels and size 4"
    expect_close(answer(image, 4), right, case, flatten, name="the square", mistakes=[by_pixel])
    yield "each square has its red pixels, then the green ones, then the blue ones"


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
    query = torch.tensor(
        [as_number(n, name=name) for n, name in ((first, "first"), (second, "second"))]
    ).double()
    expect(
        query.isfinite().all(), "the query holds a number that is not finite.", "Large numbers are enough."
    )
    weights = torch.softmax(torch.tensor(list(THINGS.values())).double() @ query, dim=0)
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
    larger = "Make both numbers larger."
    expect(red_square >= 0.9, f"the red square has only {red_square:.2f}: {all_weights}.", larger)
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
