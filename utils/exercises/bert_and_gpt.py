"""Checks of the exercises of chapters/bert_and_gpt."""

from collections.abc import Iterator

import torch
from torch import Tensor

from utils.exercises.checking import (
    Mistake,
    ReadersFunction,
    Wrong,
    as_number,
    as_tensor,
    choose,
    compare_with_rubric,
    exercise,
    expect,
    recognise,
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


# Numbers that learners get for the three parts of exercise 2.
COLD = (
    Mistake(
        (0.3255,),
        "these are the square roots, so this is the temperature 2.",
        "Divided by 1/2, a logarithm becomes twice as large, and the probability is squared.",
    ),
    Mistake((0.16,), "this is 0.4 squared.", "Divide by the sum of the four squares, which is 0.3."),
    Mistake(
        (0.4,),
        "this is the probability at temperature 1.",
        "At temperature 1/2 each logarithm is divided by 1/2, so each probability is squared.",
    ),
    Mistake((0.8,), "you divided 0.4 by 1/2.", "The temperature divides the logarithm, not the probability."),
)
TOP = (
    Mistake((0.4,), "this is 0.4, as before.", "The kept words sum to 0.7. Divide 0.4 by this sum."),
    Mistake(
        (1.0,),
        "you kept only the first word.",
        "0.4 is less than 0.6, so the second word is needed too.",
    ),
    Mistake(
        (0.4444,),
        "you kept three words.",
        "The first two have 0.7 together, which is enough for 0.6.",
    ),
    Mistake((0.6667,), "you divided 0.4 by top-p.", "Divide by the sum of the words that are kept."),
)
PERPLEXITY = (
    Mistake((0.2,), "this is the mean probability of a word.", "The perplexity is one divided by it."),
    Mistake((125.0,), "this is one divided by the product.", "Take the third root, for three words."),
    Mistake(
        (1.609,),
        "this is the cross-entropy in nats.",
        "The perplexity is the exponential of the cross-entropy.",
    ),
    Mistake(
        (4.286,),
        "you took the ordinary mean of the three probabilities.",
        "The mean is taken of the logarithms: take the third root of the product.",
    ),
    Mistake(
        (5.833,),
        "you took the ordinary mean of 1/0.4, 1/0.1 and 1/0.2.",
        "The mean is taken of the logarithms: take the third root of the product.",
    ),
)


@exercise(
    2,
    "compute",
    "At temperature 1/2 each probability is squared, and then all are divided by their sum.",
    "Top-p keeps words from the most probable one on, until their sum reaches p.",
)
def three_numbers(p_cold: object, p_top: object, perplexity: object) -> Iterator[str]:
    parts = (
        ("p_cold", p_cold, 0.16 / 0.30, COLD, "at temperature 1/2 the first word has more than a half"),
        ("p_top", p_top, 0.4 / 0.7, TOP, "top-p 0.6 keeps two words"),
        ("perplexity", perplexity, 5.0, PERPLEXITY, "the model is as unsure as one that chooses among five"),
    )
    for name, answer, right, mistakes, point in parts:
        number = as_number(answer, name=name)
        recognise([number], mistakes, f"{name} is {show(number)}: ", tolerance=0.0065 * max(1.0, right))
        expect(
            abs(number - right) < 0.0065 * max(1.0, right),
            f"{name} is {show(number)}; expected another number.",
        )
        yield f"{name}: {point}"


@exercise(
    3,
    "implement",
    "Begin with `causal_mask(num_read + num_written)`, and open the part that is read.",
    "The first `num_read` rows and columns are all True: `mask[:num_read, :num_read] = True`.",
)
def prefix_mask(answer: ReadersFunction) -> Iterator[str]:
    for num_read, num_written in ((3, 2), (2, 5)):
        num_words = num_read + num_written
        case = f"for {num_read} words read and {num_written} written"
        result = as_tensor(answer(num_read, num_written), name="the mask")
        expect(
            tuple(result.shape) == (num_words, num_words),
            f"{case}, the mask has the shape {tuple(result.shape)}; expected {(num_words, num_words)}.",
            "There is a row and a column for each word, read or written.",
        )
        expect(
            ((result == 0) | (result == 1)).all(),
            f"{case}, the mask holds {show(result.double().flatten()[:6])}; expected True and False alone.",
            "A mask says for each pair whether the query may attend to the key. It is no score.",
        )
        mask = result.bool()
        right = causal_mask(num_words)
        right[:num_read, :num_read] = True
        _recognise_mask(mask, right, num_read, case)
        for row, column in (mask != right).nonzero().tolist():
            value, expected = bool(mask[row, column]), bool(right[row, column])
            raise Wrong(
                f"{case}, the place [{row}, {column}] is {value}; expected {expected}.",
                "Rows are queries and columns are keys.",
            )
        yield f"{case}, each word sees what it may see"
    expect(
        torch.equal(as_tensor(answer(0, 4)).bool(), causal_mask(4)),
        "with no word read, the mask must be the causal one.",
        "`mask[:0, :0] = True` changes nothing, so no special case is needed.",
    )
    expect(
        as_tensor(answer(4, 0)).bool().all(),
        "with no word written, every word must see every word.",
        "Then all rows and columns belong to what is read.",
    )
    yield "with nothing read it is GPT's mask, and with nothing written BERT's"


def _recognise_mask(mask: Tensor, right: Tensor, num_read: int, case: str) -> None:
    num_words = len(right)
    causal = causal_mask(num_words)
    everything = torch.ones(num_words, num_words, dtype=torch.bool)
    apart = causal.clone()
    apart[:num_read, :num_read] = True
    apart[num_read:, :num_read] = False
    prefix_everywhere = causal.clone()
    prefix_everywhere[:num_read] = True
    without_self = right & ~torch.eye(num_words, dtype=torch.bool)
    for wrong_mask, says, hint in (
        (
            causal,
            "this is the causal mask: a word that is read does not see the words after it",
            "open the part",
        ),
        (everything, "every word sees every word, so the written words see what comes later", "causal"),
        (~right, "True and False are exchanged", "True means that the query may attend to the key"),
        (right.T, "rows and columns are exchanged", "rows are queries, columns are keys"),
        (apart, "a written word does not see the words that were read", "all its past is open to it"),
        (
            prefix_everywhere,
            "a word that is read sees the words that will be written",
            "only the read columns",
        ),
        (without_self, "a word does not see itself", "the diagonal is True"),
    ):
        expect(not torch.equal(mask, wrong_mask), f"{case}, {says}.", f"Look at one row: {hint}.")


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
    expect(
        abs(upside_down - 0.5) > 0.005 or abs(first - 0.5) <= 0.005,
        f"{message}. Multiplied by {show(number)}, the logits would give one half.",
        "The logits are divided by the temperature. Turn your number upside down.",
    )
    expect(
        first < 0.505,
        f"{message}, which is too much: this temperature is too low.",
        "A higher temperature makes the probabilities more equal.",
    )
    expect(
        first > 0.495,
        f"{message}, which is too little: this temperature is too high.",
        "A lower temperature gives the first word more.",
    )
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
