"""The BERT study: counts and gaps by hand, and the stored results."""

import json

import pytest
import torch

from studies import bert_study as study
from utils.corpus.batches import make_batch
from utils.corpus.vocabulary import BOS, EOS, Vocabulary


@pytest.fixture
def small(monkeypatch):
    """A corpus of six words, whose ids are those of their letters in this order: a 4, b 5, c 6."""
    train = [["a", "b", "c"], ["a", "b", "b"], ["c", "b", "a"]]
    words = Vocabulary.words([["a", "b", "c"], ["<mask>"]])
    corpus = study.Corpus(words, train, train, train)
    monkeypatch.setattr(study, "corpus", lambda: corpus)
    return corpus


@pytest.fixture
def few(monkeypatch):
    """Two sentences with nouns and verbs."""
    train = [["Mary", "found", "the", "dog", "."], ["the", "flower", "was", "white", "."]]
    corpus = study.Corpus(Vocabulary.words([*train, ["<mask>"]]), train, train, train)
    monkeypatch.setattr(study, "corpus", lambda: corpus)
    return corpus


def test_counts_by_hand(small):
    ids = small.words.encode([["a", "b", "c"]])[0]
    gaps = [(torch.tensor([BOS, *ids, EOS]), 2)]
    # After a: b twice and the end once.
    assert study.by_counts(gaps, 1e-9, both=False) == pytest.approx(3 / 2)
    # b: 2/3 after a, and 1/4 of what follows b is c. The end: 1/3 after a, and all 8 tokens are equal after it.
    assert study.by_counts(gaps, 1e-9, both=True) == pytest.approx((2 / 12 + 1 / 24) / (2 / 12))


def test_a_gap_is_a_noun_or_a_verb(few):
    gaps = study.gaps_of_a_kind(few.test, 41, seed=0)
    assert (gaps.ids[torch.arange(41), gaps.places] == few.mask).all()
    assert all(word in study.KINDS[noun] for word, noun in zip(gaps.hidden, gaps.nouns.tolist(), strict=True))


def test_the_kind_follows_the_vectors_at_the_gaps(few):
    gaps = study.gaps_of_a_kind(few.test, 41, seed=0)
    torch.manual_seed(0)
    model = study.LanguageModel(len(few.words))
    noun, verb = (model.table.weight[few.words.encode([[word]])[0][0]] for word in ("dog", "found"))
    right = torch.where(gaps.nouns.bool()[:, None], noun, verb).detach() * 50
    assert study.right_kinds(model, right, gaps.nouns) == 1
    wrong = torch.where(gaps.nouns.bool()[:, None], verb, noun).detach() * 50
    assert study.right_kinds(model, wrong, gaps.nouns) == 0


@pytest.mark.parametrize("task", ["gaps", "left", "right"])
def test_a_network_learns_each_task(few, task):
    def loss(model):
        batch = make_batch(ids, ids)
        if task == "gaps":
            return study.gap_loss(1.0, model, batch, label_smoothing=0.0)
        return study.next_loss(model, batch, label_smoothing=0.0)

    settings = study.BertSettings(epochs=13, batch_size=2, lr=0.01)
    learned = study.trained.__wrapped__(task, settings, 1.0)
    ids = few.words.encode(few.train)
    if task == "right":
        ids = [row[::-1] for row in ids]
    torch.manual_seed(0)
    assert loss(learned) < 0.7 * loss(study.LanguageModel(len(few.words)))


def test_only_verbs_in_the_past_count(few):
    _, labels = study.labelled([["Mary", "found", "it"], ["Mary", "reads", "it"], ["they", "read", "it"]])
    assert labels.tolist() == [1, 0, 0]


def test_the_stored_results_are_whole():
    stored = json.loads(study.RESULTS.read_text("utf-8"))
    settings, parts = study.BertSettings(), stored["parts"]
    assert {name: stored[name] for name in settings._fields} == json.loads(json.dumps(settings._asdict()))
    assert list(parts) == ["counts", "sides", "labels"]
    for name in ("from BERT", "from random numbers"):
        assert [len(right) for right in parts["labels"][name]["right"]] == [len(settings.seeds)] * len(
            settings.num_labels
        )
