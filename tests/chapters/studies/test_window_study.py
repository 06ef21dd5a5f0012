"""The window study: which words each word looks at, and its stored results."""

import json

import torch

from studies.window_study import RESULTS, SmallGPT, WindowSettings, largest, losses, shifted, ways
from utils.corpus.vocabulary import BOS
from utils.transformer import causal_mask


def test_each_way_but_one_looks_at_as_many_words():
    masks = ways(WindowSettings(long=31, keys=7))
    assert masks["all"].sum(dim=1).tolist() == list(range(1, 32))
    assert masks["window"].sum(dim=1).tolist() == [min(place, 7) for place in range(1, 32)]
    for name, kept in (("first", 0), ("tenth", 9)):
        assert masks[name][kept:].sum(dim=1)[7:].tolist() == [7] * (31 - kept - 7), name
        assert masks[name][kept:, kept].all()
        assert not masks[name].triu(1).any()


def test_chosen_keys_have_the_largest_weights():
    weights = torch.tensor([[0.05, 0.4, 0.25, 0.3], [0.7, 0.3, 0.0, 0.0]])
    assert largest(weights, 2).int().tolist() == [[0, 1, 0, 1], [1, 1, 0, 0]]
    torch.manual_seed(0)
    model, ids = SmallGPT(11, d=12).eval(), torch.randint(11, (3, 13))
    whole = model(ids, causal_mask(13))[0]
    torch.testing.assert_close(model(ids, causal_mask(13), chosen=13)[0], whole, atol=1e-5, rtol=1e-4)
    few = model(ids, causal_mask(13), chosen=5)[0]
    torch.testing.assert_close(few[:, :5], whole[:, :5], atol=1e-5, rtol=1e-4)
    drawn = model(ids, causal_mask(13), chosen=5, draw=torch.Generator().manual_seed(0))[0]
    assert not torch.isclose(few[:, 7:], whole[:, 7:]).all()
    assert not torch.isclose(few[:, 7:], drawn[:, 7:]).all()


def test_a_loss_belongs_to_the_word_that_is_asked():
    texts = torch.tensor([[5, 7, 3], [4, 4, 9]])
    assert shifted(texts).tolist() == [[BOS, 5, 7], [BOS, 4, 4]]
    torch.manual_seed(0)
    model = SmallGPT(11, d=12).eval()
    p = model(shifted(texts), causal_mask(3))[0].softmax(dim=-1)
    expected = -torch.stack([p[0, [0, 1, 2], [5, 7, 3]], p[1, [0, 1, 2], [4, 4, 9]]]).log()
    torch.testing.assert_close(losses(model, texts, causal_mask(3)), expected)


def test_the_stored_results_are_of_these_settings():
    stored, setup = json.loads(RESULTS.read_text("utf-8")), WindowSettings()
    settings = json.loads(json.dumps(setup._asdict()))
    assert {name: stored[name] for name in settings} == settings
    assert list(stored["parts"]) == [f"seed {seed}" for seed in setup.seeds]
    for part in stored["parts"].values():
        assert part["losses"].keys() == ways(setup).keys() | {"chosen", "random", "anew"}
        assert all(len(groups) == len(setup.edges) - 1 for groups in part["losses"].values())
