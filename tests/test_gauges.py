"""Gauges above a picture: how a share goes while the figure plays, and where it is now."""

import json

import numpy as np
import pytest
import torch
from example_figures import rivals
from pictures import WIDTHS, check_legible, linear, picture, read_picture

from utils.explorables import Alignment, Weights
from utils.explorables.still import Stage

KEPT = {0: 1.0, 3: 0.25, 9: 0.5, 27: 0.0}


def figure(**changes) -> Weights:
    options = {"play": "step", "gauges": ("shares of the words", {"kept": "right words", "lost": "lost"})}
    return Weights(
        lambda step, head: {"weights": torch.eye(2), "kept": KEPT[step], "lost": (1 - KEPT[step]) / head},
        {"step": list(KEPT), "head": [1, 2]}, queries="ab", keys="xy",
        name="f", alt="", say="", **(options | changes),
    )  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
def test_a_gauge_shows_the_course_of_a_share_and_where_it_is_now(width: int) -> None:
    plain = picture(figure(gauges=("", {})), width)
    assert plain.of("path", "course") == []
    for at, step in enumerate(KEPT):
        for head in (1, 2):
            drawn = picture(figure(), width, step=step, head=head)
            empty, _, full = drawn.of("line", "grid")[:3]  # 0, 50% and 100%
            (area,) = drawn.of("rect", "drag", "instead")  # 16 pixels wider than the axis on both sides
            left, bottom, right, top = empty["x1"], empty["y1"], area.box[2] - 16, full["y1"]
            across, up = linear([left, right], [0, 27]), linear([bottom, top], [0, 1])
            # The first dot is drawn last, above the others.
            dots, whole = drawn.of("circle", "outlined")[::-1], drawn.of("path", "course", without=("done",))
            strong = drawn.of("path", "course", "done")
            for k, shares in enumerate((list(KEPT.values()), [(1 - kept) / head for kept in KEPT.values()])):
                # The whole curve, and over it the part up to where the figure is now.
                course, done = whole[k].corners(), strong[k].corners()
                assert done == pytest.approx(np.r_[course[: at + 1], course[at : at + 1]], abs=0.02)
                assert [across(x) for x in course[:, 0]] == pytest.approx(list(KEPT), abs=1e-2)
                assert [up(y) for y in course[:, 1]] == pytest.approx(shares, abs=1e-3)
                assert dots[k].middle == pytest.approx(course[at], abs=0.02)
                # Its name and its number stand beside the dot, above or below what the curve does there.
                name = drawn.text(f"{('right words', 'lost')[k]} {shares[at]:.0%}")
                assert abs(name.middle[1] - dots[k].middle[1]) < 46
                beside = name.box[0] - dots[k].middle[0], dots[k].middle[0] - name.box[2]
                assert 5 < max(beside) < 16
            assert across(drawn.of("line", "rule")[0]["x1"]) == pytest.approx(step, abs=1e-2)
            (grip,) = drawn.of("rect", "handle")
            assert grip.box[0] < drawn.text(f"step {step}").middle[0] < grip.box[2]
            assert area.box[1] <= grip.box[1] < grip.box[3] <= area.box[3]
            check_legible(drawn, width)
            # The maps stand below.
            lower = drawn.of("rect", "cell")[0].box[1] - plain.of("rect", "cell")[0].box[1]
            assert lower == pytest.approx(drawn.height - plain.height)
            assert lower > bottom


@pytest.mark.parametrize("width", WIDTHS)
def test_the_arrows_of_a_grip_go_one_value_on_or_back(width: int) -> None:
    last = len(KEPT) - 1
    for at, step in enumerate(KEPT):
        drawn = picture(figure(), width, step=step)
        (grip,) = drawn.of("rect", "handle")
        arrows = {
            json.loads(m.attributes["data-pick"])["step"]: m
            for m in drawn.of("rect", "drag", without=("instead",))
        }
        assert set(arrows) == {at - 1, at + 1} & set(range(last + 1))
        for to, arrow in arrows.items():
            assert "data-click" in arrow.attributes, "the mouse above it shows nothing"
            assert (to > at) == (arrow.middle[0] > grip.middle[0])
            assert min(arrow["width"], arrow["height"]) >= 24


@pytest.mark.parametrize("width", WIDTHS)
def test_names_and_numbers_of_courses_that_meet_stand_apart(width: int) -> None:
    shares = {"p": 0.5, "q": 0.51, "r": 0.0}
    many = Weights(
        lambda d: {"weights": torch.eye(2)} | {name: share * (1 - d) for name, share in shares.items()},
        {"d": [0, 1]}, queries="ab", keys="xy", play="d",
        gauges=("three", dict(zip("pqr", ("first", "second", "third"), strict=True))), name="f", alt="", say="",
    )  # fmt: skip
    for d in (0, 1):
        drawn = picture(many, width, d=d)
        check_legible(drawn, width)
        bottom = drawn.of("line", "grid")[0]["y1"]
        named = [
            mark for mark in drawn.of("text", "name") if mark.text.split()[0] in ("first", "second", "third")
        ]
        assert len(named) == 3
        assert max(mark.middle[1] for mark in named) < bottom + 4


