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


def test_the_stored_weights_write_the_translations_of_the_page(engine):
    decoder = BahdanauDecoder(len(FACTS["tgt"]["tokens"]), 64, 96, 128)
    model = EncoderDecoder(Encoder(len(FACTS["src"]["tokens"]), 64, 64), decoder).eval()
    model.load_state_dict(unpack_weights(FACTS["layout"], WEIGHTS))
    _, table = CELLS["bd-021b"].outputs  # after how many are right
    table = table.data["text/plain"].splitlines()
    shown = dict(re.split(r"  +", line, maxsplit=1) for line in table[1:])
    assert len(shown) == 3
    readings = engine.call("read", list(shown))
    ids = [reading["ids"] for reading in readings]
    batch = make_batch(ids, ids)
    found = greedy(model, batch.src, batch.src_lens, max_len=50)
    words = [[FACTS["tgt"]["tokens"][i] for i in hypothesis.tokens] for hypothesis in found]
    assert [join_words(row, "fr") for row in words] == list(shown.values())
