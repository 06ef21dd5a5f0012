"""Checks of the exercises of chapters/gpt."""

from collections.abc import Iterator

import torch
from torch import Tensor

from utils.exercises.checking import (
    ReadersFunction,
    as_tensor,
    exercise,
    expect,
    expect_close,
    expect_numbers,
    show,
)
from utils.transformer import causal_mask


def _nucleus(probs: Tensor, top_p: float) -> Tensor:
    """The probabilities of the words that stay, before they are divided by their sum."""
    ordered, which = probs.sort(descending=True, stable=True)
    earlier = ordered.cumsum(dim=0) - ordered
    return torch.zeros_like(probs).index_put((which,), ordered.masked_fill(earlier >= top_p - 1e-9, 0))


@exercise(
    1,
    "Divide the logits by the temperature, and take the softmax.",
    "Sort the probabilities. A word stays if those before it have less than `top_p` together.",
)
def draw(answer: ReadersFunction) -> Iterator[str]:
    stays = "The word with which the sum reaches `top_p` stays, too."
    for probs, temperature, top_p, what in (
        ([0.45, 0.05, 0.3, 0.2], 0.5, 1.0, "the temperature changes the probabilities"),
        ([0.45, 0.05, 0.3, 0.2], 2.0, 1.0, "a high temperature makes them more equal"),
        ([0.5, 0.1, 0.3, 0.1], 1.0, 0.7, "top-p leaves out improbable words, wherever they stand"),
        ([0.1, 0.2, 0.7], 1.0, 0.3, "at least the most probable word stays"),
        ([0.1, 0.4, 0.2, 0.3], 0.5, 0.75, "top-p comes after the temperature"),
    ):
        logits = torch.tensor(probs, dtype=torch.float64).log() + 1.5
        case = f"for the probabilities {show(probs)}, temperature {show(temperature)} and top-p {show(top_p)}"
        name = f"{case}, the result"
        result = as_tensor(answer(logits, temperature, top_p), shape=logits.shape, name=name)
        warm = torch.softmax(logits / temperature, dim=0)
        kept, plain = _nucleus(warm, top_p), torch.softmax(logits, dim=0)
        right = kept / kept.sum()
        short = torch.where((warm[:, None] <= warm).double() @ warm <= top_p, warm, 0.0)
        first = _nucleus(plain, top_p)
        first = first ** (1 / temperature)
        about_temperature = [
            (
                torch.softmax(logits * temperature, dim=0),
                "the logits are multiplied by the temperature",
                "Divide.",
            ),
            (plain, "the temperature changes nothing", "Divide the logits by it."),
        ]
        mistakes = [
            (
                torch.softmax(plain / temperature, dim=0),
                "this is the softmax of probabilities",
                "Divide the logits.",
            ),
            (warm, "all words stay", "Set the probabilities of the words that do not stay to 0."),
            (kept, "the probabilities that stay do not sum to 1", "Divide them by their sum."),
            (short, "a word too few stays", stays),
            (short / short.sum(), "a word too few stays", stays),
            (
                _sorted(right),
                "the probabilities are in the order of their size",
                "Put each back where it was.",
            ),
            (
                first / first.sum(),
                "top-p came before the temperature",
                "Choose the words after the temperature.",
            ),
            (torch.where(warm >= top_p, warm, 0.0), "each word is compared with `top_p` alone", stays),
        ]
        if temperature != 1:
            mistakes = about_temperature + mistakes
        wrong = [mistake for mistake in mistakes if not _close(mistake[0], right)]
        expect_close(result, right, case, "Compute this case by hand.", name="the result", mistakes=wrong)
        yield what


def _sorted(numbers: Tensor) -> Tensor:
    return numbers.sort(descending=True).values


def _close(first: Tensor, second: Tensor) -> bool:
    return torch.allclose(first, second, atol=1e-3)


@exercise(
    3,
    "At temperature 1/2 each probability is squared, and then all are divided by their sum.",
    "Top-p keeps words from the most probable one on, until their sum reaches p.",
)
def three_numbers(p_cold: object, p_top: object, perplexity: object) -> Iterator[str]:
    squared = "A logarithm divided by 1/2 is twice as large: p is squared."
    mistakes = (
        (0.3255, "this is the temperature 2", squared),
        (0.16, "this is 0.4 squared", "Divide by the sum of the four squares, which is 0.3."),
        (0.8, "you divided 0.4 by 1/2", squared),
    )
    expect_numbers({"p_cold": p_cold}, [0.16 / 0.30], mistakes)
    yield "p_cold: at temperature 1/2 the first word has more than a half"
    kept = "The first two words are kept, which have 0.7 together. Divide 0.4 by this sum."
    mistakes = ((0.4, "this is 0.4, as before", kept), (0.4444, "you kept three words", kept))
    expect_numbers({"p_top": p_top}, [0.4 / 0.7], mistakes)
    yield "p_top: top-p 0.6 keeps two words"
    mistakes = (
        (0.2, "this is the mean probability of a word", "The perplexity is one divided by it."),
        (125.0, "this is one divided by the product", "Take the third root of the product."),
        (1.609, "this is the cross-entropy in nats", "The perplexity is its exponential."),
    )
    expect_numbers({"perplexity": perplexity}, [5.0], mistakes)
    yield "perplexity: the model is as unsure as one that chooses among five"


@exercise(
    4,
    "Begin with `causal_mask(num_read + num_written)`, and open the part that is read.",
    "The first `num_read` rows and columns are all True: `mask[:num_read, :num_read] = True`.",
)
def prefix_mask(answer: ReadersFunction) -> Iterator[str]:
    each = "There is a row and a column for each word, read or written."
    row = "Rows are queries and columns are keys, and True means that the query may attend to the key."
    past = "A word that is read sees all that is read. A written word sees its past, and nothing later."
    for num_read, num_written in ((3, 2), (2, 5), (0, 4), (4, 0)):
        n = num_read + num_written
        case = f"for {num_read} words read and {num_written} written"
        mask = as_tensor(answer(num_read, num_written), each, shape=(n, n), name=f"{case}, the mask").double()
        causal, right = causal_mask(n), causal_mask(n)
        right[:num_read, :num_read] = True
        everywhere = causal.clone()
        everywhere[:num_read] = True
        for wrong, says, hint in (
            (causal, "a word that is read does not see the words after it", past),
            (torch.ones(n, n), "the written words see what comes later", past),
            (~right, "True and False are exchanged", row),
            (right.T, "rows and columns are exchanged", row),
            (everywhere, "a word that is read sees the words that will be written", past),
        ):
            is_wrong = mask.equal(wrong.double()) and not mask.equal(right.double())
            expect(not is_wrong, f"{case}, {says}.", hint)
        expect_close(mask, right, case, row, name="the mask")
        yield f"{case}, each word sees what it may see"
