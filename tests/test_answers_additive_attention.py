"""Answers to the exercises of chapters/additive_attention."""

import math

import numpy as np
import torch
from answers import Answers
from torch import nn

from utils.exercises import additive_attention as check

answers = Answers(check)

# ---- Exercise 1 ----

for letter in ("b", "B.", "(b)"):
    answers.right(check.one_unit, letter)
answers.wrong(check.one_unit, "a", says="is inside the tanh", hint="differs between the words")
answers.wrong(check.one_unit, "c", says="when w_v changes its sign", hint="differs between the words")
answers.wrong(check.one_unit, "d", says="would need equal keys", hint="differs between the words")
answers.wrong(check.one_unit, "the same", says="none of the choices", hint="one letter in quotes")

# ---- Exercise 2 ----

answers.right(check.sizes_of_the_paper, 3_001_000, 800_000_000)
answers.right(check.sizes_of_the_paper, torch.tensor(3_001_000), 8e8)
for parameters, says, hint in (
    (3_000_000, "without w_v", "each hidden unit"),
    (3_000_001, "w_v counts as one number", "each hidden unit"),
    (3_001_001, "a bias for w_v", "no bias"),
    (3_002_000, "a bias for each hidden unit", "no bias"),
    (3_003_000, "for W_q and one for W_k", "no bias"),
    (12_004_000, "the bytes of the parameters", "not their bytes"),
    (800_000_000, "the bytes of the tensor", "comes first"),
    ("3,001,000", "the text '3,001,000'", "without commas"),
    (3_003_001, "three biases", "no bias"),
    (1000 * 1000 * 2000, "product of the three widths", "Add these two"),
    (4_001_000, "num_parameters is 4,001,000", "shapes of W_q"),
):
    answers.wrong(check.sizes_of_the_paper, parameters, 800_000_000, says=says, hint=hint)
for size, says, hint in (
    (80 * 50 * 50 * 1000, "how many numbers", "4 bytes"),
    (80 * 50 * 50 * 4, "bytes of the scores", "h numbers"),
    (50 * 50 * 1000 * 4, "one sentence pair", "80 pairs"),
    (80 * 50 * 1000 * 4, "the projected keys", "every query"),
    (80 * 50 * 50 * 1000 * 32, "the bits", "8 bits"),
    (800, "num_bytes is 800: ", "number of bytes"),
    (762.9, "num_bytes is 762.9: ", "number of bytes"),
    (0.8, "num_bytes is 0.8: ", "number of bytes"),
    (1_600_000_000, "numbers of 8 bytes", "32 bits"),
    (80 * 50 * 50 * 3000 * 4, "num_bytes is 2,400,000,000", "four sizes"),
):
    answers.wrong(check.sizes_of_the_paper, 3_001_000, size, says=says, hint=hint)

# ---- Exercise 3 ----


def scale_by_formula(weight, num_keys):
    return 0.5 * math.log(weight * (num_keys - 1) / (1 - weight))


def scale_by_torch(weight, num_keys):
    return torch.logit(torch.tensor([weight], dtype=torch.float64)) / 2 + math.log(num_keys - 1) / 2


def scale_by_trial(weight, num_keys):
    low, high = 0.0, 50.0
    for _ in range(60):
        scale = (low + high) / 2
        reached = math.exp(scale) / (math.exp(scale) + (num_keys - 1) * math.exp(-scale))
        low, high = (scale, high) if reached < weight else (low, scale)
    return low


def constant(weight, num_keys):
    return 1.0


def without_the_half(weight, num_keys):
    return math.log(weight * (num_keys - 1) / (1 - weight))


def logarithm_to_the_base_ten(weight, num_keys):
    return 0.5 * math.log10(weight * (num_keys - 1) / (1 - weight))


def upside_down(weight, num_keys):
    return 0.5 * math.log((1 - weight) / (weight * (num_keys - 1)))


def all_keys_counted(weight, num_keys):
    return 0.5 * math.log(weight * num_keys / (1 - weight))


def two_keys_only(weight, num_keys):
    return 0.5 * math.log(weight / (1 - weight))


def the_weight(weight, num_keys):
    return weight


def for_the_wrong_count(weight, num_keys):
    return 0.5 * math.log(weight * (num_keys - 1) ** 2 / (1 - weight))


def of_a_weight_of_one(weight, num_keys):
    return math.inf


answers.right(check.scale_for, scale_by_formula)
answers.right(check.scale_for, scale_by_torch)
answers.right(check.scale_for, scale_by_trial)
answers.wrong(check.scale_for, constant, says="the same for the weight 0.6", hint="needs a larger λ")
answers.wrong(check.scale_for, without_the_half, says="twice as large", hint="differ by 2λ")
answers.wrong(check.scale_for, logarithm_to_the_base_ten, says="to the base 10", hint="natural logarithm")
answers.wrong(check.scale_for, upside_down, says="the wrong sign", hint="larger score")
answers.wrong(check.scale_for, all_keys_counted, says="came twice", hint="how often")
answers.wrong(check.scale_for, two_keys_only, says="and the same for 1000 keys", hint="999")
answers.wrong(
    check.scale_for, the_weight, says="the first of 2 keys gets the weight 0.858", hint="n − 1 times"
)
answers.wrong(check.scale_for, for_the_wrong_count, says="the first of 3 keys", hint="n − 1 times")
answers.wrong(check.scale_for, of_a_weight_of_one, says="the scale is inf", hint="n − 1 times")

