"""A table of results: what it writes, and what it refuses."""

import pytest
import torch
from bs4 import BeautifulSoup

from utils.figures import Table


def test_numbers_are_right_aligned_and_words_left():
    table = Table(
        {"with": [0.125, 3, "Ils regardent."], "without any": [12.0, None, "Oui"]},
        ["loss (nats)", "steps", "writes"],
        formats=[".2f", "", ""],
        heading="attention",
    )
    assert repr(table).splitlines() == [
        "attention    loss (nats)  steps  writes",
        "with                0.12      3  Ils regardent.",
        "without any        12.00         Oui",
    ]


def test_a_small_number_does_not_look_like_zero():
    table = Table(
        {"a": [3e-7], "b": [-4.4e-12], "c": [0.0], "d": [0.004], "e": [-0.0], "f": [float("nan")]}, ["error"]
    )
    assert [line.split()[1] for line in repr(table).splitlines()[1:]] == [
        "3e-7",
        "-4e-12",
        "0.00",
        "4e-3",
        "0.00",
        "nan",
    ]


def test_rows_may_be_tensors_or_single_entries():
    table = Table({"q": torch.tensor([0.25, 0.5]), "k": [torch.tensor(1.0), 2]}, ["x", "y"], formats=".1f")
    assert repr(table).splitlines() == ["     x    y", "q  0.2  0.5", "k  1.0    2"]
    assert repr(Table({"a": 0.5, "b": torch.tensor(7)}, ["n"])).split() == ["n", "a", "0.50", "b", "7"]


def test_chinese_words_take_two_columns():
    first, second = repr(Table({"程序员": [1], "a": [22]}, ["n"])).splitlines()[1:]
    assert (first, second) == ("程序员   1", "a       22")


def test_the_page_has_headings_for_rows_and_columns():
    page = BeautifulSoup(Table({"a<b": ["x & y", 0.5]}, ["says", "p"])._repr_html_(), "html.parser")
    assert [head["scope"] for head in page.select("thead th")] == ["col"] * 3
    row = page.select_one("tbody tr")
    assert (row.th["scope"], row.th.get_text()) == ("row", "a<b")
    assert [cell.get_text() for cell in row.select("td")] == ["x & y", "0.50"]
    assert [cell.get("class") for cell in row.select("td")] == [None, ["number"]]


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ({"a": [1, 2], "b": [3]}, {}, "row 'b' must have 2 entries, got 1"),
        ({"a": [1, 2]}, {"formats": [".1f"]}, "2 columns need one format or 2, got 1"),
    ],
)
def test_mistakes_are_named(rows, options, message):
    with pytest.raises(ValueError, match=message):
        Table(rows, ["x", "y"], **options)
