"""Answers to the exercises of chapters/chinese_english."""

import re
from fractions import Fraction
from itertools import pairwise

import torch
from answers import Answers

from utils.exercises import chinese_english as check

answers = Answers(check)

# ---- Exercise 1 ----

for letter in ("b", "B", " (b) "):
    answers.right(check.folded_last, letter)
answers.wrong(check.folded_last, "a", says="Folding comes afterwards", hint="four rows")
answers.wrong(check.folded_last, "c", says="removes no row", hint="four rows")
answers.wrong(check.folded_last, "d", says="only where these are equal", hint="written the same")
answers.wrong(check.folded_last, "a leak", says="none of the choices", hint="one letter in quotes")

# ---- Exercise 2 ----

for p in (7 / 27, Fraction(7, 27), 0.26, "7 / 27", "7/27", torch.tensor(0.259), "26 %"):
    answers.right(check.paired_by_hand, p)
answers.wrong(check.paired_by_hand, 7, says="the number of the draws", hint="Divide it")
answers.wrong(check.paired_by_hand, 4, says="a number of draws; expected their share", hint="by 27")
answers.wrong(check.paired_by_hand, 20 / 27, says="in these draws B is better", hint="share 1")
answers.wrong(check.paired_by_hand, 1 / 3, says="share of the sentences", hint="sums of three")
answers.wrong(check.paired_by_hand, 4 / 27, says="the same sum", hint="the sum is 0")
answers.wrong(check.paired_by_hand, 6 / 27, says="B loses most", hint="three times")
answers.wrong(check.paired_by_hand, 25.9, says="25.9, which is in per cent", hint="0.5")
answers.wrong(check.paired_by_hand, 1 / 27, says="one draw with -1 three times", hint="1, -1 and -1")
answers.wrong(check.paired_by_hand, 0.3, says="without their order", hint="three orders")
answers.wrong(check.paired_by_hand, 0, says="drawn once", hint="more than once")
answers.wrong(check.paired_by_hand, 45.2, says="from 0 to 1", hint="sums of three")
answers.wrong(check.paired_by_hand, 0.5, says="p is 0.5; expected another", hint="At least two")
answers.wrong(check.paired_by_hand, "a quarter", says="the text 'a quarter'", hint="sums of three")

# ---- Exercise 3 ----


def from_right(text, dictionary, longest=4):
    words = []
    while text:
        lengths = range(min(longest, len(text)), 1, -1)
        n = next((n for n in lengths if text[-n:] in dictionary), 1)
        words.insert(0, text[-n:])
        text = text[:-n]
    return words


def of_the_reversed_text(text, dictionary, longest=4):
    reversed_dictionary = {word[::-1] for word in dictionary}
    return tuple(word[::-1] for word in reversed(from_left(text[::-1], reversed_dictionary, longest)))


def by_places(text, dictionary, longest=4):
    cuts = [len(text)]
    while cuts[-1] > 0:
        end = cuts[-1]
        starts = range(max(0, end - longest), end)
        cuts.append(next(start for start in starts if text[start:end] in dictionary or start == end - 1))
    cuts.reverse()
    return [text[start:end] for start, end in pairwise(cuts)]


def from_left(text, dictionary, longest=4):
    words = []
    while text:
        lengths = range(min(longest, len(text)), 1, -1)
        n = next((n for n in lengths if text[:n] in dictionary), 1)
        words.append(text[:n])
        text = text[n:]
    return words


def last_word_first(text, dictionary, longest=4):
    return from_right(text, dictionary, longest)[::-1]


def letters_reversed(text, dictionary, longest=4):
    return [word[::-1] for word in from_right(text, dictionary, longest)]


def shortest_match(text, dictionary, longest=4):
    words = []
    while text:
        lengths = range(2, min(longest, len(text)) + 1)
        n = next((n for n in lengths if text[-n:] in dictionary), 1)
        words.insert(0, text[-n:])
        text = text[:-n]
    return words


def unknown_characters_lost(text, dictionary, longest=4):
    return [word for word in from_right(text, dictionary, longest) if len(word) > 1]


def longest_ignored(text, dictionary, longest=4):
    return from_right(text, dictionary, 4)


def never_as_long_as_longest(text, dictionary, longest=4):
    return from_right(text, dictionary, longest - 1)


def cut_off_at_the_beginning(text, dictionary, longest=4):
    words = []
    while text:
        lengths = range(min(longest, len(text)), 1, -1)
        n = next((n for n in lengths if text[-n:] in dictionary), 1)
        words.insert(0, text[-n:])
        text = text[n:]
    return words


