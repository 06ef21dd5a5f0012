"""Answers to the exercises of chapters/beyond_words."""

import torch
from answers import Answers

from utils.exercises import beyond_words as check

answers = Answers()


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


def see(patches, to_vector, places, layer, head, *, pool=lambda new: new.mean(dim=1)):
    new, weights = layer(to_vector(patches) + places)
    return head(pool(new)), weights


def after(patches, to_vector, places, layer, head):
    new, weights = layer(to_vector(patches))
    return head((new + places).mean(dim=1)), weights


answers.add(
    check.see,
    [see, lambda patches, turn, places, layer, head: [*see(patches, turn, places, layer, head)]],
    [
        (lambda p, turn, places, layer, head: see(p, turn, 0, layer, head), "are not added"),
        (after, "added after the layer"),
        (
            lambda p, turn, places, layer, head: see(p, turn, places, lambda x: (x, layer(x)[1]), head),
            "is left out",
        ),
        (lambda *given: see(*given, pool=lambda new: new.sum(dim=1)), "a sum over"),
        (lambda *given: see(*given, pool=lambda new: new[:, 0]), "the first patch alone"),
        (lambda *given: see(*given, pool=lambda new: new.mean(dim=0)), "the scores has the shape"),
        (lambda *given: see(*given)[0], "expected scores, weights"),
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
