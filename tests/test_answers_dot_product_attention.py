"""Answers to the exercises of chapters/dot_product_attention."""

import math

import numpy as np
import torch
from answers import Answers

from utils.exercises import dot_product_attention as check

answers = Answers(check)

# ---- Exercise 1 ----

for letter in ("b", "B", "b)"):
    answers.right(check.divided_by_d, letter)
answers.wrong(check.divided_by_d, "a", says="without any division", hint="22.6")
answers.wrong(check.divided_by_d, "c", says="A factor changes the differences", hint="22.6")
answers.wrong(check.divided_by_d, "d", says="keeps the order", hint="22.6")
answers.wrong(check.divided_by_d, "bd", says="none of the choices", hint="one letter in quotes")

# ---- Exercise 2 ----

answers.right(check.context_by_hand, 2, 3)
answers.right(check.context_by_hand, "2", torch.tensor([3.0]))
for context, says, hint in (
    ((0.8, 3.6), "without the scale", "How many components"),
    ((2.93, 2.54), "divided by 4", "not by d"),
    ((4, 2), "of equal weights", "not equal"),
    ((6, 1), "exchanged weights", "larger weight"),
    ((0, 4), "second key alone", "every key"),
    ((8, 12), "times its exponential", "1 + 3"),
    ((8, 4), "do not sum to 1", "8 times the first weight"),
    ((1, 3.5), "the context of other weights", "First the two dot products"),
    (("two", 3), "the text 'two'", "First the two dot products"),
    ((0.25, 0.75), "are the two weights", "times its weight"),
    ((0, 1.0986), "are the two scores", "Turn them into weights"),
    ((3, 2), "two numbers exchanged", "(8, 0)"),
    ((5.69, 1.155), "2 + 2 as the first dot product", "negative"),
    ((6.419, 0.79), "the 5 of the first key", "in that place"),
):
    answers.wrong(check.context_by_hand, *context, says=says, hint=hint)

# ---- Exercise 3 ----


def one_product(queries, keys):
    return queries @ keys.T - keys.square().sum(-1) / 2


def both_penalties(queries, keys):
    return queries @ keys.T - keys.square().sum(-1) / 2 - queries.square().sum(-1, keepdim=True) / 2


def in_loops(queries, keys):
    return [
        [sum(a * b - b * b / 2 for a, b in zip(q, k, strict=True)) for k in keys.tolist()]
        for q in queries.tolist()
    ]


def in_float64(queries, keys):
    return torch.einsum("md,nd->mn", queries.double(), keys.double()) - keys.double().norm(dim=-1) ** 2 / 2


def wider_vectors(queries, keys):
    ones = torch.ones(len(queries), 1)
    return torch.cat([queries, ones], -1) @ torch.cat([keys, -keys.square().sum(-1, keepdim=True) / 2], -1).T


def dot_product_alone(queries, keys):
    return queries @ keys.T


def the_whole_square(queries, keys):
    return queries @ keys.T - keys.square().sum(-1)


def the_square_added(queries, keys):
    return queries @ keys.T + keys.square().sum(-1) / 2


def the_length(queries, keys):
    return queries @ keys.T - keys.norm(dim=-1) / 2


def differences(queries, keys):
    return -(queries[:, None] - keys).square().sum(-1) / 2


def without_the_half(queries, keys):
    return 2 * one_product(queries, keys)


def the_kernel(queries, keys):
    return both_penalties(queries, keys).exp()


def weights(queries, keys):
    return torch.softmax(one_product(queries, keys), dim=-1)


def scaled(queries, keys):
    return queries @ keys.T / math.sqrt(keys.shape[-1]) - keys.square().sum(-1) / 2


def every_score_scaled(queries, keys):
    return one_product(queries, keys) / math.sqrt(keys.shape[-1])


def opposite_sign(queries, keys):
    return -one_product(queries, keys)


def cosines(queries, keys):
    return torch.nn.functional.normalize(queries, dim=-1) @ torch.nn.functional.normalize(keys, dim=-1).T


def distances(queries, keys):
    return -torch.cdist(queries, keys)


def exponentials(queries, keys):
    return one_product(queries, keys).exp()


def not_a_number(queries, keys):
    return one_product(queries, keys) * math.nan


def in_float16(queries, keys):
    return one_product(queries, keys).half()


def keys_as_rows(queries, keys):
    return one_product(queries, keys).T


def penalty_of_the_queries(queries, keys):
    return queries @ keys.T - (queries.square().sum(-1) / 2)[:, None] - 3 * keys.sum(-1)


for function in (one_product, both_penalties, in_loops, in_float64, wider_vectors):
    answers.right(check.gaussian_scores, function)
