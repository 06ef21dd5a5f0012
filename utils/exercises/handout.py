"""Chapters to hand out: without solutions and explanations, with checks and the metadata of nbgrader.

``python -m utils.exercises.handout FOLDER chapters/masked_softmax.ipynb …`` writes them; `make handout` calls it.

Explained in book/teaching.
"""

import argparse
import copy
import shutil
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from utils.exercises.form import ExerciseCells, exercises_of


def handout(notebook: NotebookNode) -> NotebookNode:
    """A copy without solutions and explanations, in which nbgrader finds the exercises.

    Solutions before the section *Exercises* stay, since the page goes on with them.

    The cell that the reader of an exercise fills is marked as the answer. In place of the solution is a cell that only
    nbgrader needs: its value, 1 or 0, is the number of points. An exercise without a check gets a cell for a text, for
    which the teacher gives the points.

    Raises:
        ValueError: the exercises of the notebook do not have their form.
    """
    new_notebook = copy.deepcopy(notebook)
    cells = new_notebook.cells
    section = next(cell for cell in cells if cell.source.startswith("## Exercises"))
    for exercise in list(exercises_of(new_notebook)):
        name = f"exercise-{exercise.number}"
        if exercise.check is None:
            exercise.task.source = exercise.task.source.partition("<details>")[0].rstrip()
            text = new_markdown_cell("*Write your answer here.*", id=name)
            _tell_nbgrader(text, name, grade=True, solution=True)
            cells.insert(cells.index(exercise.task) + 1, text)
        else:
            _tell_nbgrader(exercise.stub, name, solution=True)
            _tell_nbgrader(exercise.check, f"check-{exercise.number}", locked=True)
            exercise.check.outputs = []
            cells.insert(cells.index(exercise.check) + 1, _points(exercise))
        if cells.index(exercise.task) > cells.index(section):
            for answer in filter(None, (exercise.solution, exercise.explanation)):
                cells.remove(answer)
    return new_notebook


def _points(exercise: ExerciseCells) -> NotebookNode:
    names = ", ".join(exercise.names)
    cell = new_code_cell(
        f"# The points for nbgrader: 1 if the answer is right.\n"
        f"float(bool(check.{exercise.check_name}({names}, record=False)))",
        id=f"points-{exercise.number}",
        metadata={"tags": ["hide-cell"], "jupyter": {"source_hidden": True}},
    )
    _tell_nbgrader(cell, f"points-{exercise.number}", grade=True, locked=True)
    return cell


def _tell_nbgrader(
    cell: NotebookNode, name: str, *, grade: bool = False, locked: bool = False, solution: bool = False
) -> None:
    told = {"grade_id": name, "grade": grade, "locked": locked, "solution": solution}
    told |= {"points": 1} if grade else {}
    cell.metadata["nbgrader"] = {"schema_version": 3, "task": False} | told


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write chapters without their solutions.")
    parser.add_argument("folder", type=Path, help="where to write them")
    parser.add_argument("chapters", type=Path, nargs="+", help="notebooks of the course")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    for path in options.chapters:
        target = options.folder / path.name
        nbformat.write(handout(nbformat.read(path, as_version=4)), target)
        print(target)
        if (studies := path.parent / "studies").is_dir():  # stored runs that chapters read
            shutil.copytree(studies, options.folder / "studies", dirs_exist_ok=True)


if __name__ == "__main__":
    main()
