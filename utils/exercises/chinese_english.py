"""Checks of the exercises of chapters/chinese_english."""

import re
from collections.abc import Iterator
from itertools import combinations

from opencc import OpenCC

from utils.exercises.checking import (
    ReadersFunction,
    as_tensor,
    exercise,
    expect,
    expect_written,
    show,
)

#: Chinese sentences for capital letters, so that a case of a check can be read as "A/x, B/x".
_CHINESE = {"A": "你好。", "B": "您好。", "C": "再见。", "D": "谢谢。"}
_ENGLISH = {"x": "Hello.", "y": "Good day.", "z": "Good bye."}


def _rows(letters: str) -> list[tuple[str, str]]:
    """The rows of letters such as "Ax By"."""
    return [(_CHINESE[zh], _ENGLISH[en]) for zh, en in letters.split()]


@exercise(
    1,
    "Begin with a number of its own for each row. Where a row has a sentence that an earlier row has, all rows with "
    "the one number get the other number.",
    "A dictionary can hold the row in which each sentence came first: `first.setdefault(sentence, row)`.",
)
def row_groups(answer: ReadersFunction) -> Iterator[str]:
    cases = (
        ("Ax Ay Bz", [0, 0, 2], "the rows A/x, A/y, B/z", "They have the same Chinese sentence."),
        ("Ax Bx Cz", [0, 0, 2], "the rows A/x, B/x, C/z", "They have the same English sentence."),
        (
            "Ax Bx By Dy Cz",
            [0, 0, 0, 0, 4],
            "the rows A/x, B/x, B/y, D/y, C/z",
            "A group also has the rows that share a sentence with its *other* rows.",
        ),
        (
            "Ax By Cy Ay",
            [0, 0, 0, 0],
            "the rows A/x, B/y, C/y, A/y",
            "The last row joins two groups that were made before: all rows of both must get one number.",
        ),
    )
    for letters, right, case, hint in cases:
        pairs = _rows(letters)
        yield _compare(answer(pairs), right, case, hint)
    marks = [("你好！", "HELLO"), ("您好。", "hello!"), ("再见。", "Good bye.")]
    hint = "Compare what `plain` makes of the sentences."
    yield _compare(answer(marks), [0, 0, 2], "rows with *HELLO*, *hello!* and *Good bye.*", hint)


def _compare(numbers: object, right: list[int], case: str, hint: str) -> str:
    """What is right about the groups; it raises ``Wrong`` for two rows that are in one group and should not, or not."""
    found = as_tensor(numbers, "Return a list with one number for each row.", shape=(len(right),)).tolist()
    for one, other in combinations(range(len(right)), 2):
        together = found[one] == found[other]
        rows = f"for {case} the numbers are {show(found)}: rows {one} and {other}"
        if right[one] == right[other]:
            expect(together, f"{rows} are in one group and have different numbers.", hint)
        else:
            apart = "Two rows are in one group only if a chain of shared sentences joins them."
            expect(not together, f"{rows} are in different groups and have the same number.", apart)
    num = len(set(right))
    return f"{case}: {num} group{'s' * (num > 1)}"


@exercise(
    2,
    "Each round has two parts: count the pairs of neighbours in all words, then go through each word and merge.",
    "`Counter(pair for word in words for pair in pairwise(word))` counts, and `max(counts, key=counts.get)` finds the "
    "most frequent pair.",
)
def merges(answer: ReadersFunction) -> Iterator[str]:
    cases = (
        (
            ["abab", "cab"],
            1,
            ["ab ab", "c ab"],
            (("ab a b", "c ab"), "the pair was merged only once in a word", "Merge it wherever it occurs."),
        ),
        (
            ["aaa", "aab"],
            1,
            ["aa a", "aa b"],
            (("aa aa", "aa b"), "a letter was used twice", "Go from left to right."),
        ),
        (
            ["ba", "ba", "ca", "ca", "ca"],
            1,
            ["b a", "b a", "ca", "ca", "ca"],
            (
                ("ba", "ba", "c a", "c a", "c a"),
                "another pair is more frequent",
                "Take the most frequent one.",
            ),
        ),
        (
            ["abc", "abc", "abc", "bc", "d"],
            2,
            ["abc", "abc", "abc", "bc", "d"],
            (
                ("a bc", "a bc", "a bc", "bc", "d"),
                "the piece bc was not merged again",
                "Count anew after each merge: a and bc are neighbours now.",
            ),
        ),
    )
    for texts, num, right, mistake in cases:
        case = f"for {show(texts)} and {num} merge{'s' * (num > 1)}"
        result = answer([list(text) for text in texts], num)
        hint = "Return a list of words, each a list of its pieces."
        is_words = isinstance(result, list | tuple) and all(isinstance(word, list | tuple) for word in result)
        expect(is_words, f"{case} the result is {show(result)}; expected a list of lists.", hint)
        found = [" ".join(map(str, word)) for word in result]  # type: ignore[attr-defined]
        cut, (wrong, says, mend) = ", ".join(found), mistake
        expect(found != list(wrong), f"{case} the pieces are {cut}: {says}.", mend)
        expect(found == right, f"{case} the pieces are {cut}; expected {', '.join(right)}.")
        yield f"{case}: {', '.join(right)}"


@exercise(
    4,
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
