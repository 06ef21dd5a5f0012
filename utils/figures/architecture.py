"""One drawing of the whole translator, encoder, attention and decoder, with the shape on every arrow.

Chapters show it with their own part in colour. Figures with numbers that change are the ``kinds``.
Explained in chapters/bahdanau_decoder.
"""

import re
from collections.abc import Sequence
from importlib.resources import files
from xml.sax.saxutils import quoteattr

from utils.figures.colours import COLOURS

#: The parts that can be in colour, in the order in which a step of decoding uses them.
PARTS = ("encoder", "scores", "weights", "context", "decoder")

#: The variables of the style sheet that are colours of the course. Scores are grey, and so is what has no role.
_COLOURS = {"q": "query", "k": "key", "v": "value", "w": "weight", "n": "grey"}


def _css_variables(*, dark: bool) -> str:
    return ";".join(f"--{variable}:{COLOURS[name][dark]}" for variable, name in _COLOURS.items())


#: The style of the drawing, and of others that look like it.
#:
#: :meta hide-value:
STYLE = (
    f".architecture{{margin:1rem 0;{_css_variables(dark=False)};--dim:#6b6b6b;--faint:#ccc;"
    "--paper:var(--pst-color-background,var(--jp-layout-color0,#fff))}"
    # On screens only: a dark page is printed in light colours.
    '@media screen{html[data-theme="dark"] .architecture,body[data-jp-theme-light="false"] .architecture,'
    'body.vscode-dark .architecture,html[theme="dark"] .architecture'
    f"{{{_css_variables(dark=True)};--dim:#949494;--faint:#484848}}}}"
    ".architecture svg{display:block;width:100%;max-width:460px;height:auto}"
    ".architecture text{font:13px var(--pst-font-family-base,system-ui,sans-serif);fill:currentColor}"
    # A typeface with wide letters is drawn smaller, so that its words fit where those of the book do.
    ".architecture text{font-size-adjust:.49}"
    ".architecture .name{font-weight:600}.architecture .sub{font-size:10.6px}"
    ".architecture .band{fill:currentColor;fill-opacity:.05}"
    ".architecture path,.architecture rect,.architecture circle{fill:none}"
    ".architecture .line{stroke:var(--c);stroke-width:1.3}.architecture .head{fill:var(--c)}"
    ".architecture .box{fill:var(--paper);stroke:var(--c);stroke-width:1.3}"
    ".architecture .tint{fill:var(--c);fill-opacity:.25}.architecture .full{fill:var(--c)}"
    ".architecture .q{--c:var(--q)}.architecture .k{--c:var(--k)}.architecture .v{--c:var(--v)}"
    ".architecture .w{--c:var(--w)}.architecture .n{--c:var(--n)}.architecture text:is(.q,.k,.v){fill:var(--c)}"
    ".architecture .off{--q:var(--faint);--k:var(--faint);--v:var(--faint);--w:var(--faint);--n:var(--faint)}"
    ".architecture .off text{fill:var(--dim)}"
    # The theme puts HTML outputs on a light card in dark mode; the drawing has dark colours of its own.
    'html[data-theme="dark"] .bd-content div.cell_output .output.text_html:has(> .architecture)'
    "{background:none;color:inherit;padding:0}"
    "@media(forced-colors:active){.architecture .tint,.architecture .full{forced-color-adjust:none}}"
)

#: The drawing with all its parts; comments and indents are for those who read the file.
_FILE = files("utils.figures").joinpath("architecture.svg")
_DRAWING = re.sub(r"<!--.*?-->|^ +|\n", "", _FILE.read_text("utf-8"), flags=re.MULTILINE)


class Architecture:
    """The drawing as a notebook shows it: SVG in HTML, which follows the dark mode of its page.

    Make it with :func:`architecture`. Explained in chapters/bahdanau_decoder.

    Attributes:
        lit: the parts that are in colour.
        alt: what is drawn, for readers who do not see it.
    """

    def __init__(self, lit: Sequence[str]):
        self.lit = tuple(lit)
        self.alt = _ALT + (
            "" if self.lit == PARTS else f" In colour: {', '.join(self.lit)}; the rest is grey."
        )

    def svg(self) -> str:
        """The picture."""

        def with_state(group: re.Match) -> str:
            return f"{group[0]} {'on' if set(self.lit).intersection(group[1].split()) else 'off'}"

        drawing = _DRAWING.replace('aria-label=""', f"aria-label={quoteattr(self.alt)}")
        return re.sub('<g class="([a-z ]+)', with_state, drawing)

    def _repr_html_(self) -> str:
        return f'<figure class="architecture"><style>{STYLE}</style>{self.svg()}</figure>'

    def __repr__(self) -> str:
        return f"Encoder, attention and decoder; in colour: {', '.join(self.lit)}"


def architecture(lit: str | Sequence[str] = PARTS) -> Architecture:
    """Draw encoder, attention and decoder at the moment after "Marie a trouvé la petite".

    Args:
        lit: the part, or the parts, that are in colour; the rest is grey. All of :data:`PARTS` by default.

    Raises:
        ValueError: no part, or one that the drawing does not have.

    >>> architecture(lit="scores")
    Encoder, attention and decoder; in colour: scores
    >>> architecture(lit=("encoder", "decoder"))
    Encoder, attention and decoder; in colour: encoder, decoder
    """
    names = [lit] if isinstance(lit, str) else list(lit)
    if unknown := [part for part in names if part not in PARTS]:
        raise ValueError(f"the drawing has no part {unknown[0]!r}, only {', '.join(PARTS)}")
    if not names:
        raise ValueError(f"lit must name at least one part of {', '.join(PARTS)}")
    return Architecture([part for part in PARTS if part in names])


_ALT = (
    "The translator after it has written “Marie a trouvé la petite”. At the top left the encoder reads the eight "
    "words of “Mary found the small white flower yesterday .” in both directions, into n vectors of 2 d_h numbers. "
    "They are the keys and the values. To the right of it is attention: the query, the decoder's state of d_h "
    "numbers, meets each key and gives n scores; a softmax makes n weights of them, the largest at “flower”; the "
    "average of the values with these weights is the context, one vector of 2 d_h numbers. At the bottom is the "
    "decoder: a GRU makes the next state from the state, the word “petite” and the context, and a readout of the same"
    " three writes “fleur”."
)
