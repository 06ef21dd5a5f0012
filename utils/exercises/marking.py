"""Mark a folder of notebooks that students have returned: run the checks of the chapters on their answers.

``python -m utils.exercises.marking FOLDER`` writes ``marks.csv`` and ``marks.html`` into the folder; `make mark` calls
it. Each notebook runs in a process of its own, in an empty folder, with a time limit and, where the system can, without
network. So a mistake in one notebook does not disturb the others. It is not a protection against somebody who wants to
do harm.

Explained in book/teaching.
"""

import argparse
import contextlib
import csv
import html
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode

from utils.exercises.checking import TimeUp, time_limit
from utils.exercises.form import exercises_of
from utils.exercises.progress import VARIABLE

CHAPTERS = Path(__file__).parents[2] / "chapters"
#: Seconds for one cell, so that a cell that never ends leaves time for the others.
CELL_LIMIT = 1200.0
_IMPORT = re.compile(r"from utils\.exercises import (\w+) as check")
_NOT_RUN = re.compile(r"^\s*(check\.\w+\(|float\(bool\(check\.|progress\()", re.MULTILINE)


class Mark(NamedTuple):
    """A row of the table; ``message`` is the answer in words, or what the check says about the answer.

    ``result`` is "right", "wrong", "unfinished", "open" (for the teacher to read), or "failed" if nothing was checked.
    """

    student: str
    chapter: str
    exercise: str
    result: str
    message: str


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks in a folder, without the hidden ones and the copies that macOS and Jupyter add by themselves."""
    return sorted(
        path
        for path in folder.rglob("*.ipynb")
        if path.is_file()
        and not any(part.startswith((".", "__MACOSX")) for part in path.relative_to(folder).parts)
    )


def read_returned(path: Path) -> NotebookNode:
    """A returned notebook. Some programs save it with a byte-order mark or in UTF-16, which is no fault of the answers.

    Raises:
        ValueError: the file holds no JSON; the message says why. Other errors say that it holds no notebook.
    """
    content = path.read_bytes()
    if not content:
        raise ValueError("the file is empty")
    try:
        stored = json.loads(content)
    except UnicodeDecodeError as error:
        raise ValueError("its text is neither in UTF-8 nor in UTF-16") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"its text is not JSON ({error})") from error
    return nbformat.reads(json.dumps(stored), as_version=4)


def chapter_of(notebook: NotebookNode, path: Path) -> str | None:
    """The chapter that a returned notebook belongs to, by its import of the checks or else by its file's name."""
    source = "\n".join(cell.source for cell in notebook.cells)
    chapters = sorted((chapter.stem for chapter in CHAPTERS.glob("*.ipynb")), key=len, reverse=True)
    names = [*_IMPORT.findall(source), *(name for name in chapters if name in path.stem)]
    return next((name for name in names if name in chapters), None)


def student_of(path: Path, folder: Path, chapter: str | None) -> str:
    """The student of a notebook: the name of its folder, or the name of the file without that of the chapter."""
    inside = path.relative_to(folder).parent
    if inside.parts:
        return str(inside)
    return path.stem.replace(chapter or "", "").strip(" _-.") or path.stem


# ---- In the process of one notebook ----


