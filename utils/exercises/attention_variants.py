"""Checks of the exercises of chapters/attention_variants."""

from collections.abc import Iterator

import torch
from torch import Tensor

from utils.exercises.checking import (
    Mistake,
    ReadersFunction,
    as_number,
    as_tensor,
    choose,
    compare_with_rubric,
    exercise,
    expect,
    recognise,
    show,
)


@exercise(1, "predict", "Which formula divides by the length of the vector, and which does not read it?")
def doubled_vectors(answer: object) -> Iterator[str]:
    yield from choose(
        answer,
        right="c",
        reason="the cosine divides by the length of the vector, and location does not read it: both scores stay.",
        wrong={
            "a": "each dot product doubles, and so do the differences between the scores. The weights become sharper.",
            "b": "general is a dot product with $W h_j$, so each score doubles. In concat the tanh changes.",
            "d": "location stays, but with dot the differences between the scores double.",
        },
    )


# Numbers that learners get for exercise 2, for the scores 1.5, 0.9 and -0.4.
SPARSE_MISTAKES = (
    Mistake(
        (0.589, 0.323, 0.088),
        "These are the weights of the softmax. No weight of a softmax is 0.",
        "Sparsemax subtracts one number from all scores, and what would be negative becomes 0.",
    ),
    Mistake(
        (0.646, 0.354, 0.0),
        "This is the softmax of the two largest scores.",
        "Sparsemax takes no exponentials: subtract the same number from both.",
    ),
    Mistake(
        (0.625, 0.375, 0.0),
        "The two largest scores were divided by their sum.",
        "Subtract the same number from both, so that the two results sum to 1.",
    ),
    Mistake(
        (1.167, 0.567, -0.733),
        "The number that you subtract makes all three results sum to 1, and one of them is negative.",
        "The third word gets no weight. Find the number again, for the first two words alone.",
    ),
    Mistake(
        (1.5, 0.9, 0.0),
        "The negative score became 0, and nothing was subtracted.",
        "1.5 and 0.9 sum to 2.4. How much must be taken from each, so that they sum to 1?",
    ),
    Mistake(
        (1.0, 0.0, 0.0),
        "All the weight lies on the largest score. That would be right if it were larger than the second by 1 or more.",
        "The second score is smaller by only 0.6, so it gets a share.",
    ),
)


@exercise(
    2,
    "compute",
    "Try with two words: which number must you subtract from 1.5 and from 0.9, so that the results sum to 1?",
    "(1.5 + 0.9 - 1) / 2 is the number. Is the third score larger than it?",
)
def sparse_weights(first: object, second: object, third: object) -> Iterator[str]:
    names = ("w_first", "w_second", "w_third")
    weights = [as_number(w, name=name) for w, name in zip((first, second, third), names, strict=True)]
    recognise(weights, SPARSE_MISTAKES)
    expect(min(weights) >= 0, f"{show(min(weights))} is a negative weight.", "A negative result becomes 0.")
    yield "no weight is negative"
    expect(
        abs(sum(weights) - 1) < 0.011,
        f"the three weights sum to {show(sum(weights))}; expected 1.",
        "Subtract the same number from all scores, and put 0 where the result is negative.",
    )
    yield "the weights sum to 1"
    expect(
        abs(weights[2]) < 0.006,
        f"the third word has the weight {show(weights[2])}; expected 0.",
        "Its score lies more than 1 below the largest.",
    )
    expect(
        abs(weights[0] - weights[1] - 0.6) < 0.011,
        f"the first two weights differ by {show(weights[0] - weights[1])}; expected 0.6, the difference of the scores.",
        "The same number is subtracted from both.",
    )
    yield "words with weight differ as their scores do"


STEPS = [[0.5, 0.5, 0.0], [0.0, 0.25, 0.75], [0.5, 0.5, 0.0]]


def _overlap_mistakes(weights: Tensor) -> list[Mistake]:
    """Wrong results of exercise 3 for these weights, each with what it is."""
    before = weights.cumsum(dim=0) - weights
    least = torch.minimum(weights, before)
    shifted = torch.cat([torch.zeros(1, weights.shape[1]), weights[:-1]])
    results = (
        (
            torch.minimum(weights, before + weights).sum(dim=1).mean(),
            "the coverage of a step has the weights of this step in it, so the smaller number is always the weight",
            "Add the weights of a step to the coverage after you have used it.",
        ),
        (
            torch.maximum(weights, before).sum(dim=1).mean(),
            "it takes the larger of weight and coverage",
            "The overlap is what both have: the smaller of the two numbers.",
        ),
        (
            (weights * before).sum(dim=1).mean(),
            "it multiplies weight and coverage",
            "Take the smaller of the two numbers, and not their product.",
        ),
        (
            torch.minimum(weights, shifted).sum(dim=1).mean(),
            "it compares with the step before alone",
            "The coverage is the sum over all steps before.",
        ),
        (
            least.sum(),
            "it is the sum over the steps",
            "Divide by the number of steps: the mean over the rows is asked for.",
        ),
        (
            least.mean(),
            "it is the mean over steps and words",
            "Add up over the words of a step first, and take the mean over the steps.",
        ),
        (
            least.sum(dim=1)[1:].mean(),
            "it leaves out the first step",
            "The first step counts too. Its overlap is 0.",
        ),
    )
    return [
        Mistake((value.item(),), f"the result is {show(value.item())}: {says}.", hint)
        for value, says, hint in results
    ]


