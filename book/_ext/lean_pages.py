"""Pages load what they use and no more.

The theme brings a script with two thousand icons, of which the book shows twenty, rules for many things that the book
has not, and each page would load style sheets and scripts for what is not on it. Here the icons in use become a small
font, which the theme's style sheet contains as data; the sheet keeps the rules that some page can use; and a page links
only to the assets that it needs. MathJax comes without its menu, which is its largest part. In code only the words that
have a colour of their own are elements.
"""

import base64
import io
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TextIO

import pydata_sphinx_theme
from fontTools import subset
from fontTools.ttLib import TTFont
from pygments.formatters import HtmlFormatter
from pygments.styles import get_style_by_name
from pygments.token import Text
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.highlighting import PygmentsBridge

#: Parts of the names of assets, and what the text of a page contains if it needs them.
NEEDED_FOR = {
    "sphinx-thebe": r"(?!)",  # never: the book has no live code
    "mathjax": r'class="math',
    "sphinx-design": r'class="sd-',
    "design-tabs": r'class="sd-tab',
    "togglebutton": r'class="[^"]*\b(toggle|dropdown)\b',
    "copybutton": r'class="highlight',
    "clipboard": r'class="highlight',
}

THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
THEME_STYLE = Path("styles", "pydata-sphinx-theme.css")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
RULE = re.compile(r"([^{}]+)(\{[^{}]*\})")
#: The commas between selectors; those in brackets stay.
BETWEEN_SELECTORS = re.compile(r",(?![^(]*\))")
IN_BRACKETS = re.compile(r"\((?:[^()]|\([^()]*\))*\)")
CLASS = re.compile(r"\.(-?[a-zA-Z_][\w-]*)")
WORD = re.compile(r"-?[a-zA-Z_][\w-]*")
ICON_FACE = re.compile(
    r"@font-face\{[^}]*?(font-family:[^;]*Font Awesome[^;]*;).*?(font-weight:\d+);src:([^}]*)\}"
)
#: A character of the range in which icons lie, as it is or as an escape.
ICON = re.compile(r"[\ue000-\uf8ff]|\\([ef][0-9a-f]{3})\b")

#: The parts of MathJax that a page loads: it has no menu, which makes every formula a stop for the tab key.
MATHJAX = ["core", "input/tex", "output/chtml", "a11y/assistive-mml"]


#: The colours of code on light and on dark pages: the theme's own.
CODE_STYLES = {
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


@cache
def looks_like_text(token: tuple[str, ...]) -> bool:
    """Whether this kind of word has the colour of plain text on light pages and on dark ones."""
    styles = map(get_style_by_name, CODE_STYLES.values())
    return all(style.style_for_token(token) == style.style_for_token(Text) for style in styles)


class LeanFormatter(HtmlFormatter):
    """Code without an element for each name, bracket and comma: they would be nearly half of a chapter's elements."""

    def format_unencoded(self, tokensource: Iterable[tuple[tuple[str, ...], str]], outfile: TextIO) -> None:
        plain = ((Text if looks_like_text(token) else token, text) for token, text in tokensource)
        super().format_unencoded(plain, outfile)


def _configure(_app: Sphinx, config: Config) -> None:
    config.html_theme_options = {**config.html_theme_options, **CODE_STYLES}
    config.mathjax_path = "mathjax/startup.js"
    config.mathjax3_config = {**(config.mathjax3_config or {}), "loader": {"load": MATHJAX}}


def _drop_unused(_app: Sphinx, _page, _template, context: dict, _doctree) -> None:
    body = context.get("body", "")

    def is_used(asset: object) -> bool:
        return all(re.search(sign, body) for part, sign in NEEDED_FOR.items() if part in str(asset.filename))

    for files in ("css_files", "script_files"):
        context[files] = [asset for asset in context[files] if is_used(asset)]


def lean_style(style: str, words: set[str], others: str) -> str:
    """The theme's style sheet with the rules that a page can use, and with a small font of icons in the place of files.

    Args:
        style: the style sheet as the theme has it.
        words: all words of pages and scripts; a rule for a class that is not among them is left out.
        others: further style sheets that show icons.
    """

    def used(rule: re.Match) -> str:
        selectors = [
            selector
            for selector in BETWEEN_SELECTORS.split(rule[1])
            if words.issuperset(CLASS.findall(IN_BRACKETS.sub("", selector)))
        ]
        return ",".join(selectors) + rule[2] if selectors else ""

    rights = "\n".join(COMMENT.findall(style))
    style = RULE.sub(used, COMMENT.sub("", style))
    codes = {int(icon[1], 16) if icon[1] else ord(icon[0]) for icon in ICON.finditer(style + others)}

    def face(rule: re.Match) -> str:
        (path,) = re.findall(r"url\(\.\./([^)]*\.ttf)\)", rule[3])
        data = _font(THEME / path, codes)
        source = f"src:url(data:font/woff;base64,{data}) format('woff')"
        return (
            f"@font-face{{font-display:block;{rule[1]}font-style:normal;{rule[2]};{source}}}" if data else ""
        )

    return f"{rights}\n{ICON_FACE.sub(face, style)}"


def _font(path: Path, codes: set[int]) -> str:
    """A font with the glyphs of these codes, as base64; empty if it has none of them."""
    font = TTFont(path, lazy=True, recalcTimestamp=False)
    codes = codes & font.getBestCmap().keys()
    if not codes:
        return ""
    subsetter = subset.Subsetter(subset.Options(hinting=False, name_IDs=[0, 13, 14], layout_features=[]))
    subsetter.populate(unicodes=codes)
    subsetter.subset(font)
    font.flavor = "woff"
    buffer = io.BytesIO()
    font.save(buffer)
    return base64.b64encode(buffer.getvalue()).decode()


def _write_style(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    used = [
        *out.rglob("*.html"),
        *(out / "_static").glob("*.js"),
        *(out / "_static" / "scripts").glob("*.js"),
    ]
    words = {
        word
        for path in used
        if path.name != "fontawesome.js"
        for word in WORD.findall(path.read_text("utf-8"))
    }
    sheets = (path for path in (out / "_static").rglob("*.css") if path.name != THEME_STYLE.name)
    others = "".join(path.read_text("utf-8") for path in sheets)
    style = lean_style((THEME / THEME_STYLE).read_text("utf-8"), words, others)
    (out / "_static" / THEME_STYLE).write_text(style, "utf-8")
    for name in ("basic.css", "mystnb.*.css", "styles/sphinx-book-theme.css"):  # copied anew in every build
        for sheet in (out / "_static").glob(name):
            sheet.write_text(lean_style(sheet.read_text("utf-8"), words, ""), "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    PygmentsBridge.html_formatter = LeanFormatter
    app.connect("config-inited", _configure, priority=900)  # after MathJax's own
    app.connect("html-page-context", _drop_unused, priority=950)  # after all that add assets
    app.connect("build-finished", _write_style)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
