"""Pictures with captions: each weight a shade of its square, each thing in its own, each word a place to click."""

import json

import pytest
import torch
from example_figures import scene as example
from pictures import WIDTHS, check_legible, picture

from utils.explorables import Scene

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
    # A square chooses the word that looks most at it.
    squares, areas = areas[:4], areas[4:]
    assert picks[:4] == [{"word": int(i)} for i in WEIGHTS.argmax(dim=0)]
    for area, cell in zip(squares, drawn.of("rect", "cell"), strict=True):
        assert area.middle == pytest.approx(cell.middle, abs=0.1)
    assert picks[4:] == [{"picture": 0}, {"picture": 1}, {"word": 0}, {"word": 1}]
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


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_and_no_texts_touch(width: int) -> None:
    for index in (1, 2):
        for word in range(12):
            check_legible(picture(example(), width, picture=index, word=word), width)


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
