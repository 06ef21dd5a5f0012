"""Measures: sacrebleu as oracle, the alignment error rate by hand and as published."""

import inspect
import json
import math
import re

import numpy as np
import pytest
import sacrebleu
import torch
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF

from studies.aligning import parse_links
from utils import metrics
from utils.corpus.pairs import DATA_VARIABLE, data_folder
from utils.errors import CourseError
from utils.metrics import (
    alignment_error_rate,
    bleu,
    bleu_by_length,
    chrf,
    diagonal_links,
    links_from_weights,
    paired_bootstrap,
    reference_streams,
)

HYPOTHESES = ["They are Russian.", "The cat sat on the mat, I think.", "it rains today"]
REFERENCES = [
    ["They are Canadian.", "They're Canadians."],
    ["the cat sat on the mat I think."],
    ["It rains.", "It is raining today.", "It rains today."],
]


# Scores


def test_the_example_of_the_inflated_score():
    score = bleu(["they are russian ."], [["they are canadian ."]])
    assert score.value == pytest.approx(35.36, abs=0.005)


def test_uneven_references_score_as_in_sacrebleu():
    streams = [[accepted[min(i, len(accepted) - 1)] for accepted in REFERENCES] for i in range(3)]
    oracle = sacrebleu.corpus_bleu(HYPOTHESES, streams, lowercase=True)
    score = bleu(HYPOTHESES, REFERENCES)
    assert score.value == pytest.approx(oracle.score)
    assert 0 < score.value < 100
    oracle = sacrebleu.corpus_chrf(HYPOTHESES, streams)
    assert chrf(HYPOTHESES, REFERENCES, lowercase=False).value == pytest.approx(oracle.score)


def test_case_counts_only_where_asked():
    same = [[text.upper()] for text in HYPOTHESES]
    assert bleu(HYPOTHESES, same).value == pytest.approx(100)
    assert chrf(HYPOTHESES, same).value == pytest.approx(100)
    assert bleu(HYPOTHESES, same, lowercase=False).value < 20
    assert chrf(HYPOTHESES, same, lowercase=False).value < 20


def test_signatures_say_how_it_was_counted():
    assert bleu(HYPOTHESES, REFERENCES).signature == (
        f"nrefs:var|case:lc|eff:no|tok:13a|smooth:exp|version:{sacrebleu.__version__}"
    )
    assert "nrefs:1|case:mixed" in bleu(["a"], [["b"]], lowercase=False).signature
    assert "tok:zh" in bleu(["我"], [["我"]], lang="zh").signature
    assert "nc:6" in chrf(HYPOTHESES, REFERENCES).signature


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        ([], [], "hypotheses must hold at least one text"),
        (["a"], [["a"], ["b"]], "must have the same length, got 1 and 2"),
        (["a", "b"], [["a"], []], r"references\[1\] must hold at least one text, got none"),
        (["a"], ["a"], r"references\[0\] must be a list, got the text 'a'"),
        (np.array(["a"]), [["a"]], r"hypotheses must be a list, got ndarray: list\(hypotheses\) makes one"),
        ((text for text in "a"), [["a"]], "hypotheses must be a list, got generator, which"),
        (["a"], np.array([["a"]]), "references must be a list, got ndarray"),
        (["a"], [np.array(["a"])], r"references\[0\] must be a list, got ndarray"),
        ([None], [["a"]], r"hypotheses\[0\] must be a text, got None"),
        (["a", "b"], [["a"], ["b", 3]], r"references\[1\]\[1\] must be a text, got 3"),
    ],
)
@pytest.mark.usefixtures("unchecked_shapes")
def test_mistakes_in_scoring_are_named(hypotheses, references, message):
    for metric in (bleu, chrf):
        with pytest.raises(ValueError, match=message):
            metric(hypotheses, references)


