"""Captions and questions as plain Markdown in a notebook: what a page makes of them, and what stops a build."""

import re
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import docutils_namespace

ROOT = Path(__file__).parents[2]
QUESTION = """<!-- quiz NAME -->

How many?

<details><summary>Answers</summary>

- **Right: 8.** Yes.
- **No.** Count.

</details>"""


def figure(name: str) -> NotebookNode:
    drawn = new_output("display_data", {"text/html": "<b>drawn</b>"})
    return new_code_cell("draw()", outputs=[drawn], metadata={"mystnb": {"figure": {"name": name}}})


def caption(text: str) -> NotebookNode:
    return new_markdown_cell(text, metadata={"tags": ["caption"]})


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Builds a page from the cells of a notebook."""
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")

    def build(*cells: NotebookNode) -> BeautifulSoup:
        notebook = new_notebook(cells=[new_markdown_cell("# Title"), *cells])
        nbformat.write(notebook, tmp_path / "index.ipynb")
        settings = {
            "extensions": ["myst_nb", "quiz", "plain_markdown"],
            "myst_enable_extensions": ["colon_fence"],
            "nb_execution_mode": "off",
            "source_suffix": {".ipynb": "myst-nb"},  # the default would be shared with other tests
        }
        folders = (str(tmp_path / name) for name in ("out", "doctrees"))
        with docutils_namespace():
            app = Sphinx(str(tmp_path), None, *folders, "html", settings, status=None, freshenv=True)
            app.build()
        return BeautifulSoup((tmp_path / "out" / "index.html").read_text("utf-8"), "html.parser")

    return build


def test_the_cell_below_a_figure_is_its_caption_and_stands_nowhere_else(build) -> None:
    page = build(figure("fig-a"), caption("The *first* one."), figure("fig-b"), caption("Two."))
    shown = {each["id"]: each.select_one(".caption-text").get_text() for each in page.select("figure")}
    assert shown == {"fig-a": "The first one.", "fig-b": "Two."}
    assert page.select_one("#fig-a figcaption em").get_text() == "first"
    assert page.get_text().count("Two.") == 1


def test_a_comment_names_a_question_and_its_folded_answers_end_it(build) -> None:
    cell = new_markdown_cell(f"{QUESTION.replace('NAME', 'one')}\n\n{QUESTION.replace('NAME', 'two')}")
    page = build(new_markdown_cell("Before."), cell, new_markdown_cell("After."))
    boxes = page.select(".quiz")
    assert [(box["id"], box["data-kind"]) for box in boxes] == [
        ("quiz-one", "number"),
        ("quiz-two", "number"),
    ]
    for box in boxes:
        assert box.details.li.get_text().strip() == "Right: 8. Yes."
        assert not re.search("Before|After|<!--", str(box))


def test_the_example_of_the_guide_is_a_question(build) -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (example,) = re.findall(r"^```markdown\n(<!-- quiz.*?)^```", guide, re.MULTILINE | re.DOTALL)
    assert build(new_markdown_cell(example)).select_one(".quiz")["data-kind"] == "one"


@pytest.mark.parametrize(
    ("cells", "complaint"),
    [
        ([new_markdown_cell(QUESTION.replace("NAME", "two words"))], "'<!-- quiz two words -->'"),
        ([new_markdown_cell(QUESTION.replace("\n</details>", ""))], "ends with a line '</details>'"),
        ([new_markdown_cell("Text."), caption("Whose?")], "does not follow the cell of a figure: 'Whose\\?'"),
        ([figure("fig-a"), caption("One."), caption("Two.")], "does not follow the cell of a figure: 'Two.'"),
    ],
)
def test_a_mistake_stops_the_build(build, cells: list[NotebookNode], complaint: str) -> None:
    with pytest.raises(ExtensionError, match=f"index: .*{complaint}"):
        build(*cells)
