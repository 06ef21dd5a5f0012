"""Checks of the exercises of chapters/bahdanau_decoder."""

import math
from collections.abc import Iterator
from functools import cache

import torch
from torch import Tensor, nn

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
    expect_close,
    recognise,
    show,
)
from utils.search import greedy
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder


@exercise(1, "predict", "Hiding white removes its exponential from the sum. No other exponential changes.")
def after_hiding(answer: object) -> Iterator[str]:
    yield from choose(
        answer,
        right="c",
        reason="the seven other weights sum to 0.47, so each is divided by 0.47 and keeps its ratio to the others.",
        wrong={
            "a": "the score of flower stays, but the weight is its exponential divided by a sum, and this sum is "
            "now smaller.",
            "b": "that would be the weight of white added to that of flower. small and yesterday have weights too, "
            "and these grow by the same factor.",
            "d": "the softmax shares nothing equally: a word with a larger weight grows by more.",
        },
    )


# Numbers that learners get for exercise 2.
SCORES = Mistake(
    (-1.967, -1.967, -0.760),
    "These are the scores. The weights come after the softmax.",
    "The exponential of -1.967 is 0.140, and that of -0.760 is 0.468.",
)
OLD_STATE = Mistake(
    (0.073, 0.073, 0.853),
    "These are the weights of the page, for the state (1.5, 0.8).",
    "Here the state is (0.2, 1.6).",
)
EXPONENTIALS = Mistake(
    (0.140, 0.140, 0.468),
    "These are the exponentials. They are not weights yet, because they do not sum to 1.",
    "Divide each exponential by 0.140 + 0.140 + 0.468.",
)
PER_CENT = Mistake(
    (18.7, 18.7, 62.6),
    "These are the weights in per cent. Weights sum to 1, not to 100.",
    "19 per cent is 0.19.",
)
OTHER_WEIGHTS = (
    Mistake(
        (0.626, 0.187, 0.187),
        "These are the weights of flower, white and small, in the wrong order.",
        "The order is small, white, flower.",
    ),
    Mistake(
        (0.493, 0.493, 0.014),
        "These are the weights if the numbers of state and word are multiplied. Additive attention adds them.",
        "The score of flower is 2 tanh(-1.4 + 1).",
    ),
    Mistake(
        (0.435, 0.435, 0.130),
        "These are the weights if the number of each word is subtracted from that of the state; expected their sum.",
        "The score of flower is 2 tanh(-1.4 + 1).",
    ),
    Mistake(
        (0.018, 0.018, 0.965),
        "These are the weights without the tanh.",
        "The score of small is 2 tanh(-2.4) and not 2 times -2.4.",
    ),
    Mistake(
        (0.261, 0.261, 0.478),
        "These are the weights without the factor 2, which is w_v.",
        "The score is 2 times the tanh.",
    ),
    Mistake(
        (0.0435, 0.0435, 0.9125),
        "These weights do not depend on the state: it is missing in the tanh.",
        "The number of the state, -1.4, is added to the number of each word.",
    ),
)
# For the score of flower.
FLOWER_SCORES = (
    Mistake(
        (1.967,),
        "This is the score of flower for the state (1.6, 0.2).",
        "W_q subtracts the second number of the state from the first: 0.2 - 1.6.",
    ),
    Mistake(
        (1.871,),
        "This is the score of flower for the state (1.5, 0.8) of the page.",
        "Here the state is (0.2, 1.6).",
    ),
    Mistake((-0.8,), "This is 2 times -0.4. The tanh is missing.", "The score is 2 tanh(-1.4 + 1)."),
    Mistake((-0.38,), "This is tanh(-1.4 + 1). The factor 2 is missing, which is w_v.", "-0.38 times 2."),
    Mistake(
        (0.626,), "This is the weight of flower. The score comes before the softmax.", "2 tanh(-1.4 + 1)."
    ),
)


