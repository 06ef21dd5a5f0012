"""Handouts have no solutions, and returned notebooks get the right marks, even broken ones."""

import ast
import csv
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_notebook

from utils.exercises import marking
from utils.exercises.form import ExerciseCells, exercises_of
from utils.exercises.handout import handout
from utils.exercises.handout import main as write_handouts
from utils.exercises.marking import (
    Mark,
    chapter_of,
    main,
    marks_of,
    notebooks_in,
    read_returned,
    student_of,
    without_network,
    write_tables,
)

pytestmark = pytest.mark.browser

CHAPTERS = sorted((Path(__file__).parents[3] / "chapters").glob("*.ipynb"))
#: Solutions in these chapters use variables of the lesson, so the whole lesson runs. None of them trains a model.
LESSON_NEEDED = {"masked_softmax", "nadaraya_watson", "dot_product_attention"}
MASKED = next(path for path in CHAPTERS if path.stem == "masked_softmax")


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def changes(statement: ast.stmt) -> set[str]:
    """The names whose values a statement sets or changes: `def x`, `x = 1`, `x[0] = 1`, `x.append(1)`."""
    names = {getattr(statement, "name", "")}
    for node in ast.walk(statement):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.Subscript(value=ast.Name(id=name), ctx=ast.Store())
                | ast.Call(func=ast.Attribute(value=ast.Name(id=name)))
            ):
                names.add(name)
    return names


def right_answer(exercise: ExerciseCells) -> str:
    """Code that gives the reader's names the chapter's solution: those of its statements that the answer needs."""
    if exercise.solution is None:
        return f"{exercise.names[0]} = 'All scores of the row are minus infinity. ' * 20"
    *code, final = ast.parse(exercise.solution.source).body
    values = ", ".join(map(ast.unparse, final.test.args))
    needed = [ast.parse(f"{', '.join(exercise.names)} = {values}")]
    for statement in reversed(code):
        used = {node.id for later in needed for node in ast.walk(later) if isinstance(node, ast.Name)}
        if used & changes(statement):
            needed.insert(0, statement)
    return "\n".join(map(ast.unparse, needed))


def filled(path: Path, answers: dict[int, str] | None = None) -> NotebookNode:
    """A handout with the solutions of the chapter as a student's answers, or with other code for some exercises."""
    stored = read(path)
    returned = handout(stored)
    stubs = {cell.id: cell for cell in returned.cells}
    for exercise in exercises_of(stored):
        stubs[exercise.stub.id].source = (answers or {}).get(exercise.number, right_answer(exercise))
    return returned


def without_training(notebook: NotebookNode) -> NotebookNode:
    """Only the exercises, and of the lesson the imports, functions and classes."""
    first = next(i for i, cell in enumerate(notebook.cells) if cell.source.startswith("### Exercise 1"))
    lesson = [cell for cell in notebook.cells[: first - 1] if cell.cell_type == "code"]
    for cell in lesson:
        body = ast.parse(cell.source).body
        kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
        cell.source = "\n".join(ast.unparse(statement) for statement in body if isinstance(statement, kinds))
    notebook.cells = [*lesson, *notebook.cells[first - 1 :]]
    return notebook


# ---- Handouts ----


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_handout_has_checks_and_no_solutions(path: Path) -> None:
    stored = read(path)
    copied = handout(stored)
    nbformat.validate(copied)
    text = nbformat.writes(copied)
    for exercise in exercises_of(stored):
        assert exercise.explanation.source not in [cell.source for cell in copied.cells]
        assert exercise.check.source in [cell.source for cell in copied.cells]
        if exercise.solution is not None:
            assert exercise.solution.source not in text
            assert f'"points-{exercise.number}"' in text
    assert "solution" not in [tag for cell in copied.cells for tag in cell.metadata.get("tags", ())]
    assert handout(stored) == copied, "the chapter itself is not changed"


def test_nbgrader_knows_answers_and_points() -> None:
    told = {
        cell.metadata.nbgrader.grade_id: cell
        for cell in handout(read(MASKED)).cells
        if "nbgrader" in cell.metadata
    }
    answer, check, points = (told[f"{name}-2"] for name in ("exercise", "check", "points"))
    kind = {"schema_version": 3, "task": False}
    assert answer.metadata.nbgrader == kind | {
        "grade_id": "exercise-2", "grade": False, "locked": False, "solution": True
    }  # fmt: skip
    assert check.metadata.nbgrader == kind | {
        "grade_id": "check-2", "grade": False, "locked": True, "solution": False
    }  # fmt: skip
    assert points.metadata.nbgrader == kind | {
        "grade_id": "points-2", "grade": True, "locked": True, "solution": False, "points": 1
    }  # fmt: skip
    assert points.source.endswith("float(bool(check.mask_from_ids(mask_from_ids, record=False)))")
    in_words = told["exercise-5"].metadata.nbgrader
    assert in_words.grade
    assert in_words.solution
    assert "points-5" not in told


