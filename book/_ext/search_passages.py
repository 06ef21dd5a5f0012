"""The search shows a passage of each page that it finds, also if the book is opened from the disk.

Sphinx's own search fetches these pages, which browsers refuse for files on the disk. So the texts of all pages are in
one script, which only the page of the search loads. `search.js` shows the passages.
"""

import json
from pathlib import Path

from bs4 import BeautifulSoup, Tag
from pylatexenc.latex2text import LatexNodes2Text
from sphinx.application import Sphinx

PASSAGES, SCRIPT = "passages.js", "search.js"
#: Not text, or not to be read before the reader has tried.
LEFT_OUT = (
    "script, style, template, svg, div.math, .headerlink, .viewcode-link, "
    ".xp-table, .tag_solution, .quiz details"
)


def passages(article: Tag) -> list[tuple[str, str]]:
    """The anchor and the text of each section and each entry of the reference, in the order of the page."""
    for element in article.select(LEFT_OUT):
        element.extract()
    for formula in article.select("span.math"):
        latex = formula.get_text()[2:-2].replace(r"\tfrac", r"\frac")
        formula.string = LatexNodes2Text().latex_to_text(latex)
    for block in article.select("p, li, dt, dd, td, th, pre, figcaption, summary"):
        block.append(" ")
    # From the inside to the outside, so that no text belongs to two.
    found = []
    for part in reversed(article.select("section[id], dl.py > dt[id]")):
        source = part
        if part.name == "dt":
            source = part.find_parent("details") or part.find_next_sibling("dd")
        if source is not None:
            found.append((f"#{part['id']}", " ".join(source.get_text().split())))
            (source if source is part else part.parent).extract()
    return found[::-1]


def _link(app: Sphinx, page: str, _template, _context: dict, _doctree) -> None:
    if page == "search":
        app.add_css_file("fonts/chinese.css")
        app.add_js_file(PASSAGES)
        app.add_js_file(SCRIPT)


def _write(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    texts = {}
    for name in sorted(app.env.found_docs):
        page = BeautifulSoup(Path(app.builder.get_outfilename(name)).read_text("utf-8"), "html.parser")
        texts[name] = passages(page.find("article"))
    script = f"const PASSAGES = {json.dumps(texts, ensure_ascii=False, separators=(',', ':'))};\n"
    Path(app.outdir, "_static", PASSAGES).write_text(script, "utf-8")


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", _link)
    app.connect("build-finished", _write)
