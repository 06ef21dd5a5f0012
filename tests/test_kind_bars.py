"""Distributions as bars: as high as their numbers, over their labels, and what is forbidden or not known."""

import json

import pytest
import torch
from example_figures import bars as example
from pictures import WIDTHS, Mark, Picture, check_legible, linear, picture, stretches

from utils.explorables import Bars

NUMBERS = torch.tensor([1.0, 0.5, 0.0, 0.125])


def small(**changes) -> Bars:
    options = {
        "panels": {"p": "first", "q": "second"},
        "bars": ["v", "w", "x", "y"],
        "edge": "n",
        "name": "small",
        "alt": "Bars.",
        "say": "{n}",
        "start": {"n": 4},
    }
    return Bars(
        lambda n: {"p": NUMBERS, "q": NUMBERS.flip(0) / 2, "verdict": torch.tensor([2 * (n > 1), 0])},
        {"n": range(5)},
        **(options | changes),
    )


def rows(drawn: Picture, count: int = 2) -> list[tuple[float, list[Mark]]]:
    """Of each row its ground line and its bars."""
    bars = drawn.of("rect", "weight")
    lines = [line["y1"] for line in drawn.of("line", "grid")]
    return [(line, bars[4 * k :][:4]) for k, line in zip(range(count), lines, strict=True)]


@pytest.mark.parametrize("width", WIDTHS)
def test_bars_are_as_high_as_their_numbers_and_stand_over_their_labels(width: int) -> None:
    drawn = picture(small(), width)
    written = iter(drawn.of("text", "number"))
    labels = [drawn.text(key) for key in "vwxy"]
    (ground, first), (lower, second) = rows(drawn)
    full = first[0]["height"]  # of a weight of 1
    for base, bars, numbers in ((ground, first, NUMBERS), (lower, second, NUMBERS.flip(0) / 2)):
        assert [bar["height"] / full for bar in bars] == pytest.approx(numbers.tolist(), abs=1e-3)
        for bar, label, number in zip(bars, labels, numbers.tolist(), strict=True):
            assert bar.box[3] == pytest.approx(base, abs=0.02)
            assert label.box[1] >= base
            assert bar.middle[0] == pytest.approx(label.middle[0], abs=0.1)
            text = next(written)
            assert float(text.text) == pytest.approx(number, abs=0.0051)
            assert text.middle[0] == pytest.approx(bar.middle[0], abs=0.1)
            if bar["height"] > full - 18:  # the bar takes the height of its row, so its number stands in it
                assert bar.box[1] < text.box[1] < text.box[3] < bar.box[1] + 18
            else:
                assert bar.box[1] - 12 < text.box[3] < bar.box[1]
    # Names stand before their rows on a desk and above them on a phone.
    for name, base, bars in (("first", ground, first), ("second", lower, second)):
        box = drawn.text(name).box
        assert base - 60 < box[1] < box[3] < base
        assert (box[2] < bars[0].box[0]) == (width == 720)


@pytest.mark.parametrize("width", WIDTHS)
def test_one_row_has_an_axis(width: int) -> None:
    drawn = picture(small(panels={"p": "alone"}), width)
    value = linear([line["y1"] for line in drawn.of("line", "grid")], [0, 0.5, 1])
    assert [value(bar.box[1]) for bar in drawn.of("rect", "weight")] == pytest.approx(
        NUMBERS.tolist(), abs=1e-3
    )
    written = [float(mark.text) for mark in drawn.of("text", "number")]
    assert written == pytest.approx(NUMBERS.tolist(), abs=0.0051)


