"""The directive for questions, in a small project: the kind that it finds, and the mistakes that stop a build.

How questions work in the page is in `test_quizzes_in_book`.
"""

import json
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

ROOT = Path(__file__).parents[2]

CHOICES = "Which?\n\n1. a\n2. b\n3. c"
TABLE = "Where?\n\n| | x | y |\n|---|---|---|\n| one | 1 | 2 |\n| two | 3 | 4 |"


def quiz(question: str, *answers: str, name: str = "a-name") -> str:
    """The source of a question."""
    listed = "\n".join(f"- {answer}" for answer in answers)
    return (
        f":::{{quiz}} {name}\n\n{question}\n\n"
        f"<details><summary>Answers</summary>\n\n{listed}\n\n</details>\n:::\n"
    )


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Builds a page from its source; returns the page and the warnings."""
    monkeypatch.syspath_prepend(ROOT / "book" / "_ext")

    def build(text: str) -> tuple[BeautifulSoup, str]:
        (tmp_path / "index.md").write_text(f"# Title\n\n{text}", "utf-8")
        settings = {
            "extensions": ["myst_parser", "quiz"],
            "myst_enable_extensions": ["colon_fence", "dollarmath"],
        }
        folders = (str(tmp_path / name) for name in ("out", "doctrees"))
        with docutils_namespace(), (tmp_path / "warnings.txt").open("w+") as warnings:
            app = Sphinx(
                str(tmp_path), None, *folders, "html", settings, status=None, warning=warnings, freshenv=True
            )
            app.build()
            warnings.seek(0)
            page = BeautifulSoup((tmp_path / "out" / "index.html").read_text("utf-8"), "html.parser")
            return page, warnings.read()

    return build


def answers(box: Tag) -> list[dict]:
    return json.loads(box["data-answers"])


@pytest.mark.parametrize(
    ("question", "written", "kind", "told"),
    [
        (
            CHOICES,
            ["**No.** x", "**Right.** y", "**No.** z"],
            "one",
            [{"right": False}, {"right": True}, {"right": False}],
        ),
        (
            CHOICES,
            ["**Right.** x", "**No.** y", "**Right.** z"],
            "all",
            [{"right": True}, {"right": False}, {"right": True}],
        ),
        (
            "How many?",
            ["**Right: 0.25 ± 0.01.** x", "**No: −4.** y", "**No.** z"],
            "number",
            [
                {"right": True, "number": 0.25, "within": 0.01},
                {"right": False, "number": -4, "within": 0},
                {"right": False},
            ],
        ),
        (
            CHOICES,
            ["**Right: 2, 3, 1.** x", "**No: 3, 2, 1.** y", "**No.** z"],
            "order",
            [
                {"right": True, "order": [2, 3, 1]},
                {"right": False, "order": [3, 2, 1]},
                {"right": False},
            ],
        ),
        (
            TABLE,
            ["**Right: row 2, column 1.** x", "**No: row 2.** y", "**No: column 2.** w", "**No.** z"],
            "point",
            [
                {"right": True, "row": 2, "column": 1},
                {"right": False, "row": 2, "column": 0},
                {"right": False, "row": 0, "column": 2},
                {"right": False},
            ],
        ),
    ],
    ids=["one", "all", "number", "order", "point"],
)
def test_the_form_of_a_question_tells_its_kind(build, question, written, kind, told):
    page, warnings = build(quiz(question, *written))
    (box,) = page.select(".quiz")
    assert warnings == ""
    assert box["data-kind"] == kind
    assert answers(box) == told
    assert box["id"] == "quiz-a-name"
    # Without a script the answers are folded, and stand as they are written.
    (details,) = box.find_all("details", recursive=False)
    assert not details.has_attr("open")
    assert [item.get_text(strip=True)[-1] for item in details.select("li")] == [text[-1] for text in written]


def test_a_first_column_without_heading_names_the_rows(build):
    page, _ = build(quiz(TABLE, "**Right: row 1.** x", "**No.** y"))
    assert [head.get_text() for head in page.select("tbody th")] == ["one", "two"]
    page, _ = build(quiz(TABLE.replace("| |", "| w |"), "**Right: row 1.** x", "**No.** y"))
    assert page.select("tbody th") == []
    assert len(page.select("tbody td")) == 6


def test_questions_that_follow_each_other_stand_under_one_heading_and_are_numbered_on(build):
    one = [quiz("How many?", "**Right: 1.** x", "**No.** y", name=name) for name in "abcd"]
    page, warnings = build("\n".join([one[0], one[1], "Words.\n", one[2], "## Section\n", one[3]]))
    assert warnings == ""
    blocks = page.select(".quizzes")
    assert [[box["id"] for box in block.select(".quiz")] for block in blocks] == [
        ["quiz-a", "quiz-b"],
        ["quiz-c"],
        ["quiz-d"],
    ]
    assert [block.select_one(".rubric").get_text() for block in blocks] == ["Check your understanding"] * 3
    titles = [title.get_text() for title in page.select(".quiz-number")]
    assert titles == ["Question 1", "Question 2", "Question 3", "Question 4"]
    ids = [element["id"] for element in page.select("[id]")]
    assert len(ids) == len(set(ids))


MISTAKES = [
    (quiz(CHOICES, "**No.** x", "**Right.** y"), "3 choices need as many answers, got 2"),
    (quiz(CHOICES, "**No.** x", "**No.** y", "**No.** z"), "no answer is marked **Right.**"),
    (quiz(CHOICES, *["**Right.** x"] * 3), "every choice is right"),
    (quiz(CHOICES, "**No.** x", "**Right.** y", "z"), "must begin with **Right.** or **No.**: 'z'"),
    (quiz(CHOICES, "**No.** x", "Right. y", "**No.** z"), "**Right.** or **No.**: 'Right. y'"),
    (quiz("- a\n- b", "**Right.** x", "**No.** y"), "number the choices"),
    (quiz("How many?", "**Right: 1.** x"), "the last answer must be **No.**"),
    (quiz("How many?", "**Right.** x", "**No.** y"), "the others need a value"),
    (quiz("How many?", "**Right: one.** x", "**No.** y"), "must be a number, as 0.25 or 0.25 ± 0.01"),
    (quiz(CHOICES, "**Right: 1, 3.** x", "**No.** y"), "each of the 3 items once, got '1, 3'"),
    (quiz(CHOICES, "**Right: 2.** x", "**No.** y"), "must be an order, as 2, 3, 1"),
    (quiz(CHOICES, "**Right: 1, 2, 3.** x", "**No.** y"), "in the right order already"),
    (quiz(TABLE, "**Right: row 3.** x", "**No.** y"), "the table has 2 rows and 2 columns, got 'row 3'"),
    (quiz(TABLE, "**Right: column 3.** x", "**No.** y"), "has 2 rows and 2 columns, got 'column 3'"),
    (quiz(TABLE, "**Right: 2, 1.** x", "**No.** y"), "must be a place, as row 2, column 3"),
    (
        quiz("How many?", "**Right: 1.** x", "**No.** y", name="A_Name"),
        "quiz 'A_Name': a name has lower",
    ),
    (":::{quiz} a\n\nHow many?\n:::", "quiz 'a': it needs a question"),
    (quiz("", "**Right: 1.** x", "**No.** y"), "it needs a question"),
    (quiz("How many?", "**Right: 1.** x", "**No.** y").replace("</det", "More.\n\n</det"), "must end in"),
    (quiz("How many?", "**Right: 1.** x", "**No.** y").replace("- ", ""), "answers must be one list"),
]


def test_each_mistake_stops_the_build_and_names_page_and_question(build):
    # One build for all: each mistake makes one line of warning.
    page, warnings = build("\n".join(text for text, _ in MISTAKES))
    for line, (_, message) in zip(warnings.splitlines(), MISTAKES, strict=True):
        assert message in line
        assert "index.md:" in line
        assert "ERROR: quiz '" in line
    assert page.select(".quiz") == []


def test_the_fold_may_stand_on_two_lines(build):
    text = quiz("How many?", "**Right: 1.** x", "**No.** y")
    page, warnings = build(text.replace("<details>", "<details>\n"))
    assert warnings == ""
    assert page.select(".quiz")


def test_two_questions_of_a_page_must_not_have_one_name(build):
    one = quiz("How many?", "**Right: 1.** x", "**No.** y")
    _, warnings = build(one + "\n" + one)
    assert "quiz-a-name" in warnings
