"""Answers to the exercises of chapters/sentence_length."""

import math
from itertools import pairwise

import torch
from answers import Answers

from utils.exercises import sentence_length as check

answers = Answers(check)

# ---- Exercise 1 ----

for letter in ("b", "B", " (b) "):
    answers.right(check.larger_exponent, letter)
answers.wrong(check.larger_exponent, "a", says="makes them larger", hint="10 words with")
answers.wrong(check.larger_exponent, "c", says="if all hypotheses had one length", hint="-0.00125")
answers.wrong(check.larger_exponent, "d", says="The larger the exponent", hint="both exponents")
answers.wrong(check.larger_exponent, "longer", says="none of the choices", hint="one letter in quotes")

# ---- Exercise 2 ----

answers.right(check.too_short, 51.3, 0.526)
answers.right(check.too_short, torch.tensor(51.34), "53 %")
answers.right(check.too_short, [100 * math.exp(-2 / 3)], 52.6)
answers.wrong(check.too_short, 60, 0.45, says="100 times the length ratio", hint="1 - r/c")
answers.wrong(check.too_short, 149.2, 0.18, says="No BLEU is above 100", hint="needs r/c")
answers.wrong(check.too_short, 67.0, 0.40, says="the exponent is c/r - 1", hint="What is r/c?")
answers.wrong(check.too_short, 0.513, 0.526, says="has the factor 100", hint="100 times")
answers.wrong(check.too_short, 100, 0.27, says="long enough", hint="Multiply 100")
answers.wrong(check.too_short, 45, 0.45, says="does not depend on the 27", hint="penalty is left")
answers.wrong(check.too_short, 54.9, 0.49, says="minus the length ratio", hint="1/0.6")
answers.wrong(check.too_short, 51.3, 27, says="Take the penalty out", hint="Divide BLEU")
answers.wrong(check.too_short, 51.3, 1.9, says="the other way round", hint="Divide BLEU")
answers.wrong(check.too_short, 27, 1, says="the BLEU that it has", hint="four shares")
answers.wrong(check.too_short, 47.2, 0.6, says="highest is 47.2; expected", hint="0.667")
answers.wrong(check.too_short, 51.3, 0.27, says="left out the brevity penalty", hint="Divide BLEU")
answers.wrong(check.too_short, 51.3, 0.45, says="divided by the length ratio", hint="Divide BLEU")
answers.wrong(check.too_short, 51.3, 24.3, says="a difference here", hint="Divide BLEU")
answers.wrong(check.too_short, 51.3, 0.852, says="one power or root too many", hint="Divide BLEU")
answers.wrong(check.too_short, 51.3, 1.0, says="precision is 1; expected", hint="Divide BLEU")
answers.wrong(check.too_short, "about half", 0.5, says="the text 'about half'", hint="shares are 1")

# ---- Exercise 3 ----


def compared_and_counted(attention, one_vector):
    return (attention > one_vector).sum(dim=0)


def by_loops(attention, one_vector):
    num_seeds, num_buckets = attention.shape
    return [
        sum(bool(attention[seed, bucket] > one_vector[seed, bucket]) for seed in range(num_seeds))
        for bucket in range(num_buckets)
    ]


def by_columns(attention, one_vector):
    columns = zip(attention.T.tolist(), one_vector.T.tolist(), strict=True)
    return tuple(float(sum(a > o for a, o in zip(*pair, strict=True))) for pair in columns)


def by_numpy(attention, one_vector):
    return (attention.numpy() > one_vector.numpy()).sum(axis=0)


def three_for_each_bucket_of_the_study(attention, one_vector):
    return [3] * 6


def three_for_each_bucket(attention, one_vector):
    return [3] * attention.shape[1]


def comparing_means(attention, one_vector):
    return (attention.mean(dim=0) > one_vector.mean(dim=0)).tolist()


def comparing_means_times_seeds(attention, one_vector):
    return [len(attention) * wins for wins in comparing_means(attention, one_vector)]


def summed_over_the_buckets(attention, one_vector):
    return (attention > one_vector).sum(dim=1)


def summed_over_all(attention, one_vector):
    return (attention > one_vector).sum()


def not_counted(attention, one_vector):
    return attention > one_vector


def wins_of_one_vector(attention, one_vector):
    return (attention < one_vector).sum(dim=0)


def every_seed_with_every_seed(attention, one_vector):
    return (attention[:, None] > one_vector[None]).sum(dim=(0, 1))


def share_of_the_seeds(attention, one_vector):
    return (attention > one_vector).float().mean(dim=0)


