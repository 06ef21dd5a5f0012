"""Kernel regression: curves run through their numbers, gaps are gaps, and what a moved reading changes is computed."""

import json

import numpy as np
import pytest
import torch
from example_figures import KERNELS
from example_figures import curve as example
from pictures import WIDTHS, Picture, check_legible, linear, overlap, picture, read_picture, stretches

import utils.kernels
from utils.explorables import Curve
from utils.explorables.still import Stage, engine
from utils.kernels import nadaraya_watson

X, Y = torch.tensor([0.0, 1.0, 3.0]), torch.tensor([2.0, -1.0, 0.5])
KNOWN = torch.tensor([True, False, True, True, False, False, True])
GRID = torch.linspace(0, 3, 7)
ESTIMATE = torch.tensor([2.0, 0.0, -1.0, -0.5, 0.0, 0.0, 0.5])


def small(**changes) -> Curve:
    options = {
        "query": "query", "points": (X, Y), "grid": GRID, "truth": ESTIMATE / 2, "start": {"query": 1},
        "axes_labels": ("hour", "level (m)"), "name": "f", "alt": "A curve.", "say": "{query}",
    }  # fmt: skip
    return Curve(
        lambda query: {
            "estimate": ESTIMATE,
            "estimate_known": KNOWN | torch.tensor(query == 3),
            "weights": torch.tensor([1.0, 0.25, 0.0]),
            "height": Y[1],
            "height_known": torch.tensor(query != 2),
        },
        {"query": [0, 1, 2, 3]},
        **(options | changes),
    )


def scales(drawn: Picture):
    """From places in the picture to hours and levels, by the numbers at the axes."""
    levels = {m["y"] - 4: float(m.text.replace("−", "-")) for m in drawn.of("text", "end", "quiet")}
    hours = {m["x"]: float(m.text.replace("−", "-")) for m in drawn.of("text", "middle", "quiet")}
    assert len(levels) > 2
    assert len(hours) >= 3  # an hour behind a grip is not written
    return linear(list(hours), list(hours.values())), linear(list(levels), list(levels.values()))


def read_curve(drawn: Picture, *classes: str) -> list[np.ndarray]:
    """Hours and levels of each stretch of a curve."""
    hour, level = scales(drawn)
    found = []
    for path in drawn.of("path", *classes):
        (points,) = stretches(path.attributes["d"])
        found.append(np.c_[hour(points[:, 0]), level(points[:, 1])])
    return found


@pytest.mark.parametrize("width", WIDTHS)
def test_curves_run_through_their_numbers_and_have_gaps_where_nothing_is_known(width: int) -> None:
    drawn = picture(small(), width)
    (truth,) = read_curve(drawn, "truth")
    assert truth == pytest.approx(np.c_[GRID, ESTIMATE / 2], abs=0.02)
    alone, pair, last = read_curve(drawn, "context", "curve")
    # A point alone is a line of no length, which a round end makes visible.
    assert alone == pytest.approx(np.array([[0, 2], [0, 2]]), abs=0.02)
    assert pair == pytest.approx(np.c_[GRID, ESTIMATE][2:4], abs=0.02)
    assert last == pytest.approx(np.array([[3, 0.5], [3, 0.5]]), abs=0.02)
    (whole,) = read_curve(picture(small(), width, query=3), "context", "curve")
    assert whole == pytest.approx(np.c_[GRID, ESTIMATE], abs=0.02)


