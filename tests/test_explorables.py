"""Figures with sliders, Python's side: what is packed, refused, said and drawn."""

import base64
import io
import json
import math
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import ipywidgets
import numpy as np
import pytest
import torch
from decoding_example import record
from fontTools.ttLib import TTFont
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from stored_figures import check_shape, corners, drawn, shapes_of

from utils.explorables import Alignment, Bars, Curve, DecodingSteps, Figure, Weights, play
from utils.explorables.drawing import Bind, binds, tag, text
from utils.explorables.packing import num_bytes, pack, unpack

AWKWARD = ['"quoted"', "a'b", "</script><b>", "<!--", "😀", "שלום", "火车", "&amp;", "a\\b"]


def weights(d, valid_length):
    """Rows that differ, and a row of exact zeros at valid_length 0."""
    scores = torch.arange(21.0).reshape(3, 7) * d / 20
    kept = torch.softmax(scores[:, :valid_length], dim=-1) if valid_length else scores[:, :0]
    full = torch.zeros(3, 7)
    full[:, :valid_length] = kept
    return {
        "weights": full,
        "top": full.max(dim=-1).values,
        "best": full.argmax(dim=-1),
        "total": full.sum() / 3,
    }


def example(**changes) -> Weights:
    options = {
        "queries": ["a", "b", "c"],
        "keys": [f"k{j}" for j in range(7)],
        "name": "example",
        "alt": "Three rows of weights.",
        "say": "At d = {d} {query} takes {top[query]:2} from {best[query]|keys}, {total:0%} in all.",
        "start": {"d": 8, "valid_length": 5, "query": "b"},
    }
    return Weights(weights, {"d": [1, 2, 8], "valid_length": range(8)}, **(options | changes))


# -- packing --------------------------------------------------------------------------------------------------

FLOATS = hnp.arrays(
    st.sampled_from([np.float16, np.float32, np.float64]),
    hnp.array_shapes(max_dims=4, max_side=5),
    elements=st.floats(-60000, 60000, width=16),
)


@given(FLOATS)
def test_floats_survive_within_the_precision_of_their_record(array):
    packed = pack(array)
    back = unpack(packed)
    assert back.shape == array.shape
    if packed["step"] < 1:
        assert np.abs(back - array).max() <= (0.5 / 65535 + 1e-12 if packed["dtype"] == "u2" else 4e-7)
    else:
        np.testing.assert_array_equal(back, array.astype(np.float32))
    assert num_bytes(packed) == array.size * int(packed["dtype"][1])


@given(hnp.arrays(np.float64, 7, elements=st.floats(0, 1)))
def test_zero_is_exactly_zero_and_nothing_else_is(array):
    back = unpack(pack(array))
    visible = np.abs(array) > np.finfo(np.float32).smallest_subnormal
    np.testing.assert_array_equal((back == 0)[visible | (array == 0)], (array == 0)[visible | (array == 0)])


@given(hnp.arrays(st.sampled_from([np.bool_, np.uint8, np.int8, np.int16, np.int32]), hnp.array_shapes()))
def test_integers_survive_exactly(array):
    np.testing.assert_array_equal(unpack(pack(array)), array.astype(float))


@given(hnp.arrays(np.uint8, hnp.array_shapes()))
def test_255ths_take_a_byte_each(array):
    shares = torch.tensor(array) / 255  # in float32, as a cell rounds them
    packed = pack(shares.double().numpy())
    assert num_bytes(packed) == array.size
    np.testing.assert_allclose(unpack(packed), array / 255, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((3, 0)), r"at least one number, got shape \(3, 0\)"),
        (np.array([1.0, np.nan]), "NaN or infinite"),
        (np.array([-np.inf]), "NaN or infinite"),
        (np.array([1e300]), "must fit 32 bits"),
        (np.array([2**40]), "integers must fit 32 bits"),
        (np.array(["a"]), "only numbers"),
        (np.array([1j]), "only numbers"),
    ],
)
def test_what_cannot_be_shown_is_refused(array, message):
    with pytest.raises(ValueError, match=message):
        pack(array)


