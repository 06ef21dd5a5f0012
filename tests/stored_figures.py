"""Figures with sliders as a page or a notebook has stored them, read back to know what they must show."""

import itertools
import json
import re
from xml.etree.ElementTree import Element

import numpy as np
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Locator, expect

from utils.explorables import Figure
from utils.explorables.drawing import fixed


def read(html: str) -> Figure:
    """The figure that this HTML holds: its grid, labels, sentences and numbers, without the function they came from."""
    written = BeautifulSoup(html, "html.parser").figure
    store = json.loads(written.script.get_text())
    spec = store["spec"]
    figure = Figure.__new__(Figure)
    figure.name, figure.alt, figure.kind = written["id"], written.img["alt"], spec["kind"]
    figure.axes = {axis["name"]: axis["values"] for axis in spec["axes"]}
    figure.labels, figure.picks, figure.sentences = spec["labels"], spec["picks"], spec["say"]
    figure.table, figure.point, figure._packed = spec["table"], store["state"], spec["arrays"]
    figure.spec = spec
    return figure


#: In a browser: what each shape of a picture says of itself, and the attributes of its polygons and polylines.
READ_SHAPES = """svg => [...svg.querySelectorAll('[data-shape]')].map(node => [
    JSON.parse(node.dataset.shape),
    [node, ...node.querySelectorAll('*')].filter(part => part.matches('polygon, polyline')).map(part =>
        Object.fromEntries([...part.attributes].map(({ name, value }) => [name, value]))),
])"""


def shapes_of(svg: Element) -> list[tuple[dict, list[dict[str, str]]]]:
    """The same of a picture in Python."""
    return [
        (
            json.loads(node.get("data-shape")),
            [part.attrib for part in node.iter() if part.tag.endswith(("polygon", "polyline"))],
        )
        for node in svg.iter()
        if node.get("data-shape")
    ]


def check_shape(figure: Figure, said: dict, parts: list[dict[str, str]], point: dict) -> None:
    """The parts draw all numbers that the figure has at the point, each in its own place.

    Coordinates are written to a hundredth of the picture's unit.
    """
    grid = {axis: point[axis] for axis in figure.axes}
    numbers = figure.array(said["array"], **grid)
    if "pick" in said:
        numbers = numbers[point[said["pick"]]]
    if said["shape"] == "curve":
        known = figure.array(said["known"], **grid) > 0 if "known" in said else np.ones_like(numbers, bool)
        stretches = [corners(part) for part in parts if part["points"]]
        assert all((stretch[0] == stretch[1]).all() for stretch in stretches)
        xs, ys = np.concatenate([np.empty((0, 2)), *(stretch[1:] for stretch in stretches)]).T
        assert xs == pytest.approx(np.array(said["x"])[known], abs=0.06), point
        assert ys == pytest.approx(said["offset"] + said["slope"] * numbers[known], abs=0.02), point
        assert len(stretches) == known[0] + (known[1:] & ~known[:-1]).sum(), point
    elif said["shape"] == "bars":
        bars = corners(parts[0]).reshape(-1, 4, 2)
        across, along = bars[..., int(said["level"])], bars[..., 1 - said["level"]]
        assert across.tolist() == [[one, one, other, other] for one, other in said["sides"]], point
        assert (along[:, [0, 3]] == said["offset"]).all(), point
        assert along[:, 1].tolist() == along[:, 2].tolist(), point
        assert along[:, 1] == pytest.approx(said["offset"] + said["slope"] * numbers, abs=0.02), point
    elif said["shape"] == "bands":
        ends = [said["ends"][point[said["pick"]]]] if "pick" in said else said["ends"]
        found = band_numbers(said, ends, corners(parts[0]).reshape(-1, 4, 2))
        assert found == pytest.approx(numbers.reshape(-1), abs=0.01), point
    else:
        assert said["shape"] == "cells"
        check_cells(said, numbers, parts, point)


