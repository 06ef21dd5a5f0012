"""What a class gets: the package, as the page for teachers installs it, and handouts with nothing else beside them."""

import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbclient
import nbformat
import pytest
from nbformat.v4 import new_code_cell

from utils.exercises import handout

pytestmark = pytest.mark.trains

ROOT = Path(__file__).parents[2]
#: What pip needs where it may not ask the network; the other packages are there already.
OFFLINE = ["--no-index", "--no-build-isolation", "--disable-pip-version-check"]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the files from which pip makes the package; it would leave others beside the original."""
    copy = tmp_path_factory.mktemp("class") / "course"
    shutil.copytree(ROOT / "utils", copy / "utils", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (*ROOT.glob("*.*"), *ROOT.glob("LICENSE*")):
        if path.is_file():
            shutil.copy(path, copy)
    return copy


@pytest.fixture(scope="module")
def package(course: Path) -> Path:
    """The installed package: a folder with it and nothing else of the course."""
    run_pip("wheel", "--no-deps", *OFFLINE, "--wheel-dir", course.parent, course)
    [wheel] = course.parent.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(course.parent / "package")
    return course.parent / "package"


def run_pip(*words: object, cwd: Path | None = None) -> str:
    command = [sys.executable, "-m", "pip", *map(str, words)]
    own = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    own["PIP_CONFIG_FILE"] = os.devnull
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=own, cwd=cwd)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.slow
def test_the_printed_command_installs_the_pinned_versions(course: Path) -> None:
    page = (ROOT / "book" / "teaching.md").read_text("utf-8")
    [line] = re.findall(r"^class/bin/pip install .*FOLDER.*$", page, re.MULTILINE)
    words = [word.replace("FOLDER", course.name) for word in shlex.split(line)]
    said = run_pip(*words[1:], "--dry-run", *OFFLINE, cwd=course.parent)
    assert re.search(r"^Would install attention-course-[\w.]+$", said, re.MULTILINE), said


def test_no_command_asks_the_index_for_a_folder() -> None:
    # pip takes a word without a slash for the name of a package, which anybody may have published.
    known = {"jupyterlab", "sacrebleu[ja]", "sacrebleu[ko]", ".", ".[dev]", "./FOLDER"}
    pages = [*ROOT.glob("*.md"), *ROOT.glob("chapters/*.md"), *ROOT.glob("book/**/*.md")]
    text = "\n".join(path.read_text("utf-8") for path in pages)
    commands = re.findall(r"pip install ([^`\n]+)", text)
    assert len(commands) >= 4
    for command in map(shlex.split, commands):
        values = ("--constraint", "-c", "--extra-index-url")  # a file or an address comes after them
        words = [word for before, word in itertools.pairwise(["", *command]) if before not in values]
        assert {word for word in words if not word.startswith("-")} <= known, command


def test_the_package_has_all_files_of_its_folder(course: Path, package: Path) -> None:
    def names(folder: Path) -> set[str]:
        return {str(path.relative_to(folder)) for path in (folder / "utils").rglob("*.*") if path.is_file()}

    types = {name for name in names(course) if name.endswith(".d.ts")}  # tsc alone reads them
    assert names(package) == names(course) - types


@pytest.mark.slow
def test_the_handout_of_the_first_chapter_needs_the_package_alone(package: Path, tmp_path: Path) -> None:
    handout.main([str(tmp_path / "handout"), str(ROOT / "chapters" / "nadaraya_watson.ipynb")])
    notebook = nbformat.read(tmp_path / "handout" / "nadaraya_watson.ipynb", as_version=4)
    where = f"import utils.exercises\nassert utils.exercises.__file__.startswith({str(package)!r})"
    notebook.cells.insert(0, new_code_cell(where))
    own = os.environ | {"PYTHONPATH": str(package)}
    nbclient.NotebookClient(notebook, kernel_name="python3", timeout=600).execute(
        cwd=str(tmp_path / "handout"), env=own
    )
