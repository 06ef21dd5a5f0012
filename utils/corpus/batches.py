"""Batches: sentences of ids, grouped by length so that little of a batch is padding.

``corpus.vocabulary`` makes the ids; ``training`` and ``search`` use the batches.
Explained in chapters/encoder_decoder.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from utils.corpus.vocabulary import BOS, EOS, PAD
from utils.errors import CourseError


class Batch(NamedTuple):
    """Padded sentence pairs.

    Attributes:
        src: source ids, without beginning and end of sentence, padded at the end.
        src_lens: number of source ids of each sentence.
        tgt: target ids from BOS to EOS, padded at the end.
    """

    src: Int[Tensor, "batch n ..."]
    src_lens: Int[Tensor, " batch"]
    tgt: Int[Tensor, "batch t_plus_1"]

    @property
    def tgt_in(self) -> Int[Tensor, "batch t"]:
        """The words that the decoder reads: y_{i-1} at step i, BOS first."""
        return self.tgt[:, :-1]

    @property
    def tgt_out(self) -> Int[Tensor, "batch t"]:
        """The words that the decoder should write: y_i at step i, EOS last."""
        return self.tgt[:, 1:]

    @property
    def num_tokens(self) -> int:
        """Real target tokens, ends of sentences included."""
        return int((self.tgt_out != PAD).sum())

    def rows(self, rows: slice) -> "Batch":
        """Some sentence pairs of the batch, with unchanged padding."""
        return Batch(*(tensor[rows] for tensor in self))

    def to(self, device: torch.device) -> "Batch":
        """The batch on a device."""
        return Batch(*(tensor.to(device) for tensor in self))


def make_batch(src_ids: Sequence[Sequence[int]], tgt_ids: Sequence[Sequence[int]]) -> Batch:
    """Pad sentence pairs to one batch, with BOS and EOS added to the targets.

    Args:
        src_ids: source sentences, none empty: an encoder needs at least one token.
        tgt_ids: target sentences without BOS and EOS; they may be empty.

    Raises:
        ValueError: no pair, different numbers of sources and targets, or an empty source.

    >>> batch = make_batch([[5, 6, 7], [8]], [[9], [10, 11]])
    >>> batch.src
    tensor([[5, 6, 7],
            [8, 0, 0]])
    >>> batch.tgt
    tensor([[ 1,  9,  2,  0],
            [ 1, 10, 11,  2]])
    """
    src_ids, tgt_ids = list(src_ids), list(tgt_ids)
    _check_pairs(src_ids, tgt_ids)
    src_lens = torch.tensor([len(ids) for ids in src_ids])
    return Batch(pad_ids(src_ids), src_lens, pad_ids([[BOS, *ids, EOS] for ids in tgt_ids]))


def pad_ids(sentences: Sequence[Sequence[int]]) -> Int[Tensor, "batch n"]:
    """One row per sentence, with PAD at the end of the shorter ones.

    >>> pad_ids([[4], [5, 6]])
    tensor([[4, 0],
            [5, 6]])
    """
    rows = [torch.tensor(ids, dtype=torch.long) for ids in sentences]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


def batches(
    src_ids: Sequence[Sequence[int]],
    tgt_ids: Sequence[Sequence[int]],
    *,
    batch_size: int = 64,
    generator: torch.Generator | None = None,
    pool: int = 50,
) -> Iterator[Batch]:
    """One epoch: every pair exactly once, sentences of similar length together.

    The pairs are shuffled, cut into pools of ``pool`` batches, sorted by length within a pool and cut into
    batches, which are shuffled too. A larger pool means less padding. With the whole corpus as one pool, all sentences
    of a batch would have the same length: steps would be faster, but their gradients worse and learning slower.

    Args:
        src_ids: source sentences, none empty.
        tgt_ids: target sentences.
        batch_size: pairs per batch; one batch may hold fewer.
        generator: for the shuffling. None keeps the given order, for evaluation.
        pool: batches per pool.

    Raises:
        ValueError: no pair, an empty source, different numbers of sources and targets, or a size below 1. Raised
            by the call, before the first batch.

    Explained in chapters/bahdanau_decoder.
    """
    _check_pairs(src_ids, tgt_ids)
    for name, number in (("batch_size", batch_size), ("pool", pool)):
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            raise CourseError(f"{name} must be a whole number, got {number!r}")
        if number < 1:
            raise CourseError(f"{name} must be at least 1, got {number}")
    if generator is None:
        rows = [range(first, first + batch_size) for first in range(0, len(src_ids), batch_size)]
        rows[-1] = range(rows[-1].start, len(src_ids))
    else:
        rows = _bucketed_rows(src_ids, tgt_ids, batch_size, generator, pool)
    # A generator expression: with yield, the checks above would run only when the first batch is asked for.
    return (make_batch([src_ids[i] for i in batch], [tgt_ids[i] for i in batch]) for batch in rows)


class ShuffledBatches:
    """Sentence pairs to train on: each pass over this object is one epoch of :func:`batches`, shuffled anew.

    Args:
        src_ids: source sentences, none empty.
        tgt_ids: target sentences.
        batch_size: pairs per batch; one batch may hold fewer.
        seed: seed of the shuffling; the same seed gives the same epochs in the same order.

    Raises:
        ValueError: no pair, an empty source, different numbers of sources and targets, or a size below 1.

    >>> epochs = ShuffledBatches([[4], [5], [6]], [[7], [8], [9]], batch_size=2)
    >>> len(epochs), sum(len(batch.src) for batch in epochs)
    (2, 3)
    """

    def __init__(
        self,
        src_ids: Sequence[Sequence[int]],
        tgt_ids: Sequence[Sequence[int]],
        *,
        batch_size: int = 64,
        seed: int = 0,
    ):
        batches(src_ids, tgt_ids, batch_size=batch_size)  # only to check the arguments
        self.src_ids, self.tgt_ids, self.batch_size = src_ids, tgt_ids, batch_size
        self._generator = torch.Generator().manual_seed(seed)

    def __len__(self) -> int:
        """Batches per epoch."""
        return math.ceil(len(self.src_ids) / self.batch_size)

    def __iter__(self) -> Iterator[Batch]:
        return self.epoch(self._generator)

    def epoch(self, generator: torch.Generator) -> Iterator[Batch]:
        """One epoch, shuffled by the caller's generator."""
        return batches(self.src_ids, self.tgt_ids, batch_size=self.batch_size, generator=generator)


