"""nbval and `chapters/conftest.py` compare figures with sliders: what they let through and what they refuse."""

import base64
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from utils.figures.figure import MODE_VARIABLE
from utils.figures.sphinx_extension import run_example

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
FIGURE = """
import numpy as np
from utils.figures import Bars

Bars(
    lambda d: {"w": np.array([0.5, 0.25, 0.125]) / d, "top": np.array(1 / d), "count": np.array(3 * d)},
    {"d": [1, 2]}, panels={"w": "weights"}, bars=["a", "b", "c"],
    name="small", alt="Three bars of different heights.", say="At d = {d} the number is {top:1}.",
)
"""


def with_numbers(key: str, change: Callable[[np.ndarray], np.ndarray], dtype: str) -> Callable[[str], str]:
    """A change of HTML: the stored integers of one packed array are others."""

    def changed(html: str) -> str:
        before = re.search(rf'"{key}":\{{"data":"([^"]*)"', html)[1]
        numbers = np.frombuffer(base64.b64decode(before), dtype)
        after = base64.b64encode(change(numbers).astype(dtype).tobytes()).decode()
        assert after != before
        return html.replace(before, after)

    return changed


#: What is stored in place of the figure's own HTML, and whether the comparison must pass.
STORED: dict[str, tuple[Callable[[str], str], bool]] = {
    "the same": (lambda html: html, True),
    "a last digit rounded the other way": (with_numbers("w", lambda w: w + (w == w.max()), "<u2"), True),
    "another share": (with_numbers("w", lambda w: w + 100 * (w == w.max()), "<u2"), False),
    "another integer": (with_numbers("count", lambda count: count + 1, "<u1"), False),
    "another sentence": (lambda html: html.replace("the number is 1.0", "the number is 1.1"), False),
    "another axis": (lambda html: html.replace('"values":[1,2]', '"values":[1,3]'), False),
}


def test_nbval_compares_stored_figures(monkeypatch, tmp_path: Path) -> None:
    cells, expected = [], []
    for mode_now, mode_then in (("static", "live"), ("live", "static")):
        monkeypatch.setenv(MODE_VARIABLE, mode_then)
        figure = run_example(FIGURE)
        bundle = figure._repr_mimebundle_()
        assert ("application/vnd.jupyter.widget-view+json" in bundle) == (mode_then == "live")
        for change, passes in STORED.values():
            data = bundle | {"text/html": change(bundle["text/html"])}
            assert passes or data != bundle
            expected.append("passed" if passes else "failed")
            source = f"import os\nos.environ['{MODE_VARIABLE}'] = '{mode_now}'\n{FIGURE}"
            output = new_output("execute_result", data, execution_count=len(expected))
            cells.append(new_code_cell(source, execution_count=len(expected), outputs=[output]))
    # A cell whose output nbval ignores may have other numbers: those of trained weights.
    ignored = new_code_cell(**{key: cells[2][key] for key in ("source", "execution_count", "outputs")})
    ignored.metadata["tags"] = ["nbval-ignore-output"]
    nbformat.write(new_notebook(cells=[*cells, ignored]), tmp_path / "figures.ipynb")
    shutil.copy(ROOT / "chapters" / "conftest.py", tmp_path)
    sanitize = ROOT / "tests" / "chapters" / "nbval_sanitize.cfg"
    options = ["-rA", "--nbval", "--nbval-current-env", "--color=no", "-p", "no:cacheprovider"]
    options += [f"--nbval-sanitize-with={sanitize}", f"--rootdir={tmp_path}"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "figures.ipynb"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    outcomes = re.findall(r"^(PASSED|FAILED) figures\.ipynb::Cell (\d+)", ran.stdout, re.MULTILINE)
    by_cell = {int(number): outcome.lower() for outcome, number in outcomes}
    assert by_cell == dict(enumerate([*expected, "passed"])), ran.stdout
