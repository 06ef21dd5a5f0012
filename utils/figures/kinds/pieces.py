"""Texts that are cut into pieces, and what may be joined next.

Explained in book/explorables.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import ClassVar

import numpy as np

from utils.checks import check_list
from utils.figures.figure import Figure


class Pieces(Figure):
    """Texts, each cut into pieces: the letters of a piece stand in one box.

    ``compute`` returns ``begins`` of shape (texts, letters), with as many letters as the longest text has: 1 where a
    piece begins, and 0 elsewhere. It may return ``fresh`` of the same shape, which is 1 at the letters of the pieces
    that stand out. With labels ``pairs`` it also returns ``best`` of shape (lines,), the numbers of the labels
    ``pairs`` that stand beside the texts, and ``counts`` of the same shape, the lengths of their bars. A pair with a
    count of 0 is not drawn, and the first one stands out.

    Args:
        texts: the texts, each of at least one letter.
        heading: what the pairs are.
        options: as for :class:`utils.figures.figure.Figure`.

    Raises:
        ValueError: a text without letters, or one whose first letter does not begin a piece.
    """

    kind = "pieces"
    numbered: ClassVar = {"best": "pairs"}

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        texts: Sequence[str],
        heading: str = "",
        **options,
    ):
        check_list(texts=texts)
        if not all(texts):
            raise ValueError(f"texts must hold at least one letter each, got {list(texts)}")
        self.heading = heading
        super().__init__(compute, axes, labels={"texts": texts} | options.pop("labels", {}), **options)
        for text, firsts in zip(texts, self.frames("begins")[..., 0].reshape(-1, len(texts)).T, strict=True):
            if (firsts != 1).any():
                raise ValueError(f"'begins' must be 1 at the first letter of each text, got 0 for {text!r}")

    @classmethod
    def during_merges(cls, cuts: Sequence[Sequence[Sequence[str]]], *, num_pairs: int, **options) -> "Pieces":
        """The pieces of texts while byte-pair encoding learns, and the neighbours that occur together most often.

        Args:
            cuts: after 0, 1, 2 … merges, the pieces of each text.
            num_pairs: how many pairs of neighbours stand beside the texts.
            options: ``name``, ``alt`` and ``invite``, as for :class:`utils.figures.figure.Figure`.
        """
        texts = ["".join(pieces) for pieces in cuts[0]]
        shape = len(texts), max(map(len, texts))
        frequent = [
            Counter(pair for pieces in cut for pair in pairwise(pieces)).most_common(num_pairs)
            for cut in cuts
        ]
        vocabularies = [{piece for pieces in cut for piece in pieces} for cut in cuts]
        made = ["", *("".join(sorted(new - old)) for old, new in pairwise(vocabularies))]
        pairs = sorted({" + ".join(pair) for counted in frequent for pair, _ in counted})

        def compute(merges: int) -> dict[str, np.ndarray | int]:
            begins, fresh, best, counts = (np.zeros(size) for size in (shape, shape, num_pairs, num_pairs))
            for row, pieces in enumerate(cuts[merges]):
                at = 0
                for piece in pieces:
                    begins[row, at] = 1
                    fresh[row, at : at + len(piece)] = piece == made[merges]
                    at += len(piece)
            for line, (pair, count) in enumerate(frequent[merges]):
                best[line], counts[line] = pairs.index(" + ".join(pair)), count
            return {
                "begins": begins, "fresh": fresh, "best": best.astype(int), "counts": counts.astype(int),
                "now": merges, "all": sum(map(len, cuts[merges])), "different": len(vocabularies[merges]),
                "case": min(merges, 1),
            }  # fmt: skip

        return cls(
            compute,
            {"merges": range(len(cuts))},
            texts=texts,
            heading="most frequent neighbours",
            labels={"pairs": pairs, "made": made},
            say=[
                "At first each letter is a piece: {all} pieces, {different} of them different.",
                "Merge {merges} has made “{now|made}”: {all} pieces, {different} of them different.",
            ],
            play="merges",
            **options,
        )

    def shares(self) -> set[str]:
        """What says where pieces begin, and which of them stand out."""
        return super().shares() | {"begins", "fresh"}

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """begins and fresh: (texts, letters); best and counts: (lines,)."""
        shape = len(self.labels["texts"]), max(map(len, self.labels["texts"]))
        shapes = {"begins": shape} | self._optional({"fresh": shape})
        if "pairs" in self.labels:
            lines = self.frames("best").shape[-1:] if "best" in self._packed else (1,)
            shapes |= dict.fromkeys(("best", "counts"), lines)
        return shapes

    @property
    def options(self) -> dict:
        """What the pairs are."""
        return {"heading": self.heading}
