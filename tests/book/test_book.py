"""The built book, read as files: its links, pictures and reference, and that its pages load nothing from other hosts.

`make test` builds the book, with warnings as errors. The tests in `test_pages` open it in a browser.
"""

import re
from collections import Counter
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup
from built_book import BOOK, CHAPTERS, IDEOGRAPHS, PAGES, ROOT, TOC, fonts_in, html

from utils.figures.chinese import chinese_forms, font_path

pytestmark = [pytest.mark.browser, pytest.mark.chapter]

every_page = pytest.mark.parametrize("page", PAGES)
every_chapter = pytest.mark.parametrize("page", CHAPTERS)


@cache
def anchors(path: Path) -> set[str]:
    # By a regular expression: to read a whole page with BeautifulSoup takes much longer.
    return {unescape(anchor) for anchor in re.findall(r'<[^>]*?\sid="([^"]*)"', path.read_text("utf-8"))}


def broken_links(page: str) -> list[str]:
    """Links of a page to a file or an anchor that is not there."""
    here = BOOK / f"{page}.html"
    broken = []
    for element in html(page).find_all(["a", "link", "script", "img"]):
        address = element.get("href") or element.get("src") or ""
        parts = urlsplit(address)
        if parts.scheme or parts.netloc or not address:
            continue
        target = (here.parent / unquote(parts.path)).resolve() if parts.path else here
        if not target.is_file() or (
            parts.fragment
            and target.suffix == ".html"
            # What follows a question mark is the state of a figure: see test_figures_in_book.
            and unquote(parts.fragment.split("?")[0]) not in anchors(target)
        ):
            broken.append(address)
    return broken


@every_page
def test_links_within_the_book_lead_somewhere(page: str) -> None:
    assert [link for link in broken_links(page) if link != "#"] == []


@every_page
def test_nothing_is_loaded_from_another_host(page: str) -> None:
    loading = [
        element
        for element in html(page).find_all(["link", "script", "img", "iframe", "source", "video", "object"])
        if element.get("rel") != ["canonical"]
    ]
    named = [
        address
        for element in loading
        for address in (element.get("href"), element.get("src"), element.get("data"))
        if address and urlsplit(address).netloc
    ]
    assert named == []
    for script in html(page).find_all("script", src=False):
        assert not re.search(r"https?://", script.get_text())


def test_no_style_sheet_or_script_of_the_book_names_another_host() -> None:
    for sheet in (BOOK / "_static").rglob("*.css"):
        named = re.findall(r"""(?:url\(|@import)\s*["']?(?:https?:)?//[^)"']*""", sheet.read_text("utf-8"))
        assert named == [], sheet


@every_page
def test_page_has_a_title_a_language_and_one_first_heading(page: str) -> None:
    document = html(page)
    assert document.html["lang"] == "en"
    assert len(document.title.get_text(strip=True)) > 5
    assert len(document.select("article h1")) == 1


def test_each_page_has_a_description_of_its_own() -> None:
    described = {page: html(page).select_one("meta[name=description]")["content"] for page in PAGES}
    assert [page for page, text in described.items() if not 30 <= len(text) <= 200] == []
    assert len(set(described.values())) == len(PAGES)
    for page, text in described.items():
        shown = {tag["property"]: tag["content"] for tag in html(page).select("meta[property^='og:']")}
        assert shown["og:description"] == text
        assert shown["og:title"] in html(page).title.get_text()


@every_page
def test_pictures_say_what_they_show(page: str) -> None:
    for picture in html(page).select("article img"):
        assert len(picture.get("alt", "")) >= 30, picture["src"]
        assert not re.search(r"\.(png|svg)$|/", picture["alt"].split()[0])


@every_page
def test_no_id_stands_twice_on_a_page(page: str) -> None:
    ids = [element["id"] for element in html(page).select("[id]")]
    assert [name for name, times in Counter(ids).items() if times > 1] == []


@every_chapter
def test_drawings_of_matplotlib_stand_in_the_page_with_their_words(page: str) -> None:
    drawings = html(page).select("figure svg.chart")
    assert drawings
    for drawing in drawings:
        assert drawing["role"] == "img"
        assert len(drawing["aria-label"]) >= 40
        assert "@font-face" not in str(drawing), "the page has its own font for Chinese characters"
    assert not html(page).select('img[src*="_images"][src$=".svg"], img[src*="_images"][src$=".png"]')