def words_in_one_string(text, dictionary, longest=4):
    return " ".join(from_right(text, dictionary, longest))


for answer in (from_right, of_the_reversed_text, by_places):
    answers.right(check.longest_match_from_right, answer)
answers.wrong(check.longest_match_from_right, from_left, says="cut from the left", hint="end of the text")
answers.wrong(check.longest_match_from_right, last_word_first, says="were found", hint="before the others")
answers.wrong(check.longest_match_from_right, letters_reversed, says="are reversed", hint="Reverse no text")
answers.wrong(check.longest_match_from_right, shortest_match, says="the shortest match", hint="n goes down")
answers.wrong(
    check.longest_match_from_right, unknown_characters_lost, says="'bc' in all", hint="a word by itself"
)
answers.wrong(check.longest_match_from_right, longest_ignored, says="longer than `longest`", hint="n begins")
answers.wrong(
    check.longest_match_from_right, never_as_long_as_longest, says="as long as `longest`", hint="itself"
)
answers.wrong(
    check.longest_match_from_right, cut_off_at_the_beginning, says="'c' stands too often", hint="is left"
)
answers.wrong(check.longest_match_from_right, words_in_one_string, says="a list of words", hint="Collect")

# ---- Exercise 4 ----


def four_cases(tokens, source, weights, dictionary):
    written = []
    for token, row in zip(tokens, weights, strict=True):
        word = source[row.argmax()]
        if token != "<unk>":
            written.append(token)
        elif word in dictionary or re.fullmatch("[A-Za-z0-9]+", word):
            written.append(dictionary.get(word, word))
    return written


def in_a_tuple(tokens, source, weights, dictionary):
    copied = {word: word for word in source if word.isascii() and word.isalnum()} | dictionary
    looked = [source[place] for place in weights.argmax(dim=1)]
    found = [
        copied.get(word) if token == "<unk>" else token for token, word in zip(tokens, looked, strict=True)
    ]
    return tuple(word for word in found if word is not None)


def attention_ignored(tokens, source, weights, dictionary):
    return four_cases(tokens, source, torch.eye(len(source))[: len(tokens)], dictionary)


def rows_and_columns_exchanged(tokens, source, weights, dictionary):
    return four_cases(tokens, source, [weights[:, place] for place in range(len(tokens))], dictionary)


def smallest_weight(tokens, source, weights, dictionary):
    return four_cases(tokens, source, -weights, dictionary)


def all_words_tested(tokens, source, weights, dictionary):
    looked = [source[place] for place in weights.argmax(dim=1)]
    found = [dictionary.get(w, w) if t == "<unk>" else t for t, w in zip(tokens, looked, strict=True)]
    return [word for word in found if re.fullmatch("[A-Za-z0-9]+", word)]


def all_words_of_ascii(tokens, source, weights, dictionary):
    looked = [source[place] for place in weights.argmax(dim=1)]
    found = [dictionary.get(w, w) if t == "<unk>" else t for t, w in zip(tokens, looked, strict=True)]
    return [word for word in found if word.isascii()]


def ascii_copied(tokens, source, weights, dictionary):
    copied = {word: word for word in source if word.isascii()} | dictionary
    looked = [source[place] for place in weights.argmax(dim=1)]
    found = [copied.get(w, "") if t == "<unk>" else t for t, w in zip(tokens, looked, strict=True)]
    return [word for word in found if word]


def chinese_is_alnum_too(tokens, source, weights, dictionary):
    copied = {word: word for word in source if word.isalnum()} | dictionary
    looked = [source[place] for place in weights.argmax(dim=1)]
    found = [
        copied.get(word, "") if token == "<unk>" else token
        for token, word in zip(tokens, looked, strict=True)
    ]
    return [word for word in found if word]


def known_words_looked_up(tokens, source, weights, dictionary):
    looked = [source[place] for place in weights.argmax(dim=1)]
    return [dictionary.get(word, token) for token, word in zip(tokens, looked, strict=True)]


def dictionary_ignored(tokens, source, weights, dictionary):
    return four_cases(tokens, source, weights, {})


def nothing_copied(tokens, source, weights, dictionary):
    looked = [source[place] for place in weights.argmax(dim=1)]
    kept = [dictionary.get(w, "") if t == "<unk>" else t for t, w in zip(tokens, looked, strict=True)]
    return [word for word in kept if word]


