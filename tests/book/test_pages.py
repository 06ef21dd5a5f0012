"""The pages in a browser, opened from the disk: what they load, how they look, who cannot use them."""

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from built_book import BOOK, CHAPTERS, IDEOGRAPHS, PAGES, fonts_in, html
from playwright.sync_api import Browser, Page, expect
from windows import AXE_OPTIONS, LAPTOP, Reader

pytestmark = [pytest.mark.browser, pytest.mark.chapter]

PHONE = {"width": 360, "height": 740}
DESK = {"width": 1440, "height": 900}
#: What a sheet of A4 with margins of 20 mm has.
PAPER = {"width": 643, "height": 970}
#: The most that a page may weigh.
KILOBYTES = 900
DRAWN_ICONS = {chr(code) for font in fonts_in("fonts/icons.css") for code in font.getBestCmap()}
#: Pages that between them have every kind of thing that a page has. (test_figures_in_book asks axe about all figures.)
KINDS = {CHAPTERS[0], "book/index", "book/glossary", "book/references", "book/api/kernels"}


@pytest.fixture(scope="module")
def reader(browser: Browser) -> Iterator[Reader]:
    reader = Reader(browser)
    yield reader
    reader.context.close()


#: The character and the font of each icon of the page.
ICONS = """[...document.querySelectorAll("i[class*='fa-']")].map(icon => {
    const { content, fontFamily } = getComputedStyle(icon, "::before");
    return [content.replaceAll('"', ""), fontFamily];
})"""


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


def obstacles(page: Page) -> list[str]:
    """What axe-core calls a serious or critical obstacle."""
    # Transitions between colours are over before contrast is measured.
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


def check_for_obstacles(reader: Reader) -> None:
    """None on the page as it is, on a phone in the dark, and none on a laptop in the light."""
    assert obstacles(reader.page) == []
    reader.become("light", LAPTOP)
    assert obstacles(reader.page) == []


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


def fonts_of_chinese(reader: Reader) -> set[str]:
    """Kinds of elements with Chinese text on the open page, each of which the book's own font must draw."""
    reader.page.evaluate(MARK_CHINESE)
    reader.page.evaluate("document.fonts.ready")
    protocol = reader.context.new_cdp_session(reader.page)
    protocol.send("DOM.enable")
    protocol.send("CSS.enable")
    tags = set()
    for node in protocol.send("DOM.getFlattenedDocument", {"depth": -1, "pierce": True})["nodes"]:
        attributes = node.get("attributes", [])
        if "data-chinese" not in attributes:
            continue
        ideographs = int(attributes[attributes.index("data-chinese") + 1])
        fonts = protocol.send("CSS.getPlatformFontsForNode", {"nodeId": node["nodeId"]})["fonts"]
        assert sum(font["glyphCount"] for font in fonts if font["isCustomFont"]) >= ideographs, (
            node["localName"],
            fonts,
        )
        tags.add(node["localName"])
    protocol.detach()
    return tags


#: Words, ink, ground, width and the smallest letters (indices of formulas left out) of each drawing by matplotlib.
DRAWINGS = """[...document.querySelectorAll("main svg.chart")].map(svg => {
    const { width } = svg.getBoundingClientRect(), scale = width / svg.viewBox.baseVal.width;
    const sizes = [...svg.querySelectorAll("text:not(:has(tspan))")].map(t => parseFloat(getComputedStyle(t).fontSize));
    const { backgroundColor } = getComputedStyle(svg), ink = svg.appendChild(svg.querySelector("path").cloneNode());
    ink.style.fill = "var(--ink)";
    const { fill } = getComputedStyle(ink);
    ink.remove();
    return [svg.ariaLabel, fill, backgroundColor, width, scale * Math.min(...sizes)];
})"""


#: Tables of the text, and of questions, that are wider than the box in which they stand, and by how much.
TABLES_TOO_WIDE = """() => [...document.querySelectorAll("article table:not(.xp-table *)")].map(table => {
    const box = table.parentElement;
    return [box.scrollWidth - box.clientWidth, table.textContent.trim().slice(0, 60)];
}).filter(([over]) => over > 0)"""

#: Formulas that reach beyond the paragraph or cell in which they stand, and by how much.
FORMULAS_TOO_WIDE = """() => [...document.querySelectorAll("article mjx-container")].map(formula => {
    const box = formula.closest("p, li, td, th, dd, div").getBoundingClientRect();
    const { right } = formula.querySelector("mjx-math").getBoundingClientRect();
    return [Math.round(right - box.right), formula.querySelector("mjx-assistive-mml").textContent];
}).filter(([over]) => over > 1)"""

