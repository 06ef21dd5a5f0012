"""A web font with the Chinese characters of the book and no others, so that they show on every machine.

The glyphs come from Noto Sans CJK (package notojp-matplotlib, SIL Open Font License); the style sheet carries
them as data, since browsers refuse font files from a folder above a page opened as file://.
"""

import base64
import io
import re
from importlib.util import find_spec
from pathlib import Path

from docutils import nodes
from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx

FAMILY = "Course Chinese"
STYLE_SHEET = "chinese.css"
#: Ideographs, their punctuation, and full-width forms.
CHINESE = re.compile("[\u2e80-\u303f\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
UNICODE_RANGE = "U+2E80-303F, U+3400-9FFF, U+F900-FAFF, U+FF00-FFEF"


def font_path() -> Path:
    """Noto Sans CJK in its package, which is found and not imported: importing it loads matplotlib."""
    spec = find_spec("notojp_matplotlib")
    return Path(spec.submodule_search_locations[0]) / "fonts" / "NotoSansCJKjp-Regular.otf"


def chinese_forms(font: TTFont, characters: str) -> dict[int, str]:
    """Glyph names of the characters in their mainland Chinese form.

    The font shares one code point between the languages that use it and draws the Japanese form unless the
    text is tagged; the substitutions of its feature ``locl`` for simplified Chinese are made here, once.
    """
    glyphs = {ord(c): name for c in characters if (name := font.getBestCmap().get(ord(c)))}
    table = font["GSUB"].table
    script = next(s for s in table.ScriptList.ScriptRecord if s.ScriptTag == "hani").Script
    language = next(r for r in script.LangSysRecord if r.LangSysTag == "ZHS ").LangSys
    for index in language.FeatureIndex:
        record = table.FeatureList.FeatureRecord[index]
        if record.FeatureTag == "locl":
            for lookup in record.Feature.LookupListIndex:
                for rule in table.LookupList.Lookup[lookup].SubTable:
                    mapping = getattr(rule, "ExtSubTable", rule).mapping
                    glyphs = {code: mapping.get(name, name) for code, name in glyphs.items()}
    return glyphs


def style_sheet(characters: str) -> str:
    """CSS that declares the font, cut down to these characters."""
    font = TTFont(font_path(), lazy=True)
    glyphs = chinese_forms(font, characters)
    for cmap in font["cmap"].tables:
        if cmap.isUnicode() and hasattr(cmap, "cmap"):
            cmap.cmap = dict(glyphs)
    font["cmap"].tables = [t for t in font["cmap"].tables if t.isUnicode() and t.format in (4, 12)]
    options = subset.Options(layout_features=[], name_IDs=[0, 13, 14], hinting=False, desubroutinize=True)
    options.drop_tables += ["VORG", "vhea", "vmtx", "BASE"]
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=glyphs)
    subsetter.subset(font)
    font.flavor = "woff"
    buffer = io.BytesIO()
    font.save(buffer)
    data = base64.b64encode(buffer.getvalue()).decode()
    return (
        "/* Noto Sans CJK, (c) Adobe, SIL Open Font License 1.1; the glyphs of this book only. */\n"
        f'@font-face {{ font-family: "{FAMILY}"; font-display: swap; unicode-range: {UNICODE_RANGE};\n'
        f"  src: url(data:font/woff;base64,{data}) format('woff'); }}\n"
    )


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
