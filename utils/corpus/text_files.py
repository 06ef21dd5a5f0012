"""Lines of text from files and pipes, and what a file looks like that is not text of the kind that is wanted.

All text of a user is read here: UTF-8 with or without a byte-order mark, and UTF-16 with one. ``pairs`` makes rows of
the lines. Functions of texts check here that they got whole characters.
Explained in book/data_and_licences.
"""

import codecs
import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from io import BufferedIOBase, BytesIO
from itertools import chain

from utils.checks import refuse_text
from utils.errors import CourseError

#: The largest number of bytes in a line, which holds two of the longest sentences in any script and an attribution.
MAX_LINE = 1 << 20
_CHUNK = 1 << 13
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: The first bytes of files that are not text, what such a file is, and what to do.
_PACKED = [
    (rb"\x1f\x8b|BZh[1-9]1AY&SY|\xfd7zXZ\0|\x28\xb5\x2f\xfd|7z\xbc\xaf\x27\x1c", "a compressed file", "unpack it"),
    (rb"PK\x03\x04.*collection\.anki", "an Anki package", "export the notes as plain text"),
    (rb"PK\x03\x04.*(\[Content_Types\]|mimetypeapplication/vnd)|\xd0\xcf\x11\xe0", "an office document",
     "save it as text with tabs"),
    (rb"PK\x03\x04", "a zip archive", "unpack it"),
    (rb"%PDF-", "a PDF document", "save its text as UTF-8"),
    (rb"\xff\xfe\0\0|\0\0\xfe\xff", "UTF-32 text",
     "convert it with iconv -f UTF-32 -t UTF-8 FILE > NEW"),
]  # fmt: skip
#: The beginnings of text with markup, and what such a file is.
_MARKUP = [
    (r"<!doctype html|<html", "an HTML page"),
    (r"(<\?xml[^>]*>)?\s*(<![^>]*>\s*)*<tmx", "TMX"),
    (r"<\?xml|<[a-z]+[ >]", "XML"),
    (r"\{\s*\"|\[\s*[{\[]", "JSON"),
]
#: What to do with a line that cannot be read.
_CONVERT = "if it was written on Windows, iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW converts the file"
_FROM_UTF16 = "if the file is UTF-16, iconv -f UTF-16LE -t UTF-8 FILE > NEW converts it"
_FEED = r"tr '\r' '\n' < FILE > NEW makes lines of such a file"
#: A file that could be half of one of pairs, and what a file of pairs must be.
_HALF = "a file with one sentence a line"
_WANTED = "write one pair a line, with a tab between the two sentences"
#: How many bytes of a file are looked at to say what it looks like, how many lines of them, and characters of a line.
_HEAD, _NUM_LINES, _WIDTH = 1 << 20, 20, 5000


def text_lines(file: BufferedIOBase, name: str) -> Iterator[str | ValueError]:
    """The lines of a text without their line ends; in place of a line that cannot be read, an error that says why.

    A line ends with a line feed, which carriage returns may precede. A line with any other carriage return cannot be
    read, since a text may have them in place of line feeds; no other character ends a line. A line is given as soon as
    its line feed has been read, and memory never holds more than ``MAX_LINE`` bytes of it. The text is UTF-8, with or
    without a byte-order mark, or UTF-16 with one.

    Args:
        file: opened for bytes.
        name: of the file, for error messages.

    Raises:
        ValueError: the file is compressed or otherwise not text.

    >>> from io import BytesIO
    >>> list(text_lines(BytesIO(b"a b\\r\\n\\n" + b"c" * 3_000_000 + b"\\nd"), "file"))
    ['a b', '', ValueError('more than 1,048,576 bytes'), 'd']
    """
    start = b""
    # A program may send one short line and wait for the answer, so no more is read than is needed to see a mark.
    while any(len(start) < len(mark) and mark.startswith(start) for mark in (codecs.BOM_UTF8, *_UTF16_MARKS)):
        if not (more := file.read1(_CHUNK)):
            break
        start += more
    for magic, kind, remedy in _PACKED:
        if re.match(magic, start, re.DOTALL):
            raise CourseError(f"{name} looks like {kind}: {remedy} first")
    chunks = chain([start.removeprefix(codecs.BOM_UTF8)], iter(partial(file.read1, _CHUNK), b""))
    is_utf16 = start.startswith(_UTF16_MARKS)
    for line in _split(_from_utf16(chunks) if is_utf16 else chunks):
        yield _decoded(line, is_utf16)