# -- the grid -------------------------------------------------------------------------------------------------


def test_every_frame_is_what_compute_returned():
    figure = example()
    for d in (1, 2, 8):
        for valid_length in range(8):
            expected = weights(d, valid_length)["weights"].numpy()
            shown = figure.array("weights", d=d, valid_length=valid_length)
            np.testing.assert_allclose(shown, expected, atol=1e-5)
            np.testing.assert_array_equal(shown == 0, expected == 0)


def test_an_array_that_does_not_change_along_an_axis_is_stored_without_it():
    figure = Weights(
        lambda d, e: {
            "weights": torch.full((2, 3), 1 / d),
            "fixed": torch.arange(5),
            "of_e": torch.tensor(e),
        },
        {"d": [1, 2], "e": [3, 5, 7]},
        queries="ab",
        keys="xyz",
        name="f",
        alt="",
        say="{of_e:0}",
        constants={"c": np.arange(11)},
    )
    over = {key: packed["over"] for key, packed in figure.spec["arrays"].items()}
    assert over == {"weights": ["d"], "fixed": [], "of_e": ["e"], "c": []}
    assert figure.sentence(e=7, d=2) == "7"
    np.testing.assert_array_equal(figure.array("c"), np.arange(11))


def test_the_sentence_looks_numbers_labels_and_shares_up():
    figure = example()
    top = weights(8, 5)["weights"][1]
    assert figure.sentence() == f"At d = 8 b takes {top.max():.2f} from k4, 100% in all."
    assert figure.sentence(d=1, valid_length=0, query=2) == "At d = 1 c takes 0.00 from k0, 0% in all."


def test_the_sentence_shows_significant_digits():
    figure = Figure(
        lambda n: {"size": 0.000064 / 10**n},
        {"n": range(7)},
        name="f",
        alt="",
        say="{size:2g} or {size:5}",
    )
    assert figure.sentence() == "0.000064 or 0.00006"
    assert figure.sentence(n=6) == "6.4e-11 or 0.00000"


def test_the_sentence_is_chosen_by_the_case():
    figure = Figure(
        lambda n: {"case": torch.tensor(n % 2)},
        {"n": [4, 7]},
        name="f",
        alt="",
        say=["{n} is even", "{n} is odd"],
    )
    assert figure.sentence() == "4 is even"
    assert figure.sentence(n=7) == "7 is odd"


def refuse(message, compute=weights, axes=None, **changes):
    options = {
        "queries": ["a", "b", "c"],
        "keys": [f"k{j}" for j in range(7)],
        "name": "example",
        "alt": "",
        "say": "",
    }
    with pytest.raises(ValueError, match=message):
        Weights(compute, axes or {"d": [1], "valid_length": [3]}, **(options | changes))


def test_what_would_not_work_is_refused_with_its_name():
    refuse(r"'weights' of shape \(2, 7\), got \(3, 7\)", queries="ab")
    refuse("name must be lower-case", name="Big name")
    refuse("axis 'd' needs different values, at least one, got \\[\\]", axes={"d": [], "valid_length": [1]})
    refuse("axis 'd' needs different values", axes={"d": [1, 1], "valid_length": [1]})
    refuse("axis 'd-e' must be a Python name", axes={"d-e": [1]})
    refuse("'query' is the name of an axis and of a pick", axes={"query": [1]})
    refuse("start must name axes and picks, got 'e'", start={"e": 1})
    refuse("d has no value 3; it has \\[1\\]", start={"d": 3})
    refuse("query has no value 'z'", start={"query": "z"})
    refuse("query has no value 5", start={"query": 5})
    refuse("play must name an axis first, got 'e'", play="e")
    refuse("play must name an axis first, got 'query'", play="query")
    refuse("play must name axes and picks, got 'e'", play=("d", "e"))
    refuse("the sentence names 'e'", say="{e}")
    refuse("pick 'query' needs labels", queries=[])
    refuse("'top' names two things", constants={"top": np.zeros(2)})
    refuse("array 'weights': NaN", compute=lambda d, valid_length: {"weights": torch.full((3, 7), math.nan)})
    growing = iter(range(2, 9))
    refuse(
        "shapes must not change",
        compute=lambda d: {"weights": torch.zeros(3, next(growing))},
        axes={"d": [1, 2]},
    )
    refuse(
        "at most 200000 bytes to a page",
        compute=lambda d: {"weights": torch.rand(3, 7) * 2, "more": torch.rand(211, 17) * d},
        axes={"d": list(range(1, 101))},
    )


