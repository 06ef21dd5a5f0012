"""The picture of each example, mark by mark, beside the one that somebody has looked at, in the folder `pictures`.

To write them again: `WRITE_PICTURES=1 .venv/bin/python -m pytest tests/utils/figures/test_pictures.py`; then open each
one that `git diff` names in a browser, and look at it.
"""

import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from example_figures import examples

from utils.figures.colours import css_variables

FOLDER = Path(__file__).parent / "pictures"
SHEET = os.path.relpath(Path(__file__).parents[3] / "utils" / "figures" / "picture.css", FOLDER)
#: Widths of a column of text on a desk and on a phone of 360 pixels.
WIDTHS = (720, 328)
FIGURES = examples()
NUMBER = re.compile(r"(-?\d*\.?\d+)")


def written(name: str, width: int) -> str:
    """The marks of a picture, each on a line of its own, with coordinates to a tenth of a pixel."""
    root = ET.fromstring(FIGURES[name].draw(width))
    root.remove(root[0])  # the style, which a file takes from the style sheet
    root.set("style", css_variables(dark=False))
    for mark in root.iter():
        for key in set(mark.keys()) - {"class", "data-pick", "data-drag", "style"}:
            mark.set(key, NUMBER.sub(lambda number: f"{round(float(number[0]), 1) + 0.0:g}", mark.get(key)))
    ET.register_namespace("", "http://www.w3.org/2000/svg")
    ET.indent(root, " ")
    return f'<?xml-stylesheet href="{SHEET}"?>\n{ET.tostring(root, encoding="unicode")}\n'


def parts(svg: str) -> tuple[list[str], list[float]]:
    """What is no number, and the numbers."""
    pieces = NUMBER.split(svg)
    return pieces[::2], [float(number) for number in pieces[1::2]]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", FIGURES)
def test_a_picture_is_the_one_that_was_looked_at(name: str, width: int) -> None:
    path, now = FOLDER / f"{name}-{width}.svg", written(name, width)
    if "WRITE_PICTURES" in os.environ:
        path.write_text(now, "utf-8")
    words, numbers = parts(now)
    expected_words, expected = parts(path.read_text("utf-8"))
    assert words == expected_words
    # Another processor may round a number to the next tenth.
    assert numbers == pytest.approx(expected, abs=0.11)


def test_no_picture_is_left_over() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {
        f"{name}-{width}" for name in FIGURES for width in WIDTHS
    }