def against_the_mean_of_the_seeds(attention, one_vector):
    return (attention > one_vector.mean(dim=0)).sum(dim=0)


def against_the_best_seed(attention, one_vector):
    return (attention > one_vector.amax(dim=0)).sum(dim=0)


def sum_of_the_differences(attention, one_vector):
    return (attention - one_vector).sum(dim=0)


def with_any_seed(attention, one_vector):
    return (attention > one_vector).any(dim=0)


def with_most_seeds(attention, one_vector):
    return ((attention > one_vector).sum(dim=0) > len(attention) / 2).int()


def lost_seeds_subtracted(attention, one_vector):
    return (attention - one_vector).sign().sum(dim=0)


def with_an_axis_of_seeds(attention, one_vector):
    return (attention > one_vector).sum(dim=0, keepdim=True)


def ties_are_wins(attention, one_vector):
    return (attention >= one_vector).sum(dim=0)


def of_the_first_three_seeds(attention, one_vector):
    return (attention[:3] > one_vector[:3]).sum(dim=0)


for answer in (compared_and_counted, by_loops, by_columns, by_numpy):
    answers.right(check.wins, answer)
answers.wrong(
    check.wins, three_for_each_bucket_of_the_study, says="has the shape (6,)", hint="from the two tensors"
)
answers.wrong(check.wins, three_for_each_bucket, says="does not win with every seed", hint="not the same")
answers.wrong(check.wins, comparing_means, says="compares the means", hint="before you sum")
answers.wrong(check.wins, summed_over_the_buckets, says="one per seed", hint="columns are buckets")
answers.wrong(check.wins, summed_over_all, says="the one number 3", hint="over the seeds only")
answers.wrong(check.wins, not_counted, says="which seed wins where", hint="Count along")
answers.wrong(check.wins, wins_of_one_vector, says="the wins of one vector", hint="larger one")
answers.wrong(check.wins, every_seed_with_every_seed, says="each seed with every seed", hint="share the seed")
answers.wrong(check.wins, sum_of_the_differences, says="adds up the differences", hint="and count")
answers.wrong(check.wins, with_most_seeds, says="wins with most seeds", hint="Count the seeds")
answers.wrong(check.wins, lost_seeds_subtracted, says="counts as -1", hint="adds nothing")
answers.wrong(check.wins, with_any_seed, says="wins with any seed", hint="Count the seeds")
answers.wrong(check.wins, with_an_axis_of_seeds, says="with an axis of length 1", hint="keepdim")
answers.wrong(
    check.wins, against_the_mean_of_the_seeds, says="[2, 2]: this compares numbers of", hint="Keep the rows"
)
answers.wrong(
    check.wins, against_the_best_seed, says="[2, 0]: this compares numbers of", hint="Keep the rows"
)
answers.wrong(check.wins, share_of_the_seeds, says="share of the seeds", hint="not the mean")
answers.wrong(check.wins, ties_are_wins, says="A tie is no win", hint="Count along")
answers.wrong(check.wins, of_the_first_three_seeds, says="for 5 seeds and 7 buckets", hint="any number")
answers.wrong(check.wins, [2, 1], says="expected a function", hint="without parentheses")

# ---- Exercise 4 ----


