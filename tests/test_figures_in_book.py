"""The figures with sliders where readers meet them: on the pages of the built book, from the disk and from a server.

Every number on a page is compared with the notebook's own. `test_explorables` compares those with torch.
"""

import gzip
import itertools
import json
import math
import random
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect
from stored_figures import READ_SHAPES, check_shape, check_table, drawn, read
from test_book import BOOK, CHAPTERS, ROOT, html

from utils.explorables import Figure
from utils.explorables.live import page_script, style
from utils.explorables.sphinx_extension import stored_figures

STORED = {page: stored_figures(ROOT / f"{page}.ipynb") for page in CHAPTERS}
FIGURES: dict[tuple[str, str], Figure] = {
    (page, name): read(written) for page, found in STORED.items() for name, written in found.items()
}
every_figure = pytest.mark.parametrize(("page_name", "name"), FIGURES, ids=lambda text: text)
#: A grid of so many frames is walked through as a whole; of a larger one a seeded sample is visited.
SMALL_GRID = 200
SAMPLE = {"file": 60, "http": 8}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        pass


@pytest.fixture(scope="module")
def origins() -> Iterator[dict[str, str]]:
    """Where the book is found: on the disk, and on a server of this test's own."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(BOOK)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {"file": f"file://{BOOK}", "http": f"http://127.0.0.1:{server.server_port}"}
    server.shutdown()
    server.server_close()


class Visit:
    """A page in a window of its own; requests elsewhere are refused, and they and all errors noted.

    Mathematics stays unset, which `test_pages` looks after: setting it takes longer than all that is tested here.
    """

    def __init__(self, browser: Browser, origin: str, *, strict: bool = True, **window) -> None:
        self.origin, self.strict, self.complaints = origin, strict, []
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | window)
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "console",
            lambda said: self.complaints.append(said.text) if said.type in ("error", "warning") else None,
        )
        self.context.route(
            re.compile("tex-.*mathjax|mathjax.*tex-", re.IGNORECASE), lambda r: r.fulfill(body="")
        )
        self.context.route(lambda url: not url.startswith((origin, "data:", "blob:")), self._refuse)

    def _refuse(self, route) -> None:
        self.complaints.append(f"asks for {route.request.url}")
        route.abort()

    def open(self, page_name: str, address: str = "") -> Page:
        self.page.goto("about:blank")  # so that a change of the address alone loads the page, too
        self.page.goto(f"{self.origin}/{page_name}.html{address}")
        return self.page

    def __enter__(self) -> "Visit":
        return self

    def __exit__(self, error: type[BaseException] | None, *_) -> None:
        self.context.close()
        if error is None and self.strict:
            assert self.complaints == []


def slider(figure: Locator, name: str) -> Locator:
    return figure.get_by_role("slider", name=name.replace("_", " "), exact=True)


def states(figure: Figure) -> dict[str, list]:
    """Every control and its values; a pick's are numbers."""
    return figure.axes | {pick: list(range(len(figure.labels[key]))) for pick, key in figure.picks.items()}


def num_frames(figure: Figure) -> int:
    return math.prod(map(len, states(figure).values()))


def frames(figure: Figure, most: int) -> list[dict]:
    """All points of the grid and its picks, or a seeded sample with both ends of it, in the order of the grid."""
    names, values = zip(*states(figure).items(), strict=True)
    total = num_frames(figure)
    if total <= most:
        chosen = range(total)
    else:
        chosen = sorted({0, total - 1, *random.Random(7).sample(range(total), most - 2)})
    at = [np.unravel_index(number, [len(v) for v in values]) for number in chosen]
    return [{n: v[i] for n, v, i in zip(names, values, where, strict=True)} for where in at]


def move(page: Page, shown: Locator, figure: Figure, here: dict, there: dict) -> None:
    """From one point to another with the keys that a keyboard has."""
    for name, values in states(figure).items():
        steps = values.index(there[name]) - values.index(here[name])
        if steps == 0:
            continue
        if isinstance(values[0], str):
            shown.get_by_role("radio", name=here[name], exact=True).focus()
        else:
            slider(shown, name).focus()
        for _ in range(abs(steps)):
            page.keyboard.press("ArrowRight" if steps > 0 else "ArrowLeft")


