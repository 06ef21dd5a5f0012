"""Answers to the exercises of chapters/chinese_english."""

import re
from fractions import Fraction

import torch
from answers import Answers

from utils.exercises import chinese_english as check

answers = Answers()
answers.choice(
    check.folded_last, "b", a="Folding comes afterwards", c="removes no row", d="only where these are equal"
)
answers.add(
    check.paired_by_hand,
    [7 / 27, Fraction(7, 27), 0.26, "7 / 27", "26 %"],
    [
        (7, "the number of the draws"),
        (20 / 27, "in these draws B is better"),
        (1 / 3, "share of the sentences"),
        (4 / 27, "both are equal"),
        (25.9, "in per cent"),
        (0.3, "without their order"),
        (0.5, "p is 0.5; expected another"),
    ],
)


def match(text, dictionary, longest=4, *, down=True, at_end=True):
    """Cut words from the end of the text or from its beginning, by the longest match or by the shortest."""
    words = []
    while text:
        lengths = range(2, min(longest, len(text)) + 1)
        parts = {n: (text[-n:], text[:-n]) if at_end else (text[:n], text[n:]) for n in (1, *lengths)}
        n = next((n for n in (reversed(lengths) if down else lengths) if parts[n][0] in dictionary), 1)
        word, text = parts[n]
        words.append(word)
    return words[::-1] if at_end else words


answers.add(
    check.longest_match_from_right,
    [match],
    [
        (lambda *inputs, longest: match(*inputs, longest, at_end=False), "cut from the left"),
        (lambda *inputs, longest: match(*inputs, longest)[::-1], "were found"),
        (lambda *inputs, longest: match(*inputs, longest, down=False), "the shortest match"),
        (lambda *inputs, longest: [w for w in match(*inputs, longest) if len(w) > 1], "a character is lost"),
        (lambda *inputs, longest: match(*inputs), "longer than `longest`"),
        (lambda *inputs, longest: match(*inputs, longest - 1), "as long as `longest`"),
        (lambda *inputs, longest: " ".join(match(*inputs, longest)), "a list of words"),
    ],
)


def four_cases(tokens, source, weights, dictionary, letters="[A-Za-z0-9]+", unknown=None):
    written = []
    for token, row in zip(tokens, weights, strict=True):
        word = source[row.argmax()]
        if token != "<unk>":
            written.append(token)
        elif word in dictionary or re.fullmatch(letters, word):
            written.append(dictionary.get(word, word))
        elif unknown is not None:
            written.append(unknown)
    return written


def copies_first(tokens, source, weights, dictionary):
    return four_cases(tokens, source, weights, {w: e for w, e in dictionary.items() if not w.isascii()})


def attention_ignored(tokens, source, weights, dictionary):
    return four_cases(tokens, source, torch.eye(len(source))[: len(tokens)], dictionary)


answers.add(
    check.replace_or_drop,
    [four_cases],
    [
        (attention_ignored, "weights were not used"),
        (copies_first, "the dictionary comes before"),
        (lambda tokens, source, w, words: four_cases(tokens, source, w.T, words), "are exchanged"),
        (lambda tokens, source, w, words: four_cases(tokens, source, -w, words), "smallest weight"),
        (lambda tokens, source, w, words: four_cases(tokens, source, w, {}), "must not be dropped"),
        (lambda *inputs: four_cases(*inputs, letters=r"\w+"), "must not be copied"),
        (lambda *inputs: four_cases(*inputs, letters="[A-Za-z]+"), "digits are copied"),
        (lambda *inputs: four_cases(*inputs, letters=r"[A-Za-z0-9]\w*"), "does not consist"),
        (lambda *inputs: four_cases(*inputs, letters="[!-~]+"), "C++ has more than letters"),
        (lambda *inputs: four_cases(*inputs, unknown="<unk>"), "the unknown word must go"),
        (lambda *inputs: four_cases(*inputs, unknown=""), "not even an empty word"),
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
answers.in_words(
    check.higher_score, "I would ask for the checksum of the file and for the rows of the test. " * 3
)
test_right, test_wrong = answers.tests()
