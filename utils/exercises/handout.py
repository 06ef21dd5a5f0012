"""Chapters to hand out: without solutions and explanations, with checks and the metadata of nbgrader.

``python -m utils.exercises.handout FOLDER chapters/masked_softmax.ipynb …`` writes them; `make handout` calls it.

Explained in book/teaching.
"""

import argparse
import copy
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from utils.corpus.whole_files import write_whole
from utils.exercises.form import exercises_of


def handout(notebook: NotebookNode) -> NotebookNode:
    """A copy without solutions and explanations, in which nbgrader finds the exercises.

    Solutions before the section *Exercises* stay, since the page goes on with them.

    The cell that the reader of an exercise fills is marked as the answer. After the check is a cell that only nbgrader
    needs: its value, 1 or 0, is the number of points. An exercise without a check gets a cell for a text, for which
    the teacher gives the points.

    Raises:
        ValueError: the exercises of the notebook do not have their form.
    """
    new_notebook = copy.deepcopy(notebook)
    cells = new_notebook.cells
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
            cells.insert(cells.index(exercise.check) + 1, _points(exercise.number))
        if not exercise.in_page:
            for answer in filter(None, (exercise.solution, exercise.explanation)):
                cells.remove(answer)
    return new_notebook


def _points(number: int) -> NotebookNode:
    cell = new_code_cell(
        "# The points for nbgrader: 1 if the check above found the answer right.\n"
        f"from utils.exercises.progress import points\n\npoints(check, {number})",
        id=f"points-{number}",
        metadata={"tags": ["hide-cell"], "jupyter": {"source_hidden": True}},
    )
    _tell_nbgrader(cell, f"points-{number}", grade=True, locked=True)
    return cell


def _tell_nbgrader(
    cell: NotebookNode, name: str, *, grade: bool = False, locked: bool = False, solution: bool = False
) -> None:
    told = {"grade_id": name, "grade": grade, "locked": locked, "solution": solution}
    told |= {"points": 1} if grade else {}
    cell.metadata["nbgrader"] = {"schema_version": 3, "task": False} | told


def write_new(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files into a folder, where no file is replaced by another one.

    Args:
        files: names, relative to the folder, and contents.
        folder: made if it does not exist.

    Raises:
        FileExistsError: there are other files with these names. Nothing is written then.
    """
    places = {folder / name: content for name, content in files.items()}
    others = [
        str(path)
        for path, content in places.items()
        if path.exists() and not (path.is_file() and path.read_bytes() == content)
    ]
    if others:
        raise FileExistsError(f"{', '.join(others)} would be replaced: move it, or name another folder")
    for path, content in places.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write chapters without their solutions.")
    parser.add_argument("folder", type=Path, help="where to write them")
    parser.add_argument("chapters", type=Path, nargs="+", help="notebooks of the course")
    options = parser.parse_args(arguments)
    files: dict[str, bytes] = {}
    written = []
    for path in options.chapters:
        if path.name in files:
            parser.error(f"two chapters are called {path.name}")
        notebook = nbformat.read(path, as_version=4)
        files[path.name] = (nbformat.writes(handout(notebook)) + "\n").encode()
        given = [str(each.number) for each in exercises_of(notebook) if each.check and each.in_page]
        kept = f", with the solution of exercise {' and '.join(given)}" if given else ""
        written.append(f"{options.folder / path.name}{kept}")
        # Stored runs that chapters read.
        for study in filter(Path.is_file, (path.parent / "studies").glob("*")):
            files[f"studies/{study.name}"] = study.read_bytes()
    try:
        write_new(files, options.folder)
    except FileExistsError as error:
        sys.exit(str(error))
    print(*written, sep="\n")


if __name__ == "__main__":
    main()