#: Code and outputs of cells, those that are not folded, with lines that must be broken to fit the column.
CODE_TOO_WIDE = """() => [...document.querySelectorAll("article .cell pre:not(details pre)")].map(code => {
    code.style.whiteSpace = "pre";
    const over = code.scrollWidth - code.clientWidth;
    code.style.whiteSpace = "";
    return [over, code.textContent];
}).filter(([over]) => over > 1)"""

#: Code that scrolls sideways.
CODE_THAT_SCROLLS = """[...document.querySelectorAll("article pre")]
    .filter(code => code.scrollWidth > code.clientWidth).map(code => code.textContent)"""

#: Code, formulas, tables and figures that reach beyond the right edge of the paper.
CUT_ON_PAPER = """() => [...document.querySelectorAll("article :is(pre, table, figure, svg, img, mjx-math)")]
    .filter(part => part.checkVisibility() && part.getBoundingClientRect().right > innerWidth + 1)
    .map(part => part.outerHTML.slice(0, 100))"""

#: Folded parts of the page that would leave a box with nothing but its title on paper.
EMPTY_BOXES = """() => [...document.querySelectorAll("article details:not([open], .entry) > summary")]
    .filter(summary => summary.checkVisibility()).map(summary => summary.parentElement.outerHTML.slice(0, 100))"""

#: Marks of punctuation after a formula that begin a line.
PUNCTUATION_ALONE = """() => [...document.querySelectorAll("article span.math")].filter(formula => {
    const after = formula.nextSibling;
    if (!/^[.,;:!?)]/.test(after?.data ?? "")) return false;
    const mark = document.createRange();
    mark.setStart(after, 0);
    mark.setEnd(after, 1);
    const { left, width } = mark.getBoundingClientRect();
    return width && left < formula.getBoundingClientRect().right - 1;
}).map(formula => formula.parentElement.textContent.slice(0, 80))"""

#: Ids that several elements have, in the page as the scripts have left it.
REPEATED_IDS = """() => {
    const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
    return ids.filter((id, i) => ids.indexOf(id) !== i);
}"""

#: Pictures that the theme puts on white in its dark mode.
ON_WHITE = """[...document.querySelectorAll("main img")]
    .filter(image => getComputedStyle(image).backgroundColor === "rgb(255, 255, 255)").map(image => image.src)"""


#: How many elements the tab key reaches, and those that have no outline while they have its focus. Some have it on
#: their form, on the arrow in them, or on a layer that covers their card, which cuts off what is outside.
WITHOUT_OUTLINE = """() => {
    const outlined = (element, layer) => {
        const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(element, layer);
        const [width, offset] = [outlineWidth, outlineOffset].map(parseFloat);
        return outlineStyle !== "none" && width >= 2 && (!layer || offset <= -width);
    };
    const stops = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex]")].filter(stop => {
        if (stop.tabIndex < 0) return false;
        stop.focus();
        return stop.matches(":focus-visible");
    });
    const bare = stops.filter(stop => {
        stop.focus();
        const places = [stop, ...stop.children, stop.closest("form") ?? stop];
        return !places.some(place => outlined(place)) && !outlined(stop, "::after");
    });
    return [stops.length, bare.map(stop => stop.outerHTML.slice(0, 100))];
}"""


def check_on_paper(page: Page, name: str) -> None:
    """Nothing is cut, no box is empty, the title has its number, and a link to another site shows its address."""
    page.emulate_media(media="print")
    page.set_viewport_size(PAPER)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    try:
        assert page.evaluate(CUT_ON_PAPER) == []
        assert page.evaluate(FORMULAS_TOO_WIDE) == []
        assert page.evaluate(EMPTY_BOXES) == []
        titles = page.locator("h1").locator("visible=true").all_inner_texts()
        assert [title.rstrip("#") for title in titles] == [
            html(name).select_one("article h1").get_text().rstrip("#")
        ]
        addresses = page.locator("article a.reference.external").evaluate_all(
            "links => links.map(link => getComputedStyle(link, '::after').content)"
        )
        assert all("attr(href)" in address or "://" in address for address in addresses), addresses
    finally:
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        page.emulate_media(media="screen")
        page.set_viewport_size(LAPTOP)


