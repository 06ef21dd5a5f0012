"""What a file looks like that is not text of the kind that is wanted. Lines are in test_input_lines.py, with pipes."""

import bz2
import codecs
import gzip
import io
import lzma
import zipfile

import pytest

from utils.corpus.text_files import looks_like, text_lines

TABS = "".join(f"{number} cats\tles {number} chats\n" for number in range(7))
ONE_A_LINE = ": write one pair a line, with a tab between the two sentences"


def zipped(*names: str) -> bytes:
    with zipfile.ZipFile(content := io.BytesIO(), "w") as archive:
        for name in names:
            archive.writestr(name, TABS)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (gzip.compress(TABS.encode()), "a compressed file: unpack it first"),
        (gzip.compress(TABS.encode())[:17], "a compressed file"),
        (bz2.compress(TABS.encode()), "a compressed file"),
        (lzma.compress(TABS.encode()), "a compressed file"),
        (b"\x28\xb5\x2f\xfd\0", "a compressed file"),
        (zipped("a.txt"), "a zip archive: unpack it first"),
        (zipped("[Content_Types].xml"), "an office document: save it as text with tabs first"),
        (zipped("collection.anki2", "media"), "an Anki package: export the notes as plain text first"),
        (zipped("meta", "collection.anki21b"), "an Anki package"),
        (TABS.encode("utf-32"), "UTF-32 text: save it as UTF-8 first"),
    ],
    # Archives hold the time, and processes that share tests must give them the same names.
    ids=["gzip", "part of gzip", "bzip2", "xz", "zstd", "zip", "office", "Anki", "new Anki", "UTF-32"],
)
def test_what_is_no_text_is_refused_at_once(content, form):
    with pytest.raises(ValueError, match=f"p.txt looks like {form}"):
        next(text_lines(io.BytesIO(content), "p.txt"))


SUMMER = "The summer was hot.\tL'été était très chaud.\n" * 3


@pytest.mark.parametrize(
    ("text", "encoding", "form"),
    [
        (SUMMER, "cp1252", "cp1252 text"),
        (SUMMER, "utf-16-le", "UTF-16 without a byte-order mark"),
        (SUMMER, "utf-16-be", "UTF-16 without a byte-order mark"),
        ("I see a house.\tЯ вижу дом.\nHe is good.\tОн очень хороший человек.\n", "cp1251", "cp1251 text"),
        ("Yes.\t我们今天晚上去看电影。\nNo.\t他在火车站等了两个小时。\n", "gb18030", "gb18030 text"),
        ("It rains.\tIl.\n" * 20_000 + SUMMER, "cp1252", "cp1252 text"),
        ("été", "cp1252", "text of another encoding"),  # too few letters to tell which one
    ],
)
def test_another_encoding_is_named(text, encoding, form):
    for columns in (True, False):
        told = looks_like(io.BytesIO(text.encode(encoding)), columns=columns)
        assert told == f"; it looks like {form}: save it as UTF-8"


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (TABS.replace("\t", ","), "CSV with commas"),
        (TABS.replace("\t", ";"), "CSV with semicolons"),
        ('"a, b","c"\n"d","e, f"\n', "CSV with commas"),
        ("a,b\nYes,I do,Oui\nalone\nc,d,e,f\n", "CSV with commas"),  # rows of different length
        ("a\u2028b;c\nYes;I do;Oui\n", "CSV with semicolons"),
        (TABS.replace("\t", ",").encode("utf-16"), "CSV with commas"),
        (TABS.replace("\t", " ||| "), "columns with ||| between them"),
        ('<?xml version="1.0"?>\n<!DOCTYPE tmx>\n<tmx>\n', "TMX"),
        ("<xliff>\n", "XML"),
        ("<!DOCTYPE html>\n<html>\n", "an HTML page"),
        ('{"en": "a", "fr": "b"}\n{"en": "c", "fr": "d"}\n', "JSON"),
        ('[\n {"en": "a", "fr": "b"}\n]\n', "JSON"),
        (
            '"I see.\nI go."\t"Je vois.\nJe vais."\n"Yes"\t"Oui"\n"a"\t"b\nc"\n',
            "a table with line breaks in its cells",
        ),
    ],
)
def test_another_form_of_pairs_is_named(content, form):
    content = content if isinstance(content, bytes) else content.encode("utf-8-sig")
    assert looks_like(io.BytesIO(content), columns=True) == f"; it looks like {form}{ONE_A_LINE}"
    assert looks_like(io.BytesIO(content), columns=False) == ""


@pytest.mark.parametrize(
    "content",
    ["Yes, I do.\nNo, I go.\n", "I see; he said.\nWe go; they said\n", "one\ntwo\n", "1,5 m\n2 m\n"],
)
def test_a_list_of_sentences_is_no_csv(content):
    told = looks_like(io.BytesIO(content.encode()), columns=True)
    assert told.startswith("; it looks like one of two files with one sentence a line: name both files")


@pytest.mark.parametrize("content", [TABS + "alone, here\n", '"Go!\tVa !\nalone\nYes"\tOui\n', ""])
def test_good_columns_look_like_nothing(content):
    assert looks_like(io.BytesIO(content.encode()), columns=True) == ""
    assert looks_like(io.BytesIO(codecs.BOM_UTF16_LE + content.encode("utf-16-le")), columns=True) == ""
