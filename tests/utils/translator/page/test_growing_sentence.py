"""The page with a sentence that grows: what torch writes, which words are right, and what readers do with it."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import torch
from bs4 import BeautifulSoup
from page_engine import random_model
from playwright.sync_api import Browser, Page, expect
from windows import DESK, Visit

from utils.corpus.grammar import join_words
from utils.corpus.vocabulary import Vocabulary
from utils.search import greedy
from utils.translator.page.growing_sentence import Step, growing_content, growing_page, right_places
from utils.translator.page.html import held

FOLDER = Path(__file__).parents[4] / "book" / "_assets" / "translators"
STORED = json.loads(held((FOLDER / "bottleneck.html").read_text("utf-8"), "facts"))
SHORT = Step(["Mary", "sleeps", "."], ["l'", "ami", "dort", "."])
LONG = Step(["Mary", "sleeps", ",", "and", "we", "see", "."], ["on", "dort", "et", "voit", "."])


@cache
def made() -> tuple[dict, list[list[str]]]:
    """The content of a page of two random translators, and what these write at each length."""
    words = Vocabulary.words([[*SHORT.english, *SHORT.french], [*LONG.english, *LONG.french]])
    models = [random_model(len(words)), random_model(len(words), seed=1)]
    content = growing_content(models, (words, words), {"Mary": [SHORT, LONG]}, {"BLEU": "5 < 7"})
    written = []
    for step in (SHORT, LONG):
        ids = torch.tensor(words.encode([step.english]))
        found = [
            greedy(model, ids, torch.tensor([ids.shape[1]]), max_len=2 * ids.shape[1] + 10)[0]
            for model in models
        ]
        written += [words.tokens(best.tokens) for best in found]
    return content, written


def test_the_content_has_what_torch_writes():
    content, written = made()
    told = [t["words"] for step in content["stories"][0]["steps"] for t in step["translations"]]
    assert told == written
    assert len(set(map(tuple, told))) > 1
    words = Vocabulary.words([["Mary"]])
    with pytest.raises(ValueError, match=r"the vocabularies lack a word of 'Mary sleeps \.'"):
        growing_content([random_model(5)] * 2, (words, words), {"Mary": [SHORT]}, {})


def test_right_words_by_hand():
    assert right_places(["la", "petite", "fleur", "la"], ["la", "fleur"]) == [0, 2]
    assert right_places(["fleur", "la", "petite"], ["la", "petite", "fleur"]) == [1, 2]
    assert right_places([], ["la"]) == right_places(["la"], []) == []


@pytest.mark.parametrize("content", [STORED, made()[0]], ids=["stored", "made"])
def test_the_page_shows_each_text_and_marks_its_wrong_words(content):
    page = BeautifulSoup(growing_page(content), "html.parser")
    for s, story in enumerate(content["stories"]):
        for k, step in enumerate(story["steps"]):
            english, cards, french = page.select(f'[data-step="{s} {k}"]')
            assert english.text == join_words(step["english"], "en")
            assert french.text == join_words(step["french"], "fr")
            for card, translation in zip(cards.select(".card"), step["translations"], strict=True):
                for spoken in card.select(".spoken"):
                    spoken.decompose()
                words, right = translation["words"], translation["right"]
                assert card.select_one(".french").text == join_words(words, "fr")
                assert card.select_one(".count").text == f"{len(right)} of {len(step['french'])} words right"
                wrong = "".join(word for i, word in enumerate(words) if i not in right)
                marked = "".join(mark.text for mark in card.select("mark"))
                assert marked.replace(" ", "").lower() == wrong.lower()


# What readers do with it


@pytest.fixture(scope="module")
def desk(browser: Browser) -> Iterator[Visit]:
    with Visit(browser, FOLDER.as_uri(), **DESK) as visit:
        yield visit


@pytest.fixture
def page(desk: Visit) -> Page:
    page = desk.page("bottleneck")
    page.goto("about:blank")  # a change of the address alone would not load the page
    page.goto(f"{desk.origin}/bottleneck.html")
    return page


@pytest.mark.browser
def test_longer_and_shorter_by_mouse_and_key(page):
    longer, shorter = (page.get_by_role("button", name=name) for name in ("Longer", "Shorter"))
    english, points = page.locator(".english:visible"), page.locator(".plot .spot")
    before = points.count()
    longer.click()
    expect(english).to_have_text("Mary found the small white flower yesterday.")
    longer.press("Enter")
    expect(english.locator("b")).to_have_text(", and she was very happy")
    expect(page).to_have_url(re.compile("#sentence=1&length=3"))
    assert points.count() == before + 4
    shorter.press("Space")
    expect(page.locator(".length")).to_have_text("8 words")
    assert points.count() == before + 4  # what was seen stays
    for _ in range(9):
        longer.press("Enter")
    expect(page.locator(".length")).to_have_text("46 words")
    expect(longer).to_have_attribute("aria-disabled", "true")


@pytest.mark.browser
def test_a_screen_reader_hears_counts_marks_and_curves(page):
    page.get_by_role("button", name="Longer").click()
    expect(page.get_by_role("status")).to_have_text(
        "Mary found the small white flower yesterday. With attention: 9 of 9 words right; "
        "from one vector: 7 of 9 words right."
    )
    told = re.compile(
        "With attention: 100% of 5 words, 100% of 8 words; from one vector: 83% of 5 words, 78% of"
    )
    expect(page.locator(".plot")).to_have_attribute("aria-label", told)
    assert page.locator("mark:visible").first.text_content().startswith("wrong: ")


@pytest.mark.browser
def test_another_sentence_has_its_own_translation(page):
    page.get_by_role("button", name="Mary").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".english:visible")).to_have_text("Anna bought a hat.")
    page.get_by_text("The right translation").click()
    expect(page.locator(".reference .french:visible")).to_have_text("Anna a acheté un chapeau.")


@pytest.mark.browser
def test_on_paper_the_sentence_is_long(page):
    page.emulate_media(media="print")
    expect(page.locator(".english:visible")).to_contain_text("so it ate the cake quickly in the kitchen.")
    assert page.locator(".plot .spot").count() == 2 * 7 + 2
    page.emulate_media(media="screen")
    expect(page.locator(".english:visible")).to_have_text("Mary found the flower.")
    assert page.locator(".plot .spot").count() == 4
