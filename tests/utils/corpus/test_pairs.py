"""Pair files: the odd rows of the real files, and errors that name the line."""

import codecs
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utils.corpus.pairs import (
    DATA_VARIABLE,
    choose_languages,
    data_folder,
    find_file,
    normalise,
    read_pairs,
    tokenise,
)

#: Marks of direction, a byte-order mark and an escape, which nobody sees.
INVISIBLE = "\u200b\u200e\u200f\u061c\u202e\u2060\u2066\ufeff\u00ad\x1b"
EMOJI = [
    "❤\ufe0f", "👍🏽", "🇫🇷", "1\ufe0f\u20e3", "#\u20e3", "👨\u200d👩\u200d👧", "🏳\ufe0f\u200d🌈",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
]  # fmt: skip


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# Where files are found


def test_files_are_found_by_path_or_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    assert data_folder() == tmp_path
    (tmp_path / "here").mkdir()
    path = write(tmp_path / "here" / "fra.txt", "a\tb\n")
    assert find_file(path) == find_file("here/fra.txt") == path
    assert read_pairs("here/fra.txt").rows == [("a", "b")]
    for folder in ("here", "."):
        with pytest.raises(ValueError, match="is a folder: name a file in it"):
            find_file(folder)
    with pytest.raises(ValueError, match="not a regular file: write a pipe to a file"):
        find_file("/dev/null")
    monkeypatch.setenv(DATA_VARIABLE, "")
    assert data_folder().name == "attention-course"


def test_a_missing_file_is_one_clear_error(monkeypatch, tmp_path):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    with pytest.raises(FileNotFoundError) as error:
        read_pairs("none/fra.txt")
    message = str(error.value)
    for part in (str(Path("none/fra.txt")), str(tmp_path / "data"), DATA_VARIABLE, "manythings.org/anki"):
        assert part in message
    monkeypatch.delenv(DATA_VARIABLE)
    with pytest.raises(FileNotFoundError, match="not set"):
        find_file("none/fra.txt")


def test_a_user_without_a_home_needs_no_data_folder(monkeypatch, tmp_path):
    """As in a container that runs under a number: the operating system knows no home of it."""

    def no_home(*_: object) -> None:
        raise KeyError

    monkeypatch.delenv(DATA_VARIABLE, raising=False)
    for variable in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("pwd.getpwuid", no_home)
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "p.txt", "a\tb\n")
    assert read_pairs("p.txt").rows == [("a", "b")]
    assert read_pairs(tmp_path / "p.txt").rows == [("a", "b")]
    with pytest.raises(
        FileNotFoundError, match=rf"^there is no file none\.txt, .* no home .*: set {DATA_VARIABLE} to"
    ):
        read_pairs("none.txt")
    with pytest.raises(FileNotFoundError, match=r"there is no file /none\.txt"):
        find_file("/none.txt")


# Reading


