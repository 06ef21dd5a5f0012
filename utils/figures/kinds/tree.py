"""The hypotheses that a search keeps, step by step, as a tree.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np

from utils.figures.figure import Figure
from utils.figures.kinds.decoding import END

#: The hypotheses after one step of a search, the best first: the words of each, and its probability.
Kept = Sequence[tuple[Sequence[str], float]]

_SAYS = (
    "Step {step}: “{front|texts}” is in front ({best:0%}).",
    "The search ends with “{front|texts}” ({best:0%}){verdict|verdicts}.",
)


class Tree(Figure):
    """A tree of hypotheses, which grows to the right on a desk and down on a phone; the way to the best one is thick.

    Each step is a column, in which the best hypothesis comes first, with its last word and its probability. A
    hypothesis that no line leaves was dropped. The axes are ``step`` and the one that tells the searches apart.

    Args:
        searches: from each value of that axis to what its search keeps after each step. Every hypothesis continues one
            of the step before by a word, or is that one again if it has ended, which its last word, "<eos>", says.
        axis: the name of the axis.
        right: the right translation as a text, if the sentence should say whether a search has found it.
        write: turns words into a text.
        say: a sentence for the steps of a search, and one for its end, in place of those about the best hypothesis.
        options: as for :class:`utils.figures.figure.Figure`.

    Raises:
        ValueError: a search without a step, or a hypothesis that continues none of the step before.
    """

    kind = "tree"
    numbered: ClassVar = {"word": "words", "front": "texts"}
    pace = 1400

    def __init__(
        self,
        searches: Mapping[object, Sequence[Kept]],
        *,
        axis: str = "beam_width",
        right: str = "",
        write: Callable[[Sequence[str]], str] = " ".join,
        say: Sequence[str] = _SAYS,
        **options,
    ):
        if not searches or not all(steps and all(steps) for steps in searches.values()):
            raise ValueError("searches must have at least one step each, with at least one hypothesis")
        self.longest = max(map(len, searches.values()))
        self.most = max(len(kept) for steps in searches.values() for kept in steps)
        every = [words for steps in searches.values() for kept in steps for words, _ in kept]
        spoken = {tuple(words): write([word for word in words if word != "<eos>"]) for words in every}
        words, texts = sorted({words[-1] for words in every}), sorted({*spoken.values()})
        frames = {}
        for value, steps in searches.items():
            frames[value] = self._frame(steps, words)
            fronts = [texts.index(spoken[tuple(kept[0][0])]) for kept in steps]
            verdict = 0 if not right else 1 if texts[fronts[-1]] == right else 2
            frames[value] |= {"fronts": fronts, "verdict": verdict}

        def compute(step: int, **value: object) -> dict:
            arrays = dict(frames[value[axis]])
            fronts = arrays.pop("fronts")
            at = min(step, len(fronts)) - 1
            return arrays | {"front": fronts[at], "best": arrays["share"][at, 0], "case": step >= len(fronts)}

        super().__init__(
            compute,
            {axis: list(searches), "step": range(1, self.longest + 1)},
            say=list(say),
            labels={
                "words": [END if word == "<eos>" else word for word in words],
                "texts": texts,
                "verdicts": ["", ", which is right", ", which is not right"],
            },
            play="step",
            **options,
        )

    def _frame(self, steps: Sequence[Kept], words: list[str]) -> dict[str, np.ndarray]:
        """The arrays of a search, a row for each step and a column for each rank; 0 where there is no hypothesis."""
        shape = self.longest, self.most
        arrays = {"word": np.zeros(shape, int), "parent": np.zeros(shape, int)}
        arrays |= {"kept": np.zeros(shape, int), "share": np.zeros(shape)}
        before = [()]
        for step, kept in enumerate(steps):
            found = [tuple(each) for each, _ in kept]
            for rank, (each, share) in enumerate(kept):
                origin = found[rank] if found[rank] in before else found[rank][:-1]
                if origin not in before:
                    raise ValueError(f"{list(each)} continues no hypothesis of the step before")
                arrays["word"][step, rank] = words.index(each[-1])
                arrays["parent"][step, rank] = before.index(origin)
                arrays["share"][step, rank] = share
                arrays["kept"][step, rank] = 1
            before = found
        return arrays

    def shares(self) -> set[str]:
        """The probabilities of the hypotheses."""
        return super().shares() | {"share"}

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """word, parent, share and kept: (steps, ranks)."""
        return dict.fromkeys(("word", "parent", "share", "kept"), (self.longest, self.most))
