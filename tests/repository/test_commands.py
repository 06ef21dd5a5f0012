"""The Makefile: what it says when something is missing or mistyped, and that it does no work twice."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import chromium
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the commands and no environment; its name has blanks."""
    folder = tmp_path / "a course"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture
def installed(checkout: Path) -> Path:
    """Such a folder with stand-ins for the environment and the settings of the book."""
    (checkout / ".venv" / "bin").mkdir(parents=True)
    for name in ("_config.yml", "_toc.yml", ".venv/.installed"):
        (checkout / name).touch()
    return checkout


def program(folder: Path, name: str, script: str) -> Path:
    """A program that stands in for one of the machine's own."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def make(folder: Path, *arguments: str, path: Path | None = None) -> subprocess.CompletedProcess:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    }
    if path:
        environment["PATH"] = f"{path}:{environment['PATH']}"
    return subprocess.run(
        ["make", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def complaint(result: subprocess.CompletedProcess) -> str:
    """The one line that a failed command says, make's own report left out."""
    assert result.returncode != 0
    lines = [line for line in (result.stdout + result.stderr).splitlines() if not line.startswith("make")]
    assert len(lines) == 1, lines
    return lines[0]


@pytest.mark.parametrize("version", ["3.10", "3.14"])
def test_another_version_of_python(checkout: Path, version: str) -> None:
    python = program(checkout, "other-python", f"echo {version}")
    line = complaint(make(checkout, "book", f"PYTHON={python}"))
    assert version in line
    assert "3.11 to 3.13" in line


def test_what_is_missing_in_python_is_named(checkout: Path) -> None:
    line = complaint(make(checkout, "book", "PYTHON=no-such-python"))
    assert "no-such-python not found" in line
    python = program(checkout, "bare-python", 'case "$2" in *venv*) exit 1;; *) echo 3.12;; esac')
    assert "python3-venv" in complaint(make(checkout, "book", f"PYTHON={python}"))


@pytest.mark.parametrize("name", ["masked_sofmax", "masked_softmax transformer"])
@pytest.mark.parametrize("command", ["test", "notebooks", "handout"])
def test_an_unknown_chapter(command: str, name: str) -> None:
    line = complaint(make(ROOT, command, f"CHAPTER={name}"))
    assert f"There is no chapter called {name}." in line
    assert " masked_softmax " in line


def test_settings_of_the_user_do_not_reach_notebooks(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MPLBACKEND", "MATPLOTLIBRC", "MPLCONFIGDIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, "elsewhere")
    monkeypatch.setenv("PYTHONUTF8", "0")
    for name in (".venv/.installed", "chapters/one.ipynb"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).touch()
    (checkout / ".venv" / "bin").mkdir()
    program(checkout / ".venv" / "bin", "jupyter", "env > seen.txt")
    program(checkout / ".venv" / "bin", "nbstripout", "")
    result = make(checkout, "notebooks")
    assert result.returncode == 0, result.stderr
    seen = dict(
        line.split("=", 1) for line in (checkout / "seen.txt").read_text().splitlines() if "=" in line
    )
    assert not {"MPLBACKEND", "MATPLOTLIBRC"} & seen.keys()
    assert seen["MPLCONFIGDIR"] == f"{checkout}/.venv/matplotlib"
    assert seen["IPYTHONDIR"] == f"{checkout}/.venv/ipython"
    assert seen["PYTHONUTF8"] == "1"


def test_a_book_is_not_built_twice(installed: Path) -> None:
    # The stand-in for a built book is newer than all it is made from. Files with blanks in their names are not its own.
    for name in ("book/my notes.md", "chapters/a copy.ipynb", "_build/html/.built"):
        (installed / name).parent.mkdir(parents=True)
        (installed / name).touch()
    (installed / ".venv" / "bin" / "python").symlink_to(sys.executable)
    result = make(installed, "book")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip().endswith("/a%20course/_build/html/index.html")
    address = result.stdout.strip().removeprefix("The book: ")
    assert unquote(address) == f"file://{installed}/_build/html/index.html"


def test_a_folder_with_a_blank_is_marked(installed: Path) -> None:
    program(installed / ".venv" / "bin", "python", 'for word; do echo "<$word>"; done')
    result = make(installed, "mark", "DIR=hand in")
    assert result.stdout.splitlines()[-3:] == ["<-m>", "<utils.exercises.marking>", "<hand in>"]
    assert "name the folder" in complaint(make(installed, "mark"))


@pytest.mark.parametrize(
    ("starts", "tried"),
    [
        ("chromium", ["chromium"]),
        ("google-chrome", ["chromium", "google-chrome"]),
        (None, ["chromium", "google-chrome", None]),
    ],
)
def test_the_first_browser_that_starts_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starts: str | None, tried: list[str | None]
) -> None:
    asked = []

    def launch(executable_path: str | None, **options) -> str | None:
        asked.append(executable_path and Path(executable_path).name)
        if asked[-1] != starts:
            raise chromium.Error("BrowserType.launch: no display")
        return starts

    for name in ("google-chrome", "chromium"):
        program(tmp_path, name, "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(chromium, "MAC_APPLICATIONS", ())
    playwright = SimpleNamespace(chromium=SimpleNamespace(launch=launch))
    assert chromium.launch(playwright) == starts
    assert asked == tried

    # A browser that the user names is the only one to be tried.
    monkeypatch.setenv("CHROMIUM", "/a browser")
    with pytest.raises(RuntimeError, match=r"^/a browser does not start: no display\nmake test .* CHROMIUM"):
        chromium.launch(playwright)
