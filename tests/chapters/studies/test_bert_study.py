"""The BERT study: counts, gaps and runs of three by hand, and the stored results."""

import json

import pytest
import torch

from studies import bert_study as study
from utils.corpus.vocabulary import BOS, EOS, PAD, Vocabulary


@pytest.fixture
def small(monkeypatch):
    """A corpus of six words, whose ids are those of their letters in this order: a 4, b 5, c 6."""
    train = [["a", "b", "c"], ["a", "b", "b"], ["c", "b", "a"]]
    words = Vocabulary.words([["a", "b", "c"], ["<mask>"]])
    corpus = study.Corpus(words, train, train, train)
    monkeypatch.setattr(study, "corpus", lambda: corpus)
    return corpus


def test_counts_by_hand(small):
    ids = small.words.encode([["a", "b", "c"]])[0]
    gaps = [(torch.tensor([BOS, *ids, EOS]), 2)]
    # After a: b twice and the end once.
    assert study.by_counts(gaps, 1e-9, both=False) == pytest.approx(3 / 2)
    # b: 2/3 after a, and 1/4 of what follows b is c. The end: 1/3 after a, and all 8 tokens are equal after it.
    assert study.by_counts(gaps, 1e-9, both=True) == pytest.approx((2 / 12 + 1 / 24) / (2 / 12))


def test_any_gaps_are_never_at_the_ends():
    ids = torch.tensor([[BOS, *[7] * 50, EOS, PAD]] * 300)
    torch.manual_seed(0)
    given, wanted = study.any_gaps(ids, 11, 5)
    assert torch.equal(given == 5, wanted == 7)
    assert not wanted[:, [0, 51, 52]].any()
    shares = (wanted != PAD).float().sum(dim=1) / 50  # of each sentence its own: even from 0 to 1
    assert shares.min() < 0.1 and shares.max() > 0.9 and abs(shares.mean() - 0.5) < 0.06


def test_every_pass_fills_an_equal_share(small):
    torch.manual_seed(0)
    model = study.LanguageModel(len(small.words), d=8, num_heads=2)
    states = study.fill(model, [5, 3], passes=2)
    assert [[ids.count(small.mask) for ids in each] for each in states] == [[5, 2, 0], [3, 1, 0]]
    for before, after in zip(states[0], states[0][1:], strict=False):
        assert all(old in (new, small.mask) for old, new in zip(before, after, strict=True))


def test_runs_of_three_by_hand():
    assert study.threes([7, 8]) == [(BOS, 7, 8), (7, 8, EOS)]
    assert study.new_threes([[7, 8]], {(BOS, 7, 8)}) == 0.5


def test_a_gap_is_a_noun_or_a_verb():
    gaps = study.gaps_of_a_kind(study.corpus().test, 41, seed=0)
    assert (gaps.ids[torch.arange(41), gaps.places] == study.corpus().mask).all()
    assert all(word in study.KINDS[noun] for word, noun in zip(gaps.hidden, gaps.nouns.tolist(), strict=True))


def test_the_kind_follows_the_vectors_at_the_gaps():
    gaps = study.gaps_of_a_kind(study.corpus().test, 41, seed=0)
    torch.manual_seed(0)
    model = study.LanguageModel(len(study.corpus().words))
    noun, verb = (model.table.weight[study.corpus().words.encode([[word]])[0][0]] for word in ("dog", "found"))
    right = torch.where(gaps.nouns.bool()[:, None], noun, verb).detach() * 50
    assert study.right_kinds(model, gaps, 2, lambda _: right) == 1
    assert study.right_kinds(model, gaps, 2, lambda _: -right) < 0.5


def test_only_verbs_in_the_past_count():
    _, labels = study.labelled([["Mary", "found", "it"], ["Mary", "reads", "it"], ["they", "read", "it"]])
    assert labels.tolist() == [1, 0, 0]


def test_the_stored_results_are_whole():
    stored = json.loads(study.RESULTS.read_text("utf-8"))
    settings, parts = study.BertSettings(), stored["parts"]
    assert {name: stored[name] for name in settings._fields} == json.loads(json.dumps(settings._asdict()))
    assert list(parts) == ["counts", "sides", "shares", "writing", "labels"]
    assert parts["shares"]["perplexity"][str(settings.share)] == parts["sides"]["perplexity"]["both"]
    for name in ("from BERT", "from random numbers"):
        assert [len(right) for right in parts["labels"][name]["right"]] == [len(settings.seeds)] * len(
            settings.num_labels
        )
