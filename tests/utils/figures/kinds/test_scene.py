"""Pictures with captions: each weight a shade of its square, each thing in its own, each word a place to click."""

from collections.abc import Callable

import pytest
import torch
from example_figures import HIDE
from pictures import WIDTHS, Picture, picture

from utils.figures import Scene
from utils.figures.kinds.scene import in_places

#: Of two words and four squares.
WEIGHTS = torch.tensor([[0.78, 0.22, 0.0, 0.0], [0.04, 0.06, 0.7, 0.2]])
both_widths = pytest.mark.parametrize("width", WIDTHS)


def small(**changes) -> Scene:
    options = {
        "captions": [[["red", "cross"]], [["grey", "circle"]]],
        "things": [
            [("cross", "#c00", 2), ("square", "#0a0", 1)],
            [("circle", "#888", 3), ("triangle", "#0a0", 0)],
        ],
        "described": [[[None, 2]], [[3, None]]],
        "size": 2, "name": "small", "alt": "Two by two squares.", "say": "{picture} {word}",
    }  # fmt: skip
    axes = {"picture": [1, 2], "hide": ["nothing"]}
    return Scene(lambda picture, hide: {"weights": WEIGHTS / picture}, axes, **(options | changes))


def things(drawn: Picture) -> list[tuple[str, int]]:
    """Colour and square of each thing of the large picture; those of small ones lie elsewhere."""
    cells = [cell.box for cell in drawn.of("rect", "cell")]
    found = [(mark.attributes["fill"], *mark.middle) for mark in drawn.marks if "outlined" in mark.classes]
    return [
        (colour, at)
        for colour, x, y in found
        for at, (left, top, right, bottom) in enumerate(cells)
        if left < x < right and top < y < bottom
    ]


@both_widths
def test_weights_are_shades_of_their_squares(width: int) -> None:
    for index in (1, 2):
        for word in (0, 1):
            drawn, expected = picture(small(), width, picture=index, word=word), WEIGHTS[word] / index
            cells = drawn.of("rect", "cell")
            assert [cell["fill-opacity"] for cell in cells] == pytest.approx(expected.tolist(), abs=0.0051)
            (left, top), (right, bottom) = cells[0].middle, cells[3].middle
            assert cells[1].middle == pytest.approx([right, top])
            assert cells[2].middle == pytest.approx([left, bottom])
            numbers = [f"{weight:.2f}" for weight in expected.tolist() if weight >= 0.095]
            assert [mark.text for mark in drawn.of("text", "number")] == numbers


@both_widths
def test_things_stand_in_their_squares(width: int) -> None:
    assert things(picture(small(), width, picture=1)) == [("#c00", 2), ("#0a0", 1)]
    assert things(picture(small(), width, picture=2)) == [("#888", 3), ("#0a0", 0)]
    # A frame stands around the one that the word describes.
    for index, word, square in ((1, 0, None), (1, 1, 2), (2, 0, 3), (2, 1, None)):
        drawn = picture(small(), width, picture=index, word=word)
        expected = [] if square is None else [pytest.approx(drawn.of("rect", "cell")[square].middle, abs=0.1)]
        assert [frame.middle for frame in drawn.of("rect", "gold")] == expected


@both_widths
def test_pictures_and_words_are_chosen_by_click(width: int) -> None:
    drawn = picture(small(), width, picture=2, word=1)
    _, (at, area) = drawn.picks("picture", "hide", "word")
    (chosen,) = drawn.of("rect", "chosen")
    assert at == (1, 0, 1)  # the same word of the whole picture
    assert area.holds(chosen)
    words = drawn.picks("word")
    for (at, area), (i, word) in zip(words, enumerate(("grey", "circle")), strict=True):
        assert at == (i,)
        assert area.holds(drawn.text(word))
    (frame,) = drawn.of("rect", "frame")
    assert words[1][1].holds(frame)