# ---- Exercise 4 ----


def loop_over_queries(queries, keys, w_q, w_k, w_v):
    projected = keys @ w_k.T
    return torch.stack([torch.tanh(w_q @ q + projected) @ w_v for q in queries])


def loop_over_pairs(queries, keys, w_q, w_k, w_v):
    rows = []
    for q in queries.tolist():
        row = []
        for k in keys.tolist():
            score = 0.0
            for a, b, v in zip(w_q.tolist(), w_k.tolist(), w_v.tolist(), strict=True):
                from_query = sum(x * y for x, y in zip(a, q, strict=True))
                score += v * math.tanh(from_query + sum(x * y for x, y in zip(b, k, strict=True)))
            row.append(score)
        rows.append(row)
    return rows


def einsum_in_float64(queries, keys, w_q, w_k, w_v):
    projected = torch.einsum("nd,hd->nh", keys.double(), w_k.double())
    asked = torch.einsum("md,hd->mh", queries.double(), w_q.double())
    return [torch.einsum("nh,h->n", torch.tanh(a + projected), w_v.double()) for a in asked]


def loop_over_units(queries, keys, w_q, w_k, w_v):
    asked, projected = queries @ w_q.T, keys @ w_k.T
    scores = torch.zeros(len(queries), len(keys))
    for unit, number in enumerate(w_v):
        scores += number * torch.tanh(asked[:, unit, None] + projected[:, unit])
    return scores


def in_numpy(queries, keys, w_q, w_k, w_v):
    projected = keys.numpy() @ w_k.numpy().T
    return np.stack([np.tanh(w_q.numpy() @ q + projected) @ w_v.numpy() for q in queries.numpy()])


def all_at_once(queries, keys, w_q, w_k, w_v):
    return torch.tanh((queries @ w_q.T)[:, None] + keys @ w_k.T) @ w_v


def without_the_tanh(queries, keys, w_q, w_k, w_v):
    return torch.stack([(w_q @ q + keys @ w_k.T) @ w_v for q in queries])


def without_w_v(queries, keys, w_q, w_k, w_v):
    return torch.stack([torch.tanh(w_q @ q + keys @ w_k.T).sum(-1) for q in queries])


def tanh_at_the_end(queries, keys, w_q, w_k, w_v):
    return torch.stack([torch.tanh((w_q @ q + keys @ w_k.T) @ w_v) for q in queries])


def weights(queries, keys, w_q, w_k, w_v):
    return torch.softmax(loop_over_queries(queries, keys, w_q, w_k, w_v), dim=-1)


def keys_as_rows(queries, keys, w_q, w_k, w_v):
    return loop_over_queries(queries, keys, w_q, w_k, w_v).T.contiguous().reshape(len(keys), -1)


def mean_of_the_queries(queries, keys, w_q, w_k, w_v):
    return loop_over_queries(queries.mean(0, keepdim=True).expand_as(queries), keys, w_q, w_k, w_v)


def written_into_the_queries(queries, keys, w_q, w_k, w_v):
    queries *= 2
    return loop_over_queries(queries / 2, keys, w_q, w_k, w_v)


def for_one_width(queries, keys, w_q, w_k, w_v):
    return torch.tanh(queries @ w_q + keys @ w_k) @ w_v


def one_row_after_the_other(queries, keys, w_q, w_k, w_v):
    return loop_over_queries(queries, keys, w_q, w_k, w_v).flatten()[None]


def array_of_all_units(queries, keys, w_q, w_k, w_v):
    queries, keys, w_q, w_k, w_v = (part.numpy() for part in (queries, keys, w_q, w_k, w_v))
    return np.tanh((queries @ w_q.T)[:, None] + keys @ w_k.T) @ w_v


def by_vmap(queries, keys, w_q, w_k, w_v, **options):
    return torch.vmap(lambda q: torch.tanh(w_q @ q + keys @ w_k.T) @ w_v, **options)(queries)


def by_vmap_one_by_one(queries, keys, w_q, w_k, w_v):
    return by_vmap(queries, keys, w_q, w_k, w_v, chunk_size=1)


def units_of_all_queries_kept(queries, keys, w_q, w_k, w_v):
    units = [torch.tanh(w_q @ q + keys @ w_k.T) for q in queries]
    return torch.stack([own @ w_v for own in units])


def tanh_of_each_part(queries, keys, w_q, w_k, w_v):
    projected = torch.tanh(keys @ w_k.T)
    return torch.stack([(torch.tanh(w_q @ q) + projected) @ w_v for q in queries])


def scaled_scores(queries, keys, w_q, w_k, w_v):
    return loop_over_queries(queries, keys, w_q, w_k, w_v) / math.sqrt(len(w_v))


