"""A cell for each of many heads: as dark as its share, with the chosen head in a frame, and each of them to choose."""

import json

import numpy as np
import pytest
import torch
from example_figures import cells
from pictures import marks, sizes, texts

from utils.figures import Heads


@pytest.mark.parametrize("width", [720, 328])
@pytest.mark.parametrize("score", ["flat", "rising"])
def test_a_cell_is_as_dark_as_the_share_of_its_head(width: int, score: str) -> None:
    figure = cells()
    drawn = figure.draw(width, score=score)
    shares = np.array(
        [[figure.array("share", score=score, layer=i, head=j) for j in range(3)] for i in range(13)]
    )
    shades = np.array(sizes(marks(drawn, "rect", "cell"), "fill-opacity"))
    # On a desk the table stands behind the map in the list of marks, on a phone it lies on its side.
    table = shades[20:].reshape(13, 3) if width == 720 else shades[20:].reshape(3, 13).T
    assert table == pytest.approx(shares, abs=0.015)


@pytest.mark.parametrize("width", [720, 328])
def test_each_head_can_be_chosen(width: int) -> None:
    picks = [json.loads(mark.get("data-pick")) for mark in marks(cells().draw(width), "rect", "pick")]
    chosen = [(pick["layer"], pick["head"]) for pick in picks if "layer" in pick]
    assert sorted(chosen) == [(layer, head) for layer in range(13) for head in range(3)]


def test_of_many_values_every_fifth_is_written() -> None:
    written = [text for text in texts(cells().draw(720)) if text.isdigit()]
    assert written == ["0", "1", "0", "5", "10", "0", "1", "2"]  # those of the scale come first


@pytest.mark.parametrize("keys", ["numbers", "words"])
def test_of_many_numbers_under_columns_every_fifth_is_written(keys: str) -> None:
    """Words are all written, and turned."""
    names = [f"{'' if keys == 'numbers' else 's'}{tenth / 10:.1f}" for tenth in range(23)]
    figure = Heads(
        lambda head, layer: {"weights": torch.full((2, 23), 0.5), "share": 0.5},
        {"head": [1, 2], "layer": [1]}, free=True, queries=["a", "b"], keys=names, name="times", alt="", say="",
        labels={"share": ["share"]},
    )  # fmt: skip
    drawn = figure.draw(328)
    written = [text for text in texts(drawn) if text in names]
    turned = [text for text in marks(drawn, "text") if "rotate(-45)" in text.get("transform", "")]
    assert written == (names[::5] if keys == "numbers" else names)
    assert len(turned) == (0 if keys == "numbers" else 23)


def test_cells_need_two_axes() -> None:
    with pytest.raises(ValueError, match="maps must name two axes for cells, got 1"):
        Heads(
            lambda head: {"weights": torch.ones(1, 1), "share": 0}, {"head": [1]}, maps=["head"], cells=True,
            queries=["a"], keys=["b"], name="f", alt="", say="", labels={"share": [""]},
        )  # fmt: skip
