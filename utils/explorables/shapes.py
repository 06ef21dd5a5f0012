"""Draw a whole array as a few polygons, so that a new frame changes only their points.

Browsers compute style again when an opacity, the height of a rectangle or a path changes, but not when the points of a
polygon do. For each function here shapes.js has one of the same name, which draws the other frames from the
description in ``data-shape``.
"""

import json
import math
from collections.abc import Sequence

import numpy as np

from utils.explorables.drawing import tag
from utils.explorables.figure import Figure

#: Number of shades of a heat map. They lie close together near 0, where readers see small differences best.
SHADES = 24


def row(figure: Figure, array: str, pick: str | None) -> np.ndarray:
    """The numbers of an array at the opening point; with a pick, only the row that it chooses."""
    numbers = figure.array(array)
    return numbers[figure.point[pick]] if pick else numbers


def curve(
    figure: Figure,
    array: str,
    x: np.ndarray,
    slope: float,
    offset: float,
    *,
    known: str | None = None,
    **attributes: object,
) -> str:
    """A line through the points (x, ``offset + slope * number``), with gaps where the array ``known`` has 0.

    There is one polyline per stretch without a gap, as many as in the frame with the most stretches.
    """
    known_frames = figure.frames(known).reshape(-1, len(x)) > 0 if known else np.ones((1, len(x)), bool)
    starts = np.diff(known_frames.astype(int), axis=1, prepend=0) > 0
    stretches = [""] * int(starts.sum(axis=1).max())
    is_known = figure.array(known) > 0 if known else known_frames[0]
    stretch = -1
    for i in np.flatnonzero(is_known):
        point = f"{x[i]:.5g},{offset + slope * figure.array(array)[i]:.5g} "
        if i == 0 or not is_known[i - 1]:
            stretch += 1
            stretches[stretch] = point  # added twice: a point between two gaps becomes a line of length 0
        stretches[stretch] += point
    lines = [tag("polyline", points=points.strip(), **attributes) for points in stretches]
    line = {"x": [round(at, 1) for at in x], "slope": round(slope, 4), "offset": round(offset, 4)}
    return tag("g", *lines, data_shape=_description("curve", array, known=known, **line))


def bars(
    figure: Figure,
    array: str,
    middles: Sequence[float],
    width: float,
    slope: float,
    offset: float,
    *,
    level: bool = False,
    pick: str | None = None,
    **attributes: object,
) -> str:
    """Bars from ``offset`` to ``offset + slope * number``, vertical unless ``level``.

    With a pick, the array has one row per label of the pick, and only the chosen row is drawn.
    """
    sides = [[round(middle - width / 2, 2), round(middle + width / 2, 2)] for middle in middles]
    corners = []
    for (low, high), number in zip(sides, row(figure, array, pick), strict=True):
        end = offset + slope * number
        bar = [(low, offset), (low, end), (high, end), (high, offset)]
        corners += [corner[::-1] for corner in bar] if level else bar
    size = {"sides": sides, "slope": slope, "offset": offset, "level": level}
    return _polygon(corners, data_shape=_description("bars", array, pick=pick, **size), **attributes)


def bands(
    figure: Figure,
    array: str,
    starts: Sequence[float],
    ends: Sequence[float],
    left: float,
    right: float,
    breadth: float,
    *,
    pick: str | None = None,
    **attributes: object,
) -> str:
    """Bands between two vertical lines, from each start to each end, ``breadth * number`` wide.

    The array is of shape (ends, starts). With a pick, only the bands to the chosen end are drawn.
    """
    corners = []
    for i in [figure.point[pick]] if pick else range(len(ends)):
        for start, number in zip(starts, figure.array(array)[i], strict=True):
            half = round(breadth / 2 * number * math.hypot(1, (ends[i] - start) / (right - left)), 2)
            if half:
                corners += [(left, start - half), (right, ends[i] - half)]
                corners += [(right, ends[i] + half), (left, start + half)]
    sides = {"starts": [round(start, 2) for start in starts], "ends": [round(end, 2) for end in ends]}
    size = {"left": left, "right": right, "breadth": breadth}
    return _polygon(
        corners, data_shape=_description("bands", array, pick=pick, **sides, **size), **attributes
    )


def cells(figure: Figure, array: str, left: float, top: float, step: float) -> str:
    """A heat map: the larger a number, the darker its cell; a cell of exactly 0 has a dashed edge.

    The distance between two cells is ``step``. There is one polygon per shade, the lightest first, then the dashed
    edges of all cells, and over them the solid edges of the cells that are not 0.
    """
    numbers, side = figure.array(array), step - 1
    shades: list[list[tuple[float, float]]] = [[] for _ in range(SHADES)]
    dashes, edges = "", []
    for (i, j), number in np.ndenumerate(numbers):
        x, y = left + step * j, top + step * i
        dashes += f"M{x:g},{y:g}h{side:g}v{side:g}h{-side:g}z"
        if number != 0:
            outer, inner = _square(x - 0.5, y - 0.5, side + 1), _square(x + 0.5, y + 0.5, side - 1)
            edges += _joined(left, [*outer, *inner[::-1], outer[0]])
        if shade := math.floor(SHADES * math.sqrt(min(max(number, 0), 1)) + 0.5):
            shades[shade - 1] += _joined(left, _square(x, y, side))
    layers = [
        _polygon(corners, fill_opacity=(shade / SHADES) ** 2) for shade, corners in enumerate(shades, start=1)
    ]
    layers.append(tag("g", tag("path", d=dashes), _polygon(edges), class_="edges"))
    size = {"left": left, "top": top, "step": step, "columns": numbers.shape[1], "count": numbers.size}
    return tag("g", *layers, class_="cells", data_shape=_description("cells", array, shades=SHADES, **size))


def _square(x: float, y: float, side: float) -> list[tuple[float, float]]:
    return [(x, y), (x + side, y), (x + side, y + side), (x, y + side), (x, y)]


def _joined(left: float, corners: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Connect several outlines into one polygon through zero-width edges."""
    start = (left, corners[0][1])
    return [start, *corners, start]


def _polygon(corners: Sequence[tuple[float, float]], **attributes: object) -> str:
    return tag("polygon", points=" ".join(f"{x:.5g},{y:.5g}" for x, y in corners), **attributes)


def _description(shape: str, array: str, **more: object) -> str:
    options = {key: value for key, value in more.items() if value is not None}
    return json.dumps({"shape": shape, "array": array} | options, separators=(",", ":"))
