"""The Sphinx extension in a small project of its own, without Jupyter Book: what it shows, and what it refuses."""

import json
from pathlib import Path

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from utils.figures.sphinx_extension import run_example, stored_figures

EXAMPLE = """
import torch
from utils.figures import Bars

Bars(
    lambda n: {"w": torch.eye(3)[n]},
    {"n": range(3)},
    panels={"w": "weights"},
    bars=["a", "b", "c"],
    name="example",
    alt='Three bars, ' '"one" of them < full.',
    say="Bar {n} is full.",
)
"""


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    """A notebook that has stored a figure among other outputs."""
    figure = run_example(EXAMPLE.replace('name="example"', 'name="stored"'))
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": "printed"},
        {"output_type": "display_data", "data": {"text/html": ["<b>", "other</b>"]}, "metadata": {}},
        {"output_type": "display_data", "data": {"text/html": figure._repr_html_()}, "metadata": {}},
    ]
    cells = [
        {"cell_type": "markdown", "source": "text"},
        {"cell_type": "code", "source": "", "outputs": outputs},
    ]
    (tmp_path / "nb.ipynb").write_text(json.dumps({"cells": cells}))
    return tmp_path / "nb.ipynb"


def build(folder: Path, text: str, builder: str = "html", page: str = "index.html") -> tuple[str, str]:
    """The page that this text makes, and the warnings of the build."""
    (folder / "index.rst").write_text(f"Title\n=====\n\n{text}\n")
    with docutils_namespace(), (folder / "warnings.txt").open("w+") as warnings:
        out = folder / "out"
        app = Sphinx(
            str(folder),
            None,
            str(out),
            str(folder / "doctrees"),
            builder,
            confoverrides={
                "extensions": ["utils.figures.sphinx_extension"],
                "latex_documents": [("index", "index.tex", "", "", "howto")],
            },
            status=None,
            warning=warnings,
            freshenv=True,
        )
        app.build()
        warnings.seek(0)
        return (out / page).read_text(), warnings.read()


def test_a_stored_figure_brings_script_and_style(notebook):
    page, warnings = build(notebook.parent, ".. explorable:: stored\n   :from: nb")
    assert warnings == ""
    assert stored_figures(notebook)["stored"] in page
    assert "explorables.js" in page
    assert "explorables.css" in page
    for name in ("explorables.js", "explorables.css"):
        assert (notebook.parent / "out" / "_static" / name).stat().st_size > 1000


STORED = ".. explorable:: stored\n   :from: nb"
EXAMPLE_ON_A_PAGE = ".. explorable-example::\n" + EXAMPLE.replace("\n", "\n   ")


@pytest.mark.parametrize("text", [STORED, EXAMPLE_ON_A_PAGE], ids=["stored", "example"])
@pytest.mark.parametrize(
    ("builder", "page", "alt"),
    [
        ("text", "index.txt", 'Three bars, "one" of them < full.'),
        ("latex", "index.tex", "Three bars, “one” of them \\textless{} full."),
        ("xml", "index.xml", "Three bars, “one” of them &lt; full."),
    ],
)
def test_where_no_figure_shows_its_words_do(notebook, text, builder, page, alt):
    written, warnings = build(notebook.parent, text, builder, page)
    assert warnings == ""
    assert alt in written
    assert "Bar 0 is full." in written


@pytest.mark.parametrize("text", [STORED, EXAMPLE_ON_A_PAGE], ids=["stored", "example"])
def test_where_the_figure_shows_its_words_stand_once(notebook, text):
    page, _ = build(notebook.parent, text)
    assert page.count("<p>Bar 0 is full.</p>") == page.count("Bar 0 is full.") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".. explorable:: stored", "say which notebook holds the figure"),
        (".. explorable:: stored\n   :from: elsewhere", "there is no notebook elsewhere.ipynb"),
        (".. explorable:: other\n   :from: nb", "nb.ipynb has no figure 'other', only ['stored']"),
        (".. explorable-example::\n\n   1 + 1", "TypeError: the last line must be a figure, got int"),
        (".. explorable-example::\n\n   x = 1", "TypeError: the last line must be a figure, got NoneType"),
        (".. explorable-example::\n\n   nonsense(", "SyntaxError"),
    ],
)
def test_mistakes_are_told_with_their_place(notebook, text, message):
    _, warnings = build(notebook.parent, text)
    assert message in warnings
    assert "index.rst" in warnings
