"""The pages in a browser, opened from the disk: what they ask for, how they look, whom they shut out."""

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request
from test_book import BOOK, CHAPTERS, IDEOGRAPHS, PAGES, html

PHONE = {"width": 360, "height": 740}
LAPTOP = {"width": 1280, "height": 800}
#: The book itself, and what pages carry inside themselves.
OWN = ("file:", "data:", "blob:", "about:")


class Reader:
    """Opens pages and notes what goes wrong: requests to other hosts, errors in the console."""

    def __init__(self, browser: Browser, *, viewport: dict, color_scheme: str = "light") -> None:
        self.context = browser.new_context(viewport=viewport, color_scheme=color_scheme)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("request", self._note_request)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("console", self._note_console)
        self.context.route(re.compile(r"^https?:"), lambda route: route.abort())

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith(OWN):
            self.complaints.append(f"request to another host: {request.url}")

    def _note_console(self, message) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console: {message.text}")

    def open(self, name: str) -> Page:
        self.page.goto(f"file://{BOOK}/{name}.html")
        self.page.wait_for_load_state("load")
        if self.page.locator(".math").count():
            self.page.wait_for_function("window.MathJax && MathJax.startup && MathJax.startup.promise")
            self.page.evaluate("MathJax.startup.promise")
        return self.page


@pytest.fixture
def laptop(browser: Browser) -> Iterator[Reader]:
    reader = Reader(browser, viewport=LAPTOP)
    yield reader
    reader.context.close()


@pytest.fixture
def dark_phone(browser: Browser) -> Iterator[Reader]:
    reader = Reader(browser, viewport=PHONE, color_scheme="dark")
    yield reader
    reader.context.close()


def obstacles(page: Page) -> list[str]:
    """What axe-core calls a serious or critical obstacle."""
    # Transitions between colours are over before contrast is measured.
    page.add_style_tag(
        content="*, *::before, *::after { transition: none !important; animation: none !important }"
    )
    return [
        f"{violation['id']}: {node['html'][:150]}"
        for violation in Axe().run(page).response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize("name", PAGES)
def test_page_on_a_laptop(laptop: Reader, name: str) -> None:
    page = laptop.open(name)
    assert laptop.complaints == []
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert page.locator("mjx-merror").count() == 0
    assert page.locator(".math").count() <= page.locator("mjx-container").count()
    assert page.evaluate("[...document.images].filter(i => !i.complete || i.naturalWidth === 0).length") == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= LAPTOP["width"]
    assert obstacles(page) == []


@pytest.mark.parametrize("name", PAGES)
def test_page_on_a_phone_in_the_dark(dark_phone: Reader, name: str) -> None:
    page = dark_phone.open(name)
    assert dark_phone.complaints == []
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    # With everything unfolded, too, nothing sticks out sideways.
    page.evaluate("document.querySelectorAll('main details').forEach(details => { details.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert obstacles(page) == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_figures_can_be_read_in_the_dark(dark_phone: Reader, name: str) -> None:
    page = dark_phone.open(name)
    grounds = page.evaluate(
        "[...document.querySelectorAll('.cell_output img')].map(i => getComputedStyle(i).backgroundColor)"
    )
    assert grounds
    assert set(grounds) == {"rgb(255, 255, 255)"}


#: Marks each visible element that has Chinese text of its own, in shadow trees too, with the number of its ideographs.
MARK_CHINESE = r"""() => {
    const mark = (root) => {
        for (const element of root.querySelectorAll("*")) {
            const own = [...element.childNodes].filter(node => node.nodeType === Node.TEXT_NODE);
            const found = own.map(node => node.data).join("").match(/\p{Script=Han}/gu);
            if (found && element.checkVisibility()) element.dataset.chinese = found.length;
            if (element.shadowRoot) mark(element.shadowRoot);
        }
    };
    mark(document.querySelector("main"));
}"""


def test_chinese_is_drawn_with_the_font_of_the_book(laptop: Reader) -> None:
    names = [name for name in PAGES if IDEOGRAPHS.search(html(name).select_one("article").get_text())]
    assert "book/glossary" in names
    tags = set()
    for name in names:
        page = laptop.open(name)
        page.evaluate(MARK_CHINESE)
        page.evaluate("document.fonts.ready")
        protocol = laptop.context.new_cdp_session(page)
        protocol.send("DOM.enable")
        protocol.send("CSS.enable")
        marked = 0
        for node in protocol.send("DOM.getFlattenedDocument", {"depth": -1, "pierce": True})["nodes"]:
            attributes = node.get("attributes", [])
            if "data-chinese" not in attributes:
                continue
            ideographs = int(attributes[attributes.index("data-chinese") + 1])
            fonts = protocol.send("CSS.getPlatformFontsForNode", {"nodeId": node["nodeId"]})["fonts"]
            drawn = sum(font["glyphCount"] for font in fonts if font["isCustomFont"])
            assert drawn >= ideographs, (name, node["localName"], fonts)
            tags.add(node["localName"])
            marked += 1
        assert marked, name
        protocol.detach()
    assert {"p", "text"} <= tags  # of the pages, and of the pictures in them


@pytest.mark.parametrize("name", CHAPTERS[:1])
def test_solutions_unfold_by_keyboard(laptop: Reader, name: str) -> None:
    page = laptop.open(name)
    solution = page.locator(".tag_solution details").first
    code = solution.locator("pre").first
    assert not code.is_visible()
    solution.locator("summary").focus()
    page.keyboard.press("Enter")
    assert code.is_visible()


def test_search_works_from_the_disk(laptop: Reader) -> None:
    page = laptop.page
    page.goto(f"file://{BOOK}/search.html?q=epanechnikov")
    page.wait_for_selector("#search-results li a")
    found = page.locator("#search-results li a").evaluate_all("links => links.map(link => link.pathname)")
    assert any(path.endswith("chapters/nadaraya_watson.html") for path in found)
    page.locator("#search-results li a", has_text=re.compile("average", re.IGNORECASE)).first.click()
    page.wait_for_load_state("load")
    assert "search.html" not in page.url
    assert [c for c in laptop.complaints if "another host" in c] == []


def test_the_theme_switch_works(laptop: Reader) -> None:
    page = laptop.open(CHAPTERS[0])
    switch = page.locator(".theme-switch-button").locator("visible=true").first
    seen = set()
    for _ in range(3):
        switch.click()
        seen.add(page.evaluate("document.documentElement.dataset.theme"))
    assert seen == {"light", "dark"}
