"""The page of a translator in Chromium, opened from the disk: what a reader sees and does, also in an old browser."""

import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qs

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from page_engine import chapter_page, held, random_model
from playwright.sync_api import Browser, Page, expect
from tiny import trained_run
from windows import AXE_OPTIONS, DESK, PHONE, Visit

from utils.corpus.splits import Example
from utils.corpus.vocabulary import Vocabulary
from utils.translator.models import Settings
from utils.translator.options import Search
from utils.translator.page.exported import export
from utils.translator.runs import Run
from utils.translator.using.translating import translate_sentences

pytestmark = pytest.mark.browser

EXAMPLES = ["We have two keys.", "I see four dogs."]
BEAM = "#result[data-beam='5']"


def run_of_words() -> Run:
    """Two layers of the paper's unit, untrained, which repeat themselves up to the length limit."""
    words = Vocabulary.words([["le", "chat", "dort", "."], ["tu", "vois", "l'", "homme", "!"]])
    model = random_model(len(words), cell="gated", num_layers=2)
    model.decoder.output.bias.data[2] -= 100
    return Run(Settings("fr", "en"), model, words, words, [Example("Le chat dort.", ("x",))])


def run_between(src: str, tgt: str) -> Run:
    """An untrained run between English and Arabic words."""
    words = Vocabulary.words([["we", "see", "Mary", "."], ["نحن", "نرى", "مريم", "."]])
    tokens = words.tokens(range(len(words)))
    model = random_model(len(words), seed=2)
    is_foreign = torch.tensor([(tgt == "ar") != token.isascii() for token in tokens])
    model.decoder.output.bias.data[~is_foreign] -= 100
    return Run(Settings(src, tgt), model, words, words, [])


