"""Measuring: sacrebleu as oracle, the alignment error rate by hand and as published, runs put to use."""

import json
import math

import pytest
import sacrebleu
import torch
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF
from tiny import pair_lines, trained_run

from utils.corpus.pairs import DATA_VARIABLE, data_folder
from utils.metrics import (
    alignment_error_rate,
    alignment_score,
    bleu,
    bleu_by_length,
    chrf,
    diagonal_links,
    links_from_weights,
)
from utils.translator.gold_links import format_links, parse_links, read_gold
from utils.translator.translating import Translation, evaluate_run, n_best, translate

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


def test_uneven_references_score_as_sacrebleu_scores_them_padded_by_repetition():
    streams = [[accepted[min(i, len(accepted) - 1)] for accepted in REFERENCES] for i in range(3)]
    wanted = sacrebleu.corpus_bleu(HYPOTHESES, streams, lowercase=True)
    score = bleu(HYPOTHESES, REFERENCES)
    assert score.value == pytest.approx(wanted.score)
    assert 0 < score.value < 100
    wanted = sacrebleu.corpus_chrf(HYPOTHESES, streams)
    assert chrf(HYPOTHESES, REFERENCES, lowercase=False).value == pytest.approx(wanted.score)


def test_case_counts_only_where_asked():
    same = [[text.upper()] for text in HYPOTHESES]
    assert bleu(HYPOTHESES, same).value == pytest.approx(100)
    assert chrf(HYPOTHESES, same).value == pytest.approx(100)
    assert bleu(HYPOTHESES, same, lowercase=False).value < 20
    assert chrf(HYPOTHESES, same, lowercase=False).value < 20


def test_chinese_is_counted_by_characters():
    hypotheses, references = ["我们都喜欢猫。"], [["我们都喜欢狗。"]]
    assert bleu(hypotheses, references, lang="zh").value == pytest.approx(
        sacrebleu.corpus_bleu(hypotheses, [["我们都喜欢狗。"]], tokenize="zh").score
    )
    assert bleu(hypotheses, references, lang="zh").value > 50 > bleu(hypotheses, references).value


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
        ([], [], "hypotheses are empty"),
        (["a"], [["a"], ["b"]], "1 hypotheses with references for 2 sentences"),
        (["a", "b"], [["a"], []], r"references\[1\] must be a list of at least one text, got \[\]"),
        (["a"], ["a"], r"references\[0\] must be a list of at least one text, got 'a'"),
    ],
)
def test_mistakes_in_scoring_are_named(hypotheses, references, message):
    for metric in (bleu, chrf):
        with pytest.raises(ValueError, match=message):
            metric(hypotheses, references)


def test_the_interval_is_that_of_corpora_drawn_from_the_sentences():
    hypotheses = ["a b c d e f", "x y z w v u", "k l m n o p"] * 10
    references = [["a b c d e f"], ["x y z w q q"], ["k l m p o n"]] * 10
    alike = bleu(["a b c d e f"] * 30, [["a b c d e g"]] * 30, resamples=100)
    assert alike.interval == pytest.approx((alike.value, alike.value))  # whatever is drawn is the same
    narrow, wide = (bleu(hypotheses[:n], references[:n], resamples=300).interval for n in (30, 6))
    assert narrow[1] - narrow[0] < wide[1] - wide[0]
    assert bleu(hypotheses, references).interval is None
    for metric, score in ((BLEU(lowercase=True), bleu), (CHRF(lowercase=True), chrf)):
        theirs = metric.corpus_score(hypotheses, [[one for [one] in references]], n_bootstrap=300)
        expected = theirs._mean - theirs._ci, theirs._mean + theirs._ci
        assert score(hypotheses, references, resamples=300).interval == pytest.approx(expected)


def test_shares_of_empty_and_cut_off_translations_are_counted(monkeypatch):
    run, _ = trained_run()

    def some(_run, sentences, **_):
        done = [Translation("", [], [], None, True), Translation("a b", ["x"], ["a", "b"], None, False)]
        return done + [Translation("c", ["x"], ["c"], None, True)] * (len(sentences) - 2)

    monkeypatch.setattr("utils.metrics.translate", some)
    result = evaluate_run(run)
    assert (result.empty, result.cut_off) == (1 / 7, 1 / 7)


