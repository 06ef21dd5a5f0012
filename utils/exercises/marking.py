"""Mark notebooks that students have returned: ``python -m utils.exercises.marking FOLDER``, which `make mark` calls.

It is no protection against somebody who wants to do harm. Explained in book/teaching.
"""

import argparse
import asyncio
import csv
import io
import itertools
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import nbclient
import nbformat
from tqdm import tqdm

from utils.corpus.whole_files import write_whole
from utils.exercises.form import ExerciseCells, exercises_of
from utils.exercises.progress import VARIABLE, stored_results

CHAPTERS = Path(__file__).parents[2] / "chapters"
#: Seconds after which a cell is interrupted, so that the next ones run, and after which a notebook is stopped.
CELL_LIMIT, NOTEBOOK_LIMIT = 300, 1200
#: How names begin that Jupyter and macOS add by themselves.
COPIES = (".", "__MACOSX")
#: How the names of files end that may hold notebooks.
ARCHIVES = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".7z", ".rar")
#: The encoding of tables that spreadsheet programs read as UTF-8.
_ENCODING = {"encoding": "utf-8-sig", "errors": "backslashreplace", "newline": ""}


class Mark(NamedTuple):
    """A row of the table of marks."""

    file: str
    chapter: str  #: empty if there is no notebook that could be run
    exercise: str
    solution: str  #: whether it was "handed out" with the exercise or "kept back"
    result: str
    message: str


class _Quiet(nbclient.NotebookClient):
    async def async_start_new_kernel(self, **options: object) -> None:
        """Let Ctrl-C end all notebooks, where nbclient would end this one alone."""
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
        await super().async_start_new_kernel(**options)

    def output(self, *_: object) -> None:
        """Keep no outputs: they may be without end."""


def run(notebook: nbformat.NotebookNode, results: Path) -> tuple[dict[int, str], str]:
    """Run a notebook in a folder of its own, where its checks write ``results``.

    Returns:
        What happened to the cells that did not come to their end, by place, and what ended the notebook, if anything.
    """
    happened: dict[int, str] = {}

    def note(cell: nbformat.NotebookNode, cell_index: int, execute_reply: dict) -> None:
        name, text = (str(execute_reply["content"].get(part, "")) for part in ("ename", "evalue"))
        raised = f"raised {name}: {' '.join(text.split())[:200]}"
        is_stopped = name == "KeyboardInterrupt"
        happened[cell_index] = f"was stopped after {CELL_LIMIT} seconds" if is_stopped else raised

    options = {"kernel_name": "python3", "allow_errors": True, "interrupt_on_timeout": True}
    # The kernel would warn for each notebook that other users of this computer may listen.
    options |= {"on_cell_error": note, "extra_arguments": ["--IPKernelApp.log_level=ERROR"]}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        shutil.copytree(CHAPTERS / "studies", Path(place) / "studies")  # stored runs that chapters read
        client = _Quiet(notebook, timeout=CELL_LIMIT, **options)
        running = client.async_execute(cwd=place, env=os.environ | {VARIABLE: str(results)})
        try:
            asyncio.run(asyncio.wait_for(running, NOTEBOOK_LIMIT))
        except TimeoutError:
            return happened, f"the notebook was stopped after {NOTEBOOK_LIMIT} seconds, before this check"
        except nbclient.exceptions.DeadKernelError:
            return happened, "the kernel died before this check"
    return happened, ""


def why_unchecked(
    notebook: nbformat.NotebookNode, exercise: ExerciseCells, happened: dict[int, str], end: str
) -> str:
    """Why the check of an exercise has stored no result, ``happened`` and ``end`` being what :func:`run` returns."""
    calls = re.compile(rf"\.{exercise.check_name}\b(?!.*record=False)", re.DOTALL)
    sources = [cell.source if cell.cell_type == "code" else "" for cell in notebook.cells]
    places = [place for place, source in enumerate(sources) if calls.search(source)]
    if not places:
        return "the notebook does not call its check"
    why = f"its check {happened.get(places[-1], 'stored no result')}"
    first = min(happened, default=places[-1])
    if first < places[-1]:
        number = sum(cell.cell_type == "code" for cell in notebook.cells[: first + 1])
        why += f"; before it, code cell {number} {happened[first]}"
    return end if end and places[-1] not in happened else why


def marks_of(path: Path, file: str) -> list[Mark]:
    """The marks of the exercises of a notebook, which the table calls ``file``; one row if it cannot be marked."""
    try:
        notebook = nbformat.reads(json.dumps(json.loads(path.read_bytes())), as_version=4)
        source = "\n".join(cell.source for cell in notebook.cells)
        imported = re.findall(r"from utils\.exercises import (\w+)", source)
        chapter = next((name for name in imported if (CHAPTERS / f"{name}.ipynb").exists()), None)
        if chapter is None:
            return [_failed(file, "it imports the checks of no chapter")]
        with tempfile.TemporaryDirectory() as place:
            happened, end = run(notebook, Path(place) / "results.json")
            found = stored_results(Path(place) / "results.json").get(chapter, {})
        marks = []
        for exercise in exercises_of(nbformat.read(CHAPTERS / f"{chapter}.ipynb", as_version=4)):
            if exercise.check is not None:
                why = why_unchecked(notebook, exercise, happened, end)
                result = found.get(str(exercise.number), ["not checked", why])
                solution = "handed out" if exercise.in_page else "kept back"
                marks.append(Mark(file, chapter, str(exercise.number), solution, *result))
        return marks
    except Exception as error:  # a file can be broken in more ways than nbformat has names for
        return [_failed(file, f"it cannot be run as a notebook: {error!r}"[:300])]


