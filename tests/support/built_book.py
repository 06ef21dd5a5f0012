"""The book that `make test-book` has built, as files."""

import base64
import io
import os
import re
from functools import cache
from pathlib import Path

import yaml
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "_build" / "tested" / "_build" / "html"
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
IDEOGRAPHS = re.compile("[\u3400-\u9fff\uf900-\ufaff]")


def listed(entry: dict) -> list[str]:
    """The pages of a table of contents, in order."""
    below = [entry.get("file") or entry.get("root")]
    for key in ("parts", "chapters", "sections"):
        for child in entry.get(key, ()):
            below += listed(child)
    return [page for page in below if page]


PAGES = listed(TOC)
CHAPTERS = [page for page in PAGES if page.startswith("chapters/")]
#: The chapter that alone is tested, if `make test CHAPTER=name` runs.
CHAPTER = os.environ.get("ATTENTION_CHAPTER")


@cache
def soup(path: Path) -> BeautifulSoup:
    assert path.exists(), f"{path.relative_to(ROOT)} is missing: make test-book builds it"
    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


def html(page: str) -> BeautifulSoup:
    return soup(BOOK / f"{page}.html")


def fonts_in(sheet: str) -> list[TTFont]:
    """The fonts that a style sheet of the book contains as data; it need not be built."""
    text = (ROOT / "book" / "_assets" / "fonts" / sheet).read_text("utf-8")
    return [TTFont(io.BytesIO(base64.b64decode(data))) for data in re.findall(r"base64,([\w+/=]+)", text)]