@pytest.mark.parametrize("name", PAGES)
def test_page(reader: Reader, name: str) -> None:
    page = reader.open(name)
    assert reader.complaints == []
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert page.locator("mjx-merror").count() == 0
    assert page.locator(".math").count() <= page.locator("mjx-container").count()
    for icon, font in page.evaluate(ICONS):
        assert icon in DRAWN_ICONS, icon
        assert "Awesome" in font
    # The tab key goes from link to link, and does not stop at each formula.
    assert page.locator("mjx-container:is([tabindex], :has([tabindex]))").count() == 0
    # What a screen reader reads of a formula.
    assert page.locator("mjx-assistive-mml").count() == page.locator("mjx-container").count()
    assert reader.weight() <= 1000 * KILOBYTES
    assert page.evaluate("[...document.images].filter(i => !i.complete || i.naturalWidth === 0).length") == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= LAPTOP["width"]
    assert page.evaluate(REPEATED_IDS) == []
    check_on_paper(page, name)
    reader.unfold()
    for viewport in (LAPTOP, DESK):
        page.set_viewport_size(viewport)
        for too_wide in (TABLES_TOO_WIDE, FORMULAS_TOO_WIDE, CODE_TOO_WIDE, CODE_THAT_SCROLLS):
            assert page.evaluate(too_wide) == []
    if IDEOGRAPHS.search(html(name).select_one("article").get_text()):
        tags = fonts_of_chinese(reader)
        assert tags
        if any(IDEOGRAPHS.search(figure.get_text()) for figure in html(name).select("figure.xp")):
            assert "text" in tags  # of a picture with sliders

    reader.become("dark", PHONE)
    assert page.evaluate(ON_WHITE) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.evaluate(TABLES_TOO_WIDE) == []
    assert page.evaluate(FORMULAS_TOO_WIDE) == []
    assert page.evaluate(PUNCTUATION_ALONE) == []
    if name in CHAPTERS:
        seen = page.evaluate(DRAWINGS)
        assert seen
        for words, ink, ground, width, smallest in seen:
            assert len(words) >= 40
            assert (ink, ground) == ("rgb(221, 221, 221)", "rgba(0, 0, 0, 0)"), words
            assert width <= PHONE["width"], words
            assert smallest >= 10, words
    if name in KINDS:
        check_for_obstacles(reader)


def test_pages_with_chinese_are_among_them() -> None:
    assert IDEOGRAPHS.search(html("book/glossary").select_one("article").get_text())
    assert any(
        IDEOGRAPHS.search(figure.get_text()) for name in CHAPTERS for figure in html(name).select("figure.xp")
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PAGES if name not in KINDS])
def test_axe_finds_no_obstacle_on_the_other_pages_either(reader: Reader, name: str) -> None:
    reader.open(name)
    reader.become("dark", PHONE)
    reader.unfold()
    check_for_obstacles(reader)


@pytest.mark.parametrize(
    "media", [{"color_scheme": "light"}, {"color_scheme": "dark"}, {"forced_colors": "active"}]
)
def test_what_has_the_focus_has_an_outline(browser: Browser, media: dict[str, str]) -> None:
    reader = Reader(browser)
    for name in (CHAPTERS[0], "book/index", "book/api/kernels", "search"):
        page = reader.open(name)
        page.emulate_media(**media)
        reader.unfold()
        page.keyboard.press("Tab")  # from now on the focus is that of a keyboard
        reached, bare = page.evaluate(WITHOUT_OUTLINE)
        assert reached > 30
        assert bare == [], name
    reader.context.close()


@pytest.mark.parametrize("name", CHAPTERS[:1])
def test_solutions_unfold_by_keyboard(reader: Reader, name: str) -> None:
    page = reader.open(name)
    solution = page.locator(".tag_solution details").first
    code = solution.locator("pre").first
    assert not code.is_visible()
    solution.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(code).to_be_visible()


def test_search_works_from_the_disk(reader: Reader) -> None:
    reader.complaints.clear()
    page = reader.page
    page.goto(f"{BOOK.as_uri()}/search.html?q=epanechnikov")
    page.wait_for_selector("#search-results li a")
    links = page.locator("#search-results li a").evaluate_all("links => links.map(link => link.pathname)")
    assert any(path.endswith("chapters/nadaraya_watson.html") for path in links)
    passages = page.locator("#search-results li .context mark").all_text_contents()
    assert passages
    assert {word.lower() for word in passages} == {"epanechnikov"}
    page.locator("#search-results li a", has_text=re.compile("average", re.IGNORECASE)).first.click()
    page.wait_for_url(re.compile(r"^(?!.*search\.html)"))
    assert [c for c in reader.complaints if "another host" in c] == []


