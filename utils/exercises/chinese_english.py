"""Checks of the exercises of chapters/chinese_english."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from utils.exercises.checking import Wrong, as_tensor, show
from utils.exercises.tables import Case, against


def _plain(sentence: str) -> str:
    return "".join(filter(str.isalnum, sentence.lower()))


def _first_rows(numbers: object) -> list[int]:
    """For each row the first row with its number: the numbers themselves do not matter."""
    every = as_tensor(numbers).reshape(-1).tolist()
    return [every.index(number) for number in every]


_CHAIN = "A group also has the rows that share a sentence with its *other* rows."
_FORM = "Compare what `plain` makes of the sentences."


@against(
    2,
    "Begin with a number of its own for each row. Where a row has a sentence that an earlier row has, every row with "
    "this row's number gets the number of that earlier row.",
    "A dictionary can hold the row in which each sentence came first: `first.setdefault(sentence, row)`.",
    cases=[
        Case(f"for the rows {rows}", ([tuple(row.split("/")) for row in rows.split(", ")],), point, hint)
        for rows, point, hint in (
            ("A/x, A/y, B/z", "rows with one Chinese sentence are a group", "Rows 0 and 1 share A."),
            ("A/x, B/x, C/z", "rows with one English sentence are a group", "Rows 0 and 1 share x."),
            ("A/x, B/x, B/y, D/y, C/z", "a chain of rows is a group", _CHAIN),
            (
                "A/x, B/y, A/w, C/y, A/y",
                "a row joins two groups",
                "The last row joins them: give both one number.",
            ),
            ("A/HELLO, B/hello!, C/Bye., D/Bye.", "capital letters and marks do not count", _FORM),
        )
    ],
    mistakes={
        "rows with one Chinese sentence are apart | Compare both sides.": {"sides": (1,)},
        "rows with one English sentence are apart | Compare both sides.": {"sides": (0,)},
        f"the chain ends after one sentence | {_CHAIN}": (
            lambda pairs: [
                min(j for j, b in enumerate(pairs) if any(map(str.__eq__, map(_plain, a), map(_plain, b))))
                for a in pairs
            ]
        ),
        "two groups that a row joins stay apart | Both get one number.": {"join": False},
        f"the sentences are compared as they are | {_FORM}": {"form": str},
    },
    parts=["the first row of each row's group"],
    compared=_first_rows,
)
def row_groups(
    pairs: list[tuple[str, str]], *, form: Callable = _plain, sides=(0, 1), join=True
) -> list[int]:
    group, first = list(range(len(pairs))), {}
    for row, pair in enumerate(pairs):
        for side in sides:
            old, new = group[row], group[first.setdefault((side, form(pair[side])), row)]
            group = [new if (join and g == old) or i == row else g for i, g in enumerate(group)]
    return group


def _cut(words: object) -> str:
    """The pieces with blanks between them, and commas between words."""
    if not (isinstance(words, list | tuple) and all(isinstance(word, list | tuple) for word in words)):
        hint = "Return a list of words, each a list of its pieces."
        raise Wrong(f"the result is {show(words)}; expected a list of lists.", hint)
    return ", ".join(" ".join(map(str, word)) for word in words)


def _pairs(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The neighbours in each text, whose pieces have blanks between them."""
    return (pair for text in texts for pair in pairwise(text.split()))


@against(
    1,
    "Each round has two parts: count the pairs of neighbours in all words, then go through each word and merge.",
    "`Counter(pair for word in words for pair in pairwise(word))` counts, and `max(counts, key=counts.get)` finds the "
    "most frequent pair.",
    cases=[
        Case(
            f"for {show(texts)} and {num} merge{'s' * (num > 1)}", (list(map(list, texts)), num), point, hint
        )
        for texts, num, point, hint in (
            (["abab", "cab"], 1, "a pair is merged wherever it occurs", ""),
            (["aaa", "aab"], 1, "no letter is used twice", "Go from left to right, and use no letter twice."),
            (["ba", "ghgh", "ghgh", "cdcdcd", "ef", "ef", "ef"], 1, "the most frequent pair is merged", ""),
            (["a", "b", "a", "b", "a", "b", "cd", "cd"], 1, "neighbours are in one word", ""),
            (["abc", "abc", "abc", "bc", "d"], 2, "pieces are merged again", ""),
        )
    ],
    mistakes={
        "the pair was merged only once in a word | Merge it wherever it occurs.": {"most": 1},
        "another pair is more frequent | Take it.": {"choose": lambda counts, key: next(iter(counts))},
        "a word that occurs several times was counted once | Count the pairs of each word of the list.": {
            "seen": lambda texts: _pairs(dict.fromkeys(texts))
        },
        "a pair that occurs twice in a word was counted once there | Count it wherever it occurs.": {
            "seen": lambda texts: (pair for text in texts for pair in dict.fromkeys(_pairs([text])))
        },
        "the end of a word and the beginning of the next were counted as neighbours | Count word by word.": {
            "seen": lambda texts: _pairs([" ".join(texts)])
        },
        "the piece bc was not merged again | Count anew after each merge.": {"anew": False},
    },
    parts=["the text"],
    compared=_cut,
)
def merges(
    words: list, num: int, *, seen: Callable = _pairs, anew=True, choose: Callable = max, most=-1
) -> list[list[str]]:
    texts = ["".join(f" {piece} " for piece in word) for word in words]
    counts: Counter = Counter()
    for _ in range(num):
        if anew or not counts:
            counts = Counter(seen(texts))
        first, second = choose(counts, key=counts.get)
        del counts[first, second]
        texts = [text.replace(f" {first}  {second} ", f" {first + second} ", most) for text in texts]
    return [text.split() for text in texts]