answers.wrong(check.gaussian_scores, dot_product_alone, says="the dot product alone", hint="from key to key")
answers.wrong(check.gaussian_scores, the_whole_square, says="the whole squared length", hint="has ½")
answers.wrong(check.gaussian_scores, the_square_added, says="is added", hint="must lose")
answers.wrong(check.gaussian_scores, the_length, says="half the length", hint="*squared*")
answers.wrong(check.gaussian_scores, differences, says="of shape (31, 37, 41)", hint="queries @ keys.T")
answers.wrong(
    check.gaussian_scores, without_the_half, says="the ½ of the squared distance", hint="bandwidth 1"
)
answers.wrong(check.gaussian_scores, the_kernel, says="this is the kernel", hint="in the exponent")
answers.wrong(check.gaussian_scores, weights, says="these are weights", hint="before the softmax")
answers.wrong(check.gaussian_scores, scaled, says="Your dot products are divided by √5", hint="has no scale")
answers.wrong(check.gaussian_scores, every_score_scaled, says="Your scores are divided", hint="has no scale")
answers.wrong(check.gaussian_scores, opposite_sign, says="has the wrong sign", hint="has a low score")
answers.wrong(check.gaussian_scores, cosines, says="that of the cosine", hint="by the lengths")
answers.wrong(check.gaussian_scores, distances, says="the distance is not squared", hint="*squared*")
answers.wrong(check.gaussian_scores, exponentials, says="these are exponentials", hint="in the exponent")
answers.wrong(check.gaussian_scores, not_a_number, says="the result is [nan, nan]", hint="Multiply out")
answers.wrong(check.gaussian_scores, in_float16, says="torch.float16", hint="type of the inputs")
answers.wrong(check.gaussian_scores, keys_as_rows, says="has the shape (2, 1)", hint="columns are keys")
answers.wrong(
    check.gaussian_scores, penalty_of_the_queries, says="3 queries and 7 keys of width 5", hint="Multiply out"
)

# ---- Exercise 4 ----


def online(
    queries,
    keys,
    values,
    block=4,
    *,
    scaled=True,
    totals=True,
    sums=True,
    every=1,
    first=-math.inf,
    sign=1,
    divided=True,
):
    """The online softmax; an option that is switched off is a mistake."""
    largest = queries.new_full((len(queries), 1), first)
    total = queries.new_zeros(len(queries), 1)
    weighted = queries.new_zeros(len(queries), values.shape[1])
    last = len(keys) if every else len(keys) - len(keys) % block
    for start in range(0, last, block):
        stop = start + block
        scores = queries @ keys[start:stop].T / (math.sqrt(queries.shape[-1]) if scaled else 1)
        new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        rescale = torch.exp(sign * (largest - new))
        exponentials = torch.exp(scores - new)
        total = (rescale if totals else 1) * total + exponentials.sum(dim=-1, keepdim=True)
        weighted = (rescale if sums else 1) * weighted + exponentials @ values[start:stop]
        largest = new
    return weighted / total if divided else weighted


def in_python(queries, keys, values, block=4):
    contexts = []
    for q in queries.double():
        largest, total, weighted = -math.inf, 0.0, [0.0] * values.shape[1]
        for start in range(0, len(keys), block):
            for k, v in zip(keys[start : start + block], values[start : start + block], strict=True):
                score = float(q @ k.double()) / math.sqrt(len(q))
                new = max(largest, score)
                rescale, exponential = math.exp(largest - new), math.exp(score - new)
                total = rescale * total + exponential
                weighted = [rescale * w + exponential * float(n) for w, n in zip(weighted, v, strict=True)]
                largest = new
        contexts.append([w / total for w in weighted])
    return contexts


def logarithm_of_the_sum(queries, keys, values, block=4):
    context, level = torch.zeros(len(queries), values.shape[1]), torch.full((len(queries), 1), -math.inf)
    for k, v in zip(keys.split(block), values.split(block), strict=True):
        scores = queries @ k.T / math.sqrt(queries.shape[-1])
        own = scores.logsumexp(-1, keepdim=True)
        both = torch.logaddexp(level, own)
        context = context * (level - both).exp() + torch.softmax(scores, -1) @ v * (own - both).exp()
        level = both
    return context


def in_arrays(queries, keys, values, block=4):
    queries, keys, values = (part.numpy() for part in (queries, keys, values))
    largest, total, weighted = -np.inf, 0, 0
    for start in range(0, len(keys), block):
        scores = queries @ keys[start : start + block].T / np.sqrt(queries.shape[1])
        new = np.maximum(largest, scores.max(axis=1, keepdims=True))
        rescale, exponentials = np.exp(largest - new), np.exp(scores - new)
        total = rescale * total + exponentials.sum(axis=1, keepdims=True)
        weighted = rescale * weighted + exponentials @ values[start : start + block]
        largest = new
    return weighted / total


