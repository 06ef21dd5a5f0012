"""Distributions as bars: as high as their numbers, over their labels, and what is forbidden or not known."""

from collections.abc import Callable

import pytest
import torch
from example_figures import bars as example
from pictures import WIDTHS, Mark, Picture, check_legible, linear, picture

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
        (area,) = drawn.of("rect", "drag", "instead")
        assert area.attributes["data-drag"] == "n"
        assert area.box[0] < rows(drawn)[0][0].box[0] < rows(drawn)[0][3].box[2] < area.box[2]


@both_widths
def test_each_row_has_its_verdict(width: int) -> None:
    figure = small(labels={"verdicts": ["right", "never", "wrong"]})
    for n, verdicts in ((1, ["right", "right"]), (4, ["wrong", "right"])):
        drawn = picture(figure, width, n=n)
        check_legible(drawn, width)
        texts = [mark for mark in drawn.of("text") if mark.text in ("right", "wrong", "never")]
        assert [mark.text for mark in texts] == verdicts
        for text, sign in zip(texts, drawn.of("path", "sign"), strict=True):
            assert sign.middle[1] == pytest.approx(text.middle[1], abs=4)
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
        check_legible(drawn, width)
        assert {"scores", "−4.2·10⁶ each", "0.50"} <= set(drawn.texts())
        assert sum(text.startswith("−10⁶") for text in drawn.texts()) == (n < 4)


def test_a_phone_says_allowed_and_forbidden_in_one_place() -> None:
    for n, words in (
        (0, {"forbidden"}), (1, {"1 allowed, 7 forbidden"}), (4, {"allowed", "forbidden"}),
        (7, {"7 allowed, 1 forbidden"}), (8, {"allowed"}),
    ):  # fmt: skip
        texts = picture(example(), 328, valid_length=n).texts()
        assert {text for text in texts if "allowed" in text or "forbidden" in text} == words


# -- a distribution that is cut, and draws from it ------------------------------------------------------------


def summed(**changes) -> Bars:
    """Four probabilities 0.4, 0.3, 0.2 and 0.1, kept until their sum reaches top-p; at 0.95 half of the last one."""
    kept = {0.3: [4, 0, 0, 0], 0.6: [4, 3, 0, 0], 0.9: [4, 3, 2, 0], 0.95: [4, 3, 2, 0.5], 1: [4, 3, 2, 1]}
    shares = {top_p: torch.tensor(parts) / sum(parts) for top_p, parts in kept.items()}
    options = {
        "panels": {"p": "It was …"}, "bars": ["w", "x", "y", "rest"], "cut": "top_p", "rest": "7 others",
        "draws": ["draws", "set_of_draws"], "compare": ("top_p", 1), "name": "f", "alt": "", "say": "",
    }  # fmt: skip
    return Bars(
        lambda top_p, draws, set_of_draws: {
            "p": shares[top_p],
            "drawn": draws * torch.tensor([1, 0, 20, 7]),
            "newest": torch.tensor(-(not draws)),
        },
        {"top_p": list(shares), "draws": [0, 1, 2], "set_of_draws": [1, 2, 3]},
        **(options | changes),
    )


@both_widths
def test_the_line_stands_at_the_sum_that_is_kept(width: int) -> None:
    for top_p, kept, word in (
        (0.3, 0.4, "“w”"), (0.6, 0.7, "“x”"), (0.9, 0.9, "“y”"), (0.95, 0.95, "the rest"), (1, 1, "the rest"),
    ):  # fmt: skip
        drawn = picture(summed(), width, top_p=top_p)
        check_legible(drawn, width)
        (rule,) = drawn.of("line", "rule")
        strip = [r for r in drawn.of("rect", "chance") if rule["y1"] < r.box[1] < r.box[3] < rule["y2"]]
        place = linear([strip[0].box[0], strip[0].box[2] + 1], [0, 0.4])
        assert place(strip[-1].box[2] + 1) == pytest.approx(kept, abs=2e-3)
        assert place(rule["x1"]) == pytest.approx(top_p, abs=2e-3)
        assert any(text.endswith(f"with {word}") or f"with {word} the sum" in text for text in drawn.texts())


