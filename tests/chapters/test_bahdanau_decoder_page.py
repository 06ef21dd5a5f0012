"""The translator in the chapter on Bahdanau's decoder: the weights of its stored run."""

import re
from pathlib import Path

import nbformat
import pytest
from page_engine import Engine, chapter_page, read_page

from utils.corpus.batches import make_batch
from utils.corpus.grammar import join_words
from utils.search import greedy
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder
from utils.translator.page.stored_model import unpack_weights

ROOT = Path(__file__).parents[2]
CELLS = {
    cell.id: cell for cell in nbformat.read(ROOT / "chapters" / "bahdanau_decoder.ipynb", as_version=4).cells
}
FACTS, WEIGHTS = read_page(chapter_page())


@pytest.fixture(scope="module")
def engine() -> Engine:
    engine = Engine()
    engine.call("reads", {"vocabulary": FACTS["src"], "language": FACTS["language"]})
    return engine


def test_the_stored_weights_write_the_printed_translations(engine):
    decoder = BahdanauDecoder(len(FACTS["tgt"]["tokens"]), 64, 96, 128, cell="gated")
    model = EncoderDecoder(Encoder(len(FACTS["src"]["tokens"]), 64, 64), decoder).eval()
    model.load_state_dict(unpack_weights(FACTS["layout"], WEIGHTS))
    compared, of_dog = (CELLS[name].outputs[0].text for name in ("bd-021b", "bd-live-a"))
    sources = re.findall(r"^source +(.+)$", compared, re.MULTILINE)
    printed = re.findall(r"^translated +(.+)$", compared, re.MULTILINE)
    assert len(sources) == len(printed) == 3
    readings = engine.call("read", [*sources, sources[0].replace("flower", "dog")])
    ids = [reading["ids"] for reading in readings]
    batch = make_batch(ids, ids)
    found = greedy(model, batch.src, batch.src_lens, max_len=50)
    words = [[FACTS["tgt"]["tokens"][i] for i in hypothesis.tokens] for hypothesis in found]
    assert [join_words(row, "fr") for row in words] == [*printed, of_dog.strip()]