def one_query_after_the_other(queries, keys, values, block=4):
    return torch.cat([online(query[None], keys, values, block) for query in queries])


def all_scores_in_arrays(queries, keys, values, block=4):
    queries, keys, values = (part.numpy() for part in (queries, keys, values))
    scores = queries @ keys.T / np.sqrt(queries.shape[1])
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True) @ values


def one_key_at_a_time(queries, keys, values, block=4):
    return online(queries, keys, values, 1)


def the_keys_of_a_block_in_a_loop(queries, keys, values, block=4):
    largest, total, weighted = torch.full((len(queries),), -math.inf), 0, 0
    for start in range(0, len(keys), block):
        for place in range(start, min(start + block, len(keys))):
            scores = queries @ keys[place] / math.sqrt(len(keys[place]))
            new = torch.maximum(largest, scores)
            rescale, exponentials = torch.exp(largest - new), torch.exp(scores - new)
            total = rescale * total + exponentials
            weighted = rescale[:, None] * weighted + exponentials[:, None] * values[place]
            largest = new
    return weighted / total[:, None]


def one_query_with_all_keys(queries, keys, values, block=4):
    return torch.stack([scaled_softmax(query[None], keys)[0] @ values for query in queries])


def the_fused_function(queries, keys, values, block=4):
    return torch.nn.functional.scaled_dot_product_attention(queries, keys, values)


def the_scores_of_all_blocks_kept(queries, keys, values, block=4):
    scores = [queries @ k.T / math.sqrt(queries.shape[-1]) for k in keys.split(block)]
    largest = torch.stack([s.amax(dim=-1) for s in scores]).amax(dim=0)[:, None]
    exponentials = [torch.exp(s - largest) for s in scores]
    total = sum(e.sum(dim=-1, keepdim=True) for e in exponentials)
    return sum(e @ v for e, v in zip(exponentials, values.split(block), strict=True)) / total


def largest_score_starts_at_zero(queries, keys, values, block=4):
    return online(queries, keys, values, block, first=0.0)


def opposite_factor(queries, keys, values, block=4):
    return online(queries, keys, values, block, sign=-1)


def never_divided(queries, keys, values, block=4):
    return online(queries, keys, values, block, divided=False)


def context_and_weights(queries, keys, values, block=4):
    return online(queries, keys, values, block), None


def block_ignored(queries, keys, values, block=4):
    return scaled_softmax(queries, keys) @ values


def scaled_softmax(queries, keys, dim=-1):
    return torch.softmax(queries @ keys.T / math.sqrt(queries.shape[-1]), dim=dim)


def mean_of_the_blocks(queries, keys, values, block=4):
    pieces = zip(keys.split(block), values.split(block), strict=True)
    return torch.stack([scaled_softmax(queries, k) @ v for k, v in pieces]).mean(0)


def not_corrected(*inputs):
    return online(*inputs, totals=False, sums=False)


def sum_of_exponentials_not_corrected(*inputs):
    return online(*inputs, totals=False)


def sum_of_values_not_corrected(*inputs):
    return online(*inputs, sums=False)


def shorter_block_left_out(*inputs):
    return online(*inputs, every=0)


def no_scale(*inputs):
    return online(*inputs, scaled=False)


def over_the_queries(queries, keys, values, block=4):
    if len(queries) == 1:
        return online(queries, keys, values, block)
    return scaled_softmax(queries, keys, dim=0) @ values


def weights_that_do_not_sum_to_one(queries, keys, values, block=4):
    return sum(scaled_softmax(queries, k[None], dim=-1) @ v[None] for k, v in zip(keys, values, strict=True))


def exponentials_without_the_largest(queries, keys, values, block=4):
    total, weighted = 0, 0
    for k, v in zip(keys.split(block), values.split(block), strict=True):
        exponentials = torch.exp(queries @ k.T / math.sqrt(queries.shape[-1]))
        total, weighted = total + exponentials.sum(-1, keepdim=True), weighted + exponentials @ v
    return weighted / total


def context_in_float16(*inputs):
    return online(*inputs).half()


def sum_of_the_blocks(queries, keys, values, block=4):
    return len(keys.split(block)) * mean_of_the_blocks(queries, keys, values, block)


def filled_up_with_zeros(queries, keys, values, block=4):
    zeros = torch.zeros(-len(keys) % block, keys.shape[1]), torch.zeros(-len(keys) % block, values.shape[1])
    return online(queries, torch.cat([keys, zeros[0]]), torch.cat([values, zeros[1]]), block)


