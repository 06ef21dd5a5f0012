"""The Chinese characters of a text as a small web font, so that they show on every machine.

The glyphs come from Noto Sans CJK (package notojp-matplotlib, SIL Open Font License).
"""

import base64
import io
import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

#: Ideographs, their punctuation, and full-width forms.
CHINESE = re.compile("[\u2e80-\u303f\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
UNICODE_RANGE = "U+2E80-303F, U+3400-9FFF, U+F900-FAFF, U+FF00-FFEF"


def font_path() -> Path:
    """The path of Noto Sans CJK. Its package is not imported, because it imports matplotlib."""
    spec = find_spec("notojp_matplotlib")
    return Path(spec.submodule_search_locations[0]) / "fonts" / "NotoSansCJKjp-Regular.otf"


def chinese_forms(font: TTFont, characters: str) -> dict[int, str]:
    """Glyph names of the characters in their mainland Chinese form.

    The font has one code point for all languages that use a character, and draws the Japanese form unless the text
    has a language tag. This function makes the substitutions of its feature ``locl`` for simplified Chinese in advance.
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


def font_face(family: str, text: str) -> str:
    """CSS that declares a font with the Chinese characters of a text and no others; empty if it has none."""
    characters = "".join(sorted(set(CHINESE.findall(text))))
    return _font_face(family, characters) if characters else ""


@lru_cache(maxsize=64)  # making the font takes longer than drawing the picture that needs it
def _font_face(family: str, characters: str) -> str:
    # The largest box of its glyphs may stay that of the whole font: to compute it takes half of the time.
    font = TTFont(font_path(), lazy=True, recalcTimestamp=False, recalcBBoxes=False)
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
        f'@font-face {{ font-family: "{family}"; font-display: swap; unicode-range: {UNICODE_RANGE};\n'
        f"  src: url(data:font/woff;base64,{data}) format('woff'); }}\n"
    )
