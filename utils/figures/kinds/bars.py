"""Distributions as bars.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from utils.figures.figure import Figure


class Bars(Figure):
    """Distributions as bars, one below the other over the same labels.

    ``compute`` returns an array of shape (bars,), numbers from 0 to 1, for each name in ``panels``. With labels
    ``verdicts`` it returns an integer array ``verdict`` of shape (panels,), the numbers of the labels that stand beside
    the panels: the first label says that the numbers are right and gets a tick, all others get a cross. With labels
    ``written`` it returns an integer array ``written`` of shape (panels,), the numbers of the labels that stand in the
    forbidden part of the panels: what is written there before the softmax. And ``given`` of shape (bars,) are scores
    that stand above the panels.

    Args:
        panels: name of each array to its title.
        bars: labels of the bars.
        edge: an axis whose value n forbids the bars from n on, for instance the length of a mask; its values are
            0, 1 and so on. Readers can drag the line before the first forbidden bar. Two labels ``sides`` say what
            stands on its sides; without them these are allowed and forbidden bars.
        chances: whether the bars are probabilities of words, which have a colour of their own.
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
        chances: bool = False,
        **options,
    ):
        if edge is not None and list(axes.get(edge, ())) != list(range(len(bars) + 1)):
            raise ValueError(f"edge must name an axis of the values 0 to {len(bars)}, got {edge!r}")
        self.panels, self.edge = dict(panels), edge
        self.role = "chance" if chances else "weight"
        super().__init__(compute, axes, labels={"bars": bars} | options.pop("labels", {}), **options)

    def shares(self) -> set[str]:
        """The panels."""
        return super().shares() | self.panels.keys()

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """Each panel and ``given``: (bars,); ``verdict`` and ``written``: (panels,)."""
        bars = (len(self.labels["bars"]),)
        named = [array for array, labels in self.numbered.items() if labels in self.labels]
        shapes = dict.fromkeys(self.panels, bars) | self._optional({"given": bars})
        return shapes | dict.fromkeys(named, (len(self.panels),))

    @property
    def options(self) -> dict:
        """The panels with their titles, the axis of the first forbidden bar, and what the bars stand for."""
        return {"panels": list(self.panels.items()), "edge": self.edge, "role": self.role}
