"""The figures with sliders where readers meet them: on the pages of the built book, from the disk and from a server.

The numbers in a notebook are compared with what its cells compute when nbval runs them (`chapters/conftest.py`); the
numbers that the browser shows are compared here with those in the notebook. How a figure answers to mouse, finger and
keyboard is tested in `test_explorables_in_browser`.
"""

import base64
import gzip
import json
import os
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from chromium import PATIENCE
from playwright.sync_api import Browser, Locator, Page, expect
from stored_figures import (
    COMPACT,
    StoredFigure,
    check_frames,
    check_height,
    is_slider,
    open_table,
    slider,
    some_points,
    spoken,
    states,
    table_cells,
    titled,
)
from test_book import BOOK, CHAPTERS, PAGES, ROOT, html
from test_pages import AXE_OPTIONS

from utils.explorables.live import page_script, style
from utils.explorables.sphinx_extension import stored_figures

pytestmark = [pytest.mark.browser, pytest.mark.chapter]

STORED = {page: stored_figures(ROOT / f"{page}.ipynb") for page in CHAPTERS}
FIGURES: dict[tuple[str, str], StoredFigure] = {
    (page, name): StoredFigure(written)
    for page, figures in STORED.items()
    for name, written in figures.items()
}
#: The chapter that alone is tested, if `make test CHAPTER=name` runs.
CHAPTER = os.environ.get("ATTENTION_CHAPTER")
_KINDS = [figure.spec["kind"] for figure in FIGURES.values()]
#: Figures of one kind are drawn by the same code: `make test` looks at the first of each, `make test CHAPTER=name` at
#: those of the chapter, `make test-all` at all.
every_figure = pytest.mark.parametrize(
    ("page_name", "name"),
    [
        pytest.param(*place, marks=[pytest.mark.slow] if kind in _KINDS[:i] and not CHAPTER else [])
        for i, (place, kind) in enumerate(zip(FIGURES, _KINDS, strict=True))
    ],
    ids=lambda text: text,
)
#: Most frames of a figure that are looked at in `make test`, and in `make test-all`.
SAMPLE, MANY = 60, 250
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
LAPTOP = {"viewport": {"width": 1280, "height": 900}}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        pass