LINKS = [[(0, 0)]]
#: Each measure, its arguments that are right, and which of them are lists.
MEASURES = [
    (bleu, (["a"], [["a"]]), ("hypotheses", "references")),
    (chrf, (["a"], [["a"]]), ("hypotheses", "references")),
    (bleu_by_length, (["a"], [["a"]], [3]), ("hypotheses", "references")),
    (paired_bootstrap, (["a"], ["a"], [["a"]]), ("first", "second", "references")),
    (alignment_error_rate, (LINKS, LINKS, LINKS), ("predicted", "sure", "possible")),
    (reference_streams, ([["a"]],), ("references",)),
]


def test_all_measures_of_lists_are_here():
    lists = {}
    for name in metrics.__all__:
        public = getattr(metrics, name)
        parameters = inspect.signature(public).parameters.items() if inspect.isfunction(public) else ()
        found = [n for n, p in parameters if re.search("Sequence|Reference", str(p.annotation))]
        if found := tuple(n for n in found if n not in ("lengths", "edges", "links")):
            lists[name] = found
    assert lists == {measure.__name__: names for measure, _, names in MEASURES}


@pytest.mark.parametrize(("measure", "arguments", "names"), MEASURES)
@pytest.mark.usefixtures("unchecked_shapes")
def test_what_is_no_list_is_named(measure, arguments, names):
    measure(*arguments)
    for place, name in enumerate(names):
        for other in (np.array(["a"]), iter(["a"]), 3):
            wrong = [*arguments[:place], other, *arguments[place + 1 :]]
            with pytest.raises(ValueError, match=f"{name} must be a list, got {type(other).__name__}"):
                measure(*wrong)
        with pytest.raises(ValueError, match=f"{name} must be a list, got the text 'a'"):
            measure(*arguments[:place], "a", *arguments[place + 1 :])


def test_a_position_is_counted_from_0():
    with pytest.raises(CourseError, match=r"predicted\[0\] must be pairs of positions"):
        alignment_error_rate([[(-1, 0)]], LINKS)


def test_lengths_and_edges_may_be_any_numbers_that_are_counted():
    expected = bleu_by_length(["a", "b"], [["a"], ["b"]], [3, 11])
    assert bleu_by_length(["a", "b"], [["a"], ["b"]], iter([3, 11]), edges=iter([10, 20])) == expected
    assert bleu_by_length(["a", "b"], [["a"], ["b"]], np.array([3, 11])) == expected


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([[0.1, 0.9]], "weights must be a tensor or an array of rows, with a column or more, got list"),
        (np.ones(3), r"weights must be .* got shape \(3,\)"),
        (np.ones((3, 0)), r"weights must be .* got shape \(3, 0\)"),
        (np.array([[0.1, np.nan]]), "weights must be numbers, got NaN"),
    ],
)
@pytest.mark.usefixtures("unchecked_shapes")
def test_weights_that_link_nothing_are_named(weights, message):
    with pytest.raises(CourseError, match=message):
        links_from_weights(weights)


def test_the_interval_is_that_of_sacrebleu():
    hypotheses = ["a b c d e f", "x y z w v u", "k l m n o p"] * 10
    references = [["a b c d e f"], ["x y z w q q"], ["k l m p o n"]] * 10
    assert bleu(hypotheses, references).interval is None
    assert chrf(hypotheses, references).interval is None
    streams = [[text for [text] in references]]
    for metric, score in ((BLEU(lowercase=True), bleu), (CHRF(lowercase=True), chrf)):
        score_of_sacrebleu = metric.corpus_score(hypotheses, streams, n_bootstrap=300)
        signature = str(metric.get_signature())
        oracle = json.loads(score_of_sacrebleu.format(width=5, is_json=True, signature=signature))
        mean, half = oracle["confidence_mean"], oracle["confidence_var"]
        interval = score(hypotheses, references, resamples=300).interval
        assert interval == pytest.approx((mean - half, mean + half), abs=2e-5)


