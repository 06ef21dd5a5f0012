"""The built book, read as files: its links, pictures, previews, reference and fonts.

`make test-book` builds the book, with warnings as errors. The tests in `test_pages` open it in a browser.
"""

import re
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from built_book import BOOK, CHAPTERS, IDEOGRAPHS, PAGES, ROOT, fonts_in, html

pytestmark = pytest.mark.browser

every_page = pytest.mark.parametrize("page", PAGES)
every_chapter = pytest.mark.parametrize("page", CHAPTERS)
REFERENCE = [page for page in PAGES if page.startswith("book/api/")]


@cache
def anchors(path: Path) -> set[str]:
    # By a regular expression: to read a whole page with BeautifulSoup takes much longer.
    return {unescape(anchor) for anchor in re.findall(r'<[^>]*?\sid="([^"]*)"', path.read_text("utf-8"))}


@every_page
def test_links_within_the_book_lead_somewhere(page: str) -> None:
    here = BOOK / f"{page}.html"
    for element in html(page).find_all(["a", "audio", "link", "script", "img"]):
        address = element.get("href") or element.get("src") or ""
        parts = urlsplit(address)
        if parts.scheme or parts.netloc or address in ("", "#"):
            continue
        target = (here.parent / unquote(parts.path)).resolve() if parts.path else here
        assert target.is_file(), address
        if parts.fragment and target.suffix == ".html":
            # After a question mark comes the state of a figure: see test_figures_in_book.
            assert unquote(parts.fragment.split("?")[0]) in anchors(target), address


@every_page
def test_pictures_say_what_they_show(page: str) -> None:
    for picture in html(page).select("article img"):
        assert len(picture.get("alt", "")) >= 30, picture["src"]
    for drawing in html(page).select("article svg.chart"):
        assert drawing["role"] == "img"
        assert len(drawing["aria-label"]) >= 40
        assert drawing.find_parent("figure").figcaption


@every_chapter
def test_a_chapter_shows_outputs_and_hides_solutions(page: str) -> None:
    document = html(page)
    assert document.select_one("article h1 .section-number").get_text() == f"{CHAPTERS.index(page) + 1}. "
    assert document.select(".cell_output")
    # Drawings are part of the page, so they follow its theme and use its font for Chinese.
    assert not document.select('img[src*="_images"]')
    assert "@font-face" not in str(document.select("svg.chart"))
    solutions = document.select(".tag_solution details")
    assert solutions
    assert not any(details.has_attr("open") for details in solutions)
    assert all("solution" in details.summary.get_text() for details in solutions)


def entries(page: str) -> dict[str, BeautifulSoup]:
    """The functions and classes on a page of the reference, by full name, and what is below each."""
    return {
        title["id"]: title.find_next_sibling("dd")
        for title in html(page).select("dl.py.function > dt, dl.py.class > dt")
        if not title.find_parent("dd")
    }


@pytest.mark.parametrize("page", REFERENCE)
def test_entries_and_chapters_link_to_each_other(page: str) -> None:
    for name, below in entries(page).items():
        explained = [
            (BOOK / page).parent.joinpath(link["href"]).resolve().relative_to(BOOK).with_suffix("").as_posix()
            for link in below.select("a.internal[href]")
            if "#" not in link["href"]
        ]
        assert explained, f"{name} does not say where it is explained"
        for target in explained:
            back = {link["href"].rpartition("#")[2] for link in html(target).select(".in-the-reference a")}
            assert name in back, f"{target} does not link to {name}"
    for title in html(page).select("dt.sig"):
        assert not re.search(r"<class|<function|jaxtyping\.|\bobject at\b|Alias for", title.get_text())


def test_the_glossary_has_both_languages() -> None:
    terms = html("book/glossary").select("dl.glossary > dt")
    chinese = [term for term in terms if IDEOGRAPHS.search(term.get_text())]
    assert len(terms) == 2 * len(chinese) > 0
    assert all(term["lang"] == "zh-Hans" for term in chinese)


def test_pages_with_chinese_characters_have_their_font() -> None:
    (font,) = fonts_in("chinese.css")
    drawn = {chr(code) for code in font.getBestCmap()}
    for page in set(BOOK.rglob("*.html")) - set(BOOK.glob("_static/**/*.html")):
        text = page.read_text("utf-8")
        if wanted := set(IDEOGRAPHS.findall(text)):
            assert wanted <= drawn, f"{page} has characters without a font: run make fonts"
            assert "fonts/chinese.css" in text, page


def test_the_typeface_has_the_letters_of_the_text() -> None:
    letters = re.compile(r"[a-zA-Z\u00c0-\u024f]")
    wanted = {letter for page in PAGES for letter in letters.findall(html(page).get_text())}
    for font in fonts_in("text.css"):
        assert wanted <= {chr(code) for code in font.getBestCmap()}
        # Under its licence only the complete font may have the name.
        assert not any("Source" in str(name) for name in font["name"].names if name.nameID in (1, 4, 6, 16))


def test_the_references_list_what_chapters_cite() -> None:
    listed = (ROOT / "book" / "references.bib").read_text("utf-8")
    work = re.compile(r"(?:arxiv\.org/abs|aclanthology\.org|doi\.org)/([\w./()-]+?)(?:\.pdf)?/?\)")
    for chapter in CHAPTERS:
        for name in work.findall((ROOT / f"{chapter}.ipynb").read_text("utf-8")):
            assert name.lower() in listed.lower(), f"{chapter} cites it, book/references.bib does not list it"
