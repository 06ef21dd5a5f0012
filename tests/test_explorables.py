"""Figures with sliders, Python's side: what is packed, refused and said, and what a page or a notebook gets.

What each kind draws is tested in a file of its own, `test_kind_NAME`.
"""

import base64
import io
import json
import math
import os
import re
import subprocess
import sys
from decimal import ROUND_HALF_UP, Decimal
from html import escape

import ipywidgets
import numpy as np
import pytest
import torch
from example_figures import AWKWARD, awkward, examples
from fontTools.ttLib import TTFont
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pictures import picture

from utils.explorables import Bars, Figure, Weights, play
from utils.explorables.packing import num_bytes, pack, stored_numbers, unpack
from utils.explorables.still import Stage


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


def saying(compute, axes: dict, say: str | list[str], **options) -> Bars:
    """A figure of which only the sentence matters."""
    return Bars(
        lambda **point: {"p": np.ones(2), **compute(**point)}, axes, panels={"p": ""}, bars="xy",
        name="f", alt="", say=say, **options,
    )  # fmt: skip


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


def test_the_stored_numbers_are_those_of_the_record():
    packed = pack(np.array([[0.0, 1.0], [0.2, 0.4]]))
    np.testing.assert_allclose(np.array(stored_numbers(packed)) * packed["step"], [0, 1, 0.2, 0.4])
    assert stored_numbers(pack(np.array([-3, 70000]))) == [-3, 70000]


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
    )
    over = {key: packed["over"] for key, packed in figure.spec["arrays"].items()}
    assert over == {"weights": ["d"], "fixed": [], "of_e": ["e"]}
    assert figure.sentence(e=7, d=2) == "7"
    np.testing.assert_array_equal(figure.array("fixed"), np.arange(5))


def test_the_sentence_looks_numbers_labels_and_shares_up():
    figure = example()
    top = weights(8, 5)["weights"][1]
    assert figure.sentence() == f"At d = 8 b takes {top.max():.2f} from k4, 100% in all."
    assert figure.sentence(d=1, valid_length=0, query=2) == "At d = 1 c takes 0.00 from k0, 0% in all."


def test_the_sentence_shows_significant_digits():
    figure = saying(lambda n: {"size": 0.000064 / 10**n}, {"n": range(7)}, "{size:2g} or {size:5}")
    assert figure.sentence() == "0.000064 or 0.00006"
    assert figure.sentence(n=6) == "6.4e-11 or 0.00000"


def test_the_sentence_is_chosen_by_the_case():
    figure = saying(lambda n: {"case": torch.tensor(n % 2)}, {"n": [4, 7]}, ["{n} is even", "{n} is odd"])
    assert figure.sentence() == "4 is even"
    assert figure.sentence(n=7) == "7 is odd"


def test_labels_of_axes_have_six_digits_and_keep_their_words():
    figure = saying(lambda d, e: {}, {"d": [1, 2.5, 1 / 3, 1e-7, 64], "e": ["−∞", "x"]}, "{d} {e}")
    assert [figure.sentence(d=d) for d in figure.axes["d"]] == [
        *("1 −∞", "2.5 −∞", "0.333333 −∞", "1e-07 −∞", "64 −∞"),
    ]
    measured = saying(lambda d: {}, {"d": [1, 2.5]}, "{d}", labels={"d": ["1 h", "2.5 h"]})
    assert [measured.sentence(d=d) for d in (1, 2.5)] == ["1 h", "2.5 h"]


#: Numbers that two ways of rounding write differently, and some of both signs at random.
HALVES = [0.5, 1.5, 2.5, -0.5, 0.25, 0.125, -0.125, 0.0625, 1e-9, -1e-9, -0.0, 12345.5, 1e12]
HALVES += (torch.randn(40, generator=torch.Generator().manual_seed(1)) * 30).tolist()


