"""The numbers in the chapters' figures with sliders: those that the cells compute, up to another processor's rounding.

nbval compares all else of an output (see nbval_sanitize.cfg). A figure of trained weights is left out here as there:
its cell, or the next one, asserts what must hold.
"""

import subprocess
import sys
from pathlib import Path

import matplotlib
import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient
from stored_figures import read
from test_notebooks import CHAPTERS, ROOT, code_cells, tags

from utils.explorables import Figure
from utils.explorables.figure import MODE_VARIABLE
from utils.explorables.packing import unpack
from utils.explorables.sphinx_extension import MARK, stored_figures

SMALL = """
import torch
from utils.explorables import Bars

Bars(
    lambda d: {"w": torch.softmax(torch.arange(3.0) * d, dim=-1), "top": torch.tensor(1 / d)},
    {"d": [1, 2]}, panels={"w": "weights"}, bars=["a", "b", "c"],
    name="small", alt="Three bars of different heights.", say="At d = {d} the number is {top:1}.",
)
"""


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
            # A share stored in steps may be rounded the other way; integers are exact.
            last_digit = packed["step"] if packed["step"] < 1 else 0.0
            near = pytest.approx(unpack(before), rel=1e-3, abs=max(2e-4, 1.01 * last_digit))
            assert unpack(packed) == near, key


@pytest.mark.parametrize("executed", ["static", "live"])
def test_nbval_passes_for_a_page_and_for_a_kernel(executed: str, monkeypatch, tmp_path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SMALL)])
    monkeypatch.setenv(MODE_VARIABLE, executed)
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    NotebookClient(notebook).execute()
    kinds = set(notebook.cells[0].outputs[0].data)
    assert ("application/vnd.jupyter.widget-view+json" in kinds) == (executed == "live")

    def passes(name: str) -> bool:
        nbformat.write(notebook, tmp_path / f"{name}.ipynb")
        options = ["-q", "--nbval", "--nbval-current-env", "--no-cov", "-p", "no:cacheprovider"]
        options.append(f"--nbval-sanitize-with={ROOT / 'tests' / 'nbval_sanitize.cfg'}")
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", *options, f"{tmp_path / name}.ipynb"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode in (0, 1), ran.stdout + ran.stderr
        return ran.returncode == 0

    for mode in ("static", "live"):
        monkeypatch.setenv(MODE_VARIABLE, mode)
        assert passes(f"as_{mode}")
    # What the sentence says is compared; the packed numbers are left to the test above.
    data = notebook.cells[0].outputs[0].data
    data["text/html"] = data["text/html"].replace("the number is 1.0", "the number is 1.1")
    assert not passes("changed")
