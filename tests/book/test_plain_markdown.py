"""Captions and questions as plain Markdown in a notebook: what a page makes of them, and what stops a build.

How questions work in the page is tested in `test_quizzes_in_book`.
"""

import json
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

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
CHOICES = "Which?\n\n1. a\n2. b\n3. c"
NUMBER = "How many?"


def quiz(question: str, *answers: str, name: str = "a-name") -> str:
    """The source of a question."""
    listed = "\n".join(f"- {answer}" for answer in answers)
    return f"<!-- quiz {name} -->\n\n{question}\n\n<details><summary>Answers</summary>\n\n{listed}\n\n</details>\n"


def figure(name: str) -> NotebookNode:
    drawn = new_output("display_data", {"text/html": "<b>drawn</b>"})
    return new_code_cell("draw()", outputs=[drawn], metadata={"mystnb": {"figure": {"name": name}}})


def caption(text: str) -> NotebookNode:
    return new_markdown_cell(text, metadata={"tags": ["caption"]})


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Builds a page from cells, where a text is a cell of Markdown; returns the page and the warnings."""
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")

    def build(*cells: NotebookNode | str, builder: str = "html") -> tuple[BeautifulSoup, str]:
        cells = [new_markdown_cell(cell) if isinstance(cell, str) else cell for cell in ("# Title", *cells)]
        nbformat.write(new_notebook(cells=cells), tmp_path / "index.ipynb")
        settings = {
            "extensions": ["myst_nb", "plain_markdown"],
            "myst_enable_extensions": ["colon_fence", "dollarmath"],
            "nb_execution_mode": "off",
            "source_suffix": {".ipynb": "myst-nb"},  # the default would be shared with other tests
        }
        folders = (str(tmp_path / name) for name in ("out", "doctrees"))
        with docutils_namespace(), (tmp_path / "warnings.txt").open("w+") as warnings:
            streams = {"status": None, "warning": warnings}
            Sphinx(str(tmp_path), None, *folders, builder, settings, **streams, freshenv=True).build()
            warnings.seek(0)
            (file,) = (tmp_path / "out").glob("index.*")
            page = BeautifulSoup(file.read_text("utf-8"), "html.parser")
            return page, warnings.read()

    return build


def test_the_cell_below_a_figure_is_its_caption(build) -> None:
    page, _ = build(figure("fig-a"), caption("The *first* one."), figure("fig-b"), caption("Two."))
    shown = {each["id"]: each.select_one(".caption-text").get_text() for each in page.select("figure")}
    assert shown == {"fig-a": "The first one.", "fig-b": "Two."}
    assert page.select_one("#fig-a figcaption em").get_text() == "first"
    assert page.get_text().count("Two.") == 1


def test_where_no_drawing_shows_its_description_does(build) -> None:
    drawn = {"image/svg+xml": "<svg/>", "text/plain": "<Figure size 500x320 with 1 Axes>"}
    about = {"mystnb": {"image": {"alt": "Two curves that fall."}}}
    outputs = [new_output("stream", text="printed"), new_output("display_data", drawn)]
    page, _ = build(new_code_cell("draw()", outputs=outputs, metadata=about), builder="text")
    assert "Two curves that fall." in str(page)
    assert "<Figure" not in str(page)


def test_the_two_folds_of_a_cell_have_two_names(build) -> None:
    printed = new_output("stream", text="7\n")
    folds = {"tags": ["hide-input", "hide-output"], "mystnb": {"code_prompt_show": "Show the code: the sum"}}
    page, _ = build(new_code_cell("print(3 + 4)", outputs=[printed], metadata=folds))
    names = [summary.get_text().strip().splitlines()[0] for summary in page.select("details summary")]
    assert names == ["Show the source: the sum", "Show the output: the sum"]


def test_the_example_of_the_guide_is_a_question(build) -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (example,) = re.findall(r"^```markdown\n(<!-- quiz.*?)^```", guide, re.MULTILINE | re.DOTALL)
    page, _ = build(example)
    assert page.select_one(".quiz")["data-kind"] == "one"


@pytest.mark.parametrize(
    ("question", "answers", "kind", "told"),
    [
        (CHOICES, ["**No.** x", "**Right.** y", "**No.** z"], "one", [{}, {"right": True}, {}]),
        (CHOICES, ["**Right.** x", "**No.** y", "**Right.** z"], "all", [{"right": True}, {}, {"right": True}]),
        (NUMBER, ["**Right: 0.25 ± 0.01.** x", "**No: −4.** y", "**No.** z"], "number",
         [{"right": True, "number": 0.25, "within": 0.01}, {"number": -4, "within": 0}, {}]),
    ],
    ids=["one", "all", "number"],
)  # fmt: skip
def test_the_form_of_a_question_tells_its_kind(build, question, answers, kind, told):
    page, warnings = build(quiz(question, *answers))
    (box,) = page.select(".quiz")
    assert warnings == ""
    assert box["data-kind"] == kind
    assert json.loads(box["data-answers"]) == [{"right": False} | answer for answer in told]


def test_neighbouring_questions_are_under_one_heading(build) -> None:
    a, b, c, d = (quiz(NUMBER, "**Right: 1.** x", "**No.** y", name=name) for name in "abcd")
    page, warnings = build(a, b, "Words.", c, f"## Exercise 1: a name (3 minutes)\n\n{d}")
    assert warnings == ""
    blocks = page.select(".quizzes")
    names = [[box["id"][-1] for box in block.select(".quiz")] for block in blocks]
    assert names == [["a", "b"], ["c"], ["d"]]
    rubrics = [rubric.get_text() for block in blocks for rubric in block.select(".rubric")]
    assert rubrics == ["Check your understanding"] * 2, "an exercise has a heading already"
    titles = [title.get_text() for title in page.select(".quiz-number")]
    assert titles == ["Question 1", "Question 2", "Question 3", "Question 4"]


ONE = quiz(NUMBER, "**Right: 1.** x", "**No.** y")
MISTAKES = [
    (quiz(CHOICES, "**No.** x", "**Right.** y"), "3 choices need as many answers, got 2"),
    (quiz(CHOICES, "**No.** x", "**No.** y", "**No.** z"), "no answer is marked **Right.**"),
    (quiz(CHOICES, "**No.** x", "**Right.** y", "z"), "must begin with **Right.** or **No.**: 'z'"),
    (quiz(CHOICES, "**No.** x", "Right. y", "**No.** z"), "**Right.** or **No.**: 'Right. y'"),
    (quiz("- a\n- b", "**Right.** x", "**No.** y"), "number the choices"),
    (quiz(NUMBER, "**Right: 1.** x"), "the last answer must be **No.**"),
    (quiz(NUMBER, "**Right.** x", "**No.** y"), "the others need a value"),
    (quiz(NUMBER, "**Right: one.** x", "**No.** y"), "must be a number, as 0.25 or 0.25 ± 0.01"),
    (quiz(CHOICES, "**Right: 2.** x", "**No.** y", "**No.** z"), "the answer to a choice has no value"),
    ("<!-- quiz b -->\n\nHow many?\n\n</details>", "quiz 'b': after the question it needs"),
    (quiz("", "**Right: 1.** x", "**No.** y"), "after the question it needs <details>"),
    (ONE.replace("</det", "More.\n\n</det"), "the answers and </details>"),
    (ONE.replace("\n- ", "\n"), "answers must be one list"),
    (ONE, None),
    (ONE, "quiz-a-name"),
]


def test_each_mistake_in_a_question_is_named(build) -> None:
    # One build for all: each mistake makes one line of warning.
    page, warnings = build(*(text for text, _ in MISTAKES))
    messages = [message for _, message in MISTAKES if message]
    for line, message in zip(warnings.splitlines(), messages, strict=True):
        assert message in line
        assert "index.ipynb:" in line
    assert len(page.select(".quiz")) == 2  # the last two, which have one name


@pytest.mark.parametrize(
    ("cells", "complaint"),
    [
        ([ONE.replace("a-name", "two words")], "'<!-- quiz two words -->'"),
        ([ONE.replace("\n</details>", "")], "ends with a line '</details>'"),
        (["Text.", caption("Whose?")], "does not follow the cell of a figure: 'Whose\\?'"),
        ([figure("fig-a"), caption("One."), caption("Two.")], "does not follow the cell of a figure: 'Two.'"),
    ],
)
def test_a_mistake_of_form_stops_the_build(build, cells: list[NotebookNode | str], complaint: str) -> None:
    with pytest.raises(ExtensionError, match=f"index: .*{complaint}"):
        build(*cells)