# -- the two outputs ------------------------------------------------------------------------------------------


def svg_of(figure: Figure) -> ET.Element:
    return ET.fromstring(figure.draw())


def all_kinds() -> list[Figure]:
    share = {"name": "f", "alt": "What is seen.", "say": "{step}"}
    steps = {"step": [0, 1, 5]}
    return [
        example(),
        Bars(
            lambda step: {"p": torch.eye(5)[step % 5]},
            steps,
            panels={"p": "one"},
            bars=list("abcde"),
            **share,
        ),
        Bars(
            lambda step: {
                "p": torch.eye(5)[step % 5],
                "q": torch.zeros(5),
                "q_known": torch.tensor(step > 0),
            },
            steps,
            panels={"p": "one", "q": "two"},
            bars=list("abcde"),
            unknown="nothing here",
            **share,
        ),
        Bars(
            lambda length: {"p": torch.eye(3)[length]},
            {"length": range(3)},
            panels={"p": "one"},
            bars=list("abc"),
            edge="length",
            name="f",
            alt="What is seen.",
            say="{length}",
            start={"length": 2},
        ),
        Curve(
            lambda step: {
                "estimate": torch.arange(5.0),
                "weights": torch.ones(3) / 3,
                "height": torch.tensor(0.5),
            },
            steps,
            query="step",
            points=(torch.tensor([0.0, 2.0, 5.0]), torch.tensor([1.0, 2.0, 3.0])),
            grid=torch.tensor([0.0, 1.0, 2.0, 3.0, 5.0]),
            truth=torch.tensor([1.0, 1.0, 1.0, 1.0, 2.0]),
            **share,
        ),
        Curve(
            lambda step: {
                "estimate": torch.arange(5.0),
                "estimate_known": torch.tensor([True, False, True, False, step > 0]),
                "weights": torch.zeros(3),
                "height": torch.tensor(0.0),
                "height_known": torch.tensor(step > 0),
            },
            steps,
            query="step",
            points=(torch.tensor([0.0, 2.0, 5.0]), torch.tensor([1.0, 2.0, 3.0])),
            grid=torch.tensor([0.0, 1.0, 2.0, 3.0, 5.0]),
            truth=torch.tensor([1.0, 1.0, 1.0, 1.0, 2.0]),
            x_label="hour",
            y_label="level (m)",
            **share,
        ),
        Alignment(
            lambda step, gold_links: {"weights": torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.7, 0.2]])},
            steps | {"gold_links": ["hidden", "shown"]},
            source=["红", "车", "."],
            target=["red", "car"],
            gold=[(0, 0), (1, 1)],
            start={"word": "car"},
            **share,
        ),
        DecodingSteps(record(), name="f", alt="What is seen.", start={"word": "voiture", "stage": "average"}),
    ]