def test_search_lists_chapters_first_and_shows_what_each_hit_says(reader: Reader) -> None:
    page = reader.page
    page.goto(f"{BOOK.as_uri()}/search.html?q=masked+softmax")
    expect(page.locator("#search-results .search-summary")).to_contain_text("found")
    hits = page.locator("#search-results li").evaluate_all(
        "hits => hits.map(hit => [hit.querySelector('a').pathname, hit.querySelector('.context')?.textContent])"
    )
    assert hits[0][0].endswith("chapters/masked_softmax.html")
    in_reference = ["/book/api" in path for path, _ in hits]
    assert True in in_reference
    assert in_reference == sorted(in_reference)
    assert [path for path, passage in hits if not re.search("mask|softmax", passage or "", re.I)] == []
    assert obstacles(page) == []


def test_the_search_shows_chinese_characters(reader: Reader) -> None:
    page = reader.page
    page.goto(f"{BOOK.as_uri()}/search.html?q=alignment")
    glossary = page.locator("#search-results li", has=page.locator("a[href*='glossary']")).first
    expect(glossary.locator(".context")).to_contain_text(IDEOGRAPHS)
    assert "p" in fonts_of_chinese(reader)


REFERENCE = [name for name in PAGES if name.startswith("book/api/")]


@pytest.mark.parametrize("name", REFERENCE)
def test_the_reference_is_a_short_list(reader: Reader, name: str) -> None:
    page = reader.open(name)
    assert page.evaluate("document.documentElement.scrollHeight") <= 8000
    entries = page.locator("details.entry")  # none on the pages of the command line
    assert entries.evaluate_all("all => all.filter(entry => entry.open).length") == 0
    lines = entries.locator("> summary").evaluate_all("all => all.map(line => line.textContent.trim())")
    assert [line for line in lines if not re.fullmatch(r"[\w.]+ .{10,}", line, re.DOTALL)] == []


def test_an_entry_of_the_reference_unfolds_where_it_is_named(reader: Reader) -> None:
    page = reader.open("book/api/attention")
    entry = page.locator("details.entry", has=page.locator("[id='utils.attention.Attention']"))
    expect(entry).not_to_have_attribute("open", "")
    page.locator(".bd-sidebar-secondary a[href='#utils.attention.Attention.forward']").click()
    expect(entry).to_have_attribute("open", "")
    expect(page.locator("[id='utils.attention.Attention.forward']")).to_be_in_viewport()

    page.goto("about:blank")
    page.goto(f"{BOOK.as_uri()}/book/api/attention.html#utils.attention.masked_softmax")
    expect(page.locator("[id='utils.attention.masked_softmax']")).to_be_in_viewport()
    assert page.locator("details.entry[open]").count() == 1


def test_the_reference_is_printed_unfolded(reader: Reader) -> None:
    page = reader.open("book/api/attention")
    signatures = page.locator("details.entry:not([open]) dt.sig")
    count = signatures.count()
    assert count > 5
    assert signatures.locator("visible=true").count() == 0
    page.emulate_media(media="print")
    assert signatures.locator("visible=true").count() == count
    page.emulate_media(media="screen")


def test_paper_is_light(browser: Browser) -> None:
    reader = Reader(browser, color_scheme="dark")
    reader.page.goto(f"{BOOK.as_uri()}/book/index.html")
    themes = [
        reader.page.evaluate(
            "type => { dispatchEvent(new Event(type)); return document.documentElement.dataset.theme }", event
        )
        for event in ("beforeprint", "afterprint")
    ]
    assert themes == ["light", "dark"]
    reader.context.close()


def test_the_theme_switch_works(browser: Browser) -> None:
    # A window of its own, since the choice is remembered.
    reader = Reader(browser, color_scheme="dark")
    page = reader.page
    page.goto(f"{BOOK.as_uri()}/{CHAPTERS[0]}.html")
    themes = [page.evaluate("document.documentElement.dataset.theme")]
    switch = page.locator(".theme-switch-button").locator("visible=true").first
    for _ in range(3):
        switch.click()
        themes.append(page.evaluate("document.documentElement.dataset.theme"))
    assert themes[0] == "dark"
    assert set(themes[1:]) == {"light", "dark"}
    reader.context.close()
