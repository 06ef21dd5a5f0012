"""The kinds of cells of an exercise, and the forms that it may have."""

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from utils.exercises.form import exercises_of, kind_of

TASK = "### Exercise 3: a name (5 minutes)\n\n"
CELLS = {
    "task": new_markdown_cell(f"{TASK}Write."),
    "question": new_markdown_cell(f"{TASK}<!-- quiz a-name -->\n\nWhich?"),
    "code": new_code_cell("x, y = ..."),
    "check": new_code_cell("check.pair(x, y)", metadata={"tags": ["check"]}),
    "hint": new_markdown_cell("<details>\n<summary>Hint</summary>\n\nIt is 2.\n\n</details>"),
    "solution": new_code_cell("assert True", metadata={"tags": ["solution"]}),
    "explanation": new_markdown_cell("<details><summary>Explanation</summary>\n\nSo.\n\n</details>"),
    "points": new_markdown_cell(
        "<details>\n<summary>Points of a good answer</summary>\n\n- So.\n\n</details>"
    ),
    "": new_markdown_cell("<details>\n<summary>Hint</summary>\n\nIt is 2.\n\n</details>\n\nmore"),
}
CODE = "task code check solution explanation"


def notebook_of(form: str) -> NotebookNode:
    notebook = new_notebook()
    notebook.cells = [CELLS[kind] for kind in form.split()]
    return notebook


@pytest.mark.parametrize("kind", CELLS)
def test_a_cell_has_its_kind(kind: str) -> None:
    assert kind_of(CELLS[kind]) == kind


@pytest.mark.parametrize(
    "form", ["question", "question solution", "task points", CODE, CODE.replace("solution", "hint solution")]
)
def test_an_exercise_has_the_cells_of_its_form(form: str) -> None:
    first, second = exercises_of(notebook_of(f"{form} task points"))
    assert first.number == second.number == 3
    assert second.explanation is CELLS["points"]
    assert (first.solution is not None) == ("solution" in form)
    has_check = "check" in form
    assert (first.check_name, first.names) == (("pair", ["x", "y"]) if has_check else ("", []))
    assert (first.stub, first.check) == ((CELLS["code"], CELLS["check"]) if has_check else (None, None))


@pytest.mark.parametrize(
    "form", ["task", "task code check", "task hint points", "question points", f"{CODE} hint", "task check"]
)
def test_cells_in_another_form_are_named(form: str) -> None:
    with pytest.raises(ValueError, match=rf"exercise 3 has the cells \[{form}\]"):
        list(exercises_of(notebook_of(form)))
