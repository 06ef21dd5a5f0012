"""The typeface of the book: Source Sans, cut down to the characters and weights that the book uses.

The glyphs come from the package fontpkg-source-sans-3 (SIL Open Font License). The licence reserves the name of the
font for the whole of it, so the part of it in the book has a name of its own.
"""

import base64
import io
from importlib.util import find_spec
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer
from sphinx.application import Sphinx

FAMILY = "Course Sans"
STYLE_SHEET = "text_font.css"
#: Western European letters, punctuation, and the signs that stand in text outside formulas.
CHARACTERS = [
    *range(0x20, 0x7F),
    *range(0xA0, 0x100),
    *range(0x2010, 0x2027),
    *map(ord, "ŒœŠšŽžŸāąćčęěłŁńőřśűůźŻż′″€→←↑↓−√×·≈≠≤≥∞"),
]
#: Each file of the package, with the weights that the book needs of it.
FACES = {
    "SourceSans3[wght].ttf": ("normal", (400, 700)),
    "SourceSans3-Italic[wght].ttf": ("italic", (400, 400)),
}


def style_sheet() -> str:
    """CSS that declares the typeface and contains it as data."""
    rights = "/* From Source Sans 3, (c) Adobe, SIL Open Font License 1.1. */"
    return "\n".join([rights, *(_face(name, *face) for name, face in FACES.items())]) + "\n"


def _face(name: str, style: str, weights: tuple[int, int]) -> str:
    (folder,) = find_spec("fontpkg_source_sans_3").submodule_search_locations
    font = TTFont(Path(folder, "files", name), recalcTimestamp=False)
    features = ["kern"]
    subsetter = subset.Subsetter(
        subset.Options(hinting=False, name_IDs=[0, 13, 14], layout_features=features)
    )
    subsetter.populate(unicodes=CHARACTERS)
    subsetter.subset(font)
    small = io.BytesIO()
    font.save(small)
    small.seek(0)  # the tables of a font must be read anew before its weights are cut down
    lightest, heaviest = weights
    font = instancer.instantiateVariableFont(
        TTFont(small), {"wght": weights if lightest < heaviest else lightest}
    )
    font.flavor = "woff"
    buffer = io.BytesIO()
    font.save(buffer)
    data = base64.b64encode(buffer.getvalue()).decode()
    return (
        f'@font-face {{ font-family: "{FAMILY}"; font-style: {style}; font-weight: {lightest} {heaviest};\n'
        f"  src: url(data:font/woff;base64,{data}) format('woff'); }}"
    )


def _write(app: Sphinx) -> None:
    if app.builder.format == "html":
        sheet = Path(app.outdir, "_static", STYLE_SHEET)
        if not sheet.exists():
            sheet.parent.mkdir(parents=True, exist_ok=True)
            sheet.write_text(style_sheet(), "utf-8")
        app.add_css_file(STYLE_SHEET)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
