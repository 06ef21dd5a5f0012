"""Pictures of figures read back as places and shapes, and what holds in each: nothing is cut, no texts touch."""

import itertools
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
from fontTools.ttLib import TTFont

from utils.figures import Figure

#: Width of a column of text on a desk and on a phone of 360 pixels.
WIDTHS = (720, 328)
#: Marks that nobody sees: they only take clicks and drags.
UNSEEN = {"pick", "drag", "pull"}
#: Sizes of texts in picture.css, in pixels.
SIZES = {"word": 14, "big": 15, "number": 11}


@dataclass(eq=False)
class Mark:
    """One mark of a picture, with all transforms around it as one matrix."""

    tag: str
    classes: set[str]
    attributes: dict[str, str]
    text: str
    matrix: np.ndarray

    def __getitem__(self, attribute: str) -> float:
        return float(self.attributes[attribute])

    def corners(self) -> np.ndarray:
        """Corners of the mark, or points that it lies between, in the picture, (points, 2)."""
        a, tag = self.attributes, self.tag
        if tag == "rect":
            x, y, w, h = (self[key] for key in ("x", "y", "width", "height"))
            own = [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]
        elif tag == "circle":
            x, y, r = (self[key] for key in ("cx", "cy", "r"))
            own = [(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)]
        elif tag == "line":
            own = [(self["x1"], self["y1"]), (self["x2"], self["y2"])]
        elif tag == "path":
            own = [point for stretch in stretches(a["d"]) for point in stretch]
        else:
            size = next((SIZES[name] for name in self.classes & SIZES.keys()), 12)
            wide = text_width(self.text, size)
            left = -wide * (1 if "end" in self.classes else 0.5 if "middle" in self.classes else 0)
            top, bottom = -0.72 * size, 0.2 * size
            own = [(left, top), (left + wide, top), (left + wide, bottom), (left, bottom)]
        return (np.c_[np.array(own, float).reshape(-1, 2), np.ones(len(own))] @ self.matrix.T)[:, :2]

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom in the picture."""
        corners = self.corners()
        return (*corners.min(axis=0), *corners.max(axis=0))

    @property
    def middle(self) -> np.ndarray:
        left, top, right, bottom = self.box
        return np.array([(left + right) / 2, (top + bottom) / 2])

    def holds(self, other: "Mark", slack: float = 1) -> bool:
        """Whether another mark lies within this one."""
        left, top, right, bottom = self.box
        x1, y1, x2, y2 = other.box
        return x1 >= left - slack and y1 >= top - slack and x2 <= right + slack and y2 <= bottom + slack


@dataclass
class Picture:
    width: float
    height: float
    marks: list[Mark]

    def of(self, tag: str, *classes: str, without: tuple[str, ...] = ()) -> list[Mark]:
        """The marks of this tag that have all these classes, in order."""
        return [
            m
            for m in self.marks
            if m.tag == tag and m.classes >= set(classes) and not m.classes & set(without)
        ]

    def texts(self) -> list[str]:
        return [mark.text for mark in self.of("text")]

    def text(self, text: str) -> Mark:
        """The only text of this wording."""
        (found,) = [mark for mark in self.of("text") if mark.text == text]
        return found

    def picks(self, *controls: str) -> list[tuple[tuple[int, ...], Mark]]:
        """Of each place whose click sets just these controls: their values, as numbers, and the place."""
        choices = [(json.loads(area.attributes["data-pick"]), area) for area in self.of("rect", "pick")]
        return [
            (tuple(choice[name] for name in controls), area)
            for choice, area in choices
            if choice.keys() == set(controls)
        ]


def picture(figure: Figure, width: float = 720, **point: object) -> Picture:
    """A figure's picture at a point, in a column of this width."""
    return read_picture(figure.draw(width, **point))


def read_picture(svg: str) -> Picture:
    root = ET.fromstring(svg)
    left, top, width, height = map(float, root.get("viewBox").split())
    assert left == top == 0
    _, paper, *drawn = root
    assert paper.get("class") == "paper"
    return Picture(width, height, [mark for node in drawn for mark in _marks(node, np.eye(3))])