@pytest.mark.parametrize("width", WIDTHS)
def test_readings_are_dots_and_their_weights_bars_below_them(width: int) -> None:
    drawn = picture(small(), width)
    hour, level = scales(drawn)
    dots = drawn.of("circle", "value", "dot")
    assert [(hour(dot["cx"]), level(dot["cy"])) for dot in dots] == [
        pytest.approx(place, abs=0.02) for place in zip(X.tolist(), Y.tolist(), strict=True)
    ]
    # The area that a weight adds grows with the weight: its root is what the radius shows.
    grown = np.array([dot["r"] for dot in dots]) - dots[2]["r"]
    assert grown[0] == pytest.approx(2 * grown[1])
    bars = drawn.of("rect", "weight")
    assert [bar.middle[0] for bar in bars] == pytest.approx([dot["cx"] for dot in dots], abs=0.02)
    heights = np.array([bar["height"] for bar in bars])
    assert heights / heights[0] == pytest.approx([1, 0.25, 0], abs=1e-3)
    assert len({bar.box[3] for bar in bars}) == 1
    (number,) = drawn.of("text", "number")  # above the largest
    assert number.text == "1.00"
    assert bars[0].box[1] - 8 < number.box[3] < bars[0].box[1]


@pytest.mark.parametrize("width", WIDTHS)
def test_bars_have_one_scale_for_all_bandwidths(width: int) -> None:
    figure = example()
    heights = set()
    for bandwidth in figure.axes["bandwidth"]:
        drawn = picture(figure, width, bandwidth=bandwidth)
        (window,) = drawn.of("rect", "window")
        weights = figure.array("weights", bandwidth=bandwidth)
        for bar, weight in zip(drawn.of("rect", "weight"), weights, strict=True):
            # A weight of 1 reaches to the top, and a small one can still be seen.
            expected = max(1.5, weight * (window["height"] - 16)) if weight >= 0.002 else 0
            assert bar["height"] == pytest.approx(expected, abs=0.02)
        (number,) = drawn.of("text", "number")
        assert number.text == f"{weights.max():.2f}"
        heights.add(window["height"])
    assert len(heights) == 1


@pytest.mark.parametrize("width", WIDTHS)
def test_the_largest_weight_is_written_above_its_bar_of_equal_ones_above_the_nearest(width: int) -> None:
    equal = {}
    for kernel in KERNELS:
        drawn = picture(example(), width, kernel=kernel, bandwidth=3.0, query=2.0)
        bars, (number,) = drawn.of("rect", "weight"), drawn.of("text", "number")
        (asked,) = drawn.of("line", "frame", without=("thin",))
        tallest = max(bar["height"] for bar in bars)
        middles = [bar.middle[0] for bar in bars if bar["height"] == tallest]
        assert number.middle[0] == pytest.approx(min(middles, key=lambda x: abs(x - asked["x1"])), abs=0.02)
        equal[kernel] = len(middles)
    assert equal["boxcar"] > 1


@pytest.mark.parametrize("width", WIDTHS)
def test_a_gap_is_hatched_to_half_the_way_to_what_is_known_also_one_of_a_single_place(width: int) -> None:
    drawn = picture(small(), width)
    hour, _ = scales(drawn)
    ends = [
        hour(hatch.corners()[:, 0][[hatch.corners()[:, 0].argmin(), hatch.corners()[:, 0].argmax()]])
        for hatch in drawn.of("path", "hatch")
    ]
    assert np.array(ends) == pytest.approx(np.array([[0.25, 0.75], [1.75, 2.75]]), abs=0.02)
    assert not picture(small(), width, query=3).of("path", "hatch")