@both_widths
def test_outlines_show_the_probabilities_without_the_cut(width: int) -> None:
    drawn = picture(summed(), width, top_p=0.6)
    lines = [line["y1"] for line in drawn.of("line", "grid")]
    tall = max(lines) - min(lines)
    assert [mark["height"] / tall for mark in drawn.of("rect", "outline")] == pytest.approx(
        [0.4, 0.3, 0.2], abs=1e-3
    )
    standing = drawn.of("rect", "chance")[-3:]
    assert [bar["height"] / tall for bar in standing] == pytest.approx([4 / 7, 3 / 7, 0], abs=1e-3)
    assert "dashed bars: top-p 1" in drawn.texts()
    # What stands for many has a number and no bar.
    drawn = picture(summed(), width, top_p=1)
    rest = drawn.text("rest").middle[0]
    (number,) = [mark.text for mark in drawn.of("text", "number") if abs(mark.middle[0] - rest) < 1]
    assert float(number) == 0.1


@both_widths
def test_a_click_draws_one_more_word(width: int) -> None:
    for (draws, now), then in {
        (0, 1): (1, 0), (1, 2): (2, 1), (2, 1): (1, 1), (2, 3): (1, 0)
    }.items():  # fmt: skip
        drawn = picture(summed(), width, draws=draws, set_of_draws=now)
        check_legible(drawn, width)
        ((chosen, _),) = drawn.picks("draws", "set_of_draws")
        assert chosen == then
        assert drawn.texts()[0] == ("It was w" if draws else "It was …")  # the last draw goes on with it
        assert ("nothing drawn yet" in drawn.texts()) == (draws == 0)
    # Of a long sentence the heading has the end that fits beside the button.
    heading = picture(summed(panels={"p": f"{'It was and ' * 9}…"}), width, draws=1).texts()[0]
    assert heading.startswith("… ")
    assert heading.endswith("It was and w")


@both_widths
def test_each_draw_is_a_dot_under_its_bar(width: int) -> None:
    heights = {picture(summed(), width, top_p=0.6, draws=draws).height for draws in (0, 1, 2)}
    assert len(heights) == 1, "there is room for the most dots"
    drawn = picture(summed(draws=["draws"], rest=None), width, top_p=1, draws=1)
    labels = [max((m for m in drawn.of("text") if m.text == key), key=lambda m: m.box[1]) for key in "wxy"]
    dots = drawn.of("circle", "tally")
    step = labels[1].middle[0] - labels[0].middle[0]
    for label, count in zip(labels, (1, 0, 20), strict=True):
        below = [d for d in dots if abs(d.middle[0] - label.middle[0]) < step / 2 and d.box[1] > label.box[3]]
        assert len(below) - count in ((0, 1) if count == 1 else (0,))  # the key of the dots has one


@pytest.mark.parametrize(
    ("message", "make"),
    [
        (r"'p' of shape \(3,\), got \(4,\)", lambda: small(bars="abc", edge=None)),
        ("edge must name an axis of the values 0 to 5", lambda: small(bars="abcde")),
        ("compare must name an axis and one of its values", lambda: small(compare=("n", 9))),
        ("compare, rest and draws need a cut", lambda: small(compare=("n", 0))),
        ("cut must name an axis, got 'm'", lambda: small(cut="m")),
        (r"cut needs a single panel, got \['p', 'drawn'\]", lambda: summed(panels={"p": "", "drawn": ""})),
        (
            r"'verdict' of shape \(1,\), got \(2,\)",
            lambda: small(panels={"p": ""}, labels={"verdicts": ["right", "wrong", "lost"]}),
        ),
    ],
)
def test_what_does_not_fit_is_refused(message: str, make: Callable) -> None:
    with pytest.raises(ValueError, match=message):
        make()
