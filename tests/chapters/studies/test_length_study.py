"""The length study: tasks whose sentences obey their limits, and results that grow one training at a time."""

import json
from itertools import product

import pytest
from tiny import write_pairs

from studies import length_study
from studies.length_study import RESULTS, joined_task
from utils.corpus.pairs import read_pairs

pytestmark = pytest.mark.trains


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    return read_pairs(write_pairs(tmp_path_factory.mktemp("pairs") / "pairs.txt")).between("en", "fr")


def sentences_in(texts):
    """The single French sentences in joined ones. Each of them ends in a full stop here."""
    return {part + "." for text in texts for part in text.removesuffix(".").split(". ")}


def test_joined_training_sentences_hold_no_test_sentence(pairs, monkeypatch):
    whole = length_study.group_split
    monkeypatch.setattr(
        length_study, "group_split", lambda pairs, num_valid: whole(pairs, num_test=19, num_valid=0)
    )
    task = joined_task(pairs, 17, num_tokens=3000, vocabulary_size=330, num_test=2, edges=(13,), longest=29)
    trained = sentences_in(map(task.write, task.tgt_ids))
    tested = sentences_in(reference for (reference,) in task.references)
    french = {target for _, target in pairs}
    assert len(trained) > 40
    assert trained < french
    assert tested < french
    assert not trained & tested
    assert max(text.count(".") for text in map(task.write, task.tgt_ids)) > 2  # 5 tokens each, so 3 fit
    assert [n <= 13 for n in task.lengths] == [True, True, False, False]
    assert all(3 < number < len(task.src_vocabulary) for number in task.read("I see two cats."))


def test_the_stored_results_are_of_whole_seeds():
    results = json.loads(RESULTS.read_text("utf-8"))
    assert RESULTS.stat().st_size < 30 * 1024
    for corpus, stored in results.items():
        done = [(one["seed"], one["limit"], one["decoder"]) for one in stored["trainings"]]
        seeds = {seed for seed, _, _ in done}
        assert sorted(done) == sorted(product(seeds, stored["limits"], length_study.DECODERS)), corpus
        assert (stored["sha256"] is None) == (corpus == length_study.GRAMMAR)