def test_the_command_writes_handouts_and_their_studies(tmp_path: Path) -> None:
    write_handouts([str(tmp_path / "new" / "folder"), str(MASKED)])
    written = sorted(path.name for path in (tmp_path / "new" / "folder").iterdir())
    assert written == ["masked_softmax.ipynb", "studies"]


# ---- Marking ----


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[] if path == MASKED else pytest.mark.slow) for path in CHAPTERS],
    ids=lambda path: path.stem,
)
def test_the_solutions_of_a_chapter_are_marked_right(path: Path, tmp_path: Path) -> None:
    returned = tmp_path / "ann" / path.name
    returned.parent.mkdir()
    for module in ("utils", "torch"):  # the folder of a notebook is not searched for modules
        (returned.parent / f"{module}.py").write_text("raise SystemExit")
    notebook = filled(path)
    nbformat.write(notebook if path.stem in LESSON_NEEDED else without_training(notebook), returned)
    marks = list(marks_of(returned, tmp_path, seconds=3600, prefix=without_network()))
    assert {mark.student for mark in marks} == {"ann"}
    for mark, exercise in zip(marks, exercises_of(read(path)), strict=True):
        assert mark.result == ("right" if exercise.solution is not None else "open"), mark


def test_wrong_missing_and_broken_answers_are_rows(tmp_path: Path) -> None:
    returned = tmp_path / "masked_softmax_ben.ipynb"
    answers = {
        1: 'filled_with_zero = "a"',
        2: "def mask_from_ids(ids:",
        3: "raise RuntimeError('no')",
        4: "exit()",
    }
    notebook = without_training(filled(MASKED, answers))
    notebook.cells = [cell for cell in notebook.cells if not cell.source.startswith("check.")]
    nbformat.write(notebook, returned)
    marks = list(marks_of(returned, tmp_path, seconds=3600))
    assert {mark.student for mark in marks} == {"ben"}
    assert [mark.result for mark in marks] == ["wrong", *["unfinished"] * 3, "open"]
    assert "0 is a score like any other" in marks[0].message
    assert marks[4].message.startswith("All scores of the row")


@pytest.mark.slow
def test_marks_are_kept_when_a_process_dies(tmp_path: Path) -> None:
    returned = tmp_path / "masked_softmax_cem.ipynb"
    dies = "def mask_from_ids(ids):\n    import os, signal\n    os.kill(os.getpid(), signal.SIGKILL)"
    nbformat.write(without_training(filled(MASKED, {2: dies})), returned)
    marks = list(marks_of(returned, tmp_path, seconds=3600))
    assert [mark.result for mark in marks] == ["right", *["failed"] * 4]
    assert marks[1].message == "the notebook's process ended before this check"