@pytest.mark.parametrize("figure", all_kinds(), ids=lambda figure: figure.kind)
def test_the_opening_picture_shows_every_number(figure):
    """Each binding, evaluated by hand, gives the attribute that stands there, and each shape has all its numbers."""
    svg = svg_of(figure)
    shapes = shapes_of(svg)
    for said, paths in shapes:
        check_shape(figure, said, paths, figure.point)
    assert shapes
    for node in svg.iter():
        for bind in filter(None, node.get("data-bind", "").split(";")):
            attribute = bind.split(" ")[0]
            value = drawn(figure, bind, figure.point)
            if attribute == "visibility":
                assert node.get("visibility") == ("visible" if value else "hidden")
            elif attribute == "text":
                assert node.text == value
            else:
                assert float(node.get(attribute)) == pytest.approx(value, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("figure", all_kinds(), ids=lambda figure: figure.kind)
def test_the_page_gets_a_still_picture_the_sentence_and_strict_json(figure):
    html = figure._repr_html_()
    assert f'alt="{figure.alt}"' in html
    assert f"<p>{figure.sentence()}</p>" in html
    store = json.loads(html.split('<script type="application/json">')[1].split("</script>")[0])
    assert store["state"] == figure.point
    assert html == figure._repr_html_()


def test_awkward_labels_are_text_everywhere():
    figure = Weights(
        lambda d: {"weights": torch.zeros(len(AWKWARD), 2)}, {"d": [1, 2]}, queries=AWKWARD, keys=["x", "</svg>"],
        name="awkward", alt='"</figure>"', say="{query}",
    )  # fmt: skip
    html = figure._repr_html_()
    assert html.count("</script>") == 1
    assert html.count("</figure>") == 1
    store = json.loads(html.split('<script type="application/json">')[1].split("</script>")[0])
    assert store["spec"]["labels"]["queries"] == AWKWARD
    shown = {node.text for node in svg_of(figure).iter() if node.tag.endswith("text")}
    assert set(AWKWARD) <= shown


def test_static_outputs_are_the_same_in_every_process(monkeypatch):
    program = (
        "import sys, torch; from utils.explorables import Weights;"
        "f = Weights(lambda d: {'weights': torch.ones(2, 3) / d}, {'d': [3, 5]}, queries='ab', keys='xyz',"
        "name='f', alt='', say='{d}'); sys.stdout.write(f._repr_html_())"
    )
    here = io.StringIO()
    monkeypatch.setattr(sys, "stdout", here)
    exec(program, {})
    elsewhere = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONHASHSEED": "12345"},  # sets have another order there
        capture_output=True,
        check=True,
        text=True,
    )
    assert elsewhere.stdout == here.getvalue() != ""


def test_the_mode_says_what_a_notebook_stores(monkeypatch):
    figure = example()
    monkeypatch.setenv("ATTENTION_FIGURES", "static")
    static = figure._repr_mimebundle_()
    assert set(static) == {"text/plain", "text/html"}
    monkeypatch.setenv("ATTENTION_FIGURES", "live")
    live = figure._repr_mimebundle_()
    assert live.keys() == static.keys() | {"application/vnd.jupyter.widget-view+json"}
    assert {key: live[key] for key in static} == static
    monkeypatch.setattr("utils.explorables.live.find_spec", lambda name: None)
    assert figure._repr_mimebundle_()["text/html"].endswith("</script>")


def test_what_is_not_known_is_not_drawn():
    _, _, bars, _, _, curve, *_ = all_kinds()
    shown = {node.get("visibility") for node in svg_of(bars).iter() if node.get("visibility")}
    words = [node for node in svg_of(bars).iter() if node.text == "nothing here"]
    assert shown == {"hidden", "visible"}
    assert [node.get("visibility") for node in words] == ["visible"]
    lines = svg_of(curve).findall(".//{*}polyline[@class='line']")
    # A point alone is drawn as a line of no length; the third stretch is there for another frame.
    assert [len(corners(line.attrib)) for line in lines] == [2, 2, 0]
    dot = next(node for node in svg_of(curve).iter() if "height_known" in node.get("data-bind", ""))
    assert dot.get("visibility") == "hidden"
    with pytest.raises(ValueError, match=r"'p_known' of shape \(\)"):
        Bars(
            lambda step: {"p": torch.zeros(2), "p_known": torch.zeros(2)},
            {"step": [0]},
            panels={"p": "one"},
            bars="ab",
            name="f",
            alt="",
            say="",
        )


# -- live -----------------------------------------------------------------------------------------------------