@exercise(
    2,
    "compute",
    "Subtract in the state first: 0.2 - 1.6 = -1.4. Then in each word: -1, -1 and 1.",
    "Add the two, take the tanh, multiply by 2. Then come the exponentials, each divided by their sum.",
)
def another_query(flower_score: object, small: object, white: object, flower: object) -> Iterator[str]:
    names = ("small", "white", "flower")
    score = as_number(flower_score, name="e_flower")
    weights = [as_number(w, name=f"w_{name}") for w, name in zip((small, white, flower), names, strict=True)]

    recognise(weights, [SCORES], tolerance=0.0065)
    expect(min(weights) >= 0, f"{show(min(weights))} is a negative weight.", "An exponential is positive.")
    yield "no weight is negative"
    recognise(weights, [PER_CENT], tolerance=0.65)
    recognise(weights, [OLD_STATE, EXPONENTIALS], tolerance=0.0065)
    expect(
        abs(sum(weights) - 1) < 0.016,  # three numbers of two decimals each: 0.19 + 0.19 + 0.63 is 1.01
        f"the three weights sum to {show(sum(weights))}; expected 1.",
        "Divide each exponential by the sum of the three.",
    )
    yield "the weights sum to 1"
    recognise(weights, OTHER_WEIGHTS, tolerance=0.0065)
    expect(
        abs(weights[0] - weights[1]) < 0.0065,
        f"small has the weight {show(weights[0])} and white {show(weights[1])}; expected the same.",
        "Subtract the two numbers of each word: 0.2 - 1.2 and 0.4 - 1.4.",
    )
    yield "small and white have the same weight, because both have the difference -1"
    expect(
        abs(weights[2] - 0.626) < 0.0065,
        f"flower has the weight {show(weights[2])}; expected another number.",
        "The score of flower is 2 tanh(-1.4 + 1).",
    )
    yield "flower is still first"
    recognise([score], FLOWER_SCORES, tolerance=0.0065)
    expect(
        abs(score + 0.760) < 0.0065,
        f"e_flower is {show(score)}; expected another score.",
        "The score of flower is 2 tanh(-1.4 + 1).",
    )
    yield "its score is that of the state (0.2, 1.6)"


@exercise(
    3,
    "implement",
    "The order is: the new state, the scores, the softmax, the average.",
    "The score of row j is the dot product of the new state and `h[:, j]`. `h @ s[:, :, None]` computes all of them.",
)
def luong_step(answer: ReadersFunction) -> Iterator[str]:
    calls = []

    def sum_of_both(y: Tensor, s: Tensor) -> Tensor:
        calls.append((y, s))
        return y + s

    y, s, h = (
        torch.tensor([[math.log(3), 0.0]]),
        torch.tensor([[0.0, math.log(2)]]),
        torch.eye(3)[None, :, :2],
    )
    example = "for a cell that adds, y = [ln 3, 0], s = [0, ln 2] and h = [[1, 0], [0, 1], [0, 0]]"
    context, state = _pair(answer(sum_of_both, y, s, h))
    expect(
        not any(torch.equal(first, s) and torch.equal(second, y) for first, second in calls),
        "you call the cell with the state first. Expected the word first, and then the state.",
        "The new state is `cell(y, s)`.",
    )
    right_state = torch.tensor([[math.log(3), math.log(2)]])
    expect(
        not (_close(context, right_state) and not _close(state, right_state)),
        "the two results are exchanged: the first is the new state. Expected the context first.",
        "End with `return context, s`.",
    )
    expect(
        not _close(state, s),
        f"{example}, the state that you return is the old one, [0, 0.6931]; expected [1.099, 0.6931].",
        "The new state is `cell(y, s)`.",
    )
    expect_close(state, right_state, example, "The new state is `cell(y, s)`.", name="the new state")
    yield "the new state comes from the cell"
    _expect_one_vector(context, example)
    recognise(context, _usual_mistakes(context), f"{example}, ", tolerance=2e-4)
    case = f"{example}, the scores are ln 3, ln 2 and 0, so the weights are 1/2, 1/3 and 1/6"
    expect_close(context, torch.tensor([[1 / 2, 1 / 3]]), case, name="the context")
    yield "the decoder asks with the new state"
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        cell = nn.GRUCell(3, 7)
        y, s, h = torch.randn(2, 3), torch.randn(2, 7), torch.randn(2, 5, 7)
        context, state = _pair(answer(cell, y, s, h))
        new = cell(y, s)
        right = torch.softmax(torch.einsum("bnd,bd->bn", h, new), dim=-1)
        case = "for a batch of 2 sentences with 5 words and states of width 7"
        expect_close(
            state, new, case, "Call the cell that you are given, with y and s.", name="the new state"
        )
        hint = "The softmax runs over the words, the last axis of the scores."
        expect_close(context, torch.einsum("bn,bnd->bd", right, h), case, hint, name="the context")
    yield "each sentence of a batch has weights of its own, over its words"


