"""What three printed pairs do not show: a column that is no sentences, which is refused, and broken encodings.

What a file of another form looks like is in ``text_files``.
Explained in book/your_translator.
"""

import html
import re
from collections.abc import Iterator, Sequence

import regex

from utils.checks import refuse_text
from utils.corpus.languages import name
from utils.errors import CourseError

#: A share of cells that is most of a column, and one of rows that is more than a few odd ones.
_MOST, _MANY = 0.5, 0.01


def check_sentences(languages: tuple[str, str], sample: Sequence[tuple[str, str]]) -> None:
    """Raise an error if most cells of a column are numbers, times or names of sentences.

    A column whose code is no language may hold anything.

    Args:
        languages: of the two columns.
        sample: rows of the file, in that order.

    Raises:
        ValueError: with the language and a cell.
    """
    refuse_text(languages=languages, sample=sample)
    for code, column in zip(languages, zip(*sample, strict=True), strict=True):
        odd = list(filter(_is_no_sentence, column))
        if len(odd) >= _MOST * len(column) and name(code) is not None:
            raise CourseError(
                f"{len(odd) / len(column):.0%} of the {code} column are no sentences but cells such as "
                f"{shortened(odd[0], 40)}: the sentences must be the first two columns (cut -f2,4 FILE > NEW takes the "
                "second and the fourth one); a column that is meant to be no language can be called xx"
            )


def warnings_about(languages: tuple[str, str], sample: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Reasons to doubt that two columns are sentences and their translations, one line each.

    Args:
        languages: of the two columns.
        sample: rows of the file, in that order.

    >>> list(warnings_about(("en", "fr"), [("R&amp;D", "R&amp;D")] * 7))
    ['100% of the pairs hold HTML entities, such as &amp;']
    """
    refuse_text(languages=languages, sample=sample)
    for code in languages:
        if name(code) is None:
            yield f"{code} is not a known language code: its text is cut into words at blanks"
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
