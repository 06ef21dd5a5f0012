"""Heat maps of weights: each number is a shade, and those of the chosen row are bars or written numbers."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
import torch
from pictures import WIDTHS, Picture, check_legible, picture

from utils.figures import Weights

NUMBERS = torch.tensor([[1.0, 0.25, 0.07, 0.0, 1e-7], [0.5, 0.125, 0.375, 0.0, 0.0]])
both_widths = pytest.mark.parametrize("width", WIDTHS)


def small(panels: int = 1, **options) -> Weights:
    names = ["weights", "scaled", "third"][:panels]
    return Weights(
        lambda d, n: {name: NUMBERS / (d + k) for k, name in enumerate(names)},
        {"d": [1, 2], "n": range(6)}, queries=["one", "two"], keys="abcde",
        panels={name: f"map {name}" for name in names} if panels > 1 else None,
        edge="n", name="small", alt="", say="{query}", start={"n": 5}, **options,
    )  # fmt: skip


def check_cells(drawn: Picture, numbers: list[np.ndarray]) -> None:
    """Each number is one cell in its place, as dark as it is large."""
    shape = (len(numbers), *numbers[0].shape)
    cells = drawn.of("rect", "cell")
    middles = np.array([cell.middle for cell in cells]).reshape(*shape, 2)
    for grid in middles:
        assert (np.diff(grid[:, :, 0], axis=1) > 10).all()
        assert (np.diff(grid[:, :, 1], axis=0) > 10).all()
        assert np.ptp(grid[:, :, 0], axis=0) == pytest.approx(0, abs=0.01)
        assert np.ptp(grid[:, :, 1], axis=1) == pytest.approx(0, abs=0.01)
    shades = np.array([cell["fill-opacity"] for cell in cells]).reshape(shape)
    assert shades == pytest.approx(np.array(numbers), abs=0.0051)


@both_widths
@pytest.mark.parametrize("names", [("weights",), ("weights", "scaled")])
def test_a_cell_is_as_dark_as_its_number(width: int, names: tuple[str, ...]) -> None:
    figure = small(len(names))
    for d in (1, 2):
        check_cells(picture(figure, width, d=d), [figure.array(name, d=d) for name in names])


@both_widths
@pytest.mark.parametrize(
    ("options", "axes", "forbids"),
    [
        ({"edge": "n"}, {"n": range(5)}, lambda i, j, n: j >= n),
        ({"causal": ("mask", "on")}, {"mask": ["on", "off"]}, lambda i, j, mask: mask == "on" and j > i),
        (
            {"edge": "n", "causal": ("mask", "on")},
            {"n": range(5), "mask": ["on", "off"]},
            lambda i, j, n, mask: j >= n or (mask == "on" and j > i),
        ),
        # The fifth query stands at the place of the last key.
        ({"window": "reach"}, {"reach": [0, 1, 9]}, lambda i, j, reach: abs(min(i, 3) - j) > reach),
    ],
    ids=["length", "mask", "length and mask", "window"],
)
def test_what_is_forbidden_is_hatched(width: int, options: dict, axes: dict, forbids: Callable) -> None:
    weights = torch.full((5, 4), 0.25)
    figure = Weights(
        lambda **at: {"weights": weights}, axes, queries="abcde", keys="wxyz", name="f", alt="", say="", **options
    )  # fmt: skip
    for values in itertools.product(*axes.values()):
        at = dict(zip(axes, values, strict=True))
        drawn = picture(figure, width, **at)
        boxes = [hatch.box for hatch in drawn.of("path", "hatch")]
        for cell, (i, j) in zip(drawn.of("rect", "cell"), itertools.product(range(5), range(4)), strict=True):
            x, y = cell.middle
            hatched = sum(left < x < right and top < y < bottom for left, top, right, bottom in boxes)
            assert hatched == forbids(i, j, **at), (i, j, at)


def three(**options) -> Weights:
    """Three maps, of which the first looks right with its second query and the others with none."""
    gold = torch.tensor([[0.0, 1, 0, 0, 0], [1, 0, 0, 0, 0]])
    maps = {"a": NUMBERS, "b": NUMBERS.flip(1), "c": NUMBERS.flip(1) / 2}
    return Weights(
        lambda n: maps | {"gold": gold} | {f"{name}_share": n / 5 for name in maps},
        {"n": range(6)}, queries=["one", "two"], keys="vwxyz", edge="n", labels={"gold": ["nearest"]},
        panels={"a": "first", "b": "second", "c": "third"}, name="three", alt="", say="{query}",
        start={"n": 5}, **options,
    )  # fmt: skip


@both_widths
def test_of_three_maps_the_chosen_row_is_drawn(width: int) -> None:
    figure = three(play="n", gauges=("shares", {f"{name}_share": name for name in "abc"}))
    for n, query in itertools.product((0, 2, 5), (0, 1)):
        drawn = picture(figure, width, n=n, query=query)
        check_legible(drawn, width)
        check_cells(drawn, [figure.array(name)[query : query + 1] for name in "abc"])
        rows = np.array([cell.middle[1] for cell in drawn.of("rect", "cell")]).reshape(3, 5)
        assert [title for title, row in zip(("first", "second", "third"), rows, strict=True)
                if drawn.text(title).box[1] < row[0]] == ["first", "second", "third"]  # fmt: skip
        assert [i for (i,), _ in drawn.picks("query")][:2] == [0, 1]


@both_widths
def test_numbers_stand_in_the_cells_they_belong_to(width: int) -> None:
    alone, side_by_side = small(), small(2)
    for query in (0, 1):
        # A map that stands alone has all its numbers, of several only the chosen row has them.
        everywhere = alone.array("weights").reshape(-1)
        row = np.zeros((2, 2, 5))
        for k, name in enumerate(("weights", "scaled")):
            row[k, query] = side_by_side.array(name)[query]
        for figure, numbers in ((alone, everywhere), (side_by_side, row.reshape(-1))):
            drawn = picture(figure, width, query=query)
            cells = [cell for cell, n in zip(drawn.of("rect", "cell"), numbers, strict=True) if n >= 0.045]
            written = drawn.of("text", "number")
            expected = [number for number in numbers if number >= 0.045]
            assert [float(mark.text) for mark in written] == pytest.approx(expected, abs=0.0051)
            for mark, cell in zip(written, cells, strict=True):
                assert mark.middle == pytest.approx(cell.middle, abs=3)


@both_widths
def test_the_chosen_row_is_framed_above_its_keys(width: int) -> None:
    for query in (0, 1):
        drawn = picture(small(), width, query=query)
        cells = drawn.of("rect", "cell")
        (frame,) = drawn.of("rect", "query", "frame")
        framed = [at for at, cell in enumerate(cells) if frame.box[1] < cell.middle[1] < frame.box[3]]
        assert framed == [*range(5 * query, 5 * query + 5)]
        for key, cell in zip("abcde", cells[5:], strict=True):
            assert drawn.text(key).middle[0] == pytest.approx(cell.middle[0], abs=0.5)
            assert cell.box[3] <= drawn.text(key).box[1]


def test_a_click_on_a_cell_chooses_its_row() -> None:
    drawn = picture(small(2), 720)
    chosen = {at: area.middle for at, area in drawn.picks("panel", "query", "column")}
    assert sorted(chosen) == [*itertools.product(range(2), range(2), range(5))]
    for middle, cell in zip((chosen[at] for at in sorted(chosen)), drawn.of("rect", "cell"), strict=True):
        assert middle == pytest.approx(cell.middle, abs=1)
    assert {i for (i,), _ in drawn.picks("query")} == {0, 1}


# -- what is drawn besides ------------------------------------------------------------------------------------


def with_more(gallery: tuple[str, ...] = (), **more) -> Weights:
    """Three queries by two keys; on head h of layer l the first weight is h / 8 + l / 4."""

    def compute(head, layer):
        first = torch.full((3, 1), head / 8 + layer / 4)
        return {"weights": torch.cat([first, 1 - first], dim=1), "share": head / 10 + layer / 100} | more

    return Weights(
        compute, {"head": [0, 1, 2], "layer": [1, 2]}, queries=["un", "deux", "trois"], keys="xy",
        gallery=gallery,
        labels={"share": ["share"]} | ({"written": ["deux", "trois", "six"]} if "written" in more else {}),
        name="more", alt="Weights.", say="{query}", start={"head": 1},
    )  # fmt: skip


@both_widths
def test_a_gallery_has_a_small_map_for_each_pair(width: int) -> None:
    figure = with_more(("layer", "head"))
    drawn = picture(figure, width)
    check_legible(drawn, width)
    small_maps = drawn.picks("layer", "head")
    assert sorted(at for at, _ in small_maps) == [*itertools.product(range(2), range(3))]
    for (layer, head), area in small_maps:
        first = head / 8 + (layer + 1) / 4
        left, top, right, bottom = area.box
        shades = {
            (float(x) > (left + right) / 2, path["fill-opacity"])
            for path in drawn.of("path", "weight")
            for x, y in path.corners().reshape(-1, 4, 2).mean(axis=1)
            if left <= x <= right and top <= y <= bottom
        }
        assert shades == {(False, first), (True, 1 - first)} - {(False, 0), (True, 0)}
        share = drawn.text(f"{10 * head + layer + 1}%")
        assert abs(share.middle[0] - area.middle[0]) < 12
    (frame,) = drawn.of("rect", "chosen")
    assert frame.middle == pytest.approx(dict(small_maps)[0, 1].middle, abs=9)


@both_widths
def test_a_gallery_of_one_axis_orders_its_shares(width: int) -> None:
    figure = Weights(
        lambda score, reach: {
            "weights": torch.tensor([[0.25, 0.75], [1, 0]]) if score == "dot" else torch.eye(2),
            "gold": torch.eye(2),
            "share": torch.tensor((0.125 if score == "dot" else 1) / reach),
        },
        {"score": ["dot", "location"], "reach": [1, 2]}, queries="ab", keys="xy", gallery=["score"],
        name="shares", alt="Two scores.", say="{share:0%}",
    )  # fmt: skip
    drawn = picture(figure, width, reach=2)
    check_legible(drawn, width)
    # That with the larger share stands first. Only the dot score looks at the wrong key, which has a cross.
    assert drawn.text("location").middle[1] < drawn.text("dot").middle[1]
    for name, share in (("dot", "25%"), ("location", "100%")):
        assert any(at.middle[1] == pytest.approx(drawn.text(name).middle[1], abs=5)
                   for at in drawn.of("text") if at.text == share)  # fmt: skip
    assert strokes(drawn) == [2, 1]


def strokes(drawn: Picture) -> list[int]:
    """A tick is drawn with one stroke, a cross with two."""
    return [sign.attributes["d"].count("m") + 1 for sign in drawn.of("path", "sign")]


@both_widths
def test_gold_cells_and_wrong_words_are_marked(width: int) -> None:
    gold = torch.tensor([[0, 1], [1, 0], [0, 0]])
    drawn = picture(with_more(("layer", "head"), gold=gold), width)
    cells = drawn.of("rect", "cell")
    frames = drawn.of("rect", "gold")
    assert [frame.middle for frame in frames] == [pytest.approx(cells[at].middle, abs=0.1) for at in (1, 2)]
    assert len(drawn.of("path", "mini")) == 6, "those of the small maps too"
    drawn = picture(with_more(written=torch.tensor([2, 0, 2])), width)
    check_legible(drawn, width)
    cells = drawn.of("rect", "cell")
    words = [mark for mark in drawn.of("text") if mark.box[0] > cells[1].box[2]][-3:]
    assert [mark.text for mark in words] == ["six", "deux", "six"]
    heights = [cross.middle[1] for cross in drawn.of("path", "sign")]
    assert heights == pytest.approx([cells[i].middle[1] for i in (1, 5)], abs=6)


def test_a_lost_word_says_where_it_was_lost() -> None:
    # The first word is wrong from 1 on, with a way back at 2, the second from 2 on, the third from the start.
    written = {0: [0, 1, 0], 1: [2, 1, 0], 2: [0, 0, 0], 3: [2, 0, 0]}
    figure = Weights(
        lambda moved: {"weights": torch.eye(3), "written": torch.tensor(written[moved])},
        {"moved": list(written)}, queries=["deux", "trois", "six"], keys="xyz", name="lost", alt="", say="{moved}",
        labels={"written": ["deux", "trois", "six"], "moved": ["0%", "1%", "2%", "3%"]}, play=["moved"],
    )  # fmt: skip
    for moved, lost in enumerate(([], ["1%"], ["2%"], ["1%", "2%"])):
        drawn = picture(figure, 720, moved=moved)
        assert [mark.text for mark in drawn.of("text", "end") if mark.box[2] > 700][1:] == lost
        check_legible(drawn, 720)


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("gallery must name one or two axes", lambda: with_more(("depth",))),
        (r"'gold' of shape \(3, 2\), got \(2, 3\)", lambda: with_more(gold=torch.zeros(2, 3))),
        (r"'written' of shape \(3,\), got \(2,\)", lambda: with_more(written=torch.zeros(2).long())),
        ("causal must name an axis and one of its values", lambda: small(causal=("d", 3))),
        ("window must name an axis, got 'm'", lambda: small(window="m")),
    ],
)
def test_what_does_not_fit_is_refused(message: str, make: Callable) -> None:
    with pytest.raises(ValueError, match=message):
        make()
