"""Figures with sliders as a page or a notebook has stored them, read back to know what they must show."""

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element

import numpy as np
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Locator, expect

from utils.explorables import Figure
from utils.explorables.drawing import fixed
from utils.explorables.packing import unpack


class StoredFigure(Figure):
    """The figure that this HTML holds: its grid, labels, sentences and numbers, without the function they came from."""

    def __init__(self, html: str) -> None:
        written = BeautifulSoup(html, "html.parser").figure
        store = json.loads(written.script.get_text())
        self.spec = spec = store["spec"]
        self.name, self.alt, self.kind = written["id"], written.img["alt"], spec["kind"]
        self.axes = {axis["name"]: axis["values"] for axis in spec["axes"]}
        self.labels, self.picks, self.sentences = spec["labels"], spec["picks"], spec["say"]
        self.table, self.point, self._packed = spec["table"], store["state"], spec["arrays"]
        self._numbers = {key: unpack(record) for key, record in spec["arrays"].items()}

    def frames(self, key: str) -> np.ndarray:
        """The numbers, which were unpacked once."""
        return self._numbers[key]


def states(figure: Figure) -> dict[str, list]:
    """Every control and its values in the order in which they stand; a pick's are numbers."""
    return figure.axes | {pick: list(range(len(figure.labels[key]))) for pick, key in figure.picks.items()}


def every_point(figure: Figure) -> Iterator[dict]:
    """Every point of the grid and the picks."""
    names, values = zip(*states(figure).items(), strict=True)
    for point in itertools.product(*values):
        yield dict(zip(names, point, strict=True))


#: In a browser: moves a figure's controls to each of many places, as an input of the reader would, and returns what
#: it then shows: the sentence, the slider's spoken values, bound attributes, points of polygons, cells of the table.
READ_FRAMES = """(figure, frames) => {
    const svg = figure.querySelector('.xp-picture').shadowRoot.querySelector('svg');
    const rows = [...figure.querySelectorAll('.xp-controls > .xp-row')];
    const controls = rows.map(row => [...row.querySelectorAll('input')]);
    const sliders = controls.flat().filter(input => input.type === 'range');
    const bindings = [...svg.querySelectorAll('[data-bind]')].flatMap(part =>
        part.dataset.bind.split(';').map(binding => [part, binding]));
    const read = ([part, binding]) => {
        const attribute = binding.split(' ')[0];
        if (attribute === 'text') return part.textContent;
        if (attribute === 'visibility') return getComputedStyle(part).visibility === 'visible';
        return +part.getAttribute(attribute);
    };
    const shapes = [...svg.querySelectorAll('[data-shape]')].map(node =>
        [node, [node, ...node.querySelectorAll('*')].filter(part => part.matches('polygon, polyline'))]);
    const table = figure.querySelector('details');
    const attributes = part => Object.fromEntries([...part.attributes].map(({ name, value }) => [name, value]));
    const put = (inputs, at) => {
        if (inputs[0].type === 'radio') return inputs[at].click();
        inputs[0].value = at;
        inputs[0].dispatchEvent(new Event('input'));
    };
    const shown = [];
    let before = [];
    for (const frame of frames) {
        frame.forEach((at, i) => { if (at !== before[i]) put(controls[i], at); });
        before = frame;
        table?.dispatchEvent(new Event('toggle'));  // the numbers, which otherwise come a little later
        shown.push({
            say: figure.querySelector('.xp-say').textContent,
            spoken: sliders.map(slider => slider.getAttribute('aria-valuetext')),
            bound: bindings.map(read),
            points: shapes.map(([, parts]) => parts.map(part => part.getAttribute('points'))),
            table: [...figure.querySelectorAll('td')].map(cell => cell.textContent),
        });
    }
    return JSON.stringify({
        shown,
        bindings: bindings.map(([, binding]) => binding),
        shapes: shapes.map(([node, parts]) => [JSON.parse(node.dataset.shape), parts.map(attributes)]),
    });
}"""


