"""Pair files: sentences and translations in tab-separated text, cleaned and tokenised.

The other modules of ``corpus`` split the pairs and make vocabularies and batches of them.
Explained in book/data_and_licences.
"""

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import platformdirs
import regex
from opencc import OpenCC

from utils.checks import refuse_text
from utils.corpus.languages import canonical, has_blanks, primary, script
from utils.corpus.text_files import check_characters, looks_like, text_lines
from utils.errors import CourseError

#: Name of the environment variable that names the data folder.
DATA_VARIABLE = "ATTENTION_DATA"
#: A page with pair files of many languages.
SOURCE_PAGE = "https://www.manythings.org/anki/"

#: What telephones and keyboards write for an apostrophe.
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc\uff07", "'"))
_KEYCAP = r"[0-9#*]\uFE0F?\u20E3"
#: One emoji, which a person counts as one character, whatever it is joined of.
_EMOJI = rf"(?=[\p{{Emoji}}--[0-9#*]]|{_KEYCAP})\X"
#: What nobody sees, but for what changes the form of letters and emoji.
_INVISIBLE = regex.compile(
    r"[[\p{Default_Ignorable_Code_Point}\p{Cc}]--[\p{Mongolian}\p{Join_Control}\uFE0F\U000E0020-\U000E007F]]",
    regex.V1,
)
_CHINESE = r"[\p{Han}\p{Block=CJK_Symbols_And_Punctuation}\p{Block=Halfwidth_And_Fullwidth_Forms}]"
_CHINESE_BLANK = regex.compile(rf" (?={_CHINESE})|(?<={_CHINESE}) ")
#: The characters of words: letters, their marks (such as the vowel signs of Hindi), and digits.
_LETTERS = r"\w\p{M}\p{N}"
_LETTER = rf"(?!{_KEYCAP})[{_LETTERS}]"
_OTHER = rf"{_EMOJI}|[^{_LETTERS}\s]"
_WORDS = regex.compile(rf"(?:{_LETTER})+(?:'(?:{_LETTER})+)*|{_OTHER}", regex.V1)
_FRENCH_WORDS = regex.compile(rf"(?:{_LETTER})+'?|{_OTHER}", regex.V1)  # clitics are words: l' homme
#: A letter of a script without blanks, no digit. What Unicode calls complex context is Thai, Khmer and the like.
_CHARACTER = (
    r"(?=[[\p{Han}\p{Block=Hiragana}\p{Block=Katakana}\p{Line_Break=Complex_Context}\p{Tibetan}]--\p{N}])"
    rf"[{_LETTERS}]"
)
_CHARACTERS_AS_WORDS = regex.compile(rf"(?={_CHARACTER})\X|(?:(?!{_CHARACTER}){_LETTER})+|{_OTHER}", regex.V1)
#: A line before the rows of Anki's text export, such as "#separator:tab".
ANKI_HEAD = re.compile(r"#[a-z ]+:\S*")
#: The largest share of bad rows; a file with more is probably of another kind.
MAX_BAD_SHARE = 0.01
_HOW_TO_GO_ON = (
    """; mend them, or keep the rows with two columns alone: awk -F '\\t' '$1 != "" && $2 != ""' FILE > NEW"""
)
#: The largest number of characters in a sentence; a word of ten million would be cut into subwords for hours.
MAX_CHARACTERS = 100_000


def data_folder() -> Path:
    """The folder of the data files: the one that ATTENTION_DATA names, else one in the platform's cache.

    Raises:
        FileNotFoundError: the variable is not set, and this user has no home folder.
    """
    folder = os.environ.get(DATA_VARIABLE)
    try:
        return Path(folder) if folder else platformdirs.user_cache_path("attention-course")
    except RuntimeError:
        raise FileNotFoundError(
            f"this user has no home folder for data: set {DATA_VARIABLE} to a folder"
        ) from None


def find_file(path: str | Path) -> Path:
    """The file at ``path``, or at that path within the data folder.

    Raises:
        FileNotFoundError: in neither place. The message names both places and where to get such files.
        ValueError: a folder, a pipe or a device.
    """
    found = Path(path)
    if not found.exists() and not found.is_absolute():
        try:
            found = data_folder() / path
        except FileNotFoundError as error:
            raise FileNotFoundError(f"there is no file {path}, and {error}") from None
    if found.is_file():
        return found
    if found.is_dir():
        raise CourseError(f"{found} is a folder: name a file in it")
    if found.exists():
        raise CourseError(f"{found} is not a regular file: write a pipe to a file first")
    paths = " or ".join(dict.fromkeys([str(path), str(found)]))
    raise FileNotFoundError(
        f"there is no file {paths}. {DATA_VARIABLE} names the data folder "
        f"({os.environ.get(DATA_VARIABLE) or 'not set'}). `attention-course data get` fetches the pair files of "
        f"this course; more come from {SOURCE_PAGE}: download one, unpack it and name its .txt file"
    )


