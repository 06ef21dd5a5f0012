"""A chapter on real sentences is skipped where its file is not, cell by cell, with the reason and a count."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import nbformat
import pytest
from test_notebooks import ROOT, code_cells

from utils.corpus.download import CORPORA
from utils.corpus.pairs import DATA_VARIABLE

CHAPTER = ROOT / "chapters" / "chinese_english.ipynb"
NO_FILE = "tatoeba/cmn.txt is not in the data folder; `python -m utils data get cmn` fetches it"
OTHER_EDITION = "tatoeba/cmn.txt is not the edition of 2026-02-13, with which the stored run was made"


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    """chapters/conftest.py, under a name of its own: tests/conftest.py has the same one."""
    spec = importlib.util.spec_from_file_location("conftest_of_chapters", ROOT / "chapters" / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reasons_to_skip(hooks: ModuleType, path: Path) -> list[str]:
    """Why the cells of a chapter are skipped, as pytest is told when it collects them."""
    marks = []
    hooks.pytest_collection_modifyitems([SimpleNamespace(path=path, add_marker=marks.append)])
    return [mark.kwargs["reason"] for mark in marks if mark.name == "skip"]


@pytest.mark.parametrize(("content", "reason"), [(None, NO_FILE), ("Hi.\t嗨。\n", OTHER_EDITION)])
def test_a_chapter_without_its_file_is_skipped(content, reason, hooks, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    if content:
        (tmp_path / "tatoeba").mkdir()
        (tmp_path / "tatoeba" / "cmn.txt").write_text(content, "utf-8")
    assert reasons_to_skip(hooks, CHAPTER) == [reason]
    assert reasons_to_skip(hooks, CHAPTER.with_name("nadaraya_watson.ipynb")) == []


@pytest.mark.slow
def test_every_cell_is_counted_as_skipped(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--nbval", "--nbval-current-env", CHAPTER],
        cwd=ROOT,
        env=os.environ | {DATA_VARIABLE: str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    num_cells = len(code_cells(nbformat.read(CHAPTER, as_version=4)))
    assert re.search(rf"^=+ {num_cells} skipped in ", ran.stdout, re.MULTILINE), ran.stdout
    assert re.search(rf"SKIPPED \[{num_cells}\] .*{re.escape(NO_FILE)}", ran.stdout), ran.stdout


def test_the_page_names_the_edition_of_its_stored_run() -> None:
    printed = "".join(
        output.get("text", "")
        for cell in code_cells(nbformat.read(CHAPTER, as_version=4))
        for output in cell.outputs
    )
    assert f"sha256 {CORPORA['cmn'].sha256}\nthat of the stored run\n" in printed
