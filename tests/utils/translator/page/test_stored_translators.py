"""The translators that come with the course: torch translates alike with their weights."""

import pytest
import torch
import translators
from page_engine import Engine, read_page

from utils.translator.options import Search
from utils.translator.page.exported import stored_run
from utils.translator.page.html import page_of, stored_content
from utils.translator.using.translating import source_ids, translate_sentences


@pytest.mark.trains
@pytest.mark.parametrize("name", translators.TRANSLATORS)
def test_torch_translates_with_the_stored_weights(name):
    content, _ = read_page(page_of(*stored_content(name)))
    assert "Tatoeba (tatoeba.org), CC BY 2.0 FR" in content["facts"]["sentences"]
    stored, run = content["stored"], stored_run(name)
    [translation] = translate_sentences(run, [stored["text"]], Search(beam=5))
    assert translation.text == stored["translation"]
    torch.testing.assert_close(torch.tensor(stored["weights"]), translation.weights, rtol=0, atol=2e-4)

    engine = Engine()
    engine.call("reads", {"vocabulary": content["src"], "language": content["language"]})
    engine.call("writes", content["tgt"])
    for read in engine.call("read", [stored["text"], "Ω 1 赫!"]):
        assert read["ids"] == source_ids(run, [read["text"]])[0]
    ids = run.tgt_vocabulary.encode([stored["translation"]])[0]  # no merges: letter by letter
    assert engine.call("decode", [ids])[0] == run.tgt_vocabulary.decode(ids) == stored["translation"]


def test_a_name_that_no_translator_has_is_refused():
    with pytest.raises(FileNotFoundError, match=r"zh-fr\.json"):
        stored_run("zh-fr")