@every_page
def test_sphinx_left_no_error_on_the_page(page: str) -> None:
    assert html(page).select(".system-message, .problematic, .error") == []


def test_the_first_page_leads_to_the_book() -> None:
    text = (BOOK / "index.html").read_text("utf-8")
    assert f"{TOC['root']}.html" in text


@every_chapter
def test_chapter_shows_its_outputs_and_hides_its_solutions(page: str) -> None:
    document = html(page)
    assert document.select(".cell_output")
    solutions = document.select(".tag_solution details")
    assert len(solutions) >= 3
    assert not any(details.has_attr("open") for details in solutions)
    assert all("solution" in details.summary.get_text() for details in solutions)


def test_binder_finds_the_files_that_it_is_told_to_read() -> None:
    # pip reads these paths relative to the folder of the file that names them.
    told = (ROOT / ".binder" / "requirements.txt").read_text("utf-8")
    named = re.findall(r"^-[cr] (\S+)$", told, re.MULTILINE)
    assert named
    for name in named:
        assert (ROOT / ".binder" / name).is_file(), name


def title_of(page: str) -> str:
    first = nbformat.read(ROOT / f"{page}.ipynb", as_version=4).cells[0].source
    return re.match("# (.+)", first)[1]


@every_chapter
def test_chapter_is_in_the_tables_of_chapters(page: str) -> None:
    assert f"[{title_of(page)}]({page}.ipynb)" in (ROOT / "README.md").read_text("utf-8")
    assert f"{{doc}}`../{page}`" in (ROOT / "book" / "index.md").read_text("utf-8")


def test_teachers_find_every_chapter_in_order() -> None:
    page = (ROOT / "book" / "teaching.md").read_text("utf-8")
    [table] = re.findall(r"^## What each chapter needs\n(.*?)^## ", page, re.MULTILINE | re.DOTALL)
    rows = re.findall(
        r"^\| (\d+) \| \[\]\(\.\./(.+)\.ipynb\) \| .+? \| (\d+) \+ (\d+) \|", table, re.MULTILINE
    )
    assert [(int(number), chapter) for number, chapter, *_ in rows] == [*enumerate(CHAPTERS, start=1)]
    # The same minutes as on the map of the course.
    on_the_map = re.findall(
        r"^Needs .+ (\d+) minutes\.$", (ROOT / "book" / "index.md").read_text("utf-8"), re.M
    )
    assert [int(reading) + int(exercises) for *_, reading, exercises in rows] == [*map(int, on_the_map)]


#: The words for some numbers of chapters.
WORDS = {11: "eleven", 12: "twelve", 13: "thirteen", 14: "fourteen", 15: "fifteen", 16: "sixteen"}


@pytest.mark.parametrize("page", ["README.md", "book/index.md"])
def test_a_page_that_says_how_many_chapters_there_are_is_right(page: str) -> None:
    said = re.findall(rf"\b({'|'.join(WORDS.values())}) chapters", (ROOT / page).read_text("utf-8"))
    assert said == [WORDS[len(CHAPTERS)]]


def test_chapters_have_their_number_on_the_page_and_in_the_list_beside_the_notebooks() -> None:
    listed = re.findall(
        r"^\d+\. \[(.+)\]\((.+)\)$", (ROOT / "chapters" / "README.md").read_text("utf-8"), re.M
    )
    assert listed == [(title_of(page), f"{page.removeprefix('chapters/')}.ipynb") for page in CHAPTERS]
    for number, page in enumerate(CHAPTERS, start=1):
        assert html(page).select_one("article h1 .section-number").get_text().strip() == f"{number}."


def entries(page: str) -> dict[str, BeautifulSoup]:
    """The functions and classes on a page of the reference, by full name, and what stands below each."""
    return {
        title["id"]: title.find_next_sibling("dd")
        for title in html(page).select("dl.py.function > dt, dl.py.class > dt")
        if not title.find_parent("dd")
    }


REFERENCE = [page for page in PAGES if page.startswith("book/api/")]