def _expect_one_vector(context: Tensor, example: str) -> None:
    """For one sentence and vectors of two numbers."""
    expect(
        tuple(context.shape) != (1, 1, 2),
        "the context has the shape (1, 1, 2), with an axis of length 1 in the middle; expected (1, 2).",
        "Remove the axis of the query with `squeeze(1)`.",
    )
    expect(
        tuple(context.shape) != (1, 3),
        f"{example}, the first result is {show(context)}: these are the weights of the three words.",
        "The context is the average of the rows of `h` with these weights.",
    )
    expect(
        tuple(context.shape) == (1, 2),
        f"the context has the shape {tuple(context.shape)}; expected (1, 2), one vector for each sentence.",
    )


def _usual_mistakes(context: Tensor) -> list[Mistake]:
    scores = torch.tensor([math.log(3), math.log(2), 0])
    scaled_weights, bounded_weights = (
        torch.softmax(wrong_scores, dim=-1).tolist()
        for wrong_scores in (scores / math.sqrt(2), scores.tanh())
    )
    message, expected = f"the context is {show(context)}: ", " Expected [[0.5, 0.3333]]."
    plain = "This exercise asks for the plain dot product, without a scale and without a tanh."
    results = (
        (
            (1 / 4, 1 / 2),
            "the decoder asked with the old state.",
            "Compute the new state first, and use it in the scores.",
        ),
        ((3 / 5, 1 / 5), "the decoder asked with the word y.", "The query is the new state."),
        (
            (1 / 3, 1 / 3),
            "this is the plain mean of the rows of h, as if all weights were equal.",
            "The weights of one sentence sum to 1 over its words: the softmax runs over the axis of the words.",
        ),
        (
            (1, 1),
            "every weight is 1.",
            "You took the softmax over an axis of length 1. The axis of the words is the one with n numbers.",
        ),
        (scores.tolist()[:2], "the scores are used as weights.", "The softmax turns scores into weights."),
        (
            (scores / scores.sum()).tolist()[:2],
            "the scores were divided by their sum.",
            "The softmax divides the exponentials of the scores by their sum.",
        ),
        (scaled_weights[:2], "the scores were divided by the square root of 2.", plain),
        (bounded_weights[:2], "the scores went through a tanh.", plain),
        ((1, 0), "only the row with the largest score is taken.", "The context is an average of all rows."),
        (
            (1 / 6, 1 / 9),
            "the weighted sum was divided by the number of words.",
            "The weights sum to 1 already, so the sum is the average.",
        ),
        (
            (3 / 5, 2 / 5),
            "a dot product was added up over the words.",
            "The score of a word adds up the products of the numbers of its own vector, along the last axis.",
        ),
    )
    return [Mistake(tuple(numbers), f"{message}{says}{expected}", hint) for numbers, says, hint in results]


