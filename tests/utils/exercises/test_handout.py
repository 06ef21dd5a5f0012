"""Handouts have no solutions, and nbgrader finds the exercises in them."""

import shutil
from pathlib import Path

import nbformat
import pytest
import torch

from utils.exercises import masked_softmax
from utils.exercises.form import exercises_of
from utils.exercises.handout import handout, main

CHAPTERS = sorted((Path(__file__).parents[3] / "chapters").glob("*.ipynb"))
MASKED = next(path for path in CHAPTERS if path.stem == "masked_softmax")


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_handout_has_checks_and_no_solutions(path: Path) -> None:
    stored = nbformat.read(path, as_version=4)
    copied = handout(stored)
    nbformat.validate(copied)
    sources = [cell.source for cell in copied.cells]
    section = next(cell for cell in stored.cells if cell.source.startswith("## Exercises"))
    kept = [exercise.number for exercise in exercises_of(stored) if exercise.check and exercise.in_page]
    assert kept in ([1], [1, 2]), "book/teaching.md says that these solutions stay"
    for exercise in exercises_of(stored):
        assert exercise.in_page == (stored.cells.index(exercise.task) < stored.cells.index(section))
        for answer in filter(None, (exercise.solution, exercise.explanation)):
            assert (answer.source in sources) == exercise.in_page
        if exercise.check is None:
            task = exercise.task.source.partition("<details>")[0].rstrip()
            assert sources[sources.index(task) + 1] == "*Write your answer here.*"
        else:
            assert exercise.check.source in sources
    assert handout(stored) == copied, "the chapter itself is not changed"


def test_nbgrader_knows_answers_and_points() -> None:
    cells = handout(nbformat.read(MASKED, as_version=4)).cells
    told = {cell.metadata.nbgrader.grade_id: cell for cell in cells if "nbgrader" in cell.metadata}
    form = {"schema_version": 3, "task": False}
    kinds = {
        "exercise-2": {"grade": False, "locked": False, "solution": True},
        "check-2": {"grade": False, "locked": True, "solution": False},
        "points-2": {"grade": True, "locked": True, "solution": False, "points": 1},
        "exercise-3": {"grade": True, "locked": False, "solution": True, "points": 1},  # in words
    }
    for name, kind in kinds.items():
        assert told[name].metadata.nbgrader == form | {"grade_id": name} | kind
    assert "points-3" not in told
    assert told["points-2"].source.endswith("points(check, 2)")


@pytest.mark.parametrize("is_right", [True, False])
def test_the_cell_of_the_points_does_not_run_the_answer_again(
    is_right: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("utils.exercises.progress._statuses", {})
    cells = handout(nbformat.read(MASKED, as_version=4)).cells
    place = next(place for place, cell in enumerate(cells) if cell.id == "points-2")
    calls = []

    def causal_lens(valid_lens, num_queries):
        calls.append(num_queries)
        return torch.minimum(torch.arange(1, num_queries + is_right), valid_lens[:, None])

    names = {"check": masked_softmax, "causal_lens": causal_lens}
    exec(cells[place - 1].source, names)
    num_calls = len(calls)
    *lines, last = cells[place].source.splitlines()
    exec("\n".join(lines), names)
    assert eval(last, names) == is_right
    assert len(calls) == num_calls > 0


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A folder of chapters with two of them, and what they read."""
    (tmp_path / "chapters" / "studies").mkdir(parents=True)
    for name in ("masked_softmax", "bert"):
        shutil.copy(MASKED, tmp_path / "chapters" / f"{name}.ipynb")
    (tmp_path / "chapters" / "studies" / "study.json").write_text("{}")
    (tmp_path / "chapters" / "studies" / "__pycache__").mkdir()
    return tmp_path


def write(course: Path, folder: str, *names: str) -> None:
    main([str(course / folder), *(str(course / "chapters" / f"{name}.ipynb") for name in names)])


def test_the_command_writes_handouts_and_what_they_read(course: Path, capsys: pytest.CaptureFixture) -> None:
    write(course, "new/folder", "masked_softmax", "bert")
    files = contents(course / "new" / "folder")
    assert files.keys() == {"masked_softmax.ipynb", "bert.ipynb", "studies/study.json"}
    assert nbformat.reads(files["bert.ipynb"].decode(), as_version=4) == handout(
        nbformat.read(MASKED, as_version=4)
    )
    assert capsys.readouterr().out.splitlines() == [
        f"{course}/new/folder/{name}.ipynb, with the solution of exercise 1"
        for name in ("masked_softmax", "bert")
    ]


@pytest.mark.parametrize("edited", ["bert.ipynb", "studies/study.json"])
def test_another_file_of_the_name_stays(course: Path, edited: str) -> None:
    write(course, "out", "masked_softmax", "bert")
    path = course / "out" / edited
    path.write_bytes(path.read_bytes().replace(b"{", b"{ ", 1))
    before = contents(course / "out")
    with pytest.raises(SystemExit, match=rf"out/{edited} would be replaced: move it, or name another folder"):
        write(course, "out", "masked_softmax", "bert")
    assert contents(course / "out") == before
    path.unlink()
    write(course, "out", "masked_softmax", "bert")


@pytest.mark.parametrize("folder", ["chapters", "chapters/../chapters", "link", "links", "hard links"])
def test_a_handout_does_not_replace_its_chapter(course: Path, folder: str) -> None:
    chapter = course / "chapters" / "bert.ipynb"
    (course / "link").symlink_to(course / "chapters")
    for name, link in (("links", Path.symlink_to), ("hard links", Path.hardlink_to)):
        (course / name).mkdir()
        link(course / name / "bert.ipynb", chapter)
    before = contents(course)
    with pytest.raises(SystemExit, match=r"bert\.ipynb would be replaced"):
        write(course, folder, "bert")
    assert contents(course) == before
