"""Answers to the exercises of chapters/sentence_length."""

import math

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
test_right, test_wrong = answers.tests()
