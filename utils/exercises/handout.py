"""Chapters to hand out: without solutions and explanations, with checks.

``python -m utils.exercises.handout FOLDER chapters/masked_softmax.ipynb …`` writes them; `make handout` calls it.

Explained in book/teaching.
"""

import argparse
import copy
import re
import sys
from collections.abc import Container, Mapping, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from utils.corpus.whole_files import write_whole
from utils.exercises.form import exercises_of

_LINK = re.compile(r"\[(?P<text>[^\[\]]+)\]\((?P<target>[^()\s]+)\)")


def handout(notebook: NotebookNode) -> NotebookNode:
    """A copy without solutions and explanations.

    Solutions before the section *Exercises* stay, since the page goes on with them. An exercise without a check gets a
    cell for a text.

    Raises:
        ValueError: the exercises of the notebook do not have their form.
    """
    new_notebook = copy.deepcopy(notebook)
    cells = new_notebook.cells
    for exercise in list(exercises_of(new_notebook)):
        if exercise.check is None:
            exercise.task.source = exercise.task.source.partition("<details>")[0].rstrip()
            text = new_markdown_cell("*Write your answer here.*", id=f"exercise-{exercise.number}")
            cells.insert(cells.index(exercise.task) + 1, text)
        else:
            exercise.check.outputs = []
        if not exercise.in_page:
            for answer in filter(None, (exercise.solution, exercise.explanation)):
                cells.remove(answer)
    return new_notebook


def without_dead_links(notebook: NotebookNode, folder: Path, given: Container[str]) -> NotebookNode:
    """The notebook, where links to files of the course that are not handed out became their text.

    Args:
        notebook: changed in place.
        folder: of the chapter, from which its links lead.
        given: the names of the files that are handed out, relative to their folder.
    """

    def shorten(link: re.Match) -> str:
        path = link["target"].partition("#")[0]
        is_ours = path and (folder / path).exists()  # in code, [i](x) is no link
        return link["text"] if is_ours and path not in given else link[0]

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _LINK.sub(shorten, cell.source)
    return notebook


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
    names = [path.name for path in options.chapters]
    if twice := {name for name in names if names.count(name) > 1}:
        parser.error(f"two chapters are called {min(twice)}")
    # Stored runs that chapters read.
    studies = {study for path in options.chapters for study in (path.parent / "studies").glob("*")}
    files = {f"studies/{study.name}": study.read_bytes() for study in studies if study.is_file()}
    given = {*names, *files}
    written = []
    for path in options.chapters:
        notebook = nbformat.read(path, as_version=4)
        new_notebook = without_dead_links(handout(notebook), path.parent, given)
        files[path.name] = (nbformat.writes(new_notebook) + "\n").encode()
        solved = [str(each.number) for each in exercises_of(notebook) if each.check and each.in_page]
        kept = f", with the solution of exercise {' and '.join(solved)}" if solved else ""
        written.append(f"{options.folder / path.name}{kept}")
    try:
        write_new(files, options.folder)
    except FileExistsError as error:
        sys.exit(str(error))
    print(*written, sep="\n")


if __name__ == "__main__":
    main()
