"""The numbers in the chapters' figures with sliders: those that the cells compute, up to another processor's rounding.

nbval compares all else of an output (see nbval_sanitize.cfg). A figure of trained weights is left out here as there:
its cell, or the next one, asserts what must hold.
"""

from pathlib import Path

import matplotlib
import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from stored_figures import read
from test_notebooks import CHAPTERS, code_cells, tags

from utils.explorables import Figure
from utils.explorables.packing import unpack
from utils.explorables.sphinx_extension import MARK, stored_figures


def computed_figures(path: Path) -> list[Figure]:
    """The figures that a chapter's cells make when they are run, those with trained weights left out."""
    cells = code_cells(nbformat.read(path, as_version=4))
    makers = [
        number
        for number, cell in enumerate(cells)
        if "nbval-ignore-output" not in tags(cell) and MARK in str(cell.outputs)
    ]
    shell = InteractiveShell()
    figures = []
    for number, cell in enumerate(cells[: max(makers, default=-1) + 1]):
        ran = shell.run_cell(cell.source)
        ran.raise_error()
        if number in makers:
            figures.append(ran.result)
    return figures


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_stored_numbers_are_those_that_the_cells_compute(path: Path, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.chdir(path.parent)
    matplotlib.use("agg")
    stored = {name: read(html) for name, html in stored_figures(path).items()}
    for figure in computed_figures(path):
        kept = stored[figure.name]
        assert figure.axes == kept.axes
        assert figure.spec["arrays"].keys() == kept.spec["arrays"].keys()
        for key, packed in figure.spec["arrays"].items():
            before = kept.spec["arrays"][key]
            assert packed["over"] == before["over"], key
            assert unpack(packed) == pytest.approx(unpack(before), rel=1e-3, abs=2e-4), key