@pytest.mark.parametrize("width", WIDTHS)
def test_each_bandwidth_that_was_tried_has_a_bar_for_its_error(width: int) -> None:
    errors = {("near", 1.0): 0.25, ("near", 2.0): 1.0, ("far", 1.0): 0.5, ("far", 2.0): 0.75}
    figure = Curve(
        lambda kernel, bandwidth, query: {
            "estimate": ESTIMATE, "weights": torch.ones(3) / 3, "height": Y[1], "error": errors[kernel, bandwidth],
        },
        {"kernel": ["near", "far"], "bandwidth": [1.0, 2.0], "query": [0, 1]},
        query="query", points=(X, Y), grid=GRID, truth=ESTIMATE / 2, axes_labels=("hour", "level (m)"), name="f",
        alt="A curve.", say="{query}",
    )  # fmt: skip

    def shown(kernel: str, at: int, reached: dict) -> str:
        place = {"kernel": ["near", "far"].index(kernel), "bandwidth": at, "query": 0}
        return Stage(figure.spec).picture({"place": place, "reached": reached}, width)

    for kernel in ("near", "far"):
        for at in (0, 1):
            # The grey ones after the key of the error, and the dark one of now.
            drawn = read_picture(shown(kernel, at, {f"error {i} {k}": True for i in (0, 1) for k in (0, 1)}))
            bars = sorted(
                [*drawn.of("rect", "apart")[1:], *drawn.of("rect", "handle")], key=lambda bar: bar["x"]
            )
            assert [bar["height"] / 20 for bar in bars] == pytest.approx(
                [errors[kernel, 1.0], errors[kernel, 2.0]], abs=1e-3
            )
            assert [bar.attributes["class"] == "handle" for bar in bars] == [at == 0, at == 1]
            check_legible(drawn, width)
    # A page shows those that the reader has seen, once there are two to compare.
    one, both = {"error 0 0": True}, {"error 0 0": True, "error 0 1": True}
    assert [shown("near", 0, seen).count('class="later"') for seen in ({}, one, both)] == [3, 2, 0]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_grips_of_the_window_hang_on_its_edges_and_cover_no_hour(width: int) -> None:
    figure = example()
    for bandwidth in figure.axes["bandwidth"]:
        for query in figure.axes["query"]:
            drawn = picture(figure, width, bandwidth=bandwidth, query=query)
            (window,) = drawn.of("rect", "window")
            edges, grips = drawn.of("line", "thin"), drawn.of("rect", "query", "through")
            for edge, grip in zip(edges, grips, strict=True):
                side = 0 if grip.middle[0] < window.middle[0] else 2
                assert [grip.box[2 - side], window.box[side]] == pytest.approx([edge["x1"]] * 2, abs=0.02)
            assert all(area["width"] >= 24 for area in drawn.of("rect", "instead"))
            assert {pull["r"] for pull in drawn.of("circle", "pull")} == {12}
            hours = drawn.of("text", "middle", without=("inverse",))
            for grip in grips:
                assert all(not overlap(grip.corners(), hour.corners()) for hour in hours)


def test_the_key_names_readings_and_curves() -> None:
    for width in WIDTHS:
        drawn = picture(example(), width)
        names = [drawn.text(name) for name in ("reading", "estimate", "truth")]
        (estimate,), (truth,) = drawn.of("line", "context"), drawn.of("line", "truth")
        assert names[0].box[2] < estimate.box[0] < estimate.box[2] < names[1].box[0]
        assert names[1].box[2] < truth.box[0] < truth.box[2] < names[2].box[0]
        assert names[0].box[1] > drawn.text("weight").box[3], "the key stands below the hours"


@pytest.mark.parametrize("width", WIDTHS)
def test_curves_can_be_drawn_through_fewer_places_than_the_error_is_measured_at(width: int) -> None:
    coarse = small(grid=torch.linspace(0, 3, 13), truth=torch.arange(13.0) / 4, every=2)
    drawn = picture(coarse, width)
    (truth,) = read_curve(drawn, "truth")
    assert truth == pytest.approx(np.c_[GRID, torch.arange(7.0) / 2], abs=0.02)
    assert len(read_curve(drawn, "context", "curve")) == 3
    figure = example()
    fine, half = Stage(figure.spec), Stage(figure.spec | {"options": figure.options | {"every": 2}})
    state = moved_state(figure, {2: 1.25})
    assert half.numbers(state, "error") == fine.numbers(state, "error")
    np.testing.assert_array_equal(half.numbers(state, "estimate"), fine.numbers(state, "estimate")[::2])


