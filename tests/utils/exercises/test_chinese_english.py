"""Answers to the exercises of chapters/chinese_english."""

from collections import Counter
from itertools import pairwise

import torch
from answers import Answers

from utils.exercises import chinese_english as check

answers = Answers()


def plain(sentence):
    return "".join(filter(str.isalnum, sentence.lower()))


def groups(pairs, *, form=plain, sides=(0, 1), rename_all=True):
    group, first = list(range(len(pairs))), {}
    for row, pair in enumerate(pairs):
        for side in sides:
            old, new = group[row], group[first.setdefault((side, form(pair[side])), row)]
            group = [new if (g == old and rename_all) or i == row else g for i, g in enumerate(group)]
    return group


def by_components(pairs):
    pairs = [(plain(zh), "", plain(en)) for zh, en in pairs]
    names = list(range(len(pairs)))
    for _ in pairs:
        names = [
            min(
                name
                for name, other in zip(names, pairs, strict=True)
                if other[0] == pair[0] or other[2] == pair[2]
            )
            for pair in pairs
        ]
    return torch.tensor(names) + 100


answers.add(
    check.row_groups,
    [groups, by_components],
    [
        (lambda pairs: groups(pairs, sides=(1,)), "A/y, B/z the numbers are [0, 1, 2]: rows 0 and 1"),
        (lambda pairs: groups(pairs, sides=(0,)), "B/x, C/z the numbers are [0, 1, 2]: rows 0 and 1"),
        (lambda pairs: sorted(set(groups(pairs))), "the result has the shape"),
        (lambda pairs: [0 for _ in pairs], "rows 0 and 2 are in different groups"),
        (lambda pairs: groups(pairs, rename_all=False), "A/x, B/y, C/y, A/y the numbers"),
        (lambda pairs: groups(pairs, form=str), "*HELLO*, *hello!*"),
    ],
)


def merged(tokens, pair, *, most=99, overlap=False):
    result, done = [], 0
    for token in tokens:
        if result and result[-1][-1:] == pair[0][-1:] and (result[-1], token) == pair and done < most:
            result[-1] += token
            done += 1
        else:
            result.append(token)
    return result


def merges(words, num, *, anew=True, choose=max, **options):
    counts = Counter(pair for word in words for pair in pairwise(word))
    for _ in range(num):
        if anew:
            counts = Counter(pair for word in words for pair in pairwise(word))
        pair = choose(counts, key=counts.get)
        counts[pair] = 0
        words = [merged(word, pair, **options) for word in words]
    return words


def overlapping(words, num):
    counts = Counter(pair for word in words for pair in pairwise(word))
    pair = max(counts, key=counts.get)
    if pair == ("a", "a"):
        return [["aa", "aa"], ["aa", "b"]]
    return merges(words, num)


answers.add(
    check.merges,
    [merges, lambda words, num: tuple(map(tuple, merges(words, num)))],
    [
        (lambda words, num: merges(words, num, most=1), "only once in a word"),
        (overlapping, "a letter was used twice"),
        (lambda words, num: merges(words, num, anew=False), "bc was not merged again"),
        (
            lambda words, num: merges(words, num, choose=lambda c, key: next(iter(c))),
            "another pair is more frequent",
        ),
        (lambda words, num: ["".join(word) for word in words], "expected a list of lists"),
    ],
)
answers.add(
    check.same_when_folded,
    ["乾幹榦", "臺, 檯, 颱", ["臺", "檯", "颱"], "墰壇壜罈罎"],
    [
        ("發髮", "three different characters"),
        ("发發髮", "a simplified character itself"),
        ("發髮語", "語 → 语"),
        (["出發", "頭髮", "髮"], "single characters"),
        (3, "three characters in quotes"),
    ],
)
test_right, test_wrong = answers.tests()
