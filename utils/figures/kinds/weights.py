"""Heat maps of the weights of queries by keys.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from utils.figures.figure import Figure, check_value


class Weights(Figure):
    """Heat maps of queries by keys, with the numbers of the row of the chosen query.

    ``compute`` returns an array of shape (queries, keys), numbers from 0 to 1, for each name in ``panels``. It may also
    return ``gold`` of this shape, which is 1 for the cells that should have the weight: they get a dashed frame; labels
    ``gold``, one text, say what these are. With labels ``written`` it returns an integer array ``written`` of shape
    (queries,), the numbers of the labels that stand beside the rows; a cross marks one that differs from the label of
    its row. With a gallery it may return the number ``share``, which stands at each small map and orders the rows of
    one axis; labels ``share``, one text, say above the small maps what it is.

    Args:
        queries: labels of the rows.
        keys: labels of the columns.
        panels: name of each array to the title of its map; one map of the array ``weights`` by default.
        edge: an axis whose value n forbids the columns from n on, for instance the valid length.
        causal: an axis and one of its values, at which each query is forbidden to look at the keys after its own place.
        window: an axis whose value n forbids each query to look at keys more than n places away from its own place.
        gallery: one axis, at each of whose values the chosen row of the first map is also shown, or two axes, at whose
            values this map is shown small; to choose from.
        options: as for :class:`utils.figures.figure.Figure`; and ``gauges``, a heading and, from the name of a
            number from 0 to 1 that ``compute`` returns, to the text beside its curve: a chart above the maps,
            along the axis that is played first (with one number per query, the curve is that of the chosen one, and an
            empty text its name).

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
    picks: ClassVar = {"query": "queries"}
    numbered: ClassVar = {"written": "written"}

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        queries: Sequence[object],
        keys: Sequence[object],
        panels: Mapping[str, str] | None = None,
        edge: str | None = None,
        causal: tuple[str, object] | None = None,
        window: str | None = None,
        gallery: Sequence[str] = (),
        **options,
    ):
        self.panels, self.edge, self.causal = dict(panels or {"weights": ""}), edge, causal
        self.window, self.gallery, self.gauges = window, list(gallery), options.pop("gauges", self.gauges)
        self.table = (list(self.panels.items()), "queries", "keys")
        for what, axis in (("edge", edge), ("window", window)):
            if axis is not None and axis not in axes:
                raise ValueError(f"{what} must name an axis, got {axis!r}")
        check_value("causal", causal, axes)
        if len(self.gallery) > 2 or not set(self.gallery) <= set(axes) - {edge, window, causal and causal[0]}:
            raise ValueError(f"gallery must name one or two axes that forbid no keys, got {self.gallery}")
        labels = {"queries": queries, "keys": keys} | options.pop("labels", {})
        if len(self.panels) > 2 and (causal or "written" in labels):
            raise ValueError(
                "of more than two maps only a row is drawn, without a causal mask and written words"
            )
        super().__init__(compute, axes, labels=labels, **options)

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """Each panel and gold: (queries, keys); share: (); written: (queries,)."""
        rows, columns = len(self.labels["queries"]), len(self.labels["keys"])
        shapes = dict.fromkeys(self.panels, (rows, columns))
        shapes |= self._optional({"gold": (rows, columns), "share": ()})
        return shapes | ({"written": (rows,)} if "written" in self.labels else {})

    @property
    def options(self) -> dict:
        """The maps with their titles, what forbids keys, and the axes of the small maps."""
        return {
            "panels": list(self.panels.items()),
            "edge": self.edge,
            "causal": self.causal,
            "window": self.window,
            "gallery": self.gallery,
        }
