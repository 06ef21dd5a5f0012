"""A picture in squares with its caption, and the squares that each word looks at.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from utils.explorables.figure import Figure

SHAPES = ("circle", "square", "triangle", "cross")


class Scene(Figure):
    """A picture in squares, over it the weights of the chosen word of its caption, and the caption to choose from.

    The axis ``picture`` says which of several pictures is shown. ``compute`` returns ``weights`` of shape (words,
    squares), numbers from 0 to 1; squares count row by row. A dashed frame is drawn around the square that the word
    describes.

    Args:
        captions: the words of each picture's caption, the same number for each.
        things: what stands in each picture: shape ("circle", "square", "triangle" or "cross"), colour (of CSS) and
            number of the square.
        described: for each picture and each word the number of the square that the word describes, or None.
        size: rows of squares in a picture, and columns.
        options: as for :class:`utils.explorables.figure.Figure`.
    """

    kind = "scene"
    picks: ClassVar = {"word": "words"}
    table = ((("weights", ""),), "rows", "columns", "word")

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        captions: Sequence[Sequence[str]],
        things: Sequence[Sequence[tuple[str, str, int]]],
        described: Sequence[Sequence[int | None]],
        size: int,
        **options,
    ):
        counts = len(axes.get("picture", ())), len(captions), len(things), len(described)
        if len(set(counts)) > 1:
            raise ValueError(
                'the axis "picture", captions, things and described must have the same length, '
                f"got {counts[0]}, {counts[1]}, {counts[2]} and {counts[3]}"
            )
        lengths = {len(words) for words in (*captions, *described)}
        if len(lengths) != 1:
            raise ValueError(
                f"captions and described must have the same number of words, got {sorted(lengths)}"
            )
        for shape, _, square in (thing for each in things for thing in each):
            if shape not in SHAPES or not 0 <= square < size**2:
                raise ValueError(
                    f"a thing must be one of {SHAPES} in a square from 0 to {size**2 - 1}, got {shape!r} in {square}"
                )
        self.size = size
        self.pictures = [
            {"caption": [*words], "described": [*squares], "things": [[*thing] for thing in each]}
            for words, squares, each in zip(captions, described, things, strict=True)
        ]
        numbers = {
            "words": range(1, lengths.pop() + 1),
            "rows": range(1, size + 1),
            "columns": range(1, size + 1),
        }
        super().__init__(compute, axes, labels=numbers | options.pop("labels", {}), **options)

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """weights: (words, squares)."""
        return {"weights": (len(self.labels["words"]), self.size**2)}

    @property
    def options(self) -> dict:
        """The pictures, and how many rows of squares each has."""
        return {"pictures": self.pictures, "size": self.size}
