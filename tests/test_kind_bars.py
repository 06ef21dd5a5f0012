"""Distributions as bars: as high as their numbers, over their labels, and what is forbidden or not known."""

import numpy as np
import pytest
import torch
from example_figures import bars as example
from pictures import WIDTHS, check_legible, linear, picture

from utils.explorables import Bars

NUMBERS = torch.tensor([1.0, 0.5, 0.0, 0.125])


def small(**changes) -> Bars:
    options = {
        "panels": {"p": "first", "q": "second"},
        "bars": ["v", "w", "x", "y"],
        "edge": "n",
        "unknown": "nothing here",
        "name": "small",
        "alt": "Bars.",
        "say": "{n}",
        "start": {"n": 4},
    }
    return Bars(
        lambda n: {"p": NUMBERS, "q": NUMBERS.flip(0) / 2, "q_known": torch.tensor(n > 1)},
        {"n": range(5)},
        **(options | changes),
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_bars_are_as_high_as_their_numbers_and_stand_over_their_labels(width: int) -> None:
    drawn = picture(small(), width)
    drawn_bars = drawn.of("rect", "weight")
    assert len(drawn_bars) == 8
    lines = drawn.of("line", "grid")
    written = drawn.of("text", "number")
    labels = [mark for mark in drawn.of("text", "middle") if mark.text in "vwxy"]
    for k, numbers in enumerate((NUMBERS, NUMBERS.flip(0) / 2)):
        value = linear([line.box[1] for line in lines[3 * k :][:3]], [0, 0.5, 1])
        panel = drawn_bars[4 * k :][:4]
        assert [value(bar.box[1]) for bar in panel] == pytest.approx(numbers.tolist(), abs=1e-3)
        assert all(abs(value(bar.box[3])) < 1e-3 for bar in panel)
        # On a phone both panels share the labels of the lower one.
        below = labels[4 * k :][:4] if width == 720 else labels
        assert [bar.middle[0] for bar in panel] == pytest.approx([m.middle[0] for m in below], abs=0.1)
        assert all(label.box[1] >= bar.box[3] for bar, label in zip(panel, below, strict=True))
        for bar, number in zip(panel, written[4 * k :][:4], strict=True):
            assert number.middle[0] == pytest.approx(bar.middle[0], abs=0.1)
            assert bar.box[1] - 12 < number.box[3] < bar.box[1]
    numbers = [*NUMBERS.tolist(), *(NUMBERS.flip(0) / 2).tolist()]
    digits = 3 if width == 720 else len(written[0].text) - 2
    assert [float(mark.text) for mark in written] == pytest.approx(numbers, abs=0.51 * 10**-digits)
    heads = [drawn.text("first"), drawn.text("second")]
    assert (heads[0].box[1] == heads[1].box[1]) == (width == 720)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_line_stands_where_the_forbidden_bars_begin(width: int) -> None:
    for n in range(5):
        drawn = picture(small(), width, n=n)
        known = n > 1
        drawn_bars = drawn.of("rect", "weight")
        for k in range(1 + known):
            panel = drawn_bars[4 * k :][:4]
            assert ["forbidden" in bar.classes for bar in panel] == [j >= n for j in range(4)]
            x = drawn.of("line", "edge")[k]["x1"] + drawn.of("line", "edge")[k].matrix[0, 2]
            assert all((bar.middle[0] > x) == (j >= n) for j, bar in enumerate(panel))
        # Forbidden places are hatched, also in a panel without numbers.
        first, second = np.array([mark.middle for mark in drawn.of("path", "hatch")]).reshape(2, 4 - n, 2)
        places = [bar.middle[0] for bar in drawn.of("rect", "forbidden")][: 4 - n]
        assert first[:, 0] == pytest.approx(places, abs=4)
        titles = [drawn.text(title).box[:2] for title in ("first", "second")]
        assert second - first == pytest.approx(
            np.tile(np.subtract(*titles[::-1]), (4 - n, 1)), abs=6
        )  # lines fill each to within a step


@pytest.mark.parametrize("width", WIDTHS)
def test_a_panel_without_numbers_says_so(width: int) -> None:
    unknown, known = picture(small(), width, n=1), picture(small(), width, n=2)
    assert unknown.texts().count("nothing here") == 1
    assert len(unknown.of("rect", "weight")) == 4
    assert "nothing here" not in known.texts()
    assert len(known.of("rect", "weight")) == 8
    # The text stands in the middle of the second panel.
    _, second = np.split(np.array([line.middle for line in unknown.of("line", "grid")]), 2)
    assert unknown.text("nothing here").middle == pytest.approx(second.mean(axis=0), abs=5)


@pytest.mark.parametrize("width", WIDTHS)
def test_each_panel_can_be_dragged_over_all_its_bars(width: int) -> None:
    drawn = picture(small(), width)
    areas = drawn.of("rect", "drag")
    assert [area.attributes["data-drag"] for area in areas] == ["n", "n"]
    drawn_bars = drawn.of("rect", "weight")
    for k, area in enumerate(areas):
        left, _, right, _ = area.box
        assert left < drawn_bars[4 * k].box[0]
        assert right > drawn_bars[4 * k + 3].box[2]
    assert picture(small(edge=None), width).of("rect", "drag") == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_nothing_is_cut_and_no_texts_touch(width: int, count: int) -> None:
    for n in range(9):
        check_legible(picture(example(), width, valid_length=n), width)
    panels = {key: f"panel of weights {key}" for key in "pqr"[:count]}
    many = Bars(
        lambda n: dict.fromkeys(panels, torch.full((9,), 1 / 9)),
        {"n": [1]}, panels=panels, bars=["a", "restaurant", *"cdefghi"], name="f", alt="", say="",
    )  # fmt: skip
    check_legible(picture(many, width), width)


@pytest.mark.parametrize("width", WIDTHS)
def test_bars_that_are_no_weights_are_grey(width: int) -> None:
    drawn = picture(small(role="score"), width)
    grey = drawn.of("rect", "score")
    assert len(grey) == 8
    assert drawn.of("rect", "weight") == []
    # Their axis ends at a round number above the largest: 1 in the first panel, 0.5 in the second.
    heights = [bar["height"] for bar in grey]
    assert heights[4:] == pytest.approx(heights[3::-1], abs=0.02)
    assert [mark.text for mark in drawn.of("text", "quiet")] == ["0", "1", "0", "0.5"]
    with pytest.raises(ValueError, match="role must be 'weight' or 'score', got 'blue'"):
        small(role="blue")


@pytest.mark.parametrize("width", WIDTHS)
def test_outlines_show_the_bars_at_another_value(width: int) -> None:
    """Also over bars that are 0 now, on the axis of both."""
    figure = Bars(
        lambda cut: {"p": torch.tensor([0.4, 0.2, 0.1]) / (1 + cut)}, {"cut": [0, 1, 3]},
        panels={"p": ""}, bars="abc", role="score", compare=("cut", 0), name="f", alt="", say="", start={"cut": 3},
    )  # fmt: skip
    drawn = picture(figure, width)
    outlines, drawn_bars = drawn.of("rect", "outline"), drawn.of("rect", "score")
    for outline, bar in zip(outlines, drawn_bars, strict=True):
        assert outline.middle[0] == pytest.approx(bar.middle[0], abs=0.02)
        assert outline.box[3] == pytest.approx(bar.box[3], abs=0.02)
        assert outline["height"] == pytest.approx(4 * bar["height"], abs=0.05)
    lines = drawn.of("line", "grid")
    value = linear([line["y1"] for line in lines], [0, 0.5])
    assert value(outlines[0].box[1]) == pytest.approx(0.4, abs=1e-3)
    with pytest.raises(ValueError, match="compare must name an axis and one of its values"):
        small(compare=("n", 9))


@pytest.mark.parametrize("width", WIDTHS)
def test_each_draw_is_a_dot_under_its_bar(width: int) -> None:
    counts = [0, 1, 20, 7]
    figure = Bars(
        lambda draws: {"p": NUMBERS, "drawn": torch.tensor(counts) * draws}, {"draws": [0, 1, 2]},
        panels={"p": ""}, bars="wxyz", name="f", alt="", say="", start={"draws": 1},
    )  # fmt: skip
    drawn = picture(figure, width)
    labels, drawn_bars = [drawn.text(key) for key in "wxyz"], drawn.of("rect", "weight")
    dots = drawn.of("circle", "tally")
    for bar, label, count in zip(drawn_bars, labels, counts, strict=True):
        half = (drawn_bars[1].middle[0] - drawn_bars[0].middle[0]) / 2
        below = [dot for dot in dots if abs(dot.middle[0] - bar.middle[0]) < half]
        assert len(below) == count
        assert all(dot.box[1] > label.box[3] for dot in below)
    assert len(dots) == len({tuple(dot.middle) for dot in dots}) == sum(counts)
    # There is room for the most dots, so the page under the picture does not move.
    assert len({picture(figure, width, draws=draws).height for draws in (0, 1, 2)}) == 1
    check_legible(picture(figure, width, draws=2), width)
    with pytest.raises(ValueError, match=r"'drawn' of shape \(4,\), got \(3,\)"):
        Bars(
            lambda n: {"p": NUMBERS, "drawn": torch.zeros(3)},
            {"n": [1]},
            panels={"p": ""},
            bars="wxyz",
            name="f",
            alt="",
            say="",
        )


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'p' of shape \(3,\), got \(4,\)"):
        small(bars="abc", edge=None)
    for edge in ("n", "length"):
        with pytest.raises(ValueError, match=f"edge must name an axis of the values 0 to 5, got '{edge}'"):
            small(bars="abcde", edge=edge)
    with pytest.raises(ValueError, match=r"'p_known' of shape \(\)"):
        Bars(
            lambda n: {"p": torch.zeros(2), "p_known": torch.zeros(2)},
            {"n": [0]}, panels={"p": "one"}, bars="ab", name="f", alt="", say="",
        )  # fmt: skip