def matrices_not_transposed(queries, keys, w_q, w_k, w_v):
    return torch.stack([torch.tanh(q @ w_q + keys @ w_k) @ w_v for q in queries])


for function in (
    *(loop_over_queries, loop_over_pairs, loop_over_units),
    *(einsum_in_float64, in_numpy, by_vmap_one_by_one),
):
    answers.right(check.scores_by_query, function)
answers.wrong(
    check.scores_by_query, by_vmap, says="torch.vmap computes the hidden units", hint="`chunk_size`"
)
answers.wrong(
    check.scores_by_query, all_at_once, says="a tensor of shape (31, 37, 41)", hint="one after the other"
)
answers.wrong(
    check.scores_by_query, array_of_all_units, says="an array or a list of 31", hint="one after the other"
)
answers.wrong(
    check.scores_by_query, units_of_all_queries_kept, says="keeps up to", hint="not its hidden units"
)
answers.wrong(check.scores_by_query, tanh_of_each_part, says="of each part", hint="the tanh of the sum")
answers.wrong(check.scores_by_query, scaled_scores, says="divided by √11", hint="no factor")
answers.wrong(
    check.scores_by_query, matrices_not_transposed, says="<tensor of shape (5, 2)>", hint="a cell of your own"
)
answers.wrong(check.scores_by_query, without_the_tanh, says="the tanh is missing", hint="before w_v")
answers.wrong(check.scores_by_query, without_w_v, says="w_v is missing", hint="and add")
answers.wrong(check.scores_by_query, tanh_at_the_end, says="comes after w_v", hint="First the tanh")
answers.wrong(check.scores_by_query, weights, says="these are weights", hint="before the softmax")
answers.wrong(check.scores_by_query, keys_as_rows, says="has the shape (2, 1)", hint="columns are keys")
answers.wrong(
    check.scores_by_query, mean_of_the_queries, says="7 keys of width 3 and h = 11, the score", hint="query i"
)
answers.wrong(
    check.scores_by_query, written_into_the_queries, says="changes what it is given", hint="new object"
)
answers.wrong(check.scores_by_query, for_one_width, says="has the shape (2,)", hint="columns are keys")
answers.wrong(
    check.scores_by_query, one_row_after_the_other, says="has the shape (1, 35)", hint="columns are keys"
)

# ---- Exercise 5 ----


def units(c, *, bias=1.0):
    """W_q, W_k and w_v of the score with four units."""
    w_k = torch.tensor([[c, 0, bias], [-c, 0, bias], [0, c, bias], [0, -c, bias]])
    return -w_k * torch.tensor([1.0, 1.0, 0.0]), w_k, torch.ones(4)


queries, keys, ones = units(0.1)
answers.right(check.peaks, queries, keys, ones)
answers.right(check.peaks, queries.tolist(), keys.tolist(), [1, 1, 1, 1])
answers.right(check.peaks, *units(0.3, bias=2.0))
answers.right(check.peaks, keys, queries, 3 * ones[None])
answers.right(check.peaks, nn.Parameter(queries), nn.Parameter(keys), nn.Parameter(ones[None]))
answers.wrong(check.peaks, *units(1.0), says="for 96.5 of 100 spots; expected 99.", hint="smaller c")
answers.wrong(check.peaks, *units(3.0), says="for 66.4 of 100 spots; expected 99.", hint="smaller c")
answers.wrong(check.peaks, queries, keys, -ones, says="has the lowest score", hint="sign of `peak_v`")
answers.wrong(check.peaks, -queries, keys, ones, says="5.9 of 100", hint="Which sign")
answers.wrong(check.peaks, queries, units(1.0)[1], ones, says="24.7 of 100", hint="which size")
answers.wrong(check.peaks, *units(0.1, bias=0.0), says="No unit has the 1", hint="constant 1")
answers.wrong(
    check.peaks,
    queries,
    keys,
    torch.tensor([1.0, -1, 1, -1]),
    says="The four units are right, and `peak_v` is not",
    hint="subtract",
)
answers.wrong(check.peaks, *units(0.0), says="all words have the same score", hint="from the key")
answers.wrong(
    check.peaks, queries[:, :2], keys, ones, says="peak_q has the shape (4, 2)", hint="In the first unit"
)
answers.wrong(
    check.peaks, queries, keys.T, ones, says="peak_k has the shape (3, 4)", hint="In the first unit"
)
answers.wrong(
    check.peaks,
    torch.ones(32, 3),
    torch.ones(32, 3),
    torch.ones(32),
    says="32 hidden units",
    hint="first unit",
)
answers.wrong(check.peaks, queries[:2], keys[:2], ones[:2], says="does not see the second", hint="Two more")

# ---- Exercise 6 ----

answers.right(
    check.mirror_image,
    "Without a bias the tanh of minus x is minus the tanh of x, so all scores change their sign, and the best word "
    "becomes the worst. The right word stays the same, so one of the two answers is wrong.",
)
answers.wrong(check.mirror_image, "The tanh is odd.", says="Your answer has 4 words", hint="before you look")
answers.wrong(check.mirror_image, 0.5, says="write a text in quotes", hint="")

test_right, test_wrong, test_number = answers.tests()
