"""Checks of the exercises of chapters/gpt."""

import torch
from torch import Tensor, tensor

from utils.exercises.checking import show
from utils.exercises.tables import Case, against

_STAYS = "The word with which the sum reaches `top_p` stays, too."


@against(
    1,
    "Divide the logits by the temperature, and take the softmax.",
    "Sort the probabilities. A word stays if those before it have less than `top_p` together.",
    cases=[
        Case(
            f"for the probabilities {show(probs)}, temperature {show(temperature)} and top-p {show(top_p)}",
            (tensor(probs, dtype=torch.float64).log() + 1.5, temperature, top_p),
            point,
            "Compute this case by hand.",
        )
        for probs, temperature, top_p, point in (
            ([0.45, 0.05, 0.3, 0.2], 0.5, 1.0, "the temperature changes the probabilities"),
            ([0.45, 0.05, 0.3, 0.2], 2.0, 1.0, "a high temperature makes them more equal"),
            ([0.5, 0.1, 0.3, 0.1], 1.0, 0.7, "top-p leaves out improbable words, wherever they stand"),
            ([0.1, 0.2, 0.7], 1.0, 0.3, "at least the most probable word stays"),
            ([0.1, 0.4, 0.2, 0.3], 0.5, 0.75, "top-p comes after the temperature"),
        )
    ],
    mistakes={
        "the logits are multiplied by the temperature | Divide.": {"heat": lambda t: 1 / t},
        "the temperature changes nothing | Divide the logits by it.": {"heat": lambda t: 1},
        "all words stay | Set the probabilities of the others to 0.": lambda x, t, _: (x / t).softmax(dim=0),
        "the probabilities that stay do not sum to 1 | Divide by their sum.": {"divide": False},
        f"a word too few stays | {_STAYS}": {"short": True},
        "these are in the order of their size | Put each back where it was.": {"in_order": False},
        "top-p came before the temperature | Choose the words after the temperature.": {"late": True},
    },
)
def draw(
    logits,
    temperature,
    top_p,
    *,
    heat=float,
    short=False,
    divide=True,
    in_order=True,
    late=False,
) -> Tensor:
    """With ``short`` the word is left out with which the sum reaches ``top_p``."""
    probs = torch.softmax(logits / (1 if late else heat(temperature)), dim=0)
    ordered, which = probs.sort(descending=True)
    total = ordered.cumsum(dim=0)
    ordered = ordered.masked_fill(total > top_p + 1e-9 if short else total - ordered >= top_p, 0)
    kept = torch.zeros_like(probs).index_put((which,), ordered) if in_order else ordered
    kept = kept ** (1 / temperature) if late else kept
    return kept / kept.sum() if divide else kept
