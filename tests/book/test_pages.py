"""The pages in a browser, opened from the disk: what they load, how they look, who cannot use them."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from built_book import BOOK, CHAPTER, PAGES, fonts_in, html
from playwright.sync_api import Browser, Page, expect
from windows import AXE_OPTIONS, LAPTOP, PHONE, Visit

pytestmark = pytest.mark.browser

#: What a sheet of A4 with margins of 20 mm has.
PAPER = {"width": 643, "height": 970}
#: The most that a page may weigh.
KILOBYTES = 900
FIGURE_NUMBERS = re.compile(rb'<script type="application/json".*?</script>', re.DOTALL)
DRAWN_ICONS = {chr(code) for font in fonts_in("icons.css") for code in font.getBestCmap()}
#: Pages that between them have every kind of thing that a page has, and the chapter of `make test CHAPTER=name`.
KINDS = {
    "chapters/bahdanau_decoder",
    "book/index",
    "book/glossary",
}
KINDS |= {f"chapters/{CHAPTER}"}
ONE_OF_EACH_KIND = pytest.mark.parametrize(
    "name", [name if name in KINDS else pytest.param(name, marks=pytest.mark.slow) for name in PAGES]
)


@pytest.fixture(scope="module")
def reader(browser: Browser) -> Iterator[Visit]:
    reader = Visit(browser, mathematics=True)
    yield reader
    reader.context.close()


#: The character of each icon of the page.
ICONS = """[...document.querySelectorAll("i[class*='fa-']")]
    .map(icon => getComputedStyle(icon, "::before").content.replaceAll('"', ""))"""

#: Of the coloured words in code, thousands on a page, leaves one of each class for axe to measure.
LEAVE_ONE_OF_EACH_COLOUR = """() => {
    const known = new Set();
    for (const word of [...document.querySelectorAll("pre span, .sig span")]) {
        if (word.children.length || word.closest("a")) continue;
        const look = `${word.className} in ${word.closest("[class*=highlight], .sig, pre").className}`;
        if (known.has(look)) word.remove();
        known.add(look);
    }
}"""

#: What the theme gives a tab stop where it scrolls, a moment after the page or the window has changed.
SCROLLED_BY_KEYS = """() => [...document.querySelectorAll(
    "pre, .cell_output > .output, .jp-RenderedHTMLCommon, .pst-scrollable-table-container"
)].every(
    box => box.tabIndex === 0 || (box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight)
)"""

#: The colour of the ink and the smallest letters (indices of formulas left out) of each drawing by matplotlib.
DRAWINGS = """[...document.querySelectorAll("main svg.chart")].map(svg => {
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const looks = [...svg.querySelectorAll("text:not(:has(tspan))")].map(text => getComputedStyle(text));
    return [looks.map(look => look.fill), scale * Math.min(...looks.map(look => parseFloat(look.fontSize)))];
})"""

#: Tables of the text, and of questions, that are wider than the box around them.
TABLES_TOO_WIDE = """() => [...document.querySelectorAll("article table:not(.xp-table *)")]
    .filter(({ parentElement }) => parentElement.scrollWidth > parentElement.clientWidth)
    .map(table => table.textContent.trim().slice(0, 60))"""

#: Formulas that reach beyond the paragraph or cell in which they are.
FORMULAS_TOO_WIDE = """() => [...document.querySelectorAll("article mjx-container")].filter(formula => {
    const box = formula.closest("p, li, td, th, dd, div").getBoundingClientRect();
    return formula.querySelector("mjx-math").getBoundingClientRect().right > box.right + 1;
}).map(formula => formula.querySelector("mjx-assistive-mml").textContent)"""

#: Code that scrolls sideways; printed tables may.
CODE_THAT_SCROLLS = """[...document.querySelectorAll("article pre:not(.cell_output pre)")]
    .filter(code => code.scrollWidth > code.clientWidth).map(code => code.textContent)"""

#: Code, formulas, tables and figures that reach beyond the right edge of the paper.
CUT_ON_PAPER = """() => [...document.querySelectorAll("article :is(pre, table, figure, svg, img, mjx-math)")]
    .filter(part => part.checkVisibility() && part.getBoundingClientRect().right > innerWidth + 1)
    .map(part => part.outerHTML.slice(0, 100))"""

#: Pictures that are not there.
MISSING = (
    "[...document.images].filter(image => !image.complete || !image.naturalWidth).map(image => image.src)"
)
#: Chinese text that is not in the book's own font, which shows on every machine.
IN_ANOTHER_FONT = """[...document.querySelectorAll("article *")].filter(box => box.checkVisibility()
    && [...box.childNodes].some(part => part.nodeType === 3 && /\\p{Script=Han}/u.test(part.data))
    && !getComputedStyle(box).fontFamily.includes("Course Chinese")).map(box => box.outerHTML.slice(0, 100))"""


def unfold(page: Page) -> None:
    """Open all that is folded, but for translators, which load a page of their own."""
    page.locator("main details:not(.translator)").evaluate_all(
        "all => all.forEach(details => { details.open = true })"
    )


def width_of(page: Page) -> int:
    return page.evaluate("document.documentElement.scrollWidth")


def weight(requested: set[str]) -> int:
    """Bytes of a page with what it has loaded, compressed as by a server, without figures' numbers and translators."""
    files = {Path(unquote(urlsplit(url).path)) for url in requested if url.startswith("file:")}
    files = {path for path in files if path.parent.name != "translators"}
    return sum(len(gzip.compress(FIGURE_NUMBERS.sub(b"", path.read_bytes()), 6)) for path in files)


