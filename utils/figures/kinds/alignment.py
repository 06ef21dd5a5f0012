"""Two sentences, and where each word of one looks in the other.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from utils.figures.figure import Figure, check_value


class Alignment(Figure):
    """Two sentences, with bands from the chosen target word to the source words that it attends to.

    With labels ``gloss`` each target word has a translation beside it.
    The larger the weight, the wider the band. Grey bands show the weights of all target words, blue ones those of the
    chosen word, which also stand as bars with their numbers. Where both sentences fit, they are two lines; where
    they do not, as on a phone, two columns.
    ``compute`` returns ``weights`` of shape (target, source), numbers from 0 to 1. With labels ``written`` it also
    returns an integer array ``written`` of shape (target,), the numbers of the labels that are written in place of the
    target words; a cross marks those that differ.

    Args:
        source: the words that are attended to.
        target: the words that attend.
        gold: known links (target position, source position), drawn as dashed lines: those of the chosen word, and all
            of them if the axis ``gold_links`` is "shown".
        compare: an axis and one of its values: pale bands show where the chosen word looks at this value.
        gauges: a heading, and from the name of a number to the text beside its curve; see ``Figure.gauges``.
        options: as for :class:`utils.figures.figure.Figure`; with ``gold`` give an axis ``gold_links`` with the values
            "hidden" and "shown".
    """

    kind = "alignment"
    numbered: ClassVar = {"written": "written"}
    picks: ClassVar = {"word": "target"}
    table = ((("weights", ""),), "target", "source")

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        source: Sequence[str],
        target: Sequence[str],
        gold: Sequence[tuple[int, int]] = (),
        compare: tuple[str, object] | None = None,
        gauges: tuple[str, Mapping[str, str]] = Figure.gauges,
        **options,
    ):
        if gold and list(axes.get("gold_links", [])) != ["hidden", "shown"]:
            raise ValueError('gold links need an axis "gold_links" with the values "hidden" and "shown"')
        for i, j in gold:
            if not (0 <= i < len(target) and 0 <= j < len(source)):
                raise ValueError(
                    f"gold link {(i, j)} does not fit {len(target)} target and {len(source)} source words"
                )
        if compare is not None:
            check_value("compare", compare, axes)
        self.compare, self.gauges = compare, gauges
        self.gold = [[int(i), int(j)] for i, j in gold]
        labels = {"source": source, "target": target} | options.pop("labels", {})
        if gold:
            labels = {"gold_links": ["of this word", "of all words"]} | labels
        super().__init__(compute, axes, labels=labels, **options)

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """weights: (target, source); written: (target,)."""
        rows, columns = len(self.labels["target"]), len(self.labels["source"])
        return {"weights": (rows, columns)} | ({"written": (rows,)} if "written" in self.labels else {})

    @property
    def options(self) -> dict:
        """The gold links, and the value to compare with."""
        return {"gold": self.gold, "compare": self.compare}
