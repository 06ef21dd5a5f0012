"""Pictures with captions: each weight a shade of its square, each thing in its own, each word a place to click."""

import json

import pytest
import torch
from example_figures import HIDE
from example_figures import scene as example
from pictures import WIDTHS, check_legible, picture

from utils.explorables import Scene
from utils.explorables.kinds.scene import in_places

#: Of two words and four squares.
WEIGHTS = torch.tensor([[0.78, 0.22, 0.0, 0.0], [0.04, 0.06, 0.7, 0.2]])


def small(**changes) -> Scene:
    options = {
        "captions": [["red", "cross"], ["grey", "circle"]],
        "things": [
            [("cross", "#c00", 2), ("square", "#0a0", 1)],
            [("circle", "#888", 3), ("triangle", "#0a0", 0)],
        ],
        "described": [[None, 2], [3, None]],
        "size": 2,
        "name": "small",
        "alt": "Two by two squares.",
        "say": "{picture} {word}",
    }
    return Scene(lambda picture: {"weights": WEIGHTS / picture}, {"picture": [1, 2]}, **(options | changes))


@pytest.mark.parametrize("width", WIDTHS)
def test_weights_are_shades_and_numbers_of_their_squares(width: int) -> None:
    for index in (1, 2):
        for word in (0, 1):
            drawn, expected = picture(small(), width, picture=index, word=word), WEIGHTS[word] / index
            cells = drawn.of("rect", "cell")
            assert [cell["fill-opacity"] for cell in cells] == pytest.approx(expected.tolist(), abs=0.0051)
            left, top = cells[0].middle
            right, bottom = cells[3].middle
            assert right - left == pytest.approx(bottom - top)
            assert right - left > 100
            assert cells[1].middle == pytest.approx([right, top])
            assert cells[2].middle == pytest.approx([left, bottom])
            numbers = [(cell, f"{weight:.2f}") for cell, weight in zip(cells, expected.tolist(), strict=True)]
            written = drawn.of("text", "number")
            assert [mark.text for mark in written] == [text for _, text in numbers if float(text) >= 0.095]
            for mark in written:
                box = next(cell for cell, text in numbers if text == mark.text).box
                assert box[0] < mark.box[0] < mark.box[2] < box[2]
                assert box[1] < mark.box[1] < mark.box[3] < box[3]


@pytest.mark.parametrize("width", WIDTHS)
def test_things_stand_in_their_squares_and_a_frame_around_the_one_that_is_described(width: int) -> None:
    # A cross has twelve corners, a square four and a triangle three; the first one is also the last point.
    for index, squares, points in ((1, (2, 1), (13, 5)), (2, (3, 0), (None, 4))):
        drawn = picture(small(), width, picture=index)
        cells = drawn.of("rect", "cell")
        # Those of the small pictures come after them.
        marks = [mark for mark in drawn.marks if "outlined" in mark.classes][:2]
        for thing, square, count in zip(marks, squares, points, strict=True):
            assert thing.tag == ("path" if count else "circle")
            assert not count or len(thing.corners()) == count
            assert thing.middle - cells[square].middle == pytest.approx([0, 6], abs=0.1)
            assert thing.box[2] - thing.box[0] > 20
        colours = [mark.attributes["fill"] for mark in marks]
        assert colours == (["#c00", "#0a0"] if index == 1 else ["#888", "#0a0"])
    for index, word, square in ((1, 0, None), (1, 1, 2), (2, 0, 3), (2, 1, None)):
        drawn = picture(small(), width, picture=index, word=word)
        frames = [frame.middle for frame in drawn.of("rect", "gold")]
        expected = [] if square is None else [drawn.of("rect", "cell")[square].middle]
        assert len(frames) == len(expected)
        assert all(a == pytest.approx(b, abs=0.1) for a, b in zip(frames, expected, strict=True))


