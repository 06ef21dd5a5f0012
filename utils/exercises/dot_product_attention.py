"""Checks of the exercises of chapters/dot_product_attention."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from utils.attention import dot_scores, scaled_dot_scores
from utils.exercises.checking import (
    LargestTensor,
    Mistake,
    ReadersFunction,
    as_number,
    as_tensor,
    choose,
    compare_with_rubric,
    exercise,
    expect,
    expect_close,
    memory_of,
    recognise,
    show,
)
from utils.kernels import nadaraya_watson

Attend = Callable[[Tensor, Tensor, Tensor, int], Tensor]


@exercise(
    1,
    "predict",
    "The typical size of a score is √512, about 22.6. What is it after the division by 512?",
)
def divided_by_d(answer: object) -> Iterator[str]:
    yield from choose(
        answer,
        right="b",
        reason="the typical size of a score becomes √d / d = 0.04. Nearly equal scores give nearly equal weights.",
        wrong={
            "a": "this happens without any division, when the scores differ by 20 or more. "
            "The scores are smaller now.",
            "c": "what cancels in a softmax is a number that is added to all scores. A factor changes the differences.",
            "d": "a positive factor keeps the order of the scores, so the largest stays the largest.",
        },
    )


_WEIGHT = math.exp(2) / (math.exp(2) + 3)
_WEIGHT_WITH_5 = math.exp(2.5) / (math.exp(2.5) + 3)
#: Wrong pairs that learners get for exercise 2: first those that are contexts, then those that are not.
OTHER_CONTEXTS = tuple(
    Mistake((8 * weight, 4 * (1 - weight)), f"the context {what}.", hint)
    for weight, what, hint in (
        (
            1 / 10,
            "without the scale: the scores 0 and 2 ln 3",
            "Divide the scores by √d. How many components has a key?",
        ),
        (1 / (1 + math.sqrt(3)), "of scores that are divided by 4", "Divide by √d and not by d."),
        (1 / 2, "of equal weights", "The scores are not equal, so the weights are not."),
        (3 / 4, "of exchanged weights", "The larger score gets the larger weight."),
        (0, "of the second key alone", "A softmax gives something to every key."),
        (_WEIGHT, "with 2 + 2 as the first dot product", "One component of the first key is negative."),
        (
            _WEIGHT_WITH_5,
            "with the 5 of the first key in its score",
            "What does the query have in that place?",
        ),
    )
)
NO_CONTEXTS = (
    Mistake(
        (8, 12),
        "is the sum of the values, each times its exponential. The exponentials are not weights yet.",
        "Divide by the sum of the exponentials, 1 + 3.",
    ),
    Mistake(
        (1 / 4, 3 / 4), "are the two weights.", "The context is the sum of the values, each times its weight."
    ),
    Mistake((0, math.log(3)), "are the two scores.", "Turn them into weights, and then average the values."),
    Mistake((3, 2), "is the context with its two numbers exchanged.", "The first value is (8, 0)."),
)


@exercise(
    2,
    "compute",
    "First the two dot products, then the division by √4, then the weights, then the context.",
    "The scores are 0 and ln 3, so the exponentials are 1 and 3.",
)
def context_by_hand(first: object, second: object) -> Iterator[str]:
    context = [as_number(first, name="c1"), as_number(second, name="c2")]

    pair = f"({show(context[0])}, {show(context[1])}) "
    recognise(context, OTHER_CONTEXTS, f"{pair}is ", tolerance=0.02)
    recognise(context, NO_CONTEXTS, pair, tolerance=0.02)
    expect(
        abs(context[0] / 8 + context[1] / 4 - 1) < 0.006,
        f"({show(context[0])}, {show(context[1])}) belongs to the weights {show(context[0] / 8)} and "
        f"{show(context[1] / 4)}, and these do not sum to 1.",
        "The first component is 8 times the first weight, the second is 4 times the second weight.",
    )
    yield "the weights behind your context sum to 1"
    expect(
        abs(context[0] - 2) < 0.02,
        f"({show(context[0])}, {show(context[1])}) is the context of other weights.",
    )
    yield "the weights are 1/4 and 3/4, so the context is (2, 3)"


_EXPONENT = "The softmax takes the exponential. Return what stands in the exponent."
#: Wrong differences in exercise 3: the score of the key 6 minus the score of the key 0, for the query 1.
SECOND_MINUS_FIRST = (
    Mistake((6,), "that of the dot product alone", "Which term is missing that differs from key to key?"),
    Mistake(
        (-30,),
        "the whole squared length is taken away",
        "The Gaussian kernel has ½ of the squared distance.",
    ),
    Mistake((24,), "the squared length is added", "Long keys are far away, so they must lose."),
    Mistake((12,), "every score has the wrong sign", "A key that is far away has a low score."),
    Mistake((3,), "half the length is taken away", "The term is half the *squared* length."),
    Mistake((1,), "that of the cosine", "A dot product is not divided by the lengths."),
    Mistake((-4,), "the distance is not squared", "The Gaussian kernel has ½ of the *squared* distance."),
    Mistake((math.exp(-12.5) - math.exp(-0.5),), "this is the kernel", _EXPONENT),
    Mistake((math.exp(-12) - 1,), "these are exponentials", _EXPONENT),
    Mistake(
        (-24,),
        "the ½ of the squared distance is missing",
        "The kernel of bandwidth 1 has the exponent −½‖q − k‖².",
    ),
)


@exercise(
    3,
    "implement",
    "Multiply out −½‖q − k‖². Which of its three terms is the same for all keys?",
    "Half the squared length of each key has the shape (n,). It broadcasts over the rows of the scores.",
)
def gaussian_scores(answer: ReadersFunction) -> Iterator[str]:
    query, keys = torch.tensor([[1.0]]), torch.tensor([[0.0], [6.0]])
    both_scores = as_tensor(answer(query, keys), name="the result")
    expect(
        tuple(both_scores.shape) == (1, 2),
        f"for 1 query and 2 keys the result has the shape {tuple(both_scores.shape)}; expected (1, 2).",
        "Rows are queries, columns are keys.",
    )
    both_scores = both_scores[0]
    difference = (both_scores[1] - both_scores[0]).item()
    example = "For the query [1] and the keys [0] and [6]"
    case = f"{example} the second score minus the first is {show(difference)}"
    expect(both_scores.isfinite().all(), f"{example} the result is {show(both_scores)}.")
    expect(
        abs(both_scores.sum() - 1) > 2e-6 or both_scores.min() <= 0,
        f"{example} the result is {show(both_scores)}: these are weights.",
        "Return the scores, before the softmax.",
    )
    recognise(
        [difference],
        SECOND_MINUS_FIRST,
        f"{case}: ",
        ". Expected −12.",
        tolerance=1e-3,
    )
    expect(abs(difference + 12) < 1e-3, f"{case}; expected −12.")
    yield "a long key loses half its squared length"
    queries, keys = _normal((3, 5), (7, 5))
    result = answer(queries, keys)
    scores = as_tensor(result, shape=(3, 7), name="for 3 queries and 7 keys the result")
    _expect_not_half(result, "the result")
    weights = torch.softmax(scores, dim=-1)
    _, expected = nadaraya_watson(queries, keys, keys)
    penalty = keys.square().sum(-1) / 2
    for what, scaled in (
        ("dot products", scaled_dot_scores(queries, keys) - penalty),
        ("scores", (dot_scores(queries, keys) - penalty) / math.sqrt(5)),
    ):
        expect(
            not torch.allclose(weights, torch.softmax(scaled, dim=-1).double(), atol=1e-4),
            f"For width 5 the first weight is {show(weights[0, 0].item())}; expected {show(expected[0, 0].item())}. "
            f"Your {what} are divided by √5.",
            "The squared distance has no scale.",
        )
    expect_close(weights, expected.double(), "For 3 queries and 7 keys of width 5", name="the weight")
    yield "for keys of any length the softmax gives the weights of the kernel"
    with LargestTensor() as largest:
        answer(*_normal((31, 41), (37, 41)))
    expect(
        math.prod(largest.shape) < 31 * 37 * 41 // 2,
        f"For 31 queries and 37 keys of width 41 your function makes a tensor of shape {largest.shape}: "
        "a number for each query, key and component, as in the differences of all queries and keys.",
        "Use the product of matrices `queries @ keys.T`.",
    )
    yield f"the largest tensor has the shape {largest.shape}, without all differences"


@exercise(
    4,
    "implement",
    "When the largest score grows from a to b, all old exponentials are too large by the factor e^(b − a).",
    "Multiply both sums by e^(a − b) before you add the new block. At the end divide one sum by the other.",
)
def attend_in_blocks(answer: ReadersFunction) -> Iterator[str]:
    def attend(queries: Tensor, keys: Tensor, values: Tensor, block: int) -> Tensor:
        result = answer(queries, keys, values, block)
        expect(
            not isinstance(result, tuple),
            "the function returns several things; expected the context alone.",
            "End it with `return` and one tensor.",
        )
        shape = (len(queries), values.shape[1])
        many = f"{len(queries)} {'query' if len(queries) == 1 else 'queries'}"
        context = as_tensor(
            result,
            "Each query has one context, which is as wide as a value.",
            shape=shape,
            name=f"for {many} the context",
        )
        _expect_not_half(result, "the context")
        return context

    yield from _three_keys_by_hand(attend)
    yield from _equals_the_layer(attend)
    yield _looks_at_one_block_at_a_time(answer)


def _looks_at_one_block_at_a_time(answer: ReadersFunction) -> str:
    m, n, block = 23, 83, 5
    queries, keys, values = _normal((m, 3), (n, 3), (n, 2))
    with LargestTensor() as tensors:
        answer(queries, keys, values, block)
    if not tensors.shapes:  # numpy or lists
        large_inputs = _normal((307, 2), (311, 2), (311, 1))
        expect(
            memory_of(lambda: answer(*large_inputs, block)) < 4 * 307 * 311,
            "for 307 queries, 311 keys and blocks of 5 your function needs the memory of all scores.",
            "Take the next `block` keys only, and compute the scores of these.",
        )
        return "for 307 queries and 311 keys it needs less memory than all scores would"
    case = f"for {m} queries, {n} keys and blocks of {block} your function"
    next_block = "Take the next `block` keys only, and compute the scores of these."
    inputs = {(n, 3), (3, n), (n, 2), (2, n)}
    for shape in sorted(tensors.shapes, key=math.prod, reverse=True):
        sizes = tuple(size for size in shape if size > 1)
        expect(n not in sizes or sizes in inputs, f"{case} makes a tensor of shape {shape}.", next_block)
    expect(  # a loop over single keys makes several tensors for each of them
        any(block in shape for shape in tensors.shapes) or tensors.num_made >= 2 * n,
        f"{case} never looks at {block} keys: it makes tensors of the shapes "
        f"{', '.join(map(str, sorted(tensors.shapes, key=math.prod)[-3:]))}.",
        "`keys[start:start + block]` has the next `block` keys.",
    )
    expect(
        tensors.peak < m * n,
        f"{case} keeps up to {tensors.peak:,} numbers at one time, and all scores are {m * n:,}.",
        "Keep no scores and no exponentials of earlier blocks, only their sums.",
    )
    return (
        f"for {m} queries and {n} keys it keeps at most {tensors.peak:,} numbers at one time, and all scores are "
        f"{m * n:,}"
    )


def _three_keys_by_hand(attend: Attend) -> Iterator[str]:
    query, keys = torch.ones(1, 1), torch.tensor([[0.0], [math.log(3)], [0.0]])
    values = torch.tensor([[1.0], [5.0], [11.0]])
    case = "for the scores [0, ln 3, 0], the values [1, 5, 11] and"
    mistakes = {
        3: {
            17: ("the weights do not sum to 1", "Divide by the sum of the exponentials of one query."),
            9: ("the sum of the values is not divided", "Divide by the sum of the exponentials at the end."),
        },
        1: {
            17: (
                "each block has weights of its own, which sum to 1",
                "A softmax of one block knows nothing of the other blocks.",
            ),
            17 / 3: ("this is the mean of the blocks", "A block with larger scores must count more."),
            29 / 7: ("the sums were not corrected", "A larger score turned up in the second block."),
            27 / 7: ("the sum of the exponentials was not corrected", "Both sums must become smaller."),
            29 / 5: ("the sum of the values was not corrected", "Both sums must become smaller."),
        },
        2: {
            4: ("the last key has no part in it", "The last block may be shorter than the others."),
            4.5: (
                "zeros after the last key have got a share",
                "A key of zeros has the score 0, and e^0 is 1.",
            ),
        },
    }
    for block, wrong_contexts in mistakes.items():
        context = attend(query, keys, values, block).item()
        sentence = f"{case} blocks of {block} the context is {show(context)}; expected 5.4"
        expect(
            math.isfinite(context),
            f"{sentence}.",
            "Before the first block the largest score is −∞. What does your factor become when it grows from there?",
        )
        for number, (message, hint) in wrong_contexts.items():
            expect(abs(context - number) > 1e-3, f"{sentence}: {message}.", hint)
        expect(abs(context - 5.4) < 1e-3, f"{sentence}.")
        yield f"blocks of {block} are right for three keys"


def _equals_the_layer(attend: Attend) -> Iterator[str]:
    queries, keys, values = _normal((3, 5), (11, 5), (11, 2))
    context = attend(queries, keys, values, 4)
    unscaled = torch.softmax(dot_scores(queries, keys), dim=-1) @ values
    expect(
        not torch.allclose(context, unscaled.double(), atol=1e-4),
        f"for keys of width 5 the first number of the context is {show(context[0, 0].item())}: "
        "the scores are not divided by √5.",
        "`DotProductAttention` has the scale 1/√d.",
    )
    over_queries = torch.softmax(scaled_dot_scores(queries, keys), dim=0) @ values
    expect(
        not torch.allclose(context, over_queries.double(), atol=1e-4),
        "for 3 queries the weights of each key sum to 1; expected that the weights of each query do.",
        "The sum of the exponentials runs over the keys.",
    )
    for factor, case in ((1, "3 queries and 11 keys"), (1000, "queries a thousand times as long")):
        loud = factor * queries
        expected = torch.softmax(scaled_dot_scores(loud, keys), dim=-1) @ values
        for block in (4, 1, 7, 20):
            context = attend(loud, keys, values, block)
            expect(
                context.isfinite().all(),
                f"for {case} the context holds {context[~context.isfinite()][:1].tolist()}.",
                "Subtract the largest score, also that of the new block, before you take the exponential.",
            )
            expect_close(context, expected, f"for {case} and blocks of {block}", name="the context")
        yield f"for {case} it equals `DotProductAttention`"
    low, keys = -1000 * torch.ones(3, 5), keys.abs() + 1
    context, expected = (
        attend(low, keys, values, 4),
        torch.softmax(scaled_dot_scores(low, keys), dim=-1) @ values,
    )
    expect(
        context.isfinite().all(),
        f"for scores that all lie below −1000 the context holds {context[~context.isfinite()][:1].tolist()}.",
        "Which number is the largest score so far, before the first block? 0 is larger than all these scores.",
    )
    expect_close(context, expected, "for scores that all lie below −1000", name="the context")
    yield "low scores do no harm"


def _normal(*shapes: tuple[int, ...]) -> list[Tensor]:
    generator = torch.Generator().manual_seed(5)
    return [torch.randn(shape, generator=generator) for shape in shapes]


def _expect_not_half(result: object, name: str) -> None:
    dtype = getattr(result, "dtype", None)
    expect(
        dtype not in (torch.float16, torch.bfloat16),
        f"{name} is of the type {dtype}, which keeps only two or three digits.",
        "Compute in the type of the inputs, float32.",
    )


@exercise(
    5,
    "experiment",
    "`torch.softmax(scaled_dot_scores(x, x), dim=-1)` has the weights of a row for itself on its diagonal.",
    "Draw `x` of shape (500, 10, d), and take the mean of `weights.diagonal(dim1=-2, dim2=-1)`.",
)
def queries_are_keys(own_4: object, own_256: object, width: object) -> Iterator[str]:
    four, wide = as_number(own_4, name="own_4"), as_number(own_256, name="own_256")
    yield f"at d = 4 a row gives itself {_expect_own_weight(four, wide):.2f} of its weight"
    expect(wide > 0.99, f"own_256 is {show(wide)}; expected more than 0.99.")
    yield "at d = 256 a row gives itself nearly all its weight"
    chosen_width = as_number(width, name="width")
    powers = [2**power for power in range(9)]
    expect(
        chosen_width in powers,
        f"width is {show(chosen_width)}; expected one of {show(powers)}.",
        "Measure the mean at each of these nine widths.",
    )
    own_weights = {power: _own_weight(power, scaled_dot_scores) for power in powers}
    expect(
        own_weights[int(chosen_width)] > 0.9,
        f"at width {int(chosen_width)} a row gives itself {own_weights[int(chosen_width)]:.2f} of its weight; "
        "expected more than 0.9.",
        "Try the larger widths, too.",
    )
    smallest = min(power for power in powers if own_weights[power] > 0.9)
    expect(
        chosen_width == smallest,
        f"at width {int(chosen_width)} it is {own_weights[int(chosen_width)]:.3f}, but a smaller width gives more "
        "than 0.9 as well.",
        "Measure all nine widths, and take the first.",
    )
    yield f"from width {smallest} on it gives itself more than 0.9"


def _expect_own_weight(four: float, wide: float) -> float:
    """The mean weight of a row for itself at d = 4, which ``four`` must be."""
    right, unscaled = _own_weight(4, scaled_dot_scores), _own_weight(4, dot_scores)
    expect(
        not abs(four / 100 - right) <= 0.022,
        f"own_4 is {show(four)}: this is in per cent.",
        "A weight is a number from 0 to 1.",
    )
    for number, name in ((four, "own_4"), (wide, "own_256")):
        expect(
            0 <= number <= 1.0001,
            f"{name} is {show(number)}. A weight lies between 0 and 1.",
            "Did you take the scores, or a sum in place of a mean?",
        )
    recognise(
        [four],
        (
            Mistake((unscaled,), "this is the mean weight without the scale.", "Divide the scores by √d."),
            Mistake(
                (_own_weight(4, lambda x, y: dot_scores(x, y) / 4),),
                "this is the mean weight of scores that are divided by 4.",
                "Divide the scores by √d and not by d.",
            ),
        ),
        f"own_4 is {show(four)}: ",
        tolerance=0.012,
    )
    expect(
        not (0.104 < four < 0.13 and 0.2 < wide < 0.4),
        f"own_4 is {show(four)} and own_256 is {show(wide)}: this happens if the numbers lie between 0 and 1.",
        "Standard normal numbers have mean 0: take `torch.randn`, and not `torch.rand`.",
    )
    expect(
        abs(four - 0.1) > 0.03,
        f"own_4 is {show(four)}, the mean of all weights of a row, which is 1/10.",
        "Take the weight of each row for itself, with the same `x` as queries and as keys.",
    )
    expect(
        four < 0.99 or abs(wide - right) > 0.022,
        f"own_4 is {show(four)} and own_256 is {show(wide)}: the two are exchanged.",
        "The wider the vectors, the more a row gives to itself.",
    )
    largest = _own_weight(4, scaled_dot_scores, largest=True)
    expect(
        abs(four - right) < 0.022 and abs(four - right) < abs(four - largest),
        f"own_4 is {show(four)}; the mean over 5,000 rows is another number.",
        "Take the weight of each row for itself, which is not always the largest one, and the mean over the 10 rows of "
        "500 tensors. The mean of a few tensors is often further off.",
    )
    return right


def _own_weight(d: int, score: Callable[[Tensor, Tensor], Tensor], *, largest: bool = False) -> float:
    """Mean weight of a row for itself, or the mean of the largest weight of each row."""
    x = torch.randn(500, 10, d, generator=torch.Generator().manual_seed(11))
    weights = torch.softmax(score(x, x), dim=-1)
    return (weights.amax(dim=-1) if largest else weights.diagonal(dim1=-2, dim2=-1)).mean().item()


@exercise(6, "open")
def without_the_scale(answer: object) -> Iterator[str]:
    yield from compare_with_rubric(
        answer,
        (
            "It says how large the scores are at the start: the variance of a score is d, so at d = 512 their typical "
            "size is about 23.",
            "It says what the softmax makes of them: most queries give nearly all their weight to one random word.",
            "It says why learning is slow: each entry of the Jacobian is α(1 − α) or −αα', which is nearly 0 when one "
            "weight is nearly 1.",
            "It answers the colleague: the matrices could learn the factor, but they learn by this gradient, which is "
            "nearly 0 for many queries.",
            "It says what the scale does: the variance becomes 1 at every width, for components that are independent "
            "with mean 0 and variance 1.",
        ),
    )
