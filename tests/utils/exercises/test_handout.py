"""Handouts have no solutions, and writing them replaces nothing."""

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from utils.exercises.form import exercises_of
from utils.exercises.handout import handout, main, without_dead_links

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
    # Here no link leads to another file of the course.
    assert nbformat.reads(files["bert.ipynb"].decode(), as_version=4) == handout(
        nbformat.read(MASKED, as_version=4)
    )
    assert capsys.readouterr().out.splitlines() == [
        f"{course}/new/folder/{name}.ipynb, with the solution of exercise 1"
        for name in ("masked_softmax", "bert")
    ]


def test_each_link_of_a_handout_leads_to_a_file_in_its_folder(tmp_path: Path) -> None:
    main([str(tmp_path / "one"), str(MASKED)])
    main([str(tmp_path / "all"), *map(str, CHAPTERS)])
    num_links = {"one": 0, "all": 0}
    for path in tmp_path.rglob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        links = re.findall(r"\]\((?!https?:)([^()\s#]+)", prose)
        assert [link for link in links if not (path.parent / link).exists()] == []
        num_links[path.parent.name] += len(links)
    assert num_links["all"] > num_links["one"] == 0


def test_a_link_that_leads_nowhere_becomes_its_text(tmp_path: Path) -> None:
    (tmp_path / "course" / "chapters").mkdir(parents=True)
    (tmp_path / "course" / "page.md").touch()
    (tmp_path / "course" / "chapters" / "bert.ipynb").touch()
    links = "[a](../page.md#part), [b](bert.ipynb), [c](#part), [d](https://e.org/page.md), `f[i](x)`"
    notebook = new_notebook(cells=[new_markdown_cell(links), new_code_cell("[a](../page.md)")])
    without_dead_links(notebook, tmp_path / "course" / "chapters", {"bert.ipynb"})
    assert [cell.source for cell in notebook.cells] == [
        links.replace("[a](../page.md#part)", "a"),
        "[a](../page.md)",
    ]
    without_dead_links(notebook, tmp_path / "course" / "chapters", set())
    assert notebook.cells[0].source.startswith("a, b, [c](#part), [d](https:")


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
