"""The translators that come with the course: torch translates alike with their weights."""

import pytest
import torch
import translators
from page_engine import Engine, read_page

from utils.search import beam_search
from utils.translator.models import Settings, build_model
from utils.translator.page.html import page_of, stored_content
from utils.translator.page.stored_model import unpack_weights


@pytest.mark.trains
@pytest.mark.parametrize("name", translators.TRANSLATORS)
def test_torch_translates_with_the_stored_weights(name):
    facts, packed = read_page(page_of(*stored_content(name)))
    assert "Tatoeba (tatoeba.org), CC BY 2.0 FR" in facts["facts"]["sentences"]
    weights = unpack_weights(facts["layout"], packed)
    widths = {"d_embed": weights["encoder.embedding.weight"].shape[1]}
    widths["d_hidden"] = weights["encoder.gru.weight_hh_l0"].shape[1]
    settings = Settings(*name.split("-"), **widths)
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
