"""Figures with sliders as a page or a notebook has stored them, read back to know what a browser must show."""

import itertools
import json
import random
import re
import xml.etree.ElementTree as ET
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
from bs4 import BeautifulSoup
from playwright.sync_api import Locator, Page, expect

from utils.figures import Figure
from utils.figures.still import Stage


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


def states(figure: Figure) -> dict[str, list]:
    """Every control and its values in the order in which they stand; a pick's are numbers."""
    return figure.axes | {pick: list(range(len(figure.labels[key]))) for pick, key in figure.picks.items()}


def every_point(figure: Figure) -> Iterator[dict]:
    """Every point of the grid and the picks."""
    names, values = zip(*states(figure).items(), strict=True)
    for point in itertools.product(*values):
        yield dict(zip(names, point, strict=True))


def place_of(figure: Figure, point: dict) -> dict[str, int]:
    """The position of each control at a point, as the script counts them."""
    return {name: values.index(point[name]) for name, values in states(figure).items()}


def some_points(figure: Figure, most: int) -> list[dict]:
    """At most this many points: the first, the last, and others at random."""
    points = list(every_point(figure))
    if len(points) <= most:
        return points
    return [points[0], *random.Random(7).sample(points[1:-1], most - 2), points[-1]]


#: In a browser: moves a figure's controls to each of many places, as an input of the reader would, and returns what
#: it shows in the next frame: the sentence and its height, the sliders' spoken values, the picture, the table's cells.
READ_FRAMES = """async (figure, [titles, frames]) => {
    const svg = figure.querySelector('.xp-picture').shadowRoot.querySelector('svg');
    const all = [...figure.querySelectorAll('.xp-controls > .xp-row')];
    const rows = titles.map(title => all.find(row => row.firstChild.textContent === title));
    const controls = rows.map(row => [...row.querySelectorAll('input')]);
    const sliders = controls.flat().filter(input => input.type === 'range');
    const table = figure.querySelector('.xp-table');
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
        await new Promise(requestAnimationFrame);
        shown.push({
            say: figure.querySelector('.xp-say').textContent,
            room: figure.querySelector('.xp-say').offsetHeight,
            spoken: sliders.map(slider => slider.getAttribute('aria-valuetext')),
            handles: sliders.map(slider => +slider.value),
            picture: new XMLSerializer().serializeToString(svg),
            table: [...figure.querySelectorAll('.xp-table td')].map(cell => cell.textContent),
        });
    }
    return JSON.stringify(shown);
}"""


def check_frames(place: Locator, figure: Figure, points: Iterable[dict] | None = None) -> None:
    """At each of these points, at every one by default, a figure in a browser shows what its numbers say.

    Its table, if it has one, must be open, and the window must ask for reduced motion: otherwise numbers glide.
    """
    points = list(points or every_point(figure))
    values = {name: values for name, values in states(figure).items() if len(values) > 1}  # else no control
    frames = [[place_of(figure, point)[name] for name in values] for point in points]
    # As one string: Playwright looks at every part of an object.
    read = json.loads(place.evaluate(READ_FRAMES, [[titled(name) for name in values], frames]))
    assert len(read) == len(points)
    # No sentence has more lines than another, which would move what is below it.
    assert np.ptp([shown["room"] for shown in read]) < 10
    for point, shown in zip(points, read, strict=True):
        assert shown["say"] == figure.sentence(**point), point
        sliders = [name for name in values if is_slider(figure, name)]
        assert shown["spoken"] == [spoken(figure, name, point[name]) for name in sliders]
        assert shown["handles"] == [place_of(figure, point)[name] for name in sliders], point
        assert shown["table"] == table_cells(figure, point), point
        check_same_picture(shown["picture"], figure, point)