def hiding(**changes) -> Scene:
    """One picture with two things; without the first one two words go, and without the second one there is another."""
    options = {
        "captions": [[["red", "cross", "."], ["", "", "."], ["red", "circle", "."]]],
        "things": [[("cross", "#c00", 2), ("square", "#0a0", 1)]],
        "described": [[[2, 2, None], [None, None, None], [2, None, None]]],
        "size": 2, "name": "hiding", "alt": "Two by two squares.",
        "say": ["“{word}” is written.", "“{word}” is not written."],
    }  # fmt: skip

    def compute(picture: int, hide: str) -> dict:
        weights = torch.tensor([[0.1, 0.2, 0.7, 0.0], [0.0, 0.0, 1.0, 0.0], [0.25, 0.25, 0.25, 0.25]])
        written = torch.tensor([hide != HIDE[1], hide != HIDE[1], True])
        return {"weights": weights * written[:, None], "case": 1 - written.int()}

    return Scene(compute, {"picture": [1], "hide": HIDE[:3]}, **(options | changes))


@both_widths
def test_clicks_hide_a_thing_and_show_it_again(width: int) -> None:
    both = [("#c00", 2), ("#0a0", 1)]
    whole = picture(hiding(), width)
    squares = [cell.middle for cell in whole.of("rect", "cell")]
    assert things(whole) == both
    assert "hidden" not in whole.texts()
    for at, (_, square) in enumerate(both):
        area = dict(whole.picks("hide"))[at + 1,]
        assert area.middle == pytest.approx(squares[square], abs=0.1)
        drawn = picture(hiding(), width, hide=HIDE[at + 1])
        assert things(drawn) == [both[1 - at]]
        assert drawn.text("hidden").middle == pytest.approx(squares[square], abs=10)
        assert dict(drawn.picks("hide"))[0,].middle == pytest.approx(squares[square], abs=0.1)


@both_widths
def test_words_that_go_are_crossed_out(width: int) -> None:
    for hide, texts, gone, new, framed in (
        (HIDE[0], ["red", "cross", "."], [], [], 2),
        (HIDE[1], ["red", "cross", "."], ["red", "cross"], [], 0),
        (HIDE[2], ["red", "circle", "."], [], ["circle"], 1),  # which stands on grey
    ):
        drawn = picture(hiding(), width, hide=hide, word=2)
        words = {mark.text: mark.middle[0] for mark in drawn.of("text", "word")}
        assert list(words) == texts
        lines, grounds = (
            [m.middle[0] for m in drawn.of(*marks)] for marks in (("line", "rule"), ("rect", "trace"))
        )
        assert lines == pytest.approx([words[word] for word in gone], abs=0.1)
        assert grounds == pytest.approx([words[word] for word in new], abs=0.1)
        # In the small map of a word there is a frame where it belongs, at the left below.
        maps = [lattice.box for lattice in drawn.of("path", "lattice")[1:]]
        assert len(maps) == 3
        frames = drawn.of("rect", "mini")
        assert len(frames) == framed
        for frame, (left, top, right, bottom) in zip(frames, maps, strict=False):
            assert frame.box == pytest.approx((left, (top + bottom) / 2, (left + right) / 2, bottom), abs=0.1)


def test_each_word_has_the_sentence_of_its_case() -> None:
    figure = hiding()
    assert figure.sentence(hide=HIDE[0], word=1) == "“2” is written."
    assert figure.sentence(hide=HIDE[1], word=1) == "“2” is not written."
    assert figure.sentence(hide=HIDE[1], word=2) == "“3” is written."


def test_words_keep_their_places_when_others_go() -> None:
    sentence = "a red cross , a grey circle and a green square ."
    before = sentence.split()
    for after, expected in (
        (sentence, [*range(12)]),
        ("a grey circle and a green square .", [None] * 4 + [*range(8)]),
        ("a red cross and a green square .", [0, 1, 2, None, None, None, None, 3, 4, 5, 6, 7]),
        # "and" stands in the place of the comma.
        ("a red cross and a grey circle .", [0, 1, 2, 3, 4, 5, 6, None, None, None, None, 7]),
        ("a red cross , a grey triangle and a green square .", [*range(12)]),
        ("", [None] * 12),
    ):
        assert in_places(before, after.split()) == expected
    assert in_places(["a", "b"], ["a", "c", "c", "b"]) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("message", "make"),
    [
        (
            r"the same number of words, got \[1, 2\]",
            lambda: small(captions=[[["red"]], [["grey", "circle"]]]),
        ),
        (r"'weights' of shape \(2, 9\), got \(2, 4\)", lambda: small(size=3)),
        ("need 3 captions for each picture", lambda: hiding(captions=[[["red", "cross", "."]]])),
    ],
)
def test_what_does_not_fit_is_refused(message: str, make: Callable) -> None:
    with pytest.raises(ValueError, match=message):
        make()