READ_BINDINGS = """svg => [...svg.querySelectorAll('[data-bind]')].flatMap(part => {
    const read = attribute => {
        if (attribute === 'text') return part.textContent;
        if (attribute === 'visibility') return getComputedStyle(part).visibility === 'visible';
        return +part.getAttribute(attribute);
    };
    return part.dataset.bind.split(';').map(binding => [binding, read(binding.split(' ')[0])]);
})"""


def check_frame(shown: Locator, figure: Figure, at: dict) -> None:
    """The sentence, every mark of the picture and every cell of the table are what the notebook stored."""
    assert shown.locator(".xp-say").inner_text() == figure.sentence(**at), at
    picture = shown.locator("svg")
    for binding, found in picture.evaluate(READ_BINDINGS):
        expected = drawn(figure, binding, at)
        if isinstance(expected, str | bool):
            assert found == expected, (at, binding)
        else:
            # Written to a hundredth of the picture's own unit.
            assert found == pytest.approx(expected, rel=1e-4, abs=0.02), (at, binding)
    for said, paths in picture.evaluate(READ_SHAPES):
        check_shape(figure, said, paths, at)
    if figure.table:
        check_table(shown, figure, at)


def open_table(shown: Locator) -> None:
    """A browser tells that details were opened after it has drawn its next frame; the numbers come with that."""
    shown.locator("summary").press("Enter")
    expect(shown.locator("td").first).to_be_attached()


def walk(page: Page, figure: Figure, most: int) -> None:
    """From the opening frame through all others, or a sample of them, by keyboard alone."""
    shown = page.locator(f"figure#{figure.name}")
    if figure.table:
        open_table(shown)
    here = figure.point
    check_frame(shown, figure, here)
    for there in frames(figure, most):
        move(page, shown, figure, here, there)
        check_frame(shown, figure, there)
        here = there


@every_figure
@pytest.mark.parametrize("scheme", ["file", "http"])
def test_every_frame_is_reached_by_keyboard_and_shows_the_notebooks_numbers(
    browser: Browser, origins: dict[str, str], scheme: str, page_name: str, name: str
) -> None:
    figure = FIGURES[page_name, name]
    whole = scheme == "file" and num_frames(figure) <= SMALL_GRID
    with Visit(browser, origins[scheme]) as visit:
        walk(visit.open(page_name), figure, SMALL_GRID if whole else SAMPLE[scheme])


@every_figure
def test_controls_have_names_speak_their_values_and_know_the_long_keys(
    browser: Browser, origins: dict[str, str], page_name: str, name: str
) -> None:
    figure = FIGURES[page_name, name]
    with Visit(browser, origins["file"]) as visit:
        page = visit.open(page_name)
        shown = page.locator(f"figure#{name}")
        for control, values in states(figure).items():
            spoken = control.replace("_", " ")
            labels = figure.labels[figure.picks[control]] if control in figure.picks else values
            if isinstance(values[0], str):
                group = shown.get_by_role("radiogroup", name=spoken, exact=True)
                assert group.get_by_role("radio").count() == len(values)
                continue
            handle = slider(shown, control)
            for key, at in (("Home", 0), ("End", -1)):
                handle.press(key)
                value = labels[at]
                assert handle.get_attribute("aria-valuetext") == (
                    f"{spoken} {value:.6g}" if isinstance(value, float) else f"{spoken} {value}"
                )
            handle.press("PageDown")
            assert len(values) == 1 or int(handle.input_value()) < len(values) - 1
            handle.press("PageUp")
            assert int(handle.input_value()) == len(values) - 1
        # The tabulator visits every control, in the order in which they stand, and shows where it is.
        shown.locator("input").first.focus()
        groups = sum(isinstance(values[0], str) for values in states(figure).values())
        visited = []
        for _ in range(len(states(figure))):
            visited.append(page.evaluate("document.activeElement.name || document.activeElement.id"))
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
            page.keyboard.press("Tab")
        assert len(set(visited)) == len(states(figure)), groups
        status = shown.get_by_role("status")
        expect(status).to_have_count(1)
        expect(status).to_have_text(shown.locator(".xp-say").inner_text())
        assert shown.locator(".xp-say").get_attribute("aria-hidden") == "true"


