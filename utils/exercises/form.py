"""The exercises of a chapter's notebook, and the cells that each of them consists of.

Explained in book/teaching.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from nbformat import NotebookNode

_HEADING = re.compile(r"^### Exercise (\d+): (\S.*) \((\d+) minutes\)$", re.MULTILINE)
_FOLD = re.compile(
    r"<details>\n?<summary>(Hint|Explanation|Points of a good answer)</summary>\n\n.*\n\n</details>",
    re.DOTALL,
)
_CALL = re.compile(r"check\.(\w+)\(([a-z]\w*(?:, [a-z]\w*)*)\)")
_FORMS = re.compile(r"question( solution)?|task points|task code check (hint )?solution explanation")


class ExerciseCells(NamedTuple):
    """The cells of an exercise; those that its form does not have are None.

    Attributes:
        task: the heading with the task, or with a question that the page answers.
        stub: the cell to write in.
        check_name: name of the check in the chapter's module, or "" if the exercise has none.
        names: the arguments of the check, which the stub defines.
        explanation: or the points of a good answer.
        in_page: whether it stands before the section *Exercises*, so that the page goes on with its solution.
    """

    number: int
    task: NotebookNode
    stub: NotebookNode | None
    check: NotebookNode | None
    check_name: str
    names: list[str]
    solution: NotebookNode | None
    explanation: NotebookNode | None
    in_page: bool


def kind_of(cell: NotebookNode) -> str:
    """The kind of a cell, or "" for others.

    It is "question", "task", "code", "check", "solution", "hint", "explanation" or "points".
    """
    tags = set(cell.metadata.get("tags", ()))
    if cell.cell_type == "code":
        return next((tag for tag in ("check", "solution") if tag in tags), "code")
    if fold := _FOLD.fullmatch(cell.source.strip()):
        return fold[1].split()[0].lower()
    if _HEADING.search(cell.source):
        return "question" if "<!-- quiz " in cell.source else "task"
    return ""


def exercises_of(notebook: NotebookNode) -> Iterator[ExerciseCells]:
    """The exercises of a chapter, in order.

    Raises:
        ValueError: the cells of one are not a question, a task and points, or task, stub, check, hint (which may be
            missing), solution and explanation; or the check is not one call.
    """
    cells, kinds = notebook.cells, [kind_of(cell) for cell in notebook.cells]
    section = next((i for i, cell in enumerate(cells) if cell.source.startswith("## Exercises")), len(cells))
    for first in (i for i, kind in enumerate(kinds) if kind in ("task", "question")):
        number = int(_HEADING.search(cells[first].source)[1])
        ends = ("task", "question", "")
        last = next((i for i in range(first + 1, len(cells)) if kinds[i] in ends), len(cells))
        form = " ".join(kinds[first:last])
        if not _FORMS.fullmatch(form):
            raise ValueError(
                f"exercise {number} has the cells [{form}]; expected a question, or a task and folded points of a good "
                "answer, or a task, a cell to write in, one tagged check, then a folded hint, solution and explanation"
            )
        by_kind = dict(zip(kinds[first:last], cells[first:last], strict=True))
        check = by_kind.get("check")
        call = _CALL.fullmatch(check.source) if check else None
        if check and not call:
            raise ValueError(f"exercise {number}: the check must be one call, got {check.source!r}")
        yield ExerciseCells(
            number,
            cells[first],
            by_kind.get("code"),
            check,
            call[1] if call else "",
            call[2].split(", ") if call else [],
            by_kind.get("solution"),
            by_kind.get("explanation") or by_kind.get("points"),
            in_page=first < section,
        )
