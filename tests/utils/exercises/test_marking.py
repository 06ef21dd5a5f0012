"""Whatever a returned notebook is or does, it becomes rows of the table, and a check counts as it stood when it ran."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from utils.exercises import marking

IMPORTS = "import torch\nfrom utils.exercises import masked_softmax as check"
#: Exercise 1 is answered rightly, exercise 2 wrongly.
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
    marking.mark_all(folder)
    head, *rows = rows_of(folder / "marks.csv")
    assert head == ["file", "chapter", "exercise", "solution", "result", "message"]
    assert all(message for *_, message in rows)
    return [[file, exercise, result] for file, _, exercise, _, result, _ in rows]


def rows_of(table: Path) -> list[list[str]]:
    with table.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def with_second_cell(change: Callable[[dict], object]) -> bytes:
    """A returned notebook whose second cell is changed."""
    stored = json.loads(source_of(IMPORTS, *ANSWERS))
    change(stored["cells"][1])
    return json.dumps(stored).encode()


#: Files that cannot be run: they take no kernel.
FOREIGN = {
    "not JSON.ipynb": b"{",
    "no source.ipynb": with_second_cell(lambda cell: cell.pop("source")),
    "of no chapter.ipynb": source_of("from utils.exercises import progress").encode(),
    'a "name"\n, odd.ipynb': b"",
    "=1+1.ipynb": b"",
}


def test_a_file_that_cannot_be_run_is_one_row(tmp_path: Path) -> None:
    for name, content in FOREIGN.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "ann" / "a folder.ipynb").mkdir(parents=True)
    (tmp_path / "ann" / "broken link.ipynb").symlink_to("nothing")
    shown = {"=1+1.ipynb": "'=1+1.ipynb"}
    names = sorted([*FOREIGN, "ann/broken link.ipynb"])
    assert marks(tmp_path) == [[shown.get(name, name), "", "failed"] for name in names]


def test_everybody_who_handed_in_stands_in_both_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(marking, "run", lambda notebook, results: ({}, "so"))
    for name in ("ann/x.ipynb", "ben/answers.txt", "cem/work.tar.gz", "elsewhere/y.ipynb", ".hidden/z"):
        path = tmp_path / "returned" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source_of(IMPORTS, *ANSWERS), "utf-8")
    returned = tmp_path / "returned"
    (returned / "elsewhere").rename(tmp_path / "elsewhere")
    (returned / "dan").symlink_to(tmp_path / "elsewhere")
    (returned / "Eve.ZIP").touch()
    marking.mark_all(returned)
    left_out = {
        "Eve.ZIP": "it is an archive: unpack it",
        "ben": "there is no notebook in this folder",
        "cem/work.tar.gz": "it is an archive: unpack it",
        "dan": "it is a link to a folder: put the folder in its place",
    }
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "A notebook has 20 minutes, and each of its cells 5."
    assert said[1:-1] == [f"not marked: {name}: {why}" for name, why in left_out.items()]
    failed = [[name, "", "", "", "failed", why] for name, why in left_out.items()]
    assert [row for row in rows_of(returned / "marks.csv")[1:] if row[4] == "failed"] == failed
    assert [row[0] for row in rows_of(returned / "totals.csv")[1:]] == ["Eve.ZIP", "ann", "ben", "cem", "dan"]


def test_what_is_running_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / "ann.ipynb").touch()
    said = []

    def runs(path: Path, file: str) -> list[marking.Mark]:
        said.append(capsys.readouterr().err)
        return [marking.Mark(file, "c", "1", "kept back", "right", "so")]

    monkeypatch.setattr(marking, "marks_of", runs)
    marking.mark_all(tmp_path)
    assert "ann.ipynb" in said[0]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "the following arguments are required: folder"),
        (["gone"], "there is no folder gone"),
        (["."], "there is no notebook in .\nann.zip: it is an archive: unpack it"),
    ],
)
def test_a_folder_without_notebooks_is_told(
    arguments: list[str],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ann.zip").touch()
    with pytest.raises(SystemExit) as ended:
        marking.main(arguments)
    assert says in f"{ended.value}{capsys.readouterr().err}"
    assert [path.name for path in tmp_path.iterdir()] == ["ann.zip"]


def test_help_is_no_folder(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as ended:
        marking.main(["--help"])
    assert ended.value.code == 0
    assert "the notebooks that students have returned" in capsys.readouterr().out


def test_copies_that_programs_make_are_left_out(tmp_path: Path) -> None:
    names = ("ann/._a", "ann/.ipynb_checkpoints/a-checkpoint", "__MACOSX/a", "b")
    for name in names:
        path = tmp_path / ".hidden" / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert marks(tmp_path / ".hidden") == [[name, "", "failed"] for name in ("ann", "b.ipynb")]


ENDLESS = "while True: pass"
NAME_ERROR = "its check raised NameError: name 'check' is not"
#: A cell between the two checks, the result of exercise 2, and words of its message.
CELLS = {
    "uses a name again": ("my_softmax = 3", "wrong", "expected"),
    "raises": ("raise RuntimeError('so')", "wrong", "expected"),
    "makes the check raise": ("del check", "not checked", NAME_ERROR),
    "does not end": (ENDLESS, "wrong", "expected"),
    "prints much": ("for _ in range(2000): print('x' * 10_000)", "wrong", "expected"),
    "removes its folder": ("import os, shutil; shutil.rmtree(os.getcwd())", "wrong", "expected"),
    "kills its process": ("import os; os.kill(os.getpid(), 9)", "not checked", "the kernel died before"),
}
FIRST, *OTHERS = CELLS


@pytest.mark.trains  # each starts a kernel
@pytest.mark.parametrize("does", [FIRST, *(pytest.param(does, marks=pytest.mark.slow) for does in OTHERS)])
def test_a_check_counts_as_it_stood_when_it_ran(
    does: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    cell, result, says = CELLS[does]
    (tmp_path / "ann").mkdir()
    returned = source_of(IMPORTS, *ANSWERS[:2], cell, *ANSWERS[2:])
    (tmp_path / "ann" / "x.ipynb").write_text(returned, "utf-8")
    (tmp_path / "ann" / "utils.py").write_text("raise SystemExit")  # not searched for modules
    limits = {ENDLESS: 1}
    monkeypatch.setattr(
        marking._Quiet, "timeout_func", lambda self, cell: limits.get(cell.source, marking.CELL_LIMIT)
    )
    wanted = zip("12", ["right", result], strict=True)
    assert marks(tmp_path) == [["ann/x.ipynb", *row] for row in wanted]
    assert says in rows_of(tmp_path / "marks.csv")[2][-1]
    assert "WARNING" not in capfd.readouterr().err


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_students_may_use_one_name(tmp_path: Path, encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marking, "run", lambda notebook, results: ({}, f"{len(notebook.cells)} cells"))
    for student in ("Müller, Ann", "Ben"):
        (tmp_path / student).mkdir()
        (tmp_path / student / "x.ipynb").write_text(source_of(IMPORTS, *ANSWERS), encoding)
    names = [f"{student}/x.ipynb" for student in ("Ben", "Müller, Ann") for _ in "12"]
    assert marks(tmp_path) == [
        [name, number, "not checked"] for name, number in zip(names, "1212", strict=True)
    ]


def test_the_table_is_written_as_it_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stops_at_b(path: Path, file: str) -> list[marking.Mark]:
        if path.stem == "b":
            raise KeyboardInterrupt
        return [marking.Mark(file, "c", "1", "kept back", "right", "so")]

    monkeypatch.setattr(marking, "marks_of", stops_at_b)
    for name in "abc":
        (tmp_path / f"{name}.ipynb").touch()
    with pytest.raises(KeyboardInterrupt):
        marking.mark_all(tmp_path)
    assert rows_of(tmp_path / "marks.csv")[1:] == [["a.ipynb", "c", "1", "kept back", "right", "so"]]


def test_what_a_teacher_has_written_into_the_tables_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(marking, "run", lambda notebook, results: ({}, ""))
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "x.ipynb").write_text(source_of(IMPORTS, *ANSWERS), "utf-8")
    (tmp_path / "totals.csv").write_text("ann,very good")
    marking.mark_all(tmp_path)
    assert f"is in {tmp_path}/marks-2.csv, and" in capsys.readouterr().out
    (tmp_path / "marks-2.csv").write_text("mine")
    marking.mark_all(tmp_path)
    assert f"are in {tmp_path}/totals-3.csv." in capsys.readouterr().out
    assert (tmp_path / "totals.csv").read_text() == "ann,very good"
    assert (tmp_path / "marks-2.csv").read_text() == "mine"
    head = ["student", "right", "of", "right without solution", "of these", "failed files", "not returned"]
    assert rows_of(tmp_path / "totals-3.csv") == [head, ["ann", "0", "2", "0", "1", "0", ""]]
    names = {"marks-2.csv", "totals-2.csv", "marks-3.csv", "totals-3.csv", "totals.csv", "ann"}
    assert {path.name for path in tmp_path.iterdir()} == names


#: Files, and the results of their exercises.
RETURNED = {
    "=ann/masked_softmax.ipynb": ["right", "wrong", "right"],
    "=ann/bert.ipynb": ["right", "right"],
    "=ann/bert-Copy1.ipynb": ["wrong", "unfinished"],
    "ben.ipynb": ["wrong", "right", "not checked"],
}


def test_the_totals_of_a_student_count_each_exercise_once() -> None:
    marks = [marking.Mark("eve/x.ipynb", "", "", "", "failed", "so")]
    for file, results in RETURNED.items():
        chapter = "bert" if "bert" in file else "masked_softmax"
        for number, result in enumerate(results, start=1):
            solution = "handed out" if chapter == "bert" or number == 1 else "kept back"
            marks.append(marking.Mark(file, chapter, str(number), solution, result, "so"))
    assert marking.totals_of(marks) == [
        ("=ann", 4, 5, 1, 2, 0, ""),
        ("ben.ipynb", 1, 5, 1, 2, 0, "bert"),
        ("eve", 0, 5, 0, 2, 1, "bert, masked_softmax"),
    ]


def test_a_name_in_two_unicode_forms_is_one_student() -> None:
    composed, decomposed = "Jos\N{LATIN SMALL LETTER E WITH ACUTE}", "Jose\N{COMBINING ACUTE ACCENT}"
    marks = [
        marking.Mark(f"{name}/x.ipynb", "bert", number, "kept back", "right", "so")
        for name, number in ((composed, "1"), (decomposed, "2"), ("Jose", "1"))
    ]
    assert [row[:3] for row in marking.totals_of(marks)] == [("Jose", 1, 2), (composed, 2, 2)]


ENDED, NO_CALL = "the kernel died before this check", "the notebook does not call its check"
STOPPED = f"was stopped after {marking.CELL_LIMIT} seconds"
#: Cells, what happened to some of them and to the notebook, and why the check of exercise 1 has no result.
UNCHECKED = {
    "removed": (["x = 1"], {0: "raised E: x"}, ENDED, NO_CALL),
    "solution alone": (["assert check.my_softmax(\n    a, record=False)"], {}, "", NO_CALL),
    "other check": (["check.my_softmax_2(a)"], {}, "", NO_CALL),
    "raised": (["check.my_softmax (a)"], {0: "raised E: x"}, ENDED, "its check raised E: x"),
    "silent": (["check.my_softmax(a)", "1 / 0"], {1: "raised E: x"}, "", "its check stored no result"),
    "dead": (["pass", "check.my_softmax(a)"], {0: "raised E: x"}, ENDED, ENDED),
    "first cell": (
        ["a", "b", "check.my_softmax(a)"],
        {1: STOPPED, 2: "raised E: x"},
        "",
        f"its check raised E: x; before it, code cell 2 {STOPPED}",
    ),
}


@pytest.mark.parametrize("case", UNCHECKED)
def test_the_table_says_why_a_check_has_no_result(case: str) -> None:
    sources, happened, end, why = UNCHECKED[case]
    chapter = nbformat.read(marking.CHAPTERS / "masked_softmax.ipynb", as_version=4)
    first = next(marking.exercises_of(chapter))
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    assert marking.why_unchecked(notebook, first, happened, end) == why


SAMPLES = Path(__file__).parents[3] / "book" / "samples"


@pytest.mark.slow  # a minute: each of the three runs a chapter
@pytest.mark.trains
def test_the_samples_get_the_marks_that_the_page_for_teachers_shows(tmp_path: Path) -> None:
    for path in SAMPLES.glob("*/*.ipynb"):
        (tmp_path / path.parent.name).mkdir()
        shutil.copy(path, tmp_path / path.parent.name)
    marking.mark_all(tmp_path)
    for table in ("marks.csv", "totals.csv"):
        assert rows_of(tmp_path / table) == rows_of(SAMPLES / table)
    # One of each kind, as the page says.
    results = [row[4] for row in rows_of(SAMPLES / "marks.csv")[1:]]
    assert results == ["right"] * 4 + ["wrong", "wrong", "right", "unfinished", "not checked"]
