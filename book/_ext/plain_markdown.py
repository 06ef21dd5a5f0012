"""Captions and questions stand in the notebooks as plain Markdown, so that JupyterLab and a forge show them too.

Before a chapter is parsed, this extension turns them into what makes a caption and a question of the book: a cell with
the tag ``caption`` becomes the caption of the figure above it, and what stands between ``<!-- quiz NAME -->`` and
``</details>`` becomes the directive ``quiz`` (see `quiz.py`).
"""

import re

import nbformat
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

QUIZ = re.compile(r"^<!-- quiz (\S+) -->\n(.*?^</details>)$", re.MULTILINE | re.DOTALL)
#: The beginning of a question, also of one that is not written as it must be.
BEGINNING = re.compile(r"^\s*<!--\s*quiz.*", re.MULTILINE | re.IGNORECASE)


def with_directives(text: str) -> str:
    """Markdown with its questions as directives.

    Raises:
        ValueError: a question that is not written as the rules want it.
    """
    written = QUIZ.sub(r":::{quiz} \1\n\2\n:::", text)
    if odd := BEGINNING.search(written):
        raise ValueError(
            f"a question begins with a line '<!-- quiz NAME -->' and ends with a line '</details>': {odd[0]!r}"
        )
    return written


def with_captions(cells: list[NotebookNode]) -> list[NotebookNode]:
    """The cells without the captions, which are now in the metadata of the figures.

    Raises:
        ValueError: a caption without a figure above it.
    """
    kept: list[NotebookNode] = []
    for cell in cells:
        if "caption" not in cell.metadata.get("tags", ()):
            kept.append(cell)
            continue
        figure = kept[-1].metadata.get("mystnb", {}).get("figure") if kept else None
        if figure is None or "caption" in figure:
            raise ValueError(f"this caption does not follow the cell of a figure: {cell.source!r}")
        figure["caption"] = cell.source
    return kept


def _rewrite(app: Sphinx, page: str, source: list[str]) -> None:
    if not str(app.env.doc2path(page)).endswith(".ipynb"):
        return
    notebook = nbformat.reads(source[0], as_version=4)
    try:
        notebook.cells = with_captions(notebook.cells)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = with_directives(cell.source)
    except ValueError as fault:
        raise ExtensionError(f"{page}: {fault}") from None
    source[0] = nbformat.writes(notebook)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", _rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
