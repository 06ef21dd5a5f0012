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


def drawn(
    figure: Figure, binding: str, point: dict, known: str | None = None
) -> float | str | bool | np.ndarray:
    """What an attribute must be at a point by its binding, given as the picture writes it.

    A curve is its numbers, those left out that the array ``known`` says are not.
    """
    attribute, array, index, pick, stride, scale, offset, digits = binding.split(" ")
    if array.startswith("#"):
        name = array[1:]
        value = point[name] if name in figure.picks else figure.axes[name].index(point[name])
    else:
        grid = {axis: point[axis] for axis in figure.axes}
        numbers = figure.array(array, **grid).reshape(-1)
        if attribute == "points":
            return numbers[figure.array(known, **grid) > 0] if known else numbers
        value = numbers[int(index) + (int(stride) * point[pick] if pick != "-" else 0)]
    if attribute == "text":
        return fixed(float(value), int(digits))
    if attribute == "zero":
        return bool(value == 0)
    set_to = float(offset) + float(scale) * float(value)
    return bool(set_to) if attribute == "visibility" else set_to
