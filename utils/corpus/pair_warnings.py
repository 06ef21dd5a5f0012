"""Warnings about pairs that can be read but may not be what a user means: other languages, a header, odd cells.

What a file of another form looks like is in ``text_files``.
Explained in book/your_translator.
"""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import regex
from babel.core import Locale
from babel.localedata import locale_identifiers

from utils.corpus.languages import name, primary, script
from utils.corpus.text_files import refuse_text

#: The scripts of Unicode that are mixed in a way of writing; all others have one of their own.
_MIXED = {"Hans": ["Hani"], "Hant": ["Hani"], "Jpan": ["Hani", "Hira", "Kana"], "Kore": ["Hang", "Hani"]}
#: Frequent words that few other languages of this list have.
_FREQUENT = {
    "de": "der die das und ist ich nicht ein zu sie es wir mit hat",
    "en": "the is you to of that it this was he what have they and",
    "es": "el los las una es que y por está no muy lo esto mi",
    "fr": "le les des est je vous une pas et ce il nous qui elle",
    "it": "il gli che di è non sono una per questo mi della ho lo",
    "nl": "de het een ik niet van is en dat je hij zijn wij met",
    "pt": "o os que não uma é ele você eu um muito com isso está",
}
#: Words with which people name columns of sentences, and the largest number of words in such a name.
_COLUMNS = {
    "source", "target", "src", "tgt", "trg", "sentence", "translation", "text", "original", "id", "language", "lang",
}  # fmt: skip
_SHORT = 5
#: A share of cells that is nearly all, and one of rows that is more than a few odd ones.
_NEARLY_ALL, _MANY = 0.9, 0.01