@pytest.mark.parametrize("metric", [bleu, chrf])
def test_an_interval_stays_within_the_range_of_scores(metric):
    """One right translation and some with nothing right: some resamples score exactly 0."""
    for num_wrong, low_is_0, high_is_100 in ((1, False, True), (7, True, False)):
        hypotheses = ["a b c d"] + ["u v w x"] * num_wrong
        references = [["a b c d"]] + [["k l m n"]] * num_wrong
        low, high = metric(hypotheses, references, resamples=100).interval
        assert (low == 0, high == 100) == (low_is_0, high_is_100)
        assert 0 <= low < high <= 100


@pytest.mark.parametrize("metric", [bleu, chrf])
@pytest.mark.parametrize("texts", [["I see two cats here."], ["We have six keys."] * 7, HYPOTHESES * 5])
def test_perfect_translations_score_exactly_100(metric, texts):
    score = metric(texts, [[text] for text in texts], resamples=53)
    assert (score.value, score.interval) == (100, (100, 100))
    for difference in paired_bootstrap(texts, texts, [[text] for text in texts], resamples=53):
        assert (difference.first, difference.second) == (100, 100)


def test_the_p_value_by_hand():
    """A difference that no resample exceeds has the p-value 1 / (resamples + 1); equal systems have 1."""
    right, wrong = ["a b c d e"] * 7, ["v w x y z"] * 7
    for difference in paired_bootstrap(right, wrong, [[text] for text in right], resamples=19):
        assert difference.p_value == 1 / 20
    for difference in paired_bootstrap(right, right, [[text] for text in right], resamples=19):
        assert difference.p_value == 1


def test_buckets_partition_the_sentences_and_score_as_bleu():
    buckets = bleu_by_length(HYPOTHESES, REFERENCES, [3, 9, 4], edges=(3, 5, 7))
    assert [(b.low, b.high, b.num_sentences) for b in buckets] == [(0, 3, 1), (4, 5, 1), (8, math.inf, 1)]
    for bucket, row in zip(buckets, (0, 2, 1), strict=True):
        assert bucket.score == bleu([HYPOTHESES[row]], [REFERENCES[row]])
    [bucket] = bleu_by_length(HYPOTHESES, REFERENCES, [1, 2, 3])
    assert bucket.score == bleu(HYPOTHESES, REFERENCES)
    [bucket] = bleu_by_length(["我"], [["我"]], [1], lang="zh")
    assert "tok:zh" in bucket.score.signature


def test_mistakes_in_bucketing_are_named():
    for edges in ((5, 3), (3, 3)):
        with pytest.raises(ValueError, match="edges must ascend"):
            bleu_by_length(HYPOTHESES, REFERENCES, [1, 2, 3], edges=edges)
    with pytest.raises(ValueError, match="got 3, 3 and 2"):
        bleu_by_length(HYPOTHESES, REFERENCES, [1, 2])


# Alignments


def test_alignment_error_rate_by_hand():
    sure, possible = [{(0, 0), (1, 1)}], [{(1, 2), (2, 2)}]
    assert alignment_error_rate(sure, sure, possible) == 0
    assert (
        alignment_error_rate([{(0, 0), (1, 1), (2, 2)}], sure, possible) == 0
    )  # possible links cost nothing
    assert alignment_error_rate([{(0, 0)}], sure, possible) == pytest.approx(
        1 - 2 / 3
    )  # one sure link missing
    assert alignment_error_rate([{(0, 0), (1, 1), (5, 5)}], sure, possible) == pytest.approx(1 - 4 / 5)
    assert alignment_error_rate([{(7, 7)}], sure, possible) == 1
    assert alignment_error_rate([set()], sure, possible) == 1


def test_sentences_are_summed_not_averaged():
    predicted = [{(0, 0)}, {(0, 0), (1, 1), (2, 2)}]
    sure = [{(0, 1)}, {(0, 0), (1, 1), (2, 2)}]
    assert alignment_error_rate(predicted, sure) == pytest.approx(1 - 6 / 8)