@pytest.mark.parametrize("width", WIDTHS)
def test_each_word_can_be_chosen_with_a_finger_and_the_chosen_one_has_a_frame(width: int) -> None:
    drawn = picture(small(), width, picture=2, word=1)
    areas = drawn.of("rect", "pick")
    picks = [json.loads(area.attributes["data-pick"]) for area in areas]
    assert picks == [{"picture": 0}, {"picture": 1}, {"word": 0}, {"word": 1}]
    (chosen,) = drawn.of("rect", "chosen")
    assert chosen.middle == pytest.approx(areas[1].middle)
    assert min(area.box[2] - area.box[0] for area in areas[:2]) >= 24
    areas = areas[2:]
    for area, word in zip(areas, ("grey", "circle"), strict=True):
        left, top, right, bottom = area.box
        assert right - left >= 24
        assert bottom - top >= 24
        assert drawn.text(word).middle[0] == pytest.approx((left + right) / 2, abs=0.1)
    [frame] = drawn.of("rect", "frame")
    assert frame.middle == pytest.approx(areas[1].middle, abs=0.1)
    # Beside the picture on a desk, below it on a phone.
    cells = drawn.of("rect", "cell")
    assert (areas[0].box[0] > cells[1].box[2]) == (width == 720)
    assert (areas[0].box[1] > cells[3].box[3]) == (width == 328)


def hiding(**changes) -> Scene:
    """One picture with two things; without the first one two words go, and without the second one there is another."""
    options = {
        "captions": [[["red", "cross", "."], ["", "", "."], ["red", "circle", "."]]],
        "things": [[("cross", "#c00", 2), ("square", "#0a0", 1)]],
        "described": [[[2, 2, None], [None, None, None], [2, None, None]]],
        "size": 2,
        "name": "hiding",
        "alt": "Two by two squares.",
        "say": ["“{word}” is written.", "“{word}” is not written."],
    }

    def compute(picture: int, hide: str) -> dict:
        weights = torch.tensor([[0.1, 0.2, 0.7, 0.0], [0.0, 0.0, 1.0, 0.0], [0.25, 0.25, 0.25, 0.25]])
        written = torch.tensor([hide != HIDE[1], hide != HIDE[1], True])
        return {"weights": weights * written[:, None], "case": 1 - written.int()}

    return Scene(compute, {"picture": [1], "hide": HIDE[:3]}, **(options | changes))


@pytest.mark.parametrize("width", WIDTHS)
def test_a_hidden_thing_is_gone_and_a_click_on_a_thing_hides_it(width: int) -> None:
    whole, *others = (picture(hiding(), width, hide=hide) for hide in HIDE[:3])
    squares = [cell.middle for cell in whole.of("rect", "cell")]

    def large(drawn) -> list:
        """The colours of the things in the large picture; those of the small one come after them."""
        return [mark.attributes["fill"] for mark in drawn.marks if "outlined" in mark.classes][:-2]

    assert large(whole) == ["#c00", "#0a0"]
    assert "hidden" not in whole.texts()
    for drawn, left, square in zip(others, (["#0a0"], ["#c00"]), (2, 1), strict=True):
        assert large(drawn) == left
        assert drawn.text("hidden").middle == pytest.approx(squares[square], abs=10)
        # A click on the empty square brings the thing back.
        back = [mark for mark in drawn.of("rect", "pick") if mark.attributes["data-pick"] == '{"hide":0}']
        assert [mark.middle.tolist() for mark in back] == [pytest.approx(squares[square].tolist(), abs=0.1)]
    for area, thing, square in zip(whole.of("rect", "pick"), (1, 2), (2, 1), strict=False):
        assert json.loads(area.attributes["data-pick"]) == {"hide": thing}
        assert area.middle == pytest.approx(squares[square], abs=0.1)


