"""A chapter on real sentences is skipped where its file is not, cell by cell, with the reason and a count."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from test_notebooks import ROOT, code_cells

from utils.corpus.download import CORPORA
from utils.corpus.pairs import DATA_VARIABLE

CHAPTER = ROOT / "chapters" / "chinese_english.ipynb"


def run_without_its_file(folder: Path) -> str:
    """What pytest prints for the chapter when this is the data folder."""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--nbval", "--nbval-current-env", CHAPTER],
        cwd=ROOT,
        env=os.environ | {DATA_VARIABLE: str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, r"not in the data folder; `python -m utils data get cmn` fetches it"),
        ("Hi.\t嗨。\n", r"not the edition of 2026-02-13, with which the stored run was made"),
    ],
)
def test_every_cell_is_counted_as_skipped(tmp_path: Path, content: str | None, reason: str) -> None:
    if content:
        (tmp_path / "tatoeba").mkdir()
        (tmp_path / "tatoeba" / "cmn.txt").write_text(content, "utf-8")
    printed = run_without_its_file(tmp_path)
    num_cells = len(code_cells(nbformat.read(CHAPTER, as_version=4)))
    assert re.search(rf"^=+ {num_cells} skipped in ", printed, re.MULTILINE), printed
    assert re.search(rf"SKIPPED \[{num_cells}\] .*{reason}", printed), printed


def test_the_page_names_the_edition_of_its_stored_run() -> None:
    printed = "".join(
        output.get("text", "")
        for cell in code_cells(nbformat.read(CHAPTER, as_version=4))
        for output in cell.outputs
    )
    assert f"sha256 {CORPORA['cmn'].sha256}\nthat of the stored run\n" in printed
