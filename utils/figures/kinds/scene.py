"""A picture in squares with its caption, and the squares that each word looks at.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import ClassVar

from utils.figures.figure import Figure


class Scene(Figure):
    """A picture in squares, over it the weights of the chosen word of its caption, and the caption to choose from.

    The axis ``picture`` says which of several pictures is shown, and ``hide`` which of its things is hidden: at its
    first value none, at the second the first one, and so on. ``compute`` returns ``weights`` of shape (words, squares),
    numbers from 0 to 1; squares count row by row. A dashed frame is drawn around the square that the word describes.

    Each word that is written of the changed picture has the place that it has in the caption of the whole picture
    (:func:`in_places` finds these places); words that are not written any more are struck through, and new ones stand
    on grey.

    Args:
        captions: for each picture its caption for each value of ``hide``, all of the same number of words. An empty
            text is a place without a word.
        things: what stands in each picture: shape ("circle", "square", "triangle" or "cross"), colour (of CSS) and
            number of the square.
        described: for each caption and each word the number of the square that the word describes, or None.
        size: rows of squares in a picture, and columns.
        options: as for :class:`utils.figures.figure.Figure`.
    """

    kind = "scene"
    picks: ClassVar = {"word": "words"}
    table = ((("weights", ""),), "rows", "columns", "word")

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        captions: Sequence[Sequence[Sequence[str]]],
        things: Sequence[Sequence[tuple[str, str, int]]],
        described: Sequence[Sequence[Sequence[int | None]]],
        size: int,
        **options,
    ):
        hides = len(axes["hide"])
        if {len(each) for each in (*captions, *described)} != {hides}:
            raise ValueError(
                f"captions and described need {hides} captions for each picture, one for each hide"
            )
        lengths = {len(words) for each in (*captions, *described) for words in each}
        if len(lengths) != 1:
            raise ValueError(
                f"captions and described must have the same number of words, got {sorted(lengths)}"
            )
        self.size = size
        self.pictures = [
            {"captions": [*words], "described": [*squares], "things": [[*thing] for thing in each]}
            for words, squares, each in zip(captions, described, things, strict=True)
        ]
        sides = range(1, size + 1)
        numbers = {"words": range(1, lengths.pop() + 1), "rows": sides, "columns": sides}
        super().__init__(compute, axes, labels=numbers | options.pop("labels", {}), **options)

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """weights: (words, squares)."""
        return {"weights": (len(self.labels["words"]), self.size**2)}

    @property
    def options(self) -> dict:
        """The pictures, and how many rows of squares each has."""
        return {"pictures": self.pictures, "size": self.size}


def in_places(before: Sequence[str], after: Sequence[str]) -> list[int | None]:
    """For each place of a text the number of the word that stands there after a change, or None.

    Words that are the same keep their places. If there are more new words than places for them, all are in their order.

    >>> in_places("a red cross and a green cross .".split(), "a green cross .".split())
    [None, None, None, None, 0, 1, 2, 3]
    """
    places: list[int | None] = []
    changes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for _, start, end, first, behind in changes:
        left = (end - start) - (behind - first)
        if left < 0:
            return [*range(len(after)), *[None] * (len(before) - len(after))]
        places += [*range(first, behind), *[None] * left]
    return places
