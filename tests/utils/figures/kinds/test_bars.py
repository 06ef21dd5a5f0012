"""Distributions as bars: as high as their numbers, over their labels, and what is forbidden or not known."""

import re

import pytest
import torch
from example_figures import bars as example
from pictures import marks, sizes, texts

from utils.figures import Bars

NUMBERS = torch.tensor([1.0, 0.5, 0.0, 0.125])


def small(**changes) -> Bars:
    options = {
        "panels": {"p": "first", "q": "second"}, "bars": ["v", "w", "x", "y"], "edge": "n", "name": "small",
        "alt": "Bars.", "say": "{n}", "start": {"n": 4},
    }  # fmt: skip
    return Bars(
        lambda n: {"p": NUMBERS, "q": NUMBERS.flip(0) / 2, "verdict": torch.tensor([2 * (n > 1), 0])},
        {"n": range(5)},
        **(options | changes),
    )


def test_bars_are_as_high_as_their_numbers() -> None:
    for width in (720, 328):
        drawn = small().draw(width)
        heights = sizes(marks(drawn, "rect", "weight"), "height")
        numbers = [*NUMBERS.tolist(), *(NUMBERS.flip(0) / 2).tolist()]
        assert [height / heights[0] for height in heights] == pytest.approx(numbers, abs=1e-3)
        assert [float(text) for text in texts(drawn, "number")] == pytest.approx(numbers, abs=0.0051)


def test_bars_behind_the_line_are_forbidden() -> None:
    for n in range(5):
        drawn = small().draw(n=n)
        bars = marks(drawn, "rect", "weight")
        assert ["forbidden" in bar.get("class") for bar in bars] == [j >= n for j in range(4)] * 2
        edge = float(re.match(r"M([\d.]+)", marks(drawn, "path", "edge")[0].get("d"))[1])
        assert [x > edge for x in sizes(bars, "x")] == [j >= n for j in range(4)] * 2
        assert len(marks(drawn, "path", "hatch")) == (2 if n < 4 else 0)


def test_a_phone_names_allowed_and_forbidden_together() -> None:
    for n, words in (
        (0, {"forbidden"}), (1, {"1 allowed, 7 forbidden"}), (4, {"allowed", "forbidden"}),
        (7, {"7 allowed, 1 forbidden"}), (8, {"allowed"}),
    ):  # fmt: skip
        written = texts(example().draw(328, valid_length=n))
        assert {text for text in written if "allowed" in text or "forbidden" in text} == words


def test_the_name_of_the_scores_has_room_beside_one_panel() -> None:
    given = Bars(
        lambda n: {"p": NUMBERS, "given": NUMBERS}, {"n": range(5)}, panels={"p": "weights"},
        bars=["v", "w", "x", "y"], edge="n", name="given", alt="Bars.", say="Scores.",
    )  # fmt: skip
    (name,) = (mark for mark in marks(given.draw(720), "text", "end", "name") if mark.text == "scores")
    x = float(re.match(r"translate\(([\d.]+) ", name.get("transform"))[1])
    assert x > 6.5 * len("scores"), "it ends there"
