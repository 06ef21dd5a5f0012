"""Answers to the exercises of chapters/sentence_length."""

import math
from functools import partial
from itertools import pairwise

import torch
from answers import Answers

from utils.exercises import sentence_length as check
from utils.metrics import bleu, bleu_by_length

answers = Answers()
answers.add(
    check.too_short,
    [(51.3, 0.526), (torch.tensor(51.34), "53 %"), ([100 * math.exp(-2 / 3)], 52.6)],
    [
        ((60, 0.45), "100 times the length ratio"),
        ((149.2, 0.18), "no BLEU is above 100"),
        ((0.513, 0.526), "this is the brevity penalty"),
        ((100, 0.27), "there is no penalty"),
        ((47.2, 0.6), "highest is 47.2; expected"),
        ((51.3, 0.27), "left out the brevity penalty"),
        ((51.3, 0.45), "divided by the length ratio"),
        ((51.3, 1.9), "the other way round"),
    ],
)


def by_length(hypotheses, references, lengths, edges, *, include=True, mean=(), lens=None):
    lengths = lens(references) if lens else lengths
    pairs = []
    for low, high in pairwise([0, *edges, 10**9]):
        rows = [i for i, n in enumerate(lengths) if (low < n <= high if include else low <= n < high)]
        groups = [[[i] for i in rows], [rows]]
        values = [mean_bleu(hypotheses, references, groups["bleu" not in mean])]
        values.append(mean_ratio(hypotheses, references, groups["ratio" not in mean]))
        pairs.append(values)
    return pairs


def mean_bleu(hypotheses, references, groups):
    values = [
        bleu([hypotheses[i] for i in group], [[references[i]] for i in group], lang="fr").value
        for group in groups
    ]
    return sum(values) / len(values)


def mean_ratio(hypotheses, references, groups):
    def count(texts, group):
        return len(" ".join(texts[i] for i in group).split())

    return sum(count(hypotheses, group) / count(references, group) for group in groups) / len(groups)


def with_the_tool(hypotheses, references, lengths, edges):
    buckets = bleu_by_length(hypotheses, [[text] for text in references], lengths, edges=edges, lang="fr")
    ratios = by_length(hypotheses, references, lengths, edges)
    return [(bucket.score.value, ratio) for bucket, (_, ratio) in zip(buckets, ratios, strict=True)]


def french(references):
    return [len(text.split()) for text in references]


answers.add(
    check.my_by_length,
    [by_length, with_the_tool, lambda *args: torch.tensor(by_length(*args))],
    [
        (partial(by_length, mean=("bleu", "ratio")), "means over the sentences"),
        (partial(by_length, mean=("bleu",)), "the mean of the BLEU of single sentences"),
        (partial(by_length, mean=("ratio",)), "the mean of the ratios of single sentences"),
        (partial(by_length, include=False), "as long as an edge is in the next bucket"),
        (partial(by_length, lens=french), "those of the French lengths"),
        (lambda *args: [(value, 1 / ratio) for value, ratio in by_length(*args)], "upside down"),
        (lambda *args: [(ratio, value) for value, ratio in by_length(*args)], "are exchanged"),
        (lambda *args: by_length(*args)[:-1], "has the shape (2, 2)"),
        (lambda *args: [value for value, _ in by_length(*args)], "has the shape (3,)"),
    ],
)


def cut(ids, num):
    return [ids[start:end] for start, end in pairwise(len(ids) * i // num for i in range(num + 1))]


def least(ids, longest):
    return math.ceil(len(ids) / longest)


def without_the_rest(ids, longest):
    size = len(ids) // least(ids, longest)
    return [ids[i * size : (i + 1) * size] for i in range(least(ids, longest))]


answers.add(
    check.in_pieces,
    [
        lambda ids, longest: cut(ids, least(ids, longest)),
        lambda ids, longest: torch.tensor(ids).tensor_split(least(ids, longest)),
    ],
    [
        (
            lambda ids, longest: [ids[i : i + longest] for i in range(0, len(ids), longest)],
            "lengths are [3, 3, 1]",
        ),
        (lambda ids, longest: cut(ids, len(ids) // longest + 1), "2 would be enough"),
        (lambda ids, longest: cut(ids, max(1, len(ids) // longest)), "is too long"),
        (
            lambda ids, longest: [ids[i :: least(ids, longest)] for i in range(least(ids, longest))],
            "in their order",
        ),
        (without_the_rest, "[17] is missing"),
        (lambda ids, longest: [3, 3], "expected a list of pieces"),
        (lambda ids, longest: [ids[max(0, i - 1) : i + 1] for i in range(len(ids))], "stands in two pieces"),
    ],
)
test_right, test_wrong = answers.tests()
