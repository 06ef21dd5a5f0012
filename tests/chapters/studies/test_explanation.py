"""The study of explanations, on files of sentences of the grammar; and its stored results."""

import json
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from studies import explanation, real_sentences
from studies.explanation import (
    PARTS,
    RESULTS,
    EvenDecoder,
    Study,
    grammar,
    grow_diagonal,
    guided,
    misleading_loss,
    run_study,
    symmetrised,
    translator,
    turned,
    weights_of,
)
from utils.corpus.batches import make_batch
from utils.corpus.pairs import DATA_VARIABLE
from utils.seq2seq import BahdanauDecoder
from utils.training import batch_loss

pytestmark = pytest.mark.trains

SMALL = Study(
    num_train=61, num_drawn=67, num_test=17, epochs=1, epochs_misled=1, width=7, seeds=(0, 1), num_links=13
)
LINKS = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=9)


def touches(link, links):
    return any(max(abs(link[0] - i), abs(link[1] - j)) == 1 for i, j in links)


def test_growing_by_hand():
    # (1, 1) touches (0, 0) across a corner. (2, 2) then touches (1, 1). (4, 4) touches nothing.
    forward = frozenset({(0, 0), (1, 1), (4, 4)})
    assert grow_diagonal(forward, frozenset({(0, 0), (2, 2)})) == {(0, 0), (1, 1), (2, 2)}
    # Both words of (1, 0) have a link: 1 through (1, 1), 0 through (0, 0).
    both = frozenset({(0, 0), (1, 1)})
    assert grow_diagonal(both | {(1, 0)}, both) == both


@given(LINKS, LINKS)
def test_growing_ends_where_nothing_can_be_added(forward, backward):
    links = grow_diagonal(forward, backward)
    assert forward & backward <= links <= forward | backward
    sources, targets = {i for i, _ in links}, {j for _, j in links}
    for link in (forward | backward) - links:
        assert not touches(link, links) or (link[0] in sources and link[1] in targets)
    for link in links - (forward & backward):
        assert touches(link, links)


@given(LINKS, LINKS)
def test_both_directions_have_the_same_part(forward, backward):
    joined = symmetrised([forward], [backward])
    assert turned(turned(forward)) == forward
    assert len(joined["union"][0]) + len(joined["intersection"][0]) == len(forward) + len(backward)
    assert joined["intersection"][0] <= joined["grow-diag"][0] <= joined["union"][0]


@pytest.fixture(scope="module")
def data():
    return grammar(SMALL)


def test_a_translator_overlaps_with_itself_by_one(data):
    model = translator(SMALL, data, BahdanauDecoder, 0).eval()
    batch = make_batch(*data.ids(data.test))
    for smoothing in (0.0, 0.1):
        loss = misleading_loss(model, batch, honest=model, label_smoothing=smoothing)
        torch.testing.assert_close(loss, batch_loss(model, batch, label_smoothing=smoothing) + 1)


def test_the_even_decoder_looks_at_real_words_alike(data):
    model = translator(SMALL, data, EvenDecoder, 0).eval()
    batch = make_batch(*data.ids(data.test))
    weights = weights_of(model, batch)
    for row, length in zip(weights, batch.src_lens.tolist(), strict=True):
        torch.testing.assert_close(row[:, :length], torch.full_like(row[:, :length], 1 / length))
        assert not row[:, length:].any()


def test_weights_on_the_right_words_guide_best(data):
    def even(batch):
        mask = (batch.src != 0).float()
        return (mask / mask.sum(dim=-1, keepdim=True))[:, None].expand(-1, batch.tgt_out.shape[1], -1)

    def first_words(batch):
        # In the grammar many sentences begin with the word that translates their first word.
        weights = torch.zeros(*batch.tgt_out.shape, batch.src.shape[1])
        places = torch.arange(weights.shape[1]).clamp(max=weights.shape[2] - 1)
        weights[:, torch.arange(weights.shape[1]), places] = 1.0
        return weights

    assert guided(SMALL, data, first_words, epochs=9) > guided(SMALL, data, even, epochs=9)


@pytest.mark.slow
def test_every_part_is_measured(folder, tiny_study, tmp_path, monkeypatch):
    monkeypatch.setenv(DATA_VARIABLE, str(folder))
    monkeypatch.setattr(real_sentences, "RESAMPLES", 40)
    monkeypatch.setattr(
        explanation.real_sentences, "Study", lambda runs: _TINY_STUDY(runs=runs, **tiny_study)
    )
    out = tmp_path / "study.json"
    run_study(Study(**{**vars(SMALL), "runs": tmp_path / "runs", "steps_back": 3}), out)
    parts = json.loads(out.read_text("utf-8"))["parts"]
    assert list(parts) == list(PARTS)
    assert len(parts["seeds"]["misled"]["bleu"]) == 2
    assert parts["links"]["trainings"]["fr-en"]["steps"] == 3
    links = parts["links"]["hansards"]
    assert sum(bucket["num"] for bucket in links["by_length"]) == links["num"] == 13
    assert list(links["all"]["attention"]) == list(links["all"]["model 1"])
    assert links["all"]["attention"]["union"]["recall"] >= links["all"]["attention"]["intersection"]["recall"]


_TINY_STUDY = real_sentences.Study


@pytest.fixture(scope="module")
def stored():
    return json.loads(RESULTS.read_text("utf-8"))


def test_the_stored_results_are_those_of_these_settings(stored):
    settings = {name: value for name, value in vars(Study()).items() if name != "runs"}
    assert stored["settings"] == json.loads(json.dumps(settings))
    assert list(stored["parts"]) == list(PARTS)
    other = json.loads(real_sentences.RESULTS.read_text("utf-8"))
    assert stored["sha256"].items() <= other["sha256"].items()


def test_later_training_sentences_hold_rare_words():
    study = replace(SMALL, num_train=61, num_drawn=347)
    every = grammar(replace(study, num_train=347)).train
    assert len(every) == 347
    rare = [sentence for sentence in every[61:] if explanation.RARE & set(sentence.en)]
    assert 0 < len(rare) < 347 - 61
    assert grammar(study).train == every[:61] + rare