def choose_languages(
    columns: Sequence[str] | None, src: str | None, tgt: str | None
) -> tuple[tuple[str, str], str, str]:
    """Fill in the arguments that are None; return (columns, src, tgt), with the columns in the file's order.

    Codes that mean the same become the same (:func:`utils.corpus.languages.canonical`). Missing columns are (source,
    target). A missing source or target is the other column; if both are missing, the source is the first column.

    Raises:
        ValueError: neither columns nor both source and target, columns that are not two different language codes,
            or a source and target that are not those two.

    >>> choose_languages(["en", "fr"], None, "en")
    (('en', 'fr'), 'fr', 'en')
    >>> choose_languages(None, "de", "en")
    (('de', 'en'), 'de', 'en')
    >>> choose_languages(["eng", "cmn"], "zh-Hans", None)
    (('en', 'zh'), 'zh', 'en')
    """
    src, tgt = (code if code is None else canonical(code) for code in (src, tgt))
    if columns is None:
        if src is None or tgt is None:
            raise CourseError("name the columns, or both source and target")
        columns = (src, tgt)
    first, second = _checked_columns(columns)
    if src is None:
        src = first if tgt != first else second
    if tgt is None:
        tgt = second if src != second else first
    if {src, tgt} != {first, second}:
        raise CourseError(
            f"source and target must be the two columns {first} and {second}, got {src} and {tgt}"
        )
    return (first, second), src, tgt


def _checked_columns(columns: Sequence[str]) -> tuple[str, str]:
    refuse_text(columns=columns)
    columns = list(columns)
    names = ",".join(columns) or "none"
    try:
        columns = [canonical(column) for column in columns]
    except ValueError:
        columns = []
    if len(columns) != 2 or len(set(columns)) != 2:
        raise CourseError(f"columns must be two different language codes such as en,fr, got {names}")
    return columns[0], columns[1]


@dataclass(frozen=True)
class Pairs:
    """The content of a pair file.

    Attributes:
        columns: the two languages, in the file's order.
        rows: the two sentences of each good row, in that order, normalised.
        bad_rows: what is wrong with each bad row, by its line number (the first line is 1).
    """

    columns: tuple[str, str]
    rows: list[tuple[str, str]]
    bad_rows: dict[int, str]

    def between(self, src: str, tgt: str) -> list[tuple[str, str]]:
        """The rows as (source, target).

        Raises:
            ValueError: languages that are not the two columns.
        """
        columns, src, _ = choose_languages(self.columns, src, tgt)
        return list(self.rows) if src == columns[0] else [(second, first) for first, second in self.rows]


def read_pairs(path: str | Path, columns: Sequence[str] = ("en", "fr")) -> Pairs:
    """Read a file of pairs, one a line, with a tab between the sentences.

    Further columns (attribution) are ignored, and so are the first lines of Anki's text export, such as
    "#separator:tab". Lines are those of :func:`utils.corpus.text_files.text_lines`. Sentences are normalised
    (:func:`normalise`). A row is bad if it has one column, an empty side, or a line that cannot be read; an empty line
    is not a row.

    Args:
        path: the file, or its path within the data folder.
        columns: the languages of the two columns, as codes such as "en".

    Raises:
        FileNotFoundError: no such file.
        ValueError: columns that are not two different language codes, a file that is not text, no good row, or too
            many bad ones (the message names the first one, and what the file looks like).
    """
    columns = _checked_columns(columns)
    rows: list[tuple[str, str]] = []
    bad_rows: dict[int, str] = {}
    file = find_file(path)
    for number, row in read_rows(file, columns):
        if isinstance(row, str):
            bad_rows[number] = row
        else:
            rows.append(row)
    check_share(file, len(rows), len(bad_rows), bad_rows)
    return Pairs(columns, rows, bad_rows)


def read_rows(
    path: Path, columns: Sequence[str], *, sha: Any = None
) -> Iterator[tuple[int, tuple[str, str] | str]]:
    """Read pairs line by line: the number of each line, and its row or what is wrong with it.

    Args:
        path: as :func:`find_file` gives it.
        columns: as for :func:`read_pairs`.
        sha: an object of ``hashlib``, which gets all bytes of the file while it is read; or None.

    Raises:
        ValueError: as :func:`read_pairs`, but any share of rows may be bad.
    """
    columns = _checked_columns(columns)
    is_head = True
    with path.open("rb") as file:
        lines = text_lines(file if sha is None else _Hashed(file, sha), str(path))
        for number, line in enumerate(lines, start=1):
            is_head = is_head and isinstance(line, str) and bool(ANKI_HEAD.fullmatch(line))
            if is_head or (isinstance(line, str) and not line.strip()):
                continue
            try:
                yield number, _read_row(line, columns)
            except ValueError as error:
                yield number, str(error)


class _Hashed(BufferedIOBase):
    """A file whose bytes go through a hash while they are read."""

    def __init__(self, file: BufferedIOBase, sha: Any):
        self._file, self._sha = file, sha

    def read1(self, size: int) -> bytes:
        chunk = self._file.read1(size)
        self._sha.update(chunk)
        return chunk


