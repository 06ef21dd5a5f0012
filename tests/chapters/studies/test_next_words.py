"""The sentences whose verb stands far from its subject, and the counts, worked out by hand."""

import pytest
import torch

from studies.next_words import NEW_PAIRS, TEST_PAIRS, TRAIN_PAIRS, Counts, far_apart
from utils.corpus.batches import make_batch
from utils.corpus.vocabulary import BOS, EOS


def test_verb_and_subject_have_their_places_and_agree() -> None:
    for case in far_apart(TRAIN_PAIRS, 53, seed=3):
        assert case.words[case.verb] in (("is", "was"), ("are", "were"))[case.plural]
        assert case.words[case.subject].endswith("s") == bool(case.plural)
        assert case.words[case.subject + 1] == "that"


def test_no_pair_of_the_test_is_trained_and_no_new_subject_is_an_old_one() -> None:
    assert len(TEST_PAIRS) == 24
    assert not {*TEST_PAIRS} & {*TRAIN_PAIRS}
    assert not {thing for thing, _ in NEW_PAIRS} & {thing for thing, _ in TRAIN_PAIRS}


def test_shares_of_three_words_and_their_mixture() -> None:
    # 4 5 came twice, and 6 followed it once; 4 began all three sentences.
    ids = [[4, 5, 6], [4, 5, 5], [4, 6]]
    counts, batch = Counts(ids, 7), make_batch([[4, 5, 6]], [[4, 5, 6]])
    assert counts.trigram(batch).tolist() == [[1, pytest.approx(2 / 3), 0.5, 1]]
    assert counts.unigram[5] == pytest.approx(3.03 / (11 + 7 * 0.03))
    assert counts.after_two[BOS, BOS] == {4: 3}
    assert counts.after_two[5, 6] == {EOS: 1}
    # 5 followed 4 twice, and 6 once.
    assert counts.bigram[4, 5].exp() == pytest.approx(2.01 / 3.07)
    found = counts.mixed(batch, chosen_on=batch)
    # Three words know most here, so the other two get the smallest shares of the grid.
    one, two = counts.unigram[batch.tgt_out], counts.bigram[batch.tgt_in, batch.tgt_out].exp()
    three = torch.tensor([[1, 2 / 3, 0.5, 1]])
    torch.testing.assert_close(found, (0.0003 * one + 0.1 * two + 0.8997 * three).log())
