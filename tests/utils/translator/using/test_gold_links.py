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
