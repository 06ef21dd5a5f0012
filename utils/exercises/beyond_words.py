"""Checks of the exercises of chapters/beyond_words."""

from collections.abc import Iterator

import torch

from utils.exercises.checking import (
    ReadersFunction,
    as_number,
    as_parts,
    exercise,
    expect,
    expect_close,
)


@exercise(
    1,
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


@exercise(
    2,
    "Add the places to the vectors, call the layer, take the mean over the patches, and call `head`.",
    "`new, weights = layer(x)`, then `new.mean(dim=1)`.",
)
def see(answer: ReadersFunction) -> Iterator[str]:
    patches = torch.arange(30.0).reshape(2, 3, 5) / 10
    places, turn = (
        torch.tensor([[1.0, -1.0], [0.5, 2.0], [-2.0, 0.25]]),
        torch.linspace(-1, 1, 10).reshape(5, 2),
    )
    weights, out = torch.full((2, 3, 3), 1 / 3), torch.tensor([[1.0, 0.0, 2.0, -1.0], [0.5, 1.0, 0.0, 3.0]])

    def to_vector(x: torch.Tensor) -> torch.Tensor:
        return x @ turn

    def layer(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * x, weights

    def head(x: torch.Tensor) -> torch.Tensor:
        return x @ out

    right = head(layer(to_vector(patches) + places)[0].mean(dim=1))
    given = answer(patches, to_vector, places, layer, head)
    scores, returned = as_parts(given, "scores", "weights")
    mistakes = (
        (
            head(layer(to_vector(patches))[0].mean(dim=1)),
            "the places are not added",
            "Add them to the vectors.",
        ),
        (
            head((layer(to_vector(patches))[0] + places).mean(dim=1)),
            "the places are added after the layer",
            "Add them before: the layer should see them.",
        ),
        (
            head((to_vector(patches) + places).mean(dim=1)),
            "the layer is left out",
            "Its first result are new vectors.",
        ),
        (
            head(layer(to_vector(patches) + places)[0].sum(dim=1)),
            "this is a sum over the patches",
            "Take the mean.",
        ),
        (
            head(layer(to_vector(patches) + places)[0][:, 0]),
            "this is the first patch alone",
            "Take the mean of all patches.",
        ),
    )
    axes = "One row of scores for each picture: the mean is over the patches, the second axis."
    expect_close(
        scores, right, "for two pictures of three patches", axes, name="the scores", mistakes=mistakes
    )
    yield "the scores come from the mean of the new vectors"
    expect_close(returned, weights, "for two pictures of three patches", name="the weights")
    yield "the weights are those of the layer"


#: How red and how round four things are.
THINGS = {
    "red circle": (1.0, 1.0),
    "red square": (1.0, 0.0),
    "blue circle": (0.0, 1.0),
    "blue square": (0.0, 0.0),
}


@exercise(
    3,
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
