"""Two arrows in each of several planes, and how much each pair of them adds to a score.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from utils.figures.figure import Figure


class Arrows(Figure):
    """A query and a key as arrows from the middle of each plane; below it stands their product.

    ``compute`` returns ``query`` and ``key`` of shape (planes, 2), where the arrows end, ``products`` (planes,), which
    stand below the planes, and ``score`` (), which stands below them all. All planes and states have one scale.

    Args:
        planes: names of the planes.
        options: as for :class:`utils.figures.figure.Figure`.
    """

    kind = "arrows"

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        planes: Sequence[str],
        **options,
    ):
        super().__init__(compute, axes, labels={"planes": planes} | options.pop("labels", {}), **options)

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """query and key: (planes, 2); products: (planes,); score: ()."""
        num = len(self.labels["planes"])
        return dict.fromkeys(("query", "key"), (num, 2)) | {"products": (num,), "score": ()}

    @property
    def options(self) -> dict:
        """The length of the longest arrow."""
        longest = max(np.linalg.norm(self.frames(name), axis=-1).max() for name in ("query", "key"))
        return {"longest": round(float(longest), 4)}
