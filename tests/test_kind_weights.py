"""Heat maps of weights: each number is a shade, and those of the chosen row are bars or written numbers."""

import itertools
import json

import numpy as np
import pytest
import torch
from example_figures import heads, heat_map, two_maps
from pictures import WIDTHS, Picture, check_legible, picture

from utils.explorables import Weights

NUMBERS = torch.tensor([[1.0, 0.25, 0.07, 0.0, 1e-7], [0.5, 0.125, 0.375, 0.0, 0.0]])


def small(panels: int = 1, **options) -> Weights:
    names = ["weights", "scaled", "third"][:panels]
    return Weights(
        lambda d, n: {name: NUMBERS / (d + k) for k, name in enumerate(names)},
        {"d": [1, 2], "n": range(6)},
        queries=["one", "two"],
        keys="abcde",
        panels={name: f"map {name}" for name in names} if panels > 1 else None,
        edge="n",
        name="small",
        alt="Two rows of weights.",
        say="{query}",
        start={"n": 5},
        **options,
    )


def check_cells(drawn: Picture, numbers: list[np.ndarray]) -> None:
    """Each number is one cell in its place, as dark as it is large."""
    rows, columns = numbers[0].shape
    cells = drawn.of("rect", "cell")
    assert len(cells) == len(numbers) * rows * columns
    for k, expected in enumerate(numbers):
        grid = np.array(cells[k * rows * columns :][: rows * columns]).reshape(rows, columns)
        middles = np.array([[cell.middle for cell in row] for row in grid])
        assert np.ptp(middles[:, :, 0], axis=0) == pytest.approx(0, abs=0.01)
        assert np.ptp(middles[:, :, 1], axis=1) == pytest.approx(0, abs=0.01)
        assert (np.diff(middles[:, :, 0], axis=1) > 10).all()
        assert (np.diff(middles[:, :, 1], axis=0) > 10).all()
        shades = np.array([[cell["fill-opacity"] for cell in row] for row in grid])
        assert shades == pytest.approx(expected, abs=0.0051)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_cell_is_as_dark_as_its_number(width: int) -> None:
    for d in (1, 2):
        check_cells(picture(small(), width, d=d), [small().array("weights", d=d)])
        check_cells(
            picture(small(2), width, d=d), [small(2).array(name, d=d) for name in ("weights", "scaled")]
        )


def test_a_causal_mask_and_a_length_forbid_together() -> None:
    figure = Weights(
        lambda n, mask: {"weights": torch.full((4, 4), 0.25)}, {"n": range(5), "mask": ["on", "off"]},
        queries="abcd", keys="wxyz", edge="n", causal=("mask", "on"), name="both", alt="", say="",
    )  # fmt: skip
    for n, mask in itertools.product(range(5), ("on", "off")):
        drawn = picture(figure, 720, n=n, mask=mask)
        cells = np.array([cell.middle for cell in drawn.of("rect", "cell")]).reshape(4, 4, 2)
        boxes = [hatch.box for hatch in drawn.of("path", "hatch")]
        for i, j in itertools.product(range(4), range(4)):
            x, y = cells[i, j]
            hatched = sum(left < x < right and top < y < bottom for left, top, right, bottom in boxes)
            assert hatched == (j >= n or (mask == "on" and j > i))


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


@pytest.mark.parametrize("width", WIDTHS)
def test_of_more_than_two_maps_only_the_chosen_row_is_drawn(width: int) -> None:
    figure = three()
    for n, query in itertools.product((0, 2, 5), (0, 1)):
        drawn = picture(figure, width, n=n, query=query)
        check_legible(drawn, width)
        check_cells(drawn, [figure.array(name)[query : query + 1] for name in "abc"])
        cells = drawn.of("rect", "cell")
        assert len(drawn.of("path", "hatch")) == (3 if n < 5 else 0)
        # Whether the largest weight lies on the gold cell: of all rows in the first map that of the second query alone.
        assert [sign.attributes["d"].count("m0,-8") for sign in drawn.of("path", "sign")] == [1 - query, 1, 1]
        for k, title in enumerate(("first", "second", "third")):
            row = cells[5 * k :][:5]
            named = drawn.text(title)
            if width > 500:
                assert named.middle[1] == pytest.approx(row[0].middle[1], abs=3)
                assert named.box[2] < row[0].box[0]
            else:
                assert named.box[3] <= row[0].box[1]
            assert k == 0 or named.box[1] > cells[5 * k - 1].box[3] - 1
        assert drawn.height == picture(figure, width, n=5).height


