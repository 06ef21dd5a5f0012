"""Two sentences, and where each word of one looks in the other.

Explained in book/explorables.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from utils.checks import check_list
from utils.figures.figure import Figure, check_pair


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
        check_list(source=source, target=target)
        if gold and list(axes.get("gold_links", [])) != ["hidden", "shown"]:
            raise ValueError('gold links need an axis "gold_links" with the values "hidden" and "shown"')
        for i, j in gold:
            if not (0 <= i < len(target) and 0 <= j < len(source)):
                raise ValueError(
                    f"gold link {(i, j)} does not fit {len(target)} target and {len(source)} source words"
                )
        self.compare = None if compare is None else check_pair("compare", compare, axes)
        self.gauges = gauges
        self.gold = [[int(i), int(j)] for i, j in gold]
        labels = {"source": source, "target": target} | options.pop("labels", {})
        if gold:
            labels = {"gold_links": ["of this word", "of all words"]} | labels
        super().__init__(compute, axes, labels=labels, **options)

    @classmethod
    def during_training(
        cls,
        weights_at: Callable[[int], Float[Tensor, "target source"]],
        steps: Sequence[int],
        *,
        source: Sequence[str],
        target: Sequence[str],
        links: Iterable[tuple[int, int]],
        first_step: int,
        word: str,
        gloss: Sequence[str] = (),
        **options,
    ) -> "Alignment":
        """Where each word of a translation looks while a translator learns, and how much weight is on gold links.

        Args:
            weights_at: the weights after a number of steps of training.
            steps: the numbers of steps that can be chosen.
            source: the words that are attended to.
            target: the words that attend.
            links: gold links (source position, target position), at least one.
            first_step: the number of steps that is shown at first.
            word: the target word that is chosen at first.
            gloss: a translation of each target word.
            options: ``name`` and ``invite``, as for :class:`utils.figures.figure.Figure`.

        Raises:
            ValueError: no gold link, or one beyond the sentences.
        """
        check_list(gloss=gloss)
        gold = sorted((j, i) for i, j in links)
        if not gold:
            raise ValueError("links must hold at least one gold link, got none")
        linked = torch.tensor([[(j, i) in gold for i in range(len(source))] for j in range(len(target))])

        def compute(step: int, gold_links: str) -> dict[str, Tensor]:
            weights = weights_at(step).round(decimals=4)
            top, best = weights.max(dim=1)
            agrees = torch.where(linked.any(dim=1), linked.gather(1, best[:, None])[:, 0].long(), 2)
            own = (weights * linked).sum(dim=1)
            return {
                "weights": weights,
                "top": top,
                "best": best,
                "agrees": agrees,
                "own": own,
                "share": own.mean(),
            }

        verdicts = ["but no gold link joins them", "and a gold link joins them", "and has no gold link"]
        return cls(
            compute,
            {"step": list(steps), "gold_links": ["hidden", "shown"]},
            source=source,
            target=target,
            gold=gold,
            labels={"verdict": verdicts, "gloss": gloss},
            gauges=("weight on gold links", {"own": "", "share": "all words"}),
            say="At step {step}, “{word}” looks most at “{best[word]|source}” ({top[word]:0%}), "
            "{agrees[word]|verdict}.",
            alt=f"An English sentence of {len(source)} words, its translation, and bands from each word of the "
            "translation to the English words that it looks at: at first to all alike, at the end mostly to one or "
            "two.",
            play="step",
            start={"step": first_step, "word": word},
            **options,
        )

    def shares(self) -> set[str]:
        """The weights."""
        return super().shares() | {"weights"}

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """weights: (target, source); written: (target,)."""
        rows, columns = len(self.labels["target"]), len(self.labels["source"])
        return {"weights": (rows, columns)} | ({"written": (rows,)} if "written" in self.labels else {})

    @property
    def options(self) -> dict:
        """The gold links, and the value to compare with."""
        return {"gold": self.gold, "compare": self.compare}
