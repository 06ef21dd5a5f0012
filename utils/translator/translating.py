"""Translate text with a trained run, and measure the run on its held-out sentences.

The search is in ``utils.search``, the measures are in ``utils.metrics``.
Explained in book/api/command_line.
"""

import json
import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor, tensor

from utils.corpus.batches import pad_ids
from utils.corpus.pairs import normalise, tokenise
from utils.metrics import Bucket, Score, bleu, bleu_by_length, chrf
from utils.search import Hypothesis, beam_search, greedy
from utils.translator.checkpoints import write_atomically
from utils.translator.fast import steps_for
from utils.translator.runs import Run


class Translation(NamedTuple):
    """A translated sentence.

    Attributes:
        text: the translation.
        src_tokens: the source tokens.
        tgt_tokens: the target tokens, with the end of sentence if it was reached.
        weights: attention weights, one row per target token and one column per source token; None for an empty source
            and for a model without attention.
        finished: False if the length limit cut the translation off.
        score: mean log-probability (natural) per target token; 0 for an empty source.
    """

    text: str
    src_tokens: list[str]
    tgt_tokens: list[str]
    weights: Float[Tensor, "tgt src"] | None
    finished: bool
    score: float = 0.0


#: Largest number of subwords in a sentence to translate or align: the weights grow with the product of two lengths.
MAX_TOKENS = 1000


def check_lengths(ids: Sequence[Sequence[int]], texts: Sequence[str]) -> None:
    """Raise an error for a sentence of more than ``MAX_TOKENS`` tokens, before it fills the memory.

    Raises:
        ValueError: with the length and the first words of the first such sentence.

    Explained in book/api/command_line.
    """
    for tokens, text in zip(ids, texts, strict=True):
        if len(tokens) > MAX_TOKENS:
            raise ValueError(
                f"a sentence has {len(tokens)} tokens, the limit is {MAX_TOKENS}: split {text[:40]!r}…"
            )


def translate(
    run: Run, sentences: Sequence[str], *, beam: int = 1, batch_size: int = 64
) -> list[Translation]:
    """Translate text, in batches of sentences of similar length.

    Args:
        run: a trained translator.
        sentences: plain text; the translation of a sentence that is empty after normalisation is empty.
        beam: number of hypotheses in beam search; 1 is greedy search.
        batch_size: sentences per batch.

    Returns:
        One translation per sentence, in the same order; no translation has a line break.

    Raises:
        ValueError: a beam below 1, or a sentence of more than ``MAX_TOKENS`` subwords.

    Explained in book/api/command_line.
    """
    return [best[0] for best in n_best(run, sentences, beam=beam, batch_size=batch_size)]


def n_best(run: Run, sentences: Sequence[str], *, beam: int, batch_size: int = 64) -> list[list[Translation]]:
    """The ``beam`` best translations of each sentence, the best first.

    Their tokens all differ. The text of two may be the same, since subwords can spell a word in several ways.
    Arguments as for :func:`translate`.

    Explained in book/api/command_line.
    """
    device, steps = next(run.model.parameters()).device, steps_for(run.model)
    ids = run.src_vocabulary.encode([normalise(sentence, run.settings.src) for sentence in sentences])
    check_lengths(ids, sentences)
    translations = [[Translation("", [], [], None, True)]] * len(ids)
    for batch, max_len in _batches(ids, batch_size):
        src = [ids[row] for row in batch]
        padded, src_lens = pad_ids(src).to(device), tensor([len(row_ids) for row_ids in src], device=device)
        if beam == 1:
            hypotheses = greedy(run.model, padded, src_lens, max_len=max_len, steps=steps)
            best = [[hypothesis] for hypothesis in hypotheses]
        else:
            best = beam_search(run.model, padded, src_lens, beam=beam, max_len=max_len, steps=steps)
        for row, row_ids, hypotheses in zip(batch, src, best, strict=True):
            src_tokens = run.src_vocabulary.tokens(row_ids)
            translations[row] = [_translation(run, src_tokens, hypothesis) for hypothesis in hypotheses]
    return translations


