"""Checks of the exercises of chapters/listening."""

from collections.abc import Sequence

import torch
from torch import Tensor

from utils.exercises.tables import Case, against


def _sound(says: str, num_pieces: int, num_places: int, num_heads: int, width: int, seed: int) -> Case:
    """Pieces of text and places of a sound, and the two linear layers between them."""
    random = torch.Generator().manual_seed(seed)
    d = num_heads * width
    text, sound = (torch.randn(n, d, generator=random) for n in (num_pieces, num_places))
    w_q, w_kv = (torch.randn(rows, d, generator=random) / 2 for rows in (d, 2 * d))
    b_q, b_kv = (torch.randn(rows, generator=random) for rows in (d, 2 * d))
    inputs = (text, sound, _Linear(w_q, b_q), _Linear(w_kv, b_kv), num_heads)
    return Case(says, inputs, f"{says} the weights and the context are right")


class _Linear(torch.nn.Module):
    """A linear layer with these numbers."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.weight, self.bias = weight, bias

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight.T + self.bias


@against(
    1,
    "The queries are `to_q(text)`; `to_kv(sound).chunk(2, dim=-1)` has the keys, and then the values.",
    "`x.unflatten(-1, (num_heads, -1)).transpose(0, 1)` puts the heads first, for queries, keys and values alike.",
    "Divide the scores by the root of the width of **one head**; the softmax runs over the places, the last axis.",
    cases=[
        _sound("for 3 pieces of text, 5 places and one head", 3, 5, 1, 7, seed=1),
        _sound("for 5 pieces of text, 11 places and 3 heads", 5, 11, 3, 2, seed=2),
    ],
    mistakes={
        "the sound asks the text | The queries come from the text, and keys and values from the sound.": {
            "wrong": "asks"
        },
        "the text asks itself | The keys and the values come from the sound.": {"wrong": "itself"},
        "keys and values have changed places | The keys are the first half of `to_kv(sound)`.": {
            "order": (1, 0)
        },
        "the keys are the values, too | The values are the second half of `to_kv(sound)`.": {"order": (0, 0)},
        "the scores are not scaled | Divide by the root of the width of a head.": {"scale": "none"},
        "the scale is that of all heads | Divide by the root of the width of one head.": {"scale": "all"},
        "the softmax runs over the pieces of text | Each piece shares its weight among the places.": {
            "axis": -2
        },
        "later places are hidden | A piece may listen to every place: the whole sound is there.": {
            "causal": True
        },
        "the heads are joined in the wrong order | First exchange the axes again.": {"join": False},
    },
    parts=["the context", "the weights"],
    last_first=True,
)
def listen(
    *given, wrong="", order=(0, 1), scale="head", axis=-1, causal=False, join=True
) -> tuple[Tensor, Tensor]:
    text, sound, to_q, to_kv, num_heads = given
    asking, asked = {"asks": (sound, text), "itself": (text, text)}.get(wrong, (text, sound))
    halves = to_kv(asked).chunk(2, dim=-1)
    parts = (to_q(asking), *(halves[half] for half in order))
    q, k, v = (part.unflatten(-1, (num_heads, -1)).transpose(0, 1) for part in parts)
    width = {"none": 1, "all": q.shape[-1] * num_heads}.get(scale, q.shape[-1])
    scores = q @ k.mT / width**0.5
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -torch.inf)
    weights = scores.softmax(dim=axis)
    context = weights @ v
    return context.transpose(0, 1).flatten(1) if join else context.reshape(asking.shape), weights


def _spoken(words: Sequence[str], begin: Sequence[float], end: Sequence[float]) -> Case:
    says = f"for “{' '.join(words)}”, from {begin[0]:g} to {end[-1]:g} seconds"
    return Case(says, (list(words), list(begin), list(end)), f"{says}, the times are right")


@against(
    2,
    "Signs before the word and half of its own, divided by all signs: this share of the speech is over.",
    "The speech begins at `begin[0]` and ends at `end[-1]`; a blank stands between two words, and none after the last.",
    cases=[
        _spoken(["we", "hear", "it"], [0.0, 0.2, 0.9], [0.2, 0.9, 1.2]),
        _spoken(
            ["she", "always", "listens", "to", "me"], [0.3, 0.7, 1.1, 1.9, 2.0], [0.7, 1.1, 1.9, 2.0, 2.4]
        ),
    ],
    mistakes={
        "the speech begins at 0 | It begins at begin[0].": {"first": False},
        "these are the beginnings of the words | Add half of the word's own letters.": {"own": 0},
        "these are the ends of the words | Add half of the word's own letters, not all.": {"own": 1},
        "each word counts the same | Count signs: a long word takes longer.": {"size": lambda word: 1},
        "the blanks do not count | Between two words there is one sign more.": {"blank": 0},
        "there is a blank after the last word | One blank fewer than there are words.": {"last": 0},
        "these are the middles of the true times | The baseline must not know when a word is spoken.": (
            lambda words, begin, end: [(b + e) / 2 for b, e in zip(begin, end, strict=True)]
        ),
    },
    parts=["the times"],
)
def by_letters(words, begin, end, *, first=True, own=0.5, size=len, blank=1, last=1) -> list[float]:
    sizes, times, before = [size(word) for word in words], [], 0
    total = sum(sizes) + blank * (len(words) - last)
    start = begin[0] if first else 0.0
    for letters in sizes:
        times.append(start + (before + own * letters) / total * (end[-1] - start))
        before += letters + blank
    return times
