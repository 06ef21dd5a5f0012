"""One drawing of the whole Transformer: the parts of its layers, the masks, and the shape of what passes.

It has the look of :mod:`utils.figures.architecture`, which shows the recurrent translator.
Explained in chapters/transformer.
"""

import re
from importlib.resources import files
from xml.sax.saxutils import quoteattr

from utils.figures.architecture import STYLE

__all__ = ["TransformerDrawing"]

_FILE = files("utils.figures").joinpath("transformer.svg")


class TransformerDrawing:
    """The drawing as a notebook shows it: SVG in HTML, which follows the dark mode of its page.

    Attributes:
        alt: what is drawn, for readers who do not see it.

    >>> TransformerDrawing()
    The Transformer: an encoder and a decoder with 2 layers each

    Explained in chapters/transformer.
    """

    alt = (
        "Two columns, each drawn from the bottom to the top. On the left the encoder: the word vectors of “Mary found "
        "… .” plus their places, n vectors of d numbers, go up a line through 2 layers. Each layer has two parts: "
        "self-attention with a padding mask, whose weights have the shape (H, n, n), and a feed-forward network with "
        "(n, 4d) hidden numbers. Each part reads a norm of the line, and its result is added to the line. A last norm "
        "gives the keys and values for the decoder. On the right the decoder: the t words “<bos> Marie a …” go up in "
        "the same way through 2 layers of three parts: self-attention with a causal mask and weights (H, t, t); "
        "cross-attention, which takes its queries from the decoder and its keys and values from the encoder, with "
        "weights (H, t, n); and a feed-forward network. A norm and the output layer give (t, vocab) numbers, and with "
        "them the words “Marie a trouvé …”."
    )

    def svg(self) -> str:
        """The picture."""
        drawing = re.sub(r"<!--.*?-->|^ +|\n", "", _FILE.read_text("utf-8"), flags=re.MULTILINE)
        return drawing.replace('aria-label=""', f"aria-label={quoteattr(self.alt)}")

    def _repr_html_(self) -> str:
        return f'<figure class="architecture"><style>{STYLE}</style>{self.svg()}</figure>'

    def __repr__(self) -> str:
        return "The Transformer: an encoder and a decoder with 2 layers each"
