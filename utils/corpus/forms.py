"""What a file looks like that is not what a command reads, and the command line that makes it right.

Text is read in ``text_files``. Whether the sentences of a good file look right is in ``doubts``.
Explained in book/data_and_licences.
"""

import codecs
import csv
import re
from collections.abc import Sequence
from io import BufferedIOBase

from charset_normalizer import from_bytes

#: The byte-order marks of UTF-16.
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SAVE = 'save it as text with tabs, which Excel calls "Unicode text"'
#: The first bytes of files that are not text, what such a file is, and what makes text of it.
_PACKED = [
    (rb"\x1f\x8b", "a gzip file", "gunzip -c FILE >NEW"),
    (rb"BZh[1-9]1AY&SY", "a bzip2 file", "bunzip2 -c FILE >NEW"),
    (rb"\xfd7zXZ\0", "an xz file", "xz -dc FILE >NEW"),
    (rb"\x28\xb5\x2f\xfd", "a zstd file", "zstd -dc FILE >NEW"),
    (rb"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "7z x FILE"),
    (rb"PK\x03\x04.*(\[Content_Types\]|mimetypeapplication/vnd)", "an office document", _SAVE),
    (rb"PK\x03\x04", "a zip archive", "unzip FILE"),
    (rb"\xd0\xcf\x11\xe0", "an old office document", _SAVE),
    (rb"%PDF-", "a PDF document", "pdftotext FILE NEW"),
    (rb"\xff\xfe\0\0|\0\0\xfe\xff", "UTF-32 text", "iconv -f UTF-32 -t UTF-8 FILE >NEW"),
]  # fmt: skip
_TMX = (
    "python -X utf8 -c 'import sys, xml.etree.ElementTree as E; "
    '[print(*(" ".join("".join(s.itertext()).split()) for s in t.iter("seg")), sep="\\t") '
    'for t in E.parse(sys.stdin.buffer).iter("tu")]\' <FILE >NEW'
)
#: The beginnings of text with markup, what such a file is, and what makes columns of it.
_MARKUP = [
    (r"<!doctype html|<html", "an HTML page", "download the file itself in place of the page"),
    (r"(<\?xml[^>]*>)?\s*(<![^>]*>\s*)*<tmx", "TMX", _TMX),
    (r"<\?xml|<[a-z]+[ >]", "XML", "write its sentences as two columns with a tab between them"),
    (r"\{\s*\"", "JSON", "jq -r '[.en, .fr] | @tsv' FILE >NEW, with the names of its fields"),
    (r"\[\s*[{\[]", "JSON", "jq -r '.[] | [.en, .fr] | @tsv' FILE >NEW, with the names of its fields"),
]
#: Turns cells in quotes, or with another character than a tab between them, into plain columns.
FROM_CSV = (
    "python -X utf8 -c 'import csv, sys; "
    '[print(*row, sep="\\t") for row in csv.reader(sys.stdin{})]\' <FILE >NEW'
)
#: The encodings that are still met. Of those that give the same text, the first one is named.
_ENCODINGS = [
    "cp1252", "gb18030", "cp1251", "koi8_r", "cp932", "euc_jp", "big5", "cp949", "cp1250", "cp1253", "cp1254", "cp1255",
    "cp1256", "cp874",
]  # fmt: skip
#: How many bytes of a file are looked at, how many lines of them, and how many characters of each line.
_HEAD, _NUM_LINES, _WIDTH = 1 << 20, 20, 5000


def packed_form(start: bytes) -> str | None:
    """What a file that begins with these bytes looks like if it is not text, and what to do; None if it may be text.

    >>> packed_form(b"\\x1f\\x8b\\x08")
    'looks like a gzip file: gunzip -c FILE >NEW'

    Explained in book/data_and_licences.
    """
    forms = (form for magic, *form in _PACKED if re.match(magic, start, re.DOTALL))
    return next((f"looks like {kind}: {remedy}" for kind, remedy in forms), None)


def looks_like(file: BufferedIOBase, *, columns: bool) -> str:
    """The end of an error message: what the file looks like, and the command line that makes it right.

    It is empty if the file looks like nothing that is known, or cannot be read again because it is a pipe.

    Args:
        file: opened for bytes. Its position changes.
        columns: whether it should have had two columns with a tab between them.

    Explained in book/data_and_licences.
    """
    if not file.seekable():
        return ""
    file.seek(0)
    head = file.read(_HEAD)
    whole = head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1] if len(head) == _HEAD else head
    form = _encoding(whole) or (_shape(whole) if columns else None)
    return f"; it looks like {form}" if form else ""


def _encoding(text: bytes) -> str | None:
    """An encoding that is not UTF-8, if the text has lines in it."""
    if text.startswith(UTF16_MARKS):
        return None  # such a text is read
    # In UTF-16 every blank, tab and letter of English has one byte of zero, always the first or always the second.
    zeros = {"UTF-16BE": text[:1000:2].count(0), "UTF-16LE": text[1:1000:2].count(0)}
    (less, _), (more, name) = sorted((count, name) for name, count in zeros.items())
    if more > 1 and more > 10 * less:
        return f"{name} without a byte-order mark: iconv -f {name} -t UTF-8 FILE >NEW"
    lines = b"\n".join(line for line in text.splitlines() if not _is_utf8(line))
    if 0 < sum(byte > 127 for byte in lines) < 5:  # too little to tell encodings apart
        return "text of another encoding: iconv -f cp1252 -t UTF-8 FILE >NEW, if it is of Western Europe"
    matches = from_bytes(lines[:20_000], cp_isolation=_ENCODINGS) if lines else ()
    ranked = sorted(matches, key=lambda m: (m.chaos, -m.coherence, _ENCODINGS.index(m.encoding)))
    if not ranked:
        return None
    name = min(ranked[0].could_be_from_charset, key=_ENCODINGS.index).replace("_", "-")
    return f"{name}: iconv -f {name} -t UTF-8 FILE >NEW"


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _shape(text: bytes) -> str | None:
    """Text that is not two columns with a tab between them."""
    decoded = text.decode("utf-16" if text.startswith(UTF16_MARKS) else "utf-8-sig", "replace").strip()
    for pattern, kind, remedy in _MARKUP:
        if re.match(pattern, decoded, re.IGNORECASE):
            return f"{kind}: {remedy}"
    return _separator([line[:_WIDTH] for line in re.split(r"[\r\n]+", decoded) if line.strip()][:_NUM_LINES])


def _separator(lines: Sequence[str]) -> str | None:
    """What stands between the columns in place of a tab."""
    if not lines or any("\t" in line for line in lines):
        return None
    if all("|||" in line for line in lines):
        return "columns with ||| between them: perl -pe 's/ *\\|\\|\\| */\\t/' FILE >NEW"
    for delimiter, name, argument in ((",", "commas", ""), (";", "semicolons", ', delimiter=";"')):
        widths = {len(row) for row in csv.reader(lines, delimiter=delimiter)}
        if len(widths) == 1 and min(widths) > 1:
            return f"CSV with {name}: {FROM_CSV.format(argument)}"
    return "one half of a pair of files, with one sentence a line: paste FILE OTHER >NEW"
