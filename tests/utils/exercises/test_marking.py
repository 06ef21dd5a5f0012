"""Whatever a returned notebook is or does, it becomes rows of the table, and a check counts as it stood when it ran."""

import csv
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from utils.exercises import marking

IMPORTS = "import torch\nfrom utils.exercises import masked_softmax as check"
#: Exercise 1 is answered rightly, exercise 2 wrongly; exercise 3 is not checked.
ANSWERS = [
    "from utils.attention import masked_softmax as my_softmax",
    "check.my_softmax(my_softmax)",
    "causal_lens = lambda valid_lens, num_queries: torch.arange(num_queries)",
    "check.causal_lens(causal_lens)",
]


def source_of(*cells: str) -> str:
    """A returned notebook."""
    return nbformat.writes(new_notebook(cells=[new_code_cell(cell) for cell in cells]))


def marks(folder: Path) -> list[list[str]]:
    """File, exercise and result of each row that the command writes for a folder."""
    marking.main(folder)
    with (folder / "marks.csv").open(encoding="utf-8-sig", newline="") as table:
        head, *rows = csv.reader(table)
    assert head == ["file", "chapter", "exercise", "result", "message"]
    assert all(message for *_, message in rows)
    return [[file, exercise, result] for file, _, exercise, result, _ in rows]


def with_second_cell(change: Callable[[dict], object]) -> bytes:
    """A returned notebook whose second cell is changed."""
    stored = json.loads(source_of(IMPORTS, *ANSWERS))
    change(stored["cells"][1])
    return json.dumps(stored).encode()


#: Files that cannot be run: they take no kernel.
FOREIGN = {
    "empty.ipynb": b"",
    "not JSON.ipynb": b"{",
    "a paper.ipynb": b"%PDF-1.7\n\xff\xfe\x00",
    "null.ipynb": b"null",
    "a list.ipynb": b"[]",
    "a dictionary.ipynb": b"{}",
    "no cells.ipynb": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
    "cells are none.ipynb": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": null}',
    "no source.ipynb": with_second_cell(lambda cell: cell.pop("source")),
    "null source.ipynb": with_second_cell(lambda cell: cell.update(source=None)),
    "source of numbers.ipynb": with_second_cell(lambda cell: cell.update(source=[1, 2])),
    "no metadata.ipynb": with_second_cell(lambda cell: cell.pop("metadata")),
    "deep.ipynb": b"[" * 100_000,
    "of no chapter.ipynb": source_of("from utils.exercises import progress").encode(),
    "loaded twice.IPYNB.txt": b"",
    'a "name"\n, odd.ipynb': b"",
    os.fsdecode(b"Andr\xe9.ipynb"): b"",
    "=1+1.ipynb": b"",
}


def test_a_file_that_cannot_be_run_is_one_row(tmp_path: Path) -> None:
    for name, content in FOREIGN.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "a folder.ipynb").mkdir()
    shown = {"=1+1.ipynb": "'=1+1.ipynb", os.fsdecode(b"Andr\xe9.ipynb"): "Andr\\udce9.ipynb"}
    assert marks(tmp_path) == [[shown.get(name, name), "", "failed"] for name in sorted(FOREIGN)]


@pytest.mark.parametrize("folder", ["nothing", "."])
def test_a_folder_without_notebooks_is_named(tmp_path: Path, folder: str) -> None:
    (tmp_path / "marks.csv").write_text("mine")
    with pytest.raises(SystemExit, match="there is no notebook in"):
        marking.main(tmp_path / folder)
    assert (tmp_path / "marks.csv").read_text() == "mine"


def test_copies_that_programs_make_are_left_out(tmp_path: Path) -> None:
    names = [
        "ann/._a.ipynb",
        "ann/.ipynb_checkpoints/a-checkpoint.ipynb",
        "__MACOSX/a.ipynb",
        "a.py",
        "b.ipynb",
    ]
    for name in names:
        (tmp_path / ".hidden" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / ".hidden" / name).touch()
    assert marks(tmp_path / ".hidden") == [["b.ipynb", "", "failed"]]


ENDLESS = "while True: pass"
#: A cell between the two checks, and the results of exercises 1 and 2.
CELLS = {
    "uses a name again": ("my_softmax = 3", "right", "wrong"),
    "raises": ("raise RuntimeError", "right", "wrong"),
    "does not end": (ENDLESS, "right", "wrong"),
    "prints much": ("for _ in range(2000): print('x' * 10_000)", "right", "wrong"),
    "removes its folder": ("import os, shutil; shutil.rmtree(os.getcwd())", "right", "wrong"),
    "kills its process": ("import os; os.kill(os.getpid(), 9)", "right", "not checked"),
}
FIRST, *OTHERS = CELLS


@pytest.mark.trains  # each starts a kernel
@pytest.mark.parametrize("does", [FIRST, *(pytest.param(does, marks=pytest.mark.slow) for does in OTHERS)])
def test_a_check_counts_as_it_stood_when_it_ran(
    does: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell, *results = CELLS[does]
    (tmp_path / "ann").mkdir()
    returned = source_of(IMPORTS, *ANSWERS[:2], cell, *ANSWERS[2:])
    (tmp_path / "ann" / "x.ipynb").write_text(returned, "utf-8")
    (tmp_path / "ann" / "utils.py").write_text("raise SystemExit")  # not searched for modules
    limits = {ENDLESS: 1}
    monkeypatch.setattr(
        marking._Quiet, "timeout_func", lambda self, cell: limits.get(cell.source, marking.CELL_LIMIT)
    )
    wanted = zip("123", [*results, "not checked"], strict=True)
    assert marks(tmp_path) == [["ann/x.ipynb", *row] for row in wanted]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_students_may_use_one_name(tmp_path: Path, encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marking, "run", lambda notebook, results: f"{len(notebook.cells)} cells")
    for student in ("Müller, Ann", "Ben"):
        (tmp_path / student).mkdir()
        (tmp_path / student / "x.ipynb").write_text(source_of(IMPORTS, *ANSWERS), encoding)
    wanted = [
        [f"{student}/x.ipynb", number, "not checked"]
        for student in ("Ben", "Müller, Ann")
        for number in "123"
    ]
    assert marks(tmp_path) == wanted


def test_the_table_is_written_as_it_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stops_at_b(path: Path) -> list[tuple[str, ...]]:
        if path.stem == "b":
            raise KeyboardInterrupt
        return [("c", "1", "right", "so")]

    monkeypatch.setattr(marking, "marks_of", stops_at_b)
    for name in "abc":
        (tmp_path / f"{name}.ipynb").touch()
    with pytest.raises(KeyboardInterrupt):
        marking.main(tmp_path)
    assert (tmp_path / "marks.csv").read_text("utf-8-sig").splitlines()[1:] == ["a.ipynb,c,1,right,so"]


@pytest.mark.slow
def test_an_interrupt_ends_all_notebooks(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    returned = source_of(IMPORTS, f"open({str(tmp_path / 'pipe')!r}, 'w').write('started')", ENDLESS)
    for name in "ab":
        (tmp_path / f"{name}.ipynb").write_text(returned, "utf-8")
    marking_all = subprocess.Popen(
        [sys.executable, "-m", "utils.exercises.marking", tmp_path], stderr=subprocess.PIPE
    )
    assert (tmp_path / "pipe").read_text() == "started"
    marking_all.send_signal(signal.SIGINT)
    _, said = marking_all.communicate()
    assert b"KeyboardInterrupt" in said
    assert len((tmp_path / "marks.csv").read_text("utf-8-sig").splitlines()) == 1
