"""The page with a sentence that grows: it writes what torch writes, and readers can use it everywhere."""

import base64
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from page_engine import held
from playwright.sync_api import Browser, Page, expect
from windows import AXE_OPTIONS, DESK, PHONE, Visit

from utils.corpus.grammar import join_words
from utils.corpus.vocabulary import UNK
from utils.search import greedy
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder, FixedContextDecoder
from utils.translator.packed import unpack_weights

pytestmark = pytest.mark.browser

FOLDER = Path(__file__).parents[3] / "book" / "_assets" / "translators"
#: The text of each card, without what only a screen reader says; the part of it that is not marked; and the count.
READ_CARDS = """cards => cards.map(card => {
    const shown = card.querySelector(".french").cloneNode(true);
    shown.querySelectorAll(".spoken").forEach(spoken => spoken.remove());
    const text = shown.textContent;
    shown.querySelectorAll("mark").forEach(mark => mark.replaceWith(" "));
    return [text, shown.textContent, card.querySelector(".count").textContent];
})"""


#: French words as the grammar has them.
WORDS = re.compile(r"aujourd'hui|[^\s',.]+'?|[,.]")


def num_right(words: list[str], reference: list[str]) -> int:
    """The most words that both have in the same order."""

    @cache
    def common(i: int, j: int) -> int:
        if i == len(words) or j == len(reference):
            return 0
        same = [1 + common(i + 1, j + 1)] if words[i] == reference[j] else []
        return max([*same, common(i + 1, j), common(i, j + 1)])

    return common(0, 0)


@cache
def stored() -> tuple[dict[str, dict], list[list[list[str]]]]:
    """The sentences of the page at each length, by their addresses, and what torch writes with the stored weights."""
    page = (FOLDER / "bottleneck.html").read_text("utf-8")
    facts = json.loads(held(page, "facts"))
    weights = unpack_weights(facts["layout"], base64.b64decode(held(page, "weights")))
    steps = {
        f"#sentence={s}&length={k}": step
        for s, story in enumerate(facts["stories"], 1)
        for k, step in enumerate(story["steps"], 1)
    }
    written = []
    for name, make in zip(facts["translators"], (BahdanauDecoder, FixedContextDecoder), strict=True):
        own = {key.removeprefix(f"{name}."): w for key, w in weights.items() if key.startswith(f"{name}.")}
        num_src, width = own["encoder.embedding.weight"].shape
        encoder = Encoder(num_src, width, width)
        model = EncoderDecoder(encoder, make(len(facts["tokens"]), width, width, encoder.d_out)).eval()
        model.load_state_dict(own)
        written.append([])
        for ids in (step["ids"] for step in steps.values()):
            [best] = greedy(model, torch.tensor([ids]), torch.tensor([len(ids)]), max_len=2 * len(ids) + 10)
            written[-1].append([facts["tokens"][token] for token in best.tokens])
    return steps, written


@pytest.fixture(scope="module")
def desk(browser: Browser) -> Iterator[Visit]:
    with Visit(browser, FOLDER.as_uri(), **DESK) as visit:
        yield visit


@pytest.fixture
def page(desk: Visit) -> Page:
    return opened(desk)


def opened(visit: Visit, address: str = "") -> Page:
    page = visit.page("bottleneck")
    page.goto("about:blank")  # a change of the address alone would not load the page
    page.goto(f"{visit.origin}/bottleneck.html{address}")
    return page


def test_the_page_writes_and_marks_what_torch_writes(page):
    steps, written = stored()
    for (address, step), *both in zip(steps.items(), *written, strict=True):
        page.evaluate("address => { location.hash = address }", address)
        expect(page.locator(".english")).to_have_text(join_words(step["english"], "en"))
        cards = page.locator(".card").evaluate_all(READ_CARDS)
        for (text, unmarked, count), words in zip(cards, both, strict=True):
            right = num_right(words, step["french"])
            assert text == join_words(words, "fr")
            assert count == f"{right} of {len(step['french'])} words right"
            # What is not marked stands in the right translation, in the same order, and there cannot be more of it.
            kept = WORDS.findall(unmarked)
            assert num_right(kept, step["french"]) == len(kept) == right


def test_attention_stays_right_and_one_vector_does_not():
    steps, written = stored()
    references = [step["french"] for step in steps.values()]
    attention, vector = torch.tensor(
        [
            [num_right(*pair) / len(pair[1]) for pair in zip(texts, references, strict=True)]
            for texts in written
        ]
    )
    long = torch.tensor([len(step["english"]) > 40 for step in steps.values()])
    assert (attention == 1).float().mean() > 0.9
    assert attention[long].mean() > 0.95
    assert vector[long].max() < 0.5
    assert all(UNK not in step["ids"] for step in steps.values())


def test_longer_and_shorter_by_mouse_and_key(page):
    longer, shorter = (page.get_by_role("button", name=name) for name in ("Longer", "Shorter"))
    points = page.locator(".plot .spot")
    before = points.count()
    longer.click()
    expect(page.locator(".english")).to_have_text("Mary found the small white flower yesterday.")
    longer.press("Enter")
    expect(page.locator(".english b")).to_have_text(", and she was very happy")
    expect(page).to_have_url(re.compile("#sentence=1&length=3"))
    assert points.count() == before + 4
    shorter.press("Space")
    expect(page.locator(".length")).to_have_text("8 words")
    assert points.count() == before + 4  # what was seen stays
    for _ in range(9):
        longer.press("Enter")
    expect(page.locator(".length")).to_have_text("46 words")
    expect(longer).to_have_attribute("aria-disabled", "true")


def test_a_screen_reader_hears_counts_marks_and_curves(page):
    page.get_by_role("button", name="Longer").click()
    expect(page.get_by_role("status")).to_contain_text(
        "With attention: 9 of 9 words right; from one vector: "
    )
    told = re.compile("With attention: 100% of 5 words, 100% of 8 words; from one vector: ")
    expect(page.locator(".plot")).to_have_attribute("aria-label", told)
    assert page.locator("mark").first.text_content().startswith("wrong: ")


def test_another_sentence_has_its_own_translation(page):
    page.get_by_role("radio", name="Mary").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".english")).to_have_text("Anna bought a hat.")
    page.get_by_text("The right translation").click()
    expect(page.locator(".reference .french")).to_have_text("Anna a acheté un chapeau.")


@pytest.mark.parametrize("address", ["#sentence=99&length=-3", "#length=%", "#sentence=x&length=1e9"])
def test_any_address_opens_the_page(desk, address):
    expect(opened(desk, address).locator(".plot .spot").first).to_be_visible()


@pytest.mark.parametrize(("window", "theme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk", "phone"])
def test_axe_finds_nothing_and_nothing_is_too_wide(browser, theme, window):
    with Visit(browser, FOLDER.as_uri(), **window, color_scheme=theme) as visit:
        page = opened(visit, "#sentence=1&length=7")
        results = Axe().run(page, options=AXE_OPTIONS)
        assert results.violations_count == 0, results.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= window["viewport"]["width"]


def test_without_a_script_a_long_example_shows(browser):
    with Visit(browser, FOLDER.as_uri(), java_script_enabled=False) as visit:
        shown = visit.page("bottleneck")
        first, second = shown.locator(".card .french").all_inner_texts()
        assert first == shown.locator(".reference .french").text_content() != second
        expect(shown.locator(".caption")).to_be_hidden()
        expect(shown.get_by_role("button")).to_have_count(0)