def test_buckets_partition_the_sentences_and_score_as_bleu():
    buckets = bleu_by_length(HYPOTHESES, REFERENCES, [3, 9, 4], edges=(3, 5, 7))
    assert [(b.low, b.high, b.num_sentences) for b in buckets] == [(0, 3, 1), (4, 5, 1), (8, math.inf, 1)]
    for bucket, row in zip(buckets, (0, 2, 1), strict=True):
        assert bucket.score == bleu([HYPOTHESES[row]], [REFERENCES[row]])
    [bucket] = bleu_by_length(HYPOTHESES, REFERENCES, [1, 2, 3])
    assert bucket.score == bleu(HYPOTHESES, REFERENCES)
    [bucket] = bleu_by_length(["我"], [["我"]], [1], lang="zh", lowercase=False)
    assert "case:mixed" in bucket.score.signature
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
def test_the_rate_lies_between_0_and_1_and_sure_links_are_possible(sentences):
    predicted, sure, possible = (list(part) for part in zip(*sentences, strict=True))
    if not any(predicted) and not any(sure):
        with pytest.raises(ValueError, match="hold no link"):
            alignment_error_rate(predicted, sure, possible)
        return
    rate = alignment_error_rate(predicted, sure, possible)
    assert 0 <= rate <= 1
    both = [p | s for p, s in zip(possible, sure, strict=True)]
    assert alignment_error_rate(predicted, sure, both) == rate
    assert alignment_error_rate(predicted, sure) >= rate


def test_numbers_of_sentences_must_agree():
    with pytest.raises(ValueError, match="got 1, 2 and 2 sentences"):
        alignment_error_rate([{(0, 0)}], [{(0, 0)}, {(0, 0)}])


def test_links_are_read_as_files_have_them():
    assert parse_links("1-1 2p3 10-4", first=1) == ({(0, 0), (9, 3)}, {(0, 0), (1, 2), (9, 3)})
    assert parse_links("0-0 1-2") == ({(0, 0), (1, 2)}, {(0, 0), (1, 2)})
    assert parse_links(" \n") == (set(), set())
    for line, first in (("0-1", 1), ("1-0", 1), ("1:1", 0), ("1-", 0), ("a-b", 0), ("1-2-3", 0)):
        with pytest.raises(ValueError, match=f"a link must look like {first}-{first} or"):
            parse_links(line, first=first)