def check_same_picture(shown: str, figure: Figure, point: dict) -> None:
    """A picture in a page has the marks that the same script draws in Python, in a column of the same width."""
    svg = ET.fromstring(shown)
    check_marks(
        shown, stage(figure).picture({"place": place_of(figure, point)}, float(svg.get("viewBox").split()[2]))
    )


@cache
def stage(figure: Figure) -> Stage:
    """What draws a figure in Python."""
    return Stage(figure.spec)


def check_marks(live: str, still: str) -> None:
    """A picture in a page and a still one, which has a style and a paper of its own, have the same marks."""
    _, _, *expected = ET.fromstring(still)
    assert [tree(node) for node in ET.fromstring(live)] == [tree(node) for node in expected]


def tree(node: ET.Element) -> tuple:
    """An element with all in it, to be compared."""
    return node.tag.rpartition("}")[2], dict(node.items()), node.text or "", [tree(child) for child in node]


def picture_of(place: Locator) -> str:
    """The picture that a page shows now, as text."""
    return place.locator(".xp-picture svg").evaluate("svg => new XMLSerializer().serializeToString(svg)")


def is_slider(figure: Figure, name: str) -> bool:
    """Whether a control is a slider; an axis of texts is a row of buttons."""
    return name in figure.picks or not isinstance(figure.axes[name][0], str)


def spoken(figure: Figure, name: str, value: float | int) -> str:
    """What a screen reader says of a slider at this value."""
    if name in figure.picks:
        label = figure.labels[figure.picks[name]][value]
    else:
        (axis,) = [axis for axis in figure.spec["axes"] if axis["name"] == name]
        label = axis["labels"][axis["values"].index(value)]
    return f"{titled(name)} {label}"


def table_cells(figure: Figure, point: dict) -> list[str]:
    """Texts of the cells that the table of numbers has at a point; the first of each array is the empty corner."""
    if not figure.table:
        return []
    arrays, _, _, *pick = figure.table
    cells = []
    for array, _ in arrays:
        numbers = figure.array(array, **{axis: point[axis] for axis in figure.axes})
        if pick:
            numbers = numbers[point[pick[0]]]
        cells += ["", *(f"{number:.3f}" for number in numbers.reshape(-1))]
    return cells


def open_table(place: Locator) -> None:
    """A browser tells that details were opened after it has drawn its next frame; the numbers come with that."""
    if not place.locator(".xp-table").evaluate("details => details.open"):
        place.locator(".xp-table summary").press("Enter")
    expect(place.locator(".xp-table td").first).to_be_attached()


def titled(name: str) -> str:
    """How a control is called in the page."""
    return re.sub("_(?=.$)", "-", name).replace("_", " ")


def slider(figure: Locator, name: str) -> Locator:
    return figure.get_by_role("slider", name=titled(name), exact=True)


def drawn(place: Locator) -> None:
    """Waits until the browser has drawn what was changed last."""
    place.evaluate("() => new Promise(rest => requestAnimationFrame(() => requestAnimationFrame(rest)))")


#: Texts of a picture, live in a page or still, that lie outside of it, or on one another: pairs of texts.
COLLISIONS = """figure => {
    const svg = (figure.querySelector(".xp-picture")?.shadowRoot ?? figure).querySelector("svg");
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].filter(text => text.getBoundingClientRect().width);
    // Turned texts have boxes that are larger than they are.
    const outside = texts.filter(text => {
        const box = text.getBoundingClientRect(), slack = text.getAttribute("transform")?.includes("rotate") ? 8 : 2;
        return box.left < frame.left - slack || box.right > frame.right + slack || box.bottom > frame.bottom + slack;
    }).map(text => [text.textContent, "the edge"]);
    const straight = texts.filter(text => !text.getAttribute("transform")?.includes("rotate"));
    const boxes = straight.map(text => [text.textContent, text.getBoundingClientRect()]);
    const touching = boxes.flatMap(([one, a], i) => boxes.slice(i + 1)
        .filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5)
        .map(([other]) => [one, other]));
    return [...outside, ...touching];
}"""