@pytest.fixture(scope="module")
def origins() -> Iterator[dict[str, str]]:
    """Where the book is found: on the disk, and on a server of this test's own."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(BOOK)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {"file": BOOK.as_uri(), "http": f"http://127.0.0.1:{server.server_port}"}
    server.shutdown()
    server.server_close()


class Visit:
    """A window of its own; requests elsewhere are refused, and they and all errors noted.

    Mathematics stays unset, which `test_pages` looks after: setting it takes longer than all that is tested here.
    """

    def __init__(self, browser: Browser, origin: str, **window) -> None:
        self.origin, self.complaints = origin, []
        # Without motion a figure shows its numbers in the next frame.
        self.context = browser.new_context(**LAPTOP | {"reduced_motion": "reduce"} | window)
        self.context.set_default_timeout(PATIENCE)
        self.pages: dict[str, Page] = {}
        self.context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        self.context.on(
            "console",
            lambda line: self.complaints.append(line.text) if line.type in ("error", "warning") else None,
        )
        self.context.route(re.compile("/mathjax/"), lambda r: r.fulfill(body=""))
        self.context.route(lambda url: not url.startswith((origin, "data:", "blob:")), self._refuse)

    def _refuse(self, route) -> None:
        self.complaints.append(f"asks for {route.request.url}")
        route.abort()

    def page(self, name: str) -> Page:
        """The page, opened when it is first asked for; it stays open for the next test."""
        if name not in self.pages:
            self.pages[name] = self.context.new_page()
            self.pages[name].goto(f"{self.origin}/{name}.html")
        # A browser draws a page behind another about once per second.
        self.pages[name].bring_to_front()
        return self.pages[name]

    def figure(self, page_name: str, name: str) -> Locator:
        """A figure of a page in its opening state."""
        figure = self.page(page_name).locator(f"figure#{name}")
        # A mouse that a test has left over a word would pick it as soon as the page scrolls under it.
        self.page(page_name).mouse.move(0, 0)
        figure.get_by_role("button", name="reset").press("Enter")
        return figure

    def __enter__(self) -> "Visit":
        return self

    def __exit__(self, error: type[BaseException] | None, *_) -> None:
        self.context.close()
        if error is None:
            assert self.complaints == []


@pytest.fixture(scope="module")
def laptop_window(browser: Browser, origins: dict[str, str]) -> Iterator[Visit]:
    with Visit(browser, origins["file"]) as visit:
        yield visit


@pytest.fixture(scope="module")
def phone_window(browser: Browser, origins: dict[str, str]) -> Iterator[Visit]:
    with Visit(browser, origins["file"], **PHONE) as visit:
        yield visit


@pytest.fixture
def laptop(laptop_window: Visit) -> Iterator[Visit]:
    """A window with mouse and keyboard that tests share, since opening a page takes longer than most of them."""
    yield laptop_window
    assert laptop_window.complaints == []


@pytest.fixture
def phone(phone_window: Visit) -> Iterator[Visit]:
    """A narrow window with a touch screen, shared in the same way."""
    yield phone_window
    assert phone_window.complaints == []


@every_figure
@pytest.mark.parametrize("most", [SAMPLE, pytest.param(MANY, marks=pytest.mark.slow)])
def test_frames_show_the_notebooks_numbers(laptop: Visit, most: int, page_name: str, name: str) -> None:
    figure, shown = FIGURES[page_name, name], laptop.figure(page_name, name)
    if figure.table:
        open_table(shown)
    check_frames(shown, figure, some_points(figure, most))


def shows(shown: Locator, figure: StoredFigure, point: dict) -> None:
    """The figure has answered: sentence, spoken sentence and table, which follow late, are those of the point."""
    expect(shown.locator(".xp-say")).to_have_text(figure.sentence(**point))
    expect(shown.get_by_role("status")).to_have_text(figure.sentence(**point))
    if figure.table:
        expect(shown.locator("td")).to_have_text(table_cells(figure, point))


@every_figure
def test_keys_move_each_control_and_the_page_follows(laptop: Visit, page_name: str, name: str) -> None:
    figure, shown = FIGURES[page_name, name], laptop.figure(page_name, name)
    if figure.table:
        open_table(shown)
    point = dict(figure.point)
    shows(shown, figure, point)
    page = laptop.page(page_name)
    # The tabulator visits the buttons above the picture, then every control, in the order in which they stand.
    shown.locator(".xp-tools button").first.focus()
    for button in shown.locator(".xp-tools button").all():
        expect(button).to_be_focused()
        page.keyboard.press("Tab")
    # Of radio buttons the tabulator reaches the one that is checked.
    first = shown.locator(".xp-controls input[type=range], .xp-controls input:checked").first
    expect(first).to_be_focused()
    titles = shown.locator(".xp-controls > .xp-row").evaluate_all(
        "rows => rows.map(row => row.firstChild.textContent)"
    )
    controls = sorted(states(figure).items(), key=lambda item: titles.index(titled(item[0])))
    for control, values in controls:
        last = len(values) - 1
        if is_slider(figure, control):
            handle = slider(shown, control)
            expect(handle).to_be_focused()
            for key, at in (
                ("Home", 0),
                ("ArrowRight", 1),
                ("End", last),
                ("ArrowLeft", last - 1),
                ("ArrowUp", last),
            ):
                page.keyboard.press(key)
                point[control] = values[at]
                expect(handle).to_have_attribute("aria-valuetext", spoken(figure, control, values[at]))
            page.keyboard.press("PageDown")
            assert int(handle.input_value()) < last
            page.keyboard.press("PageUp")
            assert int(handle.input_value()) == last
        else:
            group = shown.get_by_role("radiogroup", name=titled(control), exact=True)
            assert group.get_by_role("radio").count() == len(values)
            expect(group.get_by_role("radio", checked=True)).to_be_focused()
            page.keyboard.press("ArrowRight")
            point[control] = values[(values.index(point[control]) + 1) % len(values)]
            expect(group.get_by_role("radio").nth(values.index(point[control]))).to_be_checked()
        shows(shown, figure, point)
        page.keyboard.press("Tab")
    played = figure.spec["play"]
    buttons = shown.locator(".xp-tools button").all_inner_texts()
    symbols = [f"{symbol} {role}" for role, symbol in figure.spec["symbols"].items()]
    assert buttons == [
        *(["play"] if played else []),
        *(["next"] if figure.kind == "decoding" else []),
        "reset",
        *symbols,
    ]
    if played:
        at_the_end = {control: states(figure)[control][-1] for control in played}
        check_frames(shown, figure, [point | at_the_end])
        name = " and ".join(map(titled, played))
        shown.get_by_role("button", name=f"play {name}").press("Enter")  # from the end it starts again
        expect(shown.locator(".xp-say")).not_to_have_text(figure.sentence(**(point | at_the_end)))
    shown.get_by_role("button", name="reset").press("Enter")
    shows(shown, figure, figure.point)
    assert shown.locator(".xp-say").get_attribute("aria-hidden") == "true"


def toggle_table(shown: Locator, *, opened: bool) -> None:
    shown.locator(".xp-table").evaluate("(details, opened) => { details.open = opened }", opened)


@every_figure
def test_a_figure_fits_a_laptop_paper_and_a_page_at_twice_the_size(
    laptop: Visit, page_name: str, name: str
) -> None:
    page, shown = laptop.page(page_name), laptop.figure(page_name, name)
    if FIGURES[page_name, name].table:
        toggle_table(shown, opened=False)
        closed = check_height(shown)
        open_table(shown)
        assert check_height(shown) > closed
    page.emulate_media(media="print")
    assert check_height(shown) > 0
    page.emulate_media(media="screen")
    # A window of 1280 pixels enlarged twofold lays a page out on 640.
    page.set_viewport_size({"width": 640, "height": 450})
    check_height(shown)
    assert page.evaluate("document.documentElement.scrollWidth") <= 640
    box = shown.locator(".xp-controls").last.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 640
    page.set_viewport_size(LAPTOP["viewport"])


@every_figure
def test_a_figure_fits_a_phone(phone: Visit, page_name: str, name: str) -> None:
    page, shown = phone.page(page_name), phone.figure(page_name, name)
    if FIGURES[page_name, name].table:
        open_table(shown)
    check_height(shown)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert shown.evaluate(COMPACT) <= 684


def test_each_figure_of_the_book_fits_the_screen_of_a_phone(phone: Visit) -> None:
    phone.page("book/playground")
    heights = {name: phone.figure("book/playground", name).evaluate(COMPACT) for _, name in FIGURES}
    assert {name: height for name, height in heights.items() if height > 684} == {}


@every_figure
@pytest.mark.parametrize("window", ["laptop", "phone"])
def test_a_click_and_a_tap_choose_and_hovering_changes_nothing(
    request: pytest.FixtureRequest, window: str, page_name: str, name: str
) -> None:
    figure, visit = FIGURES[page_name, name], request.getfixturevalue(window)
    page, shown = visit.page(page_name), visit.figure(page_name, name)
    for pick, key in figure.picks.items():
        for at in (len(figure.labels[key]) - 1, 0):
            target = shown.locator(f"[data-pick='{{\"{pick}\":{at}}}']").last
            if window == "phone":
                target.tap()
            else:
                before = slider(shown, pick).input_value()
                target.hover()
                expect(shown.locator(".xp-say")).to_have_text(figure.sentence(**{pick: at}))
                expect(slider(shown, pick)).to_have_value(before)
                target.click()
            expect(slider(shown, pick)).to_have_value(str(at))
            page.mouse.move(0, 0)
            expect(shown.locator(".xp-say")).to_have_text(figure.sentence(**{pick: at}))


@pytest.mark.parametrize("window", ["laptop", "phone"])
def test_the_grip_under_a_chart_is_dragged_to_both_ends(request: pytest.FixtureRequest, window: str) -> None:
    visit, dragged = request.getfixturevalue(window), 0
    for page_name, name in FIGURES:
        figure = FIGURES[page_name, name]
        if not figure.spec["gauges"][1]:
            continue
        page, shown, axis = visit.page(page_name), visit.figure(page_name, name), figure.spec["play"][0]
        box = shown.locator(f".instead[data-drag={axis}]").bounding_box()
        for end, at in ((box["x"] + box["width"] - 3, len(states(figure)[axis]) - 1), (box["x"] + 3, 0)):
            grip = shown.locator(".handle").first.bounding_box()
            page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
            page.mouse.down()
            page.mouse.move(end, grip["y"] + 5, steps=4)
            page.mouse.up()
            expect(slider(shown, axis)).to_have_value(str(at))
        dragged += 1
    assert dragged >= 8


STATE_IN_ADDRESS = """([name, there]) => {
    const [figure, state] = location.hash.split("?");
    const given = new URLSearchParams(state);
    return figure === `#${name}` && Object.keys(there).every(key => given.get(key) === String(there[key]));
}"""


def test_links_into_figures_name_states_that_there_are() -> None:
    linked = 0
    for page in PAGES:
        for link in html(page).select("a[href*='#'][href*='?']"):
            path, _, state = link["href"].partition("#")
            name, _, query = state.partition("?")
            if path.startswith(("http:", "https:")):
                continue
            target = (
                (BOOK / page).parent.joinpath(path).resolve().relative_to(BOOK).with_suffix("").as_posix()
            )
            figure = FIGURES[target, name]
            for control, value in parse_qsl(query, strict_parsing=True):
                assert value in map(str, states(figure)[control]), link["href"]
            linked += 1
    assert linked >= 8


def far_point(figure: StoredFigure) -> dict:
    return {control: values[-1] for control, values in states(figure).items()}


def address_of(page: Page, shown: Locator, figure: StoredFigure) -> str:
    """The page's address once a figure has been moved to its far point and the address has followed."""
    there = far_point(figure)
    check_frames(shown, figure, [there])
    page.wait_for_function(STATE_IN_ADDRESS, arg=[figure.name, there])
    return page.evaluate("location.hash")