@pytest.mark.parametrize("width", WIDTHS)
def test_one_line_through_all_rows_stands_where_the_forbidden_bars_begin(width: int) -> None:
    for n in range(5):
        drawn = picture(small(), width, n=n)
        (edge,) = drawn.of("path", "edge")
        x = edge.box[0]
        assert x == edge.box[2]
        for stretch, (base, bars) in zip(stretches(edge.attributes["d"]), rows(drawn), strict=True):
            assert stretch[0][1] < bars[0].box[1]
            assert stretch[-1][1] == pytest.approx(base, abs=0.02)
            assert ["forbidden" in bar.classes for bar in bars] == [j >= n for j in range(4)]
            assert [bar.middle[0] > x for bar in bars] == [j >= n for j in range(4)]
        # The forbidden part of each row is hatched, under its bars and numbers.
        hatches = drawn.of("path", "hatch")
        assert len(hatches) == (2 if n < 4 else 0)
        for hatch, (base, bars) in zip(hatches, rows(drawn), strict=False):
            assert hatch.box[0] == pytest.approx(x, abs=6)  # lines fill it to within a step
            assert hatch.box[2] > bars[3].box[0]
            assert hatch.box[3] == pytest.approx(base, abs=6)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_verdict_stands_beside_each_row_with_a_tick_or_a_cross(width: int) -> None:
    figure = small(labels={"verdicts": ["right", "never", "wrong"]})
    for n, verdicts in ((1, ["right", "right"]), (4, ["wrong", "right"])):
        drawn = picture(figure, width, n=n)
        texts = [mark for mark in drawn.of("text") if mark.text in ("right", "wrong", "never")]
        signs = drawn.of("path", "sign")
        assert [mark.text for mark in texts] == verdicts
        assert len({mark["x"] for mark in texts}) == 1, "a column"
        for text, sign, (base, bars) in zip(texts, signs, rows(drawn), strict=True):
            assert base - 60 < text.box[1] < text.box[3] < base
            assert sign.middle[1] == pytest.approx(text.middle[1], abs=4)
            assert sign.box[2] < text.box[0]
            assert sign.attributes["d"].count("m") == (text.text == "wrong")  # two strokes or one
            assert (text.box[0] > bars[3].box[2]) == (width == 720)
        # What is forbidden should be 0, so only other numbers are written there.
        written = [mark.text for mark in drawn.of("text", "number")]
        assert written.count("0.00") == {1: 0, 4: 1}[n]
        check_legible(drawn, width)
    with pytest.raises(ValueError, match=r"'verdict' of shape \(1,\), got \(2,\)"):
        small(panels={"p": ""}, labels={"verdicts": ["right", "wrong", "lost"]})


@pytest.mark.parametrize("width", WIDTHS)
def test_weights_that_could_not_be_computed_have_their_verdict_in_place_of_numbers(width: int) -> None:
    figure = Bars(
        lambda n: {"p": torch.zeros(3), "q": torch.zeros(3), "verdict": torch.tensor([0, 1])}, {"n": [1]},
        panels={"p": "first", "q": "second"}, bars="abc", labels={"verdicts": ["right", "NaN"]},
        name="f", alt="", say="",
    )  # fmt: skip
    written = [mark.text for mark in picture(figure, width).of("text", "number")]
    assert written == ["0.00"] * 3
    assert "no weights" in picture(figure, width).texts()
    check_legible(picture(figure, width), width)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_line_can_be_dragged_over_all_bars(width: int) -> None:
    drawn = picture(small(), width)
    (area,) = drawn.of("rect", "drag", "instead")
    assert area.attributes["data-drag"] == "n"
    left, top, right, bottom = area.box
    for base, bars in rows(drawn):
        assert left < bars[0].box[0] < bars[3].box[2] < right
        assert top < bars[0].box[1] < base <= bottom
    (grip,) = drawn.of("rect", "handle")
    assert grip["width"] >= 24
    assert grip.middle[0] == pytest.approx(
        min(drawn.of("path", "edge")[0].box[0], width - grip["width"] / 2), abs=0.02
    )
    assert {"allowed", "forbidden"} <= set(picture(small(), width, n=2).texts())
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
def test_outlines_show_the_probabilities_without_the_cut(width: int) -> None:
    """Also over words that are left out now, on the axis of both."""
    drawn = picture(summed(), width, top_p=0.6)
    outlines = drawn.of("rect", "outline")
    lines = [line["y1"] for line in drawn.of("line", "grid")]
    tall = max(lines) - min(lines)
    assert [mark["height"] / tall for mark in outlines] == pytest.approx([0.4, 0.3, 0.2], abs=1e-3)
    for outline, bar in zip(outlines, drawn.of("rect", "chance")[-3:], strict=True):
        assert outline.middle[0] == pytest.approx(bar.middle[0], abs=0.02)
        assert outline.box[3] == pytest.approx(bar.box[3], abs=0.02)
    with pytest.raises(ValueError, match="compare must name an axis and one of its values"):
        small(compare=("n", 9))
    with pytest.raises(ValueError, match="compare, rest and draws need a cut"):
        small(compare=("n", 0))


@pytest.mark.parametrize("width", WIDTHS)
def test_the_bar_that_was_drawn_last_has_another_colour(width: int) -> None:
    assert picture(summed(), width).of("rect", "newest") == []
    for draws in (1, 2):
        drawn = picture(summed(), width, draws=draws)
        strip, bar, key = drawn.of("rect", "newest")
        assert bar.box == pytest.approx(drawn.of("rect", "chance")[-3].box, abs=0.02)
        assert strip.box[0] < bar.box[0] < key.box[2]
        assert len({dot["r"] for dot in drawn.of("circle", "tally")[1:]}) == draws  # the last one is larger


