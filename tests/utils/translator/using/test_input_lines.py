"""Streams of text: what is read, when, and what is refused."""

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.translator.using.input_lines import open_text, read_lines


class Pieces(io.RawIOBase):
    """A pipe whose other end writes these pieces, one after the other."""

    def __init__(self, pieces: list[bytes]):
        self.pieces = pieces

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        piece = self.pieces.pop(0) if self.pieces else b""
        buffer[: len(piece)] = piece
        return len(piece)


def lines_of(text: str) -> list[str]:
    """The lines of a whole text, which needs no guess about what comes later."""
    *ended, last = text.split("\n")
    return [line.rstrip("\r") for line in ended + [last] * bool(last)]


@given(
    st.lists(st.sampled_from(["a", "\r\n", "\r\r\n", *"\né\u2028\x85\x0b\x0c\ufeff"]), max_size=17).map(
        "".join
    ),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_lines_do_not_depend_on_how_bytes_arrive(text, encoding):
    if encoding == "utf-8":
        text = text.lstrip("\ufeff")
    content = text.encode(encoding)
    pipe = Pieces([content[i : i + 1] for i in range(len(content))])
    for file in (io.BufferedReader(pipe), io.BytesIO(content)):
        assert list(read_lines(file, "x")) == lines_of(text)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a\r\nb\nd\r\r\n", ["a", "b", "d"]),
        ("a\n\r\n", ["a", ""]),
        ("a\tb\r", ["a\tb"]),
        ("\n\n", ["", ""]),
        ("", []),
    ],
)
def test_returns_before_a_line_feed_end_the_line(text, lines):
    assert list(read_lines(io.BytesIO(text.encode()), "x")) == lines
    assert list(read_lines(io.BytesIO(text.encode("utf-16")), "x")) == lines


def test_lines_that_end_with_returns_alone_are_refused():
    with pytest.raises(ValueError, match=r"^x, line 2: a carriage return within the line; tr "):
        list(read_lines(io.BytesIO(b"a\nb\rc\n"), "x"))


def test_a_line_is_given_before_the_next_one_is_sent():
    pieces = [b"a b\r", b"\n", b"c\n"]
    lines = read_lines(io.BufferedReader(Pieces(pieces)), "x")
    assert (next(lines), pieces) == ("a b", [b"c\n"])


def test_what_is_no_text_is_named_with_its_remedy(tmp_path):
    path = tmp_path / "text"
    path.write_bytes("ok\nOù est la clé ? C'est déjà l'été.\n".encode("cp1252"))
    with (
        open_text(path, None) as text,
        pytest.raises(ValueError, match=f"{path}, line 2: byte 2 is not UTF-8; .* iconv"),
    ):
        list(text.lines)
    with (
        open_text(None, io.BufferedReader(Pieces([b"\xe9\n"]))) as text,
        pytest.raises(ValueError, match=r"standard input, line 1: byte 1 is not UTF-8; .* iconv"),
    ):
        list(text.lines)
    with (
        pytest.raises(ValueError, match=f"{tmp_path} is a folder: name a file in it"),
        open_text(tmp_path, None),
    ):
        pass
    path.write_bytes(gzip.compress(b"a\n"))
    with (
        pytest.raises(ValueError, match=f"{path} looks like a compressed file: unpack it"),
        open_text(path, None, count=True),
    ):
        pass
