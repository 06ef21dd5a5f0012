"""The questions on the pages of the built book: by keyboard and finger, stored and not stored, without a script.

What a question may look like, and which mistakes stop the build, is in `test_plain_markdown`.
"""

import json
import re
from collections.abc import Iterator

import pytest
from built_book import html
from playwright.sync_api import Browser, Locator, Page, expect
from windows import PHONE, Visit

from utils.exercises.checking import Wrong, as_number

pytestmark = pytest.mark.browser

#: A page with questions of every kind, and one of each.
PAGE = "chapters/dot_product_attention"
ONE_OF_EACH = {"one": "longest-shadow", "all": "what-changes-weights", "number": "typical-size"}


class Question:
    """A question of a page, with the answers that its source has."""

    def __init__(self, page: Page, name: str) -> None:
        self.page, self.box = page, page.locator(f"#quiz-{name}")
        written = html(PAGE).select_one(f"#quiz-{name}")
        self.kind, self.answers = written["data-kind"], json.loads(written["data-answers"])
        # The mark without its value is what the page shows.
        self.explanations = [
            re.sub(r"^(Right|No).*?\. (?=\S)", r"\1. ", " ".join(item.get_text().split()))
            for item in written.select("details > :is(ol, ul) > li")
        ]
        self.feedback = self.box.get_by_role("status")

    def right(self) -> list[int]:
        return [i for i, answer in enumerate(self.answers) if answer["right"]]

    def give(self, *chosen: int) -> None:
        """Give what belongs to an answer, or to several where one chooses all, and check it, with keys alone."""
        press, answer = self.page.keyboard.press, self.answers[chosen[0]]
        self.box.locator("input").first.focus()
        if self.kind == "one":
            press("Space")
            for _ in range(chosen[0]):
                press("ArrowDown")
        elif self.kind == "all":
            for i, box in enumerate(self.box.get_by_role("checkbox").all()):
                expect(box).to_be_focused()
                if box.is_checked() != (i in chosen):
                    press("Space")
                press("Tab")
            expect(self.box.get_by_role("button", name="Check")).to_be_focused()
        else:
            press("ControlOrMeta+A")
            self.page.keyboard.type(str(answer.get("number", 1234.5)).replace(".", ","))
        press("Enter")

    def shows(self, *answers: int) -> None:
        """These explanations, and no others."""
        listed = self.feedback.locator("li:visible")
        expect(listed).to_have_text([self.explanations[i] for i in answers])


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[Visit]:
    """A window that the tests share, since to open a page takes longer than most of them."""
    with Visit(browser) as visit:
        yield visit


@pytest.fixture
def page(window: Visit) -> Iterator[Page]:
    """The page with questions of every kind, none of them answered."""
    page = window.page(PAGE)
    clear(page).press("Enter")
    yield page
    assert window.complaints == []


def clear(page: Page) -> Locator:
    return page.get_by_role("button", name="Clear my answers on this page")


@pytest.mark.parametrize(("kind", "name"), ONE_OF_EACH.items())
def test_each_answer_explains_itself_by_keyboard(page: Page, kind: str, name: str) -> None:
    question = Question(page, name)
    assert question.kind == kind
    assert "Right." not in question.box.aria_snapshot()
    question.shows()
    # The wrong ones first: the reader may try again.
    right = question.right()
    for wrong in range(len(question.answers)):
        if wrong not in right:
            question.give(wrong)
            question.shows(wrong)
            expect(question.box).to_have_attribute("data-state", "wrong")
    question.give(*right)
    question.shows(*right)
    expect(question.box).to_have_attribute("data-state", "right")


def test_numbers_are_read_as_people_write_them(window: Visit) -> None:
    page = window.page("chapters/attention_variants")
    box = page.locator("#quiz-numbers-of-general")
    for text, state in {
        "4,096": "right",
        "4,1": "wrong",
        "8192 / 2": "right",
        "4096 numbers": "right",
    }.items():
        box.locator("input").first.fill(text)
        page.keyboard.press("Enter")
        expect(box).to_have_attribute("data-state", state)
    clear(page).press("Enter")


