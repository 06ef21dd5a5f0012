"""Batches: every pair once, padding only behind the words, one order per seed."""

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from utils.corpus.batches import batches, make_batch, pad_ids
from utils.corpus.vocabulary import BOS, EOS, PAD

token_ids = st.integers(4, 50)
pair_lists = st.lists(
    st.tuples(st.lists(token_ids, min_size=1, max_size=13), st.lists(token_ids, max_size=11)),
    min_size=1,
    max_size=41,
)


def unzip(pairs):
    return [list(src) for src, _ in pairs], [list(tgt) for _, tgt in pairs]


def rows_of(batch) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The pairs of a batch, and that nothing but padding surrounds them."""
    rows = []
    for src, length, tgt in zip(batch.src.tolist(), batch.src_lens.tolist(), batch.tgt.tolist(), strict=True):
        end = tgt.index(EOS)
        assert tgt[0] == BOS
        assert PAD not in src[:length] + tgt[:end]
        assert set(src[length:] + tgt[end + 1 :]) <= {PAD}
        rows.append((tuple(src[:length]), tuple(tgt[1:end])))
    return rows


def test_a_batch_by_hand():
    batch = make_batch([[5, 6, 7], [8]], [[9], [10, 11]])
    assert batch.src.tolist() == [[5, 6, 7], [8, PAD, PAD]]
    assert batch.src_lens.tolist() == [3, 1]
    assert batch.tgt.tolist() == [[BOS, 9, EOS, PAD], [BOS, 10, 11, EOS]]
    assert batch.tgt_in.tolist() == [[BOS, 9, EOS], [BOS, 10, 11]]
    assert batch.tgt_out.tolist() == [[9, EOS, PAD], [10, 11, EOS]]
    assert {batch.src.dtype, batch.src_lens.dtype, batch.tgt.dtype} == {torch.int64}


def test_an_empty_target_ends_at_once():
    assert make_batch([[5]], [[]]).tgt.tolist() == [[BOS, EOS]]
    assert pad_ids([[], [4]]).tolist() == [[PAD], [4]]


@given(pair_lists, st.integers(1, 17), st.integers(1, 5), st.none() | st.integers(0, 2**31))
@settings(max_examples=40)
def test_an_epoch_holds_every_pair_exactly_once(pairs, batch_size, pool, seed):
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    epoch = list(batches(*unzip(pairs), batch_size=batch_size, generator=generator, pool=pool))
    rows = [row for batch in epoch for row in rows_of(batch)]
    assert Counter(rows) == Counter((tuple(src), tuple(tgt)) for src, tgt in pairs)
    assert len(epoch) == -(-len(pairs) // batch_size)
    assert sum(len(batch.src) < batch_size for batch in epoch) <= 1
    if seed is None:
        assert rows == [(tuple(src), tuple(tgt)) for src, tgt in pairs]


def corpus(num: int = 509):
    generator = torch.Generator().manual_seed(3)
    lengths = torch.randint(1, 41, (2, num), generator=generator).tolist()
    return [[4 + i] * n for i, n in enumerate(lengths[0])], [[4] * n for n in lengths[1]]


def test_buckets_hold_less_padding_and_are_shuffled():
    src, tgt = corpus()
    cells = [
        sum(batch.tgt_in.numel() for batch in batches(src, tgt, batch_size=32, generator=generator))
        for generator in (None, torch.Generator().manual_seed(0))
    ]
    real = sum(len(ids) + 1 for ids in tgt)
    assert cells[1] - real < 0.2 * (cells[0] - real)
    lengths = [batch.tgt.shape[1] for batch in batches(src, tgt, generator=torch.Generator().manual_seed(0))]
    assert lengths != sorted(lengths)


def test_mistakes_are_named_at_the_call():
    with pytest.raises(ValueError, match="src_ids must hold at least one sentence, got none"):
        batches([], [])
    with pytest.raises(ValueError, match="src_ids and tgt_ids must have the same length, got 2 and 1"):
        batches([[4], [5]], [[4]])
    with pytest.raises(ValueError, match=r"must have at least one token, got none in src_ids\[1\]"):
        batches([[4], []], [[4], [5]])
    with pytest.raises(ValueError, match=r"must have at least one token, got none in src_ids\[0\]"):
        make_batch([[]], [[4]])
    with pytest.raises(ValueError, match="batch_size must be at least 1, got 0"):
        batches([[4]], [[4]], batch_size=0)
    with pytest.raises(ValueError, match="pool must be at least 1, got -1"):
        batches([[4]], [[4]], pool=-1)