def cut_evenly(ids, longest):
    num = math.ceil(len(ids) / longest)
    cuts = [len(ids) * i // num for i in range(num + 1)]
    return [ids[start:end] for start, end in pairwise(cuts)]


def long_pieces_first(ids, longest):
    num = -(-len(ids) // longest)
    size, rest = divmod(len(ids), num)
    pieces, start = [], 0
    for i in range(num):
        end = start + size + (i < rest)
        pieces.append(tuple(ids[start:end]))
        start = end
    return tuple(pieces)


def by_tensor_split(ids, longest):
    return torch.tensor(ids).tensor_split(math.ceil(len(ids) / longest))


def one_by_one(ids, longest):
    num = math.ceil(len(ids) / longest)
    pieces = [[] for _ in range(num)]
    for place, number in enumerate(ids):
        pieces[(place * num + num - 1) // len(ids)].append(number)
    return pieces


def full_pieces_and_a_rest(ids, longest):
    return [ids[i : i + longest] for i in range(0, len(ids), longest)]


def one_piece_too_many(ids, longest):
    num = len(ids) // longest + 1
    cuts = [len(ids) * i // num for i in range(num + 1)]
    return [ids[start:end] for start, end in pairwise(cuts)]


def rounded_down(ids, longest):
    num = max(1, len(ids) // longest)
    cuts = [len(ids) * i // num for i in range(num + 1)]
    return [ids[start:end] for start, end in pairwise(cuts)]


def every_third_id(ids, longest):
    num = math.ceil(len(ids) / longest)
    return [ids[i::num] for i in range(num)]


def without_the_rest(ids, longest):
    num = math.ceil(len(ids) / longest)
    size = len(ids) // num
    return [ids[i * size : (i + 1) * size] for i in range(num)]


def lengths_only(ids, longest):
    return [len(piece) for piece in cut_evenly(ids, longest)]


def with_an_empty_piece(ids, longest):
    return [*full_pieces_and_a_rest(ids, longest), []]


def overlapping(ids, longest):
    return [ids[max(0, i - 1) : i + longest] for i in range(0, len(ids), longest)]


for answer in (cut_evenly, long_pieces_first, by_tensor_split, one_by_one):
    answers.right(check.in_pieces, answer)
answers.wrong(
    check.in_pieces, full_pieces_and_a_rest, says="lengths differ by 2", hint="spread the ids evenly"
)
answers.wrong(check.in_pieces, one_piece_too_many, says="2 would be enough", hint="comes out even")
answers.wrong(check.in_pieces, rounded_down, says="which is too long", hint="Round the number of pieces up")
answers.wrong(check.in_pieces, every_third_id, says="no longer in their order", hint="without gaps")
answers.wrong(check.in_pieces, without_the_rest, says="[17] is missing", hint="every id")
answers.wrong(check.in_pieces, lengths_only, says="expected a list of pieces", hint="ids[start:end]")
answers.wrong(check.in_pieces, with_an_empty_piece, says="one is empty", hint="last piece")
answers.wrong(check.in_pieces, overlapping, says="stands in two pieces", hint="has ended")

# ---- Exercise 5 ----

FIRST = [0.4, 0.35, 0.25]
SECOND = [[0.34, 0.33, 0.33], [0.4, 0.3, 0.3], [0.9, 0.05, 0.05]]

answers.right(check.missed_by_the_beam, FIRST, SECOND)
answers.right(
    check.missed_by_the_beam,
    torch.tensor([0.3, 0.36, 0.34], dtype=torch.float64),
    torch.tensor([[0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]]),
)
answers.wrong(
    check.missed_by_the_beam,
    [0.6, 0.4, 0.0],
    [[0.34, 0.33, 0.33], [0.9, 0.1, 0.0], [1, 0, 0]],
    says="two hypotheses are enough",
    hint="begins with the dropped word",
)
answers.wrong(
    check.missed_by_the_beam,
    [0.6, 0.3, 0.1],
    [[0.5, 0.3, 0.2], [0.4, 0.3, 0.3], [0.9, 0.1, 0]],
    says="Greedy search finds it, too",
    hint="is 2 0, with 0.09",
)
answers.wrong(
    check.missed_by_the_beam, [1 / 3] * 3, [[1 / 3] * 3] * 3, says="is an accident", hint="less probable"
)
answers.wrong(
    check.missed_by_the_beam, [0.4, 0.35, 0.35], SECOND, says="with the sum 1.1", hint="Some word must come"
)
answers.wrong(
    check.missed_by_the_beam,
    FIRST,
    torch.tensor(SECOND).T,
    says="the columns of second sum to 1",
    hint="Row i has",
)
answers.wrong(
    check.missed_by_the_beam,
    torch.tensor(FIRST).log(),
    torch.tensor(SECOND).log(),
    says="expected probabilities, from 0 to 1",
    hint="not their logarithms",
)
answers.wrong(
    check.missed_by_the_beam, FIRST, [0.9, 0.05, 0.05], says="has the shape (3,)", hint="a row for each"
)
answers.wrong(
    check.missed_by_the_beam, [0.6, 0.4], SECOND, says="has the shape (2,)", hint="words 0, 1 and 2"
)
answers.wrong(check.missed_by_the_beam, [40, 35, 25], SECOND, says="in per cent", hint="0.5")
answers.wrong(
    check.missed_by_the_beam, [0.6, 0.5, -0.1], SECOND, says="must lie between 0 and 1", hint="below 0"
)

# ---- Exercise 6 ----

answers.right(check.two_falling_lines, "All sentences of the test are longer than those of training. " * 3)
answers.wrong(
    check.two_falling_lines, "Her test is unfair.", says="Your answer has 4 words", hint="before you look"
)

test_right, test_wrong, test_number = answers.tests()
