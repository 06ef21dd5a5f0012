"""Layers and heads are counted from 0, and a head is written L0H2: in texts, code, outputs and figures."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    path
    for folder, ending in (("chapters", "ipynb"), ("chapters", "py"), ("book", "md"))
    for path in sorted((ROOT / folder).rglob(f"*.{ending}"))
]
#: A sentence that says what the name means.
MEANING = re.compile(r"\bL(\d+)H(\d+)\*{0,2},?(?: is| for)? head \2 of layer \1\b")
OTHER_NAMES = re.compile(
    r"""\bheads?\ (?:\d|\{head)             # head 3, heads 1 to 3, head 0.2, f"head {head + 1}"
    |   \blayer\ \{\w+\ \+\ 1               # f"layer {layer + 1}"
    |   \bthe\ (?:first|second|third|fourth)\ (?:head|layer)\b
    |   \b(?:head|layer)\\?":\ \[1\b        # a slider that begins at 1""",
    re.VERBOSE | re.IGNORECASE,
)


def other_names(text: str) -> list[str]:
    return OTHER_NAMES.findall(MEANING.sub("", text))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_writes_heads_in_one_way(path):
    assert other_names(path.read_text("utf-8")) == []  # a notebook's file holds its code, outputs and figures


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Head 2 of layer 0 looks back.", ["Head 2"]),
        ("without heads 1 to 3", ["heads 1"]),
        ('print(f"head 0.2 {p}")', ["head 0"]),
        ('f"In head {head} of layer {layer + 1}"', ["head {head", "layer {layer + 1"]),
        ("a head of the first layer", ["the first layer"]),
        (r"{\"head\": [1, 2], \"layer\": [0, 1]}", [r"head\": [1"]),
        ("L0H2 is head 2 of layer 0, and **L1H0** for head 0 of layer 1", []),
        ("L0H2 is head 0 of layer 2", ["head 0"]),
        ("12 heads: 624 parameters of layer 1, the first of 3 heads", []),
    ],
)
def test_other_names_are_found(text, found):
    assert other_names(text) == found
