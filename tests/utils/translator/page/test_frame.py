"""The page of a translator in the output of a cell, in the book and in a notebook that runs."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from page_engine import read_page

from utils.figures.figure import MODE_VARIABLE
from utils.translator.page.frame import stored_translator
from utils.translator.page.html import stored_content


def test_the_book_has_a_page_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODE_VARIABLE, "static")
    for folded, attribute in ((True, "data-src"), (False, "src")):
        html = BeautifulSoup(stored_translator("zh-en", "A < B", folded=folded)._repr_html_(), "html.parser")
        assert html.iframe["title"] == "A < B"
        assert html.iframe[attribute] == "../_static/translators/zh-en.html"
        assert (html.details is not None) == folded


def test_a_notebook_writes_the_page_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # as in a handout, where there is no book
    monkeypatch.delenv(MODE_VARIABLE, raising=False)
    html = BeautifulSoup(stored_translator("en-fr", "A < B", folded=True)._repr_html_(), "html.parser")
    assert html.details.summary.text == html.iframe["title"] == "A < B"
    page = (tmp_path / html.iframe["src"]).read_text("utf-8")
    assert read_page(page)[1] == stored_content("en-fr")[1]
