"""Each chapter, opened once: its first screen shows a picture, and its questions can be answered."""

import json

import pytest
from built_book import CHAPTERS, html
from playwright.sync_api import Browser, expect
from windows import PHONE, Visit

pytestmark = pytest.mark.browser

LAPTOP = {"width": 1280, "height": 900}
#: Top and height of the first picture.
FIRST = """() => {
    const { top, height } = document.querySelector("article :is(figure, svg.chart, .xp)").getBoundingClientRect();
    return [top, height];
}"""
#: Code and outputs that scroll sideways; the figures that do so on purpose say so by keys and arrows.
TOO_WIDE = """[...document.querySelectorAll("article :is(pre, table, .cell_output)")]
    .filter(box => box.checkVisibility() && !box.closest(".xp") && box.scrollWidth > box.clientWidth + 1)
    .map(box => box.textContent.trim().slice(0, 60))"""


def right_answers(name: str) -> dict[str, object]:
    """The right answer to each question of a page, as the page stores it."""
    stored = {}
    for box in html(name).select(".quiz"):
        answers = json.loads(box["data-answers"])
        right = [i for i, answer in enumerate(answers) if answer["right"]]
        stored[box["id"]] = str(answers[right[0]]["number"]) if box["data-kind"] == "number" else right
    return stored


def put_in_storage(answers: dict[str, object]) -> str:
    """A script that stores these answers as if the reader had given them; the empty page has no storage."""
    return f"""if (location.protocol !== "about:") {{
        localStorage.setItem(`quizzes ${{location.pathname}}`, JSON.stringify({json.dumps(answers)}));
    }}"""


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_picture_comes_first_and_every_question_can_be_answered(browser: Browser, name: str) -> None:
    answers = right_answers(name)
    with Visit(browser, viewport=LAPTOP) as visit:
        visit.context.add_init_script(put_in_storage(answers))
        page = visit.page(name)
        top, height = page.evaluate(FIRST)
        assert top + height / 2 <= LAPTOP["height"], "half of the picture is on the first screen of a laptop"
        assert page.evaluate(TOO_WIDE) == []

        expect(page.locator(".quiz form")).to_have_count(len(answers))
        assert page.locator(".quiz:not([data-state=right])").count() == 0
        shown = page.locator(".quiz-feedback li:visible strong:first-child").all_inner_texts()
        assert set(shown) <= {"Right."}

        page.set_viewport_size(PHONE["viewport"])
        top, _ = page.evaluate(FIRST)
        assert top < 2 * PHONE["viewport"]["height"], (
            "it begins on the second screen of a phone at the latest"
        )
