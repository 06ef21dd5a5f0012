"""Answers to the exercises of chapters/masked_softmax."""

import torch
from answers import Answers

from utils.attention import length_mask
from utils.exercises import masked_softmax as check

answers = Answers(check)

# ---- Exercise 1 ----

for letter in ("c", "C", " (c) "):
    answers.right(check.filled_with_zero, letter)
answers.wrong(check.filled_with_zero, "a", says="0 is a score like any other", hint="three exponentials")
answers.wrong(check.filled_with_zero, "b", says="taken from the real words", hint="three exponentials")
answers.wrong(check.filled_with_zero, "d", says="equal weights need equal scores", hint="three exponentials")
answers.wrong(check.filled_with_zero, "e", says="'e' is none", hint="one letter in quotes")
answers.wrong(check.filled_with_zero, 3, says="3 is none", hint="one letter in quotes")

# ---- Exercise 2 ----

answers.right(check.weights_by_hand, 0.25, 0.75, 0)
answers.right(check.weights_by_hand, "1/4", torch.tensor(0.75), [0.0])
answers.wrong(check.weights_by_hand, 0.0065, 0.0196, 0.974, says="without the mask", hint="becomes -inf")
answers.wrong(check.weights_by_hand, 1, 3, 0, says="the exponentials", hint="Divide each")
answers.wrong(
    check.weights_by_hand, 0.25, 0.7, 0.05, says="the padding has the weight 0.05", hint="exponential is 0"
)
answers.wrong(check.weights_by_hand, 0.5, 0.75, 0, says="sum to 1.25", hint="allowed words alone")
answers.wrong(check.weights_by_hand, 0.75, 0.25, 0, says="are exchanged", hint="ln 3 is 3")
answers.wrong(check.weights_by_hand, 0, 1, 0, says="first weight is 0", hint="ratio")
answers.wrong(check.weights_by_hand, -0.25, 1.25, 0, says="negative weight", hint="never negative")
answers.wrong(check.weights_by_hand, 25, 75, 0, says="These are per cent", hint="from 0 to 1")
answers.wrong(check.weights_by_hand, 0.25, 0.75, float("-inf"), says="-inf is a score", hint="exponential")
answers.wrong(check.weights_by_hand, [0.25, 0.75, 0], 0.75, 0, says="w1 holds 3 numbers", hint="one number")
answers.wrong(check.weights_by_hand, "a quarter", 0.75, 0, says="the text 'a quarter'", hint="ln 3")

# ---- Exercise 3 ----


def mask_by_comparing(ids):
    return (ids != 0)[:, None, :]


def mask_by_loops(ids):
    return [[[bool(number) for number in row]] for row in ids.tolist()]


def zeros_and_ones(ids):
    return (ids != 0).long()[:, None, :]


def true_at_the_padding(ids):
    return (ids == 0)[:, None]


def without_the_axis_of_queries(ids):
    return ids != 0


def axis_of_queries_last(ids):
    return (ids != 0)[:, :, None]


def mask_of_the_first_row(ids):
    return (ids[:1] != 0)[:, None].expand(len(ids), 1, -1)


def one_row_for_each_key(ids):
    return (ids != 0)[:, None].expand(-1, ids.shape[1], -1)


def eight_keys(ids):
    return (torch.arange(8) < (ids != 0).sum(1)[:, None])[:, None]


def lengths_for_a_mask(ids):
    return (ids != 0).sum(dim=1)


def written_into_the_ids(ids):
    ids[ids > 0] = 1
    return ids.bool()[:, None]


def without_a_batch(ids):
    return ids[:, :, None, None].squeeze(5) != 0


