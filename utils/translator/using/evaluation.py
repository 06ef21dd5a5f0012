"""Measure a trained run on sentences that it was not trained on.

The measures are in ``utils.metrics``, the command ``evaluate`` in ``commands.evaluate``.
Explained in book/your_translator.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from utils.checks import check_list
from utils.corpus.languages import name, primary
from utils.corpus.pairs import choose_languages, normalise, read_pairs, tokenise
from utils.corpus.splits import Example, examples_of
from utils.corpus.whole_files import write_whole
from utils.errors import CourseError
from utils.metrics import Bucket, Score, bleu, bleu_by_length, bleu_tokenizer, chrf
from utils.translator.options import GREEDY, Search
from utils.translator.runs import EVALUATION, Run, digest
from utils.translator.training.data import Notify, show_pairs, silent
from utils.translator.using.translating import translate_sentences

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

    def save(self, folder: str | Path) -> None:
        """Write the evaluation into the folder of its run, as ``evaluation.json``."""
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
        write_whole(Path(folder) / EVALUATION, json.dumps(result, ensure_ascii=False, indent=1))


def digests(run: Run, test: Sequence[Example]) -> dict[str, str]:
    """The SHA-256 of the weights of a run and of its test sentences, by which evaluations can be told apart."""
    sentences = json.dumps(test, ensure_ascii=False).encode()
    weights = digest((), run.model.state_dict())
    return {"weights": weights, "test": hashlib.sha256(sentences).hexdigest()}


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


def evaluate_run(run: Run, search: Search = GREEDY, *, test: Sequence[Example] | None = None) -> Evaluation:
    """Translate the held-out sentences of a run and score them against all their references.

    Args:
        search: by default greedy search.
        test: other sentences to measure it on; None for those of the run.

    Raises:
        ValueError: no test sentences, or as for :func:`utils.translator.using.translating.translate_sentences`.
    """
    check_list(test=test)
    test = run.test if test is None else test
    if not test:
        raise CourseError("the run has no test sentences: name a file of pairs with --on")
    sources = [example.source for example in test]
    references = [example.references for example in test]
    translations = translate_sentences(run, sources, search)
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
        of=digests(run, test) | asdict(search),
    )


def stored_evaluation(folder: str | Path, run: Run) -> dict | None:
    """The evaluation that lies in a run's folder, as JSON; None if there is none.

    Raises:
        ValueError: it is damaged, or it belongs to other weights or test sentences.
    """
    path = Path(folder) / EVALUATION
    if not path.is_file():
        return None
    try:
        evaluation = json.loads(path.read_bytes())
        measured = {name: evaluation["of"][name] for name in ("weights", "test")}
    except (ValueError, KeyError, TypeError) as error:
        raise CourseError(f"{path} is damaged: run evaluate again") from error
    if measured != digests(run, run.test):
        raise CourseError(f"{path} belongs to another run: run evaluate again")
    return evaluation


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
