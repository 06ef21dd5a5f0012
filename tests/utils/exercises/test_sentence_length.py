"""Answers to the exercises of chapters/sentence_length."""

import math
from functools import partial
from itertools import pairwise

import torch
from answers import Answers

from utils.exercises import sentence_length as check
from utils.metrics import bleu_by_length

answers = Answers()


def with_the_tool(hypotheses, references, lengths, edges):
    buckets = bleu_by_length(hypotheses, [[text] for text in references], lengths, edges=edges, lang="fr")
    pairs = []
    for bucket in buckets:
        rows = [i for i, n in enumerate(lengths) if bucket.low <= n <= bucket.high]
        written, wanted = (sum(len(texts[i].split()) for i in rows) for texts in (hypotheses, references))
        pairs.append((torch.tensor(bucket.score.value), written / wanted))
    return pairs


answers.add(check.my_by_length, [with_the_tool, lambda *inputs: torch.tensor(with_the_tool(*inputs))])
answers.add(
    check.too_short,
    [(51.3, 0.526), (torch.tensor(51.34), "53 %"), ([100 * math.exp(-2 / 3)], 0.53)],
    [((47.2, 0.6), "highest is 47.2; expected")],
)


def cut(ids, longest, *, num=math.ceil, more=0):
    pieces = max(1, num(len(ids) / longest))
    cuts = [len(ids) * i // pieces for i in range(pieces + 1)]
    return [ids[start : end + more] for start, end in pairwise(cuts)]


answers.add(
    check.in_pieces,
    [cut, lambda ids, longest: torch.tensor(ids).tensor_split(math.ceil(len(ids) / longest))],
    [
        (lambda ids, longest: [ids[i : i + longest] for i in range(0, len(ids), longest)], "are [3, 3, 1]"),
        (partial(cut, num=lambda share: int(share) + 1), "2 would be enough"),
        (partial(cut, num=int), "is too long"),
        (lambda ids, longest: [ids[::2], ids[1::2]], "in their order"),
        (partial(cut, more=-1), "[13, 16] is missing"),
        (partial(cut, more=1), "stands in two pieces"),
        (lambda ids, longest: [3, 3], "expected a list of pieces"),
    ],
)
test_right, test_wrong = answers.tests()