@pytest.mark.parametrize("width", WIDTHS)
def test_the_queries_of_more_than_two_maps_stand_above_them_to_be_chosen(width: int) -> None:
    many = [f"query number {i}" for i in range(11)]
    figure = Weights(
        lambda d: {name: torch.eye(11) for name in "abc"}, {"d": [1, 2]}, queries=many, keys="abcdefghijk",
        panels={"a": "first", "b": "second", "c": "third"}, name="many", alt="", say="{query}",
    )  # fmt: skip
    for query in (0, 5, 10):
        drawn = picture(figure, width, query=query)
        check_legible(drawn, width)
        (frame,) = [mark for mark in drawn.of("rect", "query", "frame") if mark["height"] == 25]
        assert np.abs(frame.middle - drawn.text(many[query]).middle).max() < 5
        for i, name in enumerate(many):
            (area,) = [m for m in drawn.of("rect", "pick") if m.attributes["data-pick"] == f'{{"query":{i}}}']
            assert min(area["width"], area["height"]) >= 24
            assert np.abs(area.middle - drawn.text(name).middle).max() < 5


@pytest.mark.parametrize("width", WIDTHS)
def test_each_of_more_than_two_maps_has_a_piece_of_its_curve(width: int) -> None:
    figure = three(play="n", gauges=("shares", {f"{name}_share": name for name in "abc"}))
    drawn = picture(figure, width)
    for k, title in enumerate(("first", "second", "third")):
        curve, piece = [mark for mark in drawn.of("path", "course", "done") if f"dash{k}" in mark.classes]
        assert piece.middle[1] == pytest.approx(drawn.text(title).middle[1], abs=3)
        assert piece.box[2] < drawn.text(title).box[0]
        assert curve.box[3] < piece.box[1]


@pytest.mark.parametrize("width", WIDTHS)
def test_what_a_causal_mask_forbids_is_hatched(width: int) -> None:
    figure = Weights(
        lambda mask: {"weights": torch.tensor([[1, 0, 0], [0.5, 0.5, 0], [0, 0.25, 0.75]])},
        {"mask": ["on", "off"]}, queries="abc", keys="xyz", causal=("mask", "on"),
        name="causal", alt="A triangle.", say="{query}", start={"query": 2},
    )  # fmt: skip
    drawn = picture(figure, width)
    cells = drawn.of("rect", "cell")
    # The last query may look at every key, so nothing is hatched in its row.
    for i, hatch in enumerate(drawn.of("path", "hatch")):
        places = hatch.corners().reshape(-1, 2)
        first, last = cells[3 * i + i + 1].box, cells[3 * i + 2].box
        assert places.min(axis=0) == pytest.approx([first[0] - 0.5, first[1] - 0.5], abs=0.1)
        assert places.max(axis=0) == pytest.approx([last[2] + 0.5, last[3] + 0.5], abs=0.1)
    assert i == 1
    assert len(picture(figure, width, query=0).of("path", "hatch")) == 2
    assert picture(figure, width, mask="off").of("path", "hatch") == []
    with pytest.raises(ValueError, match="causal must name an axis and one of its values"):
        Weights(lambda d: {}, {"d": [1]}, queries="a", keys="x", causal=("d", 2), name="f", alt="", say="")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_chosen_row_is_framed_and_the_keys_stand_below_their_columns(width: int) -> None:
    figure = small()
    for query in (0, 1):
        drawn = picture(figure, width, query=query)
        row = drawn.of("rect", "cell")[5 * query :][:5]
        (frame,) = drawn.of("rect", "query", "frame")
        left, top, right, bottom = frame.box
        assert all(left < cell.box[0] and cell.box[2] < right for cell in row)
        assert all(top < cell.box[1] and cell.box[3] < bottom for cell in row)
        assert [mark.text for mark in drawn.of("text", "name")] == [["one", "two"][query], "key", "query"]
        for key, cell in zip("abcde", drawn.of("rect", "cell")[5:], strict=True):
            assert drawn.text(key).middle[0] == pytest.approx(cell.middle[0], abs=0.5)
            assert cell.box[3] <= drawn.text(key).box[1]


