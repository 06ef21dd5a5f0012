"""Blocks of keys and values, and the heads that read them."""

import pytest
import torch
from pictures import WIDTHS, marks, sizes

from utils.figures import Cache

WORDS = ["a", "small", "white", "flower", "."]


def small(**changes) -> Cache:
    """Six heads with three key heads or one."""
    options = {"words": WORDS, "heads": 6, "name": "small", "alt": "Blocks.", "say": "{words} {keys}"}
    return Cache(
        lambda words, keys: {"serves": torch.arange(6) * keys // 6},
        {"words": range(1, 6), "keys": [3, 1]},
        **(options | changes),
    )


def blocks(drawn: str, style: str) -> list[tuple[float, float]]:
    """Left end and top of the halves of blocks; the squares of the legend are smaller."""
    found = [box for box in marks(drawn, "rect", style) if box.get("height") == "20"]
    return list(zip(sizes(found, "x"), sizes(found, "y"), strict=True))


@pytest.mark.parametrize("width", WIDTHS)
def test_a_key_and_a_value_for_each_word_and_key_head(width) -> None:
    for words in (1, 4):
        for key_heads in (3, 1):
            drawn = small().draw(width, words=words, keys=key_heads)
            keys, values = blocks(drawn, "key"), blocks(drawn, "value")
            assert len(keys) == len(values) == words * key_heads
            assert all(left < right < width for (left, _), (right, _) in zip(keys, values, strict=True))
            assert len(blocks(drawn, "trace")) == 2 * (5 - words) * key_heads


def test_each_head_has_a_line_to_the_row_that_it_reads() -> None:
    drawn = small().draw(words=2, keys=3)
    rows = sorted({top + 10 for _, top in blocks(drawn, "key")})
    assert sizes(marks(drawn, "line", "ray"), "y2") == [row for row in rows for _ in range(2)]
    one = small().draw(words=2, keys=1)
    heads = sizes(marks(one, "circle", "query"), "cy")
    assert sizes(marks(one, "line", "ray"), "y1") == heads
    assert sizes(marks(one, "line", "ray"), "y2") == [sum(heads) / 6] * 6


def test_a_click_on_a_word_keeps_the_words_up_to_it() -> None:
    chosen = [mark.get("data-pick") for mark in marks(small().draw(), "rect", "pick")]
    assert chosen == [f'{{"words":{place}}}' for place in range(5)]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must have the values 1 to 4, got \[1, 2, 3, 4, 5\]"):
        small(words=WORDS[:4])
    with pytest.raises(ValueError, match=r"'serves' of shape \(7,\), got \(6,\)"):
        small(heads=7)
    with pytest.raises(ValueError, match=r"count the key heads from 0, got \[0, 2, 0, 2\]"):
        Cache(
            lambda words: {"serves": torch.tensor([0, 2, 0, 2])}, {"words": [1]}, words=["a"], heads=4,
            name="gap", alt="Blocks.", say="{words}",
        )  # fmt: skip
