"""Answers to the exercises of chapters/beyond_words."""

import torch
from answers import Answers

from utils.exercises import beyond_words as check

answers = Answers()
answers.add(
    check.three_numbers,
    [(196, 768, 1960), (14 * 14, torch.tensor(16 * 16 * 3), "1960")],
    [
        ((14, 768, 1960), "patches in one row"),
        ((200, 768, 1960), "patches is 200; expected another"),
        ((196, 256, 1960), "counts each pixel once"),
        ((196, 48, 1960), "one row of the patch"),
        ((196, 768, 196), "the weights of one word"),
        ((196, 768, 5880), "counted red, green and blue"),
    ],
)


def in_loops(image, size):
    rows = image.split(size, dim=1)
    return torch.stack([patch.flatten() for row in rows for patch in row.split(size, dim=2)])


def reordered(*order):
    """A function that cuts by axes: rows of patches, columns of patches, channels, rows of pixels, their columns."""

    def cut(image, size):
        c, h, w = image.shape
        split = image.reshape(c, h // size, size, w // size, size).permute(1, 3, 0, 2, 4)
        return split.permute(order).reshape(-1, c * size * size).tolist()

    return cut


answers.add(
    check.cut_one,
    [in_loops, reordered(0, 1, 2, 3, 4)],
    [
        (lambda image, size: image.reshape(-1, image.shape[0] * size * size), "four pixels of one row"),
        (reordered(1, 0, 2, 3, 4), "the patches go down the columns"),
        (reordered(0, 1, 2, 4, 3), "pixels of a patch go down"),
        (reordered(0, 1, 3, 4, 2), "stand side by side"),
        (lambda image, size: in_loops(image[:1], size), "the shape (6, 16)"),
    ],
)
answers.add(
    check.ask_for_red_square,
    [(4, -4), ("3", torch.tensor(-6.0))],
    [
        ((4, 4), "the red circle has the largest"),
        ((-4, -4), "the blue square has the largest"),
        ((4, 0), "two things share"),
        ((1, -1), "has only 0.53"),
    ],
)
test_right, test_wrong = answers.tests()
