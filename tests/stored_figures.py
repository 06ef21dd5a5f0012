"""Figures with sliders as a page or a notebook has stored them, read back to know what they must show."""

import json

import numpy as np
from bs4 import BeautifulSoup

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


def band_numbers(binding: str, point: dict, drawn_as: dict[str, str]) -> list[float]:
    """The numbers that the bands of a polygon stand for, by its attributes: 0 for an end that has no band.

    Raises AssertionError for a band that runs between no two ends of its polygon.
    """
    _, _, _, pick, _, scale, *_ = binding.split(" ")
    left, right, step = map(float, drawn_as["data-across"].split(" "))
    moved = step * point[pick] if pick != "-" else 0
    bands = [*np.array(drawn_as["points"].split(), dtype=float).reshape(-1, 4, 2)]
    numbers = []
    for _, start, end in json.loads(drawn_as["data-ends"]):
        end += moved
        (xs, ys), number = (bands[0] if bands else np.full((4, 2), np.nan)).T, 0.0
        if np.allclose([ys[0] + ys[3], ys[1] + ys[2]], [2 * start, 2 * end], atol=0.04):
            assert xs.tolist() == [left, right, right, left]
            number = (ys[3] - ys[0]) / float(scale) / np.hypot(1, (end - start) / (right - left))
            bands.pop(0)
        numbers.append(number)
    assert not bands
    return numbers


def drawn(
    figure: Figure, binding: str, point: dict, drawn_as: dict[str, str]
) -> float | str | bool | np.ndarray:
    """What an attribute must be at a point by its binding, given as the picture writes it.

    A curve or a polygon of bands is its numbers; further attributes of the element, in ``drawn_as``, say which.
    """
    attribute, array, index, pick, stride, scale, offset, digits = binding.split(" ")
    if array.startswith("#"):
        name = array[1:]
        value = point[name] if name in figure.picks else figure.axes[name].index(point[name])
    else:
        grid = {axis: point[axis] for axis in figure.axes}
        numbers = figure.array(array, **grid).reshape(-1)
        if attribute == "points":
            known = drawn_as.get("data-known")
            return numbers[figure.array(known, **grid) > 0] if known else numbers
        if attribute == "bands":
            first = int(stride) * point[pick] if pick != "-" else 0
            return numbers[[first + end[0] for end in json.loads(drawn_as["data-ends"])]]
        value = numbers[int(index) + (int(stride) * point[pick] if pick != "-" else 0)]
    if attribute == "text":
        return fixed(float(value), int(digits))
    if attribute == "zero":
        return bool(value == 0)
    set_to = float(offset) + float(scale) * float(value)
    return bool(set_to) if attribute == "visibility" else set_to