def check_share(path: Path, num_good: int, num_bad: int, bad_rows: Mapping[int, str]) -> None:
    """Raise ValueError if too many rows are bad or none is good, with the first bad row and what the file looks like.

    Args:
        path: as for :func:`read_rows`.
        bad_rows: what is wrong with the first bad rows, or with all, by line number.
    """
    if num_bad > MAX_BAD_SHARE * (num_good + num_bad):
        number, reason = next(iter(bad_rows.items()))
        with path.open("rb") as file:
            looks = looks_like(file)
        says_what_to_do = looks or "FILE > NEW" in reason
        raise CourseError(
            f"{path}, line {number}: {reason}{looks} "
            f"({num_bad} of {num_good + num_bad} rows are bad, and {MAX_BAD_SHARE:.0%} may be"
            f"{'' if says_what_to_do else _HOW_TO_GO_ON})"
        )
    if not num_good:
        raise CourseError(f"{path} holds no sentence pair")


def _read_row(line: str | ValueError, columns: tuple[str, str]) -> tuple[str, str]:
    """The two sentences of a line; raise ValueError with what is wrong with it."""
    if isinstance(line, ValueError):
        raise line
    sides = line.split("\t")[:2]
    if (longest := max(map(len, sides))) > MAX_CHARACTERS:
        raise CourseError(f"a side has {longest} characters, more than {MAX_CHARACTERS}")
    if len(sides) < 2:
        raise CourseError("a row must have two columns separated by a tab, got one")
    first, second = (normalise(text, lang) for text, lang in zip(sides, columns, strict=True))
    if not first or not second:
        raise CourseError(f"the {columns[0] if not first else columns[1]} side is empty")
    return first, second


def normalise(text: str, lang: str) -> str:
    """Normalise a text: texts that look the same get the same characters, in one script.

    This is :func:`clean` followed by :func:`in_one_script`.

    Args:
        lang: language code.

    >>> normalise(" C’est\u202fquoi\u202f? ", "fr")
    "C'est quoi ?"
    >>> normalise("漢語 很 難。我睡不著。", "zh"), normalise("汉语很难。", "zh-TW")
    ('汉语很难。我睡不著。', '漢語很難。')
    """
    return in_one_script(clean(text, lang), lang)


def clean(text: str, lang: str) -> str:
    """Give texts that look the same the same characters.

    The result has composed characters (Unicode NFC), plain blanks in place of wide, narrow and unbreakable ones,
    no invisible characters, straight apostrophes, single blanks and none at the ends. Joiners and non-joiners stay, and
    whatever an emoji is made of. A language that is written in Chinese characters has no blanks beside these.

    Args:
        lang: language code; only its script makes a difference.

    >>> clean("漢語\u3000很\u200e 難。", "zh")
    '漢語很難。'
    """
    # Blanks come first: some of them are control characters.
    text = _INVISIBLE.sub("", " ".join(text.translate(_APOSTROPHES).split()))
    text = " ".join(unicodedata.normalize("NFC", text).split())
    return _CHINESE_BLANK.sub("", text) if script(lang) in ("Hans", "Hant") else text


def in_one_script(text: str, lang: str) -> str:
    """Convert Chinese ("zh") to the characters in which ``lang`` is written; the number of characters stays.

    Traditional characters are those of Hong Kong for Hong Kong and Macau, and those of Taiwan elsewhere. A text
    that has traditional characters already stays as it is. Other languages with Chinese characters, such as
    Cantonese ("yue"), are not converted: OpenCC's tables are those of Mandarin.

    Raises:
        ValueError: a Chinese text with half of a surrogate pair.

    >>> in_one_script("漢語", "zh"), in_one_script("我睡不着。", "zh-Hant"), in_one_script("里面", "zh-HK")
    ('汉语', '我睡不著。', '裏面')
    """
    if primary(lang) != "zh":
        return text
    check_characters([text])
    # The tables convert a few results again, such as 薴 by way of 苧 to 苎.
    return _converted(_converted(text, lang), lang)


def _converted(text: str, lang: str) -> str:
    simplified = _converter("t2s").convert(text)
    if script(lang) == "Hans":
        return simplified
    if script(lang) != "Hant" or simplified != text:
        return text
    return _converter("s2hk" if canonical(lang).endswith(("HK", "MO")) else "s2tw").convert(text)


@lru_cache
def _converter(name: str) -> OpenCC:
    return OpenCC(name)


def tokenise(text: str, lang: str) -> list[str]:
    """Words and punctuation marks; the characters of a language without blanks, such as Chinese, Japanese or Thai.

    A character has its marks. Latin words and numbers within Chinese stay whole, French clitics are separate words,
    and other words keep an apostrophe inside them.

    >>> tokenise("L'homme ne dort pas.", "fr")
    ["L'", 'homme', 'ne', 'dort', 'pas', '.']
    >>> tokenise("汤姆买了3本book。", "zh")
    ['汤', '姆', '买', '了', '3', '本', 'book', '。']
    """
    if not has_blanks(lang):
        return _CHARACTERS_AS_WORDS.findall(text)
    return (_FRENCH_WORDS if primary(lang) == "fr" else _WORDS).findall(text)