link_sets = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)))


@given(st.lists(st.tuples(link_sets, link_sets, link_sets), min_size=1, max_size=5))
def test_the_rate_is_between_0_and_1(sentences):
    predicted, sure, possible = (list(part) for part in zip(*sentences, strict=True))
    if not any(predicted) and not any(sure):
        with pytest.raises(ValueError, match="hold at least one link"):
            alignment_error_rate(predicted, sure, possible)
        return
    rate = alignment_error_rate(predicted, sure, possible)
    assert 0 <= rate <= 1
    both = [p | s for p, s in zip(possible, sure, strict=True)]
    assert alignment_error_rate(predicted, sure, both) == rate
    assert alignment_error_rate(predicted, sure) >= rate


@pytest.mark.usefixtures("unchecked_shapes")
def test_links_may_be_lists_and_what_is_no_link_is_named():
    gold = [[(0, 0), (1, 0)]]
    assert alignment_error_rate([[[0, 0], [1, 1]]], gold) == 1 - 2 / 4
    for wrong in ({"links": [[0, 0]]}, "0-0 1-1", (0, 0), [(0, 0, 1)], [(0.5, 1)]):
        with pytest.raises(ValueError, match=r"predicted\[0\] must be pairs of positions, .* got "):
            alignment_error_rate([wrong], gold)
        with pytest.raises(ValueError, match=r"sure\[0\] must be pairs of positions"):
            alignment_error_rate(gold, [wrong])


def test_each_target_word_is_linked_with_its_maximum():
    weights = torch.tensor(
        [[0.1, 0.7, 0.2], [0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    )
    assert links_from_weights(weights, num_tgt=4) == {(1, 0), (0, 1), (2, 2), (2, 3)}
    assert links_from_weights(weights) == {(1, 0), (0, 1), (2, 2), (2, 3), (0, 4)}
    assert links_from_weights(np.array([[0.1, 0.9], [0.8, 0.2]])) == {(1, 0), (0, 1)}


@given(st.integers(1, 41), st.integers(0, 41))
def test_the_diagonal_links_each_target_word_once(num_src, num_tgt):
    links = sorted(diagonal_links(num_src, num_tgt), key=lambda link: link[1])
    assert [j for _, j in links] == list(range(num_tgt))
    sources = [i for i, _ in links]
    assert sources == sorted(sources)
    assert all(0 <= i < num_src for i in sources)
    if num_src == num_tgt:
        assert links == [(i, i) for i in range(num_src)]
    # By the definition: the middle of word j falls within word i.
    assert all(i / num_src <= (j + 0.5) / num_tgt + 1e-9 for i, j in links)
    assert all((j + 0.5) / num_tgt < (i + 1) / num_src + 1e-9 for i, j in links)


@pytest.fixture
def hansards():
    folder = data_folder() / "hansards"
    if not (folder / "enfr.gold").is_file():
        pytest.skip(f"needs {folder / 'enfr.gold'}; {DATA_VARIABLE} names the data folder")
    gold = [parse_links(line) for line in (folder / "enfr.gold").read_text().splitlines()]
    return folder, [links.sure for links in gold], [links.possible for links in gold]


def test_published_output_scores_as_published(hansards):
    folder, sure, possible = hansards
    lines = (folder / "enfr.awesome-align.out").read_text().splitlines()
    predicted = [{tuple(map(int, link.split("-"))) for link in line.split()} for line in lines]
    assert len(predicted) == 447
    assert round(100 * alignment_error_rate(predicted, sure, possible), 2) == 4.07


def test_the_diagonal_scores_as_known_on_published_gold(hansards):
    folder, sure, possible = hansards
    sentences = [line.split("|||") for line in (folder / "enfr.src-tgt").read_text().splitlines()]
    predicted = [diagonal_links(len(en.split()), len(fr.split())) for en, fr in sentences]
    assert round(100 * alignment_error_rate(predicted, sure, possible), 1) == 53.8
