"""Measures of translations and alignments: BLEU, chrF and the alignment error rate.

They take text and links; translating and reading files live in ``translator``.
Scores come from `sacrebleu`, whose signature says how they were counted.
Explained in chapters/bahdanau_decoder.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import _bootstrap_resample, estimate_ci
from torch import Tensor

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
