"""Windows of a browser that look at the book and note what goes wrong."""

import gzip
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from built_book import BOOK
from chromium import PATIENCE
from playwright.sync_api import Browser, Locator, Page, Request, expect

LAPTOP = {"width": 1280, "height": 800}
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
DESK = {"viewport": {"width": 1280, "height": 900}}
FIGURE_NUMBERS = re.compile(rb'<script type="application/json".*?</script>', re.DOTALL)
#: The book itself, and what pages carry inside themselves.
OWN = ("file:", "data:", "blob:", "about:")
#: axe need not ask for the style sheets, which a page on the disk may not read, nor tell of what is right.
AXE_OPTIONS = {"preload": False, "resultTypes": ["violations"]}


class Reader:
    """A window that opens pages and notes what goes wrong: requests to other hosts, errors in the console."""

    def __init__(self, browser: Browser, **window) -> None:
        self.context = browser.new_context(**{"viewport": LAPTOP} | window)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requested: set[str] = set()
        self.page.on("request", self._note_request)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("console", self._note_console)
        self.context.route(re.compile(r"^https?:"), lambda route: route.abort())

    def _note_request(self, request: Request) -> None:
        self.requested.add(request.url)
        if not request.url.startswith(OWN):
            self.complaints.append(f"request to another host: {request.url}")

    def _note_console(self, message) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console: {message.text}")

    def open(self, name: str) -> Page:
        """Opens a page in light mode on a laptop and waits until it is complete."""
        self.complaints.clear()
        self.requested.clear()
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size(LAPTOP)
        self.page.goto(f"{BOOK.as_uri()}/{name}.html")
        if self.page.locator(".math").count():
            self.page.wait_for_function("window.MathJax && MathJax.startup && MathJax.startup.promise")
            self.page.evaluate("MathJax.startup.promise")
        self.page.evaluate("document.fonts.ready")
        return self.page

    def weight(self) -> int:
        """Bytes of the open page with all that it has loaded, compressed as by a server, without figures' numbers."""
        files = {Path(unquote(urlsplit(url).path)) for url in self.requested if url.startswith("file:")}
        return sum(len(gzip.compress(FIGURE_NUMBERS.sub(b"", path.read_bytes()), 6)) for path in files)

    def become(self, theme: str, viewport: dict) -> None:
        """The same page on another device."""
        self.page.emulate_media(color_scheme=theme)
        self.page.set_viewport_size(viewport)
        expect(self.page.locator("html")).to_have_attribute("data-theme", theme)

    def unfold(self) -> None:
        self.page.locator("main details").evaluate_all(
            "all => all.forEach(details => { details.open = true })"
        )


class Visit:
    """A window of its own; requests elsewhere are refused, and they and all errors noted.

    Mathematics stays unset, which `test_pages` looks after: setting it takes longer than all that is tested here.
    """

    def __init__(self, browser: Browser, origin: str, **window) -> None:
        self.origin, self.complaints = origin, []
        # Without motion a figure shows its numbers in the next frame.
        self.context = browser.new_context(**DESK | {"reduced_motion": "reduce"} | window)
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