def obstacles(page: Page) -> list[str]:
    """What axe-core calls a serious or critical obstacle."""
    page.add_style_tag(
        content="*, *::before, *::after { transition: none !important; animation: none !important }"
    )
    page.evaluate(LEAVE_ONE_OF_EACH_COLOUR)
    page.wait_for_function(SCROLLED_BY_KEYS)
    return [
        f"{violation['id']}: {node['html'][:150]}"
        for violation in Axe().run(page, options=AXE_OPTIONS).response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


@ONE_OF_EACH_KIND
def test_on_paper_nothing_is_cut(reader: Visit, name: str) -> None:
    """The title has its number there, a link to another site shows its address, and there is nothing to press."""
    page = reader.open(name)
    page.emulate_media(media="print")
    page.set_viewport_size(PAPER)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for fault in (CUT_ON_PAPER, FORMULAS_TOO_WIDE):
        assert page.evaluate(fault) == []
    assert (
        page.locator("article :is(details.below-input > summary, audio)").locator("visible=true").count() == 0
    )
    titles = page.locator("h1").locator("visible=true").all_inner_texts()
    assert [title.rstrip("#") for title in titles] == [
        html(name).select_one("article h1").get_text().rstrip("#")
    ]
    addresses = page.locator("article a.reference.external").evaluate_all(
        "links => links.map(link => getComputedStyle(link, '::after').content)"
    )
    assert all("attr(href)" in address or "://" in address for address in addresses), addresses
    page.emulate_media(media="screen")


@ONE_OF_EACH_KIND
def test_page(reader: Visit, name: str) -> None:
    page = reader.open(name)
    assert reader.complaints == []
    assert weight(reader.requested) <= 1000 * KILOBYTES
    formulas = page.locator("mjx-container").count()
    assert page.locator("mjx-merror").count() == 0
    assert page.locator(".math").count() <= formulas
    # What a screen reader reads; and the tab key does not stop at each formula.
    assert page.locator("mjx-assistive-mml").count() == formulas
    assert page.locator("mjx-container:is([tabindex], :has([tabindex]))").count() == 0
    assert set(page.evaluate(ICONS)) <= DRAWN_ICONS
    assert page.evaluate(MISSING) == []

    unfold(page)
    assert width_of(page) <= LAPTOP["width"]
    for too_wide in (TABLES_TOO_WIDE, FORMULAS_TOO_WIDE, CODE_THAT_SCROLLS):
        assert page.evaluate(too_wide) == []
    assert page.evaluate(IN_ANOTHER_FONT) == []
    inks = page.evaluate(DRAWINGS)

    reader.become("dark", PHONE["viewport"])
    assert width_of(page) <= 360
    for fault in (TABLES_TOO_WIDE, FORMULAS_TOO_WIDE):
        assert page.evaluate(fault) == []
    for (light, _), (dark, smallest) in zip(inks, page.evaluate(DRAWINGS), strict=True):
        assert not set(light) & set(dark)
        assert smallest >= 10


@ONE_OF_EACH_KIND
def test_axe_finds_no_obstacle(reader: Visit, name: str) -> None:
    """None on a phone in the dark, and none on a laptop in the light, with all that is folded unfolded."""
    unfold(reader.open(name))
    for theme, viewport in (("dark", PHONE["viewport"]), ("light", LAPTOP)):
        reader.become(theme, viewport)
        assert obstacles(reader.tab) == []


def test_on_a_phone_each_row_of_a_wide_table_is_a_card(browser: Browser) -> None:
    with Visit(browser, **PHONE) as visit:
        page = visit.page("book/teaching")
        long_texts = page.locator("article td").evaluate_all(
            """cells => cells.filter(({ textContent }) => textContent.length > 60)
                .map(cell => [cell.getBoundingClientRect().width, cell.textContent.slice(0, 60)])"""
        )
        assert len(long_texts) > 50
        assert [text for width, text in long_texts if width < 200] == []
        needs = page.locator("#what-each-chapter-needs tbody tr").nth(1).locator("td").nth(1)
        expect(needs).to_have_text("needs: 1", use_inner_text=True)
        page.set_viewport_size(LAPTOP)
        expect(needs).to_have_text("1", use_inner_text=True)


def test_the_search_works_from_the_disk(reader: Visit) -> None:
    page = reader.open("search")
    page.goto(f"{BOOK.as_uri()}/search.html?q=masked+softmax")
    expect(page.locator("#search-results .search-summary")).to_contain_text("found")
    found = page.locator("#search-results li a").evaluate_all("links => links.map(link => link.pathname)")
    assert found[0].endswith("chapters/masked_softmax.html")
    assert any("/book/api/" in path for path in found)
    assert reader.complaints == []
    assert obstacles(page) == []


def test_an_entry_unfolds_where_it_is_named(reader: Visit) -> None:
    page = reader.open("book/api/models")
    entry = page.locator("details.entry", has=page.locator("[id='utils.attention.Attention']"))
    expect(entry).not_to_have_attribute("open", "")
    # The contents beside the page unfold an entry's methods when the reader is there.
    page.locator(".bd-sidebar-secondary a[href='#utils.attention.Attention.forward']").dispatch_event("click")
    expect(entry).to_have_attribute("open", "")
    expect(page.locator("[id='utils.attention.Attention.forward']")).to_be_in_viewport()

    page.goto("about:blank")
    page.goto(f"{BOOK.as_uri()}/book/api/models.html#utils.attention.masked_softmax")
    expect(page.locator("[id='utils.attention.masked_softmax']")).to_be_in_viewport()
    assert page.locator("details.entry[open]").count() == 1
