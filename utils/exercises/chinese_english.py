"""Checks of the exercises of chapters/chinese_english."""

import re
from collections.abc import Iterator

from opencc import OpenCC

from utils.exercises.checking import (
    exercise,
    expect,
    expect_numbers,
    expect_written,
    show,
)


@exercise(
    2,
    "Write the draws as sums of three of the numbers 2, 1 and -1. Which sums are 0 or less?",
    "At least two of the three numbers drawn must be -1. How many of the 27 draws have this?",
)
def paired_by_hand(answer: object) -> Iterator[str]:
    mistakes = (
        (700 / 27, "this is in per cent", "Half of the draws would be 0.5."),
        (7, "this is the number of the draws", "Divide it by the number of all draws."),
        (20 / 27, "in these draws B is better", "All draws together have the share 1."),
        (1 / 3, "this is the share of the sentences in which B is worse", "Count draws."),
        (4 / 27, "you left out the draws in which both are equal", "The sum of 2, -1 and -1 is 0."),
        (3 / 10, "you counted draws without their order", "2, -1, -1 can be drawn in three orders."),
    )
    expect_numbers({"p": answer}, [7 / 27], mistakes, tolerance=0.004)
    yield "in 7 of the 27 draws B is not better: one with -1 three times, and two times three with -1 twice"
    yield "so p is 0.26, and three sentences are not enough to call B better"


@exercise(
    3,
    "Let a loop go over `chr(0x4E00)` to `chr(0x9FFF)`, and collect for each simplified character the characters that "
    "become it.",
    "Look for a simplified character that three traditional ones become, each of which `to_simplified` changes.",
)
def same_when_folded(answer: object) -> Iterator[str]:
    expect_written(answer)
    if isinstance(answer, str):
        answer = re.findall(r"\w", answer)  # also those that stand between commas or blanks
    is_right_kind = isinstance(answer, list | tuple | set) and all(isinstance(item, str) for item in answer)
    expect(is_right_kind, f"same is {show(answer)}; expected three characters in quotes, or a list of them.")
    characters: list[str] = list(answer)  # type: ignore[call-overload]
    expect(
        all(len(character) == 1 for character in characters),
        f"same is {show(characters)}; expected single characters.",
        "A word of two characters would be folded with the help of its neighbours.",
    )
    expect(
        len(set(characters)) == len(characters) >= 3,
        f"same is {show(characters)}; expected three different characters.",
        "發 and 髮 are two. Is there a third one, or another group?",
    )
    yield f"there are {len(characters)} different characters"
    forms = {character: OpenCC("t2s").convert(character) for character in characters}
    pairs = ", ".join(f"{old} → {new}" for old, new in forms.items())
    same = "Compare what `to_simplified` makes of each."
    expect(len(set(forms.values())) == 1, f"they do not become one character: {pairs}.", same)
    [form] = set(forms.values())
    expect(
        form not in characters,
        f"{form} is a simplified character itself: folding does not change it. Expected traditional ones.",
        "Take only characters that `to_simplified` changes.",
    )
    yield f"all are traditional, and folding makes one character of them, {form}"