#: A font that is wider than those of most machines: one that matplotlib brings along.
_WIDE = b64encode(Path(matplotlib.get_data_path(), "fonts/ttf/DejaVuSans.ttf").read_bytes()).decode()


def use_wide_font(page: Page) -> None:
    """The figures of a page that is open get a wide font; returns when they are drawn in it."""
    face = f"@font-face {{ font-family: wide; src: url(data:font/ttf;base64,{_WIDE}) }}"
    page.add_style_tag(content=f"{face} :root, .xp-live {{ --font: wide !important }}")
    page.evaluate("async () => { document.body.offsetWidth; await document.fonts.ready; }")
    drawn(page.locator("body"))


#: Of each control of a figure, focused in turn: its name, whether its ring shows, and how many pixels of the ring, on
#: any side, lie outside of the figure or under a later row, which is opaque.
RINGS = """figure => {
    const seen = control => control.checkVisibility();
    return [...figure.querySelectorAll("input, button, summary, select, [tabindex]")].filter(seen).map(control => {
        control.focus(); // which may scroll
        const edges = figure.querySelector(".xp-live").getBoundingClientRect();
        const { outlineWidth, outlineOffset, outlineStyle } = getComputedStyle(control);
        const ring = control.getBoundingClientRect();
        const hidden = [
            edges.left - ring.left, ring.right - edges.right, edges.top - ring.top, ring.bottom - edges.bottom,
        ];
        return {
            control: control.outerHTML.slice(0, 80),
            shows: control.matches(":focus-visible") && outlineStyle === "solid",
            hidden: parseFloat(outlineWidth) + parseFloat(outlineOffset) + Math.max(...hidden),
        };
    });
}"""


def check_rings(page: Page, shown: Locator) -> None:
    """Reached by keyboard, each control has a ring around it that nothing covers."""
    page.keyboard.press("Shift")  # the last thing was a key: focus is shown
    rings = shown.evaluate(RINGS)
    assert rings
    assert [ring for ring in rings if not ring["shows"] or ring["hidden"] > 0.01] == []


#: The height of a figure without what can be unfolded and what only the keyboard shows: a phone of 360 by 740 pixels
#: shows it at once.
COMPACT = """figure => {
    figure.querySelector(".xp-live").classList.remove("xp-keyboard");
    const folded = [...figure.querySelectorAll("details")];
    for (const each of folded) each.open = false;
    const hidden = folded.reduce((sum, each) => sum + each.getBoundingClientRect().height, 0);
    return figure.querySelector(".xp-body").getBoundingClientRect().height - hidden;
}"""

#: The controls of a figure that a finger hits too easily beside: smaller than 24 pixels either way. A radio button is
#: as large as its label.
SMALL_TARGETS = """figure => [...figure.querySelectorAll("input, button, select, summary")]
    .filter(target => target.checkVisibility())
    .map(target => target.type === "radio" ? target.closest("label") : target)
    .filter(target => {
        const { width, height } = target.getBoundingClientRect();
        return Math.min(width, height) < 24;
    })
    .map(target => target.outerHTML)"""


def rgb(colour: str) -> str:
    """A colour as a browser writes it.

    >>> rgb("#0072b2")
    'rgb(0, 114, 178)'
    """
    return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"


#: The colour of each role in a picture, of every mark that has it.
ROLE_COLOURS = """figure => {
    const svg = figure.querySelector(".xp-picture").shadowRoot.querySelector("svg");
    const roles = ["query", "key", "value", "weight", "context", "score", "chance"].map(role => {
        const marks = [...svg.querySelectorAll(`.${role}`)].map(mark => {
            const { fill, stroke } = getComputedStyle(mark);
            return mark.matches(".frame, .curve, .link") ? stroke : fill;
        });
        return [role, [...new Set(marks)]];
    });
    return Object.fromEntries(roles);
}"""