def test_each_axis_is_a_trait_that_takes_what_the_grid_has():
    import ipywidgets
    import traitlets

    widget = example().widget
    assert isinstance(widget, ipywidgets.DOMWidget)
    assert (widget.d, widget.valid_length, widget.query) == (8, 5, 1)
    seen = []
    widget.observe(lambda change: seen.append(change["new"]), "valid_length")
    slider = ipywidgets.IntSlider(value=5, min=0, max=7)
    ipywidgets.link((slider, "value"), (widget, "valid_length"))
    slider.value = 3
    assert widget.valid_length == 3
    widget.valid_length = 6
    assert slider.value == 6
    assert seen == [3, 6]
    widget.query = "c"
    assert widget.query == 2
    with pytest.raises(traitlets.TraitError, match="valid_length has no value 8"):
        widget.valid_length = 8


def test_an_axis_and_another_control_are_linked_both_ways():
    figure = Bars(
        lambda d, n: {"w": torch.eye(3)[n]},
        {"d": [1, 2.5], "n": range(3)},
        panels={"w": "weights"},
        bars=["a", "b", "c"],
        name="f",
        alt="Three bars.",
        say="{n}",
    )
    handle = ipywidgets.IntSlider(max=2)
    ipywidgets.link((figure.widget, "n"), (handle, "value"))
    handle.value = 2
    assert figure.widget.n == 2
    figure.widget.n = 1
    assert handle.value == 1
    seen = []
    figure.widget.observe(lambda change: seen.append(change.new), names="d")
    figure.widget.d = 2.5
    assert seen == [2.5]


def test_an_axis_that_hides_a_widgets_own_attribute_is_refused():
    figure = Figure(lambda layout: {"a": 1.0}, {"layout": [1, 2]}, name="f", alt="", say="{layout}")
    figure.draw = lambda: tag("svg")
    with pytest.raises(ValueError, match="already: \\['layout'\\]"):
        _ = figure.widget


def test_play_runs_the_function_again_at_each_move():
    calls = []
    box = play(lambda d, kernel: calls.append((d, kernel)), d=[1, 2, 8], kernel=["boxcar", "triangular"])
    box.update()
    box.children[0].value = 8
    box.children[1].value = "triangular"
    assert calls[-2:] == [(8, "boxcar"), (8, "triangular")]
    with pytest.raises(ValueError, match="takes no argument 'e', only \\['d'\\]"):
        play(lambda d: d, e=[1])
    with pytest.raises(ValueError, match="axis 'd' needs at least one value"):
        play(lambda d: d, d=[])


# -- kinds and drawing ----------------------------------------------------------------------------------------


def test_kinds_refuse_what_they_cannot_draw():
    share, two = {"name": "f", "alt": "", "say": ""}, torch.tensor([0.0, 1.0])
    with pytest.raises(ValueError, match="query must name an axis, got 'q'"):
        Curve(lambda d: {}, {"d": [1]}, query="q", points=(two, two), grid=two, truth=two, **share)
    with pytest.raises(ValueError, match="x and y of points must have the same shape"):
        Curve(lambda d: {}, {"d": [1]}, query="d", points=(two[:1], two), grid=two, truth=two, **share)
    for edge in ("d", "length"):
        with pytest.raises(ValueError, match=f"edge must name an axis .* got '{edge}'"):
            Bars(lambda d: {}, {"d": [1, 2]}, panels={}, bars="ab", edge=edge, **share)
    with pytest.raises(ValueError, match='axis "gold_links"'):
        Alignment(lambda d: {}, {"d": [1]}, source="ab", target="xy", gold=[(0, 0)], **share)
    axes = {"gold_links": ["hidden", "shown"]}
    with pytest.raises(ValueError, match=r"\(2, 0\) does not fit 2 target and 3 source"):
        Alignment(lambda gold_links: {}, axes, source="abc", target="xy", gold=[(2, 0)], **share)
    with pytest.raises(NotImplementedError):
        Figure(lambda d: {"a": 1.0}, {"d": [1]}, **share).draw()


def aligned(source, target, weights):
    return Alignment(
        lambda step: {"weights": torch.as_tensor(weights(step))},
        {"step": [0, 1]},
        source=source,
        target=target,
        name="f",
        alt="",
        say="",
    )


