"""Web fonts with only the Chinese characters of a page, so that every machine can show them.

The glyphs come from Noto Sans CJK (package notojp-matplotlib, SIL Open Font License); a style sheet contains them as
data, since browsers refuse font files from a folder above a page opened as file://. Pages with the same characters
share a sheet.
"""

import hashlib
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from utils.explorables.chinese import CHINESE, font_face

FAMILY = "Course Chinese"


def style_sheet(characters: str) -> str:
    """CSS that declares the font with only these characters."""
    rights = "/* Noto Sans CJK, (c) Adobe, SIL Open Font License 1.1; the glyphs of one page only. */"
    return f"{rights}\n{font_face(FAMILY, characters)}"


def _tell_the_language(_app: Sphinx, doctree: nodes.document) -> None:
    for term in doctree.findall(nodes.term):
        if CHINESE.search(term.astext()):
            term["classes"].append("language-zh-Hans")  # becomes lang="zh-Hans"


def _link(app: Sphinx, _page, _template, context: dict, _doctree) -> None:
    if characters := "".join(sorted(set(CHINESE.findall(context.get("body", ""))))):
        sheet = Path(
            app.outdir, "_static", f"chinese-{hashlib.sha256(characters.encode()).hexdigest()[:8]}.css"
        )
        if not sheet.exists():
            sheet.write_text(style_sheet(characters), "utf-8")
        app.add_css_file(sheet.name)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", _tell_the_language)
    app.connect("html-page-context", _link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
