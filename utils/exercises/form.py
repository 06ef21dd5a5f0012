"""The exercises of a chapter's notebook, and the cells that each of them consists of.

Explained in book/teaching.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from nbformat import NotebookNode

_HEADING = re.compile(r"^### Exercise (\d+): (\S.*) \((\d+) minutes\)$", re.MULTILINE)
_FOLD = re.compile(
    r"<details>\n?<summary>(Hint|Explanation|An answer)</summary>\n\n.*\n\n</details>", re.DOTALL
)
_CALL = re.compile(r"check\.(\w+)\(([a-z]\w*(?:, [a-z]\w*)*)\)")


class ExerciseCells(NamedTuple):
    """An exercise: the cell to write in, the check, and the folded cells.

    Attributes:
        check_name: name of the check in the chapter's module.
        names: the arguments of the check, which the stub defines.
        solution: None for a question that is answered in words.
        explanation: or an example of an answer in words.
    """

    number: int
    stub: NotebookNode
    check: NotebookNode
    check_name: str
    names: list[str]
    solution: NotebookNode | None
    explanation: NotebookNode


def kind_of(cell: NotebookNode) -> str:
    """The kind of a cell: "task", "check", "solution", "hint", "explanation", "an answer", "code", or "" for others."""
    tags = set(cell.metadata.get("tags", ()))
    if cell.cell_type == "code":
        return next((tag for tag in ("check", "solution") if tag in tags), "code")
    if fold := _FOLD.fullmatch(cell.source.strip()):
        return fold[1].lower()
    return "task" if _HEADING.search(cell.source) else ""


def exercises_of(notebook: NotebookNode) -> Iterator[ExerciseCells]:
    """The exercises of a chapter, in order.

    Raises:
        ValueError: the cells of one are not task, stub, check, hint (which may be missing), solution and explanation,
            or task, stub, check and an answer; or the check is not one call.
    """
    cells, kinds = notebook.cells, [kind_of(cell) for cell in notebook.cells]
    for first in (i for i, kind in enumerate(kinds) if kind == "task"):
        number = int(_HEADING.search(cells[first].source)[1])
        last = next((i for i in range(first + 1, len(cells)) if kinds[i] in ("task", "")), len(cells))
        form = " ".join(kinds[first:last])
        if not re.fullmatch(r"task code check (hint )?(solution explanation|an answer)", form):
            raise ValueError(
                f"exercise {number} has the cells [{form}]; expected a task, a cell to write in, one tagged check, "
                "then a folded hint, solution and explanation, or for an open exercise a folded answer"
            )
        by_kind = dict(zip(kinds[first:last], cells[first:last], strict=True))
        call = _CALL.fullmatch(by_kind["check"].source)
        if call is None:
            source = by_kind["check"].source
            raise ValueError(f"exercise {number}: the cell of the check must be one call, got {source!r}")
        explanation = by_kind.get("explanation") or by_kind["an answer"]
        yield ExerciseCells(
            number,
            by_kind["code"],
            by_kind["check"],
            call[1],
            call[2].split(", "),
            by_kind.get("solution"),
            explanation,
        )
