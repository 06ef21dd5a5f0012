"""Language codes: which codes mean the same, how the language is written, and whether a text looks like it.

The codes, names and scripts come from Unicode's CLDR, by `babel`. ``pairs`` reads and cuts the text.
Explained in book/api/command_line.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from babel.core import Locale, get_global, parse_locale

#: The words with which the Unicode names of a script's letters begin, by the script's code.
_LETTERS = {
    "Arab": "ARABIC", "Armn": "ARMENIAN", "Beng": "BENGALI", "Cyrl": "CYRILLIC", "Deva": "DEVANAGARI",
    "Ethi": "ETHIOPIC", "Geor": "GEORGIAN", "Grek": "GREEK", "Gujr": "GUJARATI", "Guru": "GURMUKHI", "Hans": "CJK",
    "Hant": "CJK", "Hebr": "HEBREW", "Jpan": "CJK HIRAGANA KATAKANA", "Khmr": "KHMER", "Knda": "KANNADA",
    "Kore": "HANGUL CJK", "Laoo": "LAO", "Latn": "LATIN", "Mlym": "MALAYALAM", "Mymr": "MYANMAR", "Sinh": "SINHALA",
    "Taml": "TAMIL", "Telu": "TELUGU", "Thai": "THAI", "Tibt": "TIBETAN",
}  # fmt: skip
#: Scripts that put no blanks between words.
_WITHOUT_BLANKS = {"Hans", "Hant", "Jpan", "Khmr", "Laoo", "Mymr", "Thai", "Tibt"}
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
_HEADERS = {
    "source",
    "target",
    "src",
    "tgt",
    "sentence",
    "translation",
    "text",
    "sentence1",
    "sentence2",
    "id",
}


@lru_cache(maxsize=1000)
def canonical(code: str) -> str:
    """The usual form of a language code or tag.

    Three letters become two where there are two, and a script that is the usual one is left out.

    Raises:
        ValueError: not of the form of a code.

    >>> canonical("cmn"), canonical("zh-Hans"), canonical("jpn"), canonical("pt-br"), canonical("zh_hant")
    ('zh', 'zh', 'ja', 'pt-BR', 'zh-Hant')

    Explained in book/api/command_line.
    """
    try:
        language, territory, script, *_ = parse_locale(code.replace("_", "-"), sep="-")
    except ValueError:
        language = ""
    if not re.fullmatch("[a-z]{2,3}", language):
        raise ValueError(f"a language code has two or three letters, such as en, zh, pt-BR; got {code!r}")
    # One alias names several languages and has a blank.
    language = get_global("language_aliases").get(language, language).split("_")[0].split()[0]
    if script == _usual_script(language):
        script = None
    return "-".join(part for part in (language, script, territory) if part)


@lru_cache(maxsize=1000)
def primary(code: str) -> str:
    """The language of a code or tag without script and country; the text itself if it has not the form of a code.

    >>> primary("cmn"), primary("zh-Hant-TW"), primary("pt-BR")
    ('zh', 'zh', 'pt')

    Explained in book/api/command_line.
    """
    try:
        return canonical(code).split("-")[0]
    except ValueError:
        return code


def name(code: str) -> str | None:
    """The English name of a language; None if CLDR knows no language of this code.

    >>> name("cmn"), name("xx")
    ('Chinese', None)

    Explained in book/api/command_line.
    """
    return Locale("en").languages.get(primary(code))


@lru_cache(maxsize=1000)
def script(code: str) -> str | None:
    """The code of the script in which a language is written, as in ISO 15924; None if it is not known.

    >>> script("ja"), script("zh-TW"), script("sr-Latn"), script("xx")
    ('Jpan', 'Hans', 'Latn', None)

    Explained in book/api/command_line.
    """
    parts = code.replace("_", "-").split("-")
    return next((part.title() for part in parts[1:] if len(part) == 4), _usual_script(primary(code)))


def _usual_script(language: str) -> str | None:
    subtags = get_global("likely_subtags").get(language)
    return None if subtags is None else subtags.split("_")[1]


def has_blanks(code: str) -> bool:
    """Whether a language puts blanks between words; True if that is not known.

    >>> has_blanks("en"), has_blanks("ko"), has_blanks("jpn"), has_blanks("th")
    (True, True, False, False)

    Explained in book/api/command_line.
    """
    return script(code) not in _WITHOUT_BLANKS


def doubts(
    languages: tuple[str, str], first: tuple[str, str], sample: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Reasons to doubt that two columns are in these languages, one sentence each.

    Args:
        languages: of the two columns.
        first: the first row.
        sample: rows of the file, in the order of ``languages``.

    >>> list(doubts(("en", "fr"), ("source", "target"), [("the cat", "le chat")]))
    ['the first row looks like a header: source, target']

    Explained in book/api/command_line.
    """
    if all(cell.strip().lower() in _headers(languages) for cell in first):
        yield f"the first row looks like a header: {', '.join(first)}"
    for code, column in zip(languages, zip(*sample, strict=True), strict=True):
        if name(code) is None:
            yield f"{code} is not a known language code: its text is cut into words at blanks"
        doubt = _script_doubt(code, column) or _words_doubt(code, column)
        if doubt:
            yield f"the {code} column does not look like {name(code) or code}: {doubt}"


@lru_cache(maxsize=10)
def _headers(languages: tuple[str, str]) -> set[str]:
    """The words of a header: names of columns, names of languages, and the codes of these two languages."""
    names = {name.lower() for name in Locale("en").languages.values()}
    return _HEADERS | names | {code.lower() for code in languages}


def _script_doubt(code: str, texts: Sequence[str]) -> str | None:
    expected = _LETTERS.get(script(code) or "", "").split()
    letters = Counter(
        unicodedata.name(character, "?").split()[0].split("-")[0]
        for text in texts
        for character in text
        if character.isalpha()
    )
    if not expected or not letters or 2 * sum(letters[kind] for kind in expected) >= letters.total():
        return None
    [(kind, count)] = letters.most_common(1)
    return f"{count / letters.total():.0%} of its letters are {kind.capitalize()}"


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