answers.right(check.mask_from_ids, mask_by_comparing)
answers.right(check.mask_from_ids, mask_by_loops)
answers.wrong(check.mask_from_ids, zeros_and_ones, says="the mask holds", hint="True and False")
answers.wrong(
    check.mask_from_ids, true_at_the_padding, says="it is True at the padding", hint="not that of the padding"
)
answers.wrong(
    check.mask_from_ids,
    without_the_axis_of_queries,
    says="without an axis of queries",
    hint="last two axes",
)
answers.wrong(check.mask_from_ids, axis_of_queries_last, says="shape (3, 5, 1)", hint="in the middle")
answers.wrong(check.mask_from_ids, mask_of_the_first_row, says="of row 1 get", hint="every id of the batch")
answers.wrong(
    check.mask_from_ids, one_row_for_each_key, says="shape (1, 2, 2)", hint="serves all its queries"
)
answers.wrong(check.mask_from_ids, eight_keys, says="shape (1, 1, 8)", hint="one place for each id")
answers.wrong(check.mask_from_ids, lengths_for_a_mask, says="the length of the sentence", hint="of each key")
answers.wrong(check.mask_from_ids, written_into_the_ids, says="changes what it is given", hint="new object")
answers.wrong(check.mask_from_ids, without_a_batch, says="raised", hint="a cell of your own")

# ---- Exercise 4 ----


def smaller_of_both(valid_lens, num_queries):
    return torch.minimum(torch.arange(1, num_queries + 1), valid_lens[:, None])


def smaller_of_both_in_lists(valid_lens, num_queries):
    return [[float(min(i + 1, int(n))) for i in range(num_queries)] for n in valid_lens]


def position_for_length(valid_lens, num_queries):
    return torch.minimum(torch.arange(num_queries), valid_lens[:, None])


def padding_forgotten(valid_lens, num_queries):
    return torch.arange(1, num_queries + 1).expand(len(valid_lens), -1)


def later_words_allowed(valid_lens, num_queries):
    return valid_lens[:, None].expand(-1, num_queries)


def one_length_per_sentence(valid_lens, num_queries):
    return valid_lens


def a_mask(valid_lens, num_queries):
    return length_mask(valid_lens, num_queries)


def longest_sentence_for_queries(valid_lens, num_queries):
    return smaller_of_both(valid_lens, max(3, int(valid_lens.max())))


def larger_of_both(valid_lens, num_queries):
    return torch.maximum(torch.arange(1, num_queries + 1), valid_lens[:, None])


def nothing_at_the_padding(valid_lens, num_queries):
    places = torch.arange(num_queries)
    return torch.where(places < valid_lens[:, None], places + 1, 0)


def last_key_for_length(valid_lens, num_queries):
    return torch.minimum(torch.arange(1, num_queries + 1), valid_lens[:, None] - 1)


def sentences_as_columns(valid_lens, num_queries):
    return smaller_of_both(valid_lens, num_queries).T


def lengths_in_float32(valid_lens, num_queries):
    return smaller_of_both(valid_lens, num_queries).float()


answers.right(check.causal_lens, smaller_of_both)
answers.right(check.causal_lens, smaller_of_both_in_lists)
answers.wrong(check.causal_lens, position_for_length, says="query 0 sees nothing", hint="lengths from 1")
answers.wrong(check.causal_lens, padding_forgotten, says="sees a padded key", hint="than its sentence has")
answers.wrong(check.causal_lens, later_words_allowed, says="which comes later", hint="i + 1 keys")
answers.wrong(check.causal_lens, one_length_per_sentence, says="one length per sentence", hint="column")
answers.wrong(check.causal_lens, a_mask, says="the result is a mask", hint="a number for each query")
answers.wrong(check.causal_lens, longest_sentence_for_queries, says="the shape is (2, 5)", hint="num_queries")
answers.wrong(check.causal_lens, larger_of_both, says="the larger of two limits", hint="smaller one decides")
answers.wrong(check.causal_lens, nothing_at_the_padding, says="position, sees nothing", hint="all real words")
answers.wrong(check.causal_lens, last_key_for_length, says="does not see key 1, itself", hint="keys 0 and 1")
answers.wrong(check.causal_lens, sentences_as_columns, says="the shape is (3, 1)", hint="one row for each")
answers.wrong(check.causal_lens, lengths_in_float32, says="`length_mask` refuses", hint="integers")

# ---- Exercise 5 ----

