"""Warnings about what three printed pairs do not show: a header, a column that is no sentences, broken encodings.

What a file of another form looks like is in ``text_files``.
Explained in book/your_translator.
"""

import html
import re
from collections.abc import Iterator, Sequence

import regex

from utils.corpus.languages import name, primary
from utils.corpus.text_files import refuse_text

#: Words with which people name columns of sentences, and the largest number of words in such a name.
_COLUMNS = {
    "source", "target", "src", "tgt", "trg", "sentence", "translation", "text", "original", "id", "language", "lang",
}  # fmt: skip
_SHORT = 5
#: A share of cells that is most of a column, and one of rows that is more than a few odd ones.
_MOST, _MANY = 0.5, 0.01


def warnings_about(
    languages: tuple[str, str], first: tuple[str, str], sample: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Reasons to doubt that two columns are sentences and their translations, one line each.

    Args:
        languages: of the two columns.
        first: the first row.
        sample: rows of the file, in the order of ``languages``.

    >>> list(warnings_about(("en", "fr"), ("source", "target"), [("the cat", "le chat")]))
    ['the first row looks like a header, which is no pair: source, target']
    """
    refuse_text(languages=languages, first=first, sample=sample)
    if _is_header(first, languages):
        yield f"the first row looks like a header, which is no pair: {', '.join(first)}"
    for code, column in zip(languages, zip(*sample, strict=True), strict=True):
        if name(code) is None:
            yield f"{code} is not a known language code: its text is cut into words at blanks"
        odd = list(filter(_is_no_sentence, column))
        if len(odd) >= _MOST * len(column):
            yield (
                f"{len(odd) / len(column):.0%} of the {code} column are no sentences but cells such as "
                f"{shortened(odd[0], 40)}: the sentences must be the first two columns"
            )
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
    """
    return regex.match(rf"\X{{0,{num}}}", text)[0]


def _is_no_sentence(cell: str) -> bool:
    """A cell without letters, or one word with digits, as numbers, times and names of sentences are."""
    return not any(map(str.isalpha, cell)) or bool(re.fullmatch(r"[\x21-\x7e]*\d[\x21-\x7e]*", cell))


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

    Each cell has a few words and no mark at its end, and one of the words is for a column: the code or the English
    name of one of the languages, or such as "source".
    """
    codes = {primary(code) for code in languages}
    names = _COLUMNS | {(name(code) or code).casefold() for code in languages}
    for cell in first:
        # Words in camel case are two words.
        words = regex.findall(r"[\p{L}\p{M}]+", re.sub("(?<=[a-z])(?=[A-Z])", " ", cell).casefold())
        if len(words) > _SHORT or cell.strip().endswith((".", "!", "?", "。", "！", "？")):
            return False
        if not any(word.removesuffix("s") in names or primary(word) in codes for word in words):
            return False
    return True
