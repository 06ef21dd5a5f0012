"""Checks of the exercises of chapters/inside_heads."""

import torch
from torch import Tensor

from utils.exercises.tables import Case, against


def _text(says: str, *letters: int) -> Case:
    x = torch.nn.functional.one_hot(torch.tensor(letters), 7).float()
    return Case(f"for {says}", (x,), f"for {says} both tables are right")


_NOTE = "A head that looks for the letter at i asks each place j for its note: `x @ notes.T`."


@against(
    1,
    "`torch.diag(torch.ones(n - 1), -1)` has ones just below its diagonal, and the notes are `first @ x`.",
    "`5 * x @ notes.T` are all scores. Set those of later places to minus infinity, then take the softmax.",
    cases=[
        _text("k o r i m k", 1, 3, 4, 0, 2, 1),
        _text("k o r i m k o r i m", 1, 3, 4, 0, 2, 1, 3, 4, 0, 2),
        _text("a text of three places", 6, 5, 6),
    ],
    mistakes={
        "each place looks at itself | The first head looks one place back.": {"back": 0},
        "each place looks at the next one | The first head looks one place back.": {"back": -1},
        "place 0 looks at the last place | Nothing comes before it: its row is zeros.": {"wrap": True},
        "place 0 looks at itself | Nothing comes before it: its row is zeros.": {"alone": 1},
        f"the second head compares letters, and reads no notes | {_NOTE}": {"notes": lambda first, x: x},
        f"the note asks, and the letter answers | {_NOTE}": {"swap": True},
        "places look at later places | Hide the places j > i before the softmax.": {"mask": False},
        "later places are hidden after the softmax | Hide them before it, so that each row adds up to 1.": {
            "late": True
        },
        "a note that fits has the score 1 | Its score is 5.": {"strength": 1},
    },
    parts=["the first table", "the second table"],
)
def two_heads(
    x,
    *,
    back=1,
    wrap=False,
    alone=0,
    notes=torch.matmul,
    swap=False,
    mask=True,
    late=False,
    strength=5,
) -> tuple[Tensor, Tensor]:
    n = len(x)
    first = torch.diag(torch.ones(n - abs(back)), -back)
    first[0, -1] += wrap
    first[0, 0] += alone
    scores = strength * x @ notes(first, x).T
    scores = scores.T if swap else scores
    later = torch.ones(n, n).triu(1).bool()
    if mask and not late:
        scores = scores.masked_fill(later, -torch.inf)
    second = scores.softmax(dim=-1)
    return first, second.masked_fill(later, 0) if late else second


def _head(says: str, *letters: int) -> Case:
    n = len(letters)
    scores = torch.randn(n, n, generator=torch.Generator().manual_seed(n))
    weights = scores.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf).softmax(dim=-1)
    return Case(f"for {says}", (weights, torch.tensor(letters)), f"for {says} the score is right")


@against(
    2,
    "A place i counts if an earlier place m < i has the same letter; then `weights[i, m + 1]` is added to its sum.",
    "Divide by the number of places i that count, not by n.",
    cases=[
        _head("k o r i m k o", 1, 3, 4, 0, 2, 1, 3),
        _head("n a n n e r a n n", 2, 5, 2, 2, 0, 6, 5, 2, 2),
        _head("o k o", 3, 1, 3),
    ],
    mistakes={
        "it is the weight on the same letter | The place after it counts.": {"step": 0},
        "it is the weight on what came before the same letter | The place after it counts.": {"step": -1},
        "places with a new letter count | Leave them out of the mean.": {"new": True},
        "later places with the same letter count | Only m < i counts.": {"later": True},
        "only the first place with the same letter counts | Add up all earlier ones.": {"which": slice(1)},
        "only the last place with the same letter counts | Add up all earlier ones.": {
            "which": slice(-1, None)
        },
        "it is a sum over places | Divide by the number of places that count.": {"mean": False},
    },
    parts=["the score"],
)
def score(weights, text, *, step=1, new=False, later=False, which=slice(None), mean=True) -> Tensor:
    n, sums = len(text), []
    for i in range(n):
        same = [m for m in range(n if later else i) if m != i and text[m] == text[i]][which]
        if same or new:
            sums.append(sum((weights[i, m + step] for m in same if 0 <= m + step < n), torch.tensor(0.0)))
    return torch.stack(sums).mean() if mean else torch.stack(sums).sum()
