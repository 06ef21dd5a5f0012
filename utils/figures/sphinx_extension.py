"""A Sphinx extension for figures with sliders: a script and a style sheet for the book, and two directives.

`explorable` shows a figure that a notebook of the book has stored, `explorable-example` runs a few lines of code
while the book is built and shows them with the figure in their last line. The figures are drawn in ``kinds``.
Explained in book/explorables.
"""

import ast
import json
import re
from html import unescape
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from utils.figures.figure import Figure
from utils.figures.live import page_script, style

SCRIPT, STYLE_SHEET = "explorables.js", "explorables.css"
#: The beginning of the HTML of a figure.
MARK = '<figure class="xp"'


class Explorable(SphinxDirective):
    """A figure of a notebook by its name, ``{explorable} NAME``, with the notebook's path as ``:from:``."""

    required_arguments = 1
    option_spec: ClassVar = {"from": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """The notebook's stored output, unchanged."""
        if "from" not in self.options:
            raise self.error("say which notebook holds the figure: ':from: chapters/NOTEBOOK'")
        notebook = Path(self.env.srcdir, self.options["from"]).with_suffix(".ipynb")
        if not notebook.is_file():
            raise self.error(f"there is no notebook {notebook.name}")
        self.env.note_dependency(str(notebook))
        (name,) = self.arguments
        stored = stored_figures(notebook)
        if name not in stored:
            raise self.error(f"{notebook.name} has no figure {name!r}, only {sorted(stored)}")
        return _shown(stored[name])


class ExplorableExample(SphinxDirective):
    """Run code whose last line is a figure while the book is built, and show the code and the figure."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The code, and below it the figure."""
        code = "\n".join(self.content)
        try:
            figure = run_example(code)
        except Exception as error:
            raise self.error(f"the example does not run: {type(error).__name__}: {error}") from error
        return [nodes.literal_block(code, code, language="python"), *_shown(figure._repr_html_())]


def _shown(html: str) -> list[nodes.Node]:
    """A figure, and in its place its description and its sentence for builders that write no HTML."""
    texts = re.search(r' alt="(.*?)".*?<p>(.*?)</p>', html, re.DOTALL)
    words = [nodes.paragraph("", unescape(text)) for text in texts.groups()]
    return [nodes.raw("", html, format="html"), addnodes.only("", *words, expr="not html")]


def stored_figures(notebook: Path) -> dict[str, str]:
    """HTML of each figure that a notebook has stored, by name."""
    figures = {}
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            html = "".join(output.get("data", {}).get("text/html", ()))
            if html.startswith(MARK):
                figures[html.split('id="', 1)[1].split('"', 1)[0]] = html
    return figures


def run_example(code: str) -> Figure:
    """Run code and return the figure that its last line evaluates to.

    Raises:
        TypeError: the last line is not a figure.
    """
    *statements, last = ast.parse(code).body
    names: dict[str, object] = {"__name__": "example"}
    exec(compile(ast.Module(statements, []), "<example>", "exec"), names)
    figure = eval(ast.unparse(last), names) if isinstance(last, ast.Expr) else None
    if not isinstance(figure, Figure):
        raise TypeError(f"the last line must be a figure, got {type(figure).__name__}")
    return figure


def _write_assets(app: Sphinx) -> None:
    if app.builder.format == "html":
        static = Path(app.outdir) / "_static"
        static.mkdir(parents=True, exist_ok=True)
        (static / SCRIPT).write_text(page_script(), "utf-8")
        (static / STYLE_SHEET).write_text(style(), "utf-8")


def _link_assets(app: Sphinx, _page, _template, context: dict, _doctree) -> None:
    if MARK in context.get("body", ""):
        app.add_js_file(SCRIPT, loading_method="defer")
        app.add_css_file(STYLE_SHEET)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx; the book names this module among its extensions."""
    app.add_directive("explorable", Explorable)
    app.add_directive("explorable-example", ExplorableExample)
    app.connect("builder-inited", _write_assets)
    app.connect("html-page-context", _link_assets)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
