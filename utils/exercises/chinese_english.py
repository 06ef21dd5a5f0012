"""Checks of the exercises of chapters/chinese_english."""

import random
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache

import torch
from opencc import OpenCC
from torch import Tensor

from utils.exercises.checking import (
    ReadersFunction,
    Wrong,
    as_number,
    choose,
    compare_with_rubric,
    exercise,
    expect,
    expect_written,
    show,
)


@exercise(
    1,
    "predict",
    "Write down four rows: 漢語很難。 with one English sentence, 汉语很难。 with another, and two rows of other words. "
    "Which of them share a sentence before folding, and which after it?",
    "A group joins rows whose Chinese or English sentence is written the same.",
)
def folded_last(answer: object) -> Iterator[str]:
    yield from choose(
        answer,
        right="b",
        reason="before folding, the two scripts make two sentences of one, so nothing joins the rows. One may go into "
        "the test and the other into training, and after folding the Chinese sentence of the test stands in both.",
        wrong={
            "a": "the groups are whole in the rows as they were written. Folding comes afterwards and makes equal what "
            "was different.",
            "c": "folding rewrites characters and removes no row. No row moves to the other part, either.",
            "d": "the rows are joined by their English sentences only where these are equal, and here they differ.",
        },
    )


@exercise(
    2,
    "compute",
    "Write the draws as sums of three of the numbers 2, 1 and -1. Which sums are 0 or less?",
    "At least two of the three numbers drawn must be -1. How many of the 27 draws have this?",
)
def paired_by_hand(answer: object) -> Iterator[str]:
    p = as_number(answer, name="p")

    def refuse(number: float, message: str, *hints: str) -> None:
        expect(abs(p - number) > 0.004, f"p is {show(p)}: {message}", *hints)

    expect(
        not 25 < p < 27,
        f"p is {show(p)}, which is in per cent; expected a share of the draws.",
        "Half of the draws would be 0.5.",
    )
    expect(
        p >= 0 and (p <= 1 or p in range(28)),
        f"p is {show(p)}; expected a share of the draws, from 0 to 1.",
    )
    refuse(7, "this is the number of the draws.", "Divide it by the number of all draws.")
    expect(p <= 1, f"p is {show(p)}: this is a number of draws; expected their share.", "Divide by 27.")
    refuse(
        20 / 27, "in these draws B is better. Expected the others.", "All draws together have the share 1."
    )
    refuse(1 / 3, "this is the share of the sentences in which B is worse. Expected a share of the draws.")
    refuse(
        4 / 27,
        "you left out the draws in which both have the same sum.",
        "In the draw 2, -1, -1 the sum is 0, and B is not better.",
    )
    refuse(
        6 / 27,
        "you left out the draw in which B loses most.",
        "The third sentence can be drawn three times.",
    )
    refuse(
        1 / 27,
        "this is the one draw with -1 three times. There are others in which B is not better.",
        "What is the sum of 1, -1 and -1?",
    )
    refuse(
        3 / 10,
        "you counted draws without their order. They are not equally probable.",
        "2, -1, -1 can be drawn in three orders, and -1, -1, -1 in one.",
    )
    refuse(
        0,
        "this would be right if each sentence were drawn once. The bootstrap draws with repetition.",
        "A draw may hold the third sentence more than once.",
    )
    expect(abs(p - 7 / 27) < 0.004, f"p is {show(p)}; expected another number.")
    yield "in 7 of the 27 draws B is not better: one with -1 three times, and two times three with -1 twice"
    yield "so p is 0.26, and three sentences are not enough to call B better"


def _from_right(text: str, dictionary: Container[str], longest: int) -> list[str]:
    words: list[str] = []
    while text:
        n = next((n for n in range(min(longest, len(text)), 1, -1) if text[-n:] in dictionary), 1)
        words.insert(0, text[-n:])
        text = text[:-n]
    return words


def _expect_each_character(words: Sequence[str], text: str, case: str) -> None:
    all_characters = "".join(words)
    surplus = Counter(all_characters) - Counter(text)
    expect(
        not surplus,
        f"{case}: {all_characters!r} in all, where {''.join(surplus)!r} stands too often.",
        "When a word is cut off at the end, what is left of the text?",
    )
    expect(
        len(all_characters) == len(text),
        f"{case}: {all_characters!r} in all. Every character must be in one word.",
        "A character that is in no word of the dictionary is a word by itself.",
    )