def test_an_alignment_is_as_narrow_for_long_sentences_as_for_short_ones():
    widths, heights = set(), []
    for length in (3, 20):
        words = ["restaurant", *"abcdefghijklmnopqrst"][:length]
        svg = svg_of(aligned(words, words[::-1], lambda step, n=length: torch.eye(n) * step))
        _, _, width, height = map(float, svg.get("viewBox").split())
        widths.add(width)
        heights.append(height)
        assert all(0 <= float(node.get("y", 0)) <= height for node in svg.iter())
    assert max(widths) == min(widths) <= 340
    assert heights[1] == pytest.approx(heights[0] * 20 / 3)


def test_bars_stand_over_their_labels_and_reach_the_line_of_their_number():
    weights, bars = (
        kind(
            lambda step, key=key, shape=shape: {key: torch.tensor([1.0, 0.5, 0.0]).expand(shape)},
            {"step": [0]}, **labels, name="f", alt="", say="",
        )
        for kind, key, shape, labels in (
            (Weights, "weights", (1, 3), {"queries": "q", "keys": "xyz"}),
            (Bars, "p", (3,), {"panels": {"p": "one"}, "bars": "xyz"}),
        )
    )  # fmt: skip
    for figure in (weights, bars):
        svg = svg_of(figure)
        zero, half, one = (float(line.get("y1")) for line in svg.findall("{*}line[@class='grid']"))
        (polygon,) = svg.findall(".//{*}polygon[@class='bar']")
        drawn_bars = corners(polygon.attrib).reshape(3, 4, 2)
        assert drawn_bars[..., 1].tolist() == [[zero, y, y, zero] for y in (one, half, zero)]
        labels = [float(node.get("x")) for node in svg.iter() if node.text and node.text in "xyz"]
        assert drawn_bars[..., 0].mean(axis=1) == pytest.approx(labels)


@pytest.mark.parametrize(
    ("bars", "lines"), [("xyz", 1), (["a", "flowers", "."], 1), (["a", "yesterday", "."], 2)]
)
def test_long_labels_of_bars_stand_on_two_lines(bars, lines):
    figure = Bars(
        lambda step: {"p": torch.tensor([1.0, 0.5, 0.0])},
        {"step": [0]}, panels={"p": "one"}, bars=bars, name="f", alt="", say="",
    )  # fmt: skip
    svg = svg_of(figure)
    heights = [float(node.get("y")) for node in svg.iter() if node.text in list(bars)]
    assert len(heights) == 3
    assert len(set(heights)) == lines
    assert max(heights) < float(svg.get("viewBox").split()[3])


def test_a_curve_runs_through_the_points_that_it_estimates_exactly():
    x, y = torch.tensor([0.0, 1.0, 3.0]), torch.tensor([2.0, -1.0, 0.5])
    figure = Curve(
        lambda query: {"estimate": y, "weights": torch.tensor([1.0, 0.5, 0.0]), "height": y[1]},
        {"query": [0, 1, 2, 3]}, query="query", points=(x, y), grid=x, truth=y, start={"query": 1},
        name="f", alt="", say="",
    )  # fmt: skip
    svg = svg_of(figure)
    points = [[float(circle.get(at)) for at in ("cx", "cy")] for circle in svg.findall("{*}circle")]
    truth, estimate = (corners(line.attrib) for line in svg.findall(".//{*}polyline"))
    assert truth == pytest.approx(np.array(points), abs=0.02)
    assert estimate == pytest.approx(np.array([points[0], *points]), abs=0.02)
    (dot,) = svg.findall(".//{*}line[@class='dot']")
    assert [float(dot.get(at)) for at in ("x1", "y1")] == pytest.approx(points[1], abs=0.02)
    bars = corners(svg.find("{*}polygon[@class='bar']").attrib).reshape(3, 4, 2)
    assert bars[..., 0].mean(axis=1) == pytest.approx([across for across, _ in points], abs=0.02)
    zero, half, one = (float(line.get("y1")) for line in svg.findall("{*}line[@class='grid']")[:3])
    assert bars[:, 1, 1].tolist() == [one, half, zero]