def empty_words_left(tokens, source, weights, dictionary):
    looked = [source[place] for place in weights.argmax(dim=1)]
    copied = {word: word for word in source if re.fullmatch("[A-Za-z0-9]+", word)} | dictionary
    return [copied.get(w, "") if t == "<unk>" else t for t, w in zip(tokens, looked, strict=True)]


def unknown_left(tokens, source, weights, dictionary):
    looked = [source[place] for place in weights.argmax(dim=1)]
    copied = {word: word for word in source if re.fullmatch("[A-Za-z0-9]+", word)} | dictionary
    return [copied.get(w, t) if t == "<unk>" else t for t, w in zip(tokens, looked, strict=True)]


def letters_only(tokens, source, weights, dictionary):
    looked = [source[place] for place in weights.argmax(dim=1)]
    copied = {word: word for word in source if re.fullmatch("[A-Za-z]+", word)} | dictionary
    found = [copied.get(w, "") if t == "<unk>" else t for t, w in zip(tokens, looked, strict=True)]
    return [word for word in found if word]


def first_letter_only(tokens, source, weights, dictionary):
    looked = [source[place] for place in weights.argmax(dim=1)]
    copied = {word: word for word in source if re.match("[A-Za-z0-9]", word)} | dictionary
    found = [copied.get(w, "") if t == "<unk>" else t for t, w in zip(tokens, looked, strict=True)]
    return [word for word in found if word]


def one_string(tokens, source, weights, dictionary):
    return " ".join(four_cases(tokens, source, weights, dictionary))


for answer in (four_cases, in_a_tuple):
    answers.right(check.replace_or_drop, answer)
answers.wrong(check.replace_or_drop, attention_ignored, says="weights were not used", hint="largest weight")
answers.wrong(check.replace_or_drop, rows_and_columns_exchanged, says="are exchanged", hint="a column to")
answers.wrong(check.replace_or_drop, smallest_weight, says="smallest weight", hint="largest weight")
answers.wrong(check.replace_or_drop, all_words_tested, says="stays, whatever letters", hint="only for")
answers.wrong(check.replace_or_drop, all_words_of_ascii, says="also with an é", hint="only for")
answers.wrong(
    check.replace_or_drop, ascii_copied, says="expected ['Zoé', 'book', '.']. C++ has", hint="isascii"
)
answers.wrong(check.replace_or_drop, chinese_is_alnum_too, says="must not be copied", hint="isalnum")
answers.wrong(check.replace_or_drop, known_words_looked_up, says="known word must stay", hint="only for")
answers.wrong(check.replace_or_drop, dictionary_ignored, says="must not be dropped", hint="in dictionary")
answers.wrong(check.replace_or_drop, nothing_copied, says="Latin letters is copied", hint="cannot be copied")
answers.wrong(check.replace_or_drop, empty_words_left, says="empty word", hint="where there is a word")
answers.wrong(check.replace_or_drop, unknown_left, says="The unknown word must go", hint="Append nothing")
answers.wrong(check.replace_or_drop, letters_only, says="Digits are copied", hint="true for digits")
answers.wrong(check.replace_or_drop, first_letter_only, says="does not consist", hint="not only the first")
answers.wrong(check.replace_or_drop, one_string, says="a list of words", hint="Append a word")

# ---- Exercise 5 ----

for same in ("乾幹榦", "臺, 檯, 颱", ["臺", "檯", "颱"], ("歷", "曆", "厤"), "墰壇壜罈罎"):
    answers.right(check.same_when_folded, same)
answers.wrong(check.same_when_folded, "發髮", says="has 2 characters", hint="another group")
answers.wrong(check.same_when_folded, "发發髮", says="a simplified character itself", hint="changes")
answers.wrong(check.same_when_folded, "發髮語", says="語 → 语", hint="Compare what")
answers.wrong(check.same_when_folded, "發發髮", says="stands there twice", hint="a loop")
answers.wrong(check.same_when_folded, ["出發", "頭髮", "髮"], says="single characters", hint="neighbours")
answers.wrong(check.same_when_folded, 3, says="three characters in quotes", hint="a loop")

# ---- Exercise 6 ----

answers.right(
    check.higher_score, "I would ask for the checksum of the file and for the rows of the test. " * 3
)
answers.right(
    check.higher_score,
    "我要先知道他用的是哪个版本的文件，测试集是按行还是按组分的，折叠在分之前还是之后，以及 BLEU 的设置。",
)
answers.wrong(check.higher_score, "35 is better.", says="Your answer has 3 words", hint="before you look")

test_right, test_wrong, test_number = answers.tests()
