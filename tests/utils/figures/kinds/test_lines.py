"""Curves run through their numbers on one scale, dots ride on the last, and one that is not known is not drawn."""

import re

import pytest
import torch
from pictures import WIDTHS, marks, sizes, texts

from utils.figures import Lines

GRID, DOTS = torch.tensor([-1.0, 0.0, 1.0, 3.0]), {"a": 0.0, "b": 3.0}


def small(**changes) -> Lines:
    """Two straight lines through 0, of the slopes q and −q/2."""
    options = {
        "curves": {"part": "its half", "all": "score"}, "grid": GRID, "dots": DOTS, "grip": "q", "name": "small",
        "alt": "Lines.", "say": "{best|dots}", "axes_labels": ("x", "y"), "start": {"q": 1},
    }  # fmt: skip
    return Lines(
        lambda q: {
            "part": -q / 2 * GRID,
            "part_known": float(q == 2),
            "all": q * GRID,
            "heights": q * torch.tensor([0.0, 3.0]),
            "best": int(q > 0),
        },
        {"q": [-1, 1, 2]},
        **(options | changes),
    )


def places(drawn: str, *classes: str, without: tuple[str, ...] = ()) -> torch.Tensor:
    (curve,) = marks(drawn, "path", *classes, without=without)
    return torch.tensor(
        [[float(number) for number in pair] for pair in re.findall(r"([\d.]+),([\d.]+)", curve.get("d"))]
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_all_states_have_one_scale(width) -> None:
    at_1, at_2 = (places(small().draw(width, q=q), "plot", without=("part",)) for q in (1, 2))
    steps = at_1.diff(dim=0)[:, 0]
    assert (steps / steps[0]).tolist() == pytest.approx([1, 1, 2], abs=1e-3)
    zero = at_1[1, 1]
    assert ((zero - at_2[:, 1]) / (zero - at_1[3, 1])).tolist() == pytest.approx(
        [-2 / 3, 0, 2 / 3, 2], abs=1e-3
    )


def test_dots_ride_on_the_last_curve_and_the_best_stands_out() -> None:
    for q, best in ((-1, 0), (2, 1)):
        drawn = small().draw(q=q)
        curve = places(drawn, "plot", without=("part",))
        dots = marks(drawn, "circle", "key")
        on_curve = [coordinate for place in (curve[1], curve[3]) for coordinate in place.tolist()]
        found = zip(sizes(dots, "cx"), sizes(dots, "cy"), strict=True)
        assert [x for dot in found for x in dot] == pytest.approx(on_curve, abs=0.02)
        assert sizes(dots, "r").index(max(sizes(dots, "r"))) == best
        assert texts(drawn, "key", "name") == ["ab"[best]]


def test_a_curve_that_is_not_known_is_neither_drawn_nor_named() -> None:
    for q, known in ((1, False), (2, True)):
        drawn = small().draw(q=q)
        assert len(marks(drawn, "path", "part")) == known
        assert ("its half" in texts(drawn)) == known
        assert ("score" in texts(drawn)) == known  # a curve alone needs no name


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grip": "r"}, r"grip must name an axis, one of \['q'\], got 'r'"),
        ({"dots": {"a": 0.0, "b": 3.5}}, "dot 'b' must lie on the grid, from -1 to 3, got 3.5"),
        ({"dots": {"a": 0.0}}, r"'heights' of shape \(1,\), got \(2,\)"),
        ({"grid": GRID[1:]}, r"'part' of shape \(3,\), got \(4,\)"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message) -> None:
    with pytest.raises(ValueError, match=message):
        small(**changes)