def test_numbers_in_sentences_are_rounded_as_by_hand():
    """A half is rounded away from 0, as at school; what is nearly 0 may have a sign, as in Python."""
    figure = saying(lambda n: {"x": HALVES[n]}, {"n": range(len(HALVES))}, "{x:0} {x:1} {x:2} {x:1%}")
    for n, number in enumerate(HALVES):
        kept = Decimal(float(np.float32(number)))
        shown = figure.sentence(n=n).split()
        for said, exact, digits in zip(shown, (kept, kept, kept, 100 * kept), (0, 1, 2, 1), strict=True):
            by_hand = exact.quantize(Decimal(10) ** -digits, ROUND_HALF_UP)
            assert Decimal(said.rstrip("%").replace("−", "-")) == pytest.approx(
                by_hand, abs=Decimal("1e-12")
            ), (number, digits)


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
    refuse("no axis may have the name 'points'", axes={"points": [1]})
    refuse("no axis may have the name 'spec'", axes={"spec": ["a", "b"]})
    refuse("no axis may have the name 'column'", axes={"column": [1, 2]})
    refuse("symbols must be of the roles query, .*, got 'wieght'", symbols={"wieght": "a"})
    refuse(
        r"case must be from 0 to 0, got \[1.0\]",
        compute=lambda **at: weights(**at) | {"case": torch.tensor(1)},
    )
    refuse("the sentence reads 'weights' by 'word'", say="{weights[word]}")
    refuse("the sentence reads 'weights' by 'words'", say="{weights|words}")
    refuse(
        "'written' must be numbers of the labels 'written', from 0 to 1",
        compute=lambda **at: weights(**at) | {"written": torch.tensor([0, 1, -1])},
        labels={"written": ["x", "y"]},
    )
    refuse("gallery must name one or two axes that forbid no keys", edge="d", gallery=["d"])
    three = {name: name for name in "abc"}
    refuse("of more than two maps only a row is drawn", panels=three, labels={"written": ["x"]})
    refuse("of more than two maps only a row is drawn", panels=three, causal=("d", 1))
    refuse("'query' is the name of an axis and of a pick", axes={"query": [1]})
    refuse("start must name axes and picks, got 'e'", start={"e": 1})
    refuse("d has no value 3; it has \\[1\\]", start={"d": 3})
    refuse("query has no value 'z'", start={"query": "z"})
    refuse("query has no value 5", start={"query": 5})
    refuse("play must name axes and picks, got 'e'", play="e")
    refuse("axis 'd' has 1 values and 2 labels", labels={"d": ["1 h", "2 h"]})
    refuse("play must name axes and picks, got 'e'", play=("d", "e"))
    refuse("the sentence names 'e'", say="{e}")
    refuse("pick 'query' needs labels", queries=[])
    refuse("'query' names two things", compute=lambda **at: weights(**at) | {"query": torch.zeros(2)})
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


def test_a_kind_without_a_drawing_is_refused():
    class Pie(Figure):
        kind = "pie"

    for kind in (Pie, Figure):
        with pytest.raises(ValueError, match=f"no script draws the kind '{kind.kind}'"):
            kind(lambda d: {"a": 1.0}, {"d": [1]}, name="f", alt="", say="{d}")


# -- the two outputs ------------------------------------------------------------------------------------------


EXAMPLES = examples()
every_example = pytest.mark.parametrize("name", EXAMPLES)


def store_of(html: str) -> dict:
    (written,) = re.findall(r'<script type="application/json">(.*?)</script>', html)
    return json.loads(written, parse_constant=pytest.fail)  # NaN and Infinity are no JSON


@every_example
def test_the_page_gets_a_still_picture_the_sentence_and_strict_json(name: str):
    figure = EXAMPLES[name]
    html = figure._repr_html_()
    assert f'alt="{escape(figure.alt)}"' in html
    assert f"<p>{escape(figure.sentence())}</p>" in html
    (still,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', html)
    assert base64.b64decode(still).decode() == figure.draw()
    store = store_of(html)
    assert store["state"] == figure.point
    assert store["spec"] == {key: value for key, value in plain(figure.spec).items() if key != "alt"}
    assert html == figure._repr_html_()


def plain(value: object) -> object:
    """What JSON makes of it: lists for tuples."""
    return json.loads(json.dumps(value))


def test_awkward_labels_are_text_everywhere():
    figure = awkward()
    html = figure._repr_html_()
    assert html.count("</script>") == 1
    assert html.count("</figure>") == 1
    store = store_of(html)
    assert store["spec"]["labels"] == {"queries": AWKWARD, "keys": ["x", "</svg>"]}
    assert set(AWKWARD) | {"</svg>"} <= set(picture(figure).texts())
    for at, label in enumerate(AWKWARD):
        assert figure.sentence(query=at) == label


@every_example
def test_a_stage_shows_what_the_figure_says(name: str):
    """The script, in V8, has the numbers and the sentence of any state, and draws only what depends on it."""
    figure = EXAMPLES[name]
    far = {axis: values[-1] for axis, values in figure.axes.items()}
    far |= {pick: len(figure.labels[labels]) - 1 for pick, labels in figure.picks.items()}
    stage = Stage(figure.spec)
    place = {key: figure.axes[key].index(far[key]) if key in figure.axes else far[key] for key in far}
    assert stage.sentence({"place": place}) == figure.sentence(**far)
    assert stage.picture({"place": place}, 500) == figure.draw(500, **far)
    assert figure.draw(500, **far) != figure.draw(500)
    for key in figure.spec["arrays"]:
        np.testing.assert_allclose(stage.numbers({"place": place}, key), figure.array(key, **far).reshape(-1))
    assert figure.draw() == figure.draw()


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
    figure = saying(lambda layout: {}, {"layout": [1, 2]}, "{layout}")
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
        for words in (["a", "b"], ["红车", "花。"])
    )
    assert "@font-face" not in plain.draw()
    (data,) = re.findall(r"base64,([A-Za-z0-9+/=]+)", chinese.draw())
    font = TTFont(io.BytesIO(base64.b64decode(data)))
    assert {chr(code) for code in font.getBestCmap()} == set("红车花。")
    assert chinese.draw() == chinese.draw()
    assert len(data) < 8_000