@exercise(
    3,
    "implement",
    "Change three places of `longest_match`: where it looks for a match, where it puts a word, and what it cuts off.",
    "The last n characters are `text[-n:]`, and the others `text[:-n]`. `words.insert(0, word)` puts a word first.",
)
def longest_match_from_right(answer: ReadersFunction) -> Iterator[str]:
    def cut(text: str, dictionary: set[str], longest: int = 4) -> tuple[list[str], str]:
        result = answer(text, dictionary, longest=longest)
        expect(
            isinstance(result, list | tuple) and all(isinstance(word, str) for word in result),
            f"the result is {show(result)}; expected a list of words.",
            "Collect the words in a list.",
        )
        expected = _from_right(text, dictionary, longest)
        limit = f" and longest={longest}" if longest != 4 else ""
        case = (
            f"for {text!r} and the dictionary {sorted(dictionary)}{limit} the words are {show(list(result))}"
        )
        _expect_each_character(result, text, case)
        return list(result), f"{case}; expected {show(expected)}."

    words, message = cut("abc", {"ab", "bc"})
    expect(
        words != ["ab", "c"],
        f"{message} This is the cut from the left.",
        "Look at the end of the text: `text[-n:]`.",
    )
    expect(
        words != ["bc", "a"],
        f"{message} The words come in the order in which they were found.",
        "Put each new word before the others.",
    )
    expect(words != ["a", "cb"], f"{message} The letters of a word are reversed.", "Reverse no text.")
    expect(words == ["a", "bc"], message)
    yield "it cuts from the right, and gives the words in the order of the text"
    words, message = cut("abcd", {"cd", "bcd"})
    expect(
        words != ["a", "b", "cd"],
        f"{message} This is the shortest match.",
        "Try the long matches first: n goes down.",
    )
    expect(words == ["a", "bcd"], message)
    yield "it takes the longest match"
    words, message = cut("abcd", {"cd", "bcd"}, longest=2)
    expect(words != ["a", "bcd"], f"{message} A word is longer than `longest`.", "n begins at `longest`.")
    expect(
        words != ["a", "b", "c", "d"],
        f"{message} No word is as long as `longest`.",
        "`range(longest, 1, -1)` begins with `longest` itself.",
    )
    expect(words == ["a", "b", "cd"], message)
    yield "no match is longer than `longest`"
    words, message = cut("", {"ab"})
    expect(words == [], message)
    generator = random.Random(3)
    for num in (2, 5, 7, 11, 13, 17):
        dictionary = {"".join(generator.choices("abc", k=generator.randint(2, 5))) for _ in range(num)}
        text = "".join(generator.choices("abcd", k=num))
        words, message = cut(text, dictionary)
        expect(words == _from_right(text, dictionary, 4), message)
    yield "no character is lost, in texts and dictionaries drawn at random"


def _replace_or_drop(
    tokens: list[str], source: list[str], weights: Tensor, dictionary: Mapping[str, str]
) -> list[str]:
    words = []
    for token, row in zip(tokens, weights, strict=True):
        word = source[int(row.argmax())]
        if token != "<unk>":
            words.append(token)
        elif word in dictionary or re.fullmatch("[A-Za-z0-9]+", word):
            words.append(dictionary.get(word, word))
    return words


#: Chosen cases: tokens, source words, the source word that each token looks at, and the dictionary; results that
#: mistakes give, with what is wrong and a hint; and the point that the case proves.
_CASES_OF_DROPPING: list[
    tuple[list[str], list[str], list[int], dict[str, str], dict[str, tuple[str, str]], str]
] = [
    (
        ["yes", "<unk>"],
        ["是", "买"],
        [0, 1],
        {"是": "right", "买": "bought"},
        {
            "right bought": ("A known word must stay.", "Look words up only for `<unk>`."),
            "yes right": (
                "The word with the smallest weight was looked up.",
                "The largest weight of the row counts.",
            ),
            "yes <unk>": ("The unknown word has an entry.", "Ask `word in dictionary`."),
            "yes 买": ("The dictionary comes before the copy.", "Ask `word in dictionary` first."),
            "yes": ("A word of the dictionary must not be dropped.", "Ask `word in dictionary` first."),
        },
        "known words stay, and the dictionary is asked for unknown ones",
    ),
    (
        ["<unk>", "buy", "<unk>"],
        ["我", "书", "钱"],
        [1, 2, 0],
        {"我": "I", "书": "books", "钱": "money"},
        {
            "I buy money": (
                "The weights were not used.",
                "Row 0 of the weights belongs to token 0. Where is its largest weight?",
            ),
            "money buy books": (
                "Rows and columns of the weights are exchanged.",
                "A row belongs to a token, and a column to a source word.",
            ),
        },
        "the source word is the one with the largest weight",
    ),
    (
        ["I", "<unk>", "<unk>"],
        ["我", "iPhone", "赫"],
        [0, 1, 2],
        {},
        {
            "I iPhone 赫": (
                "A Chinese word must not be copied.",
                "`isalpha` and `isalnum` are true for Chinese characters, too.",
            ),
            "I": ("A word of Latin letters is copied.", "Only what cannot be copied is dropped."),
            "I iPhone ": ("Not even an empty word may be left.", "Append only where there is a word."),
            "I iPhone <unk>": ("The unknown word must go.", "Append nothing in this case."),
        },
        "Latin letters are copied, and Chinese is dropped",
    ),
    (
        ["<unk>", "<unk>", "<unk>"],
        ["2024", "OK", "K歌"],
        [0, 1, 2],
        {"OK": "fine"},
        {
            "fine": ("Digits are copied, too.", "The test must be true for digits."),
            "2024 OK": ("The dictionary comes before the copy.", "Ask the dictionary first."),
            "2024 fine K歌": (
                "K歌 does not consist of Latin letters.",
                "All characters of the word count, not only the first.",
            ),
        },
        "digits are copied, and the dictionary comes first",
    ),
    (
        ["Zoé", "<unk>", "<unk>", "."],
        ["佐伊", "C++", "书", "。"],
        [0, 1, 2, 3],
        {"书": "book"},
        {
            "book": (
                "A known word stays, whatever letters it has.",
                "Test the source word, and only for `<unk>`.",
            ),
            "C++ book .": (
                "A known word stays, also with an é, and C++ has more than letters and digits.",
                "Test the source word, and only for `<unk>`.",
            ),
            "Zoé C++ book .": (
                "C++ has more than letters and digits.",
                "`isascii` is true for punctuation marks, too.",
            ),
        },
        "known words stay, whatever letters they have",
    ),
]


