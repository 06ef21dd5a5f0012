"""Word alignment: attention weights under teacher forcing, and the step from subwords to words."""

from itertools import pairwise

import pytest
import torch
from tiny import SETTINGS, trained_run

from utils.corpus.batches import make_batch
from utils.corpus.vocabulary import BOS
from utils.translator.models import build_model
from utils.translator.using.aligning import (
    WordAlignment,
    align_pairs,
    detokenise,
    forced_weights,
    score_alignments,
    shares,
    split_words,
    text_for_model,
    word_weights,
)
from utils.translator.using.gold_links import GoldLinks

SRC = [[5, 7, 11, 13, 17], [19], [6, 8, 10]]
TGT = [[23, 5], [9, 8, 7, 6], [31, 12, 14]]


@pytest.fixture
def model():
    return build_model(SETTINGS, 37, 41)


def test_a_row_belongs_to_the_token_it_predicts(model):
    """The state s_{i-1} asks for the context of token i before the decoder reads this token."""
    [weights] = forced_weights(model, SRC[:1], TGT[:1])
    decoder, src_lens = model.decoder, torch.tensor([5])
    with torch.no_grad():
        memory, hidden = model.start(torch.tensor(SRC[:1]), src_lens)
        state = hidden[0]  # s_0, which has read no target token
        for row, read in enumerate([BOS, 23, 5]):
            context, expected = decoder.attention(
                state[:, None], memory.values, memory.values, torch.ones(1, 1, 5, dtype=torch.bool)
            )
            torch.testing.assert_close(weights[row], expected[0, 0])
            state = decoder.cells[0](decoder.embedding(torch.tensor([read])), context[:, 0], state)
    assert weights.shape == (3, 5)  # two tokens and the end
    assert (weights[0] - weights[1]).abs().max() > 1e-6


def test_batches_and_order_change_nothing(model):
    together = forced_weights(model, SRC, TGT)
    with torch.no_grad():
        for src, tgt, weights in zip(SRC, TGT, together, strict=True):
            batch = make_batch([src], [tgt])
            _, plain = model(batch.src, batch.src_lens, batch.tgt_in)
            torch.testing.assert_close(weights, plain[0])
    for one, two in zip(together, forced_weights(model, SRC, TGT, batch_size=1), strict=True):
        torch.testing.assert_close(one, two)
    assert forced_weights(model, [], []) == []


# From subwords to words


def test_source_pieces_are_summed_and_target_pieces_averaged():
    src = shares([(0, 3), (3, 5), (5, 9)], ends=[5, 9])
    tgt = shares([(0, 2), (2, 6), (6, 7)], ends=[2, 7])
    assert src.tolist() == [[1, 0], [1, 0], [0, 1]]
    assert tgt.tolist() == [[1, 0], [0, 1], [0, 1]]
    weights = torch.tensor([[0.2, 0.3, 0.5], [0.0, 0.1, 0.9], [0.3, 0.3, 0.4]])
    expected = torch.tensor([[0.5, 0.5], [0.35, 0.65]])
    torch.testing.assert_close(word_weights(weights, tgt, src), expected)
    torch.testing.assert_close(word_weights(weights.half(), tgt, src), expected, rtol=1e-3, atol=1e-3)


def test_a_word_without_a_piece_gets_no_link():
    weights = word_weights(torch.ones(1, 1), shares([(0, 2)], ends=[2, 2]), shares([(0, 3)], ends=[3]))
    assert weights.tolist() == [[1], [0]]
    assert WordAlignment(["a"], ["b", "\u200b"], weights).links == {(0, 0)}
    assert WordAlignment([], ["b"], None).links == frozenset()


@pytest.mark.parametrize(
    ("words", "lang", "text"),
    [
        ("oh , ( well ) don 't !", "en", "oh, (well) don't!"),
        ("l' homme dit : non !", "fr", "l'homme dit : non !"),
        ("l' homme dit : non !", "fr-CA", "l'homme dit : non !"),
        ("我 喜欢 书 。", "zh", "我喜欢书。"),
        ("( a", "en", "(a"),
        ("100 % of $ 3 …", "en", "100% of $3…"),
        ("", "en", ""),
    ],
)
def test_detokenised_text_is_as_people_write_it(words, lang, text):
    joined, ends = detokenise(words.split(), lang)
    assert joined == text
    spans = [joined[a:b].strip() for a, b in pairwise([0, *ends])]
    assert spans == words.split()


def test_only_ascii_blanks_separate_words():
    assert split_words(" a\u00a0b\tc\u3000 \u2028d\x85\r") == ["a\u00a0b", "c\u3000", "\u2028d\x85"]
    run = trained_run()
    [alignment] = align_pairs(run, [("I\u00a0see two\u3000dogs \u00a0 .", "Je vois .")])
    assert alignment.src_words == ["I\u00a0see", "two\u3000dogs", "\u00a0", "."]
    assert alignment.weights.shape == (3, 4)
    assert alignment.weights[:, 2].tolist() == [0, 0, 0]
    torch.testing.assert_close(alignment.weights.sum(dim=1), torch.ones(3))


@pytest.mark.parametrize(
    ("words", "lang", "text", "ends"),
    [
        ("1\u00a0000 chats .", "fr", "1 000 chats.", [5, 11, 12]),
        ("名 著 看 著", "zh", "名著看着", [1, 2, 3, 4]),
        ("乾 隆 a\u200eb \u2060", "zh", "乾隆ab", [1, 2, 4, 4]),
        ("( \u2060 a \u2060 b", "en", "(a b", [1, 1, 2, 2, 4]),
    ],
)
def test_words_end_where_they_end_in_normalised_text(words, lang, text, ends):
    assert text_for_model(split_words(words), lang) == (text, ends)


# A run


def test_a_run_aligns_words_wherever_the_pieces_fall():
    run = trained_run()
    pairs = [("I see sixteen dogs .", "Je vois seize chiens ."), ("", "x"), ("They want", ""), ("a", "b c")]
    alignments = align_pairs(run, pairs)
    assert [(len(a.src_words), len(a.tgt_words)) for a in alignments] == [(5, 5), (0, 1), (2, 0), (1, 2)]
    assert alignments[0].weights.shape == (5, 5)
    torch.testing.assert_close(alignments[0].weights.sum(dim=1), torch.ones(5))
    assert {j for _, j in alignments[0].links} == set(range(5))
    assert alignments[1].links == alignments[2].links == frozenset()
    assert alignments[3].links == {(0, 0), (0, 1)}  # there is one word to choose


def test_scores_stand_beside_those_of_the_diagonal():
    crossed = WordAlignment(["a", "b"], ["x", "y"], torch.tensor([[0.1, 0.9], [0.8, 0.2]]))
    nothing = WordAlignment([], ["x"], None)
    links = frozenset({(0, 1), (1, 0)})
    gold = [GoldLinks(links, links), GoldLinks(frozenset(), frozenset())]
    scores = score_alignments([crossed, nothing], gold)
    assert scores["attention"] == (0, 1, 1, 2)
    assert scores["diagonal"] == (1, 0, 0, 2)
