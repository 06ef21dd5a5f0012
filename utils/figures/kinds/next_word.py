"""The probabilities of the next word, and words that are drawn from them.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence

from utils.figures.figure import Figure


class NextWord(Figure):
    """The probabilities of the next word as bars, above them all end to end, and below them the words that were drawn.

    The axis ``top_p`` is the sum up to which probabilities are kept, at its last value all, which dashed outlines show
    at the others; readers can drag it. The axis ``draws`` counts the draws, and ``set_of_draws`` the sets of draws: a
    click draws one more, and after the last one begins the next set.

    ``compute`` returns ``p`` of shape (bars,), numbers from 0 to 1; ``drawn`` of shape (bars,), how often each word has
    been drawn: so many dots stand under its label; and ``newest`` of shape (), the number of the bar that was drawn
    last, or -1.

    Args:
        title: the beginning of the sentence, with an ellipsis where the word stands that was drawn last.
        bars: the words, and last a label for all others, which have a number and no bar.
        rest: what the last label stands for, as "315 others".
        options: as for :class:`utils.figures.figure.Figure`.
    """

    kind = "next_word"

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        title: str,
        bars: Sequence[object],
        rest: str,
        **options,
    ):
        if missing := {"top_p", "draws", "set_of_draws"} - axes.keys():
            raise ValueError(f"the next word needs an axis {min(missing)!r}")
        self.title, self.rest = title, rest
        super().__init__(compute, axes, labels={"bars": bars} | options.pop("labels", {}), **options)

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """p and drawn: (bars,); newest: ()."""
        bars = (len(self.labels["bars"]),)
        return {"p": bars, "drawn": bars, "newest": ()}

    @property
    def options(self) -> dict:
        """The beginning of the sentence, and what the last bar stands for."""
        return {"title": self.title, "rest": self.rest}
