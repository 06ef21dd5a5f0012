"""Distributions as bars.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence

from utils.explorables.figure import Figure, check_value


class Bars(Figure):
    """Distributions as bars, one below the other over the same labels.

    ``compute`` returns an array of shape (bars,), numbers from 0 to 1, for each name in ``panels``. It may also return
    ``drawn`` of shape (bars,), how often each has been drawn: so many dots stand under its label; and ``newest`` of
    shape (), the number of the bar that was drawn last, or -1. With labels
    ``verdicts`` it returns an integer array ``verdict`` of shape (panels,), the numbers of the labels that stand beside
    the panels: the first label says that the numbers are right and gets a tick, all others get a cross.

    Args:
        panels: name of each array to its title.
        bars: labels of the bars.
        role: "weight", or "chance" for probabilities of words, whose bars have another colour.
        edge: an axis whose value n forbids the bars from n on, for instance the length of a mask; its values are
            0, 1 and so on. Readers can drag the line before the first forbidden bar.
        cut: an axis that leaves out bars at the end, and at its last value none: readers can drag the line behind
            what is left.
        draws: the axis that counts the draws, and behind it, if there is one, the axis of the sets of draws: a click in
            the picture draws one more, and after the last one begins the next set.
        compare: an axis and one of its values: dashed outlines show the bars of a single panel at this value.
        options: as for :class:`utils.explorables.figure.Figure`.
    """

    kind = "bars"

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        panels: Mapping[str, str],
        bars: Sequence[object],
        role: str = "weight",
        edge: str | None = None,
        cut: str | None = None,
        draws: Sequence[str] = (),
        compare: tuple[str, object] | None = None,
        **options,
    ):
        if edge is not None and list(axes.get(edge, ())) != list(range(len(bars) + 1)):
            raise ValueError(f"edge must name an axis of the values 0 to {len(bars)}, got {edge!r}")
        if role not in ("weight", "chance"):
            raise ValueError(f"role must be 'weight' or 'chance', got {role!r}")
        for what, axis in (("cut", cut), *(("draws", axis) for axis in draws)):
            if axis is not None and axis not in axes:
                raise ValueError(f"{what} must name an axis, got {axis!r}")
        check_value("compare", compare, axes)
        if compare and len(panels) > 1:
            raise ValueError(f"compare needs a single panel, got {list(panels)}")
        self.panels, self.role, self.edge, self.compare = dict(panels), role, edge, compare
        self.cut, self.draws = cut, list(draws)
        labels = {"bars": bars} | options.pop("labels", {})
        super().__init__(compute, axes, labels=labels, **options)

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """Each panel and ``drawn``: (bars,); ``verdict``: (panels,)."""
        shapes = dict.fromkeys(self.panels, (len(self.labels["bars"]),))
        shapes |= self._optional({"drawn": (len(self.labels["bars"]),), "newest": ()})
        return shapes | ({"verdict": (len(self.panels),)} if "verdicts" in self.labels else {})

    @property
    def options(self) -> dict:
        """The panels with their titles, the role, and what is drawn besides."""
        return {
            "panels": list(self.panels.items()),
            "role": self.role,
            "edge": self.edge,
            "compare": self.compare,
            "cut": self.cut,
            "draws": self.draws,
        }
