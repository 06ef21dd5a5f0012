"""Word alignment: link the words of a sentence pair by the attention weights of a translator.

Files of links and their scores are in ``gold_links``, the command ``align`` in ``commands.align``.
Explained in book/your_translator.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from utils.attention import check_count
from utils.corpus.batches import make_batch
from utils.corpus.languages import has_blanks, primary
from utils.corpus.pairs import clean, in_one_script, normalise, tokenise
from utils.corpus.text_files import refuse_text
from utils.corpus.vocabulary import Vocabulary
from utils.errors import CourseError
from utils.fast_training import attention_weights
from utils.metrics import diagonal_links, links_from_weights
from utils.seq2seq import EncoderDecoder
from utils.training import Ids
from utils.translator.runs import Run
from utils.translator.using.gold_links import AlignmentScore, GoldLinks, alignment_score
from utils.translator.using.input_lines import in_batches
from utils.translator.using.translating import check_sizes


@torch.no_grad()
def forced_weights(
    model: EncoderDecoder,
    src_ids: Ids,
    tgt_ids: Ids,
    *,
    batch_size: int = 64,
) -> list[Float[Tensor, "rows n"]]:
    r"""The attention weights of a model while it predicts each token of given translations.

    The decoder reads the true token at each step, as in training (teacher forcing). Row i holds the weights

    .. math:: \alpha_{ij} = \operatorname{softmax}_j\, a(s_{i-1}, h_j),

    whose context :math:`c_i` predicts token i (of a Transformer: the mean over the heads of one layer). So row i
    belongs to token i, although the decoder has not read that token yet.

    Args:
        model: with attention, in evaluation mode.
        src_ids: source sentences, none empty.
        tgt_ids: their translations, without beginning and end of sentence.
        batch_size: sentence pairs per batch.

    Returns:
        For each pair one row per target token and one more for the end of sentence.

    Raises:
        ValueError: a model without attention, an empty source, different numbers of sources and targets, or a batch
            size below 1.

    Source: Bahdanau et al. (2015), section 3.1.
    """
    check_count(1, batch_size=batch_size)
    if len(src_ids) != len(tgt_ids):
        raise CourseError(
            f"src_ids and tgt_ids must have the same length, got {len(src_ids)} and {len(tgt_ids)}"
        )
    device = next(model.parameters()).device
    by_pair: list[Tensor] = [torch.empty(0)] * len(src_ids)
    order = sorted(range(len(src_ids)), key=lambda row: (len(tgt_ids[row]), len(src_ids[row])))
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        batch = make_batch([src_ids[row] for row in rows], [tgt_ids[row] for row in rows]).to(device)
        by_batch = attention_weights(model, batch)
        if by_batch is None:
            raise CourseError(f"{type(model.decoder).__name__} has no attention weights to align words with")
        for row, weights in zip(rows, by_batch.cpu(), strict=True):
            by_pair[row] = weights[: len(tgt_ids[row]) + 1, : len(src_ids[row])].clone()
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


class WordAlignment(NamedTuple):
    """An aligned sentence pair.

    Attributes:
        src_words: the words of the source.
        tgt_words: the words of the target.
        weights: attention weights, one row per target word and one column per source word; None if a side is empty.
    """

    src_words: list[str]
    tgt_words: list[str]
    weights: Float[Tensor, "tgt src"] | None

    @property
    def links(self) -> frozenset[tuple[int, int]]:
        """Pairs (source position, target position): each target word and the source word with the largest weight."""
        if self.weights is None:
            return frozenset()
        return frozenset((i, j) for i, j in links_from_weights(self.weights) if self.weights[j, i] > 0)


def align_pairs(
    run: Run,
    pairs: Sequence[tuple[str, str]],
    *,
    tokenised: bool = True,
    batch_size: int = 64,
) -> list[WordAlignment]:
    """Align the words of given sentence pairs by the attention weights of a trained translator.

    The weights between subwords become weights between words (:func:`word_weights`). Tokenised text is joined again
    for the model (:func:`detokenise`), which was trained on text as people write it.

    Args:
        run: a trained translator.
        pairs: (source, target) sentences.
        tokenised: True: ASCII blanks separate the words, as in alignment files. False: sentences are tokenised into
            words and punctuation marks, languages without blanks into characters
            (:func:`utils.corpus.pairs.tokenise`).
        batch_size: sentence pairs per batch.

    Raises:
        ValueError: a sentence of more than ``MAX_TOKENS`` subwords, a text in place of the pairs or of a pair, or a
            run without attention.
    """
    refuse_text(pairs=pairs)
    for row, pair in enumerate(pairs):
        refuse_text(**{f"pairs[{row}]": pair})
    src, tgt = (
        _read_side([pair[side] for pair in pairs], lang, vocabulary, tokenised=tokenised)
        for side, (lang, vocabulary) in enumerate(
            [(run.settings.src, run.src_vocabulary), (run.settings.tgt, run.tgt_vocabulary)]
        )
    )
    rows = [row for row in range(len(pairs)) if src.ids[row] and tgt.ids[row]]
    by_piece = forced_weights(
        run.model,
        [src.ids[row] for row in rows],
        [tgt.ids[row] for row in rows],
        batch_size=batch_size,
    )
    by_word: list[Tensor | None] = [None] * len(pairs)
    for row, weights in zip(rows, by_piece, strict=True):
        by_word[row] = word_weights(weights[:-1], tgt.shares[row], src.shares[row])
    return [WordAlignment(*parts) for parts in zip(src.words, tgt.words, by_word, strict=True)]


def align_lines(
    run: Run, pairs: Iterable[tuple[str, str]], *, tokenised: bool = True
) -> Iterator[WordAlignment]:
    """Align a stream of pairs, in their order, a few hundred at a time; arguments as for :func:`align_pairs`.

    Raises:
        ValueError: as :func:`align_pairs`.
    """
    refuse_text(pairs=pairs)
    for batch in in_batches(pairs):
        yield from align_pairs(run, batch, tokenised=tokenised)


def score_alignments(
    alignments: Sequence[WordAlignment], gold: Sequence[GoldLinks]
) -> dict[str, AlignmentScore]:
    """Score the links of attention, and those of the diagonal, which depend only on the two lengths.

    Args:
        alignments: from :func:`align_pairs`.
        gold: links (source position, target position).

    Returns:
        The scores of "attention" and of "diagonal".

    Raises:
        ValueError: different numbers of sentences, or no link at all.
    """
    sizes = [(len(alignment.src_words), len(alignment.tgt_words)) for alignment in alignments]
    diagonal = [diagonal_links(*size) if min(size) else frozenset() for size in sizes]
    return {
        "attention": alignment_score([alignment.links for alignment in alignments], gold),
        "diagonal": alignment_score(diagonal, gold),
    }


#: Marks without a blank before them, and without a blank after them, by language; None for other languages.
_NO_BLANK_BEFORE = {"fr": re.compile(r"[.,)\]…]"), None: re.compile(r"[.,;:!?)\]…%]|'\w*")}
_NO_BLANK_AFTER = {"fr": re.compile(r"[(\[]|\w+'"), None: re.compile(r"[(\[$]")}


def detokenise(words: Sequence[str], lang: str) -> tuple[str, list[int]]:
    """Join tokenised words into text as people write it.

    Returns:
        The text, and the end of each word in it.

    Raises:
        ValueError: a text in place of words.

    >>> detokenise(["l'", "homme", "."], "fr")
    ("l'homme.", [2, 7, 8])
    """
    refuse_text(words=words)
    language = primary(lang)
    before = _NO_BLANK_BEFORE.get(language, _NO_BLANK_BEFORE[None])
    after = _NO_BLANK_AFTER.get(language, _NO_BLANK_AFTER[None])
    text, ends, joins_next = "", [], True
    for word in words:
        text += word if joins_next or not word or before.fullmatch(word) else f" {word}"
        ends.append(len(text))
        joins_next = not has_blanks(lang) or after.fullmatch(word) is not None or (joins_next and not word)
    return text, ends


def split_words(line: str) -> list[str]:
    """The words of a line of an alignment file, which ASCII blanks separate.

    Other tools count so. A no-break or wide blank is part of a word, so that positions in files of links fit.

    >>> split_words(" 1\u00a0000\tchats ")
    ['1\\xa0000', 'chats']
    """
    return re.findall(r"\S+", line, re.ASCII)


def text_for_model(words: Sequence[str], lang: str) -> tuple[str, list[int]]:
    """The normalised text of tokenised words, and the end of each word in it, as :func:`detokenise`.

    >>> text_for_model(["名", "著", "看", "著"], "zh")
    ('名著看着', [1, 2, 3, 4])
    """
    refuse_text(words=words)
    text, ends = detokenise([clean(word, lang) for word in words], lang)
    # What a Chinese character becomes can depend on its neighbours; their number stays.
    return in_one_script(text, lang), ends


def _ends(text: str, words: Sequence[str]) -> list[int]:
    """The end of each word in the text that was tokenised into these words."""
    ends, start = [], 0
    for word in words:
        start = text.index(word, start) + len(word)
        ends.append(start)
    return ends


class _Side(NamedTuple):
    """One side of the sentence pairs: for each sentence its words, its pieces and how these lie in the words."""

    words: list[list[str]]
    ids: list[list[int]]
    shares: list[Float[Tensor, "pieces words"]]


def _read_side(texts: Sequence[str], lang: str, vocabulary: Vocabulary, *, tokenised: bool) -> _Side:
    check_sizes(texts)
    if tokenised:
        words = [split_words(text) for text in texts]
        texts_and_ends = [text_for_model(row, lang) for row in words]
    else:
        texts = [normalise(text, lang) for text in texts]
        words = [tokenise(text, lang) for text in texts]
        texts_and_ends = [(text, _ends(text, row)) for text, row in zip(texts, words, strict=True)]
    texts = [text for text, _ in texts_and_ends]
    ids = vocabulary.encode(texts)
    check_sizes(texts, ids)
    spans = vocabulary.spans(texts)
    return _Side(
        words, ids, [shares(*row) for row in zip(spans, [ends for _, ends in texts_and_ends], strict=True)]
    )
