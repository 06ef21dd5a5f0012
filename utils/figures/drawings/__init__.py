"""Drawings that never change: SVG files beside this one, and the loader that shows one in a notebook.

Pictures with controls are the ``kinds``; charts are drawn by ``plotting``. The look of all drawings is here, so a file
holds shapes and labels alone.
Explained in book/explorables.
"""

import re
from importlib.resources import files
from xml.sax.saxutils import quoteattr

from utils.figures.colours import DARK_PAGES, css_variables

__all__ = ["Drawing", "drawing"]

_FOLDER = files(__name__)
_DARK = ",".join(f"{page} .drawing" for page in DARK_PAGES)
#: ``--c`` is the colour of the role that a shape has, and grey is the colour of those without a role.
_STYLE = (
    f".drawing{{margin:1rem 0;{css_variables(dark=False)};--c:var(--grey);"
    "--ground:var(--pst-color-background,var(--jp-layout-color0,var(--paper)))}"
    # On screens only: a dark page is printed in light colours.
    f"@media screen{{{_DARK}{{{css_variables(dark=True)}}}}}"
    ".drawing svg{display:block;width:100%;max-width:460px;height:auto}"
    ".drawing text{font:13px var(--pst-font-family-base,system-ui,sans-serif);fill:currentColor}"
    # A typeface with wide letters is drawn smaller, so that its words fit where those of the book do.
    ".drawing text{font-size-adjust:.49}"
    ".drawing .name{font-weight:600}.drawing .sub{font-size:10.6px}"
    ".drawing .band{fill:currentColor;fill-opacity:.05}"
    ".drawing path,.drawing rect,.drawing circle{fill:none}"
    ".drawing .line{stroke:var(--c);stroke-width:1.3}.drawing .head{fill:var(--c)}"
    ".drawing .box{fill:var(--ground);stroke:var(--c);stroke-width:1.3}"
    ".drawing .tint{fill:var(--c);fill-opacity:.25}.drawing .full{fill:var(--c)}"
    ".drawing .query{--c:var(--query)}.drawing .key{--c:var(--key)}"
    ".drawing .value{--c:var(--value)}.drawing .weight{--c:var(--weight)}"
    ".drawing text:is(.query,.key,.value,.weight){fill:var(--c)}"
    # The theme puts HTML outputs on a light card in dark mode; the drawing has dark colours of its own.
    'html[data-theme="dark"] .bd-content div.cell_output .output.text_html:has(> .drawing)'
    "{background:none;color:inherit;padding:0}"
    "@media(forced-colors:active){.drawing .tint,.drawing .full{forced-color-adjust:none}}"
)
#: What is in a file for those who read it: comments, and lines and indents between shapes.
_FOR_READERS = re.compile(r"<!--.*?-->|(?<=>)\s*\n\s*(?=<)", re.DOTALL)


class Drawing:
    """A drawing as a notebook shows it: SVG in HTML, which follows the dark mode of its page.

    Make it with :func:`drawing`.

    Attributes:
        name: of its file.
        svg: the picture.
        alt: what is drawn, for readers who do not see it.
    """

    def __init__(self, name: str, svg: str, alt: str):
        self.name, self.svg, self.alt = name, svg, alt

    def _repr_html_(self) -> str:
        return f'<figure class="drawing"><style>{_STYLE}</style>{self.svg}</figure>'

    def __repr__(self) -> str:
        return f"Drawing {self.name}: {self.alt}"


def drawing(name: str, *, alt: str) -> Drawing:
    """A drawing of the course.

    Args:
        name: of a file in ``utils/figures/drawings``, without its suffix.
        alt: what is drawn and what to see, for readers who do not see it. It is also the text that the tests compare.

    Raises:
        ValueError: no file of this name, or no text.

    >>> drawing("transformer", alt="An encoder and a decoder with 2 layers each.")
    Drawing transformer: An encoder and a decoder with 2 layers each.
    """
    names = sorted(file.name.removesuffix(".svg") for file in _FOLDER.iterdir() if file.name.endswith(".svg"))
    if name not in names:
        raise ValueError(f"there is no drawing {name!r}, only {', '.join(names)}")
    if not alt.strip():
        raise ValueError(f"alt must say what is drawn, got {alt!r}")
    svg = _FOR_READERS.sub("", (_FOLDER / f"{name}.svg").read_text("utf-8")).strip()
    return Drawing(name, svg.replace("<svg ", f'<svg role="img" aria-label={quoteattr(alt)} ', 1), alt)
