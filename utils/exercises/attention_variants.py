"""Checks of the exercises of chapters/attention_variants."""

from collections.abc import Iterator

import torch

from utils.exercises.checking import (
    ReadersFunction,
    exercise,
    expect_numbers,
    show,
)


@exercise(
    2,
    "Try with two words: which number must you subtract from 1.5 and from 0.9, so that the results sum to 1?",
    "(1.5 + 0.9 - 1) / 2 is the number. Is the third score larger than it?",
)
def sparse_weights(first: object, second: object, third: object) -> Iterator[str]:
    subtract = "Sparsemax subtracts the same number from all scores, and what would be negative becomes 0."
    mistakes = (
        ((0.589, 0.323, 0.088), "these are the weights of the softmax", subtract),
        ((0.625, 0.375, 0.0), "the two largest scores were divided by their sum", subtract),
        ((1.167, 0.567, -0.733), "one of them is negative", "It gets 0. Repeat it for the first two."),
        ((1.5, 0.9, 0.0), "nothing was subtracted", "How much must be taken from 1.5 and 0.9?"),
    )
    same = "The same number is subtracted from both, so they differ by 0.6. The third score is too small for a share."
    weights = {"w_first": first, "w_second": second, "w_third": third}
    expect_numbers(weights, [0.8, 0.2, 0], mistakes, same)
    yield "the weights sum to 1"
    yield "words with weight differ as their scores do"


STEPS = [[0.5, 0.5, 0.0], [0.0, 0.25, 0.75], [0.5, 0.5, 0.0]]


@exercise(
    3,
    "Keep a vector with the coverage, zeros at first. For each row: compare, add up, then add the row to the coverage.",
    "`weights.cumsum(dim=0) - weights` holds the coverage before each step.",
)
def overlap(answer: ReadersFunction) -> Iterator[str]:
    torch.manual_seed(3)
    random_weights = torch.rand(5, 7).softmax(dim=1)
    use = "Add the weights of a step to the coverage after you have used it."
    mean = "Add up over the words of a step first, then take the mean over all steps."
    for weights, case in (
        (torch.tensor(STEPS), f"the result for the weights {STEPS}"),
        (random_weights, "the result for random weights of 5 steps and 7 words"),
        (random_weights[:1], "the result for a single step"),
    ):
        before = weights.cumsum(dim=0) - weights
        step_before = torch.cat([torch.zeros(1, weights.shape[1]), weights[:-1]])
        least, of_one = torch.minimum(weights, before), torch.minimum(weights, step_before)
        num = len(weights)
        mistakes = (
            (weights.sum() / num, "the coverage has this step in it", use),
            ((weights * before).sum() / num, "it multiplies weight and coverage", "Take the smaller."),
            (of_one.sum() / num, "it compares with one step", "Sum up all before."),
            (least.sum(), "it is the sum over the steps", mean),
            (least.mean(), "it is the mean over steps and words", mean),
        )
        right = least.sum().item() / num
        expect_numbers({case: answer(weights)}, [right], mistakes, tolerance=1e-4)
        yield f"{case} is {show(right)}"
