"""Unknown words: replaced by hand, and what the functions refuse."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from utils.corpus.vocabulary import UNK
from utils.unknown_words import point_at_source, read_pointers, replace_unknown

SRC = ["我", "在", "赫尔辛基", "买", "书"]
#: Rows: I, bought, books, in, Helsinki, and the end of sentence.
WEIGHTS = torch.tensor(
    [
        [0.8, 0.1, 0.0, 0.1, 0.0],
        [0.1, 0.0, 0.1, 0.7, 0.1],
        [0.0, 0.0, 0.1, 0.2, 0.7],
        [0.0, 0.9, 0.1, 0.0, 0.0],
        [0.0, 0.4, 0.6, 0.0, 0.0],
        [0.2, 0.2, 0.2, 0.2, 0.2],
    ]
)


def test_unknown_words_are_copied():
    tokens = ["I", "<unk>", "books", "in", "<unk>"]
    assert replace_unknown(tokens, SRC, WEIGHTS) == ["I", "买", "books", "in", "赫尔辛基"]
    assert tokens == ["I", "<unk>", "books", "in", "<unk>"]


def test_the_row_of_the_end_is_optional():
    tokens = ["<unk>", "bought"]
    assert replace_unknown(tokens, SRC, WEIGHTS[:2]) == ["我", "bought"]
    assert replace_unknown(tokens, SRC, WEIGHTS[:3]) == ["我", "bought"]


@given(st.lists(st.sampled_from(["a", "b", "<unk>"]), max_size=6), st.randoms(use_true_random=False))
def test_known_words_stay_and_no_unknown_word_does(tokens, random):
    weights = torch.rand(7, 5, generator=torch.Generator().manual_seed(random.randrange(1000)))
    replaced = replace_unknown(tokens, SRC, weights)
    assert len(replaced) == len(tokens)
    for before, after in zip(tokens, replaced, strict=True):
        assert after in (SRC if before == "<unk>" else [before])


@pytest.mark.parametrize("shape", [(1, 5), (2, 4), (2, 6)])
def test_weights_of_another_sentence(shape):
    with pytest.raises(ValueError, match=rf"\(2\).*\(5\).*{shape[0]} × {shape[1]}"):
        replace_unknown(["a", "b"], SRC, torch.zeros(shape))


def test_a_pointer_leads_to_the_first_of_equal_words():
    src = ["Zoé", "et", "Zoé"]
    assert point_at_source([UNK, 4, UNK], ["Zoé", "and", "Max"], src, vocab_size=10) == [10, 4, UNK]
    assert read_pointers([10, 12, 0], lambda ids: ["and"], src, vocab_size=10) == ["Zoé", "Zoé", "and"]
