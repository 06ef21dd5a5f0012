"""Checks of the exercises of chapters/bert_and_gpt."""

from collections.abc import Iterator

import torch

from utils.exercises.checking import (
    Mistake,
    ReadersFunction,
    as_number,
    as_tensor,
    choose,
    compare_with_rubric,
    exercise,
    expect,
    expect_close,
    expect_numbers,
    show,
)
from utils.transformer import causal_mask


@exercise(
    1, "predict", "From which place does the model predict a word, and which words does this place see?"
)
def later_word(answer: object) -> Iterator[str]:
    yield from choose(
        answer,
        right="b",
        reason="only the place of the last word sees it, and this place predicts the word that comes after.",
        wrong={
            "a": "a vector changes only if its place sees the changed word. Most places stand before it.",
            "c": "the word that comes after the last one is predicted from the vector of the last one.",
            "d": "the word at the last place is predicted from the place before it, which does not see it.",
        },
    )


@exercise(
    2,
    "compute",
    "At temperature 1/2 each probability is squared, and then all are divided by their sum.",
    "Top-p keeps words from the most probable one on, until their sum reaches p.",
)
def three_numbers(p_cold: object, p_top: object, perplexity: object) -> Iterator[str]:
    squared, root = (
        "A logarithm divided by 1/2 is twice as large: p is squared.",
        "Take the third root of the product.",
    )
    mistakes = (
        Mistake(0.3255, "this is the temperature 2", squared),
        Mistake(0.16, "this is 0.4 squared", "Divide by the sum of the four squares, which is 0.3."),
        Mistake(0.4, "this is the temperature 1", squared),
        Mistake(0.8, "you divided 0.4 by 1/2", squared),
    )
    expect_numbers({"p_cold": p_cold}, [0.16 / 0.30], mistakes)
    yield "p_cold: at temperature 1/2 the first word has more than a half"
    kept = "The first two words are kept, which have 0.7 together. Divide 0.4 by this sum."
    mistakes = (
        Mistake(0.4, "this is 0.4, as before", kept),
        Mistake(1.0, "you kept only the first word", kept),
        Mistake(0.4444, "you kept three words", kept),
        Mistake(0.6667, "you divided 0.4 by top-p", kept),
    )
    expect_numbers({"p_top": p_top}, [0.4 / 0.7], mistakes)
    yield "p_top: top-p 0.6 keeps two words"
    mistakes = (
        Mistake(0.2, "this is the mean probability of a word", "The perplexity is one divided by it."),
        Mistake(125.0, "this is one divided by the product", root),
        Mistake(1.609, "this is the cross-entropy in nats", "The perplexity is its exponential."),
        Mistake(4.286, "you took the ordinary mean of the three probabilities", root),
        Mistake(5.833, "you took the ordinary mean of 1/0.4, 1/0.1 and 1/0.2", root),
    )
    expect_numbers({"perplexity": perplexity}, [5.0], mistakes)
    yield "perplexity: the model is as unsure as one that chooses among five"


@exercise(
    3,
    "implement",
    "Begin with `causal_mask(num_read + num_written)`, and open the part that is read.",
    "The first `num_read` rows and columns are all True: `mask[:num_read, :num_read] = True`.",
)
def prefix_mask(answer: ReadersFunction) -> Iterator[str]:
    for num_read, num_written in ((3, 2), (2, 5), (0, 4), (4, 0)):
        n = num_read + num_written
        case = f"for {num_read} words read and {num_written} written"
        each = "There is a row and a column for each word, read or written."
        mask = as_tensor(answer(num_read, num_written), each, shape=(n, n), name=f"{case}, the mask").double()
        causal, right = causal_mask(n), causal_mask(n)
        right[:num_read, :num_read] = True
        everywhere, apart = causal.clone(), right.clone()
        everywhere[:num_read] = True
        apart[num_read:, :num_read] = False
        row = "Rows are queries and columns are keys, and True means that the query may attend to the key."
        past = "A word that is read sees all that is read. A written word sees its past, and nothing later."
        for wrong, says, hint in (
            (causal, "a word that is read does not see the words after it", past),
            (torch.ones(n, n), "the written words see what comes later", past),
            (~right, "True and False are exchanged", row),
            (right.T, "rows and columns are exchanged", row),
            (apart, "a written word does not see the words that were read", past),
            (everywhere, "a word that is read sees the words that will be written", past),
            (right & ~torch.eye(n, dtype=torch.bool), "a word does not see itself", "The diagonal is True."),
        ):
            is_wrong = mask.equal(wrong.double()) and not mask.equal(right.double())
            expect(not is_wrong, f"{case}, {says}.", hint)
        expect_close(mask, right, case, row, name="the mask")
        yield f"{case}, each word sees what it may see"


LOGITS = (2.0, 1.0, 0.0, -1.0)


@exercise(
    4,
    "experiment",
    "Compute `(logits / t).softmax(-1)[0]` for some temperatures t between 0.5 and 4.",
    "The probability falls while the temperature rises. Take the middle of two temperatures again and again.",
)
def half(temperature: object) -> Iterator[str]:
    number = as_number(temperature, name="the temperature")
    expect(
        number > 0, f"the temperature is {show(number)}; expected a number above 0.", "It divides the logits."
    )
    yield "the temperature is positive"
    logits = torch.tensor(LOGITS, dtype=torch.float64)
    first, upside_down = ((logits / t).softmax(dim=-1)[0].item() for t in (number, 1 / number))
    message = f"at the temperature {show(number)} the first word has the probability {first:.3f}"
    for is_wrong, says, hint in (
        (
            abs(upside_down - 0.5) < 0.005,
            f"multiplied by {show(number)}, the logits would give one half",
            "The logits are divided by the temperature. Turn your number upside down.",
        ),
        (first > 0.505, "this temperature is too low", "A higher one makes the probabilities more equal."),
        (first < 0.495, "this temperature is too high", "A lower one gives the first word more."),
    ):
        expect(not is_wrong, f"{message}: {says}.", hint)
    yield f"{message}, one half to two decimals"


@exercise(5, "open")
def what_the_probe_shows(answer: object) -> Iterator[str]:
    yield from compare_with_rubric(
        answer,
        (
            "It says that a probe is trained too, so a part of its accuracy is its own.",
            "It asks for a control: the same probe on labels by coin, or on a network that was not trained.",
            "It says that a vector can hold something which the network does not use.",
            "It says what to change in order to test the use: remove the direction of the probe from the vector, or "
            "hide the subject, and see whether the verb changes.",
            "It compares this with a change of the same size that should do nothing, such as a random direction.",
        ),
    )
