"""Checks of the exercises of chapters/bert_and_gpt."""

from collections.abc import Iterator

import torch

from utils.exercises.checking import (
    ReadersFunction,
    as_tensor,
    exercise,
    expect,
    expect_close,
    expect_numbers,
)
from utils.transformer import causal_mask


@exercise(
    2,
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
    3,
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
