"""Windows of a browser that look at the book and note what goes wrong."""

import re

from built_book import BOOK
from chromium import PATIENCE
from playwright.sync_api import Browser, Locator, Page, Route, expect

LAPTOP = {"width": 1280, "height": 800}
DESK = {"viewport": LAPTOP}
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
#: axe need not ask for the style sheets, which a page on the disk may not read, nor tell of what is right.
AXE_OPTIONS = {"preload": False, "resultTypes": ["violations"]}


class Visit:
    """A window that refuses requests to other hosts, and notes them and all errors.

    Formulas stay as they are written unless a test asks for them: setting them takes longer than most tests.
    """

    def __init__(
        self, browser: Browser, origin: str = BOOK.as_uri(), *, mathematics: bool = False, **window
    ) -> None:
        self.origin, self.complaints = origin, []
        # Without motion a figure shows its numbers in the next frame.
        self.context = browser.new_context(**{"viewport": LAPTOP, "reduced_motion": "reduce"} | window)
        self.context.set_default_timeout(PATIENCE)
        self.pages: dict[str, Page] = {}
        self.tab: Page | None = None
        self.requested: set[str] = set()
        self.context.on("request", lambda request: self.requested.add(request.url))
        self.context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        self.context.on(
            "console",
            lambda line: self.complaints.append(line.text) if line.type in ("error", "warning") else None,
        )
        if not mathematics:
            self.context.route(re.compile("/mathjax/"), lambda route: route.fulfill(body=""))
        self.context.route(lambda url: not url.startswith((origin, "data:", "blob:")), self._refuse)

    def _refuse(self, route: Route) -> None:
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

    def open(self, name: str) -> Page:
        """The page in light mode on a laptop, complete; it takes the place of the one that was opened before."""
        self.complaints.clear()
        self.requested.clear()
        page = self.tab = self.tab or self.context.new_page()
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(LAPTOP)
        page.goto(f"{self.origin}/{name}.html")
        if page.locator(".math").count():
            page.wait_for_function("window.MathJax?.startup?.promise")
            page.evaluate("MathJax.startup.promise")
        page.evaluate("document.fonts.ready")
        return page

    def become(self, theme: str, viewport: dict) -> None:
        """The opened page on another device."""
        self.tab.emulate_media(color_scheme=theme)
        self.tab.set_viewport_size(viewport)
        expect(self.tab.locator("html")).to_have_attribute("data-theme", theme)

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
