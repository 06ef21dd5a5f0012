"""The figures with sliders where readers meet them: on the pages of the built book, opened from the disk.

The numbers in a notebook are compared with what its cells compute when nbval runs them (`chapters/conftest.py`); the
numbers that the browser shows are compared here with those in the notebook. How figures answer to mouse, finger and
keyboard, and how they look on paper, is tested in `test_in_browser`.
"""

import os
import re
from collections.abc import Iterator
from urllib.parse import parse_qsl

import pytest
from built_book import BOOK, CHAPTER, CHAPTERS, PAGES, ROOT, html
from playwright.sync_api import Browser, expect
from stored_figures import (
    COMPACT,
    StoredFigure,
    check_frames,
    open_table,
    some_points,
    states,
)
from windows import PHONE, Visit

from utils.figures.sphinx_extension import stored_figures

pytestmark = pytest.mark.browser

STORED = {page: stored_figures(ROOT / f"{page}.ipynb") for page in CHAPTERS}
FIGURES: dict[tuple[str, str], StoredFigure] = {
    (page, name): StoredFigure(written)
    for page, figures in STORED.items()
    for name, written in figures.items()
}
_KINDS = [figure.spec["kind"] for figure in FIGURES.values()]
#: Figures of one kind are drawn by the same code: `make test-book` looks at the first of each,
#: `make test CHAPTER=name` at those of the chapter, `make test-all` at all.
every_figure = pytest.mark.parametrize(
    ("page_name", "name"),
    [
        pytest.param(*place, marks=[pytest.mark.slow] if kind in _KINDS[:i] and not CHAPTER else [])
        for i, (place, kind) in enumerate(zip(FIGURES, _KINDS, strict=True))
    ],
    ids=lambda text: text,
)


@pytest.fixture(scope="module")
def laptop(browser: Browser) -> Iterator[Visit]:
    """A window that tests share, since opening a page takes longer than most of them."""
    with Visit(browser) as visit:
        yield visit


def check_shown(laptop: Visit, page_name: str, figure: StoredFigure, points: list[dict]) -> None:
    """On this page the figure shows what its numbers say."""
    shown = laptop.figure(page_name, figure.name)
    if figure.table:
        open_table(shown)
    check_frames(shown, figure, points)


@every_figure
def test_frames_show_the_notebooks_numbers(laptop: Visit, page_name: str, name: str) -> None:
    figure = FIGURES[page_name, name]
    check_shown(laptop, page_name, figure, some_points(figure, 12))


def test_figures_fit_phones(browser: Browser) -> None:
    with Visit(browser, **PHONE) as visit:
        page, heights = visit.page("book/playground"), {}
        for _, name in FIGURES:
            shown = visit.figure("book/playground", name)
            heights[name] = shown.evaluate(COMPACT)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["viewport"]["width"]
        assert {name: height for name, height in heights.items() if height > 684} == {}


def test_links_into_figures_name_real_states() -> None:
    linked = 0
    for page in PAGES:
        for link in html(page).select("a[href*='#'][href*='?']"):
            path, name, query = re.split("[#?]", link["href"], maxsplit=2)
            if path.startswith(("http:", "https:")):
                continue
            target = os.path.normpath(f"{page}/../{path}").removesuffix(".html")
            figure = FIGURES[target, name]
            for control, value in parse_qsl(query, strict_parsing=True):
                if control == "points":
                    movable = figure.spec["movable"]
                    number, *place = map(float, value.split(":"))
                    assert number in range(len(movable["places"])), link["href"]
                    assert all(
                        low <= x <= high for x, (low, high) in zip(place, movable["bounds"], strict=True)
                    )
                    continue
                # JavaScript writes 5.0 as 5.
                known = [str(one).removesuffix(".0") for one in states(figure)[control]]
                assert value in known, link["href"]
            linked += 1
    assert linked >= 8


#: What a figure says in the states to which the first hour for teachers links; the page repeats the numbers.
FIRST_HOUR = {
    "words-in-plane?points=8:1.5:0.8": "Here “flower” counts most: 88% of the weight.",
    "words-in-plane?points=8:0.2:1.6": "Here “white” counts most: 54% of the weight.",
    "nadaraya-watson?bandwidth=0.7&query=14.5": "At hour 14.5 the estimate is 3.76 m; the truth is 3.82 m. Over the "
    "day the error is 0.23 m.",
    "learned-map?word=5": "Before “voir” the network looks most at “see”: 82% of its weight.",
    "learned-map?word=4": "Before “vous” the network looks most at “see”: 59% of its weight.",
}


def test_the_first_hour_says_what_its_figures_say(browser: Browser) -> None:
    hour = html("book/teaching").select_one("section#the-first-hour")
    with Visit(browser) as visit:
        page = visit.page("chapters/nadaraya_watson")
        for state, sentence in FIRST_HOUR.items():
            assert hour.select(f"a[href='../chapters/nadaraya_watson.html#{state}']"), state
            page.evaluate("state => { location.hash = state }", state)
            expect(page.locator(f"figure#{state.partition('?')[0]} .xp-say")).to_have_text(sentence)
            for number in re.findall(r"\d+%|\d\.\d\d", sentence):
                assert number in hour.get_text(), number


def test_without_a_script_picture_and_sentence_show(browser: Browser) -> None:
    with Visit(browser, java_script_enabled=False) as visit:
        page = visit.page("book/playground")
        for (_, name), figure in FIGURES.items():
            shown = page.locator(f"figure#{name}")
            assert shown.locator("img").get_attribute("alt") == figure.alt
            assert shown.locator("img").bounding_box()["width"] > 200
            assert shown.locator("img").evaluate("img => img.complete && img.naturalWidth") == 720
            assert shown.locator("p").inner_text() == figure.sentence()


def test_the_playground_has_every_figure() -> None:
    written = (BOOK / "book" / "playground.html").read_text("utf-8")
    names = [name for _, name in FIGURES]
    assert len(names) == len(set(names)) >= 15
    for (page_name, name), figure in FIGURES.items():
        assert STORED[page_name][name] in written, name
        assert html("book/playground").select(f"a[href='../{page_name}.html']"), page_name
        assert html(page_name).select_one(f"figure#{name}")
        assert figure.alt


def test_the_code_of_the_guide_runs(capsys) -> None:
    guide = (ROOT / "book" / "explorables.md").read_text("utf-8")
    blocks = re.findall(
        r"^```(\{explorable-example\}|python|text)\n(.*?)^```", guide, re.MULTILINE | re.DOTALL
    )
    assert [kind for kind, _ in blocks].count("python") >= 2
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
