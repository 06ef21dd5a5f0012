"""Checks of the exercises of chapters/beyond_words."""

from functools import partial

import torch
from torch import Tensor

from utils.exercises.tables import Case, against


@against(
    1,
    "Two loops will do: over the rows of patches, and over the patches of a row.",
    "`image[:, size * row : size * (row + 1), size * column : size * (column + 1)].flatten()` is one patch.",
    cases=[
        Case(
            "for one channel of 4 by 6 pixels, numbered 0, 1, 2, …, and size 2",
            (torch.arange(24.0).reshape(1, 4, 6), 2),
            "the patches come row by row, and so do the pixels of a patch",
        ),
        Case(
            "for three channels of 8 by 12 pixels and size 4",
            (torch.arange(288.0).reshape(3, 8, 12), 4),
            "each patch has its red pixels, then the green ones, then the blue ones",
            "All pixels of red come first, then those of green, then those of blue: `flatten` does this.",
        ),
    ],
    mistakes={
        "each patch has four pixels of one row | The first one holds 0, 1, 6 and 7.": (
            lambda image, size: image.reshape(-1, len(image) * size * size)
        ),
        "the patches go down the columns | Go through row by row.": {"order": (1, 0, 2, 3, 4)},
        "the pixels of a patch go down its columns | Go row by row.": {"order": (0, 1, 2, 4, 3)},
        "the channels of a pixel stand side by side | Put all red first.": {"order": (0, 1, 3, 4, 2)},
    },
    parts=["the patch"],
)
def cut_one(image: Tensor, size: int, *, order: tuple[int, ...] = (0, 1, 2, 3, 4)) -> Tensor:
    """The axes are rows of patches, columns of patches, channels, rows of pixels, columns of pixels."""
    c, h, w = image.shape
    axes = image.reshape(c, h // size, size, w // size, size).permute(1, 3, 0, 2, 4)
    return axes.permute(order).reshape(-1, c * size * size)


_MEAN = partial(torch.mean, dim=1)


@against(
    2,
    "Add the places to the vectors, call the layer, take the mean over the patches, and call `head`.",
    "`new, weights = layer(x)`, then `new.mean(dim=1)`.",
    cases=[
        Case(
            "for two pictures of three patches",
            (
                torch.arange(30.0).reshape(2, 3, 5) / 10,
                lambda x: x @ torch.linspace(-1, 1, 10).reshape(5, 2),
                torch.tensor([[1.0, -1.0], [0.5, 2.0], [-2.0, 0.25]]),
                lambda x: (x * x, torch.full((2, 3, 3), 1 / 3)),
                lambda x: x @ torch.tensor([[1.0, 0.0, 2.0, -1.0], [0.5, 1.0, 0.0, 3.0]]),
            ),
            "the scores come from the mean of the new vectors, and the weights from the layer",
            "One row of scores for each picture: the mean is over the patches, the second axis.",
        ),
    ],
    mistakes={
        "the places are not added | Add them to the vectors.": {"before": 0},
        "the places are added after the layer | The layer should see them.": {"before": 0, "after": 1},
        "the layer is left out | Its first result are new vectors.": {"whole": False},
        "this is a sum over the patches | Take the mean.": {"pool": partial(torch.sum, dim=1)},
        "this is the first patch alone | Take the mean of all patches.": {"pool": lambda new: new[:, 0]},
    },
    parts=["the scores", "the weights"],
)
def see(*given: object, before=1, after=0, whole=True, pool=_MEAN) -> tuple:
    patches, to_vector, places, layer, head = given
    x = to_vector(patches) + before * places
    new, weights = layer(x)
    return head(pool((new if whole else x) + after * places)), weights
