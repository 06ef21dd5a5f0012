"""Kernel regression: readings, the true curve, the estimate, and the weights of one query.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from torch import Tensor

from utils.figures.figure import Figure


class Curve(Figure):
    """Readings, the true curve and the estimate; a query that readers drag, and its weights as bars under the readings.

    The bars have one scale in all states: that of a weight of 1 reaches to the top.

    ``compute`` returns ``estimate``, the estimated curve at the places of the grid that are drawn, ``weights``
    (points,), numbers from 0 to 1, and ``height`` (), the estimate at the query. If an estimate may be missing,
    ``estimate_known``, as long as ``estimate``, and ``height_known`` () are 1 where there is one; where they are 0,
    nothing is drawn. It may also return ``error`` (), in the unit of the y axis, which is written above the curve: the
    root mean squared distance of the estimate from the truth on the whole grid, where there is an estimate.

    With ``kernels`` readers can also drag the readings up and down. The page then computes weights, estimate and error
    itself.

    Args:
        query: the axis whose values lie on the x axis; readers drag it in the picture.
        points: observed x and y, each (points,).
        grid: x of all places where the error is measured, (grid,).
        truth: the true y on that grid, (grid,).
        axes_labels: labels of the x and the y axis, with their units.
        kernels: for each value of the axis ``kernel`` the name of that kernel in ``utils.kernels``; the bandwidth is
            the axis ``bandwidth``, which the edges of the window set, too.
        say_moved: the sentence once a reading was moved, and the sentence where then no reading has a weight. Both may
            name ``height``, ``error`` and the axes.
        options: as for :class:`utils.figures.figure.Figure`, and ``every``: curves are drawn through every place of
            the grid (1, the default), every second one (2), and so on.
    """

    kind = "curve"

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        query: str,
        points: tuple[Tensor, Tensor],
        grid: Tensor,
        truth: Tensor,
        axes_labels: tuple[str, str] = ("", ""),
        kernels: Mapping[str, str] | None = None,
        say_moved: tuple[str, str] | None = None,
        **options,
    ):
        if query not in axes:
            raise ValueError(f"query must name an axis, got {query!r}")
        if kernels and not (
            set(axes.get("kernel", ())) == set(kernels) and "bandwidth" in axes and say_moved
        ):
            raise ValueError(
                "kernels need the axes kernel and bandwidth, a name for each kernel, and say_moved"
            )
        self.query, self.axes_labels, self.kernels = query, axes_labels, kernels
        self.every = options.pop("every", 1)
        self.points_x, self.points_y = (np.asarray(side, dtype=float) for side in points)
        self.grid, self.truth = np.asarray(grid, dtype=float), np.asarray(truth, dtype=float)
        for names, x, y in (
            ("x and y of points", self.points_x, self.points_y),
            ("grid and truth", self.grid, self.truth),
        ):
            if x.shape != y.shape:
                raise ValueError(f"{names} must have the same shape, got {x.shape} and {y.shape}")
        say = options.pop("say")
        sentences = [*([say] if isinstance(say, str) else say), *(say_moved or ())]
        super().__init__(compute, axes, say=sentences, **options)

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """estimate and estimate_known: (grid[::every],); weights: (points,); height, height_known and error: ()."""
        drawn = self.grid[:: self.every].shape
        required = {"estimate": drawn, "weights": self.points_x.shape, "height": ()}
        return required | self._optional({"estimate_known": drawn, "height_known": (), "error": ()})

    @property
    def options(self) -> dict:
        """The readings, both curves and the names of the axes."""
        return {
            "x": self.points_x.round(4).tolist(),
            "y": self.points_y.round(4).tolist(),
            "grid": self.grid.round(4).tolist(),
            "truth": self.truth.round(4).tolist(),
            "every": self.every,
            "query": self.query,
            "bandwidth": "bandwidth",
            "kernels": self.kernels,
            "x_label": self.axes_labels[0],
            "y_label": self.axes_labels[1],
        }

    @property
    def movable(self) -> dict | None:
        """The readings go up and down, as far as the picture shows."""
        if not self.kernels:
            return None
        levels = np.concatenate([self.points_y, self.truth])
        return {
            "labels": [f"{self.axes_labels[0]} {x:.4g}" for x in self.points_x],
            "places": [list(place) for place in zip(self.options["x"], self.options["y"], strict=True)],
            "names": list(self.axes_labels),
            "bounds": [None, [round(float(levels.min()), 2), round(float(levels.max()), 2)]],
        }
