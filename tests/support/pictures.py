"""The marks of a picture of a figure."""

import xml.etree.ElementTree as ET

#: Widths of a column of text on a desk and on a phone of 360 pixels.
WIDTHS = (720, 328)


def marks(svg: str, tag: str, *classes: str, without: tuple[str, ...] = ()) -> list[ET.Element]:
    """The marks of this tag that have all these classes, in order."""
    found = ET.fromstring(svg).iter(f"{{http://www.w3.org/2000/svg}}{tag}")
    return [
        mark
        for mark in found
        if {*classes} <= {*mark.get("class", "").split()}
        and not {*without} & {*mark.get("class", "").split()}
    ]


def texts(svg: str, *classes: str) -> list[str]:
    """What is written in the picture."""
    return [mark.text or "" for mark in marks(svg, "text", *classes)]


def sizes(found: list[ET.Element], attribute: str) -> list[float]:
    """An attribute of each mark, as a number."""
    return [float(mark.get(attribute)) for mark in found]
