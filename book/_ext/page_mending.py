"""Corrections to the pages of Jupyter Book: what a phone or a screen reader needs and no option of the theme gives."""

import base64
import itertools
import json
import re
import shutil
from collections.abc import Callable
from html import escape, unescape
from pathlib import Path

from bs4 import BeautifulSoup
from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx

from utils.figures.chinese import CHINESE
from utils.translator.page.html import Content, page_of, stored_content

#: A piece of code in a text, and the places where it may be broken: in names, before arguments, in checksums.
CODE = re.compile(r'(?<=<span class="pre">)[^<]+')
BREAKS = re.compile(r"(?<=\w)[(_]+(?=\w)|[a-z](?=[A-Z])|[0-9a-f]{16}(?=[0-9a-f]{16})")
#: An option of a command, which is not broken after its dashes.
OPTION = re.compile(r'<span class="pre">(?=--?[\w-]{1,24}</span>)')
#: A formula in a line of text with what must not begin the next line.
FORMULA = re.compile(r'<span class="math notranslate nohighlight">[^<]*</span>[.,;:!?)]+')
#: A signature over several lines is a list of descriptions without terms, which screen readers cannot read well.
SIGNATURE_LINES = re.compile(r'(<span class="sig-paren">\(</span>\s*)<dl>(.*?)</dl>', re.DOTALL)
#: A frame in a notebook with what its page is made of; see ``utils.translator.page.frame``.
FRAME = re.compile(r"(<iframe class=\"translator\"[^>]*) data-page='([^']*)' srcdoc='[^']*'")
#: Where the pages of translators are, and those that come with the course.
PAGES = Path("_static", "translators")
TRANSLATORS = ("en-fr", "zh-en", "en-zh")
#: A player for a sound that lies beside the source of the page.
PLAYED = re.compile(r'<audio\b[^>]* src="([^":]+)"')
#: A drawing has a font for Chinese characters, and so has the page.
FONT = re.compile(r"@font-face\s*{[^}]*}")


def _name_parts(_app: Sphinx, doctree: nodes.document) -> None:
    for cell in doctree.findall(nodes.container):
        if "tag_solution" in cell["classes"] and "prompt_show" in cell:
            cell["prompt_show"], cell["prompt_hide"] = "Show the solution", "Hide the solution"
    for term in doctree.findall(nodes.term):
        if CHINESE.search(term.astext()):
            term["classes"].append("language-zh-Hans")  # becomes lang="zh-Hans"


def _code_below(_app: Sphinx, doctree: nodes.document, _page: str) -> None:
    """Put the folded code of a figure or a table under it: the picture comes first."""
    for cell in doctree.findall(nodes.container):
        fold = cell.children[0] if cell.children else None
        if "tag_hide-input" in cell["classes"] and isinstance(fold, HideCodeCellNode) and len(cell) > 1:
            what = "figure" if any(cell.findall(nodes.figure)) else "table"
            fold["prompt_show"], fold["prompt_hide"] = f"Code of this {what}", "Hide the code"
            fold["classes"].append("code-below")
            cell.remove(fold)
            cell.append(fold)


def _name_columns(_app: Sphinx, doctree: nodes.document) -> None:
    """In a table of the class "cards", put the name of its column into each cell: a phone shows a card for each row."""
    for table in doctree.findall(nodes.table):
        if "cards" not in table["classes"]:
            continue
        (head,) = table.findall(nodes.thead)
        names = [entry.astext() for entry in head.findall(nodes.entry)]
        for row in next(table.findall(nodes.tbody)):
            for name, entry in zip(names[1:], row[1:], strict=True):
                if isinstance(text := next(iter(entry), None), nodes.paragraph):
                    text.insert(0, nodes.inline("", f"{name}: ", classes=["column-name"]))


