"""Answers to the exercises of chapters/chinese_english."""

from fractions import Fraction

from answers import Answers

from utils.exercises import chinese_english as check

answers = Answers()
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
