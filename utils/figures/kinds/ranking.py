"""Texts in the order of a number, each with a bar.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from utils.figures.figure import Figure


class Ranking(Figure):
    """A list of texts, the best one first, each with its number as a bar: for instance what a search finds.

    ``compute`` returns ``ranked`` of shape (lines,), the numbers of the labels ``texts`` from the first line to the
    last, and ``scores`` of the same shape, numbers from 0 to 1. The first line stands out.

    Args:
        texts: all texts that some state lists.
        heading: what the list is.
        options: as for :class:`utils.figures.figure.Figure`.
    """

    kind = "ranking"
    numbered: ClassVar = {"ranked": "texts"}

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        texts: Sequence[str],
        heading: str = "",
        **options,
    ):
        self.heading = heading
        super().__init__(compute, axes, labels={"texts": texts} | options.pop("labels", {}), **options)

    def shares(self) -> set[str]:
        """The numbers of the lines."""
        return super().shares() | {"scores"}

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """ranked and scores: (lines,)."""
        lines = self.frames("ranked").shape[-1:] if "ranked" in self._packed else (1,)
        return dict.fromkeys(("ranked", "scores"), lines)

    @property
    def options(self) -> dict:
        """What the list is."""
        return {"heading": self.heading}
