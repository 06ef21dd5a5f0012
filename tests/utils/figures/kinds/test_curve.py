"""Kernel regression: curves run through their numbers, gaps are gaps, and weights stand under their readings."""

import pytest
import torch
from pictures import marks, sizes, texts

from utils.figures import Curve

X, Y = torch.tensor([0.0, 1.0, 3.0]), torch.tensor([2.0, -1.0, 0.5])
KNOWN = torch.tensor([True, False, True, True, False, False, True])
GRID = torch.linspace(0, 3, 7)
ESTIMATE = torch.tensor([2.0, 0.0, -1.0, -0.5, 0.0, 0.0, 0.5])


def small(axes: dict | None = None, **changes) -> Curve:
    """With numbers of its own: no estimate at the query 2."""
    options = {
        "points": (X, Y), "grid": GRID, "truth": ESTIMATE / 2, "start": {"query": 1},
        "axes_labels": ("hour", "level (m)"), "name": "f", "alt": "A curve.", "say": "{query}",
    }  # fmt: skip
    return Curve(
        lambda kernel, bandwidth, query: {
            "estimate": ESTIMATE,
            "estimate_known": KNOWN | torch.tensor(query == 3),
            "weights": torch.tensor([1.0, 0.25, 0.0]),
            "height": Y[1],
            "height_known": torch.tensor(query != 2),
            "error": bandwidth / 4,
        },
        axes or {"kernel": ["near"], "bandwidth": [1.0, 2.0], "query": [0, 1, 2, 3]},
        **(options | changes),
    )


def test_curves_have_a_stretch_for_each_run_of_known_numbers() -> None:
    drawn = small().draw()
    points = [path.get("d").count(",") for path in marks(drawn, "path", "context", "curve")]
    assert points == [2, 2, 2]  # a point alone is a line of no length, which a round end makes visible
    assert len(marks(drawn, "path", "hatch")) == 2
    known = small().draw(query=3)
    assert [path.get("d").count(",") for path in marks(known, "path", "context", "curve")] == [7]
    assert not marks(known, "path", "hatch")


def test_readings_are_dots_with_their_weights_below() -> None:
    drawn = small().draw()
    dots, bars = marks(drawn, "circle", "value", "dot"), marks(drawn, "rect", "weight")
    # The area that a weight adds grows with the weight: its root is what the radius shows.
    one, quarter, none = sizes(dots, "r")
    assert one - none == pytest.approx(2 * (quarter - none))
    middles = [x + width / 2 for x, width in zip(sizes(bars, "x"), sizes(bars, "width"), strict=True)]
    assert middles == pytest.approx(sizes(dots, "cx"), abs=0.02)
    heights = sizes(bars, "height")
    assert [height / heights[0] for height in heights] == pytest.approx([1, 0.25, 0], abs=1e-3)
    assert texts(drawn, "number") == ["1.00"]  # above the largest