def one_of_several() -> tuple[tuple[str, str], StoredFigure]:
    """The last figure of the book whose page has more figures, with its page and name."""
    pages = [page_name for page_name, _ in FIGURES]
    return [item for item in FIGURES.items() if pages.count(item[0][0]) > 1][-1]


@pytest.mark.parametrize("scheme", ["file", pytest.param("http", marks=pytest.mark.slow)])
def test_a_page_opens_at_the_figure_and_in_the_state_of_its_address(
    browser: Browser, origins: dict[str, str], scheme: str
) -> None:
    (page_name, name), figure = one_of_several()
    with Visit(browser, origins[scheme]) as visit:
        page, shown = visit.page(page_name), visit.figure(page_name, name)
        open_table(shown)
        address = address_of(page, shown, figure)
        page.reload()
        expect(shown.locator(".xp-picture")).to_be_in_viewport()
        expect(shown.locator(".xp-say")).to_have_text(figure.sentence(**far_point(figure)))
        page.goto("about:blank")  # a change of the address alone would not load the page
        page.goto(f"{visit.origin}/{page_name}.html{address}")
        expect(shown.locator(".xp-picture")).to_be_in_viewport()
        expect(shown.locator(".xp-say")).to_have_text(figure.sentence(**far_point(figure)))


