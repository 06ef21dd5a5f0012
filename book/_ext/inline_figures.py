"""Write matplotlib's drawings into their pages, where they take the colours of the page's theme.

A browser shows a linked SVG as a picture of its own that knows nothing of the theme; see ``utils/plotting.py``.
"""

import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

#: The page has its own font for Chinese characters; see `chinese_font.py`.
FONT = re.compile(r"@font-face\s*{[^}]*}")


def _inline(app: Sphinx, doctree: nodes.document, _page: str) -> None:
    if app.builder.format != "html":
        return
    for image in list(doctree.findall(nodes.image)):
        path = Path(app.srcdir, image["uri"])
        drawing = path.read_text("utf-8") if path.suffix == ".svg" and path.is_file() else ""
        if 'class="chart"' in drawing:
            image.replace_self(nodes.raw("", inlined(drawing, image.get("alt", "")), format="html"))


def inlined(drawing: str, alt: str) -> str:
    """The drawing as it stands in a page, with the words for readers who do not see it."""
    return FONT.sub("", drawing).replace("<svg ", f'<svg role="img" aria-label="{escape(alt)}" ', 1)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-resolved", _inline)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
