"""A page with a translator as the output of a cell: a frame in the notebook and in the book.

An output that is stored for the book has no page: Sphinx makes it when it builds the book (`page_mending`).
``chapter`` makes the content of a page. Explained in chapters/chinese_english.
"""

import base64
import os
from html import escape
from pathlib import Path

from utils.corpus.whole_files import write_whole
from utils.figures.figure import MODE_VARIABLE
from utils.translator.page.html import Content, as_json, page_of, stored_content


class Frame:
    """A page in a frame. In the book the frame gets the height and the colours that suit it (`translator.js`).

    Args:
        title: what the frame holds, for a screen reader, and in place of it where no HTML is shown.
        page: the attributes of the frame that give its page.
        folded: the reader unfolds the title to see the page.
    """

    def __init__(self, title: str, page: str, *, folded: bool = False) -> None:
        self.title, self.page, self.folded = title, page, folded

    def _repr_html_(self) -> str:
        title = escape(self.title)
        frame = (
            f'<iframe class="translator" title="{title}" loading="lazy" '
            f'style="width:100%;height:40rem;border:0" {self.page}></iframe>'
        )
        return (
            f'<details class="translator"><summary>{title}</summary>{frame}</details>'
            if self.folded
            else frame
        )

    def __repr__(self) -> str:
        return f"In a frame: {self.title}"


def own_translator(title: str, content: Content, weights: bytes) -> Frame:
    """The page of a translator that a notebook has trained.

    Args:
        title: as for :class:`Frame`.
        content: from :func:`utils.translator.page.html.content_of`.
        weights: likewise.
    """
    if not _in_book():
        return Frame(title, _attribute("srcdoc", page_of(content, weights)))
    stored = as_json([content, base64.b64encode(weights).decode()])
    instead = "<p>Run this cell, and the translator of this notebook stands here.</p>"
    return Frame(title, f"{_attribute('data-page', stored)} {_attribute('srcdoc', instead)}")


def stored_translator(name: str, title: str, *, folded: bool = False) -> Frame:
    """The page of a translator that comes with the course. A notebook writes it into its folder ``runs``.

    Args:
        name: of the translator, such as ``en-fr``.
        title: as for :class:`Frame`.
        folded: as for :class:`Frame`; the book loads the page when it is unfolded.
    """
    if _in_book():
        address = f'="../_static/translators/{name}.html"'
        return Frame(title, ("data-src" if folded else "src") + address, folded=folded)
    path = Path("runs", f"{name}.html")
    path.parent.mkdir(exist_ok=True)
    write_whole(path, page_of(*stored_content(name)).encode())
    return Frame(title, f'src="{path.as_posix()}"', folded=folded)


def _attribute(name: str, text: str) -> str:
    # In one line, so that a notebook holds it in one; and a page has more of the other quotation marks.
    text = text.replace("&", "&amp;").replace("'", "&#39;").replace("\n", "&#10;")
    return f"{name}='{text}'"


def _in_book() -> bool:
    """Whether outputs are stored for the book."""
    return os.environ.get(MODE_VARIABLE) == "static"