@pytest.mark.parametrize("width", WIDTHS)
def test_the_query_stands_at_its_hour_with_the_estimate_on_it_if_there_is_one(width: int) -> None:
    for query in range(4):
        drawn = picture(small(), width, query=query)
        hour, level = scales(drawn)
        (line,) = drawn.of("line", "query")
        assert hour(line["x1"]) == pytest.approx(query, abs=0.02)
        answers = drawn.of("circle", "context")
        assert len(answers) == (query != 2)
        for answer in answers:
            assert (hour(answer["cx"]), level(answer["cy"])) == pytest.approx((query, -1), abs=0.02)


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_and_no_texts_touch(width: int) -> None:
    for kernel in KERNELS:
        for query in (0.0, 7.0, 24.0):
            check_legible(picture(example(), width, kernel=kernel, query=query), width)
    check_legible(picture(small(), width), width)


# -- moved readings -------------------------------------------------------------------------------------------


def moved_state(figure: Curve, moved: dict[int, float], **point: object) -> dict:
    places = {str(i): [float(figure.options["x"][i]), level] for i, level in moved.items()}
    at = figure.point | point
    return {"place": {name: figure.axes[name].index(value) for name, value in at.items()}, "moved": places}


@pytest.mark.parametrize("kernel", KERNELS)
def test_with_moved_readings_the_page_computes_what_the_course_does(kernel: str) -> None:
    figure = example()
    stage = Stage(figure.spec)
    x, y = (torch.tensor(figure.options[side], dtype=torch.float64) for side in "xy")
    moved = {2: 1.25, 17: 4.5, 22: 2.0}
    for i, level in moved.items():
        y[i] = level
    grid, truth = (torch.tensor(figure.options[key], dtype=torch.float64) for key in ("grid", "truth"))
    unknown = 0
    for bandwidth in figure.axes["bandwidth"]:
        for query in (0.0, 7.0, 13.0, 24.0):
            state = moved_state(figure, moved, kernel=kernel, bandwidth=bandwidth, query=query)
            asked = torch.cat([grid, torch.tensor([query], dtype=torch.float64)])
            context, weights = nadaraya_watson(
                asked, x, y, kernel=getattr(utils.kernels, KERNELS[kernel]), bandwidth=bandwidth
            )
            known = weights.sum(dim=1) > 0
            expected = {
                "estimate": context[:-1] * known[:-1],
                "estimate_known": known[:-1].double(),
                "weights": weights[-1],
                "height": context[-1:] * known[-1:],
                "height_known": known[-1:].double(),
                "error": (context[:-1] - truth)[known[:-1]].square().mean().sqrt()[None],
                "case": torch.tensor([2.0 if known[-1] else 3.0]),
            }
            for key, numbers in expected.items():
                np.testing.assert_allclose(stage.numbers(state, key), numbers, atol=1e-9, err_msg=key)
            says = figure.sentences[2 if known[-1] else 3]
            assert stage.sentence(state) == says.format(
                height=_Decimals(float(context[-1])), query=f"{query:g}"
            )
            unknown += int((~known).sum())
    assert (unknown > 0) == (kernel != "Gaussian")


def test_with_moved_readings_a_grip_held_between_two_values_has_the_numbers_of_the_nearer_one() -> None:
    stage = Stage((figure := example()).spec)
    state = moved_state(figure, {2: 1.25, 17: 4.5}, kernel="boxcar", bandwidth=1.0, query=7.0)
    keys = ("estimate", "weights", "height", "error")
    at_rest = {key: stage.numbers(state, key) for key in keys}
    for name, to in (("bandwidth", 2), ("query", 8)):
        engine().eval(f"figure.between = {{ name: '{name}', to: {to}, share: 0.4 }}; figure.put({{}})")
        for key in keys:
            held = json.loads(engine().eval(f"JSON.stringify([...figure.array('{key}')])"))
            np.testing.assert_array_equal(held, at_rest[key], err_msg=key)


def test_a_figure_without_errors_has_none_when_a_reading_is_moved() -> None:
    stage = Stage((figure := example()).spec)
    drawn = stage.picture(moved_state(figure, {2: 1.25}, kernel="boxcar", bandwidth=1.0, query=7.0))
    assert ">error 0." in drawn
    spec = figure.spec | {
        "arrays": {key: array for key, array in figure.spec["arrays"].items() if key != "error"}
    }
    assert ">error" not in Stage(spec).picture(
        moved_state(figure, {2: 1.25}, kernel="boxcar", bandwidth=1.0, query=7.0)
    )


