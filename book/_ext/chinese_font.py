"""A web font with only the Chinese characters of the book, so that every machine can show them.

The glyphs come from Noto Sans CJK (package notojp-matplotlib, SIL Open Font License); the style sheet contains
them as data, since browsers refuse font files from a folder above a page opened as file://.
"""

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from utils.explorables.chinese import CHINESE, font_face

FAMILY = "Course Chinese"
STYLE_SHEET = "chinese.css"


def style_sheet(characters: str) -> str:
    """CSS that declares the font with only these characters."""
    rights = "/* Noto Sans CJK, (c) Adobe, SIL Open Font License 1.1; the glyphs of this book only. */"
    return f"{rights}\n{font_face(FAMILY, characters)}"


def _tell_the_language(_app: Sphinx, doctree: nodes.document) -> None:
    for term in doctree.findall(nodes.term):
        if CHINESE.search(term.astext()):
            term["classes"].append("language-zh-Hans")  # becomes lang="zh-Hans"


def _link(app: Sphinx, _page, _template, context: dict, _doctree) -> None:
    if CHINESE.search(context.get("body", "")):
        app.add_css_file(STYLE_SHEET)


def _write(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    characters = "".join(
        sorted({c for page in out.rglob("*.html") for c in CHINESE.findall(page.read_text("utf-8"))})
    )
    sheet, made_for = out / "_static" / STYLE_SHEET, Path(app.doctreedir) / "chinese_characters.txt"
    if characters and not (
        sheet.exists() and made_for.exists() and made_for.read_text("utf-8") == characters
    ):
        sheet.write_text(style_sheet(characters), "utf-8")
        made_for.write_text(characters, "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", _tell_the_language)
    app.connect("html-page-context", _link)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
