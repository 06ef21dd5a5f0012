"""What follows from the configuration: an edition that is published, its links, and the tables of chapters.

The book that is built here has the pages whose text depends on the configuration; all others are titles only.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import publishing
import pytest
import yaml
from bs4 import BeautifulSoup
from built_book import BOOK, CHAPTERS, PAGES, ROOT
from nbformat.v4 import new_code_cell, new_markdown_cell
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.browser

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
BRANCH = CONFIG["repository"]["branch"]
URL = "https://github.com/OWNER/NAME"
SITE = "https://owner.github.io/NAME/"
CHAPTER = "chapters/masked_softmax"
WRITTEN = ("README.md", "chapters/README.md", "CITATION.cff")


def small_course(folder: Path, url: str) -> Path:
    """The course with this address; its chapters have only their titles."""
    for name in ("_toc.yml", "book/references.bib", *WRITTEN):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    text = (ROOT / "_config.yml").read_text("utf-8")
    (folder / "_config.yml").write_text(re.sub(r"^  url:.*$", f'  url: "{url}"', text, flags=re.M), "utf-8")
    for page in CHAPTERS:
        notebook = nbformat.read(ROOT / f"{page}.ipynb", as_version=4)
        notebook.cells = [nbformat.v4.new_markdown_cell(notebook.cells[0].source.partition("\n")[0])]
        nbformat.write(notebook, folder / f"{page}.ipynb")
    return folder


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The HTML of a small book with an address."""
    folder = small_course(tmp_path_factory.mktemp("published"), URL)
    for name in ("_assets", "_ext", "_templates"):
        shutil.copytree(ROOT / "book" / name, folder / "book" / name)
    for page in set(PAGES) - set(CHAPTERS):
        path = folder / f"{page}.md"
        path.parent.mkdir(exist_ok=True)
        text = f"# {page}\n"
        if page in ("book/index", "book/teaching", "book/data_and_licences"):
            # The small book does not have the figures and the cited works of the other pages.
            text = (ROOT / f"{page}.md").read_text("utf-8")
            text = re.sub(r"```\{explorable\}.*?```|\{cite:.\}`\w+`", "", text, flags=re.DOTALL)
        path.write_text(text, "utf-8")
    program = Path(sys.executable).with_name("jupyter-book")
    command = [program, "build", folder, "--quiet", "-W", "-n", "--keep-going"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder / "_build" / "html"


def soup(book: Path, page: str) -> BeautifulSoup:
    return BeautifulSoup((book / f"{page}.html").read_text("utf-8"), "html.parser")


def outside_addresses(page: BeautifulSoup) -> set[str]:
    """Every address of another host in any attribute of the page outside its text."""
    page.article.extract()
    values = {value for tag in page.find_all(True) for value in tag.attrs.values() if isinstance(value, str)}
    return {value for value in values if urlsplit(value).netloc}


def test_with_a_url_every_button_leads_there(published: Path) -> None:
    page = soup(published, CHAPTER)
    assert outside_addresses(page) == {
        f"https://mybinder.org/v2/gh/OWNER/NAME/{BRANCH}?urlpath=lab/tree/{CHAPTER}.ipynb",
        f"https://colab.research.google.com/github/OWNER/NAME/blob/{BRANCH}/{CHAPTER}.ipynb",
        URL,
        f"{URL}/edit/{BRANCH}/{CHAPTER}.ipynb",
        f"{URL}/issues/new?title=Issue%20on%20page%20%2F{CHAPTER}.html&body=Your%20issue%20content%20here.",
        f"{SITE}{CHAPTER}.html",
        f"{SITE}_static/page.png",
    }
    assert (published / "_static" / "page.png").is_file()
    assert page.select_one("[property='og:image']")["content"] == f"{SITE}_static/page.png"
    assert page.select_one("[property='og:url']")["content"] == f"{SITE}{CHAPTER}.html"
    assert page.select_one("link[rel=canonical]")["href"] == f"{SITE}{CHAPTER}.html"


@pytest.mark.skipif(CONFIG["repository"]["url"] != "", reason="this edition is published")
def test_without_a_url_there_are_no_buttons() -> None:
    page = soup(BOOK, CHAPTER)
    assert page.select(".dropdown-download-buttons")
    assert not page.select(".dropdown-launch-buttons, .dropdown-source-buttons")
    assert outside_addresses(page) == set()
    assert "Binder" not in soup(BOOK, "book/index").get_text()


def test_text_for_published_editions(published: Path) -> None:
    text = soup(published, "book/index").article.get_text()
    assert f'%pip install "git+{URL}"' in text
    assert "Binder" in text
    assert "Cite this repository" in soup(published, "book/data_and_licences").get_text()


@pytest.mark.parametrize(
    ("url", "address"),
    [
        (URL, SITE),
        ("https://github.com/OWNER/owner.github.io", "https://owner.github.io/"),
        ("https://github.com/OWNER/a.b-c", "https://owner.github.io/a.b-c/"),
    ],
)
def test_the_address_on_github_pages(url: str, address: str) -> None:
    assert publishing.site(url) == address


@pytest.mark.parametrize(
    "url", [f"{URL}/", f"{URL}.git", "https://github.com/OWNER", "https://example.org/OWNER/NAME"]
)
def test_another_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=f"must be https://github.com/OWNER/NAME, got '{re.escape(url)}'"):
        publishing.site(url)


