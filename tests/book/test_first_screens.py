"""The first screen of a page shows a picture: on a laptop at least half of it, on a phone before the third screen."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from samples import a_few
from windows import PHONE, Visit

pytestmark = pytest.mark.browser

NAMES = sorted(path.stem for path in (Path(__file__).parents[2] / "chapters").glob("*.ipynb"))

LAPTOP = {"width": 1280, "height": 900}
FIRST = "document.querySelector('article :is(figure, svg.chart, .xp)').getBoundingClientRect()"
#: Code and outputs that scroll sideways; the figures that do so on purpose say so by keys and arrows.
TOO_WIDE = """[...document.querySelectorAll("article :is(pre, table, .cell_output)")]
    .filter(box => box.checkVisibility() && !box.closest(".xp") && box.scrollWidth > box.clientWidth + 1)
    .map(box => box.textContent.trim().slice(0, 60))"""


def on(browser: Browser, name: str, **window) -> Page:
    return Visit(browser, **window).page(f"chapters/{name}")


@pytest.mark.parametrize("name", a_few(NAMES))
def test_the_first_screen_shows_half_of_a_picture(browser: Browser, name: str) -> None:
    page = on(browser, name, viewport=LAPTOP)
    top, height = page.evaluate(f"[{FIRST}.top, {FIRST}.height]")
    assert top + height / 2 <= LAPTOP["height"]
    assert page.evaluate(TOO_WIDE) == []
    page.context.close()


@pytest.mark.parametrize("name", a_few(NAMES))
def test_on_a_phone_it_begins_on_the_second_screen_at_the_latest(browser: Browser, name: str) -> None:
    page = on(browser, name, **PHONE)
    assert page.evaluate(f"{FIRST}.top") < 2 * PHONE["viewport"]["height"]
    page.context.close()
