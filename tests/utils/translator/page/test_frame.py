"""The page of a translator in the output of a cell, in the book, in a notebook beside it and in a handout."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from utils.figures.figure import MODE_VARIABLE
from utils.translator.page.frame import stored_translator


@pytest.mark.parametrize(
    ("mode", "folder", "attribute", "address"),
    [
        ("static", "anywhere", "data-src", "../_static/translators/zh-en.html"),
        ("", "chapters", "src", "../book/_assets/translators/zh-en.html"),
    ],
)
def test_a_notebook_shows_the_page_of_the_book(
    mode: str, folder: str, attribute: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "book" / "_assets" / "translators" / "zh-en.html"
    page.parent.mkdir(parents=True)
    page.touch()
    (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / folder)
    monkeypatch.setenv(MODE_VARIABLE, mode)
    html = BeautifulSoup(stored_translator("zh-en", "A < B", folded=True)._repr_html_(), "html.parser")
    assert html.details.summary.text == html.iframe["title"] == "A < B"
    assert html.iframe[attribute] == address


def test_a_handout_says_where_the_page_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(MODE_VARIABLE, raising=False)
    html = stored_translator("zh-en", "A < B", folded=True)._repr_html_()
    assert html == "<p>A &lt; B: this page is in the book, which does not lie beside this notebook.</p>"