def _batches(ids: Sequence[Sequence[int]], batch_size: int) -> Iterator[tuple[list[int], int]]:
    """Batches of sentences of similar length, as row numbers, and the length limit of their translations.

    The limit of a sentence depends on its length alone, so that its translation does not depend on its batch. It is at
    least 2 n + 10 for n tokens, which no translation in training needs, and grows at powers of 2.
    """

    def limit(row: int) -> int:
        return 2 * 2 ** (len(ids[row]) - 1).bit_length() + 10

    rows = sorted((row for row in range(len(ids)) if ids[row]), key=lambda row: len(ids[row]))
    for max_len, group in groupby(rows, key=limit):
        same_limit = list(group)
        for start in range(0, len(same_limit), batch_size):
            yield same_limit[start : start + batch_size], max_len


def _translation(run: Run, src_tokens: list[str], hypothesis: Hypothesis) -> Translation:
    return Translation(
        " ".join(run.tgt_vocabulary.decode(hypothesis.tokens).split()),
        src_tokens,
        run.tgt_vocabulary.tokens(hypothesis.tokens) + ["<eos>"] * hypothesis.finished,
        None if hypothesis.weights is None else hypothesis.weights.cpu(),
        hypothesis.finished,
        hypothesis.score(),
    )


#: Largest source lengths of the buckets of an evaluation, in words or Chinese characters.
LENGTHS = (5, 10, 15, 20)
#: Bootstrap resamples for the confidence intervals.
RESAMPLES = 500


class Evaluation(NamedTuple):
    """The scores of a run on its held-out sentences.

    Attributes:
        num_sentences: number of held-out sentences.
        bleu: BLEU against all references, with its interval.
        chrf: chrF against all references, with its interval.
        by_length: BLEU for each range of source lengths.
        empty: share of the translations that are empty.
        cut_off: share of the translations that the length limit cut off.
        examples: source, translation and references of each sentence, in the order of the run.
    """

    num_sentences: int
    bleu: Score
    chrf: Score
    by_length: list[Bucket]
    empty: float
    cut_off: float
    examples: list[tuple[str, str, tuple[str, ...]]]

    def to_json(self) -> str:
        """The evaluation as a JSON object."""
        buckets = [
            {
                "low": bucket.low,
                "high": None if math.isinf(bucket.high) else bucket.high,
                "num_sentences": bucket.num_sentences,
                "bleu": bucket.score._asdict(),
            }
            for bucket in self.by_length
        ]
        scores = {"bleu": self.bleu._asdict(), "chrf": self.chrf._asdict(), "by_length": buckets}
        translations = [
            {"source": source, "translation": text, "references": references}
            for source, text, references in self.examples
        ]
        shares = {"empty": self.empty, "cut_off": self.cut_off}
        result = {"num_sentences": self.num_sentences} | scores | shares | {"translations": translations}
        return json.dumps(result, ensure_ascii=False, indent=1)


def evaluate_run(run: Run, *, beam: int = 1, folder: str | Path | None = None) -> Evaluation:
    """Translate the held-out sentences of a run and score them against all their references.

    Args:
        beam: as for :func:`translate`.
        folder: where to write the result, as ``evaluation.json``; None does not write it.

    Raises:
        ValueError: a run without test sentences, or a beam below 1.

    Explained in book/api/command_line.
    """
    sources = [example.source for example in run.test]
    references = [example.references for example in run.test]
    translations = translate(run, sources, beam=beam)
    texts = [translation.text for translation in translations]
    lang = run.settings.tgt
    score = {"lang": lang, "resamples": RESAMPLES}
    lengths = [len(tokenise(normalise(source, run.settings.src), run.settings.src)) for source in sources]
    result = Evaluation(
        num_sentences=len(texts),
        bleu=bleu(texts, references, **score),
        chrf=chrf(texts, references, resamples=RESAMPLES),
        by_length=bleu_by_length(texts, references, lengths, edges=LENGTHS, **score),
        empty=texts.count("") / len(texts),
        cut_off=sum(not translation.finished for translation in translations) / len(texts),
        examples=list(zip(sources, texts, references, strict=True)),
    )
    if folder is not None:
        write_atomically(Path(folder) / "evaluation.json", result.to_json().encode())
    return result