def test_each_target_word_is_linked_with_what_it_attends_to_most():
    weights = torch.tensor(
        [[0.1, 0.7, 0.2], [0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    )
    assert links_from_weights(weights, num_tgt=4) == {(1, 0), (0, 1), (2, 2), (2, 3)}
    assert links_from_weights(weights) == {(1, 0), (0, 1), (2, 2), (2, 3), (0, 4)}


@given(st.integers(1, 41), st.integers(0, 41))
def test_the_diagonal_links_each_target_word_once_in_order(num_src, num_tgt):
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


def test_precision_and_recall_by_hand():
    gold = [parse_links("0-0 1-1 1p2"), parse_links("0p1")]
    score = alignment_score([{(0, 0), (1, 2), (2, 2)}, {(0, 1)}], gold)
    assert score.num_links == 4
    assert score.precision == 3 / 4  # 2-2 is not possible
    assert score.recall == 1 / 2  # 1-1 is missing
    assert score.aer == pytest.approx(1 - (1 + 3) / (4 + 2))
    assert alignment_score([set(), set()], gold) == (1, 1, 0, 0)
    assert alignment_score([set(), {(0, 1)}], [gold[1], gold[1]]).recall == 1  # nothing is sure
    assert gold[0].turned() == parse_links("0-0 1-1 2p1")
    assert format_links(parse_links(format_links({(10, 2), (9, 3)})).sure) == "9-3 10-2"


def test_a_gold_file_must_fit_its_sentences(tmp_path):
    path = tmp_path / "gold"
    path.write_text("1-1 2p3\n\n", encoding="utf-8")
    sizes = [(2, 3), (1, 1)]
    assert read_gold(path, sizes, first=1) == [parse_links("0-0 1p2"), parse_links("")]
    with pytest.raises(
        ValueError, match="line 1: the link of words 2 and 3 does not fit sentences of 2 and 3"
    ):
        read_gold(path, sizes)  # counted from 1
    with pytest.raises(ValueError, match="has 2 lines for 1 sentence pairs"):
        read_gold(path, sizes[:1], first=1)
    path.write_text("0-0\n1:1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 1: a link must look like 1-1"):
        read_gold(path, sizes, first=1)
    with pytest.raises(ValueError, match="line 2: a link must look like 0-0"):
        read_gold(path, sizes)
    with pytest.raises(FileNotFoundError, match="none"):
        read_gold(tmp_path / "none", sizes)


@pytest.fixture
def hansards():
    folder = data_folder() / "hansards"
    if not (folder / "enfr.gold").is_file():
        pytest.skip(f"no {folder / 'enfr.gold'}; {DATA_VARIABLE} names the data folder")
    gold = [parse_links(line, first=1) for line in (folder / "enfr.gold").read_text().splitlines()]
    return folder, [links.sure for links in gold], [links.possible for links in gold]


def test_published_output_scores_as_published(hansards):
    folder, sure, possible = hansards
    lines = (folder / "enfr.awesome-align.out").read_text().splitlines()
    predicted = [parse_links(line).sure for line in lines]
    assert len(predicted) == 447
    assert round(100 * alignment_error_rate(predicted, sure, possible), 2) == 4.07


def test_the_diagonal_scores_as_known_on_published_gold(hansards):
    folder, sure, possible = hansards
    sentences = [line.split("|||") for line in (folder / "enfr.src-tgt").read_text().splitlines()]
    predicted = [diagonal_links(len(en.split()), len(fr.split())) for en, fr in sentences]
    assert round(100 * alignment_error_rate(predicted, sure, possible), 1) == 53.8


# Runs in use


def test_translations_come_in_order_whatever_the_batch():
    run, _ = trained_run()
    sentences = ["I see two dogs.", "", "We have six books.", " \u200b ", "They want three keys.", "dogs"]
    together = translate(run, sentences)
    assert [translation.text for translation in together] == [
        translate(run, [sentence])[0].text for sentence in sentences
    ]
    assert [t.text for t in translate(run, sentences, batch_size=2)] == [t.text for t in together]
    assert translate(run, []) == []


def test_the_translator_has_learned_its_sentences():
    translations_of: dict[str, set[str]] = {}
    for line in pair_lines():
        english, french = line.split("\t")
        translations_of.setdefault(english, set()).add(french)
    written = translate(trained_run()[0], list(translations_of))
    right = sum(t.text in wanted for t, wanted in zip(written, translations_of.values(), strict=True))
    assert right > 0.8 * len(translations_of)


def test_the_n_best_start_with_the_best_and_differ():
    run, _ = trained_run()
    sentences = ["They want three keys.", "", "I see two dogs."]
    found = n_best(run, sentences, beam=5)
    assert [len(translations) for translations in found] == [5, 1, 5]
    assert [best.text for best, *_ in found] == [best.text for best in translate(run, sentences, beam=5)]
    for translations in found:
        assert len({tuple(t.tgt_tokens) for t in translations}) == len(translations)
        assert [t.score for t in translations] == sorted((t.score for t in translations), reverse=True)
        assert all(
            t.weights is None or t.weights.shape == (len(t.tgt_tokens), len(t.src_tokens))
            for t in translations
        )
    with pytest.raises(ValueError, match="beam must be at least 1, got 0"):
        translate(run, sentences, beam=0)


def test_an_empty_sentence_is_translated_as_nothing():
    run, _ = trained_run()
    assert translate(run, [" "]) == [("", [], [], None, True, 0.0)]


def test_a_translation_tells_its_tokens_and_weights():
    run, _ = trained_run()
    [translation] = translate(run, ["They want three keys."])
    assert "".join(translation.src_tokens) == "▁They▁want▁three▁keys."
    assert translation.finished
    assert "".join(translation.tgt_tokens) == "▁" + translation.text.replace(" ", "▁") + "<eos>"
    assert translation.weights.shape == (len(translation.tgt_tokens), len(translation.src_tokens))
    torch.testing.assert_close(translation.weights.sum(dim=1), torch.ones(len(translation.tgt_tokens)))


def test_a_run_is_measured_on_what_it_kept_and_the_result_stored(tmp_path):
    run, _ = trained_run()
    result = evaluate_run(run, folder=tmp_path)
    texts = [translation.text for translation in translate(run, [example.source for example in run.test])]
    references = [list(example.references) for example in run.test]
    assert result.num_sentences == 7
    assert result.bleu.value == bleu(texts, references, lang="fr").value > 50
    assert result.chrf.value == chrf(texts, references).value
    low, high = result.bleu.interval
    assert result.bleu.interval == pytest.approx((100, 100))  # it has learned them all
    assert sum(bucket.num_sentences for bucket in result.by_length) == 7
    assert (result.empty, result.cut_off) == (0.0, 0.0)
    assert [text for _, text, _ in result.examples] == texts
    stored = json.loads((tmp_path / "evaluation.json").read_text())
    assert stored == json.loads(result.to_json())
    assert stored["bleu"]["value"] == result.bleu.value
    assert stored["bleu"]["interval"] == [low, high]
    assert stored["chrf"]["value"] == result.chrf.value
    assert stored["num_sentences"] == 7
    assert [entry["translation"] for entry in stored["translations"]] == texts
    assert [entry["references"] for entry in stored["translations"]] == references
    assert evaluate_run(run) == result
