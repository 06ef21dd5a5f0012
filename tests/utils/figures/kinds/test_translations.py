"""Translations of one sentence after another: which words are right, and how they are drawn."""

import pytest
from example_figures import translations as example
from pictures import WIDTHS, marks, texts

from utils.figures import Translations

SOURCE = ["we", "sing", "."]


def compared(written: str, reference: str) -> tuple[list[str], list[str]]:
    """The wrong words of a translation, and the missing words of its reference."""
    figure = Translations(
        {"n": [1]},
        sentences=[(SOURCE, written.split(), reference.split())],
        box="a box",
        languages=("English", "French"),
        name="small",
        alt="Words.",
        say="{right} of {total}",
    )
    [[_, *sides]] = figure.options["sentences"]
    wrong, missing = ([word for word, shared in side if not shared] for side in sides)
    assert figure.sentence() == f"{len(sides[1]) - len(missing)} of {len(sides[1])}"
    return wrong, missing


@pytest.mark.parametrize(
    ("written", "reference", "wrong", "missing"),
    [
        ("a b c", "a b c", "", ""),
        ("a x c", "a b c", "x", "b"),
        ("a c", "a b c", "", "b"),
        ("a a b c", "a b c", "a", ""),
        ("c a b", "a b c", "c", "c"),  # the order counts
        ("", "a b", "", "a b"),
    ],
)
def test_a_word_is_right_at_its_turn(written: str, reference: str, wrong: str, missing: str) -> None:
    assert compared(written, reference) == (wrong.split(), missing.split())


@pytest.mark.parametrize("width", WIDTHS)
def test_wrong_words_are_crossed_out_and_missing_ones_bold(width: int) -> None:
    drawn = example().draw(width, words=8)
    assert len(marks(drawn, "line", "struck")) == 1
    assert texts(drawn, "word", "name") == ["petite", "blanche", "hier"]
    assert texts(drawn, "word").count("fleur") == 3


@pytest.mark.parametrize("width", WIDTHS)
def test_where_all_is_right_no_reference_stands_below(width: int) -> None:
    figure = example()
    right, wrong = (texts(figure.draw(width, words=words)) for words in (5, 3))
    assert "French" in right
    assert right.count("dort") == 1
    assert "French; right would be" in wrong
    assert wrong.count("Marie") == 1
    assert figure.sentence(words=5) == "All 5 words are right."
    assert figure.sentence(words=3) == "3 of 4 words are right."


@pytest.mark.parametrize("width", WIDTHS)
def test_the_picture_is_as_high_for_each_sentence(width: int) -> None:
    drawn = [example().draw(width, words=words) for words in (3, 5, 8)]
    assert len({picture.split("viewBox")[1].split('"')[1] for picture in drawn}) == 1


def test_one_sentence_for_each_value() -> None:
    with pytest.raises(ValueError, match="one for each of 2 values, got 1"):
        Translations(
            {"n": [1, 2]}, sentences=[(SOURCE, SOURCE, SOURCE)], box="b", languages=("a", "b"), name="s",
            alt="Words.", say="{n}",
        )  # fmt: skip


def test_a_source_without_words_is_refused() -> None:
    with pytest.raises(ValueError, match="words in source and reference, got none at 0"):
        Translations(
            {"n": [1]}, sentences=[([], SOURCE, SOURCE)], box="b", languages=("a", "b"), name="s",
            alt="Words.", say="{n}",
        )  # fmt: skip