def test_the_reference_covers_every_module() -> None:
    # Inner modules: the grammar corpus is used through its package, figures are drawn by their kinds, and the
    # commands have a page of their own. The checks of a chapter are used in the chapter alone.
    inner = re.compile(
        r"utils\.corpus\.grammar\.\w+|utils\.figures\.(packing|still|chinese|kinds\.\w+)|utils\.translator\.(commands\.\w+|options)|"
        rf"utils\.exercises\.({'|'.join(page.removeprefix('chapters/') for page in CHAPTERS)})"
    )
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "utils").rglob("*.py")
        if not path.stem.startswith("_")
    }
    documented = {name.rpartition(".")[0] for page in REFERENCE for name in entries(page)}
    assert {module for module in modules if not inner.fullmatch(module)} <= documented


@pytest.mark.parametrize("page", REFERENCE)
def test_each_entry_and_its_chapter_link_to_each_other(page: str) -> None:
    for name, below in entries(page).items():
        explained = [
            (BOOK / page).parent.joinpath(link["href"]).resolve().relative_to(BOOK).with_suffix("").as_posix()
            for link in below.select("a.internal[href]")
            if "#" not in link["href"]
        ]
        explained = [target for target in explained if not target.startswith("_modules")]
        assert explained, f"{name} does not say where it is explained"
        for target in explained:
            back = {link["href"].rpartition("#")[2] for link in html(target).select(".in-the-reference a")}
            assert name in back, f"{target} does not link to {name}"


@pytest.mark.parametrize("page", REFERENCE)
def test_signatures_are_readable(page: str) -> None:
    for title in html(page).select("dt.sig"):
        assert not re.search(r"<class|<function|jaxtyping\.|\bobject at\b", title.get_text())


def test_the_glossary_has_both_languages() -> None:
    terms = html("book/glossary").select("dl.glossary > dt")
    chinese = [term for term in terms if IDEOGRAPHS.search(term.get_text())]
    assert len(chinese) >= 35
    assert len(terms) == 2 * len(chinese)
    assert all(term["lang"] == "zh-Hans" for term in chinese)


def test_every_page_with_chinese_characters_has_their_font() -> None:
    (font,) = fonts_in("fonts/chinese.css")
    drawn = {chr(code) for code in font.getBestCmap()}
    pages = sorted(BOOK.rglob("*.html"))
    with_chinese = 0
    for page in pages:
        text = page.read_text("utf-8")
        if wanted := set(IDEOGRAPHS.findall(text)):
            with_chinese += 1
            assert wanted <= drawn, f"{page} has characters without a font: run make fonts"
            assert "fonts/chinese.css" in text, page
    assert 10 < with_chinese < len(pages)


def test_the_typeface_of_the_book_has_the_letters_of_its_text() -> None:
    fonts = fonts_in("fonts/text.css")
    assert len(fonts) == 2
    letters = re.compile(r"[a-zA-Z\u00c0-\u024f]")
    wanted = {letter for page in PAGES for letter in letters.findall(html(page).get_text())}
    assert {"é", "œ"} <= wanted
    for font in fonts:
        assert wanted <= {chr(code) for code in font.getBestCmap()}
        # Under its licence only the complete font may have the name.
        assert not any("Source" in str(name) for name in font["name"].names if name.nameID in (1, 4, 6, 16))


def test_the_font_draws_the_forms_of_mainland_china() -> None:
    font = TTFont(font_path(), lazy=True)
    shared = font.getBestCmap()
    forms = chinese_forms(font, "直骨一")
    assert forms[ord("直")] != shared[ord("直")]
    assert forms[ord("骨")] != shared[ord("骨")]
    assert forms[ord("一")] == shared[ord("一")]


def test_the_references_list_every_work_that_a_chapter_cites() -> None:
    listed = (ROOT / "book" / "references.bib").read_text("utf-8").lower()
    work = re.compile(r"(?:arxiv\.org/abs|aclanthology\.org|doi\.org)/([\w./()-]+?)(?:\.pdf)?/?\)")
    for chapter in CHAPTERS:
        text = (ROOT / f"{chapter}.ipynb").read_text("utf-8")
        missing = {name for name in work.findall(text) if name.lower() not in listed}
        assert not missing, f"{chapter} cites {missing}, which book/references.bib does not list"


def test_references_can_be_looked_up() -> None:
    for entry in re.split(r"^@", (ROOT / "book" / "references.bib").read_text("utf-8"), flags=re.MULTILINE)[
        1:
    ]:
        assert re.search(r"^  (.*, )?(doi|url) = ", entry, re.MULTILINE), entry.splitlines()[0]
        for field in ("author", "title", "year"):
            assert re.search(rf"\b{field} = ", entry), entry.splitlines()[0]