def test_the_names_of_rivals_stand_at_the_ends_of_their_curves() -> None:
    stage = Stage(rivals().spec)
    for step, reached, ends in (
        (0, {0: 2, 1: 1}, "up 100%"),
        (2, {0: 1, 1: 2}, "up 50%"),
        (1, {0: 1, 1: 1}, "up 50%"),
    ):
        state = {"place": {"step": step, "way": 1, "query": 0}, "reached": reached}
        drawn = read_picture(stage.picture(state, 720))
        check_legible(drawn, 720)
        (area,) = drawn.of("rect", "drag", "instead")
        across = linear([0, 2], [area.box[0] + 16, area.box[2] - 16])
        name, other = drawn.text(ends), drawn.text(f"down {(1, 0.5, 0.25)[step]:.0%}")
        assert name.box[0] == pytest.approx(across(reached[0]) + 10, abs=0.1)
        assert other.box[0] == pytest.approx(across(step) + 10, abs=0.1)
        # At the third of these places both curves end in one point.
        assert step != 1 or abs(name.middle[1] - other.middle[1]) >= 15
    # On a phone there is room for the chosen one alone.
    drawn = read_picture(stage.picture(state, 328))
    assert [text for text in drawn.texts() if text.startswith(("up", "down"))] == ["down 50%"]


@pytest.mark.parametrize("width", WIDTHS)
def test_values_that_would_lie_too_close_on_a_scale_stand_side_by_side(width: int) -> None:
    doubling = Weights(
        lambda d: {"weights": torch.eye(2), "kept": 1 / d}, {"d": [2**k for k in range(10)]}, queries="ab", keys="xy",
        play="d", gauges=("kept", {"kept": ""}), name="f", alt="", say="",
    )  # fmt: skip
    for d in (1, 64, 512):
        drawn = picture(doubling, width, d=d)
        course = drawn.of("path", "course")[0].corners()
        steps = course[1:, 0] - course[:-1, 0]
        assert steps == pytest.approx(steps.mean(), abs=0.02)
        assert drawn.of("circle", "weight")[0].middle == pytest.approx(course[d.bit_length() - 1], abs=0.02)
        check_legible(drawn, width)
    (area,) = drawn.of("rect", "drag", "instead")
    assert area.attributes["data-drag"] == "d"
    assert area["height"] >= 24


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("compare", [None, ("step", 0)])
def test_sentences_have_gauges_too(width: int, compare: tuple[str, int] | None) -> None:
    words = ["red", "automobile", "international", "extraordinary", "transportation", "."]
    long = Alignment(
        lambda step: {"weights": torch.eye(6), "kept": KEPT[step]}, {"step": list(KEPT)}, source=words, target=words,
        play="step", gauges=("words right", {"kept": ""}), compare=compare, name="f", alt="", say="",
    )  # fmt: skip
    for step in KEPT:
        drawn = picture(long, width, step=step)
        assert len(drawn.of("path", "course", without=("done",))) == 1
        assert ("pale blue band: step 0" in drawn.texts()) == (compare is not None)
        check_legible(drawn, width)


def test_what_no_gauge_can_show_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"gauges need an axis of several rising numbers that is played first, got \[\]"
    ):
        figure(play=None)
    with pytest.raises(
        ValueError,
        match=r"gauges need an axis of several rising numbers that is played first, got \['query'\]",
    ):
        figure(play="query")
    for values in (["few", "many"], [3, 1]):
        with pytest.raises(ValueError, match="gauges need an axis of several rising numbers"):
            Weights(
                lambda n: {"weights": torch.eye(2), "kept": 1.0}, {"n": values}, queries="ab", keys="xy",
                play="n", gauges=("kept", {"kept": ""}), name="f", alt="", say="",
            )  # fmt: skip
    with pytest.raises(ValueError, match="'found', a number or one per choice, got None"):
        figure(gauges=("words", {"found": "words found"}))


@pytest.mark.parametrize("width", WIDTHS)
def test_a_share_with_a_number_for_each_choice_is_that_of_the_choice(width: int) -> None:
    shares = {1: [0.9, 0.5], 3: [0.7, 0.1]}
    chosen = Weights(
        lambda d: {"weights": torch.eye(2), "own": torch.tensor(shares[d])}, {"d": list(shares)},
        queries=["one", "two"], keys="ab", play="d", gauges=("own", {"own": "this"}), name="f", alt="", say="",
    )  # fmt: skip
    for query in (0, 1):
        for d, share in shares.items():
            assert f"this {share[query]:.0%}" in picture(chosen, width, d=d, query=query).texts()
