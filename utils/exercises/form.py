"""The exercises of a chapter's notebook, and the cells that each of them consists of.

Explained in book/teaching.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

_HEADING = re.compile(r"^### Exercise (\d+): (\S.*) \((\d+) minutes\)$", re.MULTILINE)
_FOLD = re.compile(
    r"<details>\n?<summary>(Hint|Explanation|An answer)</summary>\n\n.*\n\n</details>", re.DOTALL
)


@dataclass
class ExerciseCells:
    """An exercise: its task, the cell to write in, the check in one line, and the folded cells.

    An open exercise has no solution, and an example of an answer in place of the explanation.
    """

    number: int
    task: NotebookNode
    stub: NotebookNode
    check: NotebookNode
    hint: NotebookNode | None
    solution: NotebookNode | None
    explanation: NotebookNode

    @property
    def names(self) -> list[str]:
        """The arguments of the check: names that the stub defines."""
        return [argument.id for argument in self._call.args if isinstance(argument, ast.Name)]

    @property
    def check_name(self) -> str:
        """Name of the check in the chapter's module."""
        return self._call.func.attr

    @property
    def _call(self) -> ast.Call:
        return ast.parse(self.check.source).body[0].value


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
            or task, stub, check and an answer.
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
        yield ExerciseCells(
            number,
            task=by_kind["task"],
            stub=by_kind["code"],
            check=by_kind["check"],
            hint=by_kind.get("hint"),
            solution=by_kind.get("solution"),
            explanation=by_kind.get("explanation") or by_kind["an answer"],
        )
