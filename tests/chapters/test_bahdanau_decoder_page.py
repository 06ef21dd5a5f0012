"""The translator in the chapter on Bahdanau's decoder: the weights of its stored run, and what a reader does."""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
import torch
from page_engine import Engine, chapter_page, read_page
from playwright.sync_api import Browser, Page, expect
from windows import DESK, Visit

from utils.corpus.batches import make_batch
from utils.corpus.grammar import join_words, triples
from utils.search import beam_search, greedy
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder
from utils.translator.models import Settings, build_model
from utils.translator.page.html import page_of, stored_content
from utils.translator.page.stored_model import unpack_weights

ROOT = Path(__file__).parents[2]
CELLS = {
    cell.id: cell for cell in nbformat.read(ROOT / "chapters" / "bahdanau_decoder.ipynb", as_version=4).cells
}
PAGE = chapter_page()
FACTS, WEIGHTS = read_page(PAGE)


@pytest.fixture(scope="module")
def engine() -> Engine:
    engine = Engine()
    engine.call("reads", {"vocabulary": FACTS["src"], "language": FACTS["language"]})
    return engine


def test_the_page_reads_training_sentences_as_the_chapter_does(engine):
    ids = {token: number for number, token in enumerate(FACTS["src"]["tokens"])}
    sentences = [t.en for t in triples(500, split="train", min_words=3, max_words=16)]
    told = engine.call("read", [join_words(words, "en") for words in sentences])
    assert [reading["ids"] for reading in told] == [[ids[word] for word in words] for words in sentences]


def test_the_stored_weights_write_the_printed_translations(engine):
    decoder = BahdanauDecoder(len(FACTS["tgt"]["tokens"]), 64, 96, 128, cell="context")
    model = EncoderDecoder(Encoder(len(FACTS["src"]["tokens"]), 64, 64), decoder).eval()
    model.load_state_dict(unpack_weights(FACTS["layout"], WEIGHTS))
    compared, of_dog = (CELLS[name].outputs[0].text for name in ("bd-021b", "bd-live-a"))
    sources = re.findall(r"^source +(.+)$", compared, re.MULTILINE)
    printed = re.findall(r"^with +(.+)$", compared, re.MULTILINE)
    assert len(sources) == len(printed) == 3
    readings = engine.call("read", [*sources, sources[0].replace("flower", "dog")])
    ids = [reading["ids"] for reading in readings]
    batch = make_batch(ids, ids)
    found = greedy(model, batch.src, batch.src_lens, max_len=50)
    words = [[FACTS["tgt"]["tokens"][i] for i in hypothesis.tokens] for hypothesis in found]
    assert [join_words(row, "fr") for row in words] == [*printed, of_dog.strip()]


def test_the_table_holds_what_the_stored_translator_writes():
    facts, packed = read_page(page_of(*stored_content("en-fr")))
    weights = unpack_weights(facts["layout"], packed)
    width = weights["encoder.embedding.weight"].shape[1]
    sizes = (len(facts[side]["tokens"]) for side in ("src", "tgt"))
    model = build_model(Settings("en", "fr", d_embed=width, d_hidden=width), *sizes).eval()
    model.load_state_dict(weights)
    engine = Engine()
    engine.call("reads", {"vocabulary": facts["src"], "language": facts["language"]})
    engine.call("writes", facts["tgt"])
    rows = re.findall(r"^\| ([A-Z].+[.?]) \| (.+) \|$", CELLS["bd-real-m"].source, re.MULTILINE)
    assert len(rows) == 5
    for english, french in rows:
        ids = engine.call("read", [english])[0]["ids"]
        [[best, *_]] = beam_search(model, torch.tensor([ids]), torch.tensor([len(ids)]), beam=5, max_len=100)
        assert engine.call("decode", [best.tokens])[0].replace("\u202f", " ") == french


# In a browser, opened from the disk


@pytest.fixture(scope="module")
def visit(browser: Browser, tmp_path_factory) -> Iterator[Visit]:
    place = tmp_path_factory.mktemp("page")
    (place / "page.html").write_text(PAGE, "utf-8")
    with Visit(browser, place.as_uri(), **DESK) as visit:
        yield visit


@pytest.fixture
def page(visit: Visit) -> Page:
    page = visit.page("page")
    page.reload()
    page.locator("#result[data-beam='5']").wait_for()
    return page


@pytest.mark.browser
def test_words_are_chosen_by_mouse_and_key(page):
    field, offered = page.get_by_role("textbox"), page.locator(".next button")
    page.get_by_role("group", name="New sentence").get_by_role("button", name="The").click()
    expect(field).to_have_value("The")
    page.get_by_role("group", name="Next word").get_by_role("button", name="woman").click()
    expect(offered.first).to_be_focused()
    first = offered.first.inner_text()
    page.keyboard.press("Enter")
    expect(field).to_have_value(f"The woman {first}")
    expect(offered.first).not_to_have_text(first)


@pytest.mark.browser
def test_letters_choose_among_the_words_and_a_sentence_is_translated(page):
    field, offered = page.get_by_role("textbox"), page.locator(".next button")
    field.fill("Peter does not dri")
    expect(offered).to_have_text(["drink", "drinking", "drinks"])
    offered.first.click()
    expect(field).to_have_value("Peter does not drink")
    field.fill("Mary sleeps.")
    expect(page.locator(".line")).to_have_text("Marie dort.end")
    field.fill("Mary's zebra sleeps.")
    expect(page.locator("#notes")).to_have_text(
        "Not in the vocabulary: “zebra”. Such words are all read as one unknown word."
    )
    field.fill("Mary's ")
    expect(page.get_by_role("group", name="Next word")).to_be_visible()
    after_possessive = offered.all_inner_texts()
    field.fill("The")
    expect(offered).not_to_have_text(after_possessive)
    for apostrophe in "’ʼ＇":  # as telephones and keyboards write it
        field.fill("The")
        expect(offered).not_to_have_text(after_possessive)
        field.fill(f"Mary{apostrophe}s")
        expect(offered).to_have_text(after_possessive)
    field.fill("Mary sleeps. " * 200)
    expect(offered).to_have_count(0)