def _pair(result: object) -> tuple[Tensor, Tensor]:
    expect(
        isinstance(result, tuple | list) and len(result) == 2,
        "the function returns one thing; expected two, the context and the new state."
        if not isinstance(result, tuple | list)
        else f"the function returns {len(result)} things; expected two, the context and the new state.",
        "End with `return context, s`.",
    )
    return as_tensor(result[0], name="the context"), as_tensor(result[1], name="the new state")


def _close(left: Tensor, right: Tensor) -> bool:
    return left.shape == right.shape and torch.allclose(left.double(), right.double(), atol=2e-4)


PADDED = 40


@exercise(
    4,
    "implement",
    "Make a tensor of 40 zeros, write the ids into its first places, and give `greedy` the length 40.",
    "`greedy(...)` returns a list with one result, and its `weights` have a row per step and 40 columns.",
)
def weight_on_padding(answer: ReadersFunction) -> Iterator[str]:
    for seed, ids in ((177, [5, 8, 4]), (76, [4, 9, 6, 7, 10])):
        model = _small_translator(seed)
        weights = _weights_with_wrong_length(model, ids)
        case = f"for a small model that was not trained and the ids {ids}"
        result = _one_weight(answer, model, ids, case)
        expect(
            0 <= result <= 1,
            f"{case}, the result is {show(result)}; a weight lies between 0 and 1.",
            "Return one weight, not a sum over steps or a share in per cent.",
        )
        yield f"for {len(ids)} ids the result is a possible weight"
        padding, words = weights[:, len(ids) :], weights[:, : len(ids)]
        for wrong_result, says, hint in (
            (weights.max(), "the largest weight of all 40 places", "Leave out the first `len(ids)` columns."),
            (words.max(), "the largest weight on a real word", "The padding begins at column `len(ids)`."),
            (padding.mean(), "the mean weight on the padding", "Take the maximum."),
            (padding.min(), "the smallest weight on the padding", "Take the maximum."),
            (
                padding.sum(dim=-1).max(),
                "the sum of the weights on the padding in one step",
                "Do not add up.",
            ),
            (
                padding[:, 1:].max(),
                "the largest weight from the second place of the padding on",
                "The first place of the padding is column `len(ids)`, because places count from 0.",
            ),
            (
                weights[:, len(ids) - 1 :].max(),
                "the largest weight on the last word and the padding",
                "The last word is at the place `len(ids) - 1`.",
            ),
            (
                weights[len(ids) :].max() if len(weights) > len(ids) else padding.max(),
                f"the largest weight of the steps from number {len(ids)} on",
                "Rows are steps and columns are places: `weights[:, len(ids):]`.",
            ),
            (padding[0].max(), "the largest weight of the first step alone", "Look at every step."),
            (padding[-1].max(), "the largest weight of the last step alone", "Look at every step."),
        ):
            right = padding.max().item()
            if abs(wrong_result.item() - right) > 1e-6:
                expect(
                    abs(result - wrong_result.item()) > 1e-6,
                    f"{case}, the result {show(result)} is {says}; expected {show(right)}.",
                    hint,
                )
        expect(
            abs(result - padding.max().item()) < 1e-5,
            f"{case}, the result is {show(result)}; expected {show(padding.max().item())}.",
        )
        yield f"for {len(ids)} ids it is the largest weight that any step gives to the padding"


def _one_weight(answer: ReadersFunction, model: EncoderDecoder, ids: list[int], case: str) -> float:
    """The number that the answer returns; raise :class:`Wrong` if it gives the encoder the right length."""
    lengths: list[int] = []

    def note(_: nn.Module, args: tuple[Tensor, ...], options: dict[str, Tensor]) -> None:
        lengths.extend([*args, *options.values()][-1].tolist())

    handle = model.encoder.register_forward_pre_hook(note, with_kwargs=True)
    try:
        result = answer(model, ids)
    except Wrong:
        if lengths != [len(ids)]:
            raise
        result = 0.0  # no weights on the padding
    finally:
        handle.remove()
    expect(
        lengths != [len(ids)],
        f"{case}, the model got the length {len(ids)}, so the mask hid the padding.",
        "The exercise gives a wrong length on purpose: 40, although only the first places are words.",
    )
    weight = as_tensor(result, name="the result")
    expect(
        weight.numel() == 1,
        f"{case}, the result holds {weight.numel()} numbers; expected one.",
        "Take the largest weight of all steps and of all places of the padding.",
    )
    return weight.double().item()


