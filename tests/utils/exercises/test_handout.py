"""Handouts have no solutions, and nbgrader finds the exercises in them."""

from pathlib import Path

import nbformat
import pytest

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
    for exercise in exercises_of(stored):
        in_the_page = stored.cells.index(exercise.task) < stored.cells.index(section)
        for answer in filter(None, (exercise.solution, exercise.explanation)):
            assert (answer.source in sources) == in_the_page
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
        "exercise-4": {"grade": True, "locked": False, "solution": True, "points": 1},  # in words
    }
    for name, kind in kinds.items():
        assert told[name].metadata.nbgrader == form | {"grade_id": name} | kind
    assert "points-4" not in told
    assert told["points-2"].source.endswith("float(bool(check.causal_lens(causal_lens, record=False)))")


def test_the_command_writes_handouts_and_their_studies(tmp_path: Path) -> None:
    main([str(tmp_path / "new" / "folder"), str(MASKED)])
    written = sorted(path.name for path in (tmp_path / "new" / "folder").iterdir())
    assert written == ["masked_softmax.ipynb", "studies"]
