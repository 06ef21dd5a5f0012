"""Checks of the exercises of chapters/bert."""

from collections.abc import Iterator

import torch
from torch import Tensor

from utils.exercises.checking import as_parts, as_tensor, expect
from utils.exercises.readers_function import ReadersFunction
from utils.exercises.report import exercise


@exercise(
    1,
    "Draw twice: one draw says which words are chosen, the other what becomes of each of them.",
    "`given = ids.masked_fill(chosen & (dice < 0.8), mask)`, and random ids where `dice` is at least 0.9.",
)
def gaps(answer: ReadersFunction) -> Iterator[str]:
    torch.manual_seed(0)
    vocab, mask = 1000, 4
    ids = torch.randint(5, vocab, (600, 60))
    ids[:, 0], ids[:, 50], ids[:, 51:] = 1, 2, 0
    real = ids > 2
    given, wanted = as_parts(answer(ids, vocab, mask), "given", "wanted")
    given = as_tensor(given, "It has the shape of `ids`.", shape=ids.shape, name="`given`").long()
    wanted = as_tensor(wanted, "It has the shape of `ids`.", shape=ids.shape, name="`wanted`").long()
    chosen = wanted != 0
    special = "Choose among the ids above 2 (`EOS`) alone."
    expect(not (chosen & ~real).any(), "a token that is no word is chosen.", special)
    elsewhere = "`wanted` is `ids` at the chosen places and 0 elsewhere."
    expect((wanted[chosen] == ids[chosen]).all(), "`wanted` has other ids than the true ones.", elsewhere)
    expect((given == ids)[~real].all(), "a token that is no word is replaced.", special)
    changed = given != ids
    expect(not (changed & ~chosen).any(), "a word is changed, but it is not wanted.", elsewhere)
    yield "`wanted` has the true ids of words that are chosen, and 0 elsewhere"
    _expect_share(chosen[real], 0.15, "of the words are chosen", "Compare a draw from 0 to 1 with 0.15.")
    by_row = chosen[:, 1:50].float().mean(dim=0)
    expect(by_row.max() < 0.3, "the same places are chosen in all sentences.", "Draw for all: `ids.shape`.")
    yield "15 of 100 words are chosen"
    own = "All of them come from the chosen words: 80, 10 and 10 of 100."
    twice = "Draw anew for this: a chosen word has a first draw below 0.15, so it is below 0.8, too."
    masked = given == mask
    expect(not masked[chosen].all(), "all chosen words become `mask`.", twice)
    _expect_share(masked[chosen], 0.8, "of the chosen words become `mask`", own)
    _expect_share((given == ids)[chosen], 0.1, "of the chosen words stay as they are", own)
    swapped = given[chosen & changed & ~masked]
    many = len(swapped.unique()) > len(swapped) / 4
    expect(many, "the random words are always the same few.", "Draw an id for each place.")
    low, high = int(swapped.min()), int(swapped.max())
    message = f"the random ids go from {low} to {high}; expected 4 to {vocab - 1}."
    expect(low >= 4 and high < vocab, message, own)
    spread = "`torch.randint(4, vocab, ids.shape)` draws among all of them."
    expect(low < 100 < 900 < high, "the random ids do not reach from 4 to `vocab - 1`.", spread)
    yield "of these, 80 become the mask, 10 a random word, and 10 stay"
    again = torch.as_tensor(as_parts(answer(ids, vocab, mask), "given", "wanted")[1]).long()
    seed = "Do not set a seed inside the function."
    expect(not torch.equal(again, wanted), "a second call chooses the same words.", seed)
    yield "each call draws anew"


def _expect_share(hits: Tensor, share: float, what: str, hint: str) -> None:
    found = hits.double().mean().item()
    room = 5 * (share * (1 - share) / len(hits)) ** 0.5
    expect(abs(found - share) < room, f"{found:.0%} {what}; expected about {share:.0%}.", hint)
