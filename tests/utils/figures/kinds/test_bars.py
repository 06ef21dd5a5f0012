"""Distributions as bars: as high as their numbers, over their labels, and what is forbidden or not known."""

from collections.abc import Callable

import pytest
import torch
from example_figures import bars as example
from pictures import WIDTHS, Mark, Picture, linear, picture

from utils.figures import Bars

NUMBERS = torch.tensor([1.0, 0.5, 0.0, 0.125])
both_widths = pytest.mark.parametrize("width", WIDTHS)


def small(**changes) -> Bars:
    options = {
        "panels": {"p": "first", "q": "second"}, "bars": ["v", "w", "x", "y"], "edge": "n", "name": "small",
        "alt": "Bars.", "say": "{n}", "start": {"n": 4},
    }  # fmt: skip
    return Bars(
        lambda n: {"p": NUMBERS, "q": NUMBERS.flip(0) / 2, "verdict": torch.tensor([2 * (n > 1), 0])},
        {"n": range(5)},
        **(options | changes),
    )


def rows(drawn: Picture) -> list[list[Mark]]:
    """The bars of each row."""
    bars = drawn.of("rect", "weight")
    return [bars[at : at + 4] for at in range(0, len(bars), 4)]


@both_widths
def test_bars_are_as_high_as_their_numbers(width: int) -> None:
    drawn = picture(small(), width)
    full = rows(drawn)[0][0]["height"]  # of a weight of 1
    written = iter(drawn.of("text", "number"))
    for bars, numbers in zip(rows(drawn), (NUMBERS, NUMBERS.flip(0) / 2), strict=True):
        assert [bar["height"] / full for bar in bars] == pytest.approx(numbers.tolist(), abs=1e-3)
        assert len({bar.box[3] for bar in bars}) == 1
        for bar, key, number in zip(bars, "vwxy", numbers.tolist(), strict=True):
            assert bar.middle[0] == pytest.approx(drawn.text(key).middle[0], abs=0.1)
            text = next(written)
            assert float(text.text) == pytest.approx(number, abs=0.0051)
            assert text.middle[0] == pytest.approx(bar.middle[0], abs=0.1)
    assert drawn.text("first").middle[1] < drawn.text("second").middle[1]
    drawn = picture(small(panels={"p": "alone"}), width)  # one row has an axis
    value = linear([line["y1"] for line in drawn.of("line", "grid")], [0, 0.5, 1])
    tops = [value(bar.box[1]) for bar in drawn.of("rect", "weight")]
    assert tops == pytest.approx(NUMBERS.tolist(), abs=1e-3)


def test_probabilities_of_words_have_their_own_colour() -> None:
    drawn = picture(small(chances=True))
    assert len(drawn.of("rect", "chance")) == 8
    assert drawn.of("rect", "weight") == []


@both_widths
def test_the_line_stands_before_the_forbidden_bars(width: int) -> None:
    for n in range(5):
        drawn = picture(small(), width, n=n)
        (edge,), hatches = drawn.of("path", "edge"), drawn.of("path", "hatch")
        assert len(hatches) == (2 if n < 4 else 0)
        for row in rows(drawn):
            assert ["forbidden" in bar.classes for bar in row] == [j >= n for j in range(4)]
            assert [bar.middle[0] > edge.box[0] for bar in row] == [j >= n for j in range(4)]
        for hatch, row in zip(hatches, rows(drawn), strict=False):
            hatched = [hatch.box[0] < bar.middle[0] < hatch.box[2] for bar in row]
            assert hatched == [j >= n for j in range(4)]


@both_widths
def test_each_row_has_its_verdict(width: int) -> None:
    figure = small(labels={"verdicts": ["right", "never", "wrong"]})
    for n, verdicts in ((1, ["right", "right"]), (4, ["wrong", "right"])):
        drawn = picture(figure, width, n=n)
        texts = [mark for mark in drawn.of("text") if mark.text in ("right", "wrong", "never")]
        assert [mark.text for mark in texts] == verdicts
        for text, sign in zip(texts, drawn.of("path", "sign"), strict=True):
            assert text.box[1] < sign.middle[1] < text.box[3]
            assert sign.attributes["d"].count("m") == (text.text == "wrong")  # two strokes or one
    broken = Bars(
        lambda n: {"p": torch.zeros(3), "q": torch.zeros(3), "verdict": torch.tensor([0, 1])}, {"n": [1]},
        panels={"p": "first", "q": "second"}, bars="abc", labels={"verdicts": ["right", "NaN"]},
        name="f", alt="", say="",
    )  # fmt: skip
    drawn = picture(broken, width)
    assert [mark.text for mark in drawn.of("text", "number")] == ["0.00"] * 3
    assert "no weights" in drawn.texts()


@both_widths
def test_rows_say_what_they_write_over_the_scores(width: int) -> None:
    figure = Bars(
        lambda n: {
            "p": torch.eye(4)[3] if n == 3 else torch.zeros(4),
            "q": torch.zeros(4),
            "verdict": torch.ones(2),
            "given": torch.tensor([-4194304.0, -4194304.0, -32768.0, 0.5]),
            "written": torch.tensor([1, 0]),
        },
        {"n": range(5)}, panels={"p": "first", "q": "second"}, bars="vwxy", edge="n",
        labels={"verdicts": ["right", "wrong"], "written": ["", "−10⁶"]}, name="f", alt="", say="",
    )  # fmt: skip
    for n in range(5):
        drawn = picture(figure, width, n=n)
        assert {"scores", "−4.2·10⁶ each", "0.50"} <= set(drawn.texts())
        assert sum(text.startswith("−10⁶") for text in drawn.texts()) == (n < 4)


@both_widths
def test_labels_say_what_the_line_divides(width: int) -> None:
    figure = small(labels={"sides": ["read", "not yet"]})
    for n in range(5):
        drawn = picture(figure, width, n=n)
        assert {"allowed", "forbidden"}.isdisjoint(drawn.texts())
        assert any("read" in text for text in drawn.texts()) == (n > 0)
        assert any("not yet" in text for text in drawn.texts()) == (n < 4)


def test_a_phone_names_allowed_and_forbidden_together() -> None:
    for n, words in (
        (0, {"forbidden"}), (1, {"1 allowed, 7 forbidden"}), (4, {"allowed", "forbidden"}),
        (7, {"7 allowed, 1 forbidden"}), (8, {"allowed"}),
    ):  # fmt: skip
        texts = picture(example(), 328, valid_length=n).texts()
        assert {text for text in texts if "allowed" in text or "forbidden" in text} == words


@pytest.mark.parametrize(
    ("message", "make"),
    [
        (r"'p' of shape \(3,\), got \(4,\)", lambda: small(bars="abc", edge=None)),
        ("edge must name an axis of the values 0 to 5", lambda: small(bars="abcde")),
        (
            r"'verdict' of shape \(1,\), got \(2,\)",
            lambda: small(panels={"p": ""}, labels={"verdicts": ["right", "wrong", "lost"]}),
        ),
    ],
)
def test_what_does_not_fit_is_refused(message: str, make: Callable) -> None:
    with pytest.raises(ValueError, match=message):
        make()