#: What may lack in a browser: a text of the page, and what stands in its place.
LACKING = {
    "toReversed": ('id="worker">', 'id="worker">delete Array.prototype.toReversed;'),
    "a language": ('id="worker">', 'id="worker">a b;'),
    "workers": ("<body>", "<body><script>window.Worker = undefined</script>"),
    "colours": ("light-dark(", "future-function("),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    place = tmp_path_factory.mktemp("pages")
    run = replace(trained_run(), record={"data": {"pairs": "pairs.txt", "max_tokens": 12}} | RESULT)
    export(run, place / "subwords.html", examples=EXAMPLES)
    export(run_of_words(), place / "words.html", examples=["le chat dort"])
    export(run_between("en", "ar"), place / "en-ar.html", examples=["we see ."])
    export(run_between("ar", "en"), place / "ar-en.html", examples=["نحن نرى ."])
    whole = (place / "words.html").read_text("utf-8")
    for name, (there, instead) in LACKING.items():
        assert there in whole
        (place / f"without {name}.html").write_text(whole.replace(there, instead), "utf-8")
    weights = held(whole, "weights")
    (place / "without half of the weights.html").write_text(
        whole.replace(weights, weights[: len(weights) // 8 * 4]), "utf-8"
    )
    (place / "chapter.html").write_text(chapter_page(), "utf-8")
    return place.as_uri()


RESULT = {"result": {"minutes": 1, "steps": 5, "date": "2026-11-23"}}


@pytest.fixture(scope="module")
def desk(browser: Browser, folder: str) -> Iterator[Visit]:
    with Visit(browser, folder, **DESK) as visit:
        yield visit


@pytest.fixture
def page(desk: Visit) -> Page:
    """The page of subwords as it opens, with the translation of its first example."""
    return opened(desk, "subwords")


def opened(visit: Visit, name: str, address: str = "") -> Page:
    page = visit.page(name)
    page.goto("about:blank")  # a change of the address alone would not load the page
    page.goto(f"{visit.origin}/{name}.html{address}")
    page.locator(BEAM).wait_for()
    return page


def text_of(page: Page) -> str:
    """The translation as the reader sees it."""
    return page.locator(".line").text_content()


def type_in(page: Page, text: str) -> None:
    """Type, and wait for the beam search to answer, or for what the page says of the text."""
    page.evaluate("document.querySelector('#result').dataset.beam = 0")
    page.get_by_role("textbox").fill(text)
    page.locator(BEAM).wait_for(state="attached")


def choose(page: Page, word: int, rank: int) -> str:
    """Choose a word of the translation, and there the likely word of this rank; return that one."""
    page.locator(".words input").nth(word).check(force=True)
    page.evaluate("document.querySelector('#result').dataset.beam = 0")
    page.locator(".step li button").nth(rank).click()
    page.locator(BEAM).wait_for()
    return page.locator(".words .mine").inner_text()


# What a reader sees


def test_the_chosen_word_shows_its_weights(page):
    [expected] = translate_sentences(trained_run(), EXAMPLES[:1], Search(beam=5))
    word = 2
    page.locator(".words input").nth(word).check(force=True)
    weight, source = max(zip(expected.weights[word].tolist(), expected.src_tokens, strict=True))
    sentence = page.locator(".look").inner_text()
    assert sentence.startswith(f"While it writes “deux”, the decoder looks most at “{source[1:]}” (")
    assert f"({weight:.0%})" in sentence or "> 99%" in sentence
    assert page.locator("h2").first.inner_text() == f"Step 3 of {len(expected.tgt_tokens)}"
    assert page.locator(".picture path.link").count() >= 1


def test_another_word_changes_the_rest(page):
    before = text_of(page)
    mine = choose(page, 2, rank=1)
    assert page.locator(".step [aria-pressed='true'] .name").inner_text() == mine
    assert text_of(page).split()[:2] == before.split()[:2]
    assert text_of(page) != before
    page.get_by_role("button", name="Put back").click()
    expect(page.locator(".words .mine")).to_have_count(0)
    expect(page.locator(".line")).to_have_text(before)


def test_the_address_brings_everything_back(desk, page):
    type_in(page, "I see four dogs.")
    mine = choose(page, 2, rank=1)
    expect(page).to_have_url(re.compile("prefix"))
    address, text = page.evaluate("location.hash"), text_of(page)
    assert parse_qs(address[1:])["text"] == ["I see four dogs."]
    again = opened(desk, "subwords", address)
    assert (again.get_by_role("textbox").input_value(), text_of(again)) == ("I see four dogs.", text)
    assert again.locator(".words .mine").inner_text() == mine
    assert again.locator(".words input").nth(2).is_checked()


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("chapter", "#text=%&word=1e9&prefix=x"),
        ("subwords", "#word=99&prefix=9999999,1,0,-4,x"),
        ("subwords", "#prefix=300,2,300,2"),
    ],
)
def test_any_address_opens_the_page(desk, name, address):
    page = opened(desk, name, address)
    assert page.locator(".words input:checked").count() == 1
    assert page.locator(".words .end").count() == 1


# What the page says


def test_unknown_characters_and_long_sentences_are_named(page):
    notes = page.locator("#notes")
    assert notes.inner_text() == ""
    type_in(page, "We have Ω keys.")
    expect(notes).to_contain_text("Not in the vocabulary: “Ω”. Such characters are read as bytes.")
    type_in(page, "We have two keys. We have two keys. We have two keys.")
    expect(notes).to_contain_text("tokens; none in the training has more than 12.")


def test_a_cut_off_translation_is_named(desk):
    page = opened(desk, "words")
    expect(page.locator("#notes")).to_contain_text("The translation is cut off")
    assert page.locator(".words .end").count() == 0
    assert " " in text_of(page)  # between words
    type_in(page, "Le hibou dort.")
    expect(page.locator("#notes")).to_contain_text("“Le”, “hibou”. Such words are all read as one unknown")


#: Texts, and what the page says of each.
HOSTILE = {
    "x" * 100_000: "This text has 100000 characters",
    "😀 " * 1000: "tokens. The page translates at most 200",
    "Ω" * 200: "This text has 401 tokens",
    " \t\n ": "Write a sentence",
    "<img src=x onerror=alert(1)></script><b>": "<",
    "a\x00b\x07\u202e\ud800c\ufeff": "Not in the vocabulary",
    "We have 👨\u200d👩\u200d👧.": "Not in the vocabulary: “👨\u200d👩\u200d👧”. Such",
}


def test_hostile_text_does_no_harm(page):
    for text, note in HOSTILE.items():
        page.get_by_role("textbox").evaluate(
            "(field, text) => { field.value = text; field.dispatchEvent(new Event('input')) }", text
        )
        expect(page.locator("#notes")).to_contain_text(note)
        assert page.locator("#result img, b").count() == 0
    type_in(page, "We have two keys.")
    assert text_of(page) == "Nous avons deux clés.end"


# Devices


@pytest.mark.parametrize(
    ("name", "window", "theme"),
    [("subwords", DESK, "light"), ("chapter", PHONE, "dark")],
    ids=["desk", "phone"],
)
def test_axe_finds_nothing_and_nothing_is_too_wide(browser, folder, theme, window, name):
    with Visit(browser, folder, **window, color_scheme=theme) as visit:
        page = visit.page(name)
        page.locator(BEAM).wait_for()
        type_in(page, "Ωmega 😀.")
        page.locator(".words input").nth(1).check(force=True)
        results = Axe().run(page, options=AXE_OPTIONS)
        assert results.violations_count == 0, results.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= window["viewport"]["width"]


def test_a_long_sentence_fits_a_phone(browser, folder):
    with Visit(browser, folder, **PHONE) as visit:
        page = opened(visit, "subwords")
        type_in(page, "We have two keys and they want uncharacteristicallylongwords. " * 3)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.locator(".words label").last.tap()
        assert page.locator(".words input").last.is_checked()


def test_without_a_script_an_example_shows(browser, folder):
    with Visit(browser, folder, java_script_enabled=False, color_scheme="dark") as visit:
        page = visit.page("subwords")
        expect(page.get_by_role("textbox")).to_have_count(0)
        expect(page.get_by_role("button")).to_have_count(0)
        expect(page.get_by_text("This is a stored example.")).to_be_visible()
        picture = page.locator("#result img")
        assert picture.bounding_box()["width"] > 200
        page.emulate_media(media="print")
        assert picture.evaluate("image => getComputedStyle(image).filter") == "none"
        style = "body => [getComputedStyle(body).backgroundColor, getComputedStyle(body).color]"
        assert page.locator("body").evaluate(style) == ["rgb(255, 255, 255)", "rgb(34, 34, 34)"]


# Browsers that lack something


@pytest.mark.parametrize("name", [*(name for name in LACKING if name != "colours"), "half of the weights"])
def test_a_browser_that_cannot_run_it_shows_the_stored_example(browser, folder, name):
    with browser.new_page() as page:
        page.goto(f"{folder}/without {name}.html")
        expect(page.locator("#notes")).to_have_text("The translator does not run in this browser.")
        expect(page.get_by_text("in a browser of May 2024 or later")).to_be_visible()
        expect(page.locator(".stored")).to_contain_text("le chat dort")
        assert page.locator("#result img").bounding_box()["width"] > 200
        expect(page.get_by_role("textbox")).to_have_count(0)


def test_without_light_dark_the_colours_are_those_of_a_light_page(browser, folder):
    with Visit(browser, folder, color_scheme="dark") as visit:
        page = opened(visit, "without colours")
        colour = "(node, name) => getComputedStyle(node)[name]"
        assert page.locator(".bar").first.evaluate(colour, "backgroundColor") == "rgb(91, 63, 184)"
        assert page.locator(".picture path.link").first.evaluate(colour, "stroke") == "rgb(0, 114, 178)"
        assert page.locator("body").evaluate(colour, "backgroundColor") == "rgb(255, 255, 255)"
        assert page.locator(".word:has(:checked)").evaluate(colour, "borderBottomColor") == "rgb(213, 94, 0)"


# Languages


def test_each_text_has_its_own_direction(desk):
    direction = "nodes => nodes.map(node => getComputedStyle(node).direction)"
    for name, line, button in (("en-ar", "rtl", "ltr"), ("ar-en", "ltr", "rtl")):
        page = opened(desk, name)
        assert page.locator(".line").evaluate_all(direction) == [line]
        assert page.locator(".examples button").evaluate_all(direction) == [button]
        assert page.locator(".stored, #text").evaluate_all(direction)[0] == button
        places = page.locator(".line .word").evaluate_all("nodes => nodes.map(node => node.offsetLeft)")
        assert places[:3] == sorted(places[:3], reverse=line == "rtl")
        for part in (".look bdi", ".step .name bdi"):
            assert set(page.locator(part).evaluate_all("nodes => nodes.map(node => node.translate)")) == {
                False
            }
