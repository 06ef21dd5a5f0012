"""What a file looks like that is not text of the kind that is wanted. Lines are in test_input_lines.py, with pipes."""

import bz2
import codecs
import gzip
import io
import lzma
import re
import subprocess
import zipfile

import pytest

from utils.corpus.text_files import MAX_LINE, looks_like, text_lines

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
        (TABS.encode("utf-32"), "UTF-32 text: convert it with iconv -f UTF-32 -t UTF-8 FILE > NEW first"),
    ],
    # Archives hold the time, and processes that share tests must give them the same names.
    ids=["gzip", "part of gzip", "bzip2", "xz", "zstd", "zip", "office", "Anki", "new Anki", "UTF-32"],
)
def test_what_is_no_text_is_refused_at_once(content, form):
    with pytest.raises(ValueError, match=f"p.txt looks like {form}"):
        next(text_lines(io.BytesIO(content), "p.txt"))


SUMMER = "The summer was hot.\tL'été était très chaud.\n" * 3


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (SUMMER.encode("cp1252"), "byte 23 is not UTF-8; "),
        (SUMMER.encode("utf-16-le"), "a NUL byte; "),
        (SUMMER.replace("\n", "\r").encode(), "a carriage return within the line; "),
    ],
)
def test_what_converts_a_file_is_named_and_works(tmp_path, content, reason):
    (tmp_path / "FILE").write_bytes(content)
    said = str(next(text_lines(io.BytesIO(content), "x")))
    assert said.startswith(reason)
    command = re.search(r"(iconv|tr) .*> NEW", said)[0]
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    assert (tmp_path / "NEW").read_text("utf-8") == SUMMER


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("text", ["a\rb", "a\rb\n", "\ra\n", "a\rb\r", "a\r" * MAX_LINE])
def test_carriage_returns_alone_never_make_one_line(text, encoding):
    [line] = text_lines(io.BytesIO(text.encode(encoding)), "x")
    assert str(line).startswith("a carriage return within the line")


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (TABS.replace("\t", ","), "CSV with commas"),
        (TABS.replace("\t", ";"), "CSV with semicolons"),
        ('"a, b","c"\n"d","e, f"\n', "CSV with commas"),
        ("a,b\nYes,I do,Oui\nalone\nc,d,e,f\n", "CSV with commas"),  # rows of different length
        ("a,b\n1,2\tx\nYes,Oui\n", "CSV with commas"),  # a tab in one row
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
    assert looks_like(io.BytesIO(content)) == f"; it looks like {form}{ONE_A_LINE}"


@pytest.mark.parametrize(
    "content",
    ["Yes, I do.\nNo, I go.\n", "I see; he said.\nWe go; they said\n", "one\ntwo\n", "1,5 m\n2 m\n"],
)
def test_a_list_of_sentences_is_no_csv(content):
    told = looks_like(io.BytesIO(content.encode()))
    assert told == (
        "; it looks like a file with one sentence a line: paste en.txt fr.txt > pairs.txt joins two such files"
    )


@pytest.mark.parametrize("content", [TABS + "alone, here\n", '"Go!\tVa !\nalone\nYes"\tOui\n', ""])
def test_good_columns_look_like_nothing(content):
    assert looks_like(io.BytesIO(content.encode())) == ""
    assert looks_like(io.BytesIO(codecs.BOM_UTF16_LE + content.encode("utf-16-le"))) == ""