@pytest.mark.parametrize("attribution", ["", "\tCC-BY 2.0 tatoeba.org #1 & #2", "\ta\tb\tc"])
@pytest.mark.parametrize("bom", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_columns_marks_and_line_ends(tmp_path, attribution, bom, end):
    lines = ["Hi.\tSalut !", "Go on.\tContinue."]
    text = "".join(line + attribution + end for line in lines)
    pairs = read_pairs(write(tmp_path / "p.txt", bom + text.encode()))
    assert pairs.columns == ("en", "fr")
    assert pairs.rows == [("Hi.", "Salut !"), ("Go on.", "Continue.")]
    assert pairs.bad_rows == {}
    assert read_pairs(write(tmp_path / "q.txt", bom + text.rstrip().encode())).rows == pairs.rows


@pytest.mark.parametrize("mark", "\u2028\x85\x0b\x0c")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_only_a_line_feed_ends_a_line(tmp_path, mark, encoding):
    text = f"line{mark}1\tligne 1\nline 2\tligne 2{mark}\n"
    read = read_pairs(write(tmp_path / "p.txt", text.encode(encoding)))
    assert (read.rows, read.bad_rows) == ([("line 1", "ligne 1"), ("line 2", "ligne 2")], {})


def test_rows_are_turned_round(tmp_path):
    pairs = read_pairs(write(tmp_path / "p.txt", "Hi.\t你好。\n"), ("en", "zh"))
    assert pairs.between("en", "zh") == [("Hi.", "你好。")]
    assert pairs.between("zh", "en") == [("你好。", "Hi.")]
    for src, tgt in (("en", "fr"), ("en", "en"), ("fr", "de")):
        with pytest.raises(ValueError, match="must be the two columns en and zh, got"):
            pairs.between(src, tgt)


BAD_ROWS = {
    b"alone": "a row must have two columns separated by a tab, got one",
    b"\tb": "the en side is empty",
    "a\t \u200b ".encode(): "the fr side is empty",
    b"a\xff\tb": "byte 2 is not UTF-8; if it was written on Windows, "
    "iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW converts the file",
    b"a\tb\x00c": "a NUL byte; if the file is UTF-16, iconv -f UTF-16LE -t UTF-8 FILE > NEW converts it",
    b"a\tb\rc": r"a carriage return within the line; tr '\r' '\n' < FILE > NEW makes lines of such a file",
    b"a\t" + b"b" * 100_001: "a side has 100001 characters, more than 100000",
    b"a\tb" + b"c" * 3_000_000: "more than 1,048,576 bytes",
}


@pytest.mark.parametrize(("row", "reason"), BAD_ROWS.items(), ids=BAD_ROWS.values())
def test_a_bad_row_is_named_and_left_out(tmp_path, row, reason):
    good = [b"a\tb", b"e\tf\t" + b"by" * 100_000] * 53
    pairs = read_pairs(write(tmp_path / "p.txt", b"\n".join([good[0], b"", row, *good])))
    assert pairs.rows == [("a", "b"), *[("a", "b"), ("e", "f")] * 53]
    assert pairs.bad_rows == {3: reason}


def test_too_many_bad_rows_are_an_error(tmp_path):
    path = write(tmp_path / "p.txt", b"a\tb\n" * 197 + b"alone\n" * 2)
    with pytest.raises(ValueError, match="rows are bad") as error:
        read_pairs(path)
    assert str(error.value) == (
        f"{path}, line 198: a row must have two columns separated by a tab, got one "
        "(2 of 199 rows are bad, and 1% may be; mend them, or keep the rows with two columns alone: "
        r"""awk -F '\t' '$1 != "" && $2 != ""' FILE > NEW)"""
    )
    command = re.search("awk .*NEW", str(error.value))[0].replace("FILE", "p.txt")
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    assert (tmp_path / "NEW").read_bytes() == b"a\tb\n" * 197


@pytest.mark.parametrize("content", ["", "\n \r\n", "\r", "\ufeff", codecs.BOM_UTF16_BE])
def test_a_file_without_rows_is_an_error(tmp_path, content):
    with pytest.raises(ValueError, match=r"p\.txt holds no sentence pair"):
        read_pairs(write(tmp_path / "p.txt", content))


@pytest.mark.parametrize("encoding", ["utf-16-le", pytest.param("utf-16-be", marks=pytest.mark.slow)])
def test_utf16_of_excel_is_read(tmp_path, encoding):
    rows = [
        ("hot", "été"),
        ("clef 𝄞", "clé 𝄞"),
        ("ਊ", "\u0d0a"),
    ] * 1009  # bytes of line ends within characters
    text = "".join(f"{first}\t{second}\r\n" for first, second in rows)
    path = write(tmp_path / "p.txt", ("\ufeff" + text).encode(encoding))
    assert read_pairs(path, ("en", "xx")).rows == rows
    path.write_bytes(path.read_bytes()[:-5])  # half of the last character
    pairs = read_pairs(path, ("en", "xx"))
    assert (len(pairs.rows), pairs.bad_rows) == (3026, {3027: "character 3 is not UTF-16"})
    path.write_bytes(
        ("\ufeff" + "a\tb\n" * 99).encode(encoding) + "c\t\ud800\n".encode(encoding, "surrogatepass")
    )
    assert read_pairs(path).bad_rows == {100: "character 3 is not UTF-16"}


@pytest.mark.parametrize(
    ("content", "form"),
    [
        ("1 cat,1 chat\n2 cats,2 chats\n", "it looks like CSV with commas"),
        ("L'été\tIt is hot\n".encode("cp1252"), r"byte 3 is not UTF-8; .* iconv .* \(1 of 1 .* 1% may be\)$"),
        ("one\tun\rtwo\tdeux\r", "line 1: a carriage return within the line"),
        ("one\ntwo\n", "paste en.txt fr.txt"),
        (b"\x1f\x8b\x08", r"p\.txt looks like a compressed file"),
    ],
)
def test_a_file_of_another_form_is_named(tmp_path, content, form):
    with pytest.raises(ValueError, match=form):
        read_pairs(write(tmp_path / "p.txt", content))


# Languages of the columns


@pytest.mark.parametrize(
    "columns", [("en",), (), ("en", "en"), ("en", "fr", "zh"), ("en", ""), ("english", "fr"), ("cmn", "zh")]
)
def test_columns_must_be_two_languages(tmp_path, columns):
    with pytest.raises(ValueError, match="columns must be two different language codes"):
        read_pairs(write(tmp_path / "p.txt", "a\tb\n"), columns)


def test_missing_languages_are_filled_in():
    both = (("en", "fr"), "fr", "en")
    assert choose_languages(("en", "fr"), "fr", "en") == both
    assert choose_languages(["en", "fr"], "fr", None) == both
    assert choose_languages(["en", "fr"], None, "en") == both
    assert choose_languages(["en", "fr"], None, None) == (("en", "fr"), "en", "fr")
    assert choose_languages(None, "de", "en") == (("de", "en"), "de", "en")
    for columns, src, tgt, message in (
        (None, "de", None, "name the columns, or both"),
        (None, "de", "de", "two different language codes"),
        (["en", "fr"], "de", None, "columns en and fr, got de and fr"),
        (["en", "fr"], "en", "en", "columns en and fr, got en and en"),
    ):
        with pytest.raises(ValueError, match=message):
            choose_languages(columns, src, tgt)


# Normalising and tokenising


@pytest.mark.parametrize(
    ("text", "lang", "expected"),
    [
        ("C\u2019est\u202fquoi\u00a0?", "fr", "C'est quoi ?"),
        ("\u2018a\u2019\u2009b\u200bc\u00add\ufeff", "en", "'a' bcd"),
        ("  a \t b\r\n", "en", "a b"),
        ("e\u0301te\u0301", "fr", "été"),
        ("漢語\u3000很 難。", "zh", "汉语很难。"),
        ("他 有 3 本 book 。", "zh", "他有3本book。"),
        ("iPhone 5 不好", "zh", "iPhone 5不好"),
        ("我\u200b們 ， 好 ！", "zh", "我们，好！"),
        ("漢 字", "ja", "漢 字"),
        ("", "zh", ""),
        ("显著，老么，什么，里面，皇后，台灣，乾隆", "zh", "显著，老么，什么，里面，皇后，台湾，乾隆"),
        ("看著", "ja", "看著"),
        ("我睡不着。皇后在里面。", "zh-TW", "我睡不著。皇后在裡面。"),
        ("我睡不着。皇后在里面。", "zh-hk", "我睡不着。皇后在裏面。"),
        ("漢語 很 難。那傢伙是誰？", "zh-Hant", "漢語很難。那傢伙是誰？"),
        ("我睡不著，著名。漢", "zh-Hans-TW", "我睡不著，著名。汉"),
        ("wǒ 漢", "zh-Latn", "wǒ 漢"),
        ("佢 瞓著 咗", "yue", "佢瞓著咗"),
        ("侬好，發財", "wuu", "侬好，發財"),
        ("子曰學而", "lzh", "子曰學而"),
        ("a\u200eb\u200f. \u061cc\u202ad\u202e\u2066e\u2069", "ar", "ab. cde"),
        ("a\u2060b\x00\x1b\x7f\x80c\u034f\u115f", "en", "abc"),
        ("a\tb\x85c\u2028d\u2029e\x1cf\u1680g \u200e h", "en", "a b c d e f g h"),
        ("e\u200b\u0301", "fr", "é"),
        ("می\u200c\u200eخواهم.", "fa", "می\u200cخواهم."),
        ("क्\u200dष", "hi", "क्\u200dष"),
        ("\u0600١ \u06dd", "ar", "\u0600١ \u06dd"),
        ("葛\U000e0100 😀", "en", "葛 😀"),
    ],
)
def test_normalise(text, lang, expected):
    assert normalise(text, lang) == expected


@pytest.mark.parametrize("emoji", EMOJI)
def test_an_emoji_stays_whole_and_is_one_word(emoji):
    assert normalise(f"a{emoji} {emoji}\u200e", "en") == f"a{emoji} {emoji}"
    for lang in ("en", "fr", "zh"):
        assert tokenise(f"ab{emoji}{emoji}12, 3", lang) == ["ab", emoji, emoji, "12", ",", "3"]


PIECES = [*"aي्क=1#\u0301\u0338\u20e3🏴🇫🏽❤☺↔👨é漢汉里着著名 \t\x1c\x85", *INVISIBLE, "\U000e0067\U000e007f"]


@given(
    st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join)),
    st.sampled_from(["fr", "fa", "zh", "zh-TW"]),
)
@settings(max_examples=200)
def test_normalising_once_is_enough(text, lang):
    once = normalise(text, lang)
    assert normalise(once, lang) == once
    assert "\n" not in once
    assert once == once.strip()