def warnings_about(
    languages: tuple[str, str], first: tuple[str, str], sample: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Reasons to doubt that two columns are sentences in these languages, one line each.

    Args:
        languages: of the two columns.
        first: the first row.
        sample: rows of the file, in the order of ``languages``.

    >>> list(warnings_about(("en", "fr"), ("source", "target"), [("the cat", "le chat")]))
    ['the first row looks like a header, which is no pair: source, target']

    Explained in book/your_translator.
    """
    refuse_text(languages=languages, first=first, sample=sample)
    if _is_header(first, languages):
        yield f"the first row looks like a header, which is no pair: {', '.join(first)}"
    for code, column in zip(languages, zip(*sample, strict=True), strict=True):
        if name(code) is None:
            yield f"{code} is not a known language code: its text is cut into words at blanks"
        if _share(_is_no_sentence, column) >= _NEARLY_ALL:
            yield (
                f"the {code} column has no sentences but cells such as {shortened(column[0], 40)}: "
                "the sentences must be the first two columns"
            )
        elif doubt := _script_doubt(code, column) or _words_doubt(code, column):
            yield f"the {code} column does not look like {name(code) or code}: {doubt}"
        if _share(_is_quoted, column) >= _NEARLY_ALL:
            yield f"nearly all cells of the {code} column are in quotes, which the translator learns"
    texts = [" ".join(pair) for pair in sample]
    for trace, meaning in (
        (_entity, "HTML entities"),
        (_tag, "tags of HTML or names of sounds"),
        (_replacement, "the mark of characters that were lost"),
        (_wrongly_decoded, "the traces of a wrong decoding"),
    ):
        found = [text for text in map(trace, texts) if text]
        if len(found) > max(1, _MANY * len(texts)):
            yield f"{len(found) / len(texts):.0%} of the pairs hold {meaning}, such as {found[0]}"


def shortened(text: str, num: int) -> str:
    """The first characters of a text, as a person counts them: an emoji is not cut.

    >>> shortened("👨‍👩‍👧 abc", 3)
    '👨‍👩‍👧 a'

    Explained in book/your_translator.
    """
    return regex.match(rf"\X{{0,{num}}}", text)[0]


def _share(test: Callable[[str], bool], cells: Sequence[str]) -> float:
    return sum(map(test, cells)) / len(cells)


def _is_no_sentence(cell: str) -> bool:
    """A cell without letters, or one word with digits, as numbers, times and names of sentences are."""
    return not any(map(str.isalpha, cell)) or bool(re.fullmatch(r"[\x21-\x7e]*\d[\x21-\x7e]*", cell))


def _is_quoted(cell: str) -> bool:
    return len(cell) > 1 and cell[0] in "\"'“„«" and cell[-1] in "\"'”“»"


def _entity(text: str) -> str | None:
    found = re.finditer(r"&#?\w+;", text)
    return next((match[0] for match in found if html.unescape(match[0]) != match[0]), None)


def _tag(text: str) -> str | None:
    found = re.search(r"</?(?:div|br|span|p|b|i|u|img|font)\b[^<>]*>|\[sound:[^\[\]]*\]", text)
    return found and found[0]


def _replacement(text: str) -> str | None:
    return "\ufffd" if "\ufffd" in text else None


def _wrongly_decoded(text: str) -> str | None:
    """Characters which, as bytes of an encoding of Western Europe, are other characters in UTF-8.

    >>> _wrongly_decoded("dÃ©jÃ vu"), _wrongly_decoded("déjà vu")
    ('Ã© in place of é', None)
    """
    for encoding in ("cp1252", "latin-1"):
        for run in re.findall(r"[^\x00-\x7f]{2,}", text):
            try:
                return f"{run} in place of {run.encode(encoding).decode('utf-8')}"
            except UnicodeError:
                continue
    return None


def _is_header(first: tuple[str, str], languages: tuple[str, str]) -> bool:
    """Whether the first row names columns in place of being a pair.

    Each cell has a few words and no mark at its end. One of the words names a language or is a word for a column. The
    cells do not name the same language, as a sentence and its translation would.
    """
    names, codes = _names(languages), {primary(code) for code in languages}
    named = []
    for cell in first:
        # Words in camel case are two words.
        words = regex.findall(r"[\p{L}\p{M}]+", re.sub("(?<=[a-z])(?=[A-Z])", " ", cell))
        words = [word.casefold() for word in words]
        found = {names.get(word, primary(word)) for word in words if word in names or primary(word) in codes}
        if len(words) > _SHORT or cell.strip().endswith((".", "!", "?", "。", "！", "？")):
            return False
        if not found and not any(word.removesuffix("s") in _COLUMNS for word in words):
            return False
        named.append(found)
    return not (named[0] and named[0] == named[1])


@lru_cache(maxsize=10)
def _names(languages: tuple[str, str]) -> dict[str, str]:
    """The code of each language by its name in English and in these two languages, in small letters."""
    names = {"mandarin": "zh"}
    for code in ("en", *map(primary, languages)):
        if Locale.negotiate([code], locale_identifiers()):
            names |= {name.casefold(): primary(tag) for tag, name in Locale(code).languages.items()}
    return names


def _script_doubt(code: str, texts: Sequence[str]) -> str | None:
    usual = script(code)
    letters = "".join(filter(str.isalpha, "".join(texts)))
    try:
        expected = "".join(rf"\p{{Script={part}}}" for part in _MIXED.get(usual, [usual]))
        others = regex.sub(f"[{expected}]", "", letters)
    except regex.error:  # the language or its script is not known
        return None
    if 2 * len(others) <= len(letters):
        return None
    kinds = Counter(unicodedata.name(letter, "?").split()[0].split("-")[0] for letter in others)
    [(kind, count)] = kinds.most_common(1)
    return f"{count / len(letters):.0%} of its letters are {kind.capitalize()}"


def _words_doubt(code: str, texts: Sequence[str]) -> str | None:
    words = Counter(word for text in texts for word in re.findall(r"\w+", text.lower()))
    counts = {lang: sum(words[word] for word in frequent.split()) for lang, frequent in _FREQUENT.items()}
    if primary(code) not in counts or not words:
        return None
    best = max(counts, key=lambda lang: counts[lang])
    # Languages share a few words, and short sentences have few frequent words.
    if counts[best] >= 20 and counts[best] > 3 * counts[primary(code)]:
        return f"its words are rather {name(best)}"
    return None