def _inline_drawings(app: Sphinx, doctree: nodes.document, _page: str) -> None:
    # A linked SVG would not follow the theme of the page.
    for image in list(doctree.findall(nodes.image)):
        path = Path(app.srcdir, image["uri"])
        if path.suffix == ".svg" and path.is_file() and 'class="chart"' in (svg := path.read_text("utf-8")):
            start = f'<svg role="img" aria-label="{escape(image.get("alt", ""))}" '
            svg = FONT.sub("", svg).replace("<svg ", start, 1)
            image.replace_self(nodes.raw("", svg, format="html"))


def _mend(app: Sphinx, page: str, _template: str, context: dict, _doctree) -> None:
    body = FRAME.sub(_written_beside(app, page, context), context.get("body", ""))
    _bring_sounds(app, page, body)
    body = SIGNATURE_LINES.sub(lambda lines: lines[1] + re.sub("<(/?)dd>", r"<\1span>", lines[2]), body)
    body = FORMULA.sub(r'<span class="together">\g<0></span>', body)
    body = OPTION.sub('<span class="pre option">', body)
    body = CODE.sub(lambda code: BREAKS.sub(r"\g<0><wbr/>", code[0]), body)
    # A screen reader would read the label instead of the text that says what is hidden.
    body = body.replace('<summary aria-label="Toggle hidden content">', "<summary>")
    # A list of references has links beside its entries, which the role "list" does not allow.
    context["body"] = body.replace('<div role="list" class="citation-list">', '<div class="citation-list">')
    if CHINESE.search(body):
        app.add_css_file("fonts/chinese.css")
    if contents := context.get("generate_toctree_html"):
        context["generate_toctree_html"] = lambda *args, **kwargs: _name_toggles(contents(*args, **kwargs))


def _bring_sounds(app: Sphinx, page: str, body: str) -> None:
    """Copy the sounds that a page plays: a notebook has players in HTML, which Sphinx does not look into."""
    for name in PLAYED.findall(body):
        beside = Path(page).parent / name
        (app.outdir / beside).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(app.srcdir / beside, app.outdir / beside)


def _written_beside(app: Sphinx, page: str, context: dict) -> Callable[[re.Match], str]:
    """Makes a file of the page within a frame, which a browser loads when the reader comes near it."""
    numbers = itertools.count(1)

    def written(frame: re.Match) -> str:
        content, weights = json.loads(unescape(frame[2]))
        file = _write_page(
            app, f"{page.replace('/', '-')}-{next(numbers)}", content, base64.b64decode(weights)
        )
        return f'{frame[1]} src="{context["pathto"](file.as_posix(), 1)}"'

    return written


def _write_page(app: Sphinx, name: str, content: Content, weights: bytes) -> Path:
    """The page of a translator in the typeface of the book: the first font, which is upright."""
    fonts = Path(app.srcdir, "book", "_assets", "fonts", "text.css").read_text("utf-8")
    font = fonts[: fonts.index("@font-face", fonts.index("@font-face") + 1)]
    file = PAGES / f"{name}.html"
    (app.outdir / PAGES).mkdir(parents=True, exist_ok=True)
    (app.outdir / file).write_text(page_of(content, weights, font=font), "utf-8")
    return file


def _write_translators(app: Sphinx) -> None:
    if app.builder.format == "html":
        for name in TRANSLATORS:
            _write_page(app, name, *stored_content(name))


def _name_toggles(contents: BeautifulSoup | str) -> BeautifulSoup | str:
    """The contents in the sidebar, with a label for each arrow that names the part it unfolds."""
    for entry in contents.select("li:has(> details)") if isinstance(contents, BeautifulSoup) else ():
        entry.summary["aria-label"] = f"Pages of: {entry.a.get_text(strip=True)}"
    return contents


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", _write_translators)
    app.connect("doctree-read", _name_parts)
    app.connect("doctree-read", _name_columns)
    app.connect("doctree-resolved", _code_below)
    app.connect("doctree-resolved", _inline_drawings)
    app.connect("html-page-context", _mend, priority=900)  # after the theme's own