def _bucketed_rows(
    src_ids: Sequence[Sequence[int]],
    tgt_ids: Sequence[Sequence[int]],
    batch_size: int,
    generator: torch.Generator,
    pool: int,
) -> list[list[int]]:
    """The pairs of each batch of an epoch."""
    order = torch.randperm(len(src_ids), generator=generator).tolist()
    rows = []
    for start in range(0, len(order), pool * batch_size):
        # Target before source: the decoder's steps cost more than the encoder's.
        pooled = sorted(
            order[start : start + pool * batch_size], key=lambda i: (len(tgt_ids[i]), len(src_ids[i]))
        )
        rows += [pooled[first : first + batch_size] for first in range(0, len(pooled), batch_size)]
    return [rows[i] for i in torch.randperm(len(rows), generator=generator).tolist()]


def _check_pairs(src_ids: Sequence[Sequence[int]], tgt_ids: Sequence[Sequence[int]]) -> None:
    for name, ids in (("src_ids", src_ids), ("tgt_ids", tgt_ids)):
        if not isinstance(ids, Sequence):  # an iterator is used up by the first epoch
            raise CourseError(f"{name} must be a list, got {type(ids).__name__}")
    if not src_ids:
        raise CourseError("src_ids must hold at least one sentence, got none")
    if len(src_ids) != len(tgt_ids):
        raise CourseError(
            f"src_ids and tgt_ids must have the same length, got {len(src_ids)} and {len(tgt_ids)}"
        )
    for row, ids in enumerate(src_ids):
        if not ids:
            raise CourseError(f"a source sentence must have at least one token, got none in src_ids[{row}]")
