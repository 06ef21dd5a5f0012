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


def of_columns(keys: list[str]) -> Heads:
    return Heads(
        lambda head, layer: {"weights": torch.full((2, len(keys)), 0.5), "share": 0.5},
        {"head": [1, 2], "layer": [1]}, free=True, queries=["a", "b"], keys=keys, name="times", alt="", say="",
        labels={"share": ["share"]},
    )  # fmt: skip


def test_of_many_numbers_under_columns_every_fifth_is_written() -> None:
    names = [f"{tenth / 10:.1f}" for tenth in range(23)]
    drawn = of_columns(names).draw(328)
    assert [text for text in texts(drawn) if text in names] == names[::5]
    assert "rotate" not in drawn


@pytest.mark.parametrize(("width", "angle"), [(328, -90), (820, -45)])
def test_words_under_columns_are_turned_and_stand_upright_where_slanted_ones_would_touch(
    width: int, angle: int
) -> None:
    names = [f"word{number}" for number in range(23)]
    drawn = of_columns(names).draw(width)
    turned = [text.text for text in marks(drawn, "text") if f"rotate({angle})" in text.get("transform", "")]
    assert turned == names


def test_cells_need_two_axes() -> None:
    with pytest.raises(ValueError, match="maps must name two axes for cells, got 1"):
        Heads(
            lambda head: {"weights": torch.ones(1, 1), "share": 0}, {"head": [1]}, maps=["head"], cells=True,
            queries=["a"], keys=["b"], name="f", alt="", say="", labels={"share": [""]},
        )  # fmt: skip
