"""Kernel regression: readings, the true curve, the estimate, and the weights of one query.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from torch import Tensor

from utils.figures.figure import Figure


class Curve(Figure):
    """Readings, the true curve and the estimate; a query that readers drag, and its weights as bars under the readings.

    Readers can also drag the edges of the window, and the readings up and down; the page then computes weights,
    estimate and error itself. The bars have one scale in all states: that of a weight of 1 reaches to the top.

    ``compute`` takes ``kernel``, ``bandwidth`` and ``query``. It returns ``estimate``, the estimated curve at the
    places of the grid that are drawn, ``weights`` (points,), numbers from 0 to 1, and ``height`` (), the estimate at
    the query. ``estimate_known``, as long as ``estimate``, and ``height_known`` () are 1 where there is an estimate;
    where they are 0, nothing is drawn. ``error`` (), in the unit of the y axis, is the root mean squared distance of
    the estimate from the truth on the whole grid, where there is an estimate.

    Args:
        points: observed x and y, each (points,).
        grid: x of all places where the error is measured, (grid,).
        truth: the true y on that grid, (grid,).
        axes_labels: labels of the x and the y axis, with their units.
        kernels: for each value of the axis ``kernel`` the name of that kernel in ``utils.kernels``.
        say_moved: the sentence once a reading was moved, and the sentence where then no reading has a weight. Both may
            name ``height``, ``error`` and the axes.
        every: curves are drawn through every place of the grid (1), every second one (2), and so on.
        options: as for :class:`utils.figures.figure.Figure`, with a list as ``say``.
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
        kernels: Mapping[str, str],
        say_moved: tuple[str, str],
        every: int = 1,
        **options,
    ):
        if set(axes) != {"kernel", "bandwidth", "query"} or set(axes["kernel"]) != set(kernels):
            raise ValueError("a curve needs the axes kernel, bandwidth and query, and a name for each kernel")
        self.axes_labels, self.kernels, self.every = axes_labels, kernels, every
        self.points_x, self.points_y = (np.asarray(side, dtype=float) for side in points)
        self.grid, self.truth = np.asarray(grid, dtype=float), np.asarray(truth, dtype=float)
        for names, x, y in (
            ("x and y of points", self.points_x, self.points_y),
            ("grid and truth", self.grid, self.truth),
        ):
            if x.shape != y.shape:
                raise ValueError(f"{names} must have the same shape, got {x.shape} and {y.shape}")
        options["say"] = [*options["say"], *say_moved]
        super().__init__(compute, axes, **options)

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """estimate and estimate_known: (grid[::every],); weights: (points,); height, height_known and error: ()."""
        numbers = dict.fromkeys(("height", "height_known", "error"), ())
        curves = dict.fromkeys(("estimate", "estimate_known"), self.grid[:: self.every].shape)
        return curves | numbers | {"weights": self.points_x.shape}

    @property
    def options(self) -> dict:
        """The readings, both curves and the names of the axes."""
        return {
            "x": self.points_x.round(4).tolist(),
            "y": self.points_y.round(4).tolist(),
            "grid": self.grid.round(4).tolist(),
            "truth": self.truth.round(4).tolist(),
            "every": self.every,
            "kernels": self.kernels,
            "x_label": self.axes_labels[0],
            "y_label": self.axes_labels[1],
        }

    @property
    def movable(self) -> dict:
        """The readings go up and down, as far as the picture shows."""
        levels = np.concatenate([self.points_y, self.truth])
        return {
            "labels": [f"{self.axes_labels[0]} {x:.4g}" for x in self.points_x],
            "places": [list(place) for place in zip(self.options["x"], self.options["y"], strict=True)],
            "names": list(self.axes_labels),
            "bounds": [None, [round(float(levels.min()), 2), round(float(levels.max()), 2)]],
        }
