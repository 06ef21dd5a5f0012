"""Lines of text from files and pipes: where a line ends, which encodings are read, and how much of a line is held.

All text of a user is read here. What a file of another form looks like is in ``forms``.
Explained in book/data_and_licences.
"""

import codecs
from collections.abc import Iterable, Iterator
from functools import partial
from io import BufferedIOBase
from itertools import chain

from utils.corpus.forms import UTF16_MARKS, packed_form

#: The largest number of bytes in a line, which holds two of the longest sentences in any script and an attribution.
MAX_LINE = 1 << 20
_CHUNK = 1 << 13


def text_lines(file: BufferedIOBase, name: str) -> Iterator[str | ValueError]:
    """The lines of a text without their line ends; in place of a line that cannot be read, an error that says why.

    A line ends with a line feed, a carriage return or both, and with no other character. It is given as soon as its
    end has been read, and memory never holds more than ``MAX_LINE`` bytes of it. The text is UTF-8, with or without a
    byte-order mark, or UTF-16 with one.

    Args:
        file: opened for bytes.
        name: of the file, for error messages.

    Raises:
        ValueError: the file is compressed or otherwise not text.

    >>> from io import BytesIO
    >>> list(text_lines(BytesIO(b"a\\rb\\r\\n\\n" + b"c" * 3_000_000 + b"\\nd"), "file"))
    ['a', 'b', '', ValueError('more than 1,048,576 bytes'), 'd']

    Explained in book/data_and_licences.
    """
    start = b""
    # A program may send one short line and wait for the answer, so no more is read than is needed to see a mark.
    while any(len(start) < len(mark) and mark.startswith(start) for mark in (codecs.BOM_UTF8, *UTF16_MARKS)):
        if not (more := file.read1(_CHUNK)):
            break
        start += more
    if form := packed_form(start):
        raise ValueError(f"{name} {form}")
    chunks = chain([start.removeprefix(codecs.BOM_UTF8)], iter(partial(file.read1, _CHUNK), b""))
    is_utf16 = start.startswith(UTF16_MARKS)
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
    """The lines with their line ends; None in place of a line that is too long."""
    line, is_long, after_return = bytearray(), False, False
    for chunk in chunks:
        for piece in chunk.splitlines(keepends=True):  # of bytes, which have no other line ends
            if after_return and piece == b"\n":  # the line feed of a line end that two chunks share
                after_return = False
                continue
            after_return = piece.endswith(b"\r")
            if not is_long:
                line += piece
                if is_long := len(line) > MAX_LINE:
                    yield None
            if piece.endswith((b"\n", b"\r")):
                if not is_long:
                    yield bytes(line)
                line, is_long = bytearray(), False
    if line and not is_long:
        yield bytes(line)


def _decoded(line: bytes | None, is_utf16: bool) -> str | ValueError:
    if line is None:
        return ValueError(f"more than {MAX_LINE:,} bytes")
    try:
        text = line.rstrip(b"\r\n").decode("utf-8")
    except UnicodeDecodeError as error:
        if is_utf16:
            return ValueError(f"character {len(line[: error.start].decode()) + 1} is not UTF-16")
        return ValueError(f"byte {error.start + 1} is not UTF-8")
    return ValueError("a NUL byte") if "\0" in text else text
