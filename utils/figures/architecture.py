"""One drawing of the whole translator, encoder, attention and decoder, with the shape on every arrow.

Chapters show it with their own part in colour. Figures with numbers that change are the ``kinds``.
Explained in chapters/bahdanau_decoder.
"""

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from operator import mul
from xml.sax.saxutils import quoteattr

from utils.figures.colours import COLOURS

#: The parts that can be in colour, in the order in which a step of decoding uses them.
PARTS = ("encoder", "scores", "weights", "context", "decoder")
WRITTEN, NEXT = ("Marie", "a", "trouvé", "la", "petite"), "fleur"
#: The source words with their vectors of the first chapters. The first number is large for words that name a thing, the
#: second for words that name a quality.
VECTORS = {
    "Mary": (0.9, -0.3),
    "found": (-0.6, -0.5),
    "the": (-0.2, 0.1),
    "small": (0.2, 1.2),
    "white": (0.4, 1.4),
    "flower": (1.5, 0.5),
    "yesterday": (-0.8, 0.2),
    ".": (-0.5, -0.7),
}
SOURCE = tuple(VECTORS)
#: The query of the first chapters that asks for a thing; the weights that are drawn are the softmax of its scores.
QUERY = (1.5, 0.8)


#: The variables of the style sheet that are colours of the course. Scores are grey, and so is what has no role.
_COLOURS = {"q": "query", "k": "key", "v": "value", "w": "weight", "n": "grey"}


def _css_variables(*, dark: bool) -> str:
    return ";".join(f"--{variable}:{COLOURS[name][dark]}" for variable, name in _COLOURS.items())