def summed(**changes) -> Bars:
    """Four probabilities 0.4, 0.3, 0.2 and 0.1, kept until their sum reaches top-p; at 0.95 half of the last one."""
    kept = {0.3: [4, 0, 0, 0], 0.6: [4, 3, 0, 0], 0.9: [4, 3, 2, 0], 0.95: [4, 3, 2, 0.5], 1: [4, 3, 2, 1]}
    shares = {top_p: torch.tensor(parts) / sum(parts) for top_p, parts in kept.items()}
    options = {
        "panels": {"p": "next word"}, "bars": ["w", "x", "y", "rest"], "cut": "top_p",
        "rest": "7 others", "draws": ["draws"], "compare": ("top_p", 1), "name": "f", "alt": "", "say": "",
    }  # fmt: skip
    return Bars(
        lambda top_p, draws: {
            "p": shares[top_p],
            "drawn": torch.tensor([draws, 0, 0, 0]),
            "newest": torch.tensor(-(not draws)),
        },
        {"top_p": list(shares), "draws": [0, 1, 2]},
        **(options | changes),
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_all_probabilities_lie_end_to_end_and_a_line_stands_at_the_sum_that_is_kept(width: int) -> None:
    figure, ends = summed(), [0.4, 0.7, 0.9, 1]
    for top_p, kept, word in (
        (0.3, 0.4, "“w”"), (0.6, 0.7, "“x”"), (0.9, 0.9, "“y”"), (0.95, 0.95, "the rest"), (1, 1, "the rest"),
    ):  # fmt: skip
        drawn = picture(figure, width, top_p=top_p)
        (rule,) = drawn.of("line", "rule")
        strip = [r for r in drawn.of("rect", "chance") if rule["y1"] < r.box[1] < r.box[3] < rule["y2"]]
        left_out = drawn.of("rect", "grid")
        place = linear([strip[0].box[0], strip[0].box[2] + 1], [0, 0.4])
        assert place(strip[-1].box[2] + 1) == pytest.approx(kept, abs=2e-3)
        assert place(rule["x1"]) == pytest.approx(top_p, abs=2e-3)
        both = sorted(round(float(place(r.box[2] + 1)), 2) for r in (*strip, *left_out))
        assert set(both) >= set(ends)
        assert len(left_out) == sum(end > kept for end in ends)
        assert any(text.endswith(f"with {word}") or f"with {word} the sum" in text for text in drawn.texts())
        grip = drawn.of("rect", "handle")[0]
        assert grip.middle[0] == pytest.approx(rule["x1"], abs=0.02)
        (area,) = drawn.of("rect", "drag", "instead")
        assert area.attributes["data-drag"] == "top_p"
        assert area.box[1] < grip.box[1] < grip.box[3] < strip[0].box[3] <= area.box[3]


@pytest.mark.parametrize("width", WIDTHS)
def test_what_stands_for_many_has_a_number_and_no_bar(width: int) -> None:
    for top_p, values in ((0.6, [4 / 7, 3 / 7, 0]), (1, [0.4, 0.3, 0.2])):
        drawn = picture(summed(), width, top_p=top_p)
        below = drawn.of("line", "rule")[0]["y2"]
        standing = [bar for bar in drawn.of("rect", "chance") if bar.box[1] > below]
        lines = [line["y1"] for line in drawn.of("line", "grid")]
        # 0.4 becomes 1 when only the first is kept, so the axis ends at 1 for every top-p.
        assert [t.text for t in drawn.of("text", "quiet") if t.text[0] in "01"] == ["0", "0.2", "0.5", "1"]
        tall = max(lines) - min(lines)
        assert [bar["height"] / tall for bar in standing] == pytest.approx(values, abs=1e-3)
        numbers = [mark for mark in drawn.of("text", "number") if mark.middle[0] > standing[-1].box[2]]
        assert [float(mark.text) for mark in numbers] == ([] if top_p < 1 else [0.1])
        assert all(mark.middle[0] == pytest.approx(drawn.text("rest").middle[0], abs=0.1) for mark in numbers)
        assert "7 others" in drawn.texts() or width < 400
        assert ("dashed bars: top-p 1" in drawn.texts()) == (top_p < 1)
    with pytest.raises(ValueError, match="compare, rest and draws need a cut"):
        summed(cut=None, compare=None)
    with pytest.raises(ValueError, match=r"cut needs a single panel, got \['p', 'drawn'\]"):
        summed(panels={"p": "", "drawn": ""})


@pytest.mark.parametrize("width", WIDTHS)
def test_a_click_draws_one_more_and_a_key_says_what_the_dots_are(width: int) -> None:
    for top_p in (0.3, 0.6, 0.9, 0.95, 1):
        for draws in (0, 1, 2):
            drawn = picture(summed(panels={"p": "It was …"}), width, top_p=top_p, draws=draws)
            assert drawn.texts()[0] == ("It was w" if draws else "It was …")  # the last draw goes on with it
            (more,) = drawn.of("rect", "pick")
            assert more.attributes["data-pick"] == f'{{"draws":{[1, 2, 1][draws]}}}'
            assert ["draw a word", "draw a word", "draw anew"][draws] in drawn.texts()
            assert ("nothing drawn yet" in drawn.texts()) == (draws == 0)
            assert ({"a draw", "the last draw"} <= set(drawn.texts())) == (draws > 0)
            assert more["height"] >= 24
            assert more.box[3] <= drawn.of("rect", "handle")[0].box[1]  # above the grip
            check_legible(drawn, width)
    # Of a long sentence the heading has the end that fits beside the button.
    heading, *_ = picture(summed(panels={"p": f"{'It was and ' * 9}…"}), width, draws=1).of("text")
    assert heading.text.startswith("… ")
    assert heading.text.endswith("It was and w")
    assert len(heading.text) > 24
    assert heading.box[2] < more.box[0]
    for name, axes in (("cut", "m"), ("draws", ["n", "m"])):
        with pytest.raises(ValueError, match=f"{name} must name an axis, got 'm'"):
            small(**{name: axes})


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_say_what_they_write_over_the_scores_that_stand_above(width: int) -> None:
    scores = torch.tensor([-4194304.0, -4194304.0, -32768.0, 0.5])
    figure = Bars(
        lambda n: {
            "p": torch.eye(4)[3] if n == 3 else torch.zeros(4),
            "q": torch.zeros(4),
            "verdict": torch.ones(2),
            "given": scores,
            "written": torch.tensor([1, 0]),
        },
        {"n": range(5)}, panels={"p": "first", "q": "second"}, bars="vwxy", edge="n",
        labels={"verdicts": ["right", "wrong"], "written": ["", "−10⁶"]}, name="f", alt="", say="",
    )  # fmt: skip
    for n in range(5):
        drawn = picture(figure, width, n=n)
        texts = drawn.texts()
        assert "scores" in texts
        given = ["−4.2·10⁶ each", "−3.3·10⁴" if width == 720 else "−3·10⁴"]
        assert [text for text in texts if "·10" in text] == given
        assert "0.50" in texts
        # Once for all; before the line where a bar fills the forbidden part.
        over = [mark for mark in drawn.of("text") if mark.text.startswith("−10⁶")]
        (edge,) = drawn.of("path", "edge")
        assert len(over) == (n < 4)
        for mark in over:
            assert (mark.box[0] > edge.box[0]) == (n != 3)
            assert mark.text == ("−10⁶ →" if n == 3 else "−10⁶")
        check_legible(drawn, width)


def test_on_a_phone_one_side_of_the_grip_says_both_where_the_other_has_no_room() -> None:
    for n, words in (
        (0, {"forbidden"}), (1, {"1 allowed, 7 forbidden"}), (4, {"allowed", "forbidden"}),
        (7, {"7 allowed, 1 forbidden"}), (8, {"allowed"}),
    ):  # fmt: skip
        texts = picture(example(), 328, valid_length=n).texts()
        assert {text for text in texts if "allowed" in text or "forbidden" in text} == words


@pytest.mark.parametrize("width", WIDTHS)
def test_after_the_last_draw_a_click_begins_the_next_set(width: int) -> None:
    figure = Bars(
        lambda top_p, draws, set_of_draws: {"p": NUMBERS, "drawn": torch.tensor([draws, 0, 0, 0])},
        {"top_p": [1], "draws": [0, 1, 2], "set_of_draws": [1, 2, 3]}, panels={"p": ""}, bars="wxyz",
        cut="top_p", draws=["draws", "set_of_draws"], name="f", alt="", say="",
    )  # fmt: skip
    for (draws, now), then in {(1, 2): (2, 1), (2, 1): (1, 1), (2, 3): (1, 0)}.items():
        (more,) = picture(figure, width, draws=draws, set_of_draws=now).of("rect", "pick")
        assert json.loads(more.attributes["data-pick"]) == dict(
            zip(("draws", "set_of_draws"), then, strict=True)
        )


@pytest.mark.parametrize("width", WIDTHS)
def test_each_draw_is_a_dot_under_its_bar(width: int) -> None:
    counts = [0, 1, 20, 7]
    figure = Bars(
        lambda top_p, draws: {"p": NUMBERS / NUMBERS.sum(), "drawn": torch.tensor(counts) * draws},
        {"top_p": [1], "draws": [0, 1, 2]}, panels={"p": ""}, bars="wxyz", cut="top_p",
        name="f", alt="", say="", start={"draws": 1},
    )  # fmt: skip
    drawn = picture(figure, width)
    labels = [max((m for m in drawn.of("text") if m.text == key), key=lambda m: m.box[1]) for key in "wxyz"]
    drawn_bars = drawn.of("rect", "chance")[-4:]  # below the strip
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