def _from_utf16(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same text in UTF-8; what is no character becomes bytes that are not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-16")("surrogatepass")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", "surrogatepass")
    if decoder.getstate()[0]:  # half a character at the end of a file that was cut off
        yield b"\xff"


def _split(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines without their line feeds; of a line that is too long only the beginning, which is too long, too."""
    line, is_long = bytearray(), False
    for chunk in chunks:
        for number, piece in enumerate(chunk.split(b"\n")):
            if number:  # the piece before this one ended a line
                if not is_long:
                    yield bytes(line)
                line, is_long = bytearray(), False
            if not is_long:
                line += piece
                if is_long := len(line) > MAX_LINE:
                    yield bytes(line)
    if line and not is_long:
        yield bytes(line)


def _decoded(line: bytes, is_utf16: bool) -> str | ValueError:
    if b"\r" in line.rstrip(b"\r"):
        return ValueError(f"a carriage return within the line; {_FEED}")
    if len(line) > MAX_LINE:
        return ValueError(f"more than {MAX_LINE:,} bytes")
    if b"\0" in line:
        return ValueError("a NUL byte" if is_utf16 else f"a NUL byte; {_FROM_UTF16}")
    try:
        return line.rstrip(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        if is_utf16:
            return ValueError(f"character {len(line[: error.start].decode()) + 1} is not UTF-16")
        return ValueError(f"byte {error.start + 1} is not UTF-8; {_CONVERT}")


def check_characters(texts: Iterable[str]) -> None:
    """Raise ValueError for half of a surrogate pair, which is no character: no text in UTF-8 has it.

    >>> check_characters(["a\\ud83d"])
    Traceback (most recent call last):
    utils.errors.CourseError: a text must hold whole characters, got U+D83D, half of a surrogate pair, in 'a\\ud83d'

    Explained in book/your_translator.
    """
    refuse_text(texts=texts)
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            half = f"U+{ord(text[error.start]):04X}"
            raise CourseError(
                f"a text must hold whole characters, got {half}, half of a surrogate pair, in {text[:40]!r}"
            ) from None


def looks_like(file: BufferedIOBase) -> str:
    """The end of an error message: what a file looks like that is no file of pairs, and what to do.

    It is empty if the file looks like nothing that is known, or cannot be read again because it is a pipe.

    Args:
        file: opened for bytes. Its position changes.

    >>> from io import BytesIO
    >>> looks_like(BytesIO(b"one,un\\ntwo,deux\\n"))
    '; it looks like CSV with commas: write one pair a line, with a tab between the two sentences'
    """
    if not file.seekable():
        return ""
    file.seek(0)
    head = file.read(_HEAD)
    if len(head) == _HEAD:
        head = head[: head.rfind(b"\n") + 1]
    readable = [line for line in text_lines(BytesIO(head), "head") if isinstance(line, str) and line.strip()]
    shape = _shape(readable[:_NUM_LINES])
    if shape is None:
        return ""
    if shape == _HALF:
        return f"; it looks like {shape}: paste en.txt fr.txt > pairs.txt joins two such files"
    return f"; it looks like {shape}: {_WANTED}"


def _shape(lines: Sequence[str]) -> str | None:
    """Text that is not two columns with a tab between them."""
    text = "\n".join(lines).strip()
    for pattern, kind in _MARKUP:
        if re.match(pattern, text, re.IGNORECASE):
            return kind
    lines = [f"{line[:_WIDTH]}\n" for line in lines]
    without_tab = [line for line in lines if "\t" not in line]
    if len(without_tab) == len(lines):
        return _separator(lines) or (_HALF if lines else None)
    rows = list(csv.reader(lines, delimiter="\t"))[:-1]  # the last one may be cut
    if len(rows) < len(lines) - 1 and len({len(row) for row in rows}) == 1:
        return "a table with line breaks in its cells"
    return _separator(without_tab) if len(without_tab) > len(lines) / 2 else None


def _separator(lines: Sequence[str]) -> str | None:
    """What stands between the columns in place of a tab."""
    if lines and all("|||" in line for line in lines):
        return "columns with ||| between them"
    for delimiter, name in ((",", "commas"), (";", "semicolons")):
        # Within a sentence a blank follows the mark.
        if sum(bool(re.search(rf"{delimiter}\S", line)) for line in lines) > len(lines) / 2:
            return f"CSV with {name}"
    return None
