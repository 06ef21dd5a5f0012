"""Translate sentences, or a stream of lines, with a trained run.

The search is in ``utils.search``, the command ``translate`` in ``commands.translate``.
Explained in book/your_translator.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor, tensor

from utils.checks import check_count, check_list, refuse_text
from utils.corpus.batches import pad_ids
from utils.corpus.pairs import MAX_CHARACTERS, normalise, tokenise
from utils.errors import CourseError
from utils.search import Hypothesis, beam_search
from utils.translator.options import GREEDY, Search
from utils.translator.runs import Run
from utils.translator.using.input_lines import in_batches


class Translation(NamedTuple):
    """A translated sentence.

    Attributes:
        text: the translation.
        src_tokens: the source tokens.
        tgt_tokens: the target tokens, with the end of sentence if it was reached.
        weights: attention weights, one row per target token and one column per source token; None for an empty source
            and for a model without attention.
        finished: False if the length limit of :func:`translate_sentences` cut the translation off.
        score: mean log-probability (natural) per target token; 0 for an empty source.
    """

    text: str
    src_tokens: list[str]
    tgt_tokens: list[str]
    weights: Float[Tensor, "tgt src"] | None
    finished: bool
    score: float = 0.0


#: Largest number of subwords in a sentence to translate: the weights grow with the product of two lengths.
MAX_TOKENS = 1000
#: Largest number of attention weights in a batch of a search: sentences, hypotheses, steps and subwords multiplied.
MAX_WEIGHTS = 2**26


def check_sizes(sentences: Sequence[str], ids: Sequence[Sequence[int]] | None = None) -> None:
    """Raise an error for a sentence that would fill the memory: before it is cut into tokens, and with its tokens.

    Args:
        sentences: texts, of at most ``MAX_CHARACTERS`` characters.
        ids: their tokens, at most ``MAX_TOKENS`` each.

    Raises:
        ValueError: with the length and the first words of the first sentence that is too long; or a text in place of
            sentences.
    """
    check_list(sentences=sentences, ids=ids)
    unit, limit = ("characters", MAX_CHARACTERS) if ids is None else ("tokens", MAX_TOKENS)
    for text, parts in zip(sentences, sentences if ids is None else ids, strict=True):
        if len(parts) > limit:
            raise CourseError(
                f"a sentence has {len(parts)} {unit}, the limit is {limit}: split {text[:40]!r}…"
            )


def source_ids(run: Run, sentences: Sequence[str]) -> list[list[int]]:
    """The token ids of plain text, which is normalised first and, for a vocabulary of words, cut into words."""
    check_list(sentences=sentences)
    lang = run.settings.src
    texts = [normalise(sentence, lang) for sentence in sentences]
    if run.src_vocabulary.of_words:
        return run.src_vocabulary.encode([tokenise(text, lang) for text in texts])
    return run.src_vocabulary.encode(texts)


def translate_sentences(
    run: Run,
    sentences: Sequence[str],
    search: Search = GREEDY,
    *,
    batch_size: int = 64,
    keep_weights: bool = True,
) -> list[Translation]:
    """Translate text, in batches of sentences of similar length.

    A translation has at most twice as many tokens as its source, rounded up to a power of 2, and 10 more. At this
    limit the end is not forced: the translation is cut off, and ``finished`` is False.

    Args:
        run: a trained translator.
        sentences: plain text; the translation of a sentence that is empty after normalisation is empty.
        search: by default greedy search.
        batch_size: sentences per batch.
        keep_weights: if False, the translations come without their attention weights, which take the most memory.

    Returns:
        One translation per sentence, in the same order; no translation has a line break.

    Raises:
        ValueError: a sentence of more than ``MAX_CHARACTERS`` characters or ``MAX_TOKENS`` subwords, a text in place of
            sentences, or a batch size below 1.
    """
    check_count(1, batch_size=batch_size)
    check_sizes(sentences)
    device = next(run.model.parameters()).device
    ids = source_ids(run, sentences)
    check_sizes(sentences, ids)
    translations = [Translation("", [], [], None, True)] * len(ids)
    for batch, max_len in _batches(ids, batch_size, search.beam):
        src = [ids[row] for row in batch]
        padded, src_lens = pad_ids(src).to(device), tensor([len(row_ids) for row_ids in src], device=device)
        found = beam_search(run.model, padded, src_lens, max_len=max_len, **asdict(search))
        for row, row_ids, (best, *_) in zip(batch, src, found, strict=True):
            src_tokens = run.src_vocabulary.tokens(row_ids)
            translations[row] = _translation(run, src_tokens, best, keep_weights=keep_weights)
    return translations


def translate_lines(run: Run, lines: Iterable[str], search: Search = GREEDY) -> Iterator[Translation]:
    """Translate a stream of lines, in their order and without attention weights.

    Lines are read only as they are needed, a few hundred at a time. Arguments as for :func:`translate_sentences`.

    Raises:
        ValueError: as :func:`translate_sentences`.
    """
    refuse_text(lines=lines)
    for batch in in_batches(lines):
        yield from translate_sentences(run, batch, search, keep_weights=False)


def _batches(ids: Sequence[Sequence[int]], batch_size: int, beam: int) -> Iterator[tuple[list[int], int]]:
    """Batches of sentences of similar length, as row numbers, and the length limit of their translations.

    Batches of long sentences are smaller, so that their attention weights fit into memory.

    The limit of a sentence depends on its length alone, so that its translation does not depend on its batch. It is at
    least 2 n + 10 for n tokens, which no translation in training needs, and grows at powers of 2.
    """

    def limit(row: int) -> int:
        return 2 * 2 ** (len(ids[row]) - 1).bit_length() + 10

    rows = sorted((row for row in range(len(ids)) if ids[row]), key=lambda row: len(ids[row]))
    for max_len, group in groupby(rows, key=limit):
        same_limit = list(group)
        longest = len(ids[same_limit[-1]])
        size = max(1, min(batch_size, MAX_WEIGHTS // (beam * max_len * longest)))
        for start in range(0, len(same_limit), size):
            yield same_limit[start : start + size], max_len


def _translation(
    run: Run, src_tokens: list[str], hypothesis: Hypothesis, *, keep_weights: bool
) -> Translation:
    return Translation(
        " ".join(run.tgt_vocabulary.decode(hypothesis.tokens).split()),
        src_tokens,
        run.tgt_vocabulary.tokens(hypothesis.tokens) + ["<eos>"] * hypothesis.finished,
        hypothesis.weights.cpu() if keep_weights and hypothesis.weights is not None else None,
        hypothesis.finished,
        hypothesis.score(),
    )
