"""Translations of one sentence after another, and the one thing that the writer of a translation gets of its source.

Explained in book/explorables.
"""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

import torch

from utils.figures.figure import Figure

Words = Sequence[str]


class Translations(Figure):
    """Sentences and what a translator writes for them, through one box; wrong words are crossed out.

    There is one sentence for each value of the axis. Its words run into a box that always has the same width, and the
    written words come out of it. A written word is right if it belongs to the longest runs that the translation and the
    reference share, in order. Where a word is wrong, the reference stands below, with the missing words in bold.

    The sentence under the picture can name ``right``, how many words of the reference are written, and ``total``, how
    many it has. The second of two sentences is said where the translation is not the reference.

    Args:
        axis: the name of the control, and its values.
        sentences: for each value the words of the source, of the translation and of the reference.
        box: what the box is.
        languages: the names of both languages.
        options: as for :class:`utils.figures.figure.Figure`.

    Raises:
        ValueError: another number of sentences than of values, or a sentence without a word.
    """

    kind = "translations"

    def __init__(
        self,
        axis: Mapping[str, Sequence],
        *,
        sentences: Sequence[tuple[Words, Words, Words]],
        box: str,
        languages: tuple[str, str],
        **options,
    ):
        [(self.axis, values)] = axis.items()
        if len(sentences) != len(values):
            raise ValueError(
                f"sentences must hold one for each of {len(values)} values, got {len(sentences)}"
            )
        for place, (source, _, reference) in enumerate(sentences):
            if not source or not reference:
                raise ValueError(f"sentences must have words in source and reference, got none at {place}")
        self.box, self.languages = box, languages
        self.sides = [
            (list(source), *_compared(list(written), list(reference)))
            for source, written, reference in sentences
        ]
        places = {value: place for place, value in enumerate(values)}
        several = not isinstance(options["say"], str)
        frames = [_frame(shared, several) for *_, shared in self.sides]
        super().__init__(lambda **at: frames[places[at[self.axis]]], axis, **options)

    @property
    def options(self) -> dict:
        """The words of each sentence, and of the written ones and the reference whether the other has them."""
        return {
            "axis": self.axis,
            "box": self.box,
            "languages": list(self.languages),
            "sentences": self.sides,
        }


def _compared(written: list[str], reference: list[str]) -> tuple[list, list]:
    """Each word with whether the other translation has it, too, at its turn."""
    sides = ([[word, False] for word in written], [[word, False] for word in reference])
    for first, second, size in SequenceMatcher(None, written, reference).get_matching_blocks():
        for step in range(size):
            sides[0][first + step][1] = sides[1][second + step][1] = True
    return sides


def _frame(reference: list, several: bool) -> dict:
    """What the sentence under the picture names."""
    right = sum(shared for _, shared in reference)
    arrays = {"right": torch.tensor(right), "total": torch.tensor(len(reference))}
    return arrays | ({"case": torch.tensor(int(right < len(reference)))} if several else {})
