"""Gauges above a picture: how a share goes while the figure plays, and where it is now."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from example_figures import rivals
from pictures import WIDTHS, check_legible, linear, picture, read_picture

from utils.figures import Alignment, Weights
from utils.figures.still import Stage

KEPT = {0: 1.0, 3: 0.25, 9: 0.5, 27: 0.0}
both_widths = pytest.mark.parametrize("width", WIDTHS)


def figure(compute: Callable | None = None, axes: dict | None = None, **changes) -> Weights:
    options = {"play": "step", "gauges": ("shares of the words", {"kept": "right words", "lost": "lost"})}
    return Weights(
        compute
        or (lambda step, head: {"weights": torch.eye(2), "kept": KEPT[step], "lost": (1 - KEPT[step]) / head}),
        axes or {"step": list(KEPT), "head": [1, 2]},
        queries="ab", keys="xy", name="f", alt="", say="", **(options | changes),
    )  # fmt: skip


@both_widths
def test_a_gauge_shows_a_curve_and_its_place(width: int) -> None:
    for at, step in enumerate(KEPT):
        for head in (1, 2):
            drawn = picture(figure(), width, step=step, head=head)
            check_legible(drawn, width)
            empty, _, full = drawn.of("line", "grid")[:3]  # 0, 50% and 100%
            up = linear([empty["y1"], full["y1"]], [0, 1])
            whole, strong = drawn.of("path", "course", without=("done",)), drawn.of("path", "course", "done")
            # The first dot is drawn last, above the others.
            dots = drawn.of("circle", "outlined")[::-1]
            for k, shares in enumerate((list(KEPT.values()), [(1 - kept) / head for kept in KEPT.values()])):
                # The whole curve, and over it the part up to where the figure is now.
                course, done = whole[k].corners(), strong[k].corners()
                linear(list(course[:, 0]), list(KEPT))  # the values of the axis are evenly spread
                assert up(course[:, 1]) == pytest.approx(shares, abs=1e-3)
                assert done == pytest.approx(np.r_[course[: at + 1], course[at : at + 1]], abs=0.02)
                assert dots[k].middle == pytest.approx(course[at], abs=0.02)
                drawn.text(f"{('right words', 'lost')[k]} {shares[at]:.0%}")  # its name and its number
            (rule,), (grip,) = drawn.of("line", "rule"), drawn.of("rect", "handle")
            assert rule["x1"] == pytest.approx(whole[0].corners()[at, 0], abs=0.02)
            assert grip.box[0] < drawn.text(f"step {step}").middle[0] < grip.box[2]
            (area,) = drawn.of("rect", "drag", "instead")
            assert area.attributes["data-drag"] == "step"


@both_widths
def test_the_arrows_of_a_grip_go_one_on(width: int) -> None:
    for at, step in enumerate(KEPT):
        drawn = picture(figure(), width, step=step)
        (grip,) = drawn.of("rect", "handle")
        arrows = [area.attributes["data-pick"] for area in drawn.of("rect", "drag", without=("instead",))]
        assert set(arrows) == {f'{{"step":{to}}}' for to in (at - 1, at + 1) if 0 <= to < len(KEPT)}
        for arrow, which in zip(drawn.of("rect", "drag", without=("instead",)), arrows, strict=True):
            assert (which == f'{{"step":{at + 1}}}') == (arrow.middle[0] > grip.middle[0])


@both_widths
def test_names_of_courses_that_meet_stand_apart(width: int) -> None:
    shares = {"p": 0.5, "q": 0.51, "r": 0.0}
    names = ("first", "second", "third")
    many = figure(
        lambda d: {"weights": torch.eye(2)} | {name: share * (1 - d) for name, share in shares.items()},
        {"d": [0, 1]}, play="d", gauges=("three", dict(zip("pqr", names, strict=True))),
    )  # fmt: skip
    for d in (0, 1):
        drawn = picture(many, width, d=d)
        check_legible(drawn, width)
        assert {text.split()[0] for text in drawn.texts() if text.endswith("%")} >= set(names)


def test_rivals_have_their_names_at_the_ends() -> None:
    stage = Stage(rivals().spec)
    for step, reached, ends in (
        (0, {0: 2, 1: 1}, "up 100%"), (2, {0: 1, 1: 2}, "up 50%"), (1, {0: 1, 1: 1}, "up 50%")
    ):  # fmt: skip
        state = {"place": {"step": step, "way": 1, "query": 0}, "reached": reached}
        drawn = read_picture(stage.picture(state, 720))
        check_legible(drawn, 720)
        name, other = drawn.text(ends), drawn.text(f"down {(1, 0.5, 0.25)[step]:.0%}")
        assert np.sign(name.box[0] - other.box[0]) == np.sign(reached[0] - step)
    # On a phone there is room for the chosen one alone.
    drawn = read_picture(stage.picture(state, 328))
    assert [text for text in drawn.texts() if text.startswith(("up", "down"))] == ["down 50%"]


@both_widths
def test_values_too_close_stand_side_by_side(width: int) -> None:
    doubling = figure(
        lambda d: {"weights": torch.eye(2), "kept": 1 / d}, {"d": [2**k for k in range(10)]},
        play="d", gauges=("kept", {"kept": ""}),
    )  # fmt: skip
    for d in (1, 64, 512):
        drawn = picture(doubling, width, d=d)
        check_legible(drawn, width)
        course = drawn.of("path", "course")[0].corners()
        linear(list(course[:, 0]), [*range(10)])
        assert drawn.of("circle", "weight")[0].middle == pytest.approx(course[d.bit_length() - 1], abs=0.02)


@both_widths
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
        check_legible(drawn, width)


def test_a_share_can_be_that_of_a_choice() -> None:
    shares = {1: [0.9, 0.5], 3: [0.7, 0.1]}
    chosen = figure(
        lambda d: {"weights": torch.eye(2), "own": torch.tensor(shares[d])}, {"d": list(shares)},
        play="d", gauges=("own", {"own": "this"}),
    )  # fmt: skip
    for query in (0, 1):
        for d, share in shares.items():
            assert f"this {share[query]:.0%}" in picture(chosen, d=d, query=query).texts()


RISING = "gauges need an axis of several rising numbers that is played first, got "


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        (RISING + r"\[\]", {"play": None}),
        (RISING + r"\['query'\]", {"play": "query"}),
        (RISING, {"compute": lambda step: {"weights": torch.eye(2), "kept": 1.0}, "axes": {"step": [3, 1]}}),
        ("'found', a number or one per choice, got None", {"gauges": ("words", {"found": "words found"})}),
    ],
)
def test_what_no_gauge_can_show_is_refused(message: str, changes: dict) -> None:
    with pytest.raises(ValueError, match=message):
        figure(**changes)