def test_marked_lines_are_up_to_date(tmp_path: Path) -> None:
    course = small_course(tmp_path, CONFIG["repository"]["url"])
    publishing.write_marked_lines(course)
    for name in WRITTEN:
        assert (course / name).read_text("utf-8") == (ROOT / name).read_text("utf-8"), "run make readme"


def test_marked_lines_follow_the_address(tmp_path: Path) -> None:
    course = small_course(tmp_path, URL)
    publishing.write_marked_lines(course)
    readme = (course / "README.md").read_text("utf-8")
    for link in (
        f"**[Read it online]({SITE})**",
        f"({URL}/actions/workflows/ci.yml)",
        f"(https://mybinder.org/v2/gh/OWNER/NAME/{BRANCH}?urlpath=lab/tree/chapters)",
        f"(https://colab.research.google.com/github/OWNER/NAME/blob/{BRANCH})",
    ):
        assert link in readme
    citation = yaml.safe_load((course / "CITATION.cff").read_text("utf-8"))
    assert citation.items() >= {"url": SITE, "repository-code": URL}.items()


def test_a_new_chapter_appears_in_every_table(tmp_path: Path) -> None:
    course = small_course(tmp_path, "")
    contents = (course / "_toc.yml").read_text("utf-8")
    line = "      - file: chapters/additive_attention\n"
    (course / "_toc.yml").write_text(contents.replace(line, f"{line}      - file: chapters/new\n"), "utf-8")
    about = {"question": "Why?", "needs": ["masked_softmax", "additive_attention"], "gives": "a reason"}
    about |= {"goals": "say why"}
    # 10 minutes for 1,300 words, 2 for 16 lines and 1 for a question; what is folded takes none.
    texts = ["# A new one\n\n" + "word " * 1296, f"<details>{'folded ' * 900}</details>"]
    texts += ["<!-- quiz a -->\nWhy?\n<details><summary>Answers</summary>\n</details>"]
    texts += ["## Exercises", "### Exercise 1: one (4 minutes)", "### Exercise 2: two (7 minutes)"]
    cells = [new_markdown_cell(text) for text in texts]
    cells[1:1] = [new_code_cell("x = 1\n" * 16), new_code_cell("y\n" * 99, metadata={"tags": ["hide-input"]})]
    notebook = nbformat.v4.new_notebook(metadata={"course": about}, cells=cells)
    nbformat.write(notebook, course / "chapters" / "new.ipynb")

    publishing.write_marked_lines(course)
    readme, listed = (
        path.read_text("utf-8") for path in (course / "README.md", course / "chapters/README.md")
    )
    assert "| | [A new one](chapters/new.ipynb) | Why? |\n| Translation |" in readme
    assert "\n5. [A new one](new.ipynb)\n6. " in listed
    row = "\n| 5 | [](../chapters/new.ipynb) | 2, 4 | 15 + 11 | say why |\n| 6 |"
    assert row in publishing.chapter_tables.goals(course)
    cards = publishing.chapter_tables.cards(course)
    assert "\nWhy?\n:::{card-footer}\nNeeds chapters 2 and 4. Gives a reason. 26 minutes.\n" in cards
    assert "map/new.svg" not in cards


def test_the_tables_are_in_the_book() -> None:
    for page, rows in (
        ("book/index", ".course-map .sd-card"),
        ("book/teaching", "section#what-each-chapter-needs tr"),
    ):
        linked = [row.a["href"] for row in soup(BOOK, page).select(rows) if row.a]
        assert linked == [f"../{chapter}.html" for chapter in CHAPTERS]


def test_every_package_has_a_pinned_version_in_range() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line.partition(" ;")[0].split("==") for line in lines if line[:1] not in ("", "#")]
    versions = {canonicalize_name(name): version for name, version in pins}
    for package in map(Requirement, project["dependencies"] + project["optional-dependencies"]["dev"]):
        assert versions[canonicalize_name(package.name)] in package.specifier, package
