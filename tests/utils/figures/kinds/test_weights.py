"""Heat maps of weights: each number is a shade, those of the chosen row are written, what is forbidden is hatched."""

import re
from collections.abc import Callable

import numpy as np
import pytest
import torch
from example_figures import lost
from pictures import marks, sizes, texts

from utils.figures import Figure, Heads, Weights

NUMBERS = torch.tensor([[1.0, 0.25, 0.07, 0.0, 1e-7], [0.5, 0.125, 0.375, 0.0, 0.0]])


def small(panels: int = 1, **options) -> Weights:
    names = ["weights", "scaled"][:panels]
    return Weights(
        lambda d, n: {name: NUMBERS / (d + k) for k, name in enumerate(names)},
        {"d": [1, 2], "n": range(6)}, queries=["one", "two"], keys="abcde",
        panels={name: f"map {name}" for name in names} if panels > 1 else None, name="small", alt="", say="{query}",
        **({"edge": "n", "start": {"n": 5}} | options),
    )  # fmt: skip


@pytest.mark.parametrize("width", [720, 328])
@pytest.mark.parametrize("names", [("weights",), ("weights", "scaled")])
def test_a_cell_is_as_dark_as_its_number(width: int, names: tuple[str, ...]) -> None:
    figure = small(len(names))
    for d in (1, 2):
        cells = marks(figure.draw(width, d=d), "rect", "cell")
        numbers = np.stack([figure.array(name, d=d) for name in names])
        shades = np.array(sizes(cells, "fill-opacity")).reshape(numbers.shape)
        assert shades == pytest.approx(numbers, abs=0.015)  # less is white
        places = np.array([sizes(cells, "x"), sizes(cells, "y")]).reshape(2, *numbers.shape)
        assert (np.diff(places[0], axis=2) > 0).all()
        assert (np.diff(places[1], axis=1) > 0).all()


FIVE_BY_FOUR = {
    "queries": "abcde",
    "keys": "wxyz",
    "name": "f",
    "alt": "",
    "say": "",
    "labels": {"share": [""]},
}
EQUAL = torch.full((5, 4), 0.25)
ALL = {"weights": EQUAL, "share": 0}


@pytest.mark.parametrize(
    ("figure", "forbidden"),
    [
        (Weights(lambda n: {"weights": EQUAL}, {"n": [3]}, edge="n", **FIVE_BY_FOUR), [1, 1, 1, 1, 1]),
        (
            Heads(
                lambda head, layer, mask: ALL,
                {"head": [1], "layer": [1], "mask": ["on", "off"]},
                causal=("mask", "on"),
                **FIVE_BY_FOUR,
            ),
            [3, 2, 1, 0, 0],
        ),
        (Heads(lambda head, layer: ALL, {"head": [1, 2], "layer": [1]}, **FIVE_BY_FOUR), [3, 2, 1, 0, 0]),
        (Heads(lambda score: ALL, {"score": ["dot"]}, maps=["score"], free=True, **FIVE_BY_FOUR), [0] * 5),
    ],
    ids=["length", "mask", "always", "free"],
)
def test_what_is_forbidden_is_hatched(figure: Figure, forbidden: list[int]) -> None:
    drawn = figure.draw()
    step, height = (sizes(marks(drawn, "rect", "cell"), side)[0] + 1 for side in ("width", "height"))
    (top, *_), hatches = sizes(marks(drawn, "rect", "cell"), "y"), marks(drawn, "path", "hatch")
    found = [0.0] * 5
    for hatch in hatches:
        xs, ys = (
            np.array(re.findall(pattern, hatch.get("d")), float)
            for pattern in (r"[ML](-?[\d.]+)", r",(-?[\d.]+)")
        )
        found[int((ys.mean() - top) // height)] += np.ptp(xs) / step
    assert found == pytest.approx(forbidden, abs=0.02)


def test_a_lost_word_says_where_it_was_lost() -> None:
    for moved, aside in ((0, set()), (1, set()), (2, {"lost at", "100%"})):
        drawn = lost().draw(moved=moved)
        assert len(marks(drawn, "path", "sign")) == 1 + (moved == 2)
        assert ({"lost at"} & set(texts(drawn))) == aside & {"lost at"}


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("edge must name an axis of whole numbers from 0 to 5, got 'm'", lambda: small(edge="m")),
        ("from 0 to 4, got 'n'",
         lambda: Weights(lambda n: {"weights": EQUAL}, {"n": [3, 5]}, edge="n", **FIVE_BY_FOUR)),
        ("from 0 to 4, got 'n'",
         lambda: Weights(lambda n: {"weights": EQUAL}, {"n": [2.5]}, edge="n", **FIVE_BY_FOUR)),
        (r"'written' of shape \(2,\), got None", lambda: small(labels={"written": ["one"]})),
        ("2 rows of 2 squares are not 5 keys", lambda: small(squares=(2, 2))),
        (r"'image' of shape \(1, 5, 3\), got None", lambda: small(squares=(1, 5))),
        ("causal must name an axis and one of its values",
         lambda: Heads(dict, {"head": [1], "layer": [1], "mask": ["on"]}, causal=("mask", "off"))),
        ("maps must name axes, got 'layer'", lambda: Heads(dict, {"head": [1]})),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(message: str, make: Callable) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_without_a_mask_nothing_is_hatched():
    figure = Heads(lambda head, layer: ALL, {"head": [1, 2], "layer": [1]}, free=True, **FIVE_BY_FOUR)
    drawn = figure.draw()
    assert not marks(drawn, "path", "hatch")
    assert "hatched: forbidden" not in drawn
