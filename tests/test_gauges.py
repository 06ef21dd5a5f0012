"""Gauges above a picture: how a share goes while the figure plays, and where it is now."""

import pytest
import torch
from pictures import WIDTHS, check_legible, linear, picture

from utils.explorables import Alignment, Weights

KEPT = {0: 1.0, 3: 0.25, 9: 0.5, 27: 0.0}


def figure(**changes) -> Weights:
    options = {"play": "step", "gauges": {"kept": "words that are right", "lost": "weight that is elsewhere"}}
    return Weights(
        lambda step, head: {"weights": torch.eye(2), "kept": KEPT[step], "lost": (1 - KEPT[step]) / head},
        {"step": list(KEPT), "head": [1, 2]}, queries="ab", keys="xy",
        name="f", alt="", say="", **(options | changes),
    )  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
def test_a_gauge_shows_the_course_of_a_share_and_where_it_is_now(width: int) -> None:
    plain = picture(figure(gauges={}), width)
    assert plain.of("path", "course") == []
    for at, step in enumerate(KEPT):
        for head in (1, 2):
            drawn = picture(figure(), width, step=step, head=head)
            frames = [rect for rect in drawn.of("rect", "grid") if rect.box[3] < drawn.height - plain.height]
            for k, shares in enumerate((list(KEPT.values()), [(1 - kept) / head for kept in KEPT.values()])):
                left, top, right, bottom = frames[k].box
                course = drawn.of("path", "course")[k].corners()
                across, up = linear([left, right], [0, 27]), linear([bottom, top], [0, 1])
                assert [across(x) for x in course[:, 0]] == pytest.approx(list(KEPT), abs=1e-2)
                assert [up(y) for y in course[:, 1]] == pytest.approx(shares, abs=1e-3)
                dot = drawn.of("circle", "weight")[k]
                assert dot.middle == pytest.approx(course[at], abs=0.02)
                assert drawn.texts().count(f"{shares[at]:.0%}") >= 1
            check_legible(drawn, width)
            # The maps stand below.
            lower = drawn.of("rect", "cell")[0].box[1] - plain.of("rect", "cell")[0].box[1]
            assert lower == pytest.approx(drawn.height - plain.height)
            assert lower > frames[1].box[3]


@pytest.mark.parametrize("width", WIDTHS)
def test_values_that_would_lie_too_close_on_a_scale_stand_side_by_side(width: int) -> None:
    doubling = Weights(
        lambda d: {"weights": torch.eye(2), "kept": 1 / d}, {"d": [2**k for k in range(10)]}, queries="ab", keys="xy",
        play="d", gauges={"kept": "kept"}, name="f", alt="", say="",
    )  # fmt: skip
    for d in (1, 64, 512):
        drawn = picture(doubling, width, d=d)
        course = drawn.of("path", "course")[0].corners()
        steps = course[1:, 0] - course[:-1, 0]
        assert steps == pytest.approx(steps.mean(), abs=0.02)
        assert drawn.of("circle", "weight")[0].middle == pytest.approx(course[d.bit_length() - 1], abs=0.02)
        check_legible(drawn, width)
    (area,) = drawn.of("rect", "drag")
    assert area.attributes["data-drag"] == "d"
    assert area["height"] >= 24


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("compare", [None, ("step", 0)])
def test_sentences_have_gauges_too(width: int, compare: tuple[str, int] | None) -> None:
    words = ["red", "automobile", "international", "extraordinary", "transportation", "."]
    long = Alignment(
        lambda step: {"weights": torch.eye(6), "kept": KEPT[step]}, {"step": list(KEPT)}, source=words, target=words,
        play="step", gauges={"kept": "words right"}, compare=compare, name="f", alt="", say="",
    )  # fmt: skip
    for step in KEPT:
        drawn = picture(long, width, step=step)
        assert len(drawn.of("path", "course")) == 1
        assert ("pale blue: step 0" in drawn.texts()) == (compare is not None and step > 0)
        check_legible(drawn, width)


def test_what_no_gauge_can_show_is_refused() -> None:
    with pytest.raises(ValueError, match=r"gauges need an axis that is played first, got \[\]"):
        figure(play=None)
    with pytest.raises(ValueError, match=r"gauges need an axis that is played first, got \['query'\]"):
        figure(play="query")
    with pytest.raises(ValueError, match=r"'found' of shape \(\), got None"):
        figure(gauges={"found": "words found"})