@every_figure
def test_a_key_lays_out_its_figure_and_not_the_page(
    browser: Browser, laptop: Visit, page_name: str, name: str
) -> None:
    figure, page, shown = FIGURES[page_name, name], laptop.page(page_name), laptop.figure(page_name, name)
    if figure.table:
        open_table(shown)
    control = next(
        (control for control in states(figure) if is_slider(figure, control)), next(iter(states(figure)))
    )
    if is_slider(figure, control):
        handle = slider(shown, control)
        handle.press("Home")
    else:
        shown.get_by_role("radio").first.press("Space")
    # Nothing is left to be laid out later.
    shows(shown, figure, figure.point | {control: states(figure)[control][0]})
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    for _ in range(3):
        page.keyboard.press(
            "ArrowRight"
        )  # the focus is on a radio button that is not the first after one press
        page.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    events = json.loads(browser.stop_tracing())["traceEvents"]
    layouts = [event["args"].get("beginData", {}) for event in events if event["name"] == "Layout"]
    # Others may be the page's own, or those of another page that the browser keeps.
    assert sum(layout.get("partialLayout", False) for layout in layouts) >= 3, layouts


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, origins: dict[str, str], theme: str) -> None:
    with Visit(browser, origins["file"], **PHONE, color_scheme=theme) as visit:
        page = visit.page("book/playground")
        page.locator("figure.xp details").evaluate_all("all => all.forEach(each => { each.open = true })")
        # Tables are filled when they are open.
        page.wait_for_function(
            "![...document.querySelectorAll('.xp-table')].some(table => !table.querySelector('td'))"
        )
        results = Axe().run(page, context="figure.xp", options=AXE_OPTIONS)
        assert results.violations_count == 0, results.generate_report()


