"""The layers of a network, word by word, and lines from a chosen word to those that it looks at.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from utils.figures.figure import Figure


class Layers(Figure):
    """Rows of words and of dots, from the bottom to the top, and lines from a dot to the words that it looks at.

    A row of words is the bottom of a column of the network; each row above it has a dot for each of these words.
    ``compute`` returns ``weights`` of shape (dots, words): of each dot, row by row from below, the weights of the words
    that it looks at, with 0 behind the last of them. A line is as broad as its weight, and a dot without any weight,
    such as that of a head that is switched off, is a ring. With labels ``written`` it returns an integer array
    ``written``, the numbers of the labels that stand on top; a cross marks those that are not the words of ``above``.

    Args:
        rows: from below, the name of each row, and a list of its words, or the number of the row, counted from 0, at
            which its dots look.
        above: name and words that stand on top of the last row, if any.
        follow: whether lines lead on from where the chosen dot looks: those of the dots in this column, up to the row
            at which it looks, as broad as the product of both weights.
        options: as for :class:`utils.figures.figure.Figure`. The pick is ``dot``, and its labels ``dots`` are such as
            "petite, layer 1".

    Raises:
        ValueError: rows that do not begin with words, that look at a row that does not come before them, words above
            that are not as many as the dots below, or labels ``written`` without words above.
    """

    kind = "layers"
    picks: ClassVar = {"dot": "dots"}
    numbered: ClassVar = {"written": "written"}

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        rows: Sequence[tuple[str, Sequence[str] | int]],
        above: tuple[str, Sequence[str]] | None = None,
        follow: bool = False,
        **options,
    ):
        self.rows, self.above, self.follow = (
            [(name, what if isinstance(what, int) else list(what)) for name, what in rows],
            above,
            follow,
        )
        if not self.rows or isinstance(self.rows[0][1], int):
            raise ValueError("rows must begin with a list of words")
        words, dots = [], []
        for number, (name, what) in enumerate(self.rows):
            if isinstance(what, int) and what not in range(number):
                raise ValueError(f"row {number} must look at a row from 0 to {number - 1}, got {what}")
            words.append(words[-1] if isinstance(what, int) else what)
            dots += [f"{word}, {name}" for word in words[-1]] if isinstance(what, int) else []
        if above and len(above[1]) != len(words[-1]):
            raise ValueError(f"above must have {len(words[-1])} words, got {len(above[1])}")
        if "written" in options.get("labels", {}) and not above:
            raise ValueError("labels 'written' need words above, with which they are compared")
        self.most, self.top = max(map(len, words)), len(words[-1])
        super().__init__(compute, axes, labels={"dots": dots} | options.pop("labels", {}), **options)

    def shares(self) -> set[str]:
        """The weights."""
        return super().shares() | {"weights"}

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """weights: (dots, words of the longest row); written: (words of the last row,)."""
        written = {"written": (self.top,)} if "written" in self.labels else {}
        return {"weights": (len(self.labels["dots"]), self.most)} | written

    @property
    def options(self) -> dict:
        """The rows with their words or the row at which they look, what stands above them, and where lines lead on."""
        return {"rows": self.rows, "above": self.above} | ({"follow": True} if self.follow else {})
