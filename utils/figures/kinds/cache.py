"""The keys and values that a layer keeps of the words so far, as blocks.

Explained in book/explorables.
"""

from collections.abc import Callable, Mapping, Sequence

from utils.figures.figure import Figure


class Cache(Figure):
    """A row of blocks for each key head, one block for each word, and lines from the heads that ask with this row.

    ``compute`` returns an integer array ``serves`` of shape (heads,): for each head the number of the key head whose
    keys and values it reads. The key heads are counted from 0.

    Args:
        words: the text. The axis ``words`` says how many of them are kept; its values are 1, 2 and so on to the last,
            and readers can also click on a word.
        heads: how many heads ask.
        options: as for :class:`utils.figures.figure.Figure`.

    Raises:
        ValueError: an axis ``words`` that does not fit the text, or a key head without a head that reads it.
    """

    kind = "cache"

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        words: Sequence[str],
        heads: int,
        **options,
    ):
        if list(axes.get("words", ())) != list(range(1, len(words) + 1)):
            raise ValueError(
                f"the axis 'words' must have the values 1 to {len(words)}, got {list(axes.get('words', ()))}"
            )
        self.heads = heads
        # Under the name of the axis would stand what its slider says.
        super().__init__(compute, axes, labels={"text": words} | options.pop("labels", {}), **options)
        for serves in self.frames("serves").reshape(-1, heads):
            if sorted({*serves}) != list(range(len({*serves}))):
                raise ValueError(
                    f"'serves' must count the key heads from 0, got {serves.astype(int).tolist()}"
                )

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """serves: (heads,)."""
        return {"serves": (self.heads,)}
