"""Write the fonts of the book into style sheets in `book/_assets/fonts`: `make fonts`.

A style sheet contains its font as data, since browsers refuse font files from a folder above a page opened as file://.
"""

import base64
import io
from importlib.resources import files
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

from utils.corpus.whole_files import write_whole
from utils.figures.chinese import font_face

ROOT = Path(__file__).parents[1]
#: Western European letters, punctuation, and the signs that stand in text outside formulas.
LETTERS = {*range(0x20, 0x7F), *range(0xA0, 0x100), *range(0x2010, 0x2027)} | set(
    map(ord, "ŒœŠšŽžŸāąćčęěłŁńőřśűůźŻż′″€→←↑↓−√×·≈≠≤≥∞◆")
)
#: Icons of buttons and boxes, with the names in the font.
ICONS = """angle-down angle-left angle-right arrow-up-right-from-square arrow-up bars bell check chevron-down chevron-up
    circle-check circle-exclamation circle-half-stroke circle-info circle-xmark code download expand file file-lines
    file-pdf github house lightbulb list magnifying-glass magnifying-glass-minus moon outdent pencil play rocket share
    sun triangle-exclamation""".split()  # noqa: SIM905


def face(family: str, font: TTFont, codes: set[int], weights: tuple[int, int], style: str = "normal") -> str:
    """CSS that declares and contains a font with these characters of another one."""
    options = subset.Options(hinting=False, name_IDs=[0, 13, 14], layout_features=["kern"])
    subsetter, small = subset.Subsetter(options), io.BytesIO()
    subsetter.populate(unicodes=codes)
    subsetter.subset(font)
    if "fvar" in font:
        instancer.instantiateVariableFont(font, {"wght": weights}, inplace=True)
    font.flavor = "woff"
    font.save(small)
    data = base64.b64encode(small.getvalue()).decode()
    return (
        f'@font-face {{ font-family: "{family}"; font-style: {style}; font-weight: {weights[0]} {weights[1]};\n'
        f"  font-display: block; src: url(data:font/woff;base64,{data}) format('woff'); }}\n"
    )


def write(name: str, origin: str, *faces: str) -> None:
    rights = f"/* From {origin}, SIL Open Font License 1.1. */\n"
    write_whole(ROOT / "book" / "_assets" / "fonts" / name, rights + "".join(faces))


def main() -> None:
    sans = files("fontpkg_source_sans_3") / "files"
    roman, italic = (
        TTFont(sans / f"SourceSans3{part}[wght].ttf", recalcTimestamp=False) for part in ("", "-Italic")
    )
    # The licence reserves the name of the font for the whole of it.
    upright = face("Course Sans", roman, LETTERS, (400, 700))
    slanted = face("Course Sans", italic, LETTERS, (400, 400), "italic")
    write("text.css", "Source Sans 3, (c) Adobe", upright, slanted)

    texts = [path for folder in ("chapters", "book", "utils") for path in (ROOT / folder).rglob("*")]
    text = "".join(
        path.read_text("utf-8") for path in texts if path.suffix in (".ipynb", ".md", ".py", ".tsv")
    )
    write("chinese.css", "Noto Sans CJK, (c) Adobe", font_face("Course Chinese", text))

    icons = []
    for name, family, weight in (("solid-900", "Free", 900), ("brands-400", "Brands", 400)):
        path = f"theme/pydata_sphinx_theme/static/vendor/fontawesome/webfonts/fa-{name}.ttf"
        font = TTFont(files("pydata_sphinx_theme") / path, recalcTimestamp=False)
        codes = {code for code, icon in font.getBestCmap().items() if icon in ICONS}
        icons.append(face(f"Font Awesome 6 {family}", font, codes, (weight, weight)))
    write("icons.css", "Font Awesome Free 6, (c) Fonticons", *icons)


if __name__ == "__main__":
    main()
