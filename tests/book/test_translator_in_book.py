"""The translators in frames of the book: they translate, and look like the page around them."""

import gzip
from collections.abc import Iterator

import pytest
from built_book import BOOK
from playwright.sync_api import Browser, FrameLocator, expect
from windows import DESK, PHONE, Visit

pytestmark = pytest.mark.browser
#: How large a page is as a server sends it. The translator that opens the book is small; others load when asked for.
MEGABYTES = {"en-fr": 0.9, "en-zh": 8, "zh-en": 8, "chapters-bahdanau_decoder-1": 0.9}


@pytest.fixture(scope="module", params=[DESK, PHONE], ids=["desk", "phone"])
def visit(request, browser: Browser) -> Iterator[Visit]:
    with Visit(browser, **request.param) as visit:
        yield visit


def opened(visit: Visit, page: str = "book/index") -> FrameLocator:
    """The translator of a page, by default that which opens the book, after it has translated its example."""
    frame = visit.page(page).locator("iframe.translator").first
    frame.scroll_into_view_if_needed()
    inside = frame.content_frame
    inside.locator("#result[data-beam='5']").wait_for()
    return inside


def test_the_pages_are_small():
    pages = {path.stem: path.read_bytes() for path in BOOK.glob("_static/translators/*.html")}
    assert pages.keys() == MEGABYTES.keys()
    for name, page in pages.items():
        assert len(gzip.compress(page, 6)) <= 1e6 * MEGABYTES[name]


def test_the_first_page_translates(visit):
    inside = opened(visit)
    inside.get_by_role("textbox").fill("I am happy.")
    expect(inside.locator(".line")).to_contain_text("Je suis")
    expect(inside.get_by_role("heading", level=1)).to_be_hidden()  # the book has one of its own


@pytest.mark.parametrize("name", ["book/index", "chapters/bahdanau_decoder"])
def test_the_frame_is_as_high_as_its_page(visit, name):
    inside = opened(visit, name)
    frame = visit.page(name).locator("iframe.translator").first
    overflow = "document.documentElement.scrollHeight - innerHeight"
    visit.page(name).wait_for_function(
        "height => document.querySelector('iframe.translator').clientHeight >= height",
        arg=inside.locator("body").evaluate("body => body.offsetHeight"),
    )
    assert inside.locator("body").evaluate(f"() => {overflow}") <= 1
    assert inside.locator("body").evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    assert frame.evaluate("frame => frame.clientWidth") > 300
    assert "#" not in visit.page(name).url


def test_a_folded_translator_loads_when_it_is_unfolded(visit):
    page = visit.page("chapters/chinese_english")
    asked = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    summary = page.get_by_text("From Chinese to English", exact=True)
    summary.scroll_into_view_if_needed()
    assert "zh-en.html" not in asked
    summary.click()
    inside = page.locator("iframe[title='From Chinese to English']").content_frame
    inside.get_by_role("textbox").fill("她打了他。")
    expect(inside.locator(".line")).to_contain_text("She hit him")
    assert [name for name in asked if name.endswith("-zh.html") or name.startswith("zh-")] == ["zh-en.html"]
