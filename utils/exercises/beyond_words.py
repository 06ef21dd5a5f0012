"""Checks of the exercises of chapters/beyond_words."""

from collections.abc import Iterator

import torch

from utils.exercises.checking import (
    ReadersFunction,
    as_number,
    exercise,
    expect,
    expect_close,
    expect_numbers,
)


@exercise(
    2,
    "224 divided by 16 is 14.",
    "The patches stand in a grid of 14 by 14, and each has 16 · 16 pixels of three numbers.",
)
def three_numbers(patches: object, numbers: object, weights: object) -> Iterator[str]:
    mistakes = ((14, "this is the number of patches in one row", "There are 14 rows of patches, too."),)
    expect_numbers({"patches": patches}, [196], mistakes, tolerance=0.001)
    yield "patches: 14 rows of 14 patches"
    mistakes = (
        (256, "this counts each pixel once", "A pixel has three numbers: red, green and blue."),
        (48, "this is one row of the patch", "A patch has 16 rows."),
    )
    expect_numbers({"numbers": numbers}, [768], mistakes, tolerance=0.001)
    yield "numbers: 16 times 16 pixels, each with three numbers"
    mistakes = (
        (196, "these are the weights of one word", "Each of the 10 words has weights of its own."),
        (5880, "you counted red, green and blue", "A patch has one vector, so it has one weight."),
    )
    expect_numbers({"weights": weights}, [1960], mistakes, tolerance=0.0005)
    yield "weights: 196 for each of the 10 words"


@exercise(
    3,
    "Two loops will do: over the rows of patches, and over the patches of a row.",
    "`image[:, size * row : size * (row + 1), size * column : size * (column + 1)].flatten()` is one patch.",
)
def cut_one(answer: ReadersFunction) -> Iterator[str]:
    image = torch.arange(24.0).reshape(1, 4, 6)
    right = torch.nn.functional.unfold(image[None], 2, stride=2)[0].T
    grid, rows = right.reshape(2, 3, 4), "Go through a row from left to right, then to the next row."
    mistakes = (
        (image, "each patch has four pixels of one row", "The first one holds 0, 1, 6 and 7."),
        (grid.transpose(0, 1), "the patches go down the columns", rows),
        (right.reshape(6, 2, 2).mT, "the pixels of a patch go down its columns", rows),
    )
    case = "for one channel of 4 by 6 pixels, numbered 0, 1, 2, …, and size 2"
    expect_close(answer(image, 2), right, case, name="the patch", mistakes=mistakes)
    yield "the patches come row by row, and so do the pixels of a patch"
    image = torch.arange(288.0).reshape(3, 8, 12)
    right = torch.nn.functional.unfold(image[None], 4, stride=4)[0].T
    flatten = "All pixels of red come first, then those of green, then those of blue: `flatten` does this."
    by_pixel = (right.reshape(6, 3, 16).mT, "the three channels of a pixel stand side by side", flatten)
    case = "for three channels of 8 by 12 pixels and size 4"
    expect_close(answer(image, 4), right, case, flatten, name="the patch", mistakes=[by_pixel])
    yield "each patch has its red pixels, then the green ones, then the blue ones"


#: How red and how round four things are.
THINGS = {
    "red circle": (1.0, 1.0),
    "red square": (1.0, 0.0),
    "blue circle": (0.0, 1.0),
    "blue square": (0.0, 0.0),
}


@exercise(
    4,
    "The first number of the query rewards red things. What does a negative second number do?",
    "Try (2, -2) first. Then make both numbers larger.",
)
def ask_for_red_square(first: object, second: object) -> Iterator[str]:
    query = torch.tensor([as_number(first, name="first"), as_number(second, name="second")])
    weights = torch.softmax(torch.tensor(list(THINGS.values())) @ query, dim=0).tolist()
    highest, next_weight, *_ = sorted(weights, reverse=True)
    best, red_square = list(THINGS)[weights.index(highest)], weights[1]
    all_weights = ", ".join(f"{name} {weight:.2f}" for name, weight in zip(THINGS, weights, strict=True))
    share = f"two things share the largest weight: {all_weights}."
    expect(highest - next_weight > 1e-6, share, "Both numbers matter.")
    expect(
        best == "red square",
        f"the {best} has the largest weight: {all_weights}.",
        "The score of a thing is its redness times the first number, plus its roundness times the second.",
    )
    yield "the red square has the largest weight"
    only = f"the red square has only {red_square:.2f}: {all_weights}."
    expect(red_square >= 0.9, only, "Make both numbers larger.")
    yield f"it has {red_square:.2f}"