_STYLE = (
    f".architecture{{margin:1rem 0;{_css_variables(dark=False)};--dim:#6b6b6b;--faint:#ccc;"
    "--paper:var(--pst-color-background,var(--jp-layout-color0,#fff))}"
    # On screens only: a dark page is printed in light colours.
    '@media screen{html[data-theme="dark"] .architecture,body[data-jp-theme-light="false"] .architecture,'
    'body.vscode-dark .architecture,html[theme="dark"] .architecture'
    f"{{{_css_variables(dark=True)};--dim:#949494;--faint:#484848}}}}"
    ".architecture svg{display:block;width:100%;max-width:460px;height:auto}"
    ".architecture text{font:13px var(--pst-font-family-base,system-ui,sans-serif);fill:currentColor}"
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

#: The places of things: the columns from left to right, and the rows from top to bottom.
_WORDS, _READ, _SCORE, _SOFTMAX, _WEIGHT, _RIGHT = 58, 82, 178, 205, 236, 300
_TOP, _ROW, _STATE, _SENTENCE = 52, 21, 302, 414
_LEFT, _WIDTH, _HEIGHT = -8, 348, 430


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
        return tag(
            "svg",
            *(self._group(parts, elements) for parts, elements in _drawing()),
            role="img",
            aria_label=self.alt,
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"{_LEFT} 0 {_WIDTH} {_HEIGHT}",
        )

    def _group(self, parts: str, elements: Iterable[str]) -> str:
        on = any(part in self.lit for part in parts.split())
        return tag("g", *elements, class_=f"{parts} {'on' if on else 'off'}")

    def _repr_html_(self) -> str:
        return f'<figure class="architecture"><style>{_STYLE}</style>{self.svg()}</figure>'

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

    Explained in chapters/bahdanau_decoder.
    """
    names = [lit] if isinstance(lit, str) else list(lit)
    if unknown := [part for part in names if part not in PARTS]:
        raise ValueError(f"the drawing has no part {unknown[0]!r}, only {', '.join(PARTS)}")
    if not names:
        raise ValueError(f"lit must name at least one part of {', '.join(PARTS)}")
    return Architecture([part for part in PARTS if part in names])


_ALT = (
    "The translator after it has written “Marie a trouvé la petite”. At the top left the encoder reads the eight words "
    "of “Mary found the small white flower yesterday .” in both directions, into n vectors of 2h numbers. They are the "
    "keys and the values. To the right of it is attention: the query, the decoder's state of h numbers, meets each key "
    "and gives n scores; a softmax makes n weights of them, the largest at “flower”; the average of the values with "
    "these weights is the context, one vector of 2h numbers. At the bottom is the decoder: a GRU makes the next state "
    "from the state, the word “petite” and the context, and a readout of the same three writes “fleur”."
)


def weights() -> list[float]:
    """The softmax of the dot products of :data:`QUERY` with :data:`VECTORS`: one weight per source word."""
    powers = [math.exp(sum(map(mul, QUERY, key))) for key in VECTORS.values()]
    return [power / sum(powers) for power in powers]


def _drawing() -> list[tuple[str, list[str]]]:
    """The parts to which each group belongs, and what is in it. Later groups lie above earlier ones."""
    rows = [_TOP + _ROW * (j + 0.5) for j in range(len(SOURCE))]
    middle, bottom = sum(rows) / len(rows), _TOP + _ROW * len(rows)
    return [
        ("encoder", [_band(_LEFT, 0, 112, 258), _name("encoder", 2, 13), *_encoder(rows)]),
        ("scores weights context", [_band(108, 0, 232, 258), _name("attention", 116, 13)]),
        ("decoder", [_band(_LEFT, 264, _WIDTH, _HEIGHT - 264), _name("decoder", 2, 281)]),
        ("context", _average(rows, middle, bottom)),
        ("scores", _scores(rows, bottom)),
        ("weights", _softmax(rows, bottom)),
        ("encoder decoder", _first_state(bottom)),
        ("decoder", _decoder()),
        ("scores decoder", _box(_SCORE, _STATE, 46, _symbol("s", "i−1"), "q")),
    ]


def _encoder(rows: Sequence[float]) -> list[str]:
    """Words, and for each a vector: the upper half is its key, the lower half its value."""
    parts = [_shape("(n, d_embed)", 2, _TOP - 7, "start")]
    for word, y in zip(SOURCE, rows, strict=True):
        parts += [text(word, x=_WORDS, y=y + 4, text_anchor="end"), *_arrow("n", (60, y), (66, y))]
        parts.append(tag("rect", x=67, y=y - 7.5, width=30, height=15, class_="box n"))
        parts.append(tag("rect", x=68, y=y - 6.5, width=28, height=6.5, class_="tint k"))
        parts.append(tag("rect", x=68, y=y, width=28, height=6.5, class_="tint v"))
    for upper, lower in pairwise(rows):
        parts += _arrow("n", (_READ - 8, upper + 7.5), (_READ - 8, lower - 7.5))
        parts += _arrow("n", (_READ + 8, lower - 7.5), (_READ + 8, upper + 7.5))
    return parts


def _scores(rows: Sequence[float], bottom: float) -> list[str]:
    """The query meets every key."""
    parts = [
        text("keys", x=131, y=_TOP - 21, text_anchor="middle", class_="k"),
        _shape("(n, 2h)", 131, _TOP - 7),
        _name("scores", _SCORE, _TOP - 21, "middle"),
        _shape("(1, n)", _SCORE, _TOP - 7),
        text("query", x=_SCORE + 7, y=bottom + 16, class_="q"),
        _shape("(1, h)", _SCORE + 7, bottom + 31, "start"),
        *_arrow("q", (_SCORE, _STATE - 11), (_SCORE, rows[0])),
    ]
    for y in rows:
        parts += _arrow("k", (97, y), (_SCORE - 6.5, y))
        parts.append(tag("circle", cx=_SCORE, cy=y, r=6, class_="box n"))
    return parts


def _softmax(rows: Sequence[float], bottom: float) -> list[str]:
    """All scores go through one softmax; the larger a weight, the stronger its blue, as in every heat map."""
    parts = [_name("weights", _WEIGHT, _TOP - 21, "middle"), _shape("(1, n)", _WEIGHT, _TOP - 7)]
    parts.append(tag("rect", x=_SOFTMAX - 9, y=_TOP, width=18, height=bottom - _TOP, rx=5, class_="box n"))
    rotation = f"translate({_SOFTMAX + 4} {(bottom + _TOP) / 2:g}) rotate(-90)"
    parts.append(text("softmax", transform=rotation, text_anchor="middle"))
    for y, weight in zip(rows, weights(), strict=True):
        parts += _arrow("n", (_SCORE + 6.5, y), (_SOFTMAX - 9, y))
        parts += _arrow("n", (_SOFTMAX + 9, y), (_WEIGHT - 12, y))
        cell = {"x": _WEIGHT - 12, "y": y - 6.5, "width": 24, "height": 13}
        parts.append(tag("rect", **cell, class_="box n"))
        parts.append(tag("rect", **cell, class_="full w", style=f"fill-opacity:{weight:.3f}"))
    return parts


def _average(rows: Sequence[float], middle: float, bottom: float) -> list[str]:
    """Draw each value as a line whose width, after the weight, is the weight."""
    parts = [
        _name("average", _RIGHT + 4, _TOP - 21, "middle"),
        text("values", x=114, y=bottom + 16, class_="v"),
        _shape("(n, 2h)", 114, bottom + 31, "start"),
        text("context", x=_RIGHT - 8, y=bottom + 16, text_anchor="end", class_="v"),
        _shape("(1, 2h)", _RIGHT - 8, bottom + 31, "end"),
    ]
    for y, weight in zip(rows, weights(), strict=True):
        below = y + 9.5
        parts.append(tag("path", d=f"M97,{y + 5:g} 103,{below:g}H{_WEIGHT + 10}", class_="line v"))
        parts.append(
            tag(
                "path",
                d=f"M{_WEIGHT + 10},{below:g}C{_WEIGHT + 34},{below:g} "
                f"{_RIGHT - 40},{middle:g} {_RIGHT - 13},{middle:g}",
                class_="line v",
                style=f"stroke-width:{0.8 + 9 * weight:.2f}",
            )
        )
    parts.append(tag("circle", cx=_RIGHT, cy=middle, r=14, class_="box v"))
    parts.append(text("Σ", x=_RIGHT, y=middle + 5, text_anchor="middle", class_="name"))
    parts += _arrow("v", (_RIGHT, middle + 14), (_RIGHT, _STATE - 12))
    return parts


def _first_state(bottom: float) -> list[str]:
    """The decoder's first state comes from the encoder."""
    return [
        *_arrow("n", (_READ, bottom + 2), (_READ, _STATE - 12)),
        _shape("(1, h)", _READ - 6, bottom + 31, "end"),
        *_box(_READ, _STATE, 34, _symbol("s", "0"), "q"),
    ]


def _decoder() -> list[str]:
    """The next state from state, word and context, and the next word from the same three."""
    state, readout, before = _STATE + 36, _STATE + 72, 214
    *earlier, last = WRITTEN
    return [
        tag("path", d=f"M{_READ + 18},{_STATE}H{_SCORE - 28}", class_="line q", stroke_dasharray="2 4"),
        *_arrow("q", (_SCORE - 30, _STATE), (_SCORE - 24, _STATE)),
        *_arrow("q", (_SCORE + 23, _STATE - 5), (_RIGHT - 24, _STATE - 5)),
        _shape("(1, h)", 239, _STATE - 11),
        *_arrow("n", (before, _SENTENCE - 12), (before, _STATE + 6), (_RIGHT - 24, _STATE + 6)),
        *_arrow("n", (before, readout), (_RIGHT - 29, readout)),
        _shape("(1, d_embed)", before - 6, state + 6, "end"),
        *_arrow("v", (_RIGHT, _STATE - 28), (334, _STATE - 28), (334, readout), (_RIGHT + 29, readout)),
        *_box(_RIGHT, _STATE, 46, "GRU", "n"),
        *_arrow("q", (_RIGHT, _STATE + 11), (_RIGHT, state - 12)),
        *_box(_RIGHT, state, 46, _symbol("s", "i"), "q"),
        *_arrow("q", (_RIGHT, state + 11), (_RIGHT, readout - 12)),
        _shape("(1, h)", _RIGHT - 8, readout - 14, "end"),
        *_box(_RIGHT, readout, 56, "readout", "n"),
        *_arrow("n", (_RIGHT, readout + 11), (_RIGHT, _SENTENCE - 13)),
        _shape("(1, vocab)", _RIGHT - 8, _SENTENCE - 15, "end"),
        text(" ".join(earlier), x=before - 27, y=_SENTENCE + 4, text_anchor="end"),
        *_box(before, _SENTENCE, 44, last, "n"),
        *_box(_RIGHT, _SENTENCE, 46, tag("tspan", NEXT, class_="name"), "n"),
    ]


def _band(x: float, y: float, width: float, height: float) -> str:
    return tag("rect", x=x, y=y, width=width, height=height, rx=6, class_="band")


def _name(words: str, x: float, y: float, anchor: str = "start") -> str:
    return text(words, x=x, y=y, text_anchor=anchor, class_="name")


def _shape(words: str, x: float, y: float, anchor: str = "middle") -> str:
    return text(words, x=x, y=y, text_anchor=anchor, class_="shape")


def _symbol(letter: str, index: str) -> str:
    """A letter with an index, as in the formulas."""
    return tag("tspan", letter, font_style="italic") + tag("tspan", escape(index), dy=3, class_="sub")


def _box(x: float, y: float, width: float, label: str, role: str) -> list[str]:
    box = {"x": x - width / 2, "y": y - 11, "width": width, "height": 22, "rx": 4}
    tint = [tag("rect", **box, class_=f"tint {role}")] if role == "q" else []
    return [
        tag("rect", **box, class_=f"box {role}"),
        *tint,
        tag("text", label, x=x, y=y + 4, text_anchor="middle"),
    ]


def _arrow(role: str, *corners: tuple[float, float]) -> list[str]:
    """A line through the corners with a head at its end."""
    (x0, y0), (x, y) = corners[-2:]
    length = math.hypot(x - x0, y - y0)
    dx, dy = 4.5 * (x - x0) / length, 4.5 * (y - y0) / length
    line = " ".join(f"{a:g},{b:g}" for a, b in (*corners[:-1], (x - dx, y - dy)))
    head = f"M{x:g},{y:g} {x - dx - dy / 2:g},{y - dy + dx / 2:g} {x - dx + dy / 2:g},{y - dy - dx / 2:g}z"
    return [tag("path", d=f"M{line}", class_=f"line {role}"), tag("path", d=head, class_=f"head {role}")]


def tag(name: str, *children: str, **attributes: object) -> str:
    """An element as text; ``class_`` gives ``class`` and underscores give dashes. Children are markup.

    >>> tag("text", "a &lt; b", x=3, text_anchor="end")
    '<text x="3" text-anchor="end">a &lt; b</text>'
    """
    attribute_text = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(f'{value:.5g}' if isinstance(value, float) else str(value))}"
        for key, value in attributes.items()
        if value is not None
    )
    content = "".join(children)
    return f"<{name}{attribute_text}>{content}</{name}>" if content else f"<{name}{attribute_text}/>"


def text(content: object, **attributes: object) -> str:
    """A text element; the content is escaped."""
    return tag("text", escape(str(content), quote=False), **attributes)