BAD = torch.tensor([[0.0, 0.0, 150.0, 0.0]])


def softmax_times_mask(scores, mask):
    weights = torch.softmax(scores, dim=-1) * mask
    return weights / weights.sum(dim=-1, keepdim=True)


def without_the_division(scores, mask):
    return torch.softmax(scores, dim=-1) * mask


def without_the_mask(scores, mask):
    weights = torch.softmax(scores, dim=-1)
    return weights / weights.sum(dim=-1, keepdim=True)


def mask_before_the_softmax(scores, mask):
    return torch.softmax(scores * mask, dim=-1)


def divided_by_the_sum_of_all(scores, mask):
    weights = torch.softmax(scores, dim=-1) * mask
    return weights / weights.sum()


def in_float64(scores, mask):
    return softmax_times_mask(scores.double(), mask)


def exponentials_times_mask(scores, mask):
    exponentials = scores.exp() * mask
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def masked_softmax(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)


def opposite_mask(scores, mask):
    return softmax_times_mask(scores, ~mask)


def sums_over_the_queries(scores, mask):
    weights = torch.softmax(scores, dim=0) * mask
    return weights / weights.sum(dim=0)


def allowed_keys_alone(scores, mask):
    return torch.softmax(scores[mask], dim=-1)


def with_a_small_number(scores, mask):
    weights = torch.softmax(scores, dim=-1) * mask
    return weights / (weights.sum(dim=-1, keepdim=True) + 1e-9)


answers.right(check.renormalised, with_a_small_number, [[0, 0, 50, 0]])
answers.right(check.renormalised, softmax_times_mask, BAD)
answers.right(check.renormalised, softmax_times_mask, [[-100, -150, 0, 100]])
answers.wrong(check.renormalised, without_the_division, BAD, says="they sum to 3/7", hint="by its sum")
answers.wrong(check.renormalised, without_the_mask, BAD, says="the mask has no effect", hint="by the mask")
answers.wrong(check.renormalised, opposite_mask, BAD, says="the forbidden key gets", hint="may attend")
answers.wrong(check.renormalised, sums_over_the_queries, BAD, says="run over the queries", hint="dim=-1")
answers.wrong(check.renormalised, allowed_keys_alone, BAD, says="the shape (2,)", hint="keeps its place")
answers.wrong(check.renormalised, exponentials_times_mask, BAD, says="[100, 100]", hint="`torch.softmax`")
answers.wrong(
    check.renormalised, masked_softmax, BAD, says="[[0, 0, 150, 0]] your function", hint="three steps"
)
answers.wrong(
    check.renormalised, in_float64, [[0, 9, 150, 0]], says="[[0, 9, 150, 0]] your function", hint="in float32"
)
answers.wrong(check.renormalised, mask_before_the_softmax, BAD, says="expected 0.3333", hint="Softmax first")
answers.wrong(
    check.renormalised, divided_by_the_sum_of_all, BAD, says="(2, 3, 5), the result", hint="keepdim"
)
answers.wrong(check.renormalised, softmax_times_mask, min, says="is a function, not", hint="lists of numbers")
answers.wrong(check.renormalised, BAD, BAD, says="got a Tensor; expected a function", hint="parentheses")
answers.wrong(
    check.renormalised,
    softmax_times_mask,
    [[0, 0, 50, 0]],
    says="both ways give the same weights",
    hint="has the number",
)
answers.wrong(
    check.renormalised, softmax_times_mask, [0, 0, 150, 0], says="has the shape (4,)", hint="one row of four"
)
answers.wrong(
    check.renormalised,
    softmax_times_mask,
    [[0, 0, 1e4, 0]],
    says="between -200 and 200",
    hint="far enough apart",
)

# ---- Exercise 6 ----

answers.right(check.empty_row, "All scores are -inf, the sum is zero and every weight becomes NaN, " * 3)
answers.wrong(check.empty_row, "It breaks.", says="Your answer has 2 words", hint="before you look")

test_right, test_wrong, test_number = answers.tests()