def check_table(shown: Locator, figure: Figure, point: dict) -> None:
    """The open table has all numbers of the point, once the keys rest."""
    numbers = figure.array(figure.table[0], **{axis: point[axis] for axis in figure.axes})
    expect(shown.locator("td")).to_have_text(["", *(fixed(number, 3) for number in numbers.reshape(-1))])


def corners(part: dict[str, str]) -> np.ndarray:
    """The points of a polygon, (corners, 2)."""
    return np.array(re.findall(r"[-.\d]+", part["points"]), dtype=float).reshape(-1, 2)


def band_numbers(said: dict, ends: list[float], bands: np.ndarray) -> list[float]:
    """The numbers that bands stand for, those to the first end first: 0 where there is no band.

    Raises AssertionError for a band that runs from no start to an end.
    """
    left, right, waiting, numbers = said["left"], said["right"], [*bands], []
    for end, start in itertools.product(ends, said["starts"]):
        (xs, ys), number = (waiting[0] if waiting else np.full((4, 2), np.nan)).T, 0.0
        if np.allclose([ys[0] + ys[3], ys[1] + ys[2]], [2 * start, 2 * end], atol=0.04):
            assert xs.tolist() == [left, right, right, left]
            number = (ys[3] - ys[0]) / said["breadth"] / np.hypot(1, (end - start) / (right - left))
            waiting.pop(0)
        numbers.append(number)
    assert not waiting
    return numbers


def check_cells(said: dict, numbers: np.ndarray, parts: list[dict[str, str]], point: dict) -> None:
    """Each cell has one shade, the nearest to its number, and each but those of 0 a full edge."""
    *shades, edges = parts
    side = said["step"] - 1
    darkness, edged = np.zeros_like(numbers, float), np.zeros(numbers.shape, bool)

    def cell(x: float, y: float) -> tuple[int, int]:
        column, row = (x - said["left"]) / said["step"], (y - said["top"]) / said["step"]
        assert row == int(row)
        assert column == int(column)
        return int(row), int(column)

    def check_square(drawn: np.ndarray, grown: float) -> None:
        across = side + 2 * grown
        assert (drawn - drawn[0]).tolist() == [[0, 0], [across, 0], [across, across], [0, across], [0, 0]]

    for part in shades:
        for hook, *square, hook_again in corners(part).reshape(-1, 7, 2):
            check_square(np.array(square), 0)
            assert hook.tolist() == hook_again.tolist() == [said["left"], square[0][1]]
            assert darkness[cell(*square[0])] == 0, point
            darkness[cell(*square[0])] = float(part["fill-opacity"])
    for edge in corners(edges).reshape(-1, 13, 2):
        outer, inner = edge[1:6], edge[6:11][::-1]
        check_square(outer, 0.5)
        check_square(inner, -0.5)
        assert (inner[0] - outer[0]).tolist() == [1, 1]
        assert edge[11].tolist() == outer[0].tolist()
        assert edge[0].tolist() == edge[12].tolist() == [said["left"], outer[0][1]]
        assert not edged[cell(*outer[0] + 0.5)]
        edged[cell(*outer[0] + 0.5)] = True
    # To the eye, and between the shades, steps are those of the root.
    assert np.sqrt(darkness) == pytest.approx(np.sqrt(numbers), abs=0.5 / len(shades) + 1e-3), point
    assert edged.tolist() == (numbers != 0).tolist(), point


def drawn(figure: Figure, binding: str, point: dict) -> float | str | bool:
    """What an attribute must be at a point by its binding, given as the picture writes it."""
    attribute, array, index, pick, stride, scale, offset, digits = binding.split(" ")
    if array.startswith("#"):
        name = array[1:]
        value = point[name] if name in figure.picks else figure.axes[name].index(point[name])
    else:
        grid = {axis: point[axis] for axis in figure.axes}
        first = int(stride) * point[pick] if pick != "-" else 0
        value = figure.array(array, **grid).reshape(-1)[int(index) + first]
    if attribute == "text":
        return fixed(float(value), int(digits))
    set_to = float(offset) + float(scale) * float(value)
    return bool(set_to) if attribute == "visibility" else set_to