def test_without_a_script_the_picture_and_its_sentence_stand(
    browser: Browser, origins: dict[str, str]
) -> None:
    with Visit(browser, origins["file"], java_script_enabled=False) as visit:
        page = visit.page("book/playground")
        for (_, name), figure in FIGURES.items():
            shown = page.locator(f"figure#{name}")
            assert shown.locator("img").get_attribute("alt") == figure.alt
            assert shown.locator("img").bounding_box()["width"] > 200
            assert shown.locator("img").evaluate("img => img.complete && img.naturalWidth") == 720
            assert shown.locator("p").inner_text() == figure.sentence()


@pytest.mark.parametrize(("page_name", "name"), FIGURES, ids=lambda text: text)
def test_the_stored_still_picture_is_what_the_script_draws_now(page_name: str, name: str) -> None:
    source = BeautifulSoup(STORED[page_name][name], "html.parser").img["src"]
    picture = base64.b64decode(source.removeprefix("data:image/svg+xml;base64,")).decode()
    assert picture == FIGURES[page_name, name].draw(), "the script has changed: run make notebooks"


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


def test_the_playground_has_every_figure_and_they_move(laptop: Visit) -> None:
    written = (BOOK / "book" / "playground.html").read_text("utf-8")
    for (page_name, name), figure in FIGURES.items():
        assert STORED[page_name][name] in written, name
        assert html("book/playground").select(f"a[href='../{page_name}.html']"), page_name
        assert html(page_name).select_one(f"figure#{name}")
        assert figure.alt
        shown = laptop.figure("book/playground", name)
        if figure.table:
            open_table(shown)
        check_frames(shown, figure, [figure.point, far_point(figure)])


def test_the_guide_shows_its_own_example(laptop: Visit) -> None:
    (written,) = html("book/explorables").select("figure.xp")
    figure = StoredFigure(str(written))
    shown = laptop.figure("book/explorables", figure.name)
    if figure.table:
        open_table(shown)
    check_frames(shown, figure)


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
        assert size < 110_000, f"{page}: {size:,} bytes"
    assert len(gzip.compress((page_script() + style()).encode(), 9)) < 45_000