@pytest.mark.parametrize("width", WIDTHS)
def test_words_that_are_not_written_are_crossed_out_and_new_ones_stand_on_grey(width: int) -> None:
    for hide, texts, gone, new in (
        (HIDE[0], ["red", "cross", "."], [], []),
        (HIDE[1], ["red", "cross", "."], ["red", "cross"], []),
        (HIDE[2], ["red", "circle", "."], [], ["circle"]),
    ):
        drawn = picture(hiding(), width, hide=hide, word=2)
        words = {mark.text: mark for mark in drawn.of("text", "word")}
        assert list(words) == texts
        lines, grounds = drawn.of("line", "rule"), drawn.of("rect", "trace")
        assert [mark.middle[0] for mark in lines] == pytest.approx(
            [words[w].middle[0] for w in gone], abs=0.1
        )
        assert [mark.middle[0] for mark in grounds] == pytest.approx(
            [words[w].middle[0] for w in new], abs=0.1
        )
        for mark in (*lines, *grounds):
            assert any(word.box[1] < mark.middle[1] < word.box[3] for word in words.values())
        # A word that is gone has an empty small map, and one that is written a frame where it belongs.
        assert len(drawn.of("path", "lattice")) - 1 == 3
        assert len(drawn.of("rect", "mini")) == {HIDE[0]: 2, HIDE[1]: 0, HIDE[2]: 1}[hide]


def test_the_frame_in_a_small_map_is_where_its_square_is() -> None:
    drawn = picture(hiding(), 720)
    for frame, lattice in zip(drawn.of("rect", "mini"), drawn.of("path", "lattice")[1:], strict=False):
        left, top, right, bottom = lattice.box
        assert frame.box == pytest.approx((left, (top + bottom) / 2, (left + right) / 2, bottom), abs=0.1)


def test_each_word_has_the_sentence_of_its_case() -> None:
    figure = hiding()
    assert figure.sentence(hide=HIDE[0], word=1) == "“2” is written."
    assert figure.sentence(hide=HIDE[1], word=1) == "“2” is not written."
    assert figure.sentence(hide=HIDE[1], word=2) == "“3” is written."


def test_words_keep_their_places_when_others_go() -> None:
    before = ["a", "red", "cross", ",", "a", "grey", "circle", "and", "a", "green", "square", "."]
    for after, expected in (
        (before, [*range(12)]),
        (["a", "grey", "circle", "and", "a", "green", "square", "."], [None] * 4 + [*range(8)]),
        (
            ["a", "red", "cross", "and", "a", "green", "square", "."],
            [0, 1, 2, None, None, None, None, 3, 4, 5, 6, 7],
        ),
        # "and" stands in the place of the comma.
        (
            ["a", "red", "cross", "and", "a", "grey", "circle", "."],
            [0, 1, 2, 3, 4, 5, 6, None, None, None, None, 7],
        ),
        (
            ["a", "red", "cross", ",", "a", "grey", "triangle", "and", "a", "green", "square", "."],
            [*range(12)],
        ),
        ([], [None] * 12),
    ):
        assert in_places(before, after) == expected
    assert in_places(["a", "b"], ["a", "c", "c", "b"]) == [0, 1, 2, 3]


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_and_no_texts_touch(width: int) -> None:
    for index in (1, 2):
        for hide in HIDE:
            for word in range(12):
                check_legible(picture(example(), width, picture=index, hide=hide, word=word), width)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must have the same length, got 2, 1, 2 and 2"):
        small(captions=[["red", "cross"]])
    with pytest.raises(ValueError, match=r"the same number of words, got \[2, 3\]"):
        small(captions=[["red", "cross"], ["a", "grey", "circle"]])
    for thing in (("star", "#000", 1), ("cross", "#000", 4)):
        with pytest.raises(ValueError, match=f"in a square from 0 to 3, got '{thing[0]}' in {thing[2]}"):
            small(things=[[thing], []])
    with pytest.raises(ValueError, match=r"'weights' of shape \(2, 9\), got \(2, 4\)"):
        small(size=3)
    with pytest.raises(ValueError, match=r"need 3 captions for each picture"):
        hiding(captions=[[["red", "cross", "."]]])
    with pytest.raises(ValueError, match=r"hides at most 2 things, got a picture with 3"):
        hiding(things=[[("cross", "#c00", square) for square in range(3)]])
