"""The search shows the passage of each hit, also where the book is opened from the disk.

The search of Sphinx fetches each page that it has found, which browsers refuse for files on the disk. So the texts of
all pages lie in one script, which only the page of the search loads. `search.js` shows the passages.
"""

import json
import re
import unicodedata
from pathlib import Path

from bs4 import BeautifulSoup, Tag
from sphinx.application import Sphinx

PASSAGES, SCRIPT = "passages.js", "search.js"
#: Not text, or not to be read before the reader has tried.
LEFT_OUT = (
    "script, style, template, svg, div.math, .headerlink, .viewcode-link, "
    ".xp-table, .tag_solution, .quiz details"
)
#: Commands of LaTeX as signs; other commands are left out, and their arguments stay.
SIGNS = {
    "cdot": "·", "times": "×", "odot": "⊙", "sum": "∑", "prod": "∏", "sqrt": "√", "top": "⊤", "partial": "∂",
    "le": "≤", "ge": "≥", "ne": "≠", "approx": "≈", "in": "∈", "cap": "∩", "to": "→", "infty": "∞", "pm": "±",
    "dots": "…", "ldots": "…", "lVert": "‖", "rVert": "‖", "mid": "|", "quad": " ", "qquad": " ",
    "log": "log", "exp": "exp", "max": "max", "min": "min", "tanh": "tanh",
}  # fmt: skip
FRACTION = re.compile(r"\\[td]?frac\s*(?:\{([^{}]*)\}|(\d))\s*(?:\{([^{}]*)\}|(\d))")
#: An index, an exponent, or the argument of a command.
GROUP = re.compile(r"([_^]|\\(?![td]?frac)[a-zA-Z]+)\{([^{}]+)\}")


def readable(formula: str) -> str:
    """A formula in LaTeX as plain text.

    >>> readable(r"\\alpha_{ij} = q_i \\cdot k_j / \\sqrt{d}")
    'α_ij = q_i · k_j / √d'
    """
    while formula != (formula := GROUP.sub("\\1\0\\2", FRACTION.sub(r"\1\2/\3\4", formula))):
        pass
    return " ".join(re.sub(r"[{}\\\0]", "", re.sub(r"\\([a-zA-Z]+|[^a-zA-Z])", _sign, formula)).split())


def _sign(command: re.Match) -> str:
    name = command[1]
    if name.isalpha() and name not in SIGNS:
        size = "CAPITAL" if name[0].isupper() else "SMALL"
        greek = name.upper().replace("LAMBDA", "LAMDA")
        try:
            return unicodedata.lookup(f"GREEK {size} LETTER {greek}")
        except KeyError:
            return ""
    return SIGNS.get(name, "")


def passages(article: Tag) -> list[tuple[str, str]]:
    """The anchor and the text of each section and each entry of the reference, in the order of the page."""
    for element in article.select(LEFT_OUT):
        element.extract()
    for formula in article.select("span.math"):
        formula.string = readable(formula.get_text().replace(r"\(", "").replace(r"\)", ""))
    for block in article.select("p, li, dt, dd, td, th, pre, figcaption, summary"):
        block.append(" ")
    # From the inside to the outside, so that no text belongs to two.
    found = []
    for part in reversed(article.select("section[id], dl.py > dt[id]")):
        source = part
        if part.name == "dt":
            source = part.find_parent("details") or part.find_next_sibling("dd")
        if source is not None:
            text = " ".join(source.get_text().split())
            found.append((f"#{part['id']}", text))
            (source if source is part else part.parent).extract()
    return found[::-1]


def _link(app: Sphinx, page: str, _template, _context: dict, _doctree) -> None:
    if page == "search":
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
    static = Path(app.outdir, "_static")
    sheets = sorted(sheet.name for sheet in static.glob("chinese-*.css"))
    (static / PASSAGES).write_text(f"{script}const CHINESE_SHEETS = {json.dumps(sheets)};\n", "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", _link)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