@pytest.mark.parametrize("width", WIDTHS)
def test_of_several_maps_the_chosen_row_has_its_numbers_in_its_cells(width: int) -> None:
    drawn = picture(small(2), width, query=1)
    written = drawn.of("text", "number")
    assert [mark.text for mark in written] == [
        *("0.50", "0.13", "0.38"),
        *("0.25", "0.06", "0.19"),
    ]
    cells = drawn.of("rect", "cell")
    for text, cell in zip(written, [*cells[5:8], *cells[15:18]], strict=True):
        assert np.abs(text.middle - cell.middle).max() < 3


@pytest.mark.parametrize("width", WIDTHS)
def test_what_lies_outside_of_a_window_is_hatched(width: int) -> None:
    figure = Weights(
        lambda reach: {"weights": torch.full((5, 4), 0.25)}, {"reach": [0, 1, 9]},
        queries="abcde", keys="wxyz", window="reach", name="f", alt="", say="", start={"query": 2},
    )  # fmt: skip
    for reach in (0, 1, 9):
        drawn = picture(figure, width, reach=reach)
        cells = np.array([cell.middle for cell in drawn.of("rect", "cell")]).reshape(5, 4, 2)
        boxes = [hatch.box for hatch in drawn.of("path", "hatch")]
        for i in range(5):
            for j in range(4):
                x, y = cells[i, j]
                hatched = any(left < x < right and top < y < bottom for left, top, right, bottom in boxes)
                # The fifth query stands at the place of the last key.
                assert hatched == (abs(min(i, 3) - j) > reach)
    with pytest.raises(ValueError, match="window must name an axis, got 'n'"):
        Weights(lambda d: {}, {"d": [1]}, queries="a", keys="x", window="n", name="f", alt="", say="")


def test_maps_side_by_side_share_the_names_of_their_rows() -> None:
    beside, below = picture(small(2), 720), picture(small(2), 328)
    assert [drawn.texts().count("one") for drawn in (beside, below)] == [1, 2]
    first, second = (beside.text(f"map {name}") for name in ("weights", "scaled"))
    assert first.box[1] == second.box[1]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("panels", [1, 2])
def test_forbidden_columns_are_hatched(width: int, panels: int) -> None:
    for n in range(6):
        drawn = picture(small(panels), width, n=n)
        cells = drawn.of("rect", "cell")
        hatches = drawn.of("path", "hatch")
        # One hatched area in each row of a map, from the first forbidden cell to the last.
        expected = [
            (*cells[at + n].box[:2], *cells[at + 4].box[2:]) for at in range(0, 10 * panels, 5) if n < 5
        ]
        for box in expected:
            assert any(hatch.box == pytest.approx(box, abs=0.6) for hatch in hatches)
        assert len(hatches) == len(expected)
        # The legend of the hatching has its room where nothing is hatched, too.
        assert drawn.height == picture(small(panels), width, n=5).height


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "figure", [heat_map(), two_maps(), heads(), small(3)], ids=lambda figure: figure.name
)
def test_nothing_is_cut_and_no_texts_touch(figure: Weights, width: int) -> None:
    axis = next(iter(figure.axes))
    for query in range(len(figure.labels["queries"])):
        for value in figure.axes[axis]:
            check_legible(picture(figure, width, query=query, **{axis: value}), width)


def test_each_cell_can_be_clicked_and_chooses_its_row() -> None:
    drawn = picture(small(2), 720)
    areas = [mark.attributes["data-pick"] for mark in drawn.of("rect", "pick")]
    for k in range(2):
        for i in range(2):
            assert f'{{"query":{i}}}' in areas
            for j in range(5):
                assert f'{{"query":{i},"column":{j},"panel":{k}}}' in areas


