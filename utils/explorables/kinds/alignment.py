"""Two sentences, and where each word of one looks in the other.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from utils.explorables.figure import Figure


class Alignment(Figure):
    """Two sentences, with bands from the chosen target word to the source words that it attends to.

    The larger the weight, the wider the band. Grey bands show the weights of all target words, blue ones those of the
    chosen word, which also stand as bars with their numbers. Where both sentences fit, they are two lines; where
    they do not, as on a phone, two columns.
    ``compute`` returns ``weights`` of shape (target, source), numbers from 0 to 1.

    Args:
        source: the words that are attended to.
        target: the words that attend.
        gold: known links (target position, source position), drawn as dashed lines if the axis ``gold_links`` is
            "shown".
        options: as for :class:`utils.explorables.figure.Figure`; with ``gold`` give an axis ``gold_links`` with
            the values "hidden" and "shown".
    """

    kind = "alignment"
    picks: ClassVar = {"word": "target"}
    table = ("weights", "target", "source")

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        source: Sequence[str],
        target: Sequence[str],
        gold: Sequence[tuple[int, int]] = (),
        **options,
    ):
        if gold and list(axes.get("gold_links", [])) != ["hidden", "shown"]:
            raise ValueError('gold links need an axis "gold_links" with the values "hidden" and "shown"')
        for i, j in gold:
            if not (0 <= i < len(target) and 0 <= j < len(source)):
                raise ValueError(
                    f"gold link {(i, j)} does not fit {len(target)} target and {len(source)} source words"
                )
        self.gold = [[int(i), int(j)] for i, j in gold]
        labels = {"source": source, "target": target} | options.pop("labels", {})
        super().__init__(compute, axes, labels=labels, **options)

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """weights: (target, source)."""
        return {"weights": (len(self.labels["target"]), len(self.labels["source"]))}

    @property
    def options(self) -> dict:
        """The gold links."""
        return {"gold": self.gold}
