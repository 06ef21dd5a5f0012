"""A page with a translator as the output of a cell: a frame in the notebook and in the book.

``chapter`` makes such a page. Explained in chapters/bahdanau_decoder.
"""

import os
from html import escape
from pathlib import Path

from utils.figures.figure import MODE_VARIABLE


class Frame:
    """A page in a frame. In the book the frame gets the height and the colours that suit it (`translator.js`).

    Args:
        title: what the frame holds, for a screen reader, and in place of it where no HTML is shown.
        src: the address of the page; without it and without ``srcdoc``, the output says that the page is in the book.
        srcdoc: the page itself, in place of an address.
        folded: the reader unfolds the title to see the page; the book loads an address only then.
    """

    def __init__(self, title: str, *, src: str = "", srcdoc: str = "", folded: bool = False) -> None:
        self.title, self.folded = title, folded
        # In one line, so that a notebook holds it in one; and a page has more of the other quotation marks.
        stored = srcdoc.replace("&", "&amp;").replace("'", "&#39;").replace("\n", "&#10;")
        name = "data-src" if folded and _in_book() else "src"
        self._page = f'{name}="{escape(src)}"' if src else f"srcdoc='{stored}'" if srcdoc else ""

    def _repr_html_(self) -> str:
        title = escape(self.title)
        if not self._page:
            return f"<p>{title}: this page is in the book, which does not lie beside this notebook.</p>"
        frame = (
            f'<iframe class="translator" title="{title}" loading="lazy" '
            f'style="width:100%;height:40rem;border:0" {self._page}></iframe>'
        )
        return (
            f'<details class="translator"><summary>{title}</summary>{frame}</details>'
            if self.folded
            else frame
        )

    def __repr__(self) -> str:
        return f"In a frame: {self.title}"


def stored_translator(name: str, title: str, *, folded: bool = False) -> Frame:
    """A page that `make translators` has written, in a frame; a notebook stored for the book shows the book's copy.

    A handout comes without the pages, and says so.

    Args:
        name: of the file, without its ending.
        title: as for :class:`Frame`.
        folded: as for :class:`Frame`.

    Explained in chapters/encoder_decoder.
    """
    if _in_book():
        return Frame(title, src=f"../_static/translators/{name}.html", folded=folded)
    page = Path("..", "book", "_assets", "translators", f"{name}.html")
    return Frame(title, src=page.as_posix() if page.is_file() else "", folded=folded)


def _in_book() -> bool:
    """Whether outputs are stored for the book."""
    return os.environ.get(MODE_VARIABLE) == "static"


def book_font() -> str:
    """CSS that declares the typeface of the book, upright, for a page that is stored in a notebook of the book."""
    path = Path("..", "book", "_assets", "fonts", "text.css")
    return upright(path.read_text("utf-8")) if _in_book() and path.is_file() else ""


def upright(css: str) -> str:
    """The first font of a style sheet that ``make fonts`` has written."""
    return css[: css.index("@font-face", css.index("@font-face") + 1)]