#: How many pixels of the focus's ring, on any side, lie outside of the figure or under a later row, which is opaque.
HIDDEN_RING = """() => {
    const focused = document.activeElement;
    const { outlineWidth, outlineOffset } = getComputedStyle(focused);
    const reach = parseFloat(outlineWidth) + parseFloat(outlineOffset);
    const ring = focused.getBoundingClientRect(), figure = focused.closest(".xp-live");
    const edges = figure.getBoundingClientRect();
    const hidden = [edges.left - ring.left, ring.right - edges.right, edges.top - ring.top, ring.bottom - edges.bottom];
    for (const row of figure.querySelectorAll(".xp-controls > *")) {
        const follows = focused.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING;
        if (follows) hidden.push(ring.bottom - row.getBoundingClientRect().top);
    }
    return reach + Math.max(...hidden);
}"""


@every_figure
@pytest.mark.parametrize("width", [360, 1280])
def test_the_ring_around_the_focus_is_seen_whole(
    browser: Browser, origins: dict[str, str], page_name: str, name: str, width: int
) -> None:
    with Visit(browser, origins["file"], viewport={"width": width, "height": 740}) as visit:
        page = visit.open(page_name)
        shown = page.locator(f"figure#{name}")
        if FIGURES[page_name, name].table:
            open_table(shown)
        for control in shown.locator("input, button, summary, [tabindex]").all():
            control.focus()
            assert control.evaluate("node => node.matches(':focus-visible')")
            assert page.evaluate(HIDDEN_RING) <= 0.01


