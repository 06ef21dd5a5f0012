"""The stored pages of the book: torch translates alike with their weights, and they have today's scripts."""

import gzip
from pathlib import Path

import nbformat
import pytest
import torch
import translators
from page_engine import Engine

from utils.search import beam_search
from utils.translator.models import Settings, build_model
from utils.translator.page.html import read_page
from utils.translator.page.stored_model import unpack_weights

ROOT = Path(__file__).parents[4]
#: The pages that translate what a reader types have the names of their languages.
TRANSLATORS = sorted((ROOT / "book" / "_assets" / "translators").glob("*-*.html"))
#: The translator that opens the book is small; all others load when a reader asks for them.
MEGABYTES = {"en-fr": 0.9}


@pytest.mark.parametrize("path", TRANSLATORS, ids=lambda path: path.stem)
def test_torch_translates_with_the_stored_weights(path):
    page = path.read_text("utf-8")
    assert len(gzip.compress(page.encode(), 6)) <= 1e6 * MEGABYTES.get(path.stem, 8)  # as a server sends it
    facts, packed = read_page(page)
    assert "Tatoeba (tatoeba.org), CC BY 2.0 FR" in facts["facts"]["sentences"]
    weights = unpack_weights(facts["layout"], packed)
    widths = {"d_embed": weights["encoder.embedding.weight"].shape[1]}
    widths["d_hidden"] = weights["encoder.gru.weight_hh_l0"].shape[1]
    settings = Settings(*path.stem.split("-"), **widths)
    model = build_model(settings, *(len(facts[side]["tokens"]) for side in ("src", "tgt"))).eval()
    model.load_state_dict(weights)

    engine = Engine()
    engine.call("reads", {"vocabulary": facts["src"], "language": facts["language"]})
    engine.call("writes", facts["tgt"])
    stored = facts["stored"]
    ids = engine.call("read", [stored["text"]])[0]["ids"]
    [[best, *_]] = beam_search(model, torch.tensor([ids]), torch.tensor([len(ids)]), beam=5, max_len=100)
    assert engine.call("decode", [best.tokens])[0] == stored["translation"]
    torch.testing.assert_close(torch.tensor(stored["weights"]), best.weights, rtol=0, atol=2e-4)


@pytest.mark.parametrize("path", TRANSLATORS, ids=lambda path: path.stem)
def test_the_stored_pages_have_the_scripts_of_today(path):
    assert translators.written_anew(path) == path.read_text("utf-8"), "run make translators"


def test_the_other_stored_pages_have_the_scripts_of_today():
    assert translators.sentence_anew() == (ROOT / translators.SENTENCE).read_text("utf-8"), (
        "run make translators"
    )
    page = translators.PAGES / "bottleneck.html"
    assert translators.growing_anew(page) == page.read_text("utf-8"), "run make translators"
    notebook = nbformat.read(ROOT / translators.CHAPTER, as_version=4)
    [frame] = [cell.outputs[0].data["text/html"] for cell in notebook.cells if cell.id == "bd-live"]
    assert translators.frame_anew(frame) == frame, "run make translators"
