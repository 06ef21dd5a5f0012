"""The next word: its probabilities end to end up to top-p, bars of what is kept, and words that are drawn."""

import pytest
from example_figures import next_word
from pictures import WIDTHS, linear, picture

from utils.figures import NextWord

both_widths = pytest.mark.parametrize("width", WIDTHS)


@both_widths
def test_the_line_marks_the_sum_kept(width: int) -> None:
    for top_p, kept, word in (
        (0.3, 0.4, "“wet”"), (0.6, 0.7, "“dry”"), (0.9, 0.9, "“hot”"), (0.95, 0.95, "the rest"), (1, 1, "the rest"),
    ):  # fmt: skip
        drawn = picture(next_word(), width, top_p=top_p)
        (rule,) = drawn.of("line", "rule")
        strip = [r for r in drawn.of("rect", "chance") if rule["y1"] < r.box[1] < r.box[3] < rule["y2"]]
        place = linear([strip[0].box[0], strip[0].box[2]], [0, 0.4])
        assert place(strip[-1].box[2]) == pytest.approx(kept, abs=0.01)
        assert place(rule["x1"]) == pytest.approx(top_p, abs=0.01)
        assert any(text.endswith(f"with {word}") or f"with {word} the sum" in text for text in drawn.texts())


@both_widths
def test_outlines_show_the_probabilities_without_the_cut(width: int) -> None:
    drawn = picture(next_word(), width, top_p=0.6)
    lines = [line["y1"] for line in drawn.of("line", "grid")]
    tall = max(lines) - min(lines)
    outlines = [mark["height"] / tall for mark in drawn.of("rect", "outline")]
    assert outlines == pytest.approx([0.4, 0.3, 0.2, 0, 0, 0, 0], abs=1e-3)
    standing = drawn.of("rect", "chance")[-7:]
    assert [bar["height"] / tall for bar in standing] == pytest.approx(
        [4 / 7, 3 / 7, 0, 0, 0, 0, 0], abs=1e-3
    )
    assert "dashed bars: top-p 1" in drawn.texts()
    # What stands for many has a number and no bar.
    drawn = picture(next_word(), width, top_p=1)
    assert drawn.of("rect", "outline") == []
    numbers = [mark.text for mark in drawn.of("text", "number")]
    assert [float(number) for number in numbers] == [0.4, 0.3, 0.2, 0.1]


@both_widths
def test_a_click_draws_one_more_word(width: int) -> None:
    for (draws, now), then in {
        (0, 1): (1, 0), (1, 2): (2, 1), (2, 1): (1, 1), (2, 3): (1, 0)
    }.items():  # fmt: skip
        drawn = picture(next_word(), width, draws=draws, set_of_draws=now)
        ((chosen, _),) = drawn.picks("draws", "set_of_draws")
        assert chosen == then
        assert drawn.texts()[0] == ("It was wet" if draws else "It was …")  # the last draw goes on with it
        assert ("nothing drawn yet" in drawn.texts()) == (draws == 0)


@both_widths
def test_each_draw_is_a_dot_under_its_bar(width: int) -> None:
    heights = {picture(next_word(), width, draws=draws).height for draws in (0, 1, 2)}
    assert len(heights) == 1, "there is room for the most dots"
    drawn = picture(next_word(), width, draws=1)
    _, *dots = drawn.of("circle", "tally")  # the first is in the key
    fourth, step = drawn.text("a").middle[0], drawn.text("b").middle[0] - drawn.text("a").middle[0]
    words = [round((dot.middle[0] - fourth) / step + 3) for dot in dots]
    assert [words.count(k) for k in range(8)] == [1, 0, 20, 0, 0, 0, 0, 7]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="the next word needs an axis 'draws'"):
        NextWord(lambda top_p: {}, {"top_p": [1], "set_of_draws": [1]}, title="", bars="a", rest="", name="f", alt="",
                 say="")  # fmt: skip
