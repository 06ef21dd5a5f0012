"""A translator in time: what its decoder reads and writes at two steps, and what each of its states has read.

It has the look of :mod:`utils.figures.architecture`, which shows one step with all shapes.
Explained in chapters/encoder_decoder and chapters/bahdanau_decoder.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import copysign
from xml.sax.saxutils import quoteattr

from utils.figures.architecture import STYLE

_SOURCE = ("Mary", "found", "the", "small", "white", "flower", "yesterday", ".")
#: Three states, one after the other: the number, what it has read of the translation, and what it has chosen.
_ONE_VECTOR = ((0, "nothing", "nothing"), (1, "BOS", "Marie"), (2, "BOS Marie", "a"))
_ATTENTION = ((4, "… trouvé", "la"), (5, "… la", "petite"), (6, "… petite", "fleur"))
#: The middle of each source word, of the three states, and of the rows of the drawing.
_WORDS = (24, 65, 100, 136, 178, 224, 283, 328)
_STATES = (104, 199, 294)
_CHOOSES, _STATE, _READS, _CONTEXT, _VECTORS, _HAS_READ, _HAS_CHOSEN = 14, 66, 118, 166, 232, 294, 314
#: The weights of an example, for the contexts of *petite* and of *fleur*.
_WEIGHTS = (
    (0.01, 0.01, 0.03, 0.8, 0.05, 0.08, 0.01, 0.01),
    (0.01, 0.01, 0.02, 0.05, 0.1, 0.78, 0.02, 0.01),
)


class Unrolled:
    """The drawing as a notebook shows it: SVG in HTML, which follows the dark mode of its page.

    Make it with :func:`unrolled`. Explained in chapters/encoder_decoder.

    Attributes:
        attention: whether each step has a context of its own.
        alt: what is drawn, for readers who do not see it.
    """

    def __init__(self, *, attention: bool):
        self.attention = attention
        self.alt = _ALT[attention]

    def svg(self) -> str:
        """The picture."""
        contexts = _contexts() if self.attention else _summary()
        decoder = _decoder(_ATTENTION if self.attention else _ONE_VECTOR)
        return (
            f'<svg role="img" aria-label={quoteattr(self.alt)} xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="-8 0 348 322"><g class="on">{"".join([*_source(), *contexts, *decoder])}</g></svg>'
        )

    def _repr_html_(self) -> str:
        return f'<figure class="architecture"><style>{STYLE}</style>{self.svg()}</figure>'

    def __repr__(self) -> str:
        return f"A decoder in time, {'with attention' if self.attention else 'from one vector'}"


def unrolled(*, attention: bool) -> Unrolled:
    """Draw two steps of a decoder, one after the other.

    Args:
        attention: the steps that write *petite* and *fleur*, each with a context of its own; otherwise the first two
            steps, which read one vector.

    >>> unrolled(attention=False)
    A decoder in time, from one vector

    Explained in chapters/encoder_decoder and chapters/bahdanau_decoder.
    """
    return Unrolled(attention=attention)


def _source() -> Iterator[str]:
    """The words of the source, their vectors, and the two readings."""
    yield f'<rect x="-8" y="{_VECTORS - 13}" width="348" height="50" rx="6" class="band"/>'
    for word, x in zip(_SOURCE, _WORDS, strict=True):
        yield _box(x, _VECTORS, 20, 14, "v")
        yield _text(word, x, _VECTORS + 25)
    for left, right in pairwise(_WORDS):
        yield _arrow("n", (left + 10, _VECTORS - 3), (right - 10, _VECTORS - 3))
        yield _arrow("n", (right - 10, _VECTORS + 4), (left + 10, _VECTORS + 4))


def _summary() -> Iterator[str]:
    """The one vector: each reading gives it the state at its end, and each step reads it."""
    middle, low, first, last = _STATES[1] + 46, _VECTORS - 7, _WORDS[0], _WORDS[-1]
    yield _box(middle, _CONTEXT, 140, 22, "v")
    yield _text('the summary <tspan font-style="italic">c</tspan>', middle, _CONTEXT + 4)
    for start, end in ((first + 4, middle - 50), (last, middle + 50)):
        yield _arrow("v", (start, low), (start, low - 17), (end, low - 17), (end, _CONTEXT + 11))
    up = (first - 4, low - 27), (_STATES[0], low - 27)
    yield _arrow("n", (first - 4, low), *up, (_STATES[0], _STATE + 11))
    for x in _STATES[1:]:
        yield _arrow("v", (x + 8, _CONTEXT - 11), (x + 8, _STATE + 11))


def _contexts() -> Iterator[str]:
    """A context for each step: the state before it asks, and gets an average of the vectors."""
    yield f'<text x="-4" y="{_CONTEXT + 4}" class="name">context</text>'
    steps = list(zip(pairwise(_STATES), _ATTENTION[1:], _WEIGHTS, strict=True))
    for (_, x), _, weights in steps:
        for word, weight in zip(_WORDS, weights, strict=True):
            width = f'style="stroke-width:{0.4 + 4 * weight:.2f}"'
            yield f'<path d="M{word},{_VECTORS - 7} {x + 8},{_CONTEXT + 11}" class="line w" {width}/>'
    for (before, x), (number, *_), _ in steps:
        yield _box(x + 8, _CONTEXT, 34, 22, "v")
        yield _text(_numbered("c", number), x + 8, _CONTEXT + 4)
        yield _arrow("v", (x + 8, _CONTEXT - 11), (x + 8, _STATE + 11))
        high = _CONTEXT - 22
        asks = (before + 16, _STATE + 11), (before + 16, high), (x - 2, high), (x - 2, _CONTEXT - 11)
        yield _arrow("q", *asks)
        yield f'<text x="{before + 20}" y="{high - 5}" class="q">query</text>'


def _decoder(states: Sequence[tuple[int, str, str]]) -> Iterator[str]:
    """The states: what each reads and chooses at its step, and what it has read and chosen in all."""
    rows = {
        "chooses": _CHOOSES,
        "state": _STATE,
        "reads": _READS,
        "has read": _HAS_READ,
        "has chosen": _HAS_CHOSEN,
    }
    for name, y in rows.items():
        yield f'<text x="-4" y="{y + 4}" class="name">{name}</text>'
    for x, (number, read, chosen) in zip(_STATES, states, strict=True):
        yield _box(x, _STATE, 40, 22, "q")
        yield _text(_numbered("s", number), x, _STATE + 4)
        yield _text(read, x, _HAS_READ + 4)
        yield _text(chosen, x, _HAS_CHOSEN + 4)
        if number:
            yield _text(chosen, x, _CHOOSES + 4)
            yield _arrow("n", (x, _STATE - 11), (x, _CHOOSES + 9))
    for (before, x), (state, (_, read, _)) in zip(pairwise(_STATES), pairwise(states), strict=True):
        word = read.split()[-1]
        yield _text(word, x - 16, _READS + 4)
        yield _arrow("n", (x - 12, _READS - 9), (x - 12, _STATE + 11))
        yield _arrow("q", (before + 20, _STATE), (x - 20, _STATE))
        if state[0]:  # what a state has chosen, the next one reads
            half, middle = 4 * len(word) + 3, before + 44
            turns = (middle, _CHOOSES), (middle, _READS)
            yield _arrow("n", (before + half, _CHOOSES), *turns, (x - 16 - half, _READS))


def _text(text: str, x: float, y: float) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="middle">{text}</text>'


def _numbered(letter: str, number: int) -> str:
    return f'<tspan font-style="italic">{letter}</tspan><tspan dy="3" class="sub">{number}</tspan>'


def _box(x: float, y: float, width: float, height: float, role: str) -> str:
    """A box around a middle, with the colour of its role."""
    place = f'x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width}" height="{height}" rx="4"'
    return f'<rect {place} class="box {role}"/><rect {place} class="tint {role}"/>'


def _arrow(role: str, *points: tuple[float, float]) -> str:
    """A line through points, upright or level from one to the next, with a head at the last."""
    (x, y), (end_x, end_y) = points[-2:]
    across, down = copysign(x != end_x, end_x - x), copysign(y != end_y, end_y - y)
    neck_x, neck_y = end_x - 4.5 * across, end_y - 4.5 * down
    line = " ".join(f"{a:g},{b:g}" for a, b in [*points[:-1], (neck_x, neck_y)])
    corners = " ".join(f"{neck_x + k * down:g},{neck_y + k * across:g}" for k in (2.25, -2.25))
    return f'<path d="M{line}" class="line {role}"/><path d="M{end_x:g},{end_y:g} {corners}z" class="head {role}"/>'


_READINGS = (
    "At the bottom stand the eight words of “Mary found the small white flower yesterday .” with a vector each, joined "
    "by arrows to the right and to the left: the two readings. Above them are three states of the decoder, one after "
    "the other. "
)
_ALT = {
    False: _READINGS
    + "The reading to the left gives state 0 and a half of the summary c, the reading to the right gives its other "
    "half, and the summary enters states 1 and 2. State 1 reads BOS and chooses “Marie”; an arrow leads from this word "
    "to state 2, which reads it and chooses “a”. So state 1 has read BOS, and has chosen “Marie” but not read it.",
    True: _READINGS
    + "State 4 has chosen “la”. It asks, and gets context 5, an average in which “small” has the largest weight. State "
    "5 reads “la” and this context, and chooses “petite”. State 5 asks before “petite” is read, and gets context 6, "
    "with the largest weight on “flower”. State 6 reads “petite” and this context, and chooses “fleur”. So the state "
    "that asks has read one word less than it has chosen.",
}
