"""Figures with sliders, Python's side: what is packed, refused and said, and what a page or a notebook gets.

What each kind draws is tested in a file of its own in `kinds`.
"""

import base64
import copy
import io
import json
import math
import re
from decimal import ROUND_HALF_UP, Decimal
from html import escape

import ipywidgets
import numpy as np
import pytest
import torch
from example_figures import examples
from fontTools.ttLib import TTFont

from utils.figures import Bars, Weights
from utils.figures.packing import pack
from utils.figures.still import Stage


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
        lambda **point: {"p": np.ones(2), **compute(**point)},
        axes,
        **{"panels": {"p": ""}, "bars": "xy", "name": "f", "alt": "", "say": say} | options,
    )


# -- packing --------------------------------------------------------------------------------------------------


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


def test_the_sentence_has_numbers_labels_and_shares():
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


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        (r"'weights' of shape \(2, 7\), got \(3, 7\)", {"queries": "ab"}),
        ("name must be lower-case", {"name": "Big name"}),
        (
            r"axis 'd' needs different values, at least one, got \[\]",
            {"axes": {"d": [], "valid_length": [1]}},
        ),
        ("no axis may have the name 'points'", {"axes": {"points": [1]}}),
        ("'query' is the name of an axis and of a pick", {"axes": {"query": [1]}}),
        ("the sentence names 'word'", {"say": "{weights[word]}"}),
        ("the sentence names 'words'", {"say": "{best[query]|words}"}),
        ("the sentence names 'e'", {"say": "{e}"}),
        ("start must name axes and picks, got 'e'", {"start": {"e": 1}}),
        (r"d has no value 3; it has \[1\]", {"start": {"d": 3}}),
        ("play must name axes and picks, got 'e'", {"play": ("d", "e")}),
        ("axis 'd' has 1 values and 2 labels", {"labels": {"d": ["1 h", "2 h"]}}),
        ("array 'weights': NaN", {"compute": lambda **at: {"weights": torch.full((3, 7), math.nan)}}),
        (
            "'weights' must be numbers from 0 to 1, got 1.5",
            {"compute": lambda **at: {"weights": torch.eye(3, 7) * 1.5}},
        ),
        (
            "'best' must be numbers of the labels 'keys', from 0 to 6, got 7",
            {"compute": lambda **at: weights(**at) | {"best": 7}, "say": "{d} {best:0|keys}"},
        ),
        ("case must be from 0 to 0", {"compute": lambda **at: weights(**at) | {"case": torch.tensor(1)}}),
        (
            "'written' must be numbers of the labels 'written', from 0 to 1",
            {
                "compute": lambda **at: weights(**at) | {"written": torch.tensor([0, 1, -1])},
                "labels": {"written": ["x", "y"]},
            },
        ),
        (
            "shapes must not change",
            {"compute": lambda d: {"weights": torch.zeros(3, 6 + d)}, "axes": {"d": [1, 2]}},
        ),
        (
            "at most 200000 bytes to a page",
            {
                "compute": lambda d: {"weights": torch.rand(3, 7), "more": torch.rand(211, 17) * d},
                "axes": {"d": range(1, 101)},
            },
        ),
    ],
)
def test_what_would_not_work_is_refused(message, changes):
    options = {
        "compute": weights, "axes": {"d": [1], "valid_length": [3]}, "queries": ["a", "b", "c"],
        "keys": [f"k{j}" for j in range(7)], "name": "example", "alt": "", "say": "",
    } | changes  # fmt: skip
    with pytest.raises(ValueError, match=message):
        Weights(options.pop("compute"), options.pop("axes"), **options)


def test_a_fraction_may_differ_from_its_axis_by_a_rounding_error():
    tenths, exact = [0, *np.arange(0.1, 0.5, 0.1)], 0.1 + 0.2  # which is not 0.3
    figure = saying(lambda t: {"twice": 2 * t}, {"t": tenths}, "{t} {twice:1}", start={"t": 0.3})
    assert exact != 0.3
    assert exact in tenths
    for value in (0.3, exact, torch.tensor(0.3), np.float32(0.3)):
        assert figure.sentence(t=value) == "0.3 0.6"
        assert figure.array("twice", t=value) == pytest.approx(0.6)
    assert figure.sentence(t=0.1 + 0.2 - 0.3) == "0 0.0"
    for value in (0.3001, 0.25, "0.3", math.nan):
        with pytest.raises(ValueError, match="t has no value"):
            figure.sentence(t=value)
    near = saying(lambda t: {"t1": t}, {"t": [0.3, exact]}, "{t1:1}")  # two values: each is itself
    assert [near.on_grid("t", value) for value in (0.3, exact)] == [0.3, exact]


# -- the two outputs ------------------------------------------------------------------------------------------


EXAMPLES = examples()
every_example = pytest.mark.parametrize("name", EXAMPLES)


