"""A box for each piece, the letters in it, and bars of the pairs that may be joined."""

import pytest
import torch
from pictures import WIDTHS, marks, sizes, texts

from utils.figures import Pieces

WORDS = ["new", "sew", "汉字abc"]


def small(**changes) -> Pieces:
    """At ``joined`` 1 the letters e and w are one piece of the first two words, and at 2 all of the last word is."""
    begins = {
        0: [[1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 1]],
        1: [[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 1, 1]],
        2: [[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [1, 0, 0, 0, 0]],
    }
    fresh = torch.zeros(3, 3, 5)
    fresh[1, :2, 1:3] = 1
    fresh[2, 2] = 1
    options = {
        "texts": WORDS, "heading": "next", "labels": {"pairs": ["e + w", "n + ew"]}, "name": "small",
        "alt": "Words.", "say": "{joined}",
    }  # fmt: skip
    return Pieces(
        lambda joined: {
            "begins": torch.tensor(begins[joined]),
            "fresh": fresh[joined],
            "best": torch.tensor([1, 0] if joined else [0, 1]),
            "counts": torch.tensor([3, 2 - joined]),
        },
        {"joined": [0, 1, 2]},
        **(options | changes),
    )


def boxes(drawn: str, *classes: str) -> list[tuple[float, float]]:
    """The left and right ends of the boxes of pieces, which are higher than the bars of pairs."""
    found = [box for box in marks(drawn, "rect", *classes) if box.get("height") == "26"]
    return [(x, x + width) for x, width in zip(sizes(found, "x"), sizes(found, "width"), strict=True)]


def places(drawn: str) -> list[tuple[str, float, float]]:
    """Each letter with its place."""
    found = marks(drawn, "text", "word")
    moved = [mark.get("transform").removeprefix("translate(").rstrip(")").split() for mark in found]
    return [(mark.text, float(x), float(y)) for mark, (x, y) in zip(found, moved, strict=True)]


@pytest.mark.parametrize("width", WIDTHS)
def test_each_piece_has_one_box_with_its_letters_in_order(width) -> None:
    for joined, count in ((0, 11), (1, 9), (2, 5)):
        drawn = small().draw(width, joined=joined)
        found = boxes(drawn)
        assert len(found) == count
        letters = places(drawn)
        assert "".join(letter for letter, _, _ in letters) == "".join(WORDS)
        assert all(any(left < x < right for left, right in found) for _, x, _ in letters)
        assert all(right <= width for _, right in found)
    first_word = [x for _, x, _ in letters[:3]]
    assert first_word == sorted(first_word)


def test_a_merge_moves_no_other_text_down() -> None:
    turned = ["汉字abc", "new"]
    figure = Pieces(
        lambda joined: {"begins": torch.tensor([[1, *[1 - joined] * 4], [1, 1, 1, 0, 0]])},
        {"joined": [0, 1]},
        texts=turned,
        name="turned",
        alt="Words.",
        say="",
    )
    apart, together = ([y for _, _, y in places(figure.draw(100, joined=joined))] for joined in (0, 1))
    assert apart[0] < apart[4] < apart[5]  # the first word takes two lines while it is in letters
    assert together == [together[0]] * 5 + apart[5:]


def test_what_stands_out_and_the_pair_that_is_joined_next_have_a_colour() -> None:
    assert [len(boxes(small().draw(joined=joined), "fresh")) for joined in (0, 1, 2)] == [0, 2, 1]
    drawn = small().draw(joined=1)
    assert texts(drawn, "end", "name") == ["n + ew"]
    bars = [bar for bar in marks(drawn, "rect", "fresh") if bar.get("height") == "18"]
    (other,) = [bar for bar in marks(drawn, "rect", "trace") if bar.get("height") == "18"]
    assert sizes(bars, "width")[0] == pytest.approx(3 * float(other.get("width")), abs=0.05)


def test_a_pair_that_never_occurs_is_not_drawn() -> None:
    assert "e + w" in texts(small().draw(joined=1))
    assert "e + w" not in texts(small().draw(joined=2))


def test_short_texts_stand_in_two_columns_where_they_fit() -> None:
    words = ["new", "sew", "few"]
    figure = Pieces(
        lambda: {"begins": torch.ones(3, 3)}, {}, texts=words, name="columns", alt="Words.", say=""
    )
    left = {
        width: [x for letter, x, _ in places(figure.draw(width)) if letter in "nsf"] for width in (300, 120)
    }
    assert left[300][0] == left[300][1] < left[300][2]
    assert len(set(left[120])) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"texts": ["new", "", "汉字abc"]}, r"at least one letter each, got \['new', '', '汉字abc'\]"),
        ({"texts": ["new", "sew"]}, r"'begins' of shape \(2, 3\), got \(3, 5\)"),
        (
            {"labels": {"pairs": ["e + w"]}},
            "'best' must be numbers of the labels 'pairs', from 0 to 0, got 1",
        ),
    ],
)
def test_what_does_not_fit_is_refused(changes, message) -> None:
    with pytest.raises(ValueError, match=message):
        small(**changes)


def test_the_first_letter_of_a_text_begins_a_piece() -> None:
    with pytest.raises(ValueError, match="1 at the first letter of each text, got 0 for 'b'"):
        Pieces(
            lambda: {"begins": torch.tensor([[1.0], [0.0]])}, {}, texts=["a", "b"], name="x", alt="x", say=""
        )


def test_merges_by_hand() -> None:
    cuts = [[["n", "e", "w"], ["s", "e", "w"]], [["n", "ew"], ["s", "ew"]], [["new"], ["s", "ew"]]]
    figure = Pieces.during_merges(cuts, num_pairs=2, name="hand", alt="Words.")
    assert figure.sentence() == "At first each letter is a piece: 6 pieces, 4 of them different."
    assert figure.sentence(merges=2) == "Merge 2 has made “new”: 3 pieces, 3 of them different."
    assert figure.array("begins", merges=1).tolist() == [[1, 1, 0], [1, 1, 0]]
    assert figure.array("fresh", merges=1).tolist() == [[0, 1, 1], [0, 1, 1]]
    assert figure.array("fresh", merges=0).sum() == 0
    shown = [figure.labels["pairs"][number] for number in figure.array("best", merges=0).astype(int)]
    assert dict(zip(shown, figure.array("counts", merges=0).tolist(), strict=True)) == {
        "e + w": 2,
        "n + e": 1,
    }
    assert figure.array("counts", merges=2).tolist() == [1, 0]  # one pair is left