@exercise(
    3,
    "implement",
    "Keep a vector with the coverage, zeros at first. For each row: compare, add up, then add the row to the coverage.",
    "`weights.cumsum(dim=0) - weights` holds the coverage before each step.",
)
def overlap(answer: ReadersFunction) -> Iterator[str]:
    generator = torch.Generator().manual_seed(3)
    random_weights = torch.rand(5, 7, generator=generator).softmax(dim=1)
    for weights, case in (
        (torch.tensor(STEPS), f"for the weights {STEPS}, "),
        (random_weights, "for random weights of 5 steps and 7 words, "),
        (random_weights[:1], "for a single step, "),
    ):
        result = as_tensor(answer(weights), name="the result")
        expect(
            result.numel() == 1,
            f"{case}the result holds {result.numel()} numbers; expected one.",
            "Add up over the words, and take the mean over the steps.",
        )
        right = torch.minimum(weights, weights.cumsum(dim=0) - weights).sum(dim=1).mean().item()
        if abs(result.item() - right) > 1e-4:
            recognise(result, _overlap_mistakes(weights), case, f" Expected {show(right)}.", tolerance=1e-4)
        expect(
            abs(result.item() - right) < 1e-4,
            f"{case}the result is {show(result.item())}; expected {show(right)}.",
        )
        yield f"{case}the overlap is {show(right)}"


WEIGHTS, REWARDS = (0.2, 0.8), (1.0, 0.0)


def _estimates(baseline: float) -> tuple[float, float]:
    """The two estimates of the derivative by the first score, if word 1 or word 2 is drawn."""
    first, second = REWARDS
    return (first - baseline) * (1 - WEIGHTS[0]), (second - baseline) * (0 - WEIGHTS[0])


@exercise(
    4,
    "experiment",
    "Compute both estimates for some baselines: 0, 0.2 and 0.5. In which direction do they come closer?",
    "The two are equal if 0.8 (1 - b) = 0.2 b.",
)
def best_baseline(answer: object) -> Iterator[str]:
    baseline = as_number(answer, name="baseline")
    expect(abs(baseline) < 1e6, f"{show(baseline)} is too large to be compared.", "Try numbers from 0 to 1.")
    first, second = _estimates(baseline)
    mean = WEIGHTS[0] * first + WEIGHTS[1] * second
    yield f"with this baseline the mean of the estimates is {show(mean)}, as with every other"
    case = f"with the baseline {show(baseline)} the estimate is {show(first)} or {show(second)}"
    usual = {
        0.0: ("This is the estimate without a baseline.", "A baseline above 0 makes the first one smaller."),
        0.2: (
            "0.2 is the mean reward, which is the usual baseline. It is not the best one here.",
            "Move it further up.",
        ),
        0.5: (
            "0.5 is the mean of the two rewards without the weights.",
            "Compare 0.5 (1 - 0.2) with 0.5 · 0.2.",
        ),
        1.0: (
            "Now the estimate is 0 whenever the right word is drawn.",
            "This is too far: go down a little.",
        ),
    }
    for number, (says, hint) in usual.items():
        expect(abs(baseline - number) > 1e-6, f"{case}. {says}", hint)
    expect(
        abs(first - second) < 0.0051,
        f"{case}: they differ by {show(abs(first - second))}. Expected two equal numbers.",
        "The difference is 0.8 (1 - b) - 0.2 b. For which b is it 0?",
    )
    yield f"the estimate is {show(first)}, whatever word is drawn"


@exercise(5, "open")
def which_is_better(answer: object) -> Iterator[str]:
    yield from compare_with_rubric(
        answer,
        (
            "It says that three seeds of each score spread, and that the two means lie closer together than this "
            "spread.",
            "It says that the table shows the spread with a control: additive and concat are the same function, and "
            "differ too.",
            "It says that among many pairs some are apart by luck.",
            "It asks for more seeds, or for a comparison that was planned before looking.",
            "It says what else the result depends on: this corpus, this size, this number of steps.",
        ),
    )
