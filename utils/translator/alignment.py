"""Word alignments: which source words a translator looks at while it writes the words of a given translation.

What an alignment is worth against one made by hand is the business of ``evaluation``.
Explained in book/api/command_line.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from utils.corpus.batches import make_batch
from utils.corpus.pairs import normalise, tokenise
from utils.metrics import AlignmentScore, GoldLinks, alignment_score, diagonal_links, links_from_weights
from utils.seq2seq import EncoderDecoder
from utils.training import Ids
from utils.translator.fast import Steps
from utils.translator.runs import Run
from utils.translator.translating import check_lengths


@torch.no_grad()
def forced_weights(
    model: EncoderDecoder, src_ids: Ids, tgt_ids: Ids, *, batch_size: int = 64
) -> list[Float[Tensor, "rows n"]]:
    r"""The attention weights with which a model predicts each token of given translations.

    The decoder reads the true word at each step, as in training (teacher forcing). Row i holds the weights that the
    state before token i asks for,

    .. math:: \alpha_{ij} = \operatorname{softmax}_j\, a(s_{i-1}, h_j),

    and from which the context :math:`c_i` comes that predicts token i. So row i belongs to token i itself, although
    the decoder has not read that token yet.

    Args:
        model: with attention, in evaluation mode.
        src_ids: source sentences, none empty.
        tgt_ids: their translations, without beginning and end of sentence.
        batch_size: sentence pairs at a time, those of like length together.

    Returns:
        For each pair a row for each target token and one more for the end of sentence.

    Raises:
        ValueError: a model without attention, an empty source, or not as many targets as sources.

    Source: Bahdanau et al. (2015), section 3.1. Explained in book/api/command_line.
    """
    if len(src_ids) != len(tgt_ids):
        raise ValueError(f"as many targets as sources are wanted, got {len(src_ids)} and {len(tgt_ids)}")
    steps, decoder = Steps(model.decoder), model.decoder
    device = next(model.parameters()).device
    found: list[Tensor] = [torch.empty(0)] * len(src_ids)
    order = sorted(range(len(src_ids)), key=lambda row: (len(tgt_ids[row]), len(src_ids[row])))
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        batch = make_batch([src_ids[row] for row in rows], [tgt_ids[row] for row in rows])
        memory, hidden = model.start(batch.src.to(device), batch.src_lens.to(device))
        sources, layers = steps.arrange(memory), [s[:, None] for s in hidden.unbind(0)]
        collected = []
        for from_word in steps.from_words(decoder.embedding(batch.tgt_in.to(device))).split(1, dim=1):
            layers, _, weights = steps.step(from_word, layers, sources)
            if weights is None:
                raise ValueError(f"{type(decoder).__name__} has no attention: there are no weights to read")
            collected.append(weights)
        together = torch.cat(collected, dim=1).cpu()
        for row, weights in zip(rows, together, strict=True):
            found[row] = weights[: len(tgt_ids[row]) + 1, : len(src_ids[row])].clone()
    return found


def word_weights(
    weights: Float[Tensor, "tgt src"],
    tgt_shares: Float[Tensor, "tgt tgt_words"],
    src_shares: Float[Tensor, "src src_words"],
) -> Float[Tensor, "tgt_words src_words"]:
    """From weights between subwords to weights between words.

    A source word gets the sum of what its pieces get, for each piece is a part of it; a target word takes the mean of
    its pieces' weights, so that its own add up to 1 again.

    Args:
        weights: a row a target piece, a column a source piece.
        tgt_shares: how much of each target piece lies in each target word, from :func:`shares`.
        src_shares: likewise of the source.

    Returns:
        A row a target word; all 0 for a word without a piece.

    >>> halves = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])  # the first word has two pieces
    >>> weights = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.0, 0.3, 0.7]])
    >>> word_weights(weights, halves, halves)
    tensor([[0.5000, 0.5000],
            [0.3000, 0.7000]])

    Source: Clark et al. (2019), section 4.1. Explained in book/api/command_line.
    """
    pieces = tgt_shares.sum(dim=0)[:, None]
    return (tgt_shares.T @ weights @ src_shares) / pieces.clamp(min=torch.finfo(pieces.dtype).tiny)


def shares(spans: Sequence[tuple[int, int]], ends: Sequence[int]) -> Float[Tensor, "pieces words"]:
    """How much of each piece of a text lies in each of its words, by characters; the blank before a word is its own.

    Most pieces lie in a single word. One that crosses from a word into the next, such as "l'h" of "l' homme", is
    divided.

    Args:
        spans: (start, end) of each piece in the text.
        ends: where each word ends in the text, ascending.

    >>> shares([(0, 2), (2, 4)], ends=[3, 4])
    tensor([[1.0000, 0.0000],
            [0.5000, 0.5000]])
    """
    start, end = torch.tensor(spans, dtype=torch.get_default_dtype()).reshape(-1, 2, 1).unbind(1)
    closes = torch.tensor(ends, dtype=start.dtype)
    opens = torch.cat([closes.new_zeros(1), closes])[:-1]
    return (end.minimum(closes) - start.maximum(opens)).clamp(min=0) / (end - start)


class WordAlignment(NamedTuple):
    """An aligned sentence pair.

    Attributes:
        src_words: the words of the source.
        tgt_words: the words of the target.
        weights: attention weights, a row a target word, a column a source word; None where a side is empty.
    """

    src_words: list[str]
    tgt_words: list[str]
    weights: Float[Tensor, "tgt src"] | None

    @property
    def links(self) -> frozenset[tuple[int, int]]:
        """Pairs (source position, target position): each target word with the source word of most weight."""
        if self.weights is None:
            return frozenset()
        return frozenset((i, j) for i, j in links_from_weights(self.weights) if self.weights[j, i] > 0)


def align(
    run: Run, pairs: Sequence[tuple[str, str]], *, cut: bool = False, batch_size: int = 64
) -> list[WordAlignment]:
    """Align the words of given sentence pairs by the attention of a trained translator.

    The subwords of the run are brought back to words (:func:`word_weights`). Text that was cut into words and
    punctuation marks is put together again for the model, which has learned from text as it is written.

    Args:
        run: a trained translator.
        pairs: (source, target) sentences.
        cut: False: words are what stands between blanks, as alignment files count them. True: sentences are cut into
            words and punctuation marks, Chinese into characters (:func:`utils.corpus.pairs.tokenise`).
        batch_size: sentence pairs at a time.

    Raises:
        ValueError: a sentence of more than ``MAX_TOKENS`` subwords, or a run without attention.

    Explained in book/api/command_line.
    """
    languages = run.settings.src, run.settings.tgt
    vocabularies = run.src_vocabulary, run.tgt_vocabulary
    words, ids, ownership = [], [], []  # each holds the two sides
    for side, (lang, vocabulary) in enumerate(zip(languages, vocabularies, strict=True)):
        texts = [pair[side] for pair in pairs]
        if cut:
            texts = [normalise(text, lang) for text in texts]
            words.append([tokenise(text, lang) for text in texts])
            read = [(text, _ends(text, found)) for text, found in zip(texts, words[side], strict=True)]
        else:
            words.append([text.split() for text in texts])
            read = [_put_together([normalise(word, lang) for word in found], lang) for found in words[side]]
        ids.append(vocabulary.encode([text for text, _ in read]))
        check_lengths(ids[side], [text for text, _ in read])
        spans = vocabulary.spans([text for text, _ in read])
        ownership.append([shares(pieces, ends) for pieces, (_, ends) in zip(spans, read, strict=True)])
    rows = [row for row in range(len(pairs)) if ids[0][row] and ids[1][row]]
    src_ids, tgt_ids = ([side[row] for row in rows] for side in ids)
    weights: list[Tensor | None] = [None] * len(pairs)
    for row, by_piece in zip(
        rows, forced_weights(run.model, src_ids, tgt_ids, batch_size=batch_size), strict=True
    ):
        weights[row] = word_weights(by_piece[:-1], ownership[1][row], ownership[0][row])
    return [WordAlignment(*parts) for parts in zip(*words, weights, strict=True)]


def score_alignments(
    alignments: Sequence[WordAlignment], gold: Sequence[GoldLinks]
) -> dict[str, AlignmentScore]:
    """What the links of attention are worth, beside those of the diagonal, which knows the two lengths alone.

    Args:
        alignments: from :func:`align`.
        gold: links by (source position, target position).

    Returns:
        The scores of "attention" and of "diagonal".

    Raises:
        ValueError: not as many sentences in each, or no link at all.
    """
    sizes = [(len(alignment.src_words), len(alignment.tgt_words)) for alignment in alignments]
    diagonal = [diagonal_links(*size) if min(size) else frozenset() for size in sizes]
    return {
        "attention": alignment_score([alignment.links for alignment in alignments], gold),
        "diagonal": alignment_score(diagonal, gold),
    }


#: Marks that stand close to the word before or after them where text is not cut into words.
_CLOSE_TO_LEFT = {"fr": re.compile(r"[.,)\]…]"), None: re.compile(r"[.,;:!?)\]…%]|'\w*")}
_CLOSE_TO_RIGHT = {"fr": re.compile(r"[(\[]|\w+'"), None: re.compile(r"[(\[$]")}


def _put_together(words: Sequence[str], lang: str) -> tuple[str, list[int]]:
    """The text of words that blanks separate, as it is usually written, and where each word ends in it."""
    to_left = _CLOSE_TO_LEFT.get(lang, _CLOSE_TO_LEFT[None])
    to_right = _CLOSE_TO_RIGHT.get(lang, _CLOSE_TO_RIGHT[None])
    text, ends, close = "", [], True
    for word in words:
        text += word if close or not word or to_left.fullmatch(word) else f" {word}"
        ends.append(len(text))
        close = lang == "zh" or to_right.fullmatch(word) is not None or (close and not word)
    return text, ends


def _ends(text: str, words: Sequence[str]) -> list[int]:
    """Where each of the words ends in the text that they were cut from."""
    ends, at = [], 0
    for word in words:
        at = text.index(word, at) + len(word)
        ends.append(at)
    return ends
