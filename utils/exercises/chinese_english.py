"""Checks of the exercises of chapters/chinese_english."""

import random
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

import torch
from opencc import OpenCC

from utils.exercises.checking import (
    ReadersFunction,
    choice,
    exercise,
    expect,
    expect_numbers,
    expect_written,
    in_words,
    show,
)


@choice(
    1,
    "Write down four rows: 漢語很難。 with one English sentence, 汉语很难。 with another, and two rows of other words. "
    "Which of them share a sentence before folding, and which after it?",
    "A group joins rows whose Chinese or English sentence is written the same.",
    right="b",
)
def folded_last() -> dict[str, str]:
    return {
        "a": "the groups are whole in the rows as they were written. Folding comes afterwards and makes equal what "
        "was different.",
        "b": "before folding, the two scripts make two sentences of one, so nothing joins the rows. One may go into "
        "the test and the other into training, and after folding the Chinese sentence of the test stands in both.",
        "c": "folding rewrites characters and removes no row. No row moves to the other part, either.",
        "d": "the rows are joined by their English sentences only where these are equal, and here they differ.",
    }


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


#: A wrong list of words, with blanks between them, what it is, and a hint.
WrongWords = tuple[str, str, str]


def _compare(result: object, expected: list[str], case: str, mistakes: Iterable[WrongWords]) -> None:
    expect(
        isinstance(result, list | tuple) and all(isinstance(word, str) for word in result),
        f"the result is {show(result)}; expected a list of words.",
        "Collect the words in a list.",
    )
    words: list[str] = list(result)  # type: ignore[call-overload]
    for wrong, says, hint in mistakes:
        is_right = words == expected or " ".join(words) != wrong
        expect(is_right, f"{case} the words are {show(words)}: {says}. Expected {show(expected)}.", hint)
    expect(words == expected, f"{case} the words are {show(words)}; expected {show(expected)}.")


def _from_right(text: str, dictionary: Container[str], longest: int) -> list[str]:
    words: list[str] = []
    while text:
        n = next((n for n in range(min(longest, len(text)), 1, -1) if text[-n:] in dictionary), 1)
        words.insert(0, text[-n:])
        text = text[:-n]
    return words


@exercise(
    3,
    "Change three places of `longest_match`: where it looks for a match, where it puts a word, and what it cuts off.",
    "The last n characters are `text[-n:]`, and the others `text[:-n]`. `words.insert(0, word)` puts a word first.",
)
def longest_match_from_right(answer: ReadersFunction) -> Iterator[str]:
    def compare(text: str, dictionary: set[str], longest: int, *mistakes: WrongWords) -> None:
        expected = _from_right(text, dictionary, longest)
        case = f"for {text!r}, the dictionary {sorted(dictionary)} and longest={longest}"
        _compare(answer(text, dictionary, longest=longest), expected, case, mistakes)

    from_left = ("ab c", "this is the cut from the left", "Look at the end of the text: `text[-n:]`.")
    as_found = ("bc a", "they come in the order in which they were found", "Put each word before the others.")
    lost = ("bc", "a character is lost", "A character that no match covers is a word by itself.")
    compare("abc", {"ab", "bc"}, 4, from_left, as_found, lost)
    yield "it cuts from the right, and gives the words in the order of the text"
    match = ("a b cd", "this is the shortest match", "Try the long matches first: n goes down.")
    compare("abcd", {"cd", "bcd"}, 4, match)
    yield "it takes the longest match"
    longer = ("a bcd", "a word is longer than `longest`", "n begins at `longest`.")
    shorter = ("a b c d", "no word is as long as `longest`", "`range(longest, 1, -1)` begins with `longest`.")
    compare("abcd", {"cd", "bcd"}, 2, longer, shorter)
    yield "no match is longer than `longest`"
    generator = random.Random(3)
    for num in (0, 2, 5, 7, 11, 13, 17):
        dictionary = {"".join(generator.choices("abc", k=generator.randint(2, 5))) for _ in range(num)}
        compare("".join(generator.choices("abcd", k=num)), dictionary, 4)
    yield "no character is lost, in texts and dictionaries drawn at random"


