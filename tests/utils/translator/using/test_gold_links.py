"""Files of word alignments: links as text, and files that do not fit their sentences."""

import pytest

from utils.translator.using.gold_links import format_links, parse_links, read_gold


def test_links_are_read_as_files_have_them():
    assert parse_links("1-1 2p3 10-4", first=1) == ({(0, 0), (9, 3)}, {(0, 0), (1, 2), (9, 3)})
    assert parse_links("0-0 1-2") == ({(0, 0), (1, 2)}, {(0, 0), (1, 2)})
    assert parse_links(" \n") == (set(), set())
    assert format_links(parse_links(format_links({(10, 2), (9, 3)})).sure) == "9-3 10-2"
    for line, first in (("0-1", 1), ("1-0", 1), ("1:1", 0), ("1-", 0), ("a-b", 0), ("1-2-3", 0)):
        with pytest.raises(ValueError, match=f"a link must look like {first}-{first} or"):
            parse_links(line, first=first)


def test_gold_files_may_have_a_byte_order_mark(tmp_path):
    path = tmp_path / "gold"
    for encoding in ("utf-8", "utf-16-le"):
        path.write_bytes("\ufeff0-1 1p0\r\r\n".encode(encoding))
        assert read_gold(path, [(2, 2), (1, 1)]) == [parse_links("0-1 1p0"), parse_links("")]


def test_a_gold_file_must_be_text(tmp_path):
    path = tmp_path / "gold"
    path.write_bytes(b"0-0\n0-0 \xe9\n")
    with pytest.raises(ValueError, match=f"{path}, line 2: byte 5 is not UTF-8"):
        read_gold(path, [(1, 1), (1, 1)])


def test_a_gold_file_must_fit_its_sentences(tmp_path):
    path = tmp_path / "gold"
    path.write_text("1-1 2p3\n\n", encoding="utf-8")
    sizes = [(2, 3), (1, 1)]
    assert read_gold(path, sizes, first=1) == [parse_links("0-0 1p2"), parse_links("")]
    with pytest.raises(
        ValueError,
        match="line 1: a link of words 2 and 3, but the sentences have 2 and 3 words, counted from 0",
    ):
        read_gold(path, sizes)  # counted from 1
    with pytest.raises(ValueError, match="one line per sentence pair, got 2 lines and 1 pairs"):
        read_gold(path, sizes[:1], first=1)
    path.write_text("0-0\n1:1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 1: a link must look like 1-1"):
        read_gold(path, sizes, first=1)
    with pytest.raises(ValueError, match="line 2: a link must look like 0-0"):
        read_gold(path, sizes)
    with pytest.raises(FileNotFoundError, match="none"):
        read_gold(tmp_path / "none", sizes)
