"""Links between the words of sentence pairs: those that a translator's attention draws, and those that people drew.

Error rates are in ``links_study``.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from utils.corpus.batches import make_batch
from utils.corpus.pairs import clean
from utils.corpus.vocabulary import Vocabulary
from utils.fast_training import attention_weights
from utils.metrics import links_from_weights
from utils.seq2seq import EncoderDecoder
from utils.training import Ids
from utils.translator.runs import Run

Words = Sequence[str]
#: Sentence pairs in a batch.
_BATCH = 64


class GoldLinks(NamedTuple):
    """The links of one sentence: those that the annotator was sure of, and all that are possible."""

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]


def parse_links(line: str) -> GoldLinks:
    """The links of one sentence pair in a gold file, which counts words from 1: "1-2" is sure, "1p2" possible.

    >>> links = parse_links("1-1 2p1")
    >>> sorted(links.sure), sorted(links.possible)
    ([(0, 0)], [(0, 0), (1, 0)])
    """
    links = {(int(i) - 1, int(j) - 1): kind for i, kind, j in re.findall(r"(\d+)([-p])(\d+)(?:\s|$)", line)}
    return GoldLinks(frozenset(link for link, kind in links.items() if kind == "-"), frozenset(links))


@torch.no_grad()
def forced_weights(model: EncoderDecoder, src_ids: Ids, tgt_ids: Ids) -> list[Float[Tensor, "rows n"]]:
    """The attention weights of a model while it reads each token of given translations, as in training.

    Row i belongs to the step that predicts token i, so the decoder has not read this token yet.

    Args:
        model: with attention, in evaluation mode.
        src_ids: source sentences, none empty.
        tgt_ids: their translations, without beginning and end of sentence.

    Returns:
        For each pair one row per target token.

    Source: Bahdanau et al. (2015), section 3.1.
    """
    by_pair: list[Tensor] = [torch.empty(0)] * len(src_ids)
    order = sorted(range(len(src_ids)), key=lambda row: (len(tgt_ids[row]), len(src_ids[row])))
    for start in range(0, len(order), _BATCH):
        rows = order[start : start + _BATCH]
        batch = make_batch([src_ids[row] for row in rows], [tgt_ids[row] for row in rows])
        for row, weights in zip(rows, attention_weights(model, batch), strict=True):
            by_pair[row] = weights[: len(tgt_ids[row]), : len(src_ids[row])].clone()
    return by_pair


def word_weights(
    weights: Float[Tensor, "tgt src"],
    tgt_shares: Float[Tensor, "tgt tgt_words"],
    src_shares: Float[Tensor, "src src_words"],
) -> Float[Tensor, "tgt_words src_words"]:
    """Turn the attention weights between subwords (pieces) into weights between words.

    The weight of a source word is the sum over its pieces. The weights of a target word are the mean over its pieces,
    so that they add up to 1 again.

    Args:
        weights: one row per target piece, one column per source piece.
        tgt_shares: the share of each target piece that lies in each target word, from :func:`shares`.
        src_shares: the same for the source.

    Returns:
        One row per target word; all 0 for a word without a piece.

    >>> halves = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])  # the first word has two pieces
    >>> weights = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.0, 0.3, 0.7]])
    >>> word_weights(weights, halves, halves)
    tensor([[0.5000, 0.5000],
            [0.3000, 0.7000]])

    Source: Clark et al. (2019), section 4.1.
    """
    pieces = tgt_shares.sum(dim=0)[:, None]
    return (tgt_shares.T @ weights.to(tgt_shares.dtype) @ src_shares) / pieces.clamp(
        min=torch.finfo(pieces.dtype).tiny
    )


def shares(spans: Sequence[tuple[int, int]], ends: Sequence[int]) -> Float[Tensor, "pieces words"]:
    """The share of each piece of a text that lies in each word, by characters. A blank belongs to the next word.

    Most pieces lie in a single word. A piece such as "l'h" of "l'homme" is divided between two.

    Args:
        spans: (start, end) of each piece in the text.
        ends: the end of each word in the text, ascending.

    >>> shares([(0, 2), (2, 4)], ends=[3, 4])
    tensor([[1.0000, 0.0000],
            [0.5000, 0.5000]])
    """
    piece_start, piece_end = torch.tensor(spans, dtype=torch.get_default_dtype()).reshape(-1, 2, 1).unbind(1)
    word_end = torch.tensor(ends, dtype=piece_start.dtype)
    word_start = torch.cat([word_end.new_zeros(1), word_end])[:-1]
    overlap = (piece_end.minimum(word_end) - piece_start.maximum(word_start)).clamp(min=0)
    return overlap / (piece_end - piece_start).clamp(min=1)  # a piece without characters has no shares


def attention_links(run: Run, pairs: Sequence[tuple[Words, Words]]) -> list[frozenset[tuple[int, int]]]:
    """Link each target word with the source word that gets the largest weight, in pairs of words.

    The words are joined for the model (:func:`detokenise`), which was trained on text as people write it, and the
    weights between subwords become weights between words (:func:`word_weights`).
    """
    src = _read_side([pair[0] for pair in pairs], run.settings.src, run.src_vocabulary)
    tgt = _read_side([pair[1] for pair in pairs], run.settings.tgt, run.tgt_vocabulary)
    links = []
    for pieces, *sides in zip(
        forced_weights(run.model, src.ids, tgt.ids), tgt.shares, src.shares, strict=True
    ):
        weights = word_weights(pieces, *sides)
        links.append(frozenset((i, j) for i, j in links_from_weights(weights) if weights[j, i] > 0))
    return links


#: Marks without a blank before them, and without a blank after them.
_NO_BLANK_BEFORE = {"fr": re.compile(r"[.,)\]…]"), "en": re.compile(r"[.,;:!?)\]…%]|'\w*")}
_NO_BLANK_AFTER = {"fr": re.compile(r"[(\[]|\w+'"), "en": re.compile(r"[(\[$]")}


def detokenise(words: Words, lang: str) -> tuple[str, list[int]]:
    """Join the words of an English or French sentence into text as people write it.

    Returns:
        The text, and the end of each word in it.

    >>> detokenise(["l'", "homme", "."], "fr")
    ("l'homme.", [2, 7, 8])
    """
    text, ends, joins_next = "", [], True
    for word in words:
        is_joined = joins_next or not word or _NO_BLANK_BEFORE[lang].fullmatch(word)
        text += word if is_joined else f" {word}"
        ends.append(len(text))
        joins_next = _NO_BLANK_AFTER[lang].fullmatch(word) is not None or (joins_next and not word)
    return text, ends


def split_words(line: str) -> list[str]:
    """The words of a line of an alignment file, which ASCII blanks separate.

    Other tools count so. A no-break or wide blank is part of a word, so that positions in files of links fit.

    >>> split_words(" 1\u00a0000\tchats ")
    ['1\\xa0000', 'chats']
    """
    return re.findall(r"\S+", line, re.ASCII)


class _Side(NamedTuple):
    """One side of the sentence pairs: for each sentence its pieces and how these lie in the words."""

    ids: list[list[int]]
    shares: list[Float[Tensor, "pieces words"]]


def _read_side(sentences: Sequence[Words], lang: str, vocabulary: Vocabulary) -> _Side:
    texts, ends = zip(
        *(detokenise([clean(w, lang) for w in words], lang) for words in sentences), strict=True
    )
    spans = vocabulary.spans(texts)
    return _Side(vocabulary.encode(texts), [shares(*row) for row in zip(spans, ends, strict=True)])
