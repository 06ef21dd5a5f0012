"""The exported page as a file: what it holds, what it says, how it is written anew, and what cannot be exported."""

import base64
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont
from page_engine import random_model, read_page
from tiny import SETTINGS, TRANSFORMER, trained_run

from utils.corpus.splits import Example
from utils.corpus.vocabulary import Vocabulary
from utils.translator.models import Settings
from utils.translator.page.exported import export
from utils.translator.page.html import MAX_CHARACTERS, MAX_TOKENS, Content
from utils.translator.page.stored_model import unpack_weights
from utils.translator.runs import Run


def exported(run: Run, folder: Path, **options: object) -> BeautifulSoup:
    size = export(run, folder / "page.html", **options)
    assert size == (folder / "page.html").stat().st_size
    return BeautifulSoup((folder / "page.html").read_text("utf-8"), "html.parser")


def content_in(page: BeautifulSoup) -> Content:
    return json.loads(page.select_one("#facts").string)


def stated(page: BeautifulSoup) -> dict[str, str]:
    return {name.text: name.find_next("dd").text for name in page.select("dt")}


def test_the_page_has_the_weights_of_the_run(tmp_path):
    run = trained_run()
    export(run, tmp_path / "page.html")
    content, packed = read_page((tmp_path / "page.html").read_text("utf-8"))
    stored = unpack_weights(content["layout"], packed)
    assert stored.keys() == run.model.state_dict().keys()
    for name, tensor in run.model.state_dict().items():  # rounded to 127 steps of the largest number of a row
        torch.testing.assert_close(stored[name], tensor, rtol=0, atol=0.51 * tensor.abs().max().item() / 127)


def test_the_page_says_what_it_holds(tmp_path):
    record = {
        "data": {"pairs": "/data/pairs.txt", "max_tokens": 100},
        "result": {"minutes": 3.01, "steps": 4181, "date": "2026-11-23T21:05:20+00:00"},
    }
    evaluation = {
        "bleu": {"value": 41.26, "signature": "nrefs:1|case:lc"},
        "num_sentences": 1056,
        "of": {"beam": 5},
    }
    page = exported(replace(trained_run(), record=record), tmp_path, evaluation=evaluation)
    facts = stated(page)
    assert facts["languages"] == "English (en) to French (fr)"
    assert facts["training"] == "3 minutes, 4,181 steps, on pairs.txt"
    assert facts["date"] == "2026-11-23"
    assert re.match(r"41\.3 on 1,056 sentences .* beam 5 \(nrefs:1\|case:lc;", facts["BLEU"])
    assert content_in(page)["longestInTraining"] == 100


def test_the_stored_example_is_the_runs_own(tmp_path):
    page = exported(trained_run(), tmp_path, examples=["We have two keys."])
    assert page.select_one(".stored").text.strip() == "We have two keys. → Nous avons deux clés."
    assert page.select_one("#result img")["src"].startswith("data:image/svg+xml")


def test_texts_cannot_become_markup(tmp_path):
    evil = "</script><b>&amp;</b>"
    page = exported(trained_run(), tmp_path, title=evil, about=evil, examples=[evil])
    assert (page.select_one("title").text, page.select_one("h1").text) == (evil, evil)
    assert page.select_one(".about").text == evil
    assert page.select_one(".examples button").text == evil
    assert content_in(page)["examples"] == [evil]
    assert not page.select("b")


def test_chinese_brings_its_font(tmp_path):
    words = Vocabulary.words([["我", "们", "睡", "。"]])
    model = random_model(len(words))
    run = Run(Settings("zh", "en"), model, words, words, [Example("我们睡。", ("x",))])
    page = exported(run, tmp_path, title="小译者", examples=["我们睡。", "狐狸睡。"])
    # Also the characters of an example and of the title, which are in no token of the vocabulary.
    [font] = re.findall(r"base64,([\w+/=]+)", page.select_one("style").text)
    drawn = TTFont(io.BytesIO(base64.b64decode(font))).getBestCmap()
    assert {chr(code) for code in drawn} == set("我们睡。狐狸小译者")
    assert content_in(page)["language"]["simplified"]["們"] == "们"
    assert "@font-face" not in exported(trained_run(), tmp_path).select_one("style").text


def test_what_cannot_be_exported_is_refused(tmp_path):
    run, out = trained_run(), tmp_path / "page.html"
    settings = replace(SETTINGS, **TRANSFORMER)
    with pytest.raises(ValueError, match="only a recurrent translator can be exported, this run is a transf"):
        export(replace(run, settings=settings), out)
    with pytest.raises(ValueError, match=r"must end in \.html, got 'page\.htm'"):
        export(run, tmp_path / "page.htm")
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere to write the page to"):
        export(run, tmp_path / "nowhere" / "page.html")
    with pytest.raises(ValueError, match="no test sentences: name a file with --examples"):
        export(replace(run, test=[]), out)
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(ValueError, match=r"folder\.html is a folder: name a file"):
        export(run, tmp_path / "folder.html")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.html"]


@pytest.mark.parametrize(
    ("example", "message"),
    [
        ("\u200b\ufeff", "must have something to translate"),
        ("We see. " * 300, f"may have {MAX_CHARACTERS} characters .* got 2400 and"),
        ("Ω" * 150, f"and {MAX_TOKENS} tokens, got 150 and 301"),
    ],
)
def test_an_example_that_the_page_does_not_translate_is_refused(tmp_path, example, message):
    with pytest.raises(ValueError, match=message):
        export(trained_run(), tmp_path / "page.html", examples=["We see.", example])
    assert not list(tmp_path.iterdir())
