"""Kernel regression: curves run through their numbers, gaps are gaps, and weights stand under their readings."""

import numpy as np
import pytest
import torch
from example_figures import curve as example
from pictures import WIDTHS, Picture, linear, picture, stretches

from utils.figures import Curve

X, Y = torch.tensor([0.0, 1.0, 3.0]), torch.tensor([2.0, -1.0, 0.5])
KNOWN = torch.tensor([True, False, True, True, False, False, True])
GRID = torch.linspace(0, 3, 7)
ESTIMATE = torch.tensor([2.0, 0.0, -1.0, -0.5, 0.0, 0.0, 0.5])
both_widths = pytest.mark.parametrize("width", WIDTHS)


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


def scales(drawn: Picture):
    """From places in the picture to hours and levels, by the numbers at the axes."""
    levels = {m["y"] - 4: float(m.text.replace("−", "-")) for m in drawn.of("text", "end", "quiet")}
    hours = {m["x"]: float(m.text.replace("−", "-")) for m in drawn.of("text", "middle", "quiet")}
    assert levels[min(levels)] == max(levels.values()), "high levels stand above low ones"
    assert hours[min(hours)] == min(hours.values())
    return linear(list(hours), list(hours.values())), linear(list(levels), list(levels.values()))


def read_curve(drawn: Picture, *classes: str) -> list[np.ndarray]:
    """Hours and levels of each stretch of a curve."""
    hour, level = scales(drawn)
    paths = [stretch for path in drawn.of("path", *classes) for stretch in stretches(path.attributes["d"])]
    return [np.c_[hour(points[:, 0]), level(points[:, 1])] for points in paths]


@both_widths
def test_curves_run_through_known_numbers(width: int) -> None:
    drawn = picture(small(), width)
    (truth,) = read_curve(drawn, "truth")
    assert truth == pytest.approx(np.c_[GRID, ESTIMATE / 2], abs=0.02)
    alone, pair, last = read_curve(drawn, "context", "curve")
    # A point alone is a line of no length, which a round end makes visible.
    assert alone == pytest.approx(np.array([[0, 2], [0, 2]]), abs=0.02)
    assert pair == pytest.approx(np.c_[GRID, ESTIMATE][2:4], abs=0.02)
    assert last == pytest.approx(np.array([[3, 0.5], [3, 0.5]]), abs=0.02)
    # A gap is hatched to half the way to what is known.
    ends = [sorted(scales(drawn)[0](hatch.corners()[:, 0]))[:: len(hatch.corners()) - 1]
            for hatch in drawn.of("path", "hatch")]  # fmt: skip
    assert np.array(ends) == pytest.approx(np.array([[0.25, 0.75], [1.75, 2.75]]), abs=0.02)
    known = picture(small(), width, query=3)
    (whole,) = read_curve(known, "context", "curve")
    assert whole == pytest.approx(np.c_[GRID, ESTIMATE], abs=0.02)
    assert not known.of("path", "hatch")


@both_widths
def test_readings_are_dots_with_their_weights_below(width: int) -> None:
    drawn = picture(small(), width)
    hour, level = scales(drawn)
    dots = drawn.of("circle", "value", "dot")
    places = np.array([(hour(dot["cx"]), level(dot["cy"])) for dot in dots])
    assert places == pytest.approx(np.c_[X, Y], abs=0.02)
    # The area that a weight adds grows with the weight: its root is what the radius shows.
    grown = np.array([dot["r"] for dot in dots]) - dots[2]["r"]
    assert grown[0] == pytest.approx(2 * grown[1])
    bars = drawn.of("rect", "weight")
    assert [bar.middle[0] for bar in bars] == pytest.approx([dot["cx"] for dot in dots], abs=0.02)
    heights = np.array([bar["height"] for bar in bars])
    assert heights / heights[0] == pytest.approx([1, 0.25, 0], abs=1e-3)
    assert [mark.text for mark in drawn.of("text", "number")] == ["1.00"]  # above the largest


def test_the_error_has_its_unit() -> None:
    assert "error 0.25 m" in picture(small()).texts()
    assert "error 0.50 m" in picture(small(), bandwidth=2.0).texts()


@both_widths
def test_the_query_and_its_window_stand_where_asked(width: int) -> None:
    for query in range(4):
        drawn = picture(small(), width, query=query)
        hour, level = scales(drawn)
        (line,) = drawn.of("line", "query", without=("thin",))
        assert hour(line["x1"]) == pytest.approx(query, abs=0.02)
        answers = [(hour(answer["cx"]), level(answer["cy"])) for answer in drawn.of("circle", "context")]
        assert answers == [pytest.approx((query, -1), abs=0.02)] * (query != 2)
    figure = example()
    for bandwidth in figure.axes["bandwidth"]:
        drawn = picture(figure, width, kernel="boxcar", bandwidth=bandwidth, query=12.0)
        hour, _ = scales(drawn)
        (window,) = drawn.of("rect", "window")
        edges = hour(np.array([window.box[0], window.box[2]]))
        assert edges == pytest.approx([12 - bandwidth, 12 + bandwidth], abs=0.05)


@pytest.mark.parametrize(
    ("levels", "hours", "written"),
    [
        ([0.0, 0.002, 0.004], [0, 0.005, 0.01], {"0.000", "0.001", "0.004", "0.0000", "0.0025", "0.0100"}),
        ([-2.0, 0.0, 1.0], [-12, 0, 12], {"−2", "0", "1", "−12", "−6", "12"}),
    ],
)
def test_axes_have_the_decimals_their_steps_need(levels, hours, written) -> None:
    points = torch.tensor(hours + [hours[-1]] * 4), torch.tensor(levels + [levels[-1]] * 4)
    figure = small(points=tuple(side[:3] for side in points), grid=points[0], truth=points[1])
    assert written <= set(picture(figure, query=0).texts())


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        ("x and y of points must have the same shape", {"points": (X[:1], Y)}),
        ("grid and truth must have the same shape", {"truth": Y}),
        (r"'estimate' of shape \(9,\), got", {"grid": torch.arange(9.0), "truth": torch.arange(9.0)}),
        (r"'weights' of shape \(4,\), got \(3,\)", {"points": (torch.arange(4.0),) * 2}),
        ("the axes kernel, bandwidth and query", {"axes": {"kernel": ["near"], "query": [0]}}),
    ],
)
def test_what_does_not_fit_is_refused(message: str, changes: dict) -> None:
    with pytest.raises(ValueError, match=message):
        small(**changes)
