"""The length study: tasks whose sentences obey their limits, and results that grow one training at a time."""

import json
import math
from dataclasses import replace
from itertools import count, pairwise, product

import pytest
from tiny import write_pairs

from studies import length_study
from studies.length_study import RESULTS, Study, grammar_task, joined_task, run_study, score, train
from utils.corpus.grammar import split_of, triple
from utils.corpus.pairs import read_pairs
from utils.search import Hypothesis

pytestmark = pytest.mark.trains

EDGES = (11, 23)


def test_the_grammar_task_obeys_limits_and_budget():
    task = grammar_task(13, num_tokens=700, longest=31, num_test=3, edges=EDGES)
    tokens = [len(ids) + 1 for ids in task.tgt_ids]
    assert sum(tokens[:-1]) < 700 <= sum(tokens)
    assert max(map(len, task.src_ids)) <= 13
    assert sorted(task.lengths) == [len(ids) for ids in sorted(task.test_ids, key=len)]
    assert [sum(low < n <= high for n in task.lengths) for low, high in pairwise((0, *EDGES, 31))] == [
        3,
        3,
        3,
    ]
    assert len(task.references) == 9
    assert task.write(task.tgt_ids[0])[-1] == "."
    first = triple(
        next(i for i in count() if split_of(triple(i, max_words=13).meaning) == "train"), max_words=13
    )
    assert task.read(" ".join(first.en)) == task.src_ids[0]


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


def test_scores_by_length(monkeypatch):
    task = grammar_task(5, num_tokens=300, longest=7, num_test=2, edges=(5,))
    model = train(task, "one vector", width=7)
    first, second, *long_ones = [text for (text,) in task.references]
    texts = [first, second, f"{first} {first}", ""]

    def written(model, src, src_lens, *, max_len):
        assert max_len > 2 * src.shape[1]
        return [Hypothesis([row], 0.0, None, True) for row in range(len(src))]

    monkeypatch.setattr(length_study, "greedy", written)
    short, long = score(model, replace(task, write=lambda ids: texts[ids[0]]), edges=(5,))
    assert short[:3] == (0, 5, 2)
    assert short.bleu == pytest.approx(100)
    assert short.length_ratio == 1
    assert long[:3] == (6, math.inf, 2)
    assert long.bleu < 60
    assert long.length_ratio == 2 * len(first.split()) / sum(len(text.split()) for text in long_ones)


TINY = Study(limits=(5, 7), seeds=(3,), num_tokens=200, num_test=2, width=7)


def test_a_study_goes_on_where_it_stopped(tmp_path, monkeypatch):
    out = tmp_path / "study.json"
    monkeypatch.setattr(
        length_study, "score", lambda model, task: [length_study.LengthScore(0, 10, 2, 1.234, 0.5)]
    )
    assert run_study(TINY, out, at_most=1) == 3
    first = json.loads(out.read_text())["grammar"]
    assert [(one["limit"], one["decoder"], one["bleu"]) for one in first["trainings"]] == [
        (5, "attention", [1.23])
    ]
    assert run_study(TINY, out) == 0
    stored = json.loads(out.read_text())["grammar"]
    assert stored["trainings"][0] == first["trainings"][0]
    assert [(one["limit"], one["decoder"]) for one in stored["trainings"]] == [
        (limit, decoder) for limit in (5, 7) for decoder in ("attention", "one vector")
    ]
    assert stored["buckets"] == [[0, 10, 2]]
    assert "signature" in stored
    text = out.read_text()
    assert run_study(TINY, out) == 0
    assert out.read_text() == text


def test_the_stored_results_are_of_whole_seeds():
    results = json.loads(RESULTS.read_text("utf-8"))
    assert RESULTS.stat().st_size < 30 * 1024
    for corpus, stored in results.items():
        done = [(one["seed"], one["limit"], one["decoder"]) for one in stored["trainings"]]
        seeds = {seed for seed, _, _ in done}
        assert sorted(done) == sorted(product(seeds, stored["limits"], length_study.DECODERS)), corpus
        assert (stored["sha256"] is None) == (corpus == length_study.GRAMMAR)