# -- what is drawn besides ------------------------------------------------------------------------------------


def with_more(gallery: tuple[str, ...] = (), **more) -> Weights:
    """Three queries by two keys; on head h of layer l the first weight is h / 8 + l / 4."""

    def compute(head, layer):
        first = torch.full((3, 1), head / 8 + layer / 4)
        return {"weights": torch.cat([first, 1 - first], dim=1)} | more

    return Weights(
        compute, {"head": [0, 1, 2], "layer": [1, 2]}, queries=["un", "deux", "trois"], keys="xy",
        gallery=gallery, labels={"written": ["deux", "trois", "six"]} if "written" in more else {},
        name="more", alt="Weights.", say="{query}", start={"head": 1},
    )  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
def test_a_gallery_of_two_axes_has_a_small_map_for_each_pair_of_values_and_chooses_it(width: int) -> None:
    figure = with_more(axes := ("layer", "head"))
    drawn = picture(figure, width)
    places = [json.loads(mark.attributes["data-pick"]) for mark in drawn.of("rect", "pick")]
    areas = [
        mark for mark, place in zip(drawn.of("rect", "pick"), places, strict=True) if set(place) == set(axes)
    ]
    places = [place for place in places if set(place) == set(axes)]
    values = itertools.product(*(range(len(figure.axes[axis])) for axis in axes))
    assert sorted(tuple(place[axis] for axis in axes) for place in places) == list(values)
    # The first column of a small map has the shade of its number, in eighths.
    for area, place in zip(areas, places, strict=True):
        at = figure.point | {axis: figure.axes[axis][i] for axis, i in place.items()}
        first = round(8 * figure.array("weights", **at)[0, 0]) / 8
        shades = {}
        for path in drawn.of("path", "weight"):
            squares = path.corners().reshape(-1, 4, 2).mean(axis=1) if path.attributes["d"] else []
            for square in squares:
                if (np.array(area.box[:2]) <= square).all() and (square <= np.array(area.box[2:])).all():
                    shades.setdefault(round(square[0], 1), []).append(path["fill-opacity"])
        assert [set(column) for _, column in sorted(shades.items())] == [{first}, {1 - first}]
        assert area.box[2] - area.box[0] >= 24
        assert area.box[3] - area.box[1] >= 24
    (frame,) = drawn.of("rect", "chosen")
    (chosen,) = [
        area
        for area, place in zip(areas, places, strict=True)
        if place == {a: figure.axes[a].index(figure.point[a]) for a in axes}
    ]
    assert frame.middle == pytest.approx(chosen.middle, abs=9)
    check_cells(drawn, [figure.array("weights")])
    check_legible(drawn, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_gallery_of_one_axis_has_the_chosen_row_at_each_value_with_its_share_and_a_sign(width: int) -> None:
    figure = Weights(
        lambda score, reach: {
            "weights": torch.tensor([[0.25, 0.75], [1, 0]]) if score == "dot" else torch.eye(2),
            "gold": torch.eye(2),
            "share": torch.tensor((0.125 if score == "dot" else 1) / reach),
        },
        {"score": ["dot", "location"], "reach": [1, 2]}, queries="ab", keys="xy", gallery=["score"],
        name="shares", alt="Two scores.", say="{share:0%}", start={"reach": 2},
    )  # fmt: skip
    drawn = picture(figure, width)
    dot, location = (drawn.text(name) for name in ("dot", "location"))
    areas = [m for m in drawn.of("rect", "pick") if set(json.loads(m.attributes["data-pick"])) == {"score"}]
    # The first query looks most at the second key by the dot score: a cross there, and a tick at the other row.
    signs, (_, *frames) = (
        drawn.of("path", "sign"),
        drawn.of("rect", "query", "frame"),
    )  # the first is that of the map
    for name, share, sign, strokes, frame, area, weights in zip(
        (dot, location), ("25%", "100%"), signs, (2, 1), frames, areas, ([0.25, 0.75], [1, 0]), strict=True
    ):
        assert sign.attributes["d"].count("m") + 1 == strokes
        assert sign.box[2] < name.box[0] < name.box[2] < drawn.text(share).box[0] < frame.box[0]
        assert [mark.middle[1] for mark in (name, drawn.text(share), sign, frame)] == pytest.approx(
            [area.middle[1]] * 4, abs=5
        )
        inside = [
            cell
            for cell in drawn.of("rect", "cell")
            if frame.box[1] < cell.middle[1] < frame.box[3] and frame.box[0] < cell.middle[0] < frame.box[2]
        ]
        assert [cell["fill-opacity"] for cell in inside] == weights
        assert any(m.middle == pytest.approx(inside[0].middle, abs=0.1) for m in drawn.of("rect", "gold"))
    # That with the larger share stands first, and the frame of the chosen one is broad.
    assert location.middle[1] < dot.middle[1]
    assert ["thin" in frame.attributes["class"] for frame in frames] == [False, True]
    check_legible(drawn, width)
    first, _ = picture(figure, width, query="b").of("path", "sign")
    assert first.attributes["d"].count("m") + 1 == 2, "[1, 0] is wrong for the second query"


@pytest.mark.parametrize("width", WIDTHS)
def test_with_two_axes_a_share_stands_below_its_small_map_and_above_all_what_it_is(width: int) -> None:
    figure = Weights(
        lambda head, layer: {"weights": torch.eye(2), "share": torch.tensor(head / 10 + layer / 100)},
        {"head": [1, 2], "layer": [3, 5]}, queries="ab", keys="xy", gallery=["head", "layer"],
        labels={"share": ["what it is"]}, name="shares", alt="Four maps.", say="{query}",
    )  # fmt: skip
    drawn = picture(figure, width)
    areas = [m for m in drawn.of("rect", "pick") if "head" in json.loads(m.attributes["data-pick"])]
    for area in areas:
        place = json.loads(area.attributes["data-pick"])
        share = drawn.text(f"{10 * (place['head'] + 1) + (3, 5)[place['layer']]}%")
        assert abs(share.middle[0] - area.middle[0]) < 12
        assert 0 < share.box[1] - area.box[3] < 14
    assert drawn.text("what it is").box[3] < min(area.box[1] for area in areas)
    check_legible(drawn, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_gold_cells_have_dashed_frames(width: int) -> None:
    gold = torch.tensor([[0, 1], [1, 0], [0, 0]])
    drawn = picture(with_more(gold=gold), width)
    cells = drawn.of("rect", "cell")
    frames = drawn.of("rect", "gold")
    assert [frame.middle for frame in frames] == [pytest.approx(cells[at].middle, abs=0.1) for at in (1, 2)]
    assert "dashed: right cell" in drawn.texts()
    assert picture(with_more(), width).of("rect", "gold") == []


@pytest.mark.parametrize("width", WIDTHS)
def test_written_words_stand_beside_their_rows_and_wrong_ones_have_a_cross(width: int) -> None:
    figure = with_more(written=torch.tensor([2, 0, 2]))
    drawn = picture(figure, width)
    cells = drawn.of("rect", "cell")
    words = [mark for mark in drawn.of("text") if mark.box[0] > cells[1].box[2]][-3:]
    assert [mark.text for mark in words] == ["six", "deux", "six"]
    assert [mark.middle[1] for mark in words] == pytest.approx([cells[i].middle[1] for i in (1, 3, 5)], abs=4)
    crosses = drawn.of("path", "sign")
    assert [cross.middle[1] for cross in crosses] == pytest.approx(
        [words[i].middle[1] for i in (0, 2)], abs=4
    )
    assert all(cross.box[2] < word.box[0] for cross, word in zip(crosses, words[::2], strict=True))
    check_legible(drawn, width)


def test_a_word_that_was_lost_has_the_value_at_which_it_was_first_wrong_where_there_is_room() -> None:
    # The first word is wrong from 1 on, with a way back at 2, the second from 2 on, the third from the start.
    written = {0: [0, 1, 0], 1: [2, 1, 0], 2: [0, 0, 0], 3: [2, 0, 0]}
    figure = Weights(
        lambda moved: {"weights": torch.eye(3), "written": torch.tensor(written[moved])},
        {"moved": list(written)}, queries=["deux", "trois", "six"], keys="xyz", name="lost", alt="", say="{moved}",
        labels={"written": ["deux", "trois", "six"], "moved": ["0%", "1%", "2%", "3%"]}, play=["moved"],
    )  # fmt: skip
    for moved, expected in (
        (0, {}),
        (1, {"deux": "1%"}),
        (2, {"trois": "2%"}),
        (3, {"deux": "1%", "trois": "2%"}),
    ):
        drawn = picture(figure, 720, moved=moved)
        rows = {mark.text: mark.middle[1] for mark in drawn.of("text", "choice")}
        column = [mark for mark in drawn.of("text", "end") if mark.box[2] > 700 and mark.text != "lost at"]
        assert {
            min(rows, key=lambda name: abs(rows[name] - mark.middle[1])): mark.text for mark in column
        } == expected
        check_legible(drawn, 720)
    assert "lost at" not in picture(figure, 328).texts()


@pytest.mark.parametrize("width", WIDTHS)
def test_small_maps_have_frames_around_their_gold_cells(width: int) -> None:
    gold = torch.tensor([[0, 1], [1, 0], [0, 0]])
    assert picture(with_more(("layer", "head")), width).of("path", "mini") == []
    drawn = picture(with_more(("layer", "head"), gold=gold), width)
    frames = drawn.of("path", "mini")
    assert len(frames) == 6
    areas = [m for m in drawn.of("rect", "pick") if len(json.loads(m.attributes["data-pick"])) == 2]
    for frame, area in zip(frames, areas, strict=True):
        first, second = frame.corners().reshape(-1, 4, 2).mean(axis=1)
        left, top, right, bottom = area.box
        assert left < second[0] < (left + right) / 2 < first[0] < right
        assert top < first[1] < second[1] < bottom


def test_what_does_not_fit_is_refused() -> None:
    for gallery in (["depth"], ["head", "layer", "head"]):
        with pytest.raises(ValueError, match="gallery must name one or two axes"):
            with_more(gallery)
    with pytest.raises(ValueError, match=r"'gold' of shape \(3, 2\), got \(2, 3\)"):
        with_more(gold=torch.zeros(2, 3))
    with pytest.raises(ValueError, match=r"'written' of shape \(3,\), got \(2,\)"):
        with_more(written=torch.zeros(2, dtype=torch.long))
    options = {"queries": "ab", "keys": "xyz", "name": "f", "alt": "", "say": ""}
    with pytest.raises(ValueError, match=r"'weights' of shape \(2, 3\), got \(3, 2\)"):
        Weights(lambda d: {"weights": torch.zeros(3, 2)}, {"d": [1]}, **options)
    with pytest.raises(ValueError, match=r"'other' of shape \(2, 3\), got None"):
        Weights(lambda d: {"weights": torch.zeros(2, 3)}, {"d": [1]}, panels={"other": ""}, **options)
    with pytest.raises(ValueError, match="edge must name an axis, got 'n'"):
        Weights(lambda d: {"weights": torch.zeros(2, 3)}, {"d": [1]}, edge="n", **options)


@pytest.mark.parametrize("width", WIDTHS)
def test_in_a_map_that_stands_alone_each_cell_has_its_number_unless_it_is_nearly_0(width: int) -> None:
    figure = small()
    for query in (0, 1):
        drawn = picture(figure, width, query=query)
        assert drawn.of("rect", "weight", without=("cell", "swatch")) == []
        numbers = figure.array("weights").reshape(-1)
        written = drawn.of("text", "number")
        large = [at for at, number in enumerate(numbers) if number >= 0.045]
        assert [float(mark.text) for mark in written] == pytest.approx(numbers[large], abs=0.0051)
        cells = drawn.of("rect", "cell")
        for mark, cell in zip(written, [cells[at] for at in large], strict=True):
            assert mark.middle == pytest.approx(cell.middle, abs=2)
        check_legible(drawn, width)
