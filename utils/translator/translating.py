"""Translating text with a trained run, and measuring the run on its held-out sentences.

The search itself is in ``utils.search``, the scores are in ``utils.metrics``.
Explained in book/api/command_line.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor, tensor

from utils.corpus.batches import pad_ids
from utils.corpus.pairs import normalise, tokenise
from utils.metrics import Bucket, Score, bleu, bleu_by_length, chrf
from utils.search import Hypothesis, beam_search, greedy
from utils.translator.checkpoints import write_atomically
from utils.translator.runs import Run


class Translation(NamedTuple):
    """A translated sentence.

    Attributes:
        text: the translation.
        src_tokens: the tokens read.
        tgt_tokens: the tokens written, the end of sentence among them if it was reached.
        weights: attention weights, a row a token written, a column a token read; None where nothing was read.
        finished: False where the length limit cut the translation off.
        score: mean log-probability (natural) of a token written; 0 where nothing was read.
    """

    text: str
    src_tokens: list[str]
    tgt_tokens: list[str]
    weights: Float[Tensor, "tgt src"] | None
    finished: bool
    score: float = 0.0


#: Most subwords of a sentence that is translated or aligned: its weights take the product of two lengths.
MAX_TOKENS = 1000


def check_lengths(ids: Sequence[Sequence[int]], texts: Sequence[str]) -> None:
    """Refuse a sentence of more than ``MAX_TOKENS`` tokens before it takes the memory of the machine.

    Raises:
        ValueError: tells the length of the first such sentence and how it begins.

    Explained in book/api/command_line.
    """
    for tokens, text in zip(ids, texts, strict=True):
        if len(tokens) > MAX_TOKENS:
            raise ValueError(
                f"a sentence has {len(tokens)} tokens, at most {MAX_TOKENS} are taken; split it: {text[:40]!r}…"
            )


def translate(
    run: Run, sentences: Sequence[str], *, beam: int = 1, batch_size: int = 64
) -> list[Translation]:
    """Translate text, sentences of like length together.

    Args:
        run: a trained translator.
        sentences: plain text; what is empty once normalised is translated as empty text.
        beam: hypotheses kept in beam search; with 1 the search is greedy.
        batch_size: sentences at a time.

    Returns:
        A translation a sentence, in the same order, each on one line.

    Raises:
        ValueError: a beam below 1, or a sentence of more than ``MAX_TOKENS`` subwords.

    Explained in book/api/command_line.
    """
    return [best[0] for best in n_best(run, sentences, beam=beam, batch_size=batch_size)]


def n_best(run: Run, sentences: Sequence[str], *, beam: int, batch_size: int = 64) -> list[list[Translation]]:
    """The translations that beam search keeps of each sentence, the best first.

    All differ in their tokens; two may read alike, since subwords can spell a word in several ways.
    Arguments as for :func:`translate`.

    Explained in book/api/command_line.
    """
    device = next(run.model.parameters()).device
    ids = run.src_vocabulary.encode([normalise(sentence, run.settings.src) for sentence in sentences])
    check_lengths(ids, sentences)
    translations = [[Translation("", [], [], None, True)]] * len(ids)
    rows = sorted((row for row in range(len(ids)) if ids[row]), key=lambda row: len(ids[row]))
    for start in range(0, len(rows), batch_size):
        batch = rows[start : start + batch_size]
        src = [ids[row] for row in batch]
        padded, src_lens = pad_ids(src).to(device), tensor([len(row_ids) for row_ids in src], device=device)
        # Twice as long and some more is beyond any translation seen in training.
        max_len = 2 * int(src_lens.max()) + 10
        if beam == 1:
            found = [[hypothesis] for hypothesis in greedy(run.model, padded, src_lens, max_len=max_len)]
        else:
            found = beam_search(run.model, padded, src_lens, beam=beam, max_len=max_len)
        for row, row_ids, hypotheses in zip(batch, src, found, strict=True):
            src_tokens = run.src_vocabulary.tokens(row_ids)
            translations[row] = [_translation(run, src_tokens, hypothesis) for hypothesis in hypotheses]
    return translations


def _translation(run: Run, src_tokens: list[str], hypothesis: Hypothesis) -> Translation:
    return Translation(
        " ".join(run.tgt_vocabulary.decode(hypothesis.tokens).split()),
        src_tokens,
        run.tgt_vocabulary.tokens(hypothesis.tokens) + ["<eos>"] * hypothesis.finished,
        None if hypothesis.weights is None else hypothesis.weights.cpu(),
        hypothesis.finished,
        hypothesis.score(),
    )


#: Longest sources, in words or Chinese characters, of the buckets of an evaluation.
LENGTHS = (5, 10, 15, 20)
RESAMPLES = 500


class Evaluation(NamedTuple):
    """What a run is worth on its held-out sentences.

    Attributes:
        num_sentences: how many there are.
        bleu: against all references, with its interval.
        chrf: likewise.
        by_length: BLEU of short and long sources apart.
        empty: share of the translations that hold nothing.
        cut_off: share of the translations that did not end before the length limit.
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
        """The same as JSON, scores and examples by name."""
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
        stored = {"num_sentences": self.num_sentences} | scores | shares | {"translations": translations}
        return json.dumps(stored, ensure_ascii=False, indent=1)


def evaluate_run(run: Run, *, beam: int = 1, folder: str | Path | None = None) -> Evaluation:
    """Translate the held-out sentences of a run and score them against all their references.

    Args:
        beam: as for :func:`translate`.
        folder: where to store the result as ``evaluation.json``; nowhere where None.

    Raises:
        ValueError: a run that kept no sentences for testing, or a beam below 1.

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