def test_an_alignments_bands_are_as_broad_as_its_weights():
    figure = aligned("ab", "xy", lambda step: [[0.25, 0.75], [1.0, 0.0]])
    svg = svg_of(figure)

    def bands(class_: str) -> np.ndarray:
        node, *_ = svg.findall(f"{{*}}polygon[@class='{class_}']")
        return corners(node.attrib).reshape(-1, 4, 2)

    every, chosen = bands("trace"), bands("link")
    left, right = every[0, 0, 0], every[0, 1, 0]
    slant = math.hypot(1, 25 / (right - left))  # rows are 25 apart; a slanted band is as thick as a level one
    # From a to x, from b to x and from a to y; the weight from b to y is 0 and has no band.
    breadths = every[:, 3, 1] - every[:, 0, 1]
    assert breadths == pytest.approx([5 * 0.25, 5 * 0.75 * slant, 5 * slant], abs=0.02)
    assert chosen[:, 3, 1] - chosen[:, 0, 1] == pytest.approx([5 * 0.25, 5 * 0.75 * slant], abs=0.02)
    assert chosen[:, [1, 2], 1].mean(axis=1) == pytest.approx([12.5, 12.5])  # both end at x
    _, shares = svg.findall("{*}polygon[@class='link']")
    assert corners(shares.attrib).tolist() == [
        [1, 2.5], [10.5, 2.5], [10.5, 22.5], [1, 22.5],
        [1, 27.5], [29.5, 27.5], [29.5, 47.5], [1, 47.5],
    ]  # fmt: skip


def test_a_cell_has_the_shade_of_its_number_and_a_dashed_edge_for_exactly_0():
    weights = [1.0, 0.25, 0.07, 0.08, 1e-7, 0.0]
    figure = Weights(
        lambda d: {"weights": torch.tensor([weights])}, {"d": [1]}, queries=["q"], keys="abcdef",
        name="f", alt="One row.", say="{query}",
    )  # fmt: skip
    (_, (*shades, edges)), _ = shapes_of(svg_of(figure))
    dark = [float(shade["fill-opacity"]) for shade in shades if shade["points"]]
    assert dark == pytest.approx([0.0625, 0.085, 0.25, 1], abs=0.006)
    # The square of 1: its four corners, the first again, and both ends of the thread that it hangs on.
    assert len(corners(shades[-1])) == 7
    assert len(corners(edges)) == 5 * 13  # full edges, all but that of 0, whose dashes are seen
    (dashes,) = svg_of(figure).findall(".//{*}g[@class='edges']/{*}path")
    assert dashes.get("d").count("M") == 6


def test_markup_is_escaped_and_bindings_are_written_out():
    assert text("<b>", x=1) == '<text x="1">&lt;b&gt;</text>'
    assert tag("g", class_='a"b') == "<g class='a\"b'/>"
    assert tag("rect", x=0.1 + 0.2, y=None) == '<rect x="0.3"/>'
    bind = Bind("y", "weights", 3, pick="query", stride=7, scale=-5.0, offset=11.0)
    assert binds(bind, Bind("text", "p")) == "y weights 3 query 7 -5 11 3;text p 0 - 0 1 0 3"


def test_a_still_picture_brings_the_chinese_characters_that_it_shows():
    plain, chinese = (
        Weights(
            lambda d: {"weights": torch.eye(2)},
            {"d": [1]},
            queries=words,
            keys=["x", "y"],
            name="f",
            alt="Two rows.",
            say="{query}",
        )
        for words in (["a", "b"], ["红车", "。"])
    )
    assert "@font-face" not in plain.draw()
    (data,) = re.findall(r"base64,([A-Za-z0-9+/=]+)", chinese.draw())
    font = TTFont(io.BytesIO(base64.b64decode(data)))
    assert {chr(code) for code in font.getBestCmap()} == set("红车。")
    assert chinese.draw() == chinese.draw()
    assert len(data) < 8_000
