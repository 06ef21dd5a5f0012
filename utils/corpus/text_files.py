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

from charset_normalizer import from_bytes

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
    (rb"\xff\xfe\0\0|\0\0\xfe\xff", "UTF-32 text", "save it as UTF-8"),
]  # fmt: skip
#: The beginnings of text with markup, and what such a file is.
_MARKUP = [
    (r"<!doctype html|<html", "an HTML page"),
    (r"(<\?xml[^>]*>)?\s*(<![^>]*>\s*)*<tmx", "TMX"),
    (r"<\?xml|<[a-z]+[ >]", "XML"),
    (r"\{\s*\"|\[\s*[{\[]", "JSON"),
]
#: The encodings that are still met; the first ones are named where several give the same text.
_ENCODINGS = [
    "cp1252", "gb18030", "cp1251", "koi8_r", "cp932", "euc_jp", "big5", "cp949", "cp1250", "cp1253", "cp1254", "cp1255",
    "cp1256", "cp874",
]  # fmt: skip
#: What a file of pairs must be, and a file that could be half of one.
_WANTED = "write one pair a line, with a tab between the two sentences"
_HALF = "one of two files with one sentence a line"
#: How many bytes of a file are looked at to say what it looks like, how many lines of them, and characters of a line.
_HEAD, _NUM_LINES, _WIDTH = 1 << 20, 20, 5000


def text_lines(file: BufferedIOBase, name: str) -> Iterator[str | ValueError]:
    """The lines of a text without their line ends; in place of a line that cannot be read, an error that says why.

    A line ends with a line feed, or with a carriage return and a line feed. Any other carriage return is a blank, and
    no other character ends a line. A line is given as soon as its line feed has been read, and memory never holds more
    than ``MAX_LINE`` bytes of it. The text is UTF-8, with or without a byte-order mark, or UTF-16 with one.

    Args:
        file: opened for bytes.
        name: of the file, for error messages.

    Raises:
        ValueError: the file is compressed or otherwise not text.

    >>> from io import BytesIO
    >>> list(text_lines(BytesIO(b"a\\rb\\r\\n\\n" + b"c" * 3_000_000 + b"\\nd"), "file"))
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


def _split(chunks: Iterable[bytes]) -> Iterator[bytes | None]:
    """The lines, of which those that ended with both characters keep the return; None for a line that is too long."""
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
                    yield None
    if line and not is_long:
        yield bytes(line)


def _decoded(line: bytes | None, is_utf16: bool) -> str | ValueError:
    if line is None:
        return ValueError(f"more than {MAX_LINE:,} bytes")
    try:
        text = line.removesuffix(b"\r").replace(b"\r", b" ").decode("utf-8")
    except UnicodeDecodeError as error:
        if is_utf16:
            return ValueError(f"character {len(line[: error.start].decode()) + 1} is not UTF-16")
        return ValueError(f"byte {error.start + 1} is not UTF-8")
    return ValueError("a NUL byte") if "\0" in text else text


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


def looks_like(file: BufferedIOBase, *, columns: bool) -> str:
    """The end of an error message: what the file looks like, and what to do.

    It is empty if the file looks like nothing that is known, or cannot be read again because it is a pipe.

    Args:
        file: opened for bytes. Its position changes.
        columns: whether it should have had two columns with a tab between them.

    >>> from io import BytesIO
    >>> looks_like(BytesIO(b"one,un\\ntwo,deux\\n"), columns=True)
    '; it looks like CSV with commas: write one pair a line, with a tab between the two sentences'
    """
    if not file.seekable():
        return ""
    file.seek(0)
    head = file.read(_HEAD)
    if len(head) == _HEAD:
        head = head[: head.rfind(b"\n") + 1]
    if encoding := _encoding(head):
        return f"; it looks like {encoding}: save it as UTF-8"
    shape = _shape(head) if columns else None
    if shape == _HALF:
        return f"; it looks like {shape}: name both files, or {_WANTED}"
    return f"; it looks like {shape}: {_WANTED}" if shape else ""


def _encoding(head: bytes) -> str | None:
    """An encoding that is not read, if the text has lines in it."""
    if head.startswith(_UTF16_MARKS):
        return None
    if b"\0" in head[:1000]:
        return "UTF-16 without a byte-order mark"
    lines = b"\n".join(line for line in head.splitlines() if not _is_utf8(line))
    if not lines:
        return None
    place = _ENCODINGS.index
    matches = from_bytes(lines[:20_000], cp_isolation=_ENCODINGS)
    ranked = sorted(matches, key=lambda m: (m.chaos, -m.coherence, place(m.encoding)))
    if not ranked or sum(byte > 127 for byte in lines) < 5:  # too few to tell encodings apart
        return "text of another encoding"
    return f"{min(ranked[0].could_be_from_charset, key=place).replace('_', '-')} text"


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _shape(head: bytes) -> str | None:
    """Text that is not two columns with a tab between them."""
    readable = [line for line in text_lines(BytesIO(head), "head") if isinstance(line, str) and line.strip()]
    text = "\n".join(readable[:_NUM_LINES]).strip()
    for pattern, kind in _MARKUP:
        if re.match(pattern, text, re.IGNORECASE):
            return kind
    lines = [f"{line[:_WIDTH]}\n" for line in readable[:_NUM_LINES]]
    if not any("\t" in line for line in lines):
        return _separator(lines)
    rows = list(csv.reader(lines, delimiter="\t"))[:-1]  # the last one may be cut
    if len(rows) < len(lines) - 1 and len({len(row) for row in rows}) == 1:
        return "a table with line breaks in its cells"
    return None


def _separator(lines: Sequence[str]) -> str | None:
    """What stands between the columns in place of a tab."""
    if not lines:
        return None
    if all("|||" in line for line in lines):
        return "columns with ||| between them"
    for delimiter, name in ((",", "commas"), (";", "semicolons")):
        # Within a sentence a blank follows the mark.
        if sum(bool(re.search(rf"{delimiter}\S", line)) for line in lines) > len(lines) / 2:
            return f"CSV with {name}"
    return _HALF
