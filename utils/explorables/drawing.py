"""SVG text with *bindings*: attributes that say which number of which array sets an attribute of an element.

Python draws a figure once, in its opening state; the page's script then sets the bound attributes.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from xml.sax.saxutils import escape, quoteattr


def tag(name: str, *children: str, **attributes: object) -> str:
    """An element as text; ``class_`` gives ``class`` and underscores give dashes. Children are markup.

    >>> tag("text", escape("a < b"), x=3, text_anchor="end")
    '<text x="3" text-anchor="end">a &lt; b</text>'
    """
    attribute_text = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(_number(value))}"
        for key, value in attributes.items()
        if value is not None
    )
    content = "".join(children)
    return f"<{name}{attribute_text}>{content}</{name}>" if content else f"<{name}{attribute_text}/>"


def text(content: object, **attributes: object) -> str:
    """A text element; the content is escaped."""
    return tag("text", escape(str(content)), **attributes)


def fixed(number: float, digits: int) -> str:
    """Write a number with this many decimals as JavaScript's ``toFixed`` does: halves are rounded away from zero.

    >>> fixed(0.125, 2), f"{0.125:.2f}"
    ('0.13', '0.12')
    """
    unit = Decimal(1).scaleb(-digits)
    return f"{Decimal(number + 0.0).quantize(unit, ROUND_HALF_UP, Context(prec=60)):f}"


def significant(number: float, digits: int) -> str:
    """Write a number with this many significant digits as JavaScript's ``toPrecision`` does.

    >>> [significant(number, 2) for number in (0.0, 0.000065, 5e-11, 0.125, 123.0)]
    ['0.0', '0.000065', '5.0e-11', '0.13', '1.2e+2']
    """
    rounded = Context(prec=digits, rounding=ROUND_HALF_UP).create_decimal_from_float(number + 0.0)
    exponent = rounded.adjusted()
    return f"{rounded:.{digits - 1 - exponent}f}" if -7 < exponent < digits else f"{rounded:.{digits - 1}e}"


def _number(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Bind:
    """``attribute = offset + scale * array[index + picked * stride]``.

    Attributes:
        attribute: what to set; ``visibility`` hides the element where the number is 0, ``text`` sets the element's
            text with ``digits`` decimals.
        array: name of a packed array, or ``#name`` for the position of an axis or pick.
        index: position in the array's own axes, flattened.
        pick: name of a pick that changes the index.
        stride: by how much the index grows when the pick grows by 1.
    """

    attribute: str
    array: str
    index: int = 0
    pick: str = ""
    stride: int = 0
    scale: float = 1.0
    offset: float = 0.0
    digits: int = 3

    def __str__(self) -> str:
        numbers = (
            self.index,
            self.pick or "-",
            self.stride,
            _number(self.scale),
            _number(self.offset),
            self.digits,
        )
        return " ".join(map(str, (self.attribute, self.array, *numbers)))


def binds(*bindings: Bind) -> str:
    """The value of a ``data-bind`` attribute."""
    return ";".join(map(str, bindings))
