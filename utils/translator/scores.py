"""Scores that only the command line needs: links scored against gold links, a note on tokenizers.

The measures that the chapters explain are in ``utils.metrics``; this module counts with them and needs no model.
Explained in book/api/command_line_results.
"""

from collections.abc import Sequence
from typing import NamedTuple

from utils.corpus.languages import name, primary
from utils.metrics import Links, alignment_error_rate, bleu_tokenizer


def tokenizer_note(lang: str) -> str | None:
    """A note on the tokenizer of a language, for readers of its BLEU score; None if there is nothing to say.

    >>> tokenizer_note("fr"), tokenizer_note("th")
    (None, 'sacrebleu has no tokenizer for Thai, so BLEU counts characters')
    """
    lang, language, tokenizer = primary(lang), name(lang), bleu_tokenizer(lang)
    if lang in ("ja", "ko") and tokenizer != f"{lang}-mecab":
        note = f"the tokenizer of sacrebleu for {language} is not installed (pip install 'sacrebleu[{lang}]')"
        return f"{note}, so BLEU uses the tokenizer {tokenizer}"
    if tokenizer == "char":
        return f"sacrebleu has no tokenizer for {language}, so BLEU counts characters"
    if language is None:
        return f"{lang} is not a known language code, so BLEU cuts the text into words at blanks"
    return None


class GoldLinks(NamedTuple):
    """The links of one sentence: those that the annotator was sure of, and all that are possible."""

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]

    def swapped(self) -> "GoldLinks":
        """The same links with the two languages exchanged."""
        return GoldLinks(*(frozenset((j, i) for i, j in links) for links in self))


class AlignmentScore(NamedTuple):
    """Scores of predicted links against gold links.

    Attributes:
        aer: the error rate, as of :func:`utils.metrics.alignment_error_rate`.
        precision: share of the predicted links that are possible; 1 if no link is predicted.
        recall: share of the sure links that are predicted; 1 if no link is sure.
        num_links: number of predicted links.
    """

    aer: float
    precision: float
    recall: float
    num_links: int


def alignment_score(predicted: Sequence[Links], gold: Sequence[GoldLinks]) -> AlignmentScore:
    r"""Error rate, precision and recall of predicted links over all sentences together.

    .. math::
        \mathrm{precision} &= |A \cap P| \,/\, |A| \\
        \mathrm{recall} &= |A \cap S| \,/\, |S|

    Args:
        predicted: for each sentence the links A to score.
        gold: for each sentence the sure links S and all possible ones P.

    Raises:
        ValueError: as :func:`utils.metrics.alignment_error_rate`.

    Source: Och and Ney (2003), section 5.
    """
    aer = alignment_error_rate(predicted, [links.sure for links in gold], [links.possible for links in gold])
    pairs = [(frozenset(links), gold_links) for links, gold_links in zip(predicted, gold, strict=True)]
    num_links, num_sure = sum(len(a) for a, _ in pairs), sum(len(gold_links.sure) for gold_links in gold)
    num_possible = sum(len(a & (gold_links.possible | gold_links.sure)) for a, gold_links in pairs)
    num_recalled = sum(len(a & gold_links.sure) for a, gold_links in pairs)
    precision = num_possible / num_links if num_links else 1.0
    recall = num_recalled / num_sure if num_sure else 1.0
    return AlignmentScore(aer, precision, recall, num_links)