def _marks(node: ET.Element, outer: np.ndarray) -> Iterator[Mark]:
    matrix = outer @ _matrix(node.get("transform", ""))
    tag = node.tag.rpartition("}")[2]
    if "later" in node.get("class", "").split():
        return  # a page hides what is reached later
    if tag == "g":
        for child in node:
            yield from _marks(child, matrix)
    else:
        yield Mark(tag, set(node.get("class", "").split()), node.attrib, node.text or "", matrix)


def _matrix(transform: str) -> np.ndarray:
    matrix = np.eye(3)
    for name, written in re.findall(r"(\w+)\(([^)]*)\)", transform):
        numbers = [float(number) for number in written.split()]
        step = np.eye(3)
        if name == "translate":
            step[:2, 2] = numbers
        else:
            assert name == "rotate"
            (angle,) = np.radians(numbers)
            step[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        matrix = matrix @ step
    return matrix


def stretches(d: str) -> list[np.ndarray]:
    """The points of each stretch of a path; those that bend a curve are among them."""
    found: list[list[tuple[float, float]]] = []
    x = y = 0.0
    for letter, written in re.findall(r"([A-Za-z])([^A-Za-z]*)", d):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", written)]
        if letter == "M":
            found.append([])
        for values in [numbers] if letter in "hvHV" else _pairs(numbers):
            if letter in "MLC":
                x, y = values
            elif letter == "l":
                x, y = x + values[0], y + values[1]
            elif letter in "hH":
                x = values[0] + (x if letter == "h" else 0)
            elif letter in "vV":
                y = values[0] + (y if letter == "v" else 0)
            found[-1].append((x, y))
    return [np.array(points) for points in found]


def _pairs(numbers: list[float]) -> list[tuple[float, float]]:
    return list(zip(numbers[::2], numbers[1::2], strict=True))


@cache
def _widths() -> tuple[dict[int, str], dict[str, tuple[int, int]], int]:
    font = TTFont(Path(matplotlib.get_data_path(), "fonts/ttf/DejaVuSans.ttf"))
    return font.getBestCmap(), font["hmtx"].metrics, font["head"].unitsPerEm


def text_width(text: str, size: float) -> float:
    """About as wide as a usual sans-serif font, which is nine tenths of DejaVu Sans; Chinese is as wide as high."""
    glyphs, metrics, unit = _widths()
    return size * sum(
        0.9 * metrics[glyphs[ord(c)]][0] / unit if ord(c) in glyphs and c < "\u2e80" else 1.0 for c in text
    )


def overlap(one: np.ndarray, other: np.ndarray, slack: float = 1.0) -> bool:
    """Whether two convex shapes share more than ``slack`` pixels in every direction (separating axes)."""
    for shape in (one, other):
        for edge in np.roll(shape, -1, axis=0) - shape:
            normal = np.array([-edge[1], edge[0]]) / (np.hypot(*edge) or 1)
            a, b = one @ normal, other @ normal
            if min(a.max(), b.max()) - max(a.min(), b.min()) <= slack:
                return False
    return True


def check_legible(drawn: Picture, width: float) -> None:
    """Nothing lies outside of the picture, and no text lies on another one."""
    assert drawn.width == width
    for mark in drawn.marks:
        if mark.classes & UNSEEN or not len(mark.corners()):
            continue
        left, top, right, bottom = mark.box
        assert left >= -1, (mark.tag, mark.text or mark.attributes, mark.box)
        assert top >= -1, (mark.tag, mark.text or mark.attributes, mark.box)
        assert right <= drawn.width + 1, (mark.tag, mark.text or mark.attributes, mark.box)
        assert bottom <= drawn.height + 1, (mark.tag, mark.text or mark.attributes, mark.box)
    texts = [(mark.text, mark.corners()) for mark in drawn.of("text")]
    for (one, here), (other, there) in itertools.combinations(texts, 2):
        assert not overlap(here, there), f"{one!r} lies on {other!r}"


def linear(at: list[float], values: list[float]):
    """The function that takes places of a scale with evenly spread values to these values."""
    slope, offset = np.polyfit(at, values, 1)
    np.testing.assert_allclose(np.polyval([slope, offset], at), values, atol=1e-3 * np.ptp(values))
    return lambda place: slope * np.asarray(place) + offset