def check_frames(place: Locator, figure: Figure, points: Iterable[dict] | None = None) -> None:
    """At each of these points, at every one by default, a figure in a browser shows what its numbers say.

    Its table, if it has one, must be open. One call of the browser reads all frames.
    """
    points, values = list(points or every_point(figure)), states(figure)
    for point in points:
        assert point.keys() == values.keys()
    frames = [[values[name].index(point[name]) for name in values] for point in points]
    read = json.loads(
        place.evaluate(READ_FRAMES, frames)
    )  # as one string: Playwright looks at every part of an object
    assert len(read["shown"]) == len(points)
    assert read["bindings"] or read["shapes"]
    checked: set[tuple] = set()  # drawings that have been compared; many frames share one
    for point, shown in zip(points, read["shown"], strict=True):
        assert shown["say"] == figure.sentence(**point), point
        assert shown["spoken"] == [
            spoken(figure, name, point[name]) for name in values if is_slider(figure, name)
        ]
        for binding, value in zip(read["bindings"], shown["bound"], strict=True):
            check_bound(figure, binding, value, point)
        for (description, parts), outlines in zip(read["shapes"], shown["points"], strict=True):
            numbers = shape_numbers(figure, description, point)
            drawing = (
                json.dumps(description),
                *outlines,
                numbers.tobytes(),
                point.get(description.get("pick")),
            )
            if drawing not in checked:
                checked.add(drawing)
                parts = [part | {"points": outline} for part, outline in zip(parts, outlines, strict=True)]
                check_shape(figure, description, parts, point)
        assert shown["table"] == table_cells(figure, point), point


def is_slider(figure: Figure, name: str) -> bool:
    """Whether a control is a slider; an axis of texts is a row of buttons."""
    return name in figure.picks or not isinstance(figure.axes[name][0], str)


def spoken(figure: Figure, name: str, value: float | int) -> str:
    """What a screen reader says of a slider at this value."""
    label = figure.labels[figure.picks[name]][value] if name in figure.picks else value
    return (
        f"{name.replace('_', ' ')} {label:.6g}"
        if isinstance(label, float)
        else f"{name.replace('_', ' ')} {label}"
    )


def table_cells(figure: Figure, point: dict) -> list[str]:
    """Texts of the cells that the table of numbers has at a point; the first is the empty corner."""
    if not figure.table:
        return []
    numbers = figure.array(figure.table[0], **{axis: point[axis] for axis in figure.axes})
    return ["", *(fixed(number, 3) for number in numbers.reshape(-1))]


def check_bound(figure: Figure, binding: str, value: float | str | bool, point: dict) -> None:
    """An attribute is what its binding says, a number up to a hundredth of the picture's own unit."""
    expected = drawn(figure, binding, point)
    if isinstance(expected, str | bool):
        assert value == expected, (point, binding)
    else:
        assert abs(value - expected) <= 0.02 + 1e-4 * abs(expected), (point, binding)


def open_table(place: Locator) -> None:
    """A browser tells that details were opened after it has drawn its next frame; the numbers come with that."""
    if not place.locator("details").evaluate("details => details.open"):
        place.locator("summary").press("Enter")
    expect(place.locator("td").first).to_be_attached()


def shapes_of(svg: Element) -> list[tuple[dict, list[dict[str, str]]]]:
    """What each shape of a picture says of itself, and the attributes of its polygons and polylines."""
    return [
        (
            json.loads(node.get("data-shape")),
            [part.attrib for part in node.iter() if part.tag.endswith(("polygon", "polyline"))],
        )
        for node in svg.iter()
        if node.get("data-shape")
    ]


def shape_numbers(figure: Figure, said: dict, point: dict) -> np.ndarray:
    """The numbers that a shape draws at a point; for a curve a second row says where there are any."""
    grid = {axis: point[axis] for axis in figure.axes}
    numbers = figure.array(said["array"], **grid)
    if said["shape"] == "curve":
        known = figure.array(said["known"], **grid) if "known" in said else np.ones_like(numbers)
        return np.stack([numbers, known])
    return numbers[point[said["pick"]]] if "pick" in said else numbers


def check_shape(figure: Figure, said: dict, parts: list[dict[str, str]], point: dict) -> None:
    """The parts draw all numbers that the figure has at the point, each in its own place.

    Coordinates are written to a hundredth of the picture's unit.
    """
    numbers = shape_numbers(figure, said, point)
    if said["shape"] == "curve":
        numbers, known = numbers[0], numbers[1] > 0
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