@every_figure
def test_pointing_picks_and_dragging_moves(
    browser: Browser, origins: dict[str, str], page_name: str, name: str
) -> None:
    figure = FIGURES[page_name, name]
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    for window in ({}, phone):
        with Visit(browser, origins["file"], **window) as visit:
            page = visit.open(page_name)
            shown = page.locator(f"figure#{name}")
            for pick, key in figure.picks.items():
                for at in (len(figure.labels[key]) - 1, 0):
                    target = shown.locator(f"[data-pick='{pick}={at}']").first
                    target.tap() if window else target.hover()
                    expect(slider(shown, pick)).to_have_value(str(at))
            for area in shown.locator("[data-drag]").all():
                axis, first, last = area.get_attribute("data-drag").split(" ")
                area.scroll_into_view_if_needed()
                scale = area.bounding_box()["width"] / float(area.get_attribute("width"))
                left = area.bounding_box()["x"] - float(area.get_attribute("x")) * scale
                y = area.bounding_box()["y"] + 20
                count = len(figure.axes[axis])
                page.mouse.move(left + float(first) * scale, y)
                page.mouse.down()
                for at in (0, count // 3, count - 1):
                    x = left + (float(first) + (float(last) - float(first)) * at / (count - 1)) * scale
                    page.mouse.move(x, y)
                    expect(slider(shown, axis)).to_have_value(str(at))
                page.mouse.up()


STATE_IN_ADDRESS = """([name, there]) => {
    const [figure, state] = location.hash.split("?");
    const found = new URLSearchParams(state);
    return figure === `#${name}` && Object.keys(there).every(key => found.get(key) === String(there[key]));
}"""


@every_figure
def test_state_stands_in_the_address(
    browser: Browser, origins: dict[str, str], page_name: str, name: str
) -> None:
    figure = FIGURES[page_name, name]
    there = {control: values[-1] for control, values in states(figure).items()}
    for scheme in ("file", "http"):
        with Visit(browser, origins[scheme]) as visit:
            page = visit.open(page_name)
            shown = page.locator(f"figure#{name}")
            move(page, shown, figure, figure.point, there)
            if there != figure.point:
                page.wait_for_function(STATE_IN_ADDRESS, arg=[name, there])
            address = page.evaluate("location.hash")
            page.reload()
            expect(shown.locator(".xp-picture")).to_be_in_viewport()
            expect(shown.locator(".xp-say")).to_have_text(figure.sentence(**there))
            assert visit.open(page_name, address).locator(f"figure#{name} .xp-say").inner_text() == (
                figure.sentence(**there)
            )
            shown.get_by_role("button", name="reset").press("Enter")
            assert shown.locator(".xp-say").inner_text() == figure.sentence()


@every_figure
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_sticks_out(
    browser: Browser, origins: dict[str, str], page_name: str, name: str, theme: str
) -> None:
    phone = {"viewport": {"width": 360, "height": 740}, "color_scheme": theme}
    # Not strict: axe reads the style sheets once more, which a page on the disk may not.
    with Visit(browser, origins["file"], strict=False, **phone) as visit:
        page = visit.open(page_name)
        page.locator(f"figure#{name} summary").evaluate_all("all => all.forEach(s => s.click())")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        found = Axe().run(page, context=f"figure#{name}")
        assert found.violations_count == 0, found.generate_report()


@every_figure
def test_at_two_hundred_percent_nothing_sticks_out(
    browser: Browser, origins: dict[str, str], page_name: str, name: str
) -> None:
    # A window of 1280 pixels enlarged twofold lays a page out on 640.
    with Visit(
        browser, origins["file"], viewport={"width": 640, "height": 450}, device_scale_factor=2
    ) as visit:
        page = visit.open(page_name)
        assert page.evaluate("document.documentElement.scrollWidth") <= 640
        box = page.locator(f"figure#{name} .xp-controls").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 640


@every_figure
def test_a_key_lays_out_its_figure_and_not_the_page(
    browser: Browser, origins: dict[str, str], page_name: str, name: str
) -> None:
    with Visit(browser, origins["file"]) as visit:
        page = visit.open(page_name)
        handle = page.locator(f"figure#{name} input[type=range]").first
        handle.press("Home")
        page.wait_for_timeout(1000)
        browser.start_tracing(page=page, categories=["devtools.timeline"])
        for _ in range(3):
            handle.press("ArrowRight")
            page.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        events = json.loads(browser.stop_tracing())["traceEvents"]
        layouts = [event["args"].get("beginData", {}) for event in events if event["name"] == "Layout"]
        # Others may be the page's own, or those of another page that the browser keeps.
        assert sum(layout.get("partialLayout", False) for layout in layouts) >= 3, layouts


@every_figure
def test_a_figure_is_as_high_as_what_it_holds(
    browser: Browser, origins: dict[str, str], page_name: str, name: str
) -> None:
    heights = """figure => ['.xp-live', '.xp-body'].map(part =>
        figure.querySelector(part).getBoundingClientRect().height)"""

    def check() -> float:
        visit.page.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        box, held = shown.evaluate(heights)
        assert box == pytest.approx(held, abs=0.1)
        return box

    with Visit(browser, origins["file"]) as visit:
        shown = visit.open(page_name).locator(f"figure#{name}")
        wide = check()
        if FIGURES[page_name, name].table:
            open_table(shown)
            assert check() > wide
        visit.page.set_viewport_size({"width": 360, "height": 740})
        check()
        visit.page.emulate_media(media="print")
        assert check() > 0


@every_figure
def test_marks_keep_their_colour_where_the_system_forces_its_own(
    browser: Browser, origins: dict[str, str], page_name: str, name: str
) -> None:
    with Visit(browser, origins["file"], forced_colors="active") as visit:
        shown = visit.open(page_name).locator(f"figure#{name}")
        colours = shown.locator(".cells > polygon, .bar, .link, .dot").evaluate_all(
            "all => all.map(n => getComputedStyle(n)[n.matches('.dot') ? 'stroke' : 'fill'])"
        )
        ground = shown.evaluate("node => getComputedStyle(document.body).backgroundColor")
        assert colours
        assert ground not in colours


@every_figure
def test_play_runs_or_steps(browser: Browser, origins: dict[str, str], page_name: str, name: str) -> None:
    figure = FIGURES[page_name, name]
    for wanted in ("no-preference", "reduce"):
        with Visit(browser, origins["file"], reduced_motion=wanted) as visit:
            shown = visit.open(page_name).locator(f"figure#{name}")
            played = [axis["name"] for axis in figure.spec["axes"] if axis["play"]]
            buttons = shown.locator(".xp-play").all()
            assert [button.inner_text() for button in buttons] == [
                f"play {axis.replace('_', ' ')}" for axis in played
            ]
            for axis, button in zip(played, buttons, strict=True):
                handle = slider(shown, axis)
                handle.press("Home")
                button.press("Enter")
                if wanted == "reduce":
                    visit.page.wait_for_timeout(700)  # longer than a step of one that runs
                    assert handle.input_value() == "1"
                else:
                    visit.page.wait_for_function("input => input.value >= 2", arg=handle.element_handle())


@every_figure
def test_without_a_script_the_picture_and_its_sentence_stand(
    browser: Browser, origins: dict[str, str], page_name: str, name: str
) -> None:
    figure = FIGURES[page_name, name]
    with Visit(browser, origins["file"], java_script_enabled=False) as visit:
        shown = visit.open(page_name).locator(f"figure#{name}")
        assert shown.locator("img").get_attribute("alt") == figure.alt
        assert shown.locator("img").bounding_box()["width"] > 200
        assert shown.locator("p").inner_text() == figure.sentence()


def test_chapters_that_must_have_figures_have_them() -> None:
    with_figures = {Path(page).stem for page, _ in FIGURES}
    assert with_figures >= {
        "nadaraya_watson",
        "masked_softmax",
        "dot_product_attention",
        "additive_attention",
        "bahdanau_decoder",
    }
    names = [name for _, name in FIGURES]
    assert sorted(names) == sorted(set(names))


def test_the_playground_has_every_figure_and_they_move(browser: Browser, origins: dict[str, str]) -> None:
    written = (BOOK / "book" / "playground.html").read_text("utf-8")
    for (page_name, name), figure in FIGURES.items():
        assert STORED[page_name][name] in written, name
        assert html("book/playground").select(f"a[href='../{page_name}.html']"), page_name
        assert html(page_name).select_one(f"figure#{name}")
        assert figure.alt
    with Visit(browser, origins["file"]) as visit:
        page = visit.open("book/playground")
        for figure in FIGURES.values():
            walk(page, figure, 3)


def test_the_guide_shows_its_own_example(browser: Browser, origins: dict[str, str]) -> None:
    document = html("book/explorables")
    (found,) = document.select("figure.xp")
    figure = read(str(found))
    with Visit(browser, origins["file"]) as visit:
        walk(visit.open("book/explorables"), figure, 40)


def test_the_code_of_the_guide_runs_and_prints_what_it_says(capsys) -> None:
    guide = (ROOT / "book" / "explorables.md").read_text("utf-8")
    blocks = re.findall(
        r"^```(\{explorable-example\}|python|text)\n(.*?)^```", guide, re.MULTILINE | re.DOTALL
    )
    assert [kind for kind, _ in blocks].count("python") >= 3
    names: dict[str, object] = {}
    printed = ""
    for kind, written in blocks:
        if kind == "text":
            assert printed == written
        else:
            exec(written, names)
            printed = capsys.readouterr().out
            if "# prints 1" in written:
                assert printed == "1\n"


def test_pages_stay_small() -> None:
    for page in CHAPTERS:
        size = len(gzip.compress((BOOK / f"{page}.html").read_bytes(), 9))
        assert size < 100_000, f"{page}: {size:,} bytes"
    assert len(gzip.compress((page_script() + style()).encode(), 9)) < 12_000


def test_only_pages_with_figures_load_the_script() -> None:
    for page in itertools.chain(CHAPTERS, ["book/playground", "book/glossary"]):
        document = html(page)
        assert bool(document.select("script[src*='explorables.js']")) == bool(document.select("figure.xp"))