def store_of(html: str) -> dict:
    (written,) = re.findall(r'<script type="application/json">(.*?)</script>', html)
    return json.loads(written, parse_constant=pytest.fail)  # NaN and Infinity are no JSON


#: By example, the arrays whose numbers are drawn as parts of 1.
SHARES = {
    "heat": {"weights"},
    "maps": {"plain", "scaled", "largest"},
    "lost": {"weights", "kept"},
    "heads": {"weights", "gold", "share"},
    "cells": {"weights", "share"},
    "bars": {"p", "q"},
    "cache": set(),
    "curve": {"weights", "estimate_known", "height_known"},
    "align": {"weights"},
    "decoding": {"weights", "probabilities"},
    "plane": set(),
    "lines": {"up_known", "down_known"},
    "translations": set(),
    "arrows": set(),
    "pieces": {"begins", "fresh"},
    "layers": {"weights"},
    "listening": {"weights", "top", "near"},
    "ranking": {"scores"},
    "tree": {"share"},
    "picture": {"weights", "gold", "image"},
}


@every_example
def test_what_is_not_from_0_to_1_is_refused(name: str):
    figure = EXAMPLES[name]
    assert figure.shares() & figure.spec["arrays"].keys() == SHARES[name]
    for key in SHARES[name]:
        for number in (1.5, -0.5):
            changed, numbers = copy.copy(figure), figure.frames(key)
            numbers.flat[-1] = number
            changed._packed = figure._packed | {key: figure._packed[key] | pack(numbers)}
            with pytest.raises(ValueError, match=f"'{key}' must be numbers from 0 to 1, got {number}"):
                changed._check_arrays()


def test_a_sum_of_weights_may_be_1_and_a_rounding_error():
    figure = saying(lambda n: {"p": np.array([1 + 1e-6, -1e-6])}, {"n": [1]}, "")
    assert figure.array("p") == pytest.approx([1, 0], abs=2e-6)


@every_example
def test_the_page_gets_picture_sentence_and_strict_json(name: str):
    figure = EXAMPLES[name]
    html = figure._repr_html_()
    assert f'alt="{escape(figure.alt)}"' in html
    assert f"<p>{escape(figure.sentence())}</p>" in html
    (still,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', html)
    assert base64.b64decode(still).decode() == figure.draw()
    spec = json.loads(json.dumps(figure.spec)) | {"alt": figure.alt}  # as JSON has it, with lists for tuples
    store = store_of(html)
    assert store["state"] == figure.point
    assert store["spec"] | {"alt": figure.alt} == {key: part for key, part in spec.items() if key != "sound"}
    sounds = [part for key, part in spec.items() if key == "sound"]
    assert re.findall(r'<audio [^>]* src="([^"]*)">', html) == sounds
    assert html == figure._repr_html_()


@every_example
def test_the_script_has_the_numbers_of_python(name: str):
    figure = EXAMPLES[name]
    far = {axis: values[-1] for axis, values in figure.axes.items()}
    place = {axis: len(values) - 1 for axis, values in figure.axes.items()} | dict.fromkeys(figure.picks, 0)
    for key in figure.spec["arrays"]:
        shown = Stage(figure.spec).numbers({"place": place}, key)
        np.testing.assert_allclose(shown, figure.array(key, **far).reshape(-1))


def test_the_mode_says_what_a_notebook_stores(monkeypatch):
    figure = example()
    monkeypatch.setenv("ATTENTION_FIGURES", "static")
    static = figure._repr_mimebundle_()
    assert set(static) == {"text/plain", "text/html"}
    monkeypatch.setenv("ATTENTION_FIGURES", "live")
    live = figure._repr_mimebundle_()
    assert live.keys() == static.keys() | {"application/vnd.jupyter.widget-view+json"}
    assert {key: live[key] for key in static} == static


# -- live -----------------------------------------------------------------------------------------------------


def test_each_axis_is_a_trait_of_the_widget():
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


def test_a_slider_of_fractions_moves_the_widget():
    widget = saying(lambda t: {}, {"t": [0.1, 0.2, 0.3]}, "{t}").widget
    slider = ipywidgets.FloatSlider(value=0.1, min=0, max=1, step=0.1)
    ipywidgets.link((slider, "value"), (widget, "t"))
    slider.value = 0.1 + 0.2
    assert widget.t == 0.3


def test_a_still_picture_brings_its_chinese_characters():
    plain, chinese = (saying(lambda n: {}, {"n": [1]}, "", bars=words) for words in ("ab", "红车"))
    assert "@font-face" not in plain.draw()
    (data,) = re.findall(r"base64,([A-Za-z0-9+/=]+)", chinese.draw())
    font = TTFont(io.BytesIO(base64.b64decode(data)))
    assert {chr(code) for code in font.getBestCmap()} == set("红车")
    assert len(data) < 8_000
