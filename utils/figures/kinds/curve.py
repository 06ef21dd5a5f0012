"""Kernel regression: readings, the true curve, the estimate, and the weights of one query.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from torch import Tensor

from utils.figures.figure import Figure


class Curve(Figure):
    """Readings, the true curve and the estimate; a query that readers drag, and its weights as bars under the readings.

    Readers can also drag the edges of the window, which set the bandwidth. The bars have one scale in all states: that
    of a weight of 1 reaches to the top.

    ``compute`` takes ``kernel``, ``bandwidth`` and ``query``. It returns ``estimate``, the estimated curve at the
    places of the grid, ``weights`` (points,), numbers from 0 to 1, and ``height`` (), the estimate at the query.
    ``estimate_known``, as long as ``estimate``, and ``height_known`` () are 1 where there is an estimate; where they
    are 0, nothing is drawn. ``error`` (), in the unit of the y axis, is the root mean squared distance of
    the estimate from the truth, where there is an estimate.

    Args:
        points: observed x and y, each (points,).
        grid: x of the places through which the curves are drawn, (grid,).
        truth: the true y on that grid, (grid,).
        axes_labels: labels of the x and the y axis, with their units.
        options: as for :class:`utils.figures.figure.Figure`.
    """

    kind = "curve"

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        points: tuple[Tensor, Tensor],
        grid: Tensor,
        truth: Tensor,
        axes_labels: tuple[str, str],
        **options,
    ):
        if set(axes) != {"kernel", "bandwidth", "query"}:
            raise ValueError(f"a curve needs the axes kernel, bandwidth and query, got {list(axes)}")
        self.axes_labels = axes_labels
        self.points_x, self.points_y = (np.asarray(side, dtype=float) for side in points)
        self.grid, self.truth = np.asarray(grid, dtype=float), np.asarray(truth, dtype=float)
        for names, x, y in (
            ("x and y of points", self.points_x, self.points_y),
            ("grid and truth", self.grid, self.truth),
        ):
            if x.shape != y.shape:
                raise ValueError(f"{names} must have the same shape, got {x.shape} and {y.shape}")
        super().__init__(compute, axes, **options)

    def shares(self) -> set[str]:
        """The weights, and what says where there is an estimate."""
        return super().shares() | {"weights", "estimate_known", "height_known"}

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """estimate and estimate_known: (grid,); weights: (points,); height, height_known and error: ()."""
        numbers = dict.fromkeys(("height", "height_known", "error"), ())
        curves = dict.fromkeys(("estimate", "estimate_known"), self.grid.shape)
        return curves | numbers | {"weights": self.points_x.shape}

    @property
    def options(self) -> dict:
        """The readings, both curves and the names of the axes."""
        return {
            "x": self.points_x.round(4).tolist(),
            "y": self.points_y.round(4).tolist(),
            "grid": self.grid.round(4).tolist(),
            "truth": self.truth.round(4).tolist(),
            "x_label": self.axes_labels[0],
            "y_label": self.axes_labels[1],
        }