@pytest.mark.parametrize(
    ("text", "lang", "expected"),
    [
        ("L'homme n'est pas là !", "fr", ["L'", "homme", "n'", "est", "pas", "là", "!"]),
        ("Don't do 'that'.", "en", ["Don't", "do", "'", "that", "'", "."]),
        ("汤姆有3本book，对吗？", "zh", ["汤", "姆", "有", "3", "本", "book", "，", "对", "吗", "？"]),
        ("子曰學而", "lzh", ["子", "曰", "學", "而"]),
        ("侬好hello", "wuu", ["侬", "好", "hello"]),
        ("Tâi 台語", "nan", ["Tâi", "台", "語"]),
        ("私はコーヒー か\u309aメ", "jpn", ["私", "は", "コ", "ー", "ヒ", "ー", "か\u309a", "メ"]),
        ("wǒ hǎo", "zh-Latn", ["wǒ", "hǎo"]),
        ("", "en", []),
        ("หิน ฉันมี๑๒๓ 3 cm", "th", ["หิ", "น", "ฉั", "น", "มี", "๑๒๓", "3", "cm"]),
        ("໑໒໓ ຂ້ອຍ", "lo", ["໑໒໓", "ຂ້", "ອ", "ຍ"]),
        ("១២៣ញ់។", "km", ["១២៣", "ញ់", "។"]),
        ("၁၂၃က်", "my", ["၁၂၃", "က်"]),
        ("༡༢༣བོད་", "bo", ["༡༢༣", "བོ", "ད", "་"]),
        ("三人在2026年", "zh", ["三", "人", "在", "2026", "年"]),
    ],
)
def test_tokenise(text, lang, expected):
    assert tokenise(text, lang) == expected


@settings(max_examples=50)
@given(st.text(alphabet="ab1é'.,!我汉 ", max_size=29), st.sampled_from(["en", "fr", "zh"]))
def test_tokens_hold_all_but_the_blanks(text, lang):
    assert "".join(tokenise(text, lang)) == text.replace(" ", "")