def _replace_or_drop(
    tokens: list[str], source: list[str], positions: list[int], dictionary: Mapping[str, str]
) -> list[str]:
    words = []
    for token, position in zip(tokens, positions, strict=True):
        word = source[position]
        if token != "<unk>":
            words.append(token)
        elif word in dictionary or re.fullmatch("[A-Za-z0-9]+", word):
            words.append(dictionary.get(word, word))
    return words


_FIRST = "Ask `word in dictionary` first."
_ROW = "A row of the weights belongs to a token, and a column to a source word."
#: Tokens, source words, the place of the source word that each token looks at, and the dictionary; the point that the
#: case proves; and results that mistakes give, what they are, and a hint.
_CASES_OF_DROPPING = (
    (
        ("yes <unk>", "是 买", [0, 1], {"是": "right", "买": "bought"}),
        "known words stay, and the dictionary is asked for unknown ones",
        ("yes right", "the word with the smallest weight was looked up", _ROW),
        ("yes", "a word of the dictionary must not be dropped", _FIRST),
    ),
    (
        ("<unk> buy <unk>", "我 书 钱", [1, 2, 0], {"我": "I", "书": "books", "钱": "money"}),
        "the source word is the one with the largest weight",
        ("I buy money", "the weights were not used", _ROW),
        ("money buy books", "rows and columns of the weights are exchanged", _ROW),
    ),
    (
        ("I <unk> <unk>", "我 iPhone 赫", [0, 1, 2], {}),
        "Latin letters are copied, and Chinese is dropped",
        ("I iPhone 赫", "a Chinese word must not be copied", "`isalpha` is true for Chinese, too."),
        ("I iPhone ", "not even an empty word may be left", "Append only where there is a word."),
        ("I iPhone <unk>", "the unknown word must go", "Append nothing in this case."),
    ),
    (
        ("Zoé <unk> <unk> <unk> <unk>", "佐伊 2024 OK K歌 C++", [0, 1, 2, 3, 4], {"OK": "fine"}),
        "digits are copied, and the dictionary comes first",
        ("Zoé fine", "digits are copied, too", "The test must be true for digits."),
        ("Zoé 2024 OK", "the dictionary comes before the copy", _FIRST),
        ("Zoé 2024 fine K歌", "K歌 does not consist of Latin letters", "All characters count."),
        ("Zoé 2024 fine C++", "C++ has more than letters", "`isascii` is true for punctuation marks, too."),
    ),
)


@exercise(
    4,
    "For each token there are four cases: it is known, or the source word is in the dictionary, or it is of Latin "
    "letters or digits, or none of these.",
    "The source word of a row is `source[row.argmax()]`. `re.fullmatch('[A-Za-z0-9]+', word)` tests its letters.",
)
def replace_or_drop(answer: ReadersFunction) -> Iterator[str]:
    draw = random.Random(5)
    tokens, places = draw.choices(["<unk>", "a", "b"], k=11), draw.choices(range(7), k=11)
    inputs = " ".join(tokens), "买 书 2024 OK 赫 iPad 。", places, {"买": "bought", "OK": "fine"}
    drawn = inputs, "it is right for tokens drawn at random"
    for (token_text, source_text, places, dictionary), point, *mistakes in (*_CASES_OF_DROPPING, drawn):
        tokens, source = token_text.split(), source_text.split()
        weights = 0.1 / len(source) + 0.9 * torch.eye(len(source))[places]
        expected = _replace_or_drop(tokens, source, places, dictionary)
        looked = [source[i] for i in places]
        case = f"for the tokens {tokens}, which look at {looked}, and the dictionary {dictionary}"
        _compare(answer(tokens, source, weights, dictionary), expected, case, mistakes)
        yield point


@exercise(
    5,
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


@in_words(6)
def higher_score() -> Sequence[str]:
    return (
        "It asks for the sentences: the edition of the file, by its checksum, and which of its rows were the test. "
        "Scores on other sentences cannot be compared.",
        "It asks how the test was drawn: by rows or by groups. If it leaks, a part of the score is memory.",
        "It asks for the settings of BLEU, its signature: another tokeniser gives another number.",
        "It asks for the interval, or for a paired test on the same sentences.",
        "It says what would settle the question: both translators on one test set, scored by one command.",
    )
