"""What follows from the configuration: an edition that is published, its links, and the tables of chapters."""

import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import nbformat
import publishing
import pytest
import yaml
from bs4 import BeautifulSoup
from built_book import CHAPTERS, ROOT, html
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from utils.corpus.grammar import Triple

pytestmark = pytest.mark.browser

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
BRANCH = CONFIG["repository"]["branch"]
URL = "https://github.com/OWNER/NAME"
SITE = "https://owner.github.io/NAME/"
CHAPTER = "chapters/masked_softmax"
WRITTEN = ("README.md", "chapters/README.md", "CITATION.cff")


def small_course(folder: Path, url: str) -> Path:
    """The course with this address, without its code."""
    for name in ("_toc.yml", "book/references.bib", "chapters/fifty_lines.py", *WRITTEN):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    text = (ROOT / "_config.yml").read_text("utf-8")
    (folder / "_config.yml").write_text(re.sub(r"^  url:.*$", f'  url: "{url}"', text, flags=re.M), "utf-8")
    for page in CHAPTERS:
        shutil.copy(ROOT / f"{page}.ipynb", folder / f"{page}.ipynb")
    return folder


def outside_addresses(page: BeautifulSoup) -> set[str]:
    """Every address of another host in any attribute of the page outside its text."""
    tags = [tag for tag in page.find_all(True) if not tag.find_parent("article")]
    values = {value for tag in tags for value in tag.attrs.values() if isinstance(value, str)}
    return {value for value in values if urlsplit(value).netloc}


@pytest.mark.skipif(CONFIG["repository"]["url"] != "", reason="this edition is published")
def test_without_a_url_there_are_no_buttons() -> None:
    page = html(CHAPTER)
    assert not page.select(".dropdown-launch-buttons, .dropdown-source-buttons")
    assert outside_addresses(page) == set()
    assert "Binder" not in html("book/index").get_text()


def configured(url: str) -> tuple[SimpleNamespace, set[str]]:
    """The settings of Sphinx that follow from this address, and the tags of the build."""
    theme = {"repository_url": url, "repository_branch": BRANCH, "launch_buttons": {}}
    config = SimpleNamespace(html_theme_options=theme, myst_substitutions={})
    app = SimpleNamespace(srcdir=ROOT, tags=set())
    publishing._follow(app, config)
    return config, app.tags


def test_an_address_brings_buttons_and_links() -> None:
    config, tags = configured(URL)
    assert config.html_baseurl == config.ogp_site_url == SITE
    buttons = ("repository", "issues", "edit_page")
    assert all(config.html_theme_options[f"use_{name}_button"] for name in buttons)
    assert "launch_buttons" in config.html_theme_options
    assert f'%pip install "git+{URL}"' in config.myst_substitutions["colab_install"]
    assert tags == {"published"}
    entry = {"module": "utils.corpus.grammar", "fullname": Triple.__name__}  # defined in another file
    file, _, line = config.linkcode_resolve("py", entry).removeprefix(f"{URL}/blob/{BRANCH}/").partition("#L")
    assert "class Triple" in (ROOT / file).read_text("utf-8").splitlines()[int(line) - 1]

    config, tags = configured("")
    assert config.linkcode_resolve("py", entry) is None
    assert "launch_buttons" not in config.html_theme_options
    assert tags == set()


def test_the_address_on_github_pages() -> None:
    assert publishing.site(URL) == SITE
    assert publishing.site("https://github.com/OWNER/owner.github.io") == "https://owner.github.io/"
    for url in (f"{URL}/", f"{URL}.git", "https://github.com/OWNER", "https://example.org/OWNER/NAME"):
        with pytest.raises(
            ValueError, match=f"must be https://github.com/OWNER/NAME, got '{re.escape(url)}'"
        ):
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
    assert f"**[Read it online]({SITE})**" in readme
    assert f"(https://mybinder.org/v2/gh/OWNER/NAME/{BRANCH}?urlpath=lab/tree/chapters)" in readme
    citation = yaml.safe_load((course / "CITATION.cff").read_text("utf-8"))
    assert citation.items() >= {"url": SITE, "repository-code": URL}.items()