@contextmanager
def named_pipe(path: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The ends for reading and for writing of a new pipe, which other processes open by its name."""
    os.mkfifo(path)
    with (
        os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as reading,
        path.open("wb", buffering=0) as writing,
    ):
        yield reading, writing


def test_an_endless_process_is_stopped_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Endless(subprocess.Popen):
        """The time of this process is up when it has started all that it starts."""

        def wait(self, timeout: float | None = None) -> int:
            if timeout is None:
                return super().wait()
            assert select.select([said], [], [], 300)[0], "the process does not start"
            assert said.read(100) == b"started\n"
            raise subprocess.TimeoutExpired(self.args, timeout)

    # Each `cat` reads a pipe into which only this test could write, so it ends with the test at the latest.
    endless = f"exec 3> {tmp_path}/said; cat {tmp_path}/wait & echo started >&3; cat {tmp_path}/wait"
    monkeypatch.setattr(subprocess, "Popen", Endless)
    with named_pipe(tmp_path / "said") as (said, own_end), named_pipe(tmp_path / "wait"):
        why = marking.run_to_the_end(["sh", "-c", endless], tmp_path, 7)
        assert why == "the notebook was stopped after 7 seconds"
        own_end.close()
        # A pipe that no process can write into any more is at its end.
        assert select.select([said], [], [], 300)[0], "a process that was started still runs"
        assert said.read(100) == b""


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not a notebook: the file is empty"),
        (b"{", "is not a notebook: its text is not JSON (Expecting property name"),
        ('{"cells": "é"}'.encode("latin-1"), "is not a notebook: its text is neither in UTF-8 nor in UTF-16"),
        (b"[]", "is not a notebook"),
        (nbformat.writes(new_notebook()).encode(), "belongs to no chapter of the course"),
    ],
)
def test_a_foreign_notebook_is_one_row(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "dan.ipynb"
    path.write_bytes(content)
    (mark,) = marks_of(path, tmp_path, seconds=60)
    assert (mark.student, mark.result) == ("dan", "failed")
    assert mark.message.startswith(f"dan.ipynb {reason}")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_a_notebook_is_read_in_each_encoding(tmp_path: Path, encoding: str) -> None:
    stored = read(MASKED)
    (tmp_path / "a.ipynb").write_text(nbformat.writes(stored), encoding)
    assert read_returned(tmp_path / "a.ipynb") == stored


def test_hidden_files_and_copies_are_no_notebooks(tmp_path: Path) -> None:
    names = ["ann/a.ipynb", "ann/._a.ipynb", "ann/.ipynb_checkpoints/a-checkpoint.ipynb", "ben.ipynb"]
    names += ["__MACOSX/ann/a.ipynb", "@eaDir/a.ipynb/thumbnail.jpg", ".Trash-1000/files/a.ipynb"]
    folder = tmp_path / ".hidden"
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    assert notebooks_in(folder) == [folder / "ann/a.ipynb", folder / "ben.ipynb"]


def test_a_chapter_is_found_by_import_or_name(tmp_path: Path) -> None:
    notebook = handout(read(MASKED))
    assert chapter_of(notebook, Path("x.ipynb")) == "masked_softmax"
    notebook.cells = []
    assert chapter_of(notebook, Path("eva-masked_softmax (2).ipynb")) == "masked_softmax"
    assert chapter_of(notebook, Path("x.ipynb")) is None


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("fay/masked_softmax.ipynb", "fay"),
        ("a/fay/x.ipynb", "a/fay"),
        ("masked_softmax_gil.ipynb", "gil"),
        ("masked_softmax.ipynb", "masked_softmax"),
    ],
)
def test_a_student_is_a_folder_or_a_name(name: str, student: str) -> None:
    assert student_of(Path("returned") / name, Path("returned"), "masked_softmax") == student


@pytest.mark.skipif(not without_network(), reason="this system cannot take the network from a process")
def test_a_process_without_network_sees_no_other_machine() -> None:
    names = "import socket; print([name for _, name in socket.if_nameindex() if name != 'lo'])"
    ran = subprocess.run(
        [*without_network(), sys.executable, "-c", names], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "[]\n"


def test_tables_hold_every_row_without_markup(tmp_path: Path) -> None:
    table, page = write_tables([Mark("<b>", "c", "1", "open", "=1+1\nsecond line")], tmp_path)
    rows = list(csv.reader(table.open(encoding="utf-8-sig", newline="")))
    assert rows == [list(Mark._fields), ["<b>", "c", "1", "open", "'=1+1\nsecond line"]]
    assert "&lt;b&gt;" in page.read_text("utf-8")
    assert "<b>" not in page.read_text("utf-8")


def test_the_command_marks_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    rows = {
        "a": [Mark("a", "c", "1", "right", ""), Mark("a", "c", "2", "wrong", "")],
        "b": [Mark("b", "", "", "failed", "")],
    }
    monkeypatch.setattr(marking, "marks_of", lambda path, *_, **__: rows[path.stem])
    (tmp_path / ".ipynb_checkpoints").mkdir()
    for name in ("b", "a", ".ipynb_checkpoints/a"):
        (tmp_path / f"{name}.ipynb").touch()
    main([str(tmp_path)])
    assert "a.ipynb: 1 of 2 right" in capsys.readouterr().out
    assert len((tmp_path / "marks.csv").read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("folder", "message"), [("missing", "is not a folder"), (".", "there is no notebook in")]
)
def test_a_folder_without_notebooks_is_told(
    tmp_path: Path, folder: str, message: str, capsys: pytest.CaptureFixture
) -> None:
    with pytest.raises(SystemExit):
        main([str(tmp_path / folder)])
    assert message in capsys.readouterr().err
