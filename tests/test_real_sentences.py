"""The study of real sentences, on files of sentences of the grammar; and the stored results against the files."""

import json
import math
from collections import Counter

import pytest
import torch

from studies import real_sentences
from studies.real_sentences import (
    CHINESE,
    FRENCH,
    HANSARDS,
    HANSARDS_LINKS,
    OWN,
    PARTS,
    RESULTS,
    Study,
    cohesive_words,
    gain,
    groups_of,
    links_by_table,
    longest_match,
    measure_file,
    model_1,
    negated,
    run_study,
    shares_seen,
)
from utils.corpus.grammar import join_words, triples
from utils.corpus.pairs import DATA_VARIABLE, find_file
from utils.translator.gold_links import format_links

TINY = {"epochs": 1, "width": 11, "vocabulary_size": 900, "num_test": 23, "num_valid": 7}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A data folder whose files hold sentences of the grammar, some with two translations."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("tatoeba", "hansards"):
        (folder / name).mkdir()
    drawn = triples(311, max_words=11)
    for path, lang in ((CHINESE, "zh"), (FRENCH, "fr")):
        rows = [f"{join_words(t.en, 'en')}\t{join_words(t.words(lang), lang)}\tCC-BY" for t in drawn]
        rows += [f"Well, {join_words(t.en, 'en')}\t{join_words(t.words(lang), lang)}\tCC-BY" for t in drawn[::3]]
        (folder / path).write_text("\n".join(rows) + "\n", "utf-8")
    linked = triples(13, split="test", max_words=19)
    lines = [f"{' '.join(t.en)} ||| {' '.join(t.fr)}" for t in linked]
    (folder / HANSARDS).write_text("\n".join(lines) + "\n", "utf-8")
    gold = [format_links((i + 1, j + 1) for i, j in t.en_fr) for t in linked]
    (folder / HANSARDS_LINKS).write_text("\n".join(gold) + "\n", "utf-8")
    return folder


@pytest.mark.slow
def test_every_part_is_measured_and_goes_on_where_it_stopped(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(DATA_VARIABLE, str(folder))
    monkeypatch.setattr(real_sentences, "RESAMPLES", 40)
    study, out = Study(runs=tmp_path / "runs", **TINY), tmp_path / "study.json"
    run_study(study, out, ["file"])
    assert list(json.loads(out.read_text("utf-8"))["parts"]) == ["file"]
    run_study(study, out)
    stored = json.loads(out.read_text("utf-8"))
    assert list(stored["parts"]) == list(PARTS)
    assert capsys.readouterr().out.count("training") == 5
    leak = stored["parts"]["leak"]
    assert leak["test"] == 23
    assert leak["with relatives"]["honest"]["num"] + leak["without"]["honest"]["num"] == 23
    assert leak["trainings"]["honest"]["pairs"] == leak["trainings"]["leaky"]["pairs"]
    links = stored["parts"]["links"]["hansards"]
    assert links["num"] == 13
    assert sum(bucket["num"] for bucket in links["by_length"]) == 13
    assert set(links["all"]) == {"attention", "diagonal", "model 1"}
    run_study(study, out, ["mistakes"])
    assert capsys.readouterr().out == ""
    with pytest.raises(ValueError, match="other files, versions or settings"):
        run_study(Study(runs=tmp_path / "runs"), out)
