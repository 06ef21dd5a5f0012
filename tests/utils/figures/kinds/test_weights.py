"""Heat maps of weights: each number is a shade, those of the chosen row are written, what is forbidden is hatched."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
import torch
from example_figures import heads, lost, windows
from pictures import WIDTHS, Picture, picture

from utils.figures import Figure, Heads, Weights

NUMBERS = torch.tensor([[1.0, 0.25, 0.07, 0.0, 1e-7], [0.5, 0.125, 0.375, 0.0, 0.0]])
both_widths = pytest.mark.parametrize("width", WIDTHS)


def small(panels: int = 1, **options) -> Weights:
    names = ["weights", "scaled"][:panels]
    return Weights(
        lambda d, n: {name: NUMBERS / (d + k) for k, name in enumerate(names)},
        {"d": [1, 2], "n": range(6)}, queries=["one", "two"], keys="abcde",
        panels={name: f"map {name}" for name in names} if panels > 1 else None, name="small", alt="", say="{query}",
        **({"edge": "n", "start": {"n": 5}} | options),
    )  # fmt: skip


def check_cells(drawn: Picture, numbers: list[np.ndarray]) -> None:
    """Each number is one cell in its place, as dark as it is large."""
    shape = (len(numbers), *numbers[0].shape)
    cells = drawn.of("rect", "cell")
    middles = np.array([cell.middle for cell in cells]).reshape(*shape, 2)
    assert (np.diff(middles[..., 0], axis=2) > 0).all()
    assert (np.diff(middles[..., 1], axis=1) > 0).all()
    assert np.ptp(middles[..., 0], axis=1) == pytest.approx(0, abs=0.1)
    assert np.ptp(middles[..., 1], axis=2) == pytest.approx(0, abs=0.1)
    shades = np.array([cell["fill-opacity"] for cell in cells]).reshape(shape)
    assert shades == pytest.approx(np.array(numbers), abs=0.015)  # less is white


@both_widths
@pytest.mark.parametrize("names", [("weights",), ("weights", "scaled")])
def test_a_cell_is_as_dark_as_its_number(width: int, names: tuple[str, ...]) -> None:
    figure = small(len(names))
    for d in (1, 2):
        check_cells(picture(figure, width, d=d), [figure.array(name, d=d) for name in names])


FIVE_BY_FOUR = {"queries": "abcde", "keys": "wxyz", "name": "f", "alt": "", "say": ""}
EQUAL = torch.full((5, 4), 0.25)


@both_widths
@pytest.mark.parametrize(
    ("figure", "forbids"),
    [
        (
            Weights(lambda n: {"weights": EQUAL}, {"n": range(5)}, edge="n", **FIVE_BY_FOUR),
            lambda i, j, n: j >= n,
        ),
        (
            Heads(
                lambda head, layer, mask: {"weights": EQUAL, "share": 0},
                {"head": [1], "layer": [1], "mask": ["on", "off"]},
                causal=("mask", "on"),
                labels={"share": [""]},
                **FIVE_BY_FOUR,
            ),
            lambda i, j, head, layer, mask: mask == "on" and j > i,
        ),
        (
            Heads(
                lambda head, layer: {"weights": EQUAL, "share": 0},
                {"head": [1, 2], "layer": [1]},
                labels={"share": [""]},
                **FIVE_BY_FOUR,
            ),
            lambda i, j, head, layer: j > i,
        ),
        (
            Heads(
                lambda reach, score: {"weights": EQUAL, "gold": EQUAL, "share": 0},
                {"reach": [0, 1, 9], "score": ["dot"]},
                maps=["score"],
                window="reach",
                labels={"gold": [""], "share": [""]},
                start={"query": 0},
                **FIVE_BY_FOUR,
            ),
            # The fifth query stands at the place of the last key.
            lambda i, j, reach, score: abs(min(i, 3) - j) > reach,
        ),
    ],
    ids=["length", "mask", "always", "window"],
)
def test_what_is_forbidden_is_hatched(width: int, figure: Figure, forbids: Callable) -> None:
    for values in itertools.product(*figure.axes.values()):
        at = dict(zip(figure.axes, values, strict=True))
        drawn = picture(figure, width, **at)
        boxes = [hatch.box for hatch in drawn.of("path", "hatch")]
        cells = drawn.of("rect", "cell")[:20]
        for cell, (i, j) in zip(cells, itertools.product(range(5), range(4)), strict=True):
            x, y = cell.middle
            hatched = any(left < x < right and top < y < bottom for left, top, right, bottom in boxes)
            assert hatched == forbids(i, j, **at), (i, j, at)
        # A line shows where the mask was that is off now, also in the small map.
        assert len(drawn.of("path", "stairs")) == 2 * (at.get("mask") == "off")


@both_widths
def test_numbers_stand_in_the_cells_they_belong_to(width: int) -> None:
    alone, side_by_side = small(), small(2)
    for query in (0, 1):
        # A map that stands alone has all its numbers, of two only the chosen row has them.
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
            assert all(cell.holds(mark) for mark, cell in zip(written, cells, strict=True))


@both_widths
def test_the_chosen_row_is_framed_above_its_keys(width: int) -> None:
    for query in (0, 1):
        drawn = picture(small(), width, query=query)
        cells = drawn.of("rect", "cell")
        (frame,) = drawn.of("rect", "query", "frame")
        assert [at for at, cell in enumerate(cells) if frame.holds(cell)] == [
            *range(5 * query, 5 * query + 5)
        ]
        for key, cell in zip("abcde", cells[5:], strict=True):
            assert cell.box[0] < drawn.text(key).middle[0] < cell.box[2]
            assert cell.box[3] <= drawn.text(key).box[1]


def test_a_click_on_a_cell_chooses_its_row() -> None:
    drawn = picture(small(2), 720)
    chosen = dict(drawn.picks("panel", "query", "column"))
    assert sorted(chosen) == [*itertools.product(range(2), range(2), range(5))]
    for at, cell in zip(sorted(chosen), drawn.of("rect", "cell"), strict=True):
        assert chosen[at].holds(cell)
    assert {i for (i,), _ in drawn.picks("query")} == {0, 1}


def test_a_lost_word_says_where_it_was_lost() -> None:
    for moved, aside in ((0, []), (1, []), (2, ["lost at", "100%"])):
        drawn = picture(lost(), moved=moved)
        right = drawn.text("it writes").box[0]
        assert [m.text for m in drawn.of("text", "end", without=("name",)) if m.box[0] > right] == aside
    for moved, wrong in ((0, 1), (2, 2)):
        for width in WIDTHS:
            drawn = picture(lost(), width, moved=moved)
            crosses = [cross.middle[1] for cross in drawn.of("path", "sign")]
            rows = [drawn.of("rect", "cell")[8 * i].box for i in (0, 5)[:wrong]]
            assert all(top < y < bottom for y, (_, top, _, bottom) in zip(crosses, rows, strict=True))


def looked_at(**changes) -> Weights:
    """A picture of two rows of three squares, each of 5 by 7 pixels, of which the last is red."""
    image = torch.ones(10, 21, 3)
    image[5:, 14:] = torch.tensor([1.0, 0.0, 0.2])
    weights = torch.tensor([[0.5, 0.25, 0.0, 0.0, 0.0, 0.25], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
    options = {
        "queries": ["a", "red"], "keys": "uvwxyz", "squares": (2, 3), "labels": {"gold": ["its own"]},
        "name": "f", "alt": "", "say": "",
    } | changes  # fmt: skip
    return Weights(
        lambda d: {"weights": weights, "image": image, "gold": weights == 1}, {"d": [1]}, **options
    )


@both_widths
def test_a_picture_shows_where_the_chosen_query_looks(width: int) -> None:
    for query, expected in enumerate([[0.5, 0.25, 0, 0, 0, 0.25], [0, 0, 0, 0, 0, 1]]):
        drawn = picture(looked_at(), width, query=query)
        squares = drawn.of("rect", "weight", without=("cell", "swatch"))
        shades = np.array([square["fill-opacity"] for square in squares])
        assert shades / shades.max() == pytest.approx(np.array(expected) / max(expected), abs=0.02)
        middles = np.array([square.middle for square in squares]).reshape(2, 3, 2)
        assert np.ptp(middles[..., 0], axis=0) == pytest.approx(0)
        assert np.ptp(middles[..., 1], axis=1) == pytest.approx(0)
        # The red pixels lie in the last square, and a frame around it for the query whose own it is.
        (red,) = [path for path in drawn.of("path") if path.attributes.get("fill") == "rgb(255,0,51)"]
        assert squares[5].box == pytest.approx(red.box, abs=0.3)
        maps = drawn.of("rect", "cell")
        framed = [frame.middle for frame in drawn.of("rect", "gold") if not maps[11].holds(frame)]
        assert framed == [pytest.approx(squares[5].middle, abs=0.1)] * query


@both_widths
def test_each_head_has_a_small_map(width: int) -> None:
    drawn = picture(heads(), width)
    small_maps = dict(drawn.picks("head", "layer"))
    assert sorted(small_maps) == [*itertools.product(range(3), range(2))]
    for (head, layer), area in small_maps.items():
        share = drawn.text(f"{10 * head + layer + 11}%")
        assert area.box[0] < share.middle[0] < area.box[2]
        assert share.box[1] > area.box[3]
    (frame,) = drawn.of("rect", "chosen")
    assert small_maps[1, 0].holds(frame, slack=3)
    assert len(drawn.of("path", "mini")) == 6, "of the gold cells"


@both_widths
def test_small_maps_may_stand_for_one_axis(width: int) -> None:
    drawn = picture(windows(), width, reach=0)
    small_maps = dict(drawn.picks("score"))
    for at, (name, share) in enumerate([("dot", "30%"), ("cosine", "60%"), ("additive", "80%")]):
        left, top, right, bottom = small_maps[at,].box
        assert left < drawn.text(share).middle[0] < right
        x, y = drawn.text(name).middle
        assert top < y < bottom if width == 720 else left < x < right
    assert not [text for text in drawn.texts() if text.startswith("score")]


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("edge must name an axis, got 'm'", lambda: small(edge="m")),
        (r"'written' of shape \(2,\), got None", lambda: small(labels={"written": ["one"]})),
        ("2 rows of 2 squares are not 6 keys", lambda: looked_at(squares=(2, 2))),
        (r"'image' of shape \(1, 5, 3\), got None", lambda: small(squares=(1, 5))),
        (
            "causal must name an axis and one of its values",
            lambda: Heads(dict, {"head": [1], "layer": [1], "mask": ["on"]}, causal=("mask", "off")),
        ),
        ("maps and window must name axes, got 'layer'", lambda: Heads(dict, {"head": [1]})),
        (
            "give causal or window, not both",
            lambda: Heads(dict, {"head": [1]}, maps=["head"], causal=("head", 1), window="head"),
        ),
    ],
)
def test_what_does_not_fit_is_refused(message: str, make: Callable) -> None:
    with pytest.raises(ValueError, match=message):
        make()
