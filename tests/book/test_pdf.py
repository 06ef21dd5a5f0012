"""The book on paper: that the parts are joined with contents, bookmarks and links, and that nothing is cut off."""

import io
import runpy
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from built_book import BOOK, PAGES, html
from playwright.sync_api import Browser
from pypdf import PdfReader, PdfWriter

pytestmark = pytest.mark.browser

PDF = runpy.run_path(str(Path(__file__).parents[2] / "book" / "pdf.py"))
NAMES = [
    ("book/notation", "Before the first chapter"),
    ("book/api/metrics", None),
    ("chapters/nadaraya_watson", "Averaging"),
]


#: The boxes of code and tables, and those around them, that paper would not break or that cut off what they hold.
WHOLE = """() => {
    const whole = [];
    for (const code of document.querySelectorAll("article :is(.cell pre, table.table)")) {
        if (code.closest(".cell_output, .quiz, figure")) continue;
        for (let box = code; box.tagName !== "ARTICLE"; box = box.parentElement) {
            const { breakInside, overflow } = getComputedStyle(box);
            if (breakInside !== "auto" || overflow !== "visible") whole.push(`${box.tagName} ${box.className}`);
        }
    }
    return whole;
}"""


@pytest.fixture(scope="module")
def printed(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> PdfReader:
    writer: PdfWriter = PDF["joined"](browser, BOOK, NAMES, "A book")
    path = tmp_path_factory.mktemp("pdf") / "book.pdf"
    writer.write(path)
    return PdfReader(path)


def text_of(reader: PdfReader, sheet: int) -> str:
    """The text of a page on paper, with the letters that a ligature stands for."""
    return unicodedata.normalize("NFKC", reader.pages[sheet].extract_text())


def place(reader: PdfReader, title: str) -> int:
    (found,) = [entry for entry in reader.outline if not isinstance(entry, list) and entry.title == title]
    return reader.get_destination_page_number(found)


def test_all_pages_are_printed_in_order() -> None:
    assert [name for name, _ in PDF["pages_of_the_book"]()] == PAGES


def test_the_contents_name_each_page_with_its_number(printed: PdfReader) -> None:
    contents = text_of(printed, 0)
    assert "A book" in contents
    assert "Before the first chapter" in contents
    for name, _ in NAMES:
        title = " ".join(html(name).select_one("article h1").get_text().removesuffix("#").split())
        sheet = place(printed, title)
        assert " ".join(text_of(printed, sheet).split()).startswith(title)
        assert text_of(printed, sheet).split()[-1] == str(sheet + 1)
        (line,) = [line for line in contents.splitlines() if title in line]
        assert line.split()[-1] == str(sheet + 1)


def test_bookmarks_are_the_headings(printed: PdfReader) -> None:
    def titles(entries: list) -> Iterator[str]:
        for entry in entries:
            yield from titles(entry) if isinstance(entry, list) else [entry.title]

    headings = [
        " ".join(heading.get_text().removesuffix("#").split())
        for name, _ in NAMES
        for heading in html(name).select("article :is(h1, h2, h3)")
    ]
    assert {" ".join(title.split()) for title in titles(printed.outline)} >= set(headings)


def test_code_and_tables_continue_on_the_next_sheet(browser: Browser) -> None:
    with browser.new_context(viewport={"width": PDF["WIDTH"], "height": 900}) as context:
        page = context.new_page()
        page.emulate_media(media="print")
        for name in ("chapters/nadaraya_watson", "book/coming_from"):
            page.goto((BOOK / f"{name}.html").as_uri())
            whole = page.evaluate(WHOLE)
            assert whole == [], name


def test_a_translator_is_printed_with_its_example(browser: Browser) -> None:
    with browser.new_page(viewport={"width": PDF["WIDTH"], "height": 900}) as page:
        page.emulate_media(media="print")
        _, data = PDF["print_page"](page, BOOK / "chapters" / "bahdanau_decoder.html")
    text = "".join(sheet.extract_text() for sheet in PdfReader(io.BytesIO(data)).pages)
    assert "In French, by a beam search of 5" in text
    assert "Step 1 of" in text


def test_links_lead_within_the_file_or_outside(printed: PdfReader) -> None:
    links = [annotation.get_object() for sheet in printed.pages for annotation in sheet.get("/Annots", ())]
    addresses = {str(link["/A"]["/URI"]) for link in links if "/URI" in link.get("/A", {})}
    assert not any(address.startswith("file:") for address in addresses)
    assert sum("/Dest" in link for link in links) >= len(NAMES)


def test_code_and_examples_are_complete(printed: PdfReader) -> None:
    text = "".join("".join(text_of(printed, sheet) for sheet in range(len(printed.pages))).split())
    for line in html("book/api/metrics").select_one("article").select_one("pre").get_text().splitlines():
        assert "".join(line.split()) in text
