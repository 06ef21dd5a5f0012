"""Curves that a grip moves, and dots that ride on one of them.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from torch import Tensor

from utils.figures.figure import Figure


class Lines(Figure):
    """Curves over one axis, which readers move by a grip, and dots with names that ride on the last curve.

    ``compute`` returns an array of shape (grid,) for each name in ``curves``, and ``heights`` (dots,), the heights of
    the dots. ``best`` () is the number of the dot that stands out. A curve of which ``NAME_known`` () is 0 is not
    drawn. All states have one scale.

    Args:
        curves: name of each array to the name of its curve. The last curve is the thickest.
        grid: x of the places through which the curves are drawn, (grid,).
        dots: name of each dot, and its x.
        grip: the axis of numbers that readers drag along the x axis.
        axes_labels: labels of the x and the y axis, with their units.
        options: as for :class:`utils.figures.figure.Figure`.

    Raises:
        ValueError: a grip that is no axis, or a dot outside of the grid.
    """

    kind = "lines"

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        curves: Mapping[str, str],
        grid: Tensor | Sequence[float],
        dots: Mapping[str, float],
        grip: str,
        axes_labels: tuple[str, str],
        **options,
    ):
        if grip not in axes:
            raise ValueError(f"grip must name an axis, one of {list(axes)}, got {grip!r}")
        self.curves, self.grip, self.axes_labels = dict(curves), grip, axes_labels
        self.grid, self.dots = np.asarray(grid, dtype=float), {name: float(x) for name, x in dots.items()}
        for name, x in self.dots.items():
            if not self.grid[0] <= x <= self.grid[-1]:
                raise ValueError(
                    f"the dot {name!r} must lie on the grid, from {self.grid[0]:g} to {self.grid[-1]:g}, got {x:g}"
                )
        super().__init__(compute, axes, labels={"dots": list(dots)} | options.pop("labels", {}), **options)

    def shares(self) -> set[str]:
        """What says which curves are drawn."""
        return super().shares() | {f"{name}_known" for name in self.curves}

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """Each curve: (grid,); heights: (dots,); best and what says whether a curve is drawn: ()."""
        known = self._optional({f"{name}_known": () for name in self.curves})
        return (
            dict.fromkeys(self.curves, self.grid.shape) | {"heights": (len(self.dots),), "best": ()} | known
        )

    @property
    def options(self) -> dict:
        """The curves with their names, the places on the x axis, the range of the y axis, and the labels of both."""
        heights = [self.frames(name) for name in self.curves]
        return {
            "curves": list(self.curves.items()),
            "grid": self.grid.round(4).tolist(),
            "dots": list(self.dots.values()),
            "range": [float(min(map(np.min, heights))), float(max(map(np.max, heights)))],
            "grip": self.grip,
            "x_label": self.axes_labels[0],
            "y_label": self.axes_labels[1],
        }
