"""Language codes: which codes mean the same, and how the language is written.

The codes, names and scripts come from Unicode's CLDR, by `babel`. ``pairs`` reads and cuts the text.
Explained in book/your_translator.
"""

import re
from functools import lru_cache

from babel.core import Locale, get_global, parse_locale

from utils.errors import CourseError

#: Scripts that put no blanks between words.
_WITHOUT_BLANKS = {
    "Hani", "Hans", "Hant", "Hira", "Hrkt", "Jpan", "Kana", "Khmr", "Lana", "Laoo", "Mymr", "Tale", "Talu", "Tavt",
    "Thai", "Tibt",
}  # fmt: skip


@lru_cache(maxsize=1000)
def canonical(code: str) -> str:
    """The usual form of a language code or tag.

    Three letters become two where there are two, and a script that is the usual one of the language,
    or of its country, is left out.

    Raises:
        ValueError: not of the form of a code.

    >>> canonical("cmn"), canonical("zh-Hans"), canonical("jpn"), canonical("pt-br"), canonical("zh_hant_tw")
    ('zh', 'zh', 'ja', 'pt-BR', 'zh-TW')
    """
    try:
        language, territory, script, *_ = parse_locale(code.replace("_", "-"), sep="-")
    except ValueError:
        language = ""
    if not re.fullmatch("[a-z]{2,3}", language):
        raise CourseError(f"a language code has two or three letters, such as en, zh, pt-BR; got {code!r}")
    # One alias names several languages and has a blank.
    language = get_global("language_aliases").get(language, language).split("_")[0].split()[0]
    if script == _usual_script(language, territory):
        script = None
    return "-".join(part for part in (language, script, territory) if part)


@lru_cache(maxsize=1000)
def primary(code: str) -> str:
    """The language of a code or tag without script and country; the text itself if it has not the form of a code.

    >>> primary("cmn"), primary("zh-Hant-TW"), primary("pt-BR")
    ('zh', 'zh', 'pt')
    """
    try:
        return canonical(code).split("-")[0]
    except ValueError:
        return code


def name(code: str) -> str | None:
    """The English name of a language; None if CLDR knows no language of this code.

    >>> name("cmn"), name("xx")
    ('Chinese', None)
    """
    return Locale("en").languages.get(primary(code))


@lru_cache(maxsize=1000)
def script(code: str) -> str | None:
    """The code of the script in which a language is written, as in ISO 15924; None if it is not known.

    >>> script("ja"), script("zh"), script("zh-TW"), script("sr-Latn"), script("xx")
    ('Jpan', 'Hans', 'Hant', 'Latn', None)
    """
    try:
        language, territory, script, *_ = parse_locale(canonical(code), sep="-")
    except ValueError:
        return None
    return script or _usual_script(language, territory)


def _usual_script(language: str, territory: str | None) -> str | None:
    subtags = get_global("likely_subtags")
    likely = subtags.get(f"{language}_{territory}") or subtags.get(language)
    return None if likely is None else likely.split("_")[1]


def has_blanks(code: str) -> bool:
    """Whether a language puts blanks between words; True if that is not known.

    >>> has_blanks("en"), has_blanks("ko"), has_blanks("jpn"), has_blanks("th")
    (True, True, False, False)
    """
    return script(code) not in _WITHOUT_BLANKS
