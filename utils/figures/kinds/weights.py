"""One or two heat maps of the weights of queries by keys, and what all kinds of such maps share.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from utils.figures.figure import Figure


class OfQueries(Figure):
    """Weights of queries by keys, of which the query is the pick ``query``."""

    picks: ClassVar = {"query": "queries"}
    panels: Mapping[str, str] = {"weights": ""}

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        queries: Sequence[object],
        keys: Sequence[object],
        gauges: tuple[str, Mapping[str, str]] = Figure.gauges,
        **options,
    ):
        self.gauges = gauges
        self.table = (list(self.panels.items()), "queries", "keys")
        labels = {"queries": queries, "keys": keys} | options.pop("labels", {})
        super().__init__(compute, axes, labels=labels, **options)

    def shares(self) -> set[str]:
        """The panels and the gold cells."""
        return super().shares() | self.panels.keys() | {"gold"}

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """Each panel and gold: (queries, keys)."""
        shape = len(self.labels["queries"]), len(self.labels["keys"])
        return dict.fromkeys(self.panels, shape) | self._optional({"gold": shape})


class Weights(OfQueries):
    """One or two heat maps of queries by keys, or one beside a picture, with the numbers of the chosen query's row.

    ``compute`` returns an array of shape (queries, keys), numbers from 0 to 1, for each name in ``panels``. It may
    return ``gold`` of shape (queries, keys), which is 1 for the cells that should have the weight: they get a dashed
    frame, and labels ``gold``, one text, say what they are. With labels ``written`` it returns an integer array
    ``written`` of shape (queries,), the numbers of the labels that stand beside the rows; a cross marks one that
    differs from the label of its row, and where there is room, beside a word that was lost stands the value of the axis
    that is played at which it was first wrong.

    Args:
        queries: labels of the rows.
        keys: labels of the columns.
        panels: name of each array to the title of its map; one map of the array ``weights`` by default.
        edge: an axis whose value n forbids the columns from n on, for instance the valid length.
        squares: rows and columns of the squares of a small picture, which are the keys, row by row. The picture stands
            beside the map, and over it the weights of the chosen query. ``compute`` then also returns ``image`` of
            shape (height, width, 3): red, green and blue, numbers from 0 to 1.
        gauges: a heading, and from the name of a number to the text beside its curve; see ``Figure.gauges``.
        options: as for :class:`utils.figures.figure.Figure`.

    >>> import torch
    >>> figure = Weights(
    ...     lambda d: {"weights": torch.softmax(torch.eye(2) * d, dim=-1)},
    ...     {"d": [0, 1]}, queries=["a", "b"], keys=["x", "y"],
    ...     name="tiny", alt="Two rows of weights.", say="{query} at d = {d}",
    ... )
    >>> figure
    Weights tiny: d (2)
    Two rows of weights.
    a at d = 0
    """

    kind = "weights"
    numbered: ClassVar = {"written": "written"}

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        panels: Mapping[str, str] | None = None,
        edge: str | None = None,
        squares: tuple[int, int] | None = None,
        **options,
    ):
        num_keys = len(options["keys"])
        if edge is not None and any(value not in range(num_keys + 1) for value in axes.get(edge, [None])):
            raise ValueError(f"edge must name an axis of whole numbers from 0 to {num_keys}, got {edge!r}")
        if squares is not None and squares[0] * squares[1] != num_keys:
            raise ValueError(f"{squares[0]} rows of {squares[1]} squares are not {num_keys} keys")
        self.panels, self.edge, self.squares = dict(panels or self.panels), edge, squares
        super().__init__(compute, axes, **options)

    def shares(self) -> set[str]:
        """The panels, the gold cells, and the colours of the picture."""
        return super().shares() | {"image"}

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """Each panel and gold: (queries, keys); written: (queries,); image: (height, width, 3)."""
        shapes = super().expected_shapes()
        if "written" in self.labels:
            shapes["written"] = (len(self.labels["queries"]),)
        if self.squares:
            height, width = self.frames("image").shape[-3:-1] if "image" in self._packed else self.squares
            shapes["image"] = (height, width, 3)
        return shapes

    @property
    def options(self) -> dict:
        """The panels with their titles, the axis that forbids keys, and the squares of the picture."""
        return {"panels": list(self.panels.items()), "edge": self.edge, "squares": self.squares}
