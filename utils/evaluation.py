"""Measuring translations and alignments, and the use of a trained run on text.

Scores come from `sacrebleu`, whose signature says how they were counted.
Explained in chapters/bahdanau_decoder.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import _bootstrap_resample, estimate_ci
from torch import Tensor, tensor

from utils.checkpoints import write_atomically
from utils.corpus.batches import pad_ids
from utils.corpus.pairs import find_file, normalise, tokenise
from utils.runs import Run
from utils.search import Hypothesis, beam_search, greedy

Links = Iterable[tuple[int, int]]
References = Sequence[Sequence[str]]


class Score(NamedTuple):
    """A score from 0 to 100.

    Attributes:
        value: of the whole corpus.
        signature: sacrebleu's, its settings and version.
        interval: 95 % of the scores of corpora drawn, with repetition, from these sentences; None where not asked
            for.
    """

    value: float
    signature: str
    interval: tuple[float, float] | None = None


def bleu(
    hypotheses: Sequence[str],
    references: References,
    *,
    lang: str = "en",
    lowercase: bool = True,
    resamples: int = 0,
) -> Score:
    r"""Corpus BLEU: the geometric mean of the precisions of 1- to 4-grams, times a penalty for brevity.

    .. math:: \mathrm{BLEU} = \min(1, e^{1 - r/c}) \Big( \prod_{n=1}^{4} p_n \Big)^{1/4}

    Args:
        hypotheses: one translation a sentence.
        references: for each sentence its accepted translations, one at least; some may have more than others.
        lang: language of the text, which settles how words are counted: "zh" by characters, others as "13a".
        lowercase: take no account of case.
        resamples: corpora to draw for the interval; none for 0. A few hundred settle it to a tenth.

    Raises:
        ValueError: no hypothesis, not as many lists of references, or a list without any.

    >>> round(bleu(["a cat sat on the mat"], [["a dog", "a cat sat on the mat"]]).value)
    100

    Source: Papineni et al. (2002); Post (2018). Explained in chapters/bahdanau_decoder.
    """
    metric = BLEU(lowercase=lowercase, tokenize="zh" if lang == "zh" else "13a")
    return _corpus_score(metric, hypotheses, references, resamples)


def chrf(
    hypotheses: Sequence[str], references: References, *, lowercase: bool = True, resamples: int = 0
) -> Score:
    """Corpus chrF: the F-score, recall weighing twice, of n-grams of 1 to 6 characters.

    It needs no words, so Chinese and European languages are treated alike. Arguments as for :func:`bleu`.

    >>> round(chrf(["abc def"], [["abc def"]]).value)
    100

    Source: Popović (2015). Explained in book/api/command_line.
    """
    return _corpus_score(CHRF(lowercase=lowercase), hypotheses, references, resamples)


def _corpus_score(
    metric: BLEU | CHRF, hypotheses: Sequence[str], references: References, resamples: int
) -> Score:
    if not hypotheses:
        raise ValueError("hypotheses are empty: there is nothing to score")
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} hypotheses with references for {len(references)} sentences")
    for row, accepted in enumerate(references):
        if isinstance(accepted, str) or not accepted:
            raise ValueError(f"references[{row}] must be a list of at least one text, got {accepted!r}")
    # The library wants a stream a reference, None where a sentence has no more of them.
    streams = [
        [accepted[i] if i < len(accepted) else None for accepted in references]
        for i in range(max(map(len, references)))
    ]
    score = Score(metric.corpus_score(list(hypotheses), streams).score, str(metric.get_signature()))
    if not resamples:
        return score
    # The steps that corpus_score takes for an interval; its last one fails where some drawn corpus scores exactly 0.
    statistics = metric._extract_corpus_statistics(list(hypotheses), streams)
    _, drawn = _bootstrap_resample(statistics, metric, resamples)
    mean, half = estimate_ci(np.array([float(one.score) for one in drawn]))
    # Symmetric about the mean, so of few and bad translations it could reach below what a score can be.
    return score._replace(interval=(max(0.0, float(mean - half)), float(mean + half)))


class Bucket(NamedTuple):
    """The score of the sentences whose source has ``low`` to ``high`` words."""

    low: int
    high: float
    num_sentences: int
    score: Score


def bleu_by_length(
    hypotheses: Sequence[str],
    references: References,
    lengths: Sequence[int],
    *,
    edges: Sequence[int] = (10, 20, 30, 40, 50),
    lang: str = "en",
    lowercase: bool = True,
    resamples: int = 0,
) -> list[Bucket]:
    """BLEU of short and of long sentences apart.

    Args:
        lengths: words of each source sentence.
        edges: the longest length of each bucket, ascending; a last bucket takes what is longer.
        resamples: as for :func:`bleu`.

    Returns:
        The buckets that hold a sentence, short ones first.

    Raises:
        ValueError: edges that do not ascend, not as many lengths as hypotheses, or as for :func:`bleu`.

    """
    if list(edges) != sorted(set(edges)):
        raise ValueError(f"edges must ascend, got {list(edges)}")
    if not len(lengths) == len(hypotheses) == len(references):
        raise ValueError(
            f"as many hypotheses, references and lengths are wanted, "
            f"got {len(hypotheses)}, {len(references)} and {len(lengths)}"
        )
    buckets = []
    for below, high in zip([-1, *edges], [*edges, math.inf], strict=True):
        rows = [row for row, length in enumerate(lengths) if below < length <= high]
        if rows:
            score = bleu(
                [hypotheses[row] for row in rows],
                [references[row] for row in rows],
                lang=lang,
                lowercase=lowercase,
                resamples=resamples,
            )
            buckets.append(Bucket(below + 1, high, len(rows), score))
    return buckets


def alignment_error_rate(
    predicted: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links] | None = None
) -> float:
    r"""Alignment error rate over all sentences together, from 0 (right) to 1.

    .. math:: \mathrm{AER} = 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|}

    Args:
        predicted: for each sentence the links A to judge, pairs (position in one language, in the other).
        sure: for each sentence the links S that must be there.
        possible: for each sentence the links that may be there; sure ones are counted among P, said or not.

    Raises:
        ValueError: not as many sentences in each, or no link at all.

    >>> alignment_error_rate([{(0, 0), (1, 1)}], [{(0, 0)}], [{(1, 2)}])  # 1 - (1 + 1) / (2 + 1)
    0.33333333333333337

    Source: Och and Ney (2003), section 6. Explained in chapters/bahdanau_decoder.
    """
    possible = [()] * len(sure) if possible is None else possible
    if not len(predicted) == len(sure) == len(possible):
        raise ValueError(
            "predicted, sure and possible must have a sentence each, "
            f"got {len(predicted)}, {len(sure)} and {len(possible)} sentences"
        )
    agreed = wanted = 0
    for a, s, p in zip(map(set, predicted), map(set, sure), map(set, possible), strict=True):
        agreed += len(a & s) + len(a & (p | s))
        wanted += len(a) + len(s)
    if not wanted:
        raise ValueError("predicted and sure hold no link: the error rate is not defined")
    return 1 - agreed / wanted


class AlignmentScore(NamedTuple):
    """What predicted links are worth against gold ones. Explained in book/api/command_line.

    Attributes:
        aer: the error rate, of :func:`alignment_error_rate`, from 0 to 1 as the others.
        precision: share of the predicted links that are possible; 1 where nothing is predicted.
        recall: share of the sure links that are predicted; 1 where none is sure.
        num_links: how many links are predicted.
    """

    aer: float
    precision: float
    recall: float
    num_links: int


def alignment_score(predicted: Sequence[Links], gold: Sequence["GoldLinks"]) -> AlignmentScore:
    r"""Error rate, precision and recall of predicted links over all sentences together.

    .. math:: \mathrm{precision} = \frac{|A \cap P|}{|A|}, \qquad \mathrm{recall} = \frac{|A \cap S|}{|S|}

    Args:
        predicted: for each sentence the links A to judge.
        gold: for each sentence the sure links S and all possible ones P.

    Raises:
        ValueError: as :func:`alignment_error_rate`.

    Source: Och and Ney (2003), section 6. Explained in book/api/command_line.
    """
    aer = alignment_error_rate(predicted, [links.sure for links in gold], [links.possible for links in gold])
    found = [frozenset(links) for links in predicted]
    num_links, num_sure = sum(map(len, found)), sum(len(links.sure) for links in gold)
    right = sum(len(a & (links.possible | links.sure)) for a, links in zip(found, gold, strict=True))
    recalled = sum(len(a & links.sure) for a, links in zip(found, gold, strict=True))
    return AlignmentScore(
        aer, right / num_links if num_links else 1.0, recalled / num_sure if num_sure else 1.0, num_links
    )


class GoldLinks(NamedTuple):
    """The links of one sentence that an annotator was sure of, and all that are possible."""

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]

    def turned(self) -> "GoldLinks":
        """The same links with the two languages in the other order."""
        return GoldLinks(*(frozenset((j, i) for i, j in links) for links in self))


def format_links(links: Links) -> str:
    """Links as alignment files have them, counted from 0, in order.

    >>> format_links({(1, 0), (0, 1)})
    '0-1 1-0'

    Explained in book/api/command_line.
    """
    return " ".join(f"{i}-{j}" for i, j in sorted(links))


def parse_links(line: str, *, first: int = 0) -> GoldLinks:
    """Read the links of a sentence as alignment files have them: "0-1" sure, "2p3" possible.

    Args:
        first: the number that the file gives to the first word, 0 or 1; what is returned counts from 0.

    Raises:
        ValueError: a link of another form, or one before the first word.

    >>> parse_links("1-1 2p1", first=1).sure
    frozenset({(0, 0)})
    """
    sure, possible = set(), set()
    for text in line.split():
        match = re.fullmatch(r"(\d+)([-p])(\d+)", text)
        if match is None or min(int(match[1]), int(match[3])) < first:
            raise ValueError(f"a link must look like {first}-{first} or {first}p{first}, got {text!r}")
        link = (int(match[1]) - first, int(match[3]) - first)
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return GoldLinks(frozenset(sure), frozenset(possible))


def read_gold(path: str | Path, sizes: Sequence[tuple[int, int]], *, first: int = 0) -> list[GoldLinks]:
    """Read a file of links, a line a sentence pair, as :func:`parse_links` does, and see that they fit the pairs.

    Args:
        path: the file, or its path within the data folder.
        sizes: words of each sentence pair, in the order in which the file counts them.
        first: the number that the file gives to the first word, 0 or 1.

    Raises:
        FileNotFoundError: no such file.
        ValueError: not a line for each pair, a link of another form, or one behind the last word, as in a file that
            counts from 1 and is read as if from 0; it names the line.

    Explained in book/api/command_line.
    """
    path = find_file(path)
    lines = path.read_text("utf-8").splitlines()
    if len(lines) != len(sizes):
        raise ValueError(f"{path} has {len(lines)} lines for {len(sizes)} sentence pairs")
    gold = []
    for number, (line, (num_first, num_second)) in enumerate(zip(lines, sizes, strict=True), start=1):
        try:
            links = parse_links(line, first=first)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from error
        for i, j in sorted(links.possible):
            if i >= num_first or j >= num_second:
                raise ValueError(
                    f"{path}, line {number}: the link of words {i + first} and {j + first} does not fit sentences of "
                    f"{num_first} and {num_second} words that are counted from {first}"
                )
        gold.append(links)
    return gold


def links_from_weights(
    weights: Float[Tensor, "tgt src"], *, num_tgt: int | None = None
) -> frozenset[tuple[int, int]]:
    """Link each target word with the source word that it attends to most.

    Args:
        weights: attention weights, row i the step that writes target word i.
        num_tgt: target words; further rows, that of the end of sentence, are left out. None takes all rows.

    Returns:
        Pairs (source position, target position), one a target word.

    >>> import torch
    >>> sorted(links_from_weights(torch.tensor([[0.1, 0.9], [0.8, 0.2], [0.5, 0.5]]), num_tgt=2))
    [(0, 1), (1, 0)]

    Explained in chapters/bahdanau_decoder.
    """
    return frozenset((i, j) for j, i in enumerate(weights[:num_tgt].argmax(dim=1).tolist()))


def diagonal_links(num_src: int, num_tgt: int) -> frozenset[tuple[int, int]]:
    """The baseline that reads nothing: a target word is linked with the source word as far along as itself.

    The middle of target word j lies (j + ½) / num_tgt of the way along; it falls within one source word.

    >>> sorted(diagonal_links(2, 4))
    [(0, 0), (0, 1), (1, 2), (1, 3)]

    Explained in chapters/bahdanau_decoder.
    """
    return frozenset(((2 * j + 1) * num_src // (2 * num_tgt), j) for j in range(num_tgt))


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