@pytest.mark.parametrize(
    ("levels", "hours", "written"),
    [
        ([0.0, 0.002, 0.004], [0, 0.005, 0.01], {"0.000", "0.001", "0.004", "0.0000", "0.0025", "0.0100"}),
        ([-2.0, 0.0, 1.0], [-12, 0, 12], {"−2", "0", "1", "−12", "−6", "12"}),
        ([5.0, 5.0, 5.0], [0, 1, 2], {"0.0", "0.5", "2.0"}),
    ],
)
def test_numbers_of_axes_have_as_many_decimals_as_their_steps_need(levels, hours, written) -> None:
    x, y = torch.tensor(hours), torch.tensor(levels)
    figure = Curve(
        lambda query: {"estimate": y, "weights": torch.ones(3) / 3, "height": y[1]}, {"query": hours[:1]},
        query="query", points=(x, y), grid=x, truth=y, axes_labels=("hour", "level (m)"), name="f", alt="A curve.",
        say="{height:3}",
    )  # fmt: skip
    drawn = figure.draw()
    assert "NaN" not in drawn
    assert written <= set(read_picture(drawn).texts())


class _Decimals(float):
    """A number that takes the format of a figure's sentence: the count of decimals."""

    def __format__(self, digits: str) -> str:
        return f"{float(self):.{digits}f}"


@pytest.mark.parametrize("width", WIDTHS)
def test_a_moved_reading_is_drawn_where_it_was_put(width: int) -> None:
    figure = example()
    stage = Stage(figure.spec)
    drawn = read_picture(stage.picture(moved_state(figure, {4: 1.5}), width))
    _, level = scales(drawn)
    dot, before = drawn.of("circle", "dot")[4], picture(figure, width).of("circle", "dot")[4]
    assert dot["cx"] == before["cx"]
    assert level(dot["cy"]) == pytest.approx(1.5, abs=0.02)
    pull = drawn.of("circle", "pull")[4]
    assert (pull["cx"], pull["cy"]) == (dot["cx"], dot["cy"])
    (answer,) = drawn.of("circle", "context")
    assert level(answer["cy"]) == pytest.approx(
        stage.numbers(moved_state(figure, {4: 1.5}), "height")[0], abs=0.02
    )
    assert stage.picture(moved_state(figure, {}), width) == figure.draw(width)


def test_readings_can_be_moved_only_where_the_page_knows_the_kernel() -> None:
    assert small().movable is None
    assert picture(small()).of("circle", "pull") == []
    movable = example().movable
    assert movable["names"] == ["hour", "level (m)"]
    assert movable["labels"][0] == f"hour {example().points_x[0]:.4g}"
    assert movable["bounds"][0] is None
    low, high = movable["bounds"][1]
    assert low <= min(y for _, y in movable["places"]) + 0.005
    assert high >= max(y for _, y in movable["places"]) - 0.005
    assert json.dumps(example().spec["movable"])


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="query must name an axis, got 'q'"):
        small(query="q")
    with pytest.raises(ValueError, match="x and y of points must have the same shape"):
        small(points=(X[:1], Y))
    with pytest.raises(ValueError, match="grid and truth must have the same shape"):
        small(truth=Y)
    with pytest.raises(ValueError, match=r"'estimate' of shape \(9,\), got \(7,\)"):
        small(grid=torch.arange(9.0), truth=torch.arange(9.0))
    for changes in ({"kernels": {"a": "gaussian"}}, {"kernels": KERNELS, "say_moved": ("", "")}):
        with pytest.raises(ValueError, match="kernels need the axes kernel and bandwidth"):
            small(**changes)
    with pytest.raises(ValueError, match=r"kernels need .* and say_moved"):
        example(say_moved=None)
    with pytest.raises(ValueError, match=r"'weights' of shape \(4,\), got \(3,\)"):
        small(points=(torch.arange(4.0), torch.arange(4.0)))