def mark_answers(path: Path, chapter: str, results: Path) -> None:
    """Run the cells of a notebook, then the checks; write a line of JSON for each exercise as it is marked."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    for cell in read_returned(path).cells:
        if cell.cell_type == "code" and not _NOT_RUN.search(cell.source):
            try:
                with time_limit(CELL_LIMIT):
                    shell.run_cell(cell.source, silent=True)
            except TimeUp:
                print(f"a cell was stopped after {CELL_LIMIT:.0f} seconds: {cell.source[:80]!r}")
    checks = importlib.import_module(f"utils.exercises.{chapter}")
    with results.open("a", encoding="utf-8") as file:
        for exercise in exercises_of(nbformat.read(CHAPTERS / f"{chapter}.ipynb", as_version=4)):
            answers = [shell.user_ns.get(name, ...) for name in exercise.names]
            report = getattr(checks, exercise.check_name)(*answers, hint=0, record=False)
            in_words = report.status == "open"
            message = str(answers[0]).strip() if in_words else report.wrong or " ".join(report.right)
            print(json.dumps([exercise.number, report.status, message]), file=file, flush=True)


# ---- In the process of the command ----


def without_network() -> list[str]:
    """The words to put before a command so that it has no network; none if the system cannot do this."""
    prefix = ["unshare", "--map-root-user", "--net"]
    try:
        subprocess.run([*prefix, "true"], capture_output=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return []
    return prefix


def marks_of(path: Path, folder: Path, *, seconds: float, prefix: Sequence[str] = ()) -> Iterator[Mark]:
    """The rows of one notebook, whatever it is or does."""
    try:
        notebook = read_returned(path)
    except Exception as error:  # a notebook can be broken in more ways than nbformat has names for
        message = f"{path.name} is not a notebook: {error}"[:300]
        yield Mark(student_of(path, folder, None), "", "", "failed", message)
        return
    chapter = chapter_of(notebook, path)
    student = student_of(path, folder, chapter)
    if chapter is None:
        yield Mark(student, "", "", "failed", f"{path.name} belongs to no chapter of the course")
        return
    with tempfile.TemporaryDirectory() as place:
        results = Path(place) / "results.jsonl"
        results.touch()
        (Path(place) / "studies").symlink_to(CHAPTERS / "studies")  # stored runs that chapters read
        call = [*prefix, sys.executable, "-m", "utils.exercises.marking", "--one", str(path.resolve())]
        why = run_to_the_end([*call, chapter, str(results)], Path(place), seconds)
        rows = {row[0]: row for row in map(json.loads, results.read_text("utf-8").splitlines())}
    for exercise in exercises_of(nbformat.read(CHAPTERS / f"{chapter}.ipynb", as_version=4)):
        _, result, message = rows.get(exercise.number, (exercise.number, "failed", why))
        yield Mark(student, chapter, str(exercise.number), result, message)


def run_to_the_end(call: Sequence[str], place: Path, seconds: float) -> str:
    """Run the process of a notebook, and end all processes that it started; return why results may be missing."""
    path = os.pathsep.join(filter(None, [str(CHAPTERS.parent), os.environ.get("PYTHONPATH")]))
    own = {VARIABLE: "", "PYTHONPATH": path, "MPLBACKEND": "agg", "IPYTHONDIR": str(place)}
    with (place / "log.txt").open("w+b") as log:
        streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
        process = subprocess.Popen(call, cwd=place, env=os.environ | own, **streams, start_new_session=True)
        try:
            process.wait(seconds)
            why = "the notebook's process ended before this check"
        except subprocess.TimeoutExpired:
            why = f"the notebook was stopped after {seconds:.0f} seconds"
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended
                os.killpg(process.pid, 9)
            process.wait()
    return why


def write_tables(marks: Sequence[Mark], folder: Path) -> tuple[Path, Path]:
    """Write the marks as CSV and as a page; returns both paths."""
    table, page = folder / "marks.csv", folder / "marks.html"
    with table.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(Mark._fields)
        # A spreadsheet program would compute a text that begins like a formula.
        writer.writerows(
            [f"'{cell}" if cell[:1] in "=+-@\t\r" and cell else cell for cell in mark] for mark in marks
        )
    rows = "\n".join(
        f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in mark)}</tr>" for mark in marks
    )
    heads = "".join(f"<th>{name}</th>" for name in Mark._fields)
    page.write_text(
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Marks</title>\n'
        "<style>body{font-family:sans-serif}td,th{border:1px solid #bbb;padding:.3em .6em;text-align:left;"
        "vertical-align:top;white-space:pre-wrap}table{border-collapse:collapse}</style>\n"
        f"<h1>Marks</h1>\n<table>\n<tr>{heads}</tr>\n{rows}\n</table>\n</html>\n",
        encoding="utf-8",
    )
    return table, page


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Mark a folder of returned notebooks.")
    folder_help = "the folder, with one folder per student inside it, or with all files side by side"
    parser.add_argument("folder", type=Path, help=folder_help)
    parser.add_argument("--seconds", type=float, default=3600, help="the time that a notebook may take")
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder")
    paths = notebooks_in(options.folder)
    if not paths:
        parser.error(f"there is no notebook in {options.folder}")
    prefix = without_network()
    if not prefix:
        print("This system cannot take the network from a process: the notebooks run with it.")
    marks = []
    for path in paths:
        rows = list(marks_of(path, options.folder, seconds=options.seconds, prefix=prefix))
        num_right = sum(row.result == "right" for row in rows)
        print(f"{path.relative_to(options.folder)}: {num_right} of {len(rows)} right")
        marks += rows
    print("written:", *write_tables(marks, options.folder))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        mark_answers(Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))
    else:
        main()
