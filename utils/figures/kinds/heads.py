"""The heat map of one head, or by one score, with a small one of each to choose from.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence

from utils.figures.figure import check_pair
from utils.figures.kinds.weights import OfQueries


class Heads(OfQueries):
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
        cells: draw one cell in place of each small map, as dark as its share: for two axes with many values.
        options: as for ``Weights``, without panels and edge.

    Raises:
        ValueError: ``maps`` or ``causal`` that name no axis, or cells for one axis.
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
        cells: bool = False,
        **options,
    ):
        if missing := [name for name in maps if name not in axes]:
            raise ValueError(f"maps must name axes, got {missing[0]!r}")
        if cells and len(maps) != 2:
            raise ValueError(f"maps must name two axes for cells, got {len(maps)}")
        self.causal = None if causal is None else check_pair("causal", causal, axes)
        self.maps, self.free, self.cells = list(maps), free, cells
        super().__init__(compute, axes, **options)

    def shares(self) -> set[str]:
        """The weights, the gold cells, and the share at each small map."""
        return super().shares() | {"share"}

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """weights and gold: (queries, keys); share: ()."""
        return super().expected_shapes() | {"share": ()}

    @property
    def options(self) -> dict:
        """The axes of the small maps, the axis and value of the causal mask, no mask, and cells."""
        options = {"maps": self.maps, "causal": self.causal}
        return options | {name: True for name in ("free", "cells") if getattr(self, name)}