def _failed(file: str, why: str) -> Mark:
    """The row of a file that cannot be marked."""
    return Mark(file, "", "", "", "failed", why)


def totals_of(marks: Iterable[Mark]) -> list[tuple[str | int, ...]]:
    """For each student, by the first folder of the files, or the file where it lies in none, in alphabetical order:
    how many exercises are right, and how many there are in all chapters that anybody has returned; the same for those
    whose solution was kept back; how many files failed; and which of these chapters the student has not returned. An
    exercise that is in several files counts once, and is right if it is right in one of them. Names that look the same
    are one name, however a computer writes their accents.

    >>> row = Mark("ann/x.ipynb", "bert", "1", "handed out", "right", "")
    >>> wrong = row._replace(file="ann/y.ipynb", result="wrong")
    >>> totals_of([row, wrong, row._replace(file="ben/x.ipynb", chapter="gpt", solution="kept back")])
    [('ann', 1, 2, 0, 1, 0, 'gpt'), ('ben', 1, 2, 1, 1, 0, 'bert')]
    """
    students: dict[str, list[Mark]] = {}
    for mark in marks:
        students.setdefault(unicodedata.normalize("NFC", Path(mark.file).parts[0]), []).append(mark)
    asked = {mark[1:4] for own in students.values() for mark in own if mark.chapter}
    totals = []
    for student, own in sorted(students.items()):
        right = {mark[1:4] for mark in own if mark.result == "right"}
        alone = [{each for each in some if each[2] == "kept back"} for some in (right, asked)]
        failed = sum(not mark.chapter for mark in own)
        missing = {chapter for chapter, *_ in asked} - {mark.chapter for mark in own}
        totals.append((student, len(right), len(asked), *map(len, alone), failed, ", ".join(sorted(missing))))
    return totals


def handed_in(folder: Path) -> Iterator[tuple[Path, str]]:
    """The notebooks below a folder, in alphabetical order, and what else may hold some, with why it is not marked."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(COPIES):
            continue
        if path.is_symlink() and path.is_dir():
            yield path, "it is a link to a folder: put the folder in its place"
        elif path.is_dir():
            try:
                yield from handed_in(path)
            except PermissionError:
                yield path, "you may not read this folder"
        elif path.name.lower().endswith(ARCHIVES):
            yield path, "it is an archive: unpack it"
        elif ".ipynb" in path.name.lower():
            yield path, "" if path.is_file() else "it is no file"


def free_names(folder: Path) -> tuple[Path, Path]:
    """Names for the two tables that no file has yet: a teacher may have written into earlier ones."""
    ends = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
    pairs = ((folder / f"marks{end}.csv", folder / f"totals{end}.csv") for end in ends)
    return next(pair for pair in pairs if not any(map(Path.exists, pair)))


def _plain(row: Iterable[object]) -> list[str]:
    """The cells of a row; a spreadsheet program would compute a text that begins like a formula."""
    return [re.sub(r"^(?=[=+\-@\t\r])", "'", str(cell)) for cell in row]


def mark_all(folder: Path) -> None:
    """Write two tables into the folder: the marks of each notebook below it as soon as it has run, and the totals."""
    found = {path.relative_to(folder): why for path, why in handed_in(folder)}
    left_out = [f"{name}: {why}" for name, why in found.items() if why]
    if len(left_out) == len(found):
        sys.exit("\n".join([f"there is no notebook in {folder}", *left_out]))
    students = {name.parts[0] for name in found}
    for path in folder.iterdir():
        if path.is_dir() and path.name not in students and not path.name.startswith(COPIES):
            found[Path(path.name)] = "there is no notebook in this folder"
    print(f"A notebook has {NOTEBOOK_LIMIT // 60} minutes, and each of its cells {CELL_LIMIT // 60}.")
    place, place_of_totals = free_names(folder)
    marks: list[Mark] = []
    with place.open("x", buffering=1, **_ENCODING) as table:
        rows = csv.writer(table)
        rows.writerow(Mark._fields)
        for name in (shown := tqdm(sorted(found))):
            shown.set_description(str(name))
            why = found[name]
            own = [_failed(str(name), why)] if why else marks_of(folder / name, str(name))
            rows.writerows(map(_plain, own))
            marks += own
    heads = ("student", "right", "of", "right without solution", "of these", "failed files", "not returned")
    text = io.StringIO(newline="")
    csv.writer(text).writerows(map(_plain, [heads, *totals_of(marks)]))
    write_whole(place_of_totals, text.getvalue().encode(_ENCODING["encoding"], _ENCODING["errors"]))
    for failed in (row for row in marks if not row.chapter):
        print(f"not marked: {failed.file}: {failed.message}")
    print(
        f"The result of each exercise is in {place}, and the totals of each student are in {place_of_totals}."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Mark the notebooks that students have returned.")
    parser.add_argument("folder", type=Path, help="with their notebooks, in which the tables are written")
    folder = parser.parse_args(arguments).folder
    if not folder.is_dir():
        parser.error(f"there is no folder {folder}")
    mark_all(folder)


if __name__ == "__main__":
    main()