@cache
def _small_translator(seed: int) -> EncoderDecoder:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = EncoderDecoder(Encoder(11, 5, 7), BahdanauDecoder(11, 5, 7, 14))
        for parameter in model.parameters():
            nn.init.normal_(parameter)
    return model.eval()


def _weights_with_wrong_length(model: EncoderDecoder, ids: list[int]) -> Tensor:
    padded = torch.zeros(1, PADDED, dtype=torch.long)
    padded[0, : len(ids)] = torch.tensor(ids)
    (hypothesis,) = greedy(model, padded, torch.tensor([PADDED]), max_len=50)
    return hypothesis.weights


@exercise(
    5,
    "experiment",
    "The tanh hardly changes where its input is far from 0. So a state can switch a unit off by making its sum large.",
    "Let unit 1 look at the thing and unit 2 at the quality: W_k = [[1, 0], [0, 1]]. Which W_q makes unit 2 large and "
    "leaves unit 1 at 0 for the first state, and the other way round for the second?",
)
def two_units(w_q: object, w_k: object, w_v: object) -> Iterator[str]:
    matrices = [as_tensor(w, name=name).double() for w, name in ((w_q, "w_q"), (w_k, "w_k"))]
    for matrix, name in zip(matrices, ("w_q", "w_k"), strict=True):
        expect(
            tuple(matrix.shape) == (2, 2),
            f"{name} has the shape {tuple(matrix.shape)}; expected (2, 2).",
            "Each hidden unit has a row, with a number for each of the two numbers of a vector.",
        )
    query_matrix, key_matrix = matrices
    last = as_tensor(w_v, name="w_v").double()
    expect(
        last.numel() == 2,
        f"w_v holds {show(last)}; expected two numbers.",
        "Each of the two hidden units has one number in `w_v`.",
    )
    expect(
        all(part.isfinite().all() for part in (*matrices, last)),
        "some of the numbers are infinite or NaN; expected finite ones.",
    )
    yield "there are two hidden units"
    words = ("small", "white", "flower")
    keys = torch.tensor([[0.2, 1.2], [0.4, 1.4], [1.5, 0.5]]).double()
    for after, state, expected_word in (("petite", (1.5, 0.8), "flower"), ("fleur", (0.2, 1.6), "white")):
        units = torch.tanh(query_matrix @ torch.tensor(state).double() + keys @ key_matrix.T)
        scores = units @ last.flatten()
        case = (
            f"after {after}, for the state {state}, the scores of small, white and flower are {show(scores)}"
        )
        highest, second, _ = scores.sort(descending=True).values.tolist()
        expect(
            highest - second > 1e-3,
            f"{case}: the two highest differ by less than 0.001, so no word gets a clearly larger weight.",
            "Make `w_v` larger, or choose matrices that keep the words apart.",
        )
        best = words[int(scores.argmax())]
        expect(
            best == expected_word,
            f"{case}: {best} is first. Expected {expected_word}.",
            f"Print the hidden units for this state. In which of them does {expected_word} have the largest number?",
        )
        yield f"after {after} the decoder looks most at {expected_word}"


@exercise(6, "open")
def does_it_explain(answer: object) -> Iterator[str]:
    yield from compare_with_rubric(
        answer,
        (
            "It says what to change: hide flower by the mask, in the step that writes la and in no other.",
            "It says what to look at: whether the next word, or its probability, changes.",
            "It has something to compare with, such as a random other word hidden in the same step.",
            "It counts over many sentences instead of showing one.",
            "It says what even this test leaves open: the vectors of the neighbours and the first state have read "
            "flower too.",
        ),
    )
