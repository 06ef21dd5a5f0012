"""Word alignment: attention weights under teacher forcing, and the step from subwords to words."""

from itertools import pairwise

import pytest
import torch
from tiny import SETTINGS, trained_run

from studies.aligning import (
    attention_links,
    detokenise,
    forced_weights,
    parse_links,
    shares,
    split_words,
    word_weights,
)
from utils.corpus.batches import make_batch
from utils.corpus.vocabulary import BOS
from utils.translator.models import build_model

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
        for row, read in enumerate([BOS, 23]):
            context, expected = decoder.attention(
                state[:, None], memory.values, memory.values, torch.ones(1, 1, 5, dtype=torch.bool)
            )
            torch.testing.assert_close(weights[row], expected[0, 0])
            state = decoder.cells[0](decoder.embedding(torch.tensor([read])), context[:, 0], state)
    assert weights.shape == (2, 5)
    assert (weights[0] - weights[1]).abs().max() > 1e-6


def test_batches_and_order_change_nothing(model, monkeypatch):
    together = forced_weights(model, SRC, TGT)
    with torch.no_grad():
        for src, tgt, weights in zip(SRC, TGT, together, strict=True):
            batch = make_batch([src], [tgt])
            _, plain = model(batch.src, batch.src_lens, batch.tgt_in)
            torch.testing.assert_close(weights, plain[0, :-1])
    monkeypatch.setattr("studies.aligning._BATCH", 1)
    for one, two in zip(together, forced_weights(model, SRC, TGT), strict=True):
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
    assert attention_links(trained_run(), [(["dogs"], ["chiens", "\u200b"])]) == [{(0, 0)}]


@pytest.mark.parametrize(
    ("words", "lang", "text"),
    [
        ("oh , ( well ) don 't !", "en", "oh, (well) don't!"),
        ("l' homme dit : non !", "fr", "l'homme dit : non !"),
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


# A run, and a file of people


def test_a_run_links_words_wherever_the_pieces_fall():
    pairs = [("I see sixteen dogs .", "Je vois seize chiens ."), ("a", "b c"), ("They want", "Elles")]
    first, second, third = attention_links(trained_run(), [(src.split(), tgt.split()) for src, tgt in pairs])
    assert {j for _, j in first} == set(range(5))
    assert max(i for i, _ in first) < 5
    assert second == {(0, 0), (0, 1)}  # there is one word to choose
    assert third in ({(0, 0)}, {(1, 0)})


def test_the_links_are_those_of_the_largest_weights():
    run = trained_run()
    src, tgt = ["We", "have", "six", "books", "."], ["Nous", "avons", "six", "livres", "."]
    ids, ends = [], []
    for words, lang, vocabulary in ((src, "en", run.src_vocabulary), (tgt, "fr", run.tgt_vocabulary)):
        text, ends_of_words = detokenise(words, lang)
        ids.append(vocabulary.encode([text]))
        ends.append(shares(vocabulary.spans([text])[0], ends_of_words))
    [weights] = forced_weights(run.model, *ids)
    best = word_weights(weights, ends[1], ends[0]).argmax(dim=1).tolist()
    assert attention_links(run, [(src, tgt)]) == [{(i, j) for j, i in enumerate(best)}]


def test_gold_links_are_sure_or_possible():
    assert parse_links("1-1 2p3 10-4\n") == ({(0, 0), (9, 3)}, {(0, 0), (1, 2), (9, 3)})
    assert parse_links(" \n") == (set(), set())