#: The same number, as a reader may write it in an exercise or in a question.
FORMS = ("4096", " 4096.0 ", "+4096", "4.096e3", "8192/2", "8192 / 2", "409600%", "409600 %", "819200/2%")
NO_NUMBERS = ("four", "%", "4096%%", "1/0", "0/0", "8192//2", "--4096", "4096.0.0")


def test_questions_and_exercises_read_the_same_numbers(window: Visit) -> None:
    page = window.page("chapters/attention_variants")
    box = page.locator("#quiz-numbers-of-general")
    field, feedback = box.locator("input").first, box.get_by_role("status")
    for text in FORMS:
        assert as_number(text) == 4096, text
        field.fill(text)
        page.keyboard.press("Enter")
        expect(box).to_have_attribute("data-state", "right")
    for text in NO_NUMBERS:
        with pytest.raises(Wrong, match="not a number"):
            as_number(text)
        field.fill(text)
        page.keyboard.press("Enter")
        expect(feedback).to_contain_text("First write a number")
    assert as_number("\u2212409600%") == -4096
    field.fill("\u2212409600%")
    page.keyboard.press("Enter")
    expect(box).to_have_attribute("data-state", "wrong")
    clear(page).press("Enter")


def test_choosing_some_of_all_is_wrong(page: Page) -> None:
    question = Question(page, ONE_OF_EACH["all"])
    first, *others = question.right()
    question.give(first, *others)
    question.box.get_by_role("checkbox").nth(first).press("Space")
    question.shows()  # what was said was about another answer
    page.keyboard.press("Enter")
    question.shows(*others)
    expect(question.feedback).to_contain_text("More of the choices are right.")
    expect(question.box).to_have_attribute("data-state", "wrong")


def test_an_empty_answer_is_told_what_to_give(page: Page) -> None:
    for kind, hint in {"one": "choose one", "all": "choose all"}.items():
        question = Question(page, ONE_OF_EACH[kind])
        question.box.get_by_role("button", name="Check").press("Enter")
        expect(question.feedback).to_contain_text(f"First {hint}")
        assert question.box.get_attribute("data-state") is None
    question = Question(page, ONE_OF_EACH["number"])
    question.box.get_by_role("textbox").fill("four")
    page.keyboard.press("Enter")
    expect(question.feedback).to_contain_text("First write a number, for example 0.5 or 1/2.")


def test_answers_stay_until_they_are_cleared(page: Page) -> None:
    given = {name: Question(page, name) for name in ONE_OF_EACH.values()}
    for question in given.values():
        question.give(*question.right())
    page.reload()
    for question in given.values():
        expect(question.box).to_have_attribute("data-state", "right")
        question.shows(*question.right())
    assert page.locator(".quiz[data-state]").count() == len(given)
    clear(page).press("Enter")
    assert page.locator(".quiz[data-state]").count() == 0
    assert page.locator(".quiz :checked").count() == 0
    assert page.evaluate("Object.values(localStorage).filter(text => text.includes('quiz-')).length") == 0


#: Refuses storage to our own script, as a browser may; the theme's scripts would complain in the console.
NO_STORAGE = """
const { get } = Object.getOwnPropertyDescriptor(window, "localStorage");
Object.defineProperty(window, "localStorage", { get() {
    if (new Error().stack.includes("quiz.js")) throw new DOMException("", "SecurityError");
    return get.call(window);
} });"""
SMALL = """all => all.map(target => [target.outerHTML, target.getBoundingClientRect()])
    .filter(([, { width, height }]) => Math.min(width, height) < 24).map(([html]) => html)"""


def test_a_finger_can_answer_without_storage(browser: Browser) -> None:
    with Visit(browser, **PHONE) as visit:
        visit.context.add_init_script(NO_STORAGE)
        page = visit.page(PAGE)
        question = Question(page, ONE_OF_EACH["one"])
        for at, state in ((0, "wrong"), (2, "right")):
            question.box.get_by_role("radio").nth(at).tap()
            question.box.get_by_role("button", name="Check").tap()
            expect(question.box).to_have_attribute("data-state", state)
        targets = page.locator(".quizzes :is(button, label, [type=text])")
        assert targets.count() > 20
        assert targets.evaluate_all(SMALL) == []
        assert page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('quizzes'))") == []
