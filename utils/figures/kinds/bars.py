"""Distributions as bars.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from utils.figures.figure import Figure, check_value


class Bars(Figure):
    """Distributions as bars, one below the other over the same labels.

    ``compute`` returns an array of shape (bars,), numbers from 0 to 1, for each name in ``panels``. It may also return
    ``drawn`` of shape (bars,), how often each has been drawn: so many dots stand under its label; and ``newest`` of
    shape (), the number of the bar that was drawn last, or -1. With labels
    ``verdicts`` it returns an integer array ``verdict`` of shape (panels,), the numbers of the labels that stand beside
    the panels: the first label says that the numbers are right and gets a tick, all others get a cross. With labels
    ``written`` it returns an integer array ``written`` of shape (panels,), the numbers of the labels that stand in the
    forbidden part of the panels: what is written there before the softmax. And ``given`` of shape (bars,) are scores
    that stand above the panels.

    Args:
        panels: name of each array to its title.
        bars: labels of the bars.
        edge: an axis whose value n forbids the bars from n on, for instance the length of a mask; its values are
            0, 1 and so on. Readers can drag the line before the first forbidden bar.
        cut: an axis of sums up to which probabilities are kept, and at its last value all, for instance top-p. Above
            the bars of the single panel, violet as probabilities are, all of them lie end to end, and readers can drag
            the sum.
        rest: what the last bar stands for, if it stands for many things, as "315 others": it has a number and no bar.
        draws: the axis that counts the draws, and behind it, if there is one, the axis of the sets of draws: a click in
            the picture draws one more, and after the last one begins the next set.
        compare: an axis and one of its values: with a cut, dashed outlines show the bars at this value.
        options: as for :class:`utils.figures.figure.Figure`.
    """

    kind = "bars"
    numbered: ClassVar = {"verdict": "verdicts", "written": "written"}

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        panels: Mapping[str, str],
        bars: Sequence[object],
        edge: str | None = None,
        cut: str | None = None,
        rest: str | None = None,
        draws: Sequence[str] = (),
        compare: tuple[str, object] | None = None,
        **options,
    ):
        if edge is not None and list(axes.get(edge, ())) != list(range(len(bars) + 1)):
            raise ValueError(f"edge must name an axis of the values 0 to {len(bars)}, got {edge!r}")
        for what, axis in (("cut", cut), *(("draws", axis) for axis in draws)):
            if axis is not None and axis not in axes:
                raise ValueError(f"{what} must name an axis, got {axis!r}")
        check_value("compare", compare, axes)
        if cut and len(panels) > 1:
            raise ValueError(f"cut needs a single panel, got {list(panels)}")
        if (compare or rest or draws) and not cut:
            raise ValueError("compare, rest and draws need a cut")
        self.panels, self.edge, self.compare = dict(panels), edge, compare
        self.cut, self.rest, self.draws = cut, rest, list(draws)
        labels = {"bars": bars} | options.pop("labels", {})
        super().__init__(compute, axes, labels=labels, **options)

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """Each panel, ``drawn`` and ``given``: (bars,); ``verdict`` and ``written``: (panels,)."""
        bars = (len(self.labels["bars"]),)
        shapes = dict.fromkeys(self.panels, bars) | self._optional(
            {"drawn": bars, "newest": (), "given": bars}
        )
        named = [array for array, labels in self.numbered.items() if labels in self.labels]
        return shapes | dict.fromkeys(named, (len(self.panels),))

    @property
    def options(self) -> dict:
        """The panels with their titles, and what is drawn besides."""
        return {
            "panels": list(self.panels.items()),
            "edge": self.edge,
            "compare": self.compare,
            "cut": self.cut,
            "rest": self.rest,
            "draws": self.draws,
        }