def test_a_new_chapter_appears_in_every_table(tmp_path: Path) -> None:
    course = small_course(tmp_path, "")
    parts = {"Scoring": ["masked_softmax", "additive_attention", "new"], "Translation": ["alignment"]}
    pages = [
        {"caption": part, "chapters": [{"file": f"chapters/{name}"} for name in names]}
        for part, names in parts.items()
    ]
    (course / "_toc.yml").write_text(yaml.safe_dump({"parts": pages}), "utf-8")
    about = {"question": "Why?", "needs": ["masked_softmax", "additive_attention"], "gives": "a reason"}
    about |= {"goals": "say why"}
    # 10 minutes for 600 words, 2 for 12 lines, 1.5 for a question, 5 for the exercise in the page; 20 to go deeper.
    texts = ["# A new one\n\n" + "word " * 588, f"<details>{'folded ' * 900}</details>"]
    texts += ["### Exercise 0: in the page (5 minutes)"]
    texts += ["<!-- quiz a -->\nWhy?\n<details><summary>Answers</summary>\n</details>"]
    texts += ["## Exercises", "### Exercise 1: one (4 minutes)", "### Exercise 2: two (7 minutes)"]
    texts += ["## Going deeper\n\n" + "word " * 1197, "## Where this comes from\n\n" + "word " * 600]
    cells = [new_markdown_cell(text) for text in texts]
    table = [new_output("stream", text="1\n2\n3\n")]
    cells[1:1] = [new_code_cell("x = 1\n" * 12, outputs=table)]
    cells[1:1] = [new_code_cell("y\n" * 99, metadata={"tags": ["hide-input"]})]
    notebook = nbformat.v4.new_notebook(metadata={"course": about}, cells=cells)
    nbformat.write(notebook, course / "chapters" / "new.ipynb")

    publishing.write_marked_lines(course)
    readme, listed = (
        path.read_text("utf-8") for path in (course / "README.md", course / "chapters/README.md")
    )
    assert "| | [A new one](chapters/new.ipynb) | Why? |\n| Translation |" in readme
    assert "\n3. [A new one](new.ipynb)\n4. " in listed
    row = "\n| 3. [](../chapters/new.ipynb) | 1, 2 | 20 + 11, 20 | say why |\n| 4. "
    assert row in publishing.chapter_tables.goals(course)
    cards = publishing.chapter_tables.cards(course)
    assert (
        "\nWhy?\n:::{card-footer}\nNeeds chapters 1 and 2. Gives a reason. 31 minutes, and 20 to go deeper.\n"
        in cards
    )
    assert "map/new.svg" not in cards


def test_the_sessions_of_a_plan_take_nearly_the_same_time() -> None:
    tables = publishing.chapter_tables
    short, long = (plan(ROOT).splitlines()[2:] for plan in (tables.one_week, tables.eight_weeks))
    assert "| 6 | [](../chapters/bahdanau_decoder.ipynb) | " in short[-1]
    assert [row.split("|")[1].strip() for row in long] == [
        week if first else "" for week in "12345678" for first in (True, False, False)
    ]
    planned = re.findall(r"chapters/(\w+)\.ipynb\) \| (\d+) \| \d+ \| \d+ \|$", "\n".join(long), re.MULTILINE)
    names = [chapter["name"] for chapter in tables.chapters(ROOT)]
    assert [name for name, _ in planned] == names
    assert all(40 <= int(minutes) <= 90 for _, minutes in planned)


def test_the_tables_are_in_the_book() -> None:
    for page, rows in (
        ("book/index", ".course-map .sd-card"),
        ("book/teaching", "section#what-each-chapter-needs tr"),
    ):
        linked = [row.a["href"] for row in html(page).select(rows) if row.a]
        assert linked == [f"../{chapter}.html" for chapter in CHAPTERS]
