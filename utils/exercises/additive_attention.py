"""Checks of the exercises of chapters/additive_attention."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import pad

from utils.attention import additive_scores
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
    expect_written,
    memory_of,
    recognise,
    show,
)


@exercise(
    1,
    "predict",
    "Inside the tanh stand two numbers, one from the query and one from the key. Which one differs between the words?",
)
def one_unit(answer: object) -> Iterator[str]:
    yield from choose(
        answer,
        right="b",
        reason="the query adds the same number for every word, and the tanh keeps the order, because it always rises.",
        wrong={
            "a": "the query is inside the tanh, but there it adds the same number for every word. "
            "Whatever is added, the larger number has the larger tanh.",
            "c": "the order turns round when w_v changes its sign. The query only adds a number, the same for all.",
            "d": "equal scores would need equal keys. Here W_k gives the words different numbers.",
        },
    )


#: Numbers that learners get for exercise 2.
NUM_PARAMETERS = (
    Mistake((3_000_000,), "these are W_q and W_k without w_v", "w_v has one number for each hidden unit."),
    Mistake((3_000_001,), "w_v counts as one number here", "w_v has one number for each hidden unit."),
    Mistake((3_001_001,), "this counts a bias for w_v", "The layer of this chapter has no bias."),
    Mistake(
        (3_002_000,), "this counts a bias for each hidden unit", "The layer of this chapter has no bias."
    ),
    Mistake(
        (3_003_000,), "this counts a bias for W_q and one for W_k", "The layer of this chapter has no bias."
    ),
    Mistake((3_003_001,), "this counts three biases", "The layer of this chapter has no bias."),
    Mistake(
        (12_004_000,), "these are the bytes of the parameters", "Count the numbers, and not their bytes."
    ),
    Mistake(
        (800_000_000,), "these are the bytes of the tensor", "num_parameters comes first, then num_bytes."
    ),
    Mistake(
        (2_000_000_000,),
        "this is the product of the three widths",
        "Each hidden unit has 1000 numbers for the query and 2000 for the key. Add these two.",
    ),
)
NUM_BYTES = (
    Mistake((200_000_000,), "this is how many numbers the tensor has", "Each number has 4 bytes."),
    Mistake(
        (800_000,), "these are the bytes of the scores", "The tensor holds h numbers for every query and key."
    ),
    Mistake((10_000_000,), "these are the bytes of one sentence pair", "The batch has 80 pairs."),
    Mistake((16_000_000,), "these are the bytes of the projected keys", "Every key meets every query."),
    Mistake((6_400_000_000,), "these are the bits", "A byte has 8 bits."),
    Mistake((1_600_000_000,), "this is right for numbers of 8 bytes", "float32 has 32 bits for each number."),
)


@exercise(
    2,
    "compute",
    "Write down the shapes of W_q, W_k and w_v, and add up their numbers.",
    "The tensor has 80 · 50 · 50 · 1000 numbers. A float32 number has 4 bytes.",
)
def sizes_of_the_paper(num_parameters: object, num_bytes: object) -> Iterator[str]:
    parameters = as_number(num_parameters, name="num_parameters")
    recognise([parameters], NUM_PARAMETERS, f"{parameters:,.0f}: ", ".")
    expect(parameters == 3_001_000, f"num_parameters is {parameters:,.0f}; expected another number.")
    yield "3,001,000 parameters: 1,000 hidden units with 1,000 + 2,000 + 1 numbers each"
    size = as_number(num_bytes, name="num_bytes")
    expect(
        not abs(size) <= 1000,
        f"num_bytes is {show(size)}: this is the number of megabytes or gigabytes.",
        "Write the number of bytes.",
    )
    recognise([size], NUM_BYTES, f"{size:,.0f}: ", ".")
    expect(
        size == 800_000_000,
        f"num_bytes is {size:,.0f}; expected another number.",
        "Multiply the four sizes of the axes, and then by 4.",
    )
    yield "800,000,000 bytes, 4 for each of 80 · 50 · 50 · 1,000 numbers"


@exercise(
    3,
    "implement",
    "The scores are λ and −λ, so the exponentials are e^λ, once, and e^−λ, n − 1 times.",
    "Write the weight p as 1 / (1 + (n − 1) e^−2λ), and solve for λ.",
)
def scale_for(answer: ReadersFunction) -> Iterator[str]:
    def scale(weight: float, num_keys: int) -> float:
        number = as_number(answer(weight, num_keys), name="the scale")
        expect(math.isfinite(number), f"for the weight {weight} and {num_keys} keys the scale is {number}.")
        return number

    first, expected = scale(0.9, 2), math.log(9) / 2
    hints = {
        2: ("it is twice as large as it should be", "The two scores differ by 2λ and not by λ."),
        math.log10(math.e): (
            "it is made with a logarithm to the base 10",
            "Take the natural logarithm, `math.log`.",
        ),
        -1: (
            "it has the wrong sign",
            "Which is the larger score, that of the first key or that of the others?",
        ),
        1 + math.log(2) / math.log(9): (
            "it is too large, as if the score −λ came twice",
            "With n keys, how often does the score −λ come?",
        ),
    }
    for factor, (message, hint) in hints.items():
        expect(
            not math.isclose(first, factor * expected, rel_tol=1e-3),
            f"for the weight 0.9 and 2 keys your λ is {show(first)}: {message}.",
            hint,
        )
    expect(
        abs(first - scale(0.6, 2)) > 1e-6,
        f"your λ is {show(first)} for the weight 0.9, and the same for the weight 0.6.",
        "A larger weight of the first key needs a larger λ.",
    )
    _expect_weight(first, 0.9, 2)
    yield "with 2 keys the first key gets the weight 0.9"
    many = scale(0.9, 1000)
    expect(
        abs(many - first) > 1e-6,
        f"your λ is {show(first)} for 2 keys, and the same for 1000 keys. There the first key gets the weight "
        f"{_first_weight(many, 1000):.3f}; expected 0.9.",
        "Of 1000 keys, 999 have the score −λ.",
    )
    for weight, num_keys in ((0.9, 3), (0.9, 1000), (0.6, 7), (0.99, 11), (0.5, 101)):
        _expect_weight(scale(weight, num_keys), weight, num_keys)
    yield "for more keys λ grows, and the weight is reached"


def _first_weight(scale: float, num_keys: int) -> float:
    return 1 / (1 + (num_keys - 1) * math.exp(min(-2 * scale, 700)))


def _expect_weight(scale: float, weight: float, num_keys: int) -> None:
    reached = _first_weight(scale, num_keys)
    expect(
        abs(reached - weight) < 1e-3,
        f"with your λ, {show(scale)}, the first of {num_keys} keys gets the weight {reached:.3f}; expected {weight}.",
    )


#: Scores that learners get in exercise 4 for the query 1, the keys 0 and 2, the matrices 1 and w_v = 2.
ONE_QUERY = (
    Mistake((2, 6), "the tanh is missing", "Apply the tanh to the sum, before w_v."),
    Mistake((0.7616, 0.9951), "w_v is missing", "Multiply each unit by its number of w_v, and add."),
    Mistake((0.9640, 1.0), "the tanh comes after w_v", "First the tanh, then w_v."),
    Mistake(
        (1.5232, 3.4513),
        "the tanh is taken of each part, and then the parts are added",
        "First add the two parts, then take the tanh of the sum.",
    ),
    Mistake((0.3853, 0.6147), "these are weights", "Return the scores, before the softmax."),
)


@exercise(
    4,
    "implement",
    "One query needs a tensor of shape (n, h): its projection, plus the projections of all keys.",
    "Project all keys before the loop. In the loop over the queries, make one row of scores, and stack the rows.",
)
def scores_by_query(answer: ReadersFunction) -> Iterator[str]:
    queries, keys, matrix = torch.tensor([[1.0]]), torch.tensor([[0.0], [2.0]]), torch.ones(1, 1)
    result = as_tensor(answer(queries, keys, matrix, matrix, torch.tensor([2.0])), name="the result")
    case = "For the query [1], the keys [0] and [2], w_q = w_k = [[1]] and w_v = [2]"
    expect(
        tuple(result.shape) == (1, 2),
        f"{case} the result has the shape {tuple(result.shape)}; expected (1, 2).",
        "Rows are queries, columns are keys.",
    )
    recognise(
        result,
        ONE_QUERY,
        f"{case} the result is {show(result)}: ",
        ". Expected [[1.523, 1.99]].",
        tolerance=1e-3,
    )
    expect_close(result, torch.tensor([[1.5232, 1.9901]]), case, tolerance=1e-3)
    yield "for one query the scores are right"
    case = "For 5 queries of width 2, 7 keys of width 3 and h = 11"
    arrays = _random_layer(5, 7, 2, 3, 11)
    result = as_tensor(answer(*arrays), name="the result")
    expect(
        tuple(result.shape) == (5, 7),
        f"{case} the result has the shape {tuple(result.shape)}; expected (5, 7).",
        "Rows are queries, columns are keys.",
    )
    scores = _scores(*arrays)
    for divisor in (11, 2, 3):
        expect(
            not torch.allclose(result.double(), scores.double() / math.sqrt(divisor), atol=1e-4),
            f"{case} the scores are divided by √{divisor}.",
            "The additive score has no factor 1/√d.",
        )
    expect_close(
        result,
        scores,
        case,
        "Add the projection of query i to the projections of all keys.",
        name="the score",
    )
    yield "rows are queries and columns are keys"
    yield _never_all_units(answer)


def _never_all_units(answer: ReadersFunction) -> str:
    arrays = _random_layer(31, 37, 2, 3, 41)
    with LargestTensor() as largest:
        result = answer(*arrays)
    expect_close(result, _scores(*arrays), "For 31 queries, 37 keys and h = 41", name="the score")
    small_enough = math.prod(largest.shape) < 31 * 37 * 41 // 2
    expect(
        small_enough or not largest.in_vmap,
        "For 31 queries, 37 keys and h = 41 torch.vmap computes the hidden units of all queries at once, in "
        f"{math.prod(largest.shape):,} numbers; 37 · 41 = {37 * 41:,} are enough.",
        "`torch.vmap` takes a `chunk_size`. Or go through the queries in a loop.",
    )
    expect(
        small_enough,
        f"For 31 queries, 37 keys and h = 41 your function makes a tensor of shape {largest.shape}, which is "
        f"{math.prod(largest.shape):,} numbers; 37 · 41 = {37 * 41:,} are enough.",
        "Go through the queries one after the other.",
    )
    expect(
        largest.peak < 31 * 37 * 41 // 2,
        f"For 31 queries, 37 keys and h = 41 your function keeps up to {largest.peak:,} numbers at one time.",
        "Keep the scores of a query, and not its hidden units.",
    )
    if largest.shapes:
        return f"the largest tensor has the shape {largest.shape}"
    expect(  # numpy or lists
        memory_of(lambda: answer(*arrays)) < 2 * 31 * 37 * 41,
        "For 31 queries, 37 keys and h = 41 your function makes an array or a list of 31 · 37 · 41 numbers.",
        "Go through the queries one after the other.",
    )
    return "no array has h numbers for every query and key"


def _random_layer(
    num_queries: int, num_keys: int, d_query: int, d_key: int, d_hidden: int
) -> tuple[Tensor, ...]:
    """Queries, keys, W_q, W_k and w_v."""
    generator = torch.Generator().manual_seed(7)
    shapes = (num_queries, d_query), (num_keys, d_key), (d_hidden, d_query), (d_hidden, d_key), (d_hidden,)
    return tuple(torch.randn(shape, generator=generator) for shape in shapes)


def _scores(queries: Tensor, keys: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Tensor:
    return additive_scores(queries @ w_q.mT, keys @ w_k.mT, w_v)


@exercise(
    5,
    "experiment",
    "In the first unit stands 1 + c k1 − c q1. Write it as a row of `peak_k` times (k1, k2, 1) plus a row of `peak_q` "
    "times (q1, q2, 1).",
    "The first row of `peak_k` is [c, 0, 1], and that of `peak_q` is [−c, 0, 0]. The other three units are like it.",
)
def peaks(peak_q: object, peak_k: object, peak_v: object) -> Iterator[str]:
    for part in (peak_q, peak_k, peak_v):
        expect_written(part)
    w_v = as_tensor(peak_v, name="peak_v").double().flatten()
    h = len(w_v)
    w_q, w_k = (
        as_tensor(part, shape=(h, 3), name=name).double()
        for part, name in ((peak_q, "peak_q"), (peak_k, "peak_k"))
    )
    expect(h <= 8, f"your layer has {h} hidden units; at most 8 are allowed, and 4 are enough.")
    yield f"the shapes are those of a layer with {h} hidden units"
    generator = torch.Generator().manual_seed(5)
    places, spots = (torch.randn(250, 8, 2, generator=generator, dtype=torch.float64) for _ in range(2))
    inputs = [pad(vectors, (0, 1), value=1.0) for vectors in (spots, places)]
    scores = _scores(*inputs, w_q, w_k, w_v)
    right = torch.cdist(spots, places).argmin(-1)

    def share(scores: Tensor) -> float:
        return (scores.argmax(-1) == right).double().mean().item()

    hits = share(scores)
    plain = _scores(*inputs, w_q, w_k, torch.ones_like(w_v))
    message = f"Your layer gives the highest score to the nearest word for {100 * hits:.1f} of 100 spots; expected 99."
    expect(
        (w_q[:, 2] + w_k[:, 2]).any() or not w_k[:, :2].any(),
        f"{message} No unit has the 1 of 1 + x.",
        "Queries and keys end in a constant 1: which number multiplies it?",
    )
    expect(
        (scores.amax(-1) - scores.amin(-1)).min() > 1e-9,
        f"{message} For some spot all words have the same score.",
        "Does each unit get a number from the key? And is c large enough?",
    )
    expect(
        w_k[:, :2].abs().amax(0).min() > 0,
        f"{message} It does not see the {'second' if w_k[:, 0].any() else 'first'} number of a key.",
        "Two units compare the first numbers of key and query. Two more compare the second numbers.",
    )
    expect(
        share(-scores) < 0.9,
        f"{message} For {100 * share(-scores):.1f} of 100 spots the nearest word has the lowest score.",
        "The score has a valley where it should have a peak. Look at the sign of `peak_v`.",
    )
    expect(
        hits > 0.55 or share(plain) < 0.9,
        f"{message} The four units are right, and `peak_v` is not.",
        "Does *g* add its two tanh, or does it subtract one?",
    )
    expect(
        hits > 0.55,
        f"{message} Guessing reaches 12.5.",
        "Where k = q, key and query must cancel in each unit. Which sign and which size have the numbers of `peak_q` "
        "then?",
    )
    expect(
        hits >= 0.99,
        message,
        "The peak is in the right place. Try a smaller c, and then a larger one: which of them helps?",
    )
    yield f"the nearest word has the highest score for {100 * hits:.1f} of 100 spots"


@exercise(6, "open")
def mirror_image(answer: object) -> Iterator[str]:
    yield from compare_with_rubric(
        answer,
        (
            "It says what a change of both signs does: W_q q + W_k k changes its sign, so does its tanh, and so does "
            "the score.",
            "It says what this does to the order of the words: the best word of a sentence is the worst in its mirror "
            "image.",
            "It says why both answers cannot be right: under the rule the right word is the same in the mirror image.",
            "It draws the conclusion for all parameters: at most one of the two answers is right, so at most half of "
            "them all.",
            "It says what the 1 changes: it keeps its sign, so the sum in the tanh does not just change its sign.",
        ),
    )
