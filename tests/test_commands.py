"""The Makefile: what it says when a machine lacks something, and that it does no work twice."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the commands and no environment."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


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


def test_help_lists_every_command() -> None:
    result = make(ROOT)
    listed = re.findall(r"^  make ([\w-]+)", result.stdout, re.MULTILINE)
    wanted = (
        "book pdf test test-all check test-machines serve lab notebooks handout mark lint bench linkcheck links "
        "clean help"
    )
    assert result.returncode == 0
    assert set(wanted.split()) == set(listed)


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.14"])
def test_another_version_of_python(checkout: Path, version: str) -> None:
    python = program(checkout, "other-python", f"echo {version}")
    line = complaint(make(checkout, "book", f"PYTHON={python}"))
    assert version in line
    assert "3.11 to 3.13" in line


def test_no_python(checkout: Path) -> None:
    line = complaint(make(checkout, "book", "PYTHON=no-such-python"))
    assert "no-such-python not found" in line


def test_no_venv_module(checkout: Path) -> None:
    python = program(checkout, "bare-python", 'case "$2" in *venv*) exit 1;; *) echo 3.12;; esac')
    line = complaint(make(checkout, "book", f"PYTHON={python}"))
    assert "python3-venv" in line


def test_no_disk(checkout: Path) -> None:
    folder = checkout / "programs"
    folder.mkdir()
    program(folder, "df", "echo header; echo /dev/disk 9 8 1234567 99% /")
    line = complaint(make(checkout, "book", f"PYTHON={sys.executable}", path=folder))
    assert "1.2 GB" in line


def test_a_book_that_is_there_is_not_built_again(checkout: Path) -> None:
    # Stand-ins for an environment and a built book that are newer than all they are made from.
    for name in ("_config.yml", "_toc.yml", ".venv/.installed", "_build/html/.built"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).touch()
    result = make(checkout, "book")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == f"The book: file://{checkout}/_build/html/index.html"
