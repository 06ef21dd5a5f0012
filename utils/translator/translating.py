"""Translate text with a trained run, and measure the run on its held-out sentences.

The search is in ``utils.search``, the measures are in ``utils.metrics`` and ``scores``.
Explained in book/api/command_line_results.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from jaxtyping import Float
from torch import Tensor, tensor

from utils.corpus.batches import pad_ids
from utils.corpus.pairs import MAX_CHARACTERS, choose_languages, normalise, read_pairs, tokenise
from utils.corpus.splits import Example, examples_of
from utils.metrics import Bucket, Score, bleu, bleu_by_length, chrf
from utils.search import Hypothesis, beam_search, greedy
from utils.translator.checkpoints import digest, write_atomically
from utils.translator.data import Notify, show_pairs, silent
from utils.translator.folders import EVALUATION, complete
from utils.translator.options import MAX_BEAM
from utils.translator.runs import Run
from utils.translator.scores import Difference, paired_bootstrap


class Translation(NamedTuple):
    """A translated sentence.

    Attributes:
        text: the translation.
        src_tokens: the source tokens.
        tgt_tokens: the target tokens, with the end of sentence if it was reached.
        weights: attention weights, one row per target token and one column per source token; None for an empty source
            and for a model without attention.
        finished: False if the length limit of :func:`translate` cut the translation off.
        score: mean log-probability (natural) per target token; 0 for an empty source.
    """

    text: str
    src_tokens: list[str]
    tgt_tokens: list[str]
    weights: Float[Tensor, "tgt src"] | None
    finished: bool
    score: float = 0.0


#: The options of a search, as :func:`translate` takes them, with their defaults.
SEARCH = {"beam": 1, "length_penalty": 1.0, "no_repeat_ngram": 0}
#: Largest number of subwords in a sentence to translate or align: the weights grow with the product of two lengths.
MAX_TOKENS = 1000
#: Largest number of attention weights in a batch of a search: sentences, hypotheses, steps and subwords multiplied.
MAX_WEIGHTS = 2**26


def check_sizes(texts: Sequence[str], ids: Sequence[Sequence[int]] | None = None) -> None:
    """Raise an error for a sentence that would fill the memory: before it is cut into tokens, and with its tokens.

    Args:
        texts: sentences, of at most ``MAX_CHARACTERS`` characters.
        ids: their tokens, at most ``MAX_TOKENS`` each.

    Raises:
        ValueError: with the length and the first words of the first sentence that is too long.
    """
    unit, limit = ("characters", MAX_CHARACTERS) if ids is None else ("tokens", MAX_TOKENS)
    for text, parts in zip(texts, texts if ids is None else ids, strict=True):
        if len(parts) > limit:
            raise ValueError(
                f"a sentence has {len(parts)} {unit}, the limit is {limit}: split {text[:40]!r}…"
            )


def source_ids(run: Run, sentences: Sequence[str]) -> list[list[int]]:
    """The token ids of plain text, which is normalised first and, for a vocabulary of words, cut into words."""
    lang = run.settings.src
    texts = [normalise(sentence, lang) for sentence in sentences]
    if run.src_vocabulary.of_words:
        return run.src_vocabulary.encode([tokenise(text, lang) for text in texts])
    return run.src_vocabulary.encode(texts)


def translate(
    run: Run,
    sentences: Sequence[str],
    *,
    beam: int = 1,
    length_penalty: float = 1.0,
    no_repeat_ngram: int = 0,
    batch_size: int = 64,
) -> list[Translation]:
    """Translate text, in batches of sentences of similar length.

    A translation has at most twice as many tokens as its source, rounded up to a power of 2, and 10 more. At this
    limit the end is not forced: the translation is cut off, and ``finished`` is False.

    Args:
        run: a trained translator.
        sentences: plain text; the translation of a sentence that is empty after normalisation is empty.
        beam: number of hypotheses in beam search; 1 is greedy search.
        length_penalty: as for :func:`utils.search.beam_search`; it does not change greedy search.
        no_repeat_ngram: as for :func:`utils.search.greedy`.
        batch_size: sentences per batch.

    Returns:
        One translation per sentence, in the same order; no translation has a line break.

    Raises:
        ValueError: a beam below 1 or above ``MAX_BEAM``, a number below its least one, or a sentence of more than
            ``MAX_TOKENS`` subwords.
    """
    search = {"beam": beam, "length_penalty": length_penalty, "no_repeat_ngram": no_repeat_ngram}
    return [best[0] for best in n_best(run, sentences, **search, batch_size=batch_size)]


def n_best(
    run: Run,
    sentences: Sequence[str],
    *,
    beam: int,
    length_penalty: float = 1.0,
    no_repeat_ngram: int = 0,
    batch_size: int = 64,
    keep_weights: bool = True,
) -> list[list[Translation]]:
    """The ``beam`` best translations of each sentence, in the order of :func:`utils.search.beam_search`.

    Their tokens all differ. The text of two may be the same, since subwords can spell a word in several ways.
    Arguments as for :func:`translate`.

    Args:
        keep_weights: if False, the translations come without their attention weights, which take the most memory.
    """
    if not 1 <= beam <= MAX_BEAM:
        raise ValueError(f"beam must be from 1 to {MAX_BEAM}, got {beam}")
    check_sizes(sentences)
    device = next(run.model.parameters()).device
    options = {"no_repeat_ngram": no_repeat_ngram}
    ids = source_ids(run, sentences)
    check_sizes(sentences, ids)
    translations = [[Translation("", [], [], None, True)]] * len(ids)
    for batch, max_len in _batches(ids, batch_size, beam):
        src = [ids[row] for row in batch]
        padded, src_lens = pad_ids(src).to(device), tensor([len(row_ids) for row_ids in src], device=device)
        if beam == 1:
            hypotheses = greedy(run.model, padded, src_lens, max_len=max_len, **options)
            best = [[hypothesis] for hypothesis in hypotheses]
        else:
            options["length_penalty"] = length_penalty
            best = beam_search(run.model, padded, src_lens, beam=beam, max_len=max_len, **options)
        for row, row_ids, hypotheses in zip(batch, src, best, strict=True):
            src_tokens = run.src_vocabulary.tokens(row_ids)
            translations[row] = [
                _translation(run, src_tokens, hypothesis, keep_weights=keep_weights)
                for hypothesis in hypotheses
            ]
    return translations


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


#: Largest source lengths of the buckets of an evaluation, in words or Chinese characters.
LENGTHS = (5, 10, 15, 20)
#: Bootstrap resamples for the confidence intervals.
RESAMPLES = 500


class Evaluation(NamedTuple):
    """The scores of a run on sentences that it was not trained on.

    Attributes:
        num_sentences: number of sentences.
        bleu: BLEU against all references without regard to case, with its interval.
        cased_bleu: the same where case counts.
        chrf: chrF against all references, with its interval.
        by_length: BLEU for each range of source lengths.
        empty: share of the translations that are empty.
        cut_off: share of the translations that the length limit cut off.
        examples: source, translation and references of each sentence, in the order of the run.
        of: what the scores belong to: "weights" and "test" are digests, and the others are the options of the search.
    """

    num_sentences: int
    bleu: Score
    cased_bleu: Score
    chrf: Score
    by_length: list[Bucket]
    empty: float
    cut_off: float
    examples: list[tuple[str, str, tuple[str, ...]]]
    of: dict[str, str | float]

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
        scores = {name: getattr(self, name)._asdict() for name in ("bleu", "cased_bleu", "chrf")}
        result = {
            "of": self.of,
            "num_sentences": self.num_sentences,
            **scores,
            "by_length": buckets,
            "empty": self.empty,
            "cut_off": self.cut_off,
            "translations": [
                {"source": source, "translation": text, "references": references}
                for source, text, references in self.examples
            ],
        }
        return json.dumps(result, ensure_ascii=False, indent=1)

    def save(self, folder: str | Path) -> None:
        """Write the evaluation into the folder of its run, as ``evaluation.json``."""
        write_atomically(Path(folder) / EVALUATION, self.to_json().encode())


def belongs_to(run: Run, test: Sequence[Example], search: Mapping[str, float]) -> dict[str, str | float]:
    """The weights, sentences and search of an evaluation, by which it can be told apart from others."""
    sentences = json.dumps(test, ensure_ascii=False).encode()
    weights = digest((), run.model.state_dict())
    return {"weights": weights, "test": hashlib.sha256(sentences).hexdigest()} | SEARCH | dict(search)


def examples_in(
    run: Run, path: str | Path, columns: Sequence[str] | None = None, *, notify: Notify = silent
) -> list[Example]:
    """All pairs of a file to measure a run on: each source once, with all its translations.

    Args:
        columns: languages of the file's columns; None for source, target.
        notify: gets messages that show some pairs and warn of what is odd in them.

    Raises:
        FileNotFoundError, ValueError: as :func:`utils.corpus.pairs.read_pairs`.
    """
    src, tgt = run.settings.src, run.settings.tgt
    columns, src, tgt = choose_languages(columns, src, tgt)
    file = read_pairs(path, columns)
    pairs = file.between(src, tgt)
    show_pairs(file.columns, file.rows[0], (src, tgt), pairs, notify)
    return examples_of(pairs)


def evaluate_run(run: Run, *, test: Sequence[Example] | None = None, **search: Any) -> Evaluation:
    """Translate the held-out sentences of a run and score them against all their references.

    Args:
        test: other sentences to measure it on; None for those of the run.
        search: ``beam``, ``length_penalty`` and ``no_repeat_ngram`` of :func:`translate`.

    Raises:
        ValueError: no test sentences, or as for :func:`translate`.
    """
    test = run.test if test is None else test
    if not test:
        raise ValueError("the run has no test sentences (--test-groups 0): name a file of pairs with --on")
    sources = [example.source for example in test]
    references = [example.references for example in test]
    translations = translate(run, sources, **search)
    texts = [translation.text for translation in translations]
    lang = run.settings.tgt
    score = {"lang": lang, "resamples": RESAMPLES}
    lengths = [len(tokenise(normalise(source, run.settings.src), run.settings.src)) for source in sources]
    return Evaluation(
        num_sentences=len(texts),
        bleu=bleu(texts, references, **score),
        cased_bleu=bleu(texts, references, lowercase=False, **score),
        chrf=chrf(texts, references, resamples=RESAMPLES),
        by_length=bleu_by_length(texts, references, lengths, edges=LENGTHS, **score),
        empty=texts.count("") / len(texts),
        cut_off=sum(not translation.finished for translation in translations) / len(texts),
        examples=list(zip(sources, texts, references, strict=True)),
        of=belongs_to(run, test, search),
    )


def stored_evaluation(folder: str | Path, run: Run) -> dict | None:
    """The evaluation that lies in a run's folder, as JSON; None if there is none.

    Raises:
        ValueError: it is damaged, or it belongs to other weights or test sentences.
    """
    path = complete(folder) / EVALUATION
    if not path.is_file():
        return None
    try:
        evaluation = json.loads(path.read_bytes())
        # An evaluation that an earlier version wrote names the beam alone.
        of = evaluation["of"] = SEARCH | evaluation.get("of", {})
    except (ValueError, AttributeError, TypeError) as error:
        raise ValueError(f"{path} is damaged: run evaluate again") from error
    if of != belongs_to(run, run.test, {name: of[name] for name in SEARCH}):
        raise ValueError(f"{path} belongs to another run or version of this course: run evaluate again")
    return evaluation


def compare_runs(
    first: Run, second: Run, *, test: Sequence[Example] | None = None, **search: Any
) -> tuple[int, Difference, Difference]:
    """Translate the same sentences with two runs, and test whether one is better.

    Args:
        test: the sentences; None for the test sentences of the runs.
        search: as for :func:`evaluate_run`.

    Returns:
        The number of sentences, and BLEU and chrF of both with the probability that their difference is chance.

    Raises:
        ValueError: runs for other languages, no sentences, or without ``test`` runs with other test sentences.
    """
    languages = [(run.settings.src, run.settings.tgt) for run in (first, second)]
    if languages[0] != languages[1]:
        pairs = " and ".join(f"{src}-{tgt}" for src, tgt in languages)
        raise ValueError(f"both runs must translate between the same languages, got {pairs}")
    if test is None and first.test != second.test:
        raise ValueError(
            "the runs have other test sentences: name a file of pairs with --on that neither was trained on"
        )
    test = first.test if test is None else test
    if not test:
        raise ValueError("the runs have no test sentences (--test-groups 0): name a file of pairs with --on")
    sources, references = [example.source for example in test], [example.references for example in test]
    systems = [
        [translation.text for translation in translate(run, sources, **search)] for run in (first, second)
    ]
    return len(test), *paired_bootstrap(*systems, references, lang=first.settings.tgt)
