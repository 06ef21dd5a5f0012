"""Heat maps of the weights of queries by keys, alone or with small ones to choose from.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from utils.figures.figure import Figure, check_value


class _OfQueries(Figure):
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

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """Each panel and gold: (queries, keys)."""
        shape = len(self.labels["queries"]), len(self.labels["keys"])
        return dict.fromkeys(self.panels, shape) | self._optional({"gold": shape})


class Weights(_OfQueries):
    """One or two heat maps of queries by keys, with the numbers of the row of the chosen query.

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
        if edge is not None and edge not in axes:
            raise ValueError(f"edge must name an axis, got {edge!r}")
        if squares is not None and squares[0] * squares[1] != len(options["keys"]):
            raise ValueError(f"{squares[0]} rows of {squares[1]} squares are not {len(options['keys'])} keys")
        self.panels, self.edge, self.squares = dict(panels or self.panels), edge, squares
        super().__init__(compute, axes, **options)

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


class Heads(_OfQueries):
    """The heat map of one head of one layer, and a small one of each, to choose from; or of one of several scores.

    ``compute`` returns ``weights`` of shape (queries, keys), and ``share``, a number from 0 to 1 that stands at each
    small map; labels ``share``, one text, say above them what it is. It may return ``gold`` of shape (queries, keys),
    which is 1 for the cells that should have the weight: they get a dashed frame, and labels ``gold``, one text, say
    what they are.

    Args:
        maps: one or two axes: there is a small map for each value of the first one, in a row for each value of it
            and in a column for each value of the second one.
        causal: an axis and one of its values, at which each query is forbidden to look at the keys after its own place;
            None if it always is.
        free: whether every query may look at all keys.
        options: as for ``Weights``, without panels and edge.

    Raises:
        ValueError: ``maps`` or ``causal`` that name no axis.
    """

    kind = "heads"

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        maps: Sequence[str] = ("head", "layer"),
        causal: tuple[str, object] | None = None,
        free: bool = False,
        **options,
    ):
        if missing := [name for name in maps if name not in axes]:
            raise ValueError(f"maps must name axes, got {missing[0]!r}")
        if causal is not None:
            check_value("causal", causal, axes)
        self.maps, self.causal, self.free = list(maps), causal, free
        super().__init__(compute, axes, **options)

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """weights and gold: (queries, keys); share: ()."""
        return super().expected_shapes() | {"share": ()}

    @property
    def options(self) -> dict:
        """The axes of the small maps, the axis and value of the causal mask, and no mask."""
        options = {"maps": self.maps, "causal": self.causal}
        return options | ({"free": True} if self.free else {})
