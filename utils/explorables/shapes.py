"""Arrays drawn as a few polygons, one or more for a whole array: a key changes their points and no style.

Browsers compute style again when an opacity, the height of a rectangle or a path changes, but not when the points of a
polygon do. For each function here the script has one of the same name, which draws the other frames from the
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
    """The numbers of an array at the opening point: the row that a pick chooses, if there is a pick."""
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

    One polyline for each stretch without a gap, as many as there ever are.
    """
    every = figure.frames(known).reshape(-1, len(x)) > 0 if known else np.ones((1, len(x)), bool)
    begins = np.diff(every.astype(int), axis=1, prepend=0) > 0
    stretches = [""] * int(begins.sum(axis=1).max())
    now = figure.array(known) > 0 if known else every[0]
    stretch = -1
    for i in np.flatnonzero(now):
        point = f"{x[i]:.5g},{offset + slope * figure.array(array)[i]:.5g} "
        if i == 0 or not now[i - 1]:
            stretch += 1
            stretches[stretch] = point  # twice: a point between two gaps is drawn as a line of length 0
        stretches[stretch] += point
    drawn = [tag("polyline", points=points.strip(), **attributes) for points in stretches]
    line = {"x": [round(at, 1) for at in x], "slope": round(slope, 4), "offset": round(offset, 4)}
    return tag("g", *drawn, data_shape=_description("curve", array, known=known, **line))


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
    """Bars from ``offset`` to ``offset + slope * number``, upright unless they are ``level``.

    With a pick, the array has a row for each of its labels, and the chosen one is drawn.
    """
    sides = [[round(middle - width / 2, 2), round(middle + width / 2, 2)] for middle in middles]
    corners = []
    for (one, other), number in zip(sides, row(figure, array, pick), strict=True):
        head = offset + slope * number
        bar = [(one, offset), (one, head), (other, head), (other, offset)]
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
    """Bands between two upright lines, from each start to each end, ``breadth * number`` broad.

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
    """A heat map: a cell each ``step`` to the right and down, as dark as its number; exactly 0 has a dashed edge.

    One polygon for each shade, the lightest first, then dashed edges, on which lie the full ones of all numbers but 0.
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
    drawn = [
        _polygon(corners, fill_opacity=(shade / SHADES) ** 2) for shade, corners in enumerate(shades, start=1)
    ]
    drawn.append(tag("g", tag("path", d=dashes), _polygon(edges), class_="edges"))
    size = {"left": left, "top": top, "step": step, "columns": numbers.shape[1], "count": numbers.size}
    return tag("g", *drawn, class_="cells", data_shape=_description("cells", array, shades=SHADES, **size))


def _square(x: float, y: float, side: float) -> list[tuple[float, float]]:
    return [(x, y), (x + side, y), (x + side, y + side), (x, y + side), (x, y)]


def _joined(left: float, corners: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Connect several outlines into one polygon through zero-width edges."""
    hook = (left, corners[0][1])
    return [hook, *corners, hook]


def _polygon(corners: Sequence[tuple[float, float]], **attributes: object) -> str:
    return tag("polygon", points=" ".join(f"{x:.5g},{y:.5g}" for x, y in corners), **attributes)


def _description(shape: str, array: str, **more: object) -> str:
    given = {key: value for key, value in more.items() if value is not None}
    return json.dumps({"shape": shape, "array": array} | given, separators=(",", ":"))