@exercise(
    4,
    "implement",
    "For each token there are four cases: it is known, or the source word is in the dictionary, or it is of Latin "
    "letters or digits, or none of these.",
    "The source word of a row is `source[row.argmax()]`. `re.fullmatch('[A-Za-z0-9]+', word)` tests its letters.",
)
def replace_or_drop(answer: ReadersFunction) -> Iterator[str]:
    def expect_words(
        tokens: list[str],
        source: list[str],
        positions: list[int],
        dictionary: dict[str, str],
        mistakes: Mapping[str, tuple[str, str]],
    ) -> None:
        weights = 0.1 / len(source) + 0.9 * torch.eye(len(source))[positions]
        result = answer(tokens, source, weights, dictionary)
        expect(
            isinstance(result, list | tuple) and all(isinstance(word, str) for word in result),
            f"the result is {show(result)}; expected a list of words.",
            "Append a word to a list, or append nothing.",
        )
        source_words = [source[i] for i in positions]
        expected = _replace_or_drop(tokens, source, weights, dictionary)
        message, *hints = mistakes.get(" ".join(result), ("",))
        expect(
            list(result) == expected,
            f"for the tokens {tokens}, which look at {source_words}, and the dictionary {dictionary} the result is "
            f"{show(list(result))}; expected {show(expected)}. {message}".strip(),
            *hints,
        )

    for *case, point in _CASES_OF_DROPPING:
        expect_words(*case)
        yield point
    generator = random.Random(5)
    words = ["买", "书", "2024", "OK", "赫", "iPad", "。"]
    for num in (3, 5, 11):
        tokens = generator.choices(["<unk>", "a", "b"], k=num)
        positions = generator.choices(range(len(words)), k=num)
        expect_words(tokens, words, positions, {"买": "bought", "OK": "fine"}, {})
    yield "it is right for tokens and weights drawn at random"


@cache
def _to_simplified() -> OpenCC:
    return OpenCC("t2s")


@exercise(
    5,
    "experiment",
    "Let a loop go over `chr(0x4E00)` to `chr(0x9FFF)`, and collect for each simplified character the characters that "
    "become it.",
    "Look for a simplified character that three traditional ones become, each of which `to_simplified` changes.",
)
def same_when_folded(answer: object) -> Iterator[str]:
    expect_written(answer)
    if isinstance(answer, str):
        characters = re.findall(r"\w", answer)  # also those that stand between commas or blanks
    else:
        expect(
            isinstance(answer, list | tuple | set) and all(isinstance(item, str) for item in answer),
            f"same is {show(answer)}; expected three characters in quotes, or a list of them.",
        )
        characters = list(answer)
    expect(
        all(len(character) == 1 for character in characters),
        f"same is {show(characters)}; expected single characters.",
        "A word of two characters would be folded with the help of its neighbours.",
    )
    expect(
        len(set(characters)) == len(characters),
        f"same is {show(characters)}: a character stands there twice.",
    )
    expect(
        len(characters) >= 3,
        f"same has {len(characters)} characters; expected three.",
        "發 and 髮 are two. Is there a third one, or another group?",
    )
    yield f"there are {len(characters)} different characters"
    forms = {character: _to_simplified().convert(character) for character in characters}
    if len(set(forms.values())) > 1:
        pairs = ", ".join(f"{old} → {new}" for old, new in forms.items())
        raise Wrong(
            f"they do not become one character: {pairs}.", "Compare what `to_simplified` makes of each."
        )
    [form] = set(forms.values())
    yield f"folding makes one character of them, {form}"
    expect(
        form not in characters,
        f"{form} is a simplified character itself: folding does not change it. Expected traditional ones.",
        "Take only characters that `to_simplified` changes.",
    )
    yield "all are traditional: folding changes each"


@exercise(6, "open")
def higher_score(answer: object) -> Iterator[str]:
    yield from compare_with_rubric(
        answer,
        (
            "It asks for the sentences: the edition of the file, by its checksum, and which of its rows were the test. "
            "Scores on other sentences cannot be compared.",
            "It asks how the test was drawn: by rows or by groups. If it leaks, a part of the score is memory.",
            "It asks for the settings of BLEU, its signature: another tokeniser gives another number.",
            "It asks for the interval, or for a paired test on the same sentences.",
            "It says what would settle the question: both translators on one test set, scored by one command.",
        ),
    )
