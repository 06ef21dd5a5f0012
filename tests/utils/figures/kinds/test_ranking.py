"""A line with a bar for each text, the best one first."""

import pytest
from example_figures import ranking as example
from pictures import WIDTHS, marks, sizes, texts


@pytest.mark.parametrize("width", WIDTHS)
def test_the_texts_come_in_the_order_of_the_state(width: int) -> None:
    drawn = example().draw(width, search="meaning", text=0)
    assert texts(drawn) == [
        "nearest",
        "A hound bays.",
        "0.90",
        "A dog barks.",
        "0.60",
        "A cat sleeps.",
        "0.00",
    ]
    assert example().sentence(search="meaning", text=1) == "By meaning, “A cat sleeps.” is nearest to text 1."


@pytest.mark.parametrize("width", WIDTHS)
def test_bars_are_as_long_as_the_scores_and_stay_in_the_picture(width: int) -> None:
    drawn = example().draw(width, search="words", text=1)
    lengths = [*sizes(marks(drawn, "rect", "fresh"), "width"), *sizes(marks(drawn, "rect", "trace"), "width")]
    assert [length / lengths[0] for length in lengths] == pytest.approx([1, 5 / 9, 0], abs=0.01)
    (left,) = sizes(marks(drawn, "rect", "fresh"), "x")
    assert left + lengths[0] / 0.9 < width - 30  # room for the number of a bar of 1
