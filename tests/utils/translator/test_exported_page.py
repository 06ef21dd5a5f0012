"""The exported page in Chromium, opened from the disk: the numbers of torch, and what a reader sees and does."""

import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qs

import pytest
from axe_playwright_python.sync_playwright import Axe
from page_engine import BrowserEngine, check_searches, held, odd_strings, random_model
from playwright.sync_api import Browser, Page, expect
from tiny import sentences, trained_run
from windows import AXE_OPTIONS, DESK, PHONE, Visit

from utils.corpus.pairs import normalise
from utils.corpus.splits import Example
from utils.corpus.vocabulary import Vocabulary
from utils.translator.export import export
from utils.translator.models import Settings
from utils.translator.options import Search
from utils.translator.runs import Run
from utils.translator.translating import translate_sentences

pytestmark = pytest.mark.browser

EXAMPLES = ["We have two keys.", "I see four dogs."]
BEAM = "#result[data-beam='5']"


def run_of_words() -> Run:
    """Two layers of the paper's unit, untrained, which repeat themselves up to the length limit."""
    words = Vocabulary.words([["le", "chat", "dort", "."], ["tu", "vois", "l'", "homme", "!"]])
    model = random_model(len(words), cell="context", num_layers=2)
    model.decoder.output.bias.data[2] -= 100
    return Run(Settings("fr", "en"), model, words, words, [Example("Le chat dort.", ("x",))])


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    place = tmp_path_factory.mktemp("pages")
    run = replace(trained_run(), record={"data": {"pairs": "pairs.txt", "max_tokens": 12}} | RESULT)
    export(run, place / "subwords.html", examples=EXAMPLES)
    export(run_of_words(), place / "words.html", examples=["le chat dort"])
    whole = (place / "words.html").read_text("utf-8")
    weights = held(whole, "weights")
    (place / "cut.html").write_text(whole.replace(weights, weights[: len(weights) // 8 * 4]), "utf-8")
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


# The numbers


@pytest.fixture
def engine(desk: Visit) -> BrowserEngine:
    page = desk.context.new_page()
    return BrowserEngine(page)


@pytest.mark.parametrize("cell", ["gru", "context"])
@pytest.mark.parametrize("num_layers", [1, 2])
def test_chromium_searches_as_torch_does(engine, cell, num_layers):
    model = random_model(cell=cell, num_layers=num_layers, seed=5)
    engine.load(model)
    for src in sentences(20, seed=1):
        check_searches(engine, model, src, max_len=6)


def test_chromium_reads_as_tokenizers_does(engine):
    run = trained_run()
    texts = odd_strings(1000, seed=1)
    cleaned = [normalise(text, "en") for text in texts]
    told = engine.read(run.src_vocabulary, "en", texts)
    assert [reading["ids"] for reading in told] == run.src_vocabulary.encode(cleaned)


# What a reader sees


def test_each_test_sentence_is_translated(page):
    run = trained_run()
    for example in run.test:
        type_in(page, example.source)
        [expected] = translate_sentences(run, [example.source], Search(beam=5))
        assert text_of(page) == f"{expected.text}end"
        expect(page.locator(".spoken")).to_have_text(expected.text)


def test_greedy_search_answers_before_the_beam(page):
    page.evaluate(
        "window.beams = []; new MutationObserver(() => beams.push(document.querySelector('#result').dataset.beam))"
        ".observe(document.querySelector('#result'), { attributes: true, attributeFilter: ['data-beam'] })"
    )
    type_in(page, "They want six birds.")
    assert page.evaluate("beams") == ["0", "1", "5"]


def test_the_chosen_word_shows_its_weights(page):
    [expected] = translate_sentences(trained_run(), EXAMPLES[:1], Search(beam=5))
    word = 2
    page.locator(".words input").nth(word).check(force=True)
    weight, source = max(zip(expected.weights[word].tolist(), expected.src_tokens, strict=True))
    sentence = page.locator(".look").inner_text()
    assert sentence.startswith(f"While it writes “deux”, the decoder looks most at “{source[1:]}”")
    assert f"({weight:.0%})" in sentence or "> 99%" in sentence
    assert page.locator("h2").first.inner_text() == f"Step 3 of {len(expected.tgt_tokens)}"
    assert page.locator(".picture path.link").count() >= 1


def test_mouse_and_tap_choose_in_the_picture(page):
    last = page.locator(".picture rect.pick").last
    last.hover()
    expect(page.locator(".picture rect.frame.thin")).to_have_count(1)
    last.click()
    assert page.locator(".words input").last.is_checked()
    expect(page.locator(".picture rect.frame.thin")).to_have_count(0)


def test_arrow_keys_go_from_word_to_word(page):
    page.locator(".words input").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator(".words input").nth(2).is_checked()
    expect(page.locator("h2").first).to_contain_text("Step 3")


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
    "address",
    [
        "#",
        "#text=%",
        "#word=99",
        "#word=x&prefix=9999999,1,0,-4,x",
        "#prefix=300,2,300,2",
        "#prefix=&text=I%20see",
    ],
)
def test_any_address_opens_the_page(desk, address):
    page = opened(desk, "subwords", address)
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
    assert page.locator(".next").count() == 0
    type_in(page, "Le hibou dort.")
    expect(page.locator("#notes")).to_contain_text("“Le”, “hibou”. Such words are all read as one unknown")


HOSTILE = {
    "a hundred thousand characters": ("x" * 100_000, "This text has 100000 characters"),
    "many tokens": ("Ω" * 200, "This text has 401 tokens"),
    "nothing": (" \t\n ", "Write a sentence"),
    "markup": ("<img src=x onerror=alert(1)></script><b>", "<"),
    "control characters": ("a\x00b\x07\u202e\ud800c\ufeff", "Not in the vocabulary"),
    "another script": ("我们有两把钥匙。مرحبا", "“我”"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_does_no_harm(page, name):
    text, note = HOSTILE[name]
    type_in(page, "We see.")
    page.get_by_role("textbox").evaluate(
        "(field, text) => { field.value = text; field.dispatchEvent(new Event('input')) }", text
    )
    expect(page.locator("#notes")).to_contain_text(note)
    assert page.locator("#result img, b").count() == 0
    type_in(page, "We have two keys.")
    assert text_of(page) == "Nous avons deux clés.end"


# Devices


@pytest.mark.parametrize(("window", "theme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk", "phone"])
def test_axe_finds_nothing(browser, folder, theme, window):
    with Visit(browser, folder, **window, color_scheme=theme) as visit:
        page = opened(visit, "subwords")
        type_in(page, "We have Ω keys.")
        page.locator(".words input").nth(1).check(force=True)
        results = Axe().run(page, options=AXE_OPTIONS)
        assert results.violations_count == 0, results.generate_report()


def test_a_long_sentence_fits_a_phone(browser, folder):
    with Visit(browser, folder, **PHONE) as visit:
        page = opened(visit, "subwords")
        type_in(page, "We have two keys and they want uncharacteristicallylongwords. " * 3)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.locator(".words label").last.tap()
        assert page.locator(".words input").last.is_checked()


def test_without_a_script_an_example_shows(browser, folder):
    with Visit(browser, folder, java_script_enabled=False) as visit:
        page = visit.page("subwords")
        expect(page.locator(".stored")).to_have_text(re.compile("We have two keys. → Nous avons deux clés."))
        assert page.locator("#result img").bounding_box()["width"] > 200
        expect(page.get_by_role("textbox")).to_have_count(0)


def test_a_page_with_half_of_its_weights_says_so(browser, folder):
    with browser.new_page() as page:
        page.goto(f"{folder}/cut.html")
        expect(page.locator("#notes")).to_contain_text(
            "does not run in this browser, so you see a stored example"
        )
        expect(page.locator(".stored")).to_contain_text("le chat dort")