def values_not_in_blocks(queries, keys, values, block=4):
    exponentials = [torch.exp(queries @ k.T / math.sqrt(queries.shape[-1])) for k in keys.split(block)]
    return sum(e @ values for e in exponentials) / sum(e.sum(-1, keepdim=True) for e in exponentials)


for function in (
    *(online, in_python, in_arrays, logarithm_of_the_sum, one_query_after_the_other),
    *(one_key_at_a_time, the_keys_of_a_block_in_a_loop),
):
    answers.right(check.attend_in_blocks, function)
for function, says, hint in (
    (block_ignored, "a tensor of shape (23, 83)", "next `block` keys"),
    (all_scores_in_arrays, "the memory of all scores", "next `block` keys"),
    (one_query_with_all_keys, "a tensor of shape (1, 83)", "next `block` keys"),
    (the_fused_function, "the shapes (23, 2)", "the next `block` keys"),
    (the_scores_of_all_blocks_kept, "keeps up to", "only their sums"),
    (largest_score_starts_at_zero, "all lie below −1000 the context holds", "before the first block"),
    (opposite_factor, "blocks of 3 the context is nan", "grows from there"),
    (never_divided, "the sum of the values is not divided", "at the end"),
    (context_and_weights, "the context alone", "one tensor"),
    (mean_of_the_blocks, "the mean of the blocks", "must count more"),
    (sum_of_the_blocks, "each block has weights of its own", "of the other blocks"),
    (filled_up_with_zeros, "zeros after the last key", "e^0 is 1"),
    (not_corrected, "the sums were not corrected", "second block"),
    (sum_of_exponentials_not_corrected, "the sum of the exponentials was not", "Both sums"),
    (sum_of_values_not_corrected, "the sum of the values was not", "Both sums"),
    (shorter_block_left_out, "the last key has no part", "may be shorter"),
    (no_scale, "not divided by √5", "1/√d"),
    (over_the_queries, "the weights of each key sum to 1", "over the keys"),
    (weights_that_do_not_sum_to_one, "the weights do not sum to 1", "Divide by the sum"),
    (exponentials_without_the_largest, "thousand times as long the context holds", "Subtract the largest"),
    (context_in_float16, "the context is of the type torch.float16", "type of the inputs"),
    (values_not_in_blocks, "raised RuntimeError", "shape of each step"),
):
    answers.wrong(check.attend_in_blocks, function, says=says, hint=hint)

# ---- Exercise 5 ----

answers.right(check.queries_are_keys, 0.37, 1.0, 32)
answers.right(check.queries_are_keys, torch.tensor(0.3581), "0.9999", [32])
for seed in range(3):  # any 500 tensors
    rows = torch.randn(500, 10, 4, generator=torch.Generator().manual_seed(seed))
    weights = torch.softmax(rows @ rows.mT / 2, dim=-1)
    answers.right(check.queries_are_keys, weights.diagonal(dim1=-2, dim2=-1).mean(), 1.0, 32)
for found, says, hint in (
    ((0.52, 1.0, 32), "without the scale", "√d"),
    ((0.1, 0.1, 32), "the mean of all weights", "for itself"),
    ((0.31, 1.0, 32), "own_4 is 0.31; the mean", "500 tensors"),
    ((0.393, 1.0, 32), "own_4 is 0.393; the mean", "not always the largest"),
    ((0.23, 0.23, 32), "divided by 4", "not by d"),
    ((0.116, 0.295, 32), "lie between 0 and 1", "torch.randn"),
    ((1.0, 0.365, 32), "the two are exchanged", "wider the vectors"),
    ((36.5, 100, 32), "in per cent", "from 0 to 1"),
    ((0.37, 45.2, 32), "own_256 is 45.2. A weight lies", "the scores, or a sum"),
    ((2.0, 16.0, 32), "own_4 is 2. A weight lies", "the scores, or a sum"),
    ((0.37, 0.37, 32), "own_256 is 0.37", "diagonal"),
    ((0.37, 1.0, 16), "at width 16 a row gives itself 0.7", "larger widths"),
    ((0.37, 1.0, 256), "at width 256 it is 1.000", "nine widths"),
    ((0.37, 1.0, 24), "width is 24", "nine widths"),
):
    answers.wrong(check.queries_are_keys, *found, says=says, hint=hint)

# ---- Exercise 6 ----

answers.right(
    check.without_the_scale,
    "At d = 512 the scores have a typical size of 23, so one random word gets all the weight, the Jacobian is nearly "
    "zero, and the matrices that could learn the factor get hardly any gradient.",
)
answers.wrong(
    check.without_the_scale, "It learns slowly.", says="Your answer has 3 words", hint="before you look"
)

test_right, test_wrong, test_number = answers.tests()
