"""The length study: translators with and without attention, trained on short and on longer sentences.

``PYTHONPATH=chapters python -m studies.length_study`` trains them all and stores their BLEU by sentence length, which
chapters/bahdanau_decoder draws. Models, training and scores come from other modules.
"""

import hashlib
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import count, product
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
import typer
from tqdm import tqdm

from utils.corpus.batches import ShuffledBatches, pad_ids
from utils.corpus.grammar import LONGEST, join_words, split_of, triple
from utils.corpus.pairs import find_file, read_pairs, tokenise
from utils.corpus.splits import group_split
from utils.corpus.vocabulary import Vocabulary
from utils.corpus.whole_files import write_whole
from utils.fast_training import fast_loss
from utils.metrics import bleu, bleu_by_length
from utils.search import greedy
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder, FixedContextDecoder
from utils.training import Ids, fit, seeded

#: The decoders that are compared, by their names in the results.
#:
#: :meta hide-value:
DECODERS = {"attention": BahdanauDecoder, "one vector": FixedContextDecoder}
#: Longest sentences of the buckets for BLEU; a last bucket takes all longer sentences.
EDGES = (10, 20, 30, 40, 50)
#: The corpus that needs no file.
GRAMMAR = "grammar"
#: Where the results of the whole study are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class LengthTask:
    """English sentences to train on, none longer than a limit, and to test on, many of them longer.

    Attributes:
        src_ids: English sentences of training.
        tgt_ids: their French translations.
        test_ids: English sentences of the test.
        lengths: their lengths in words.
        references: the accepted translations of each.
        src_vocabulary: the English one.
        tgt_vocabulary: the French one.
        write: turns French ids into text.
        read: turns English text into ids; in the grammar a word is what stands between blanks.
    """

    src_ids: Ids
    tgt_ids: Ids
    test_ids: Ids
    lengths: list[int]
    references: list[list[str]]
    src_vocabulary: Vocabulary
    tgt_vocabulary: Vocabulary
    write: Callable[[Sequence[int]], str]
    read: Callable[[str], list[int]]


def grammar_task(
    max_words: int,
    *,
    num_tokens: int,
    longest: int = LONGEST,
    num_test: int = 100,
    edges: Sequence[int] = EDGES,
    split: str = "test",
) -> LengthTask:
    """Sentences of the grammar corpus, their lengths spread evenly.

    Args:
        max_words: longest sentence of training, in English words.
        num_tokens: French tokens of training, the ends of the sentences included.
        longest: longest sentence of the test.
        num_test: test sentences in each bucket.
        edges: longest sentences of the buckets, as for :func:`utils.metrics.bleu_by_length`.
        split: "test", or "valid" to take the test sentences from those of validation.

    Explained in chapters/bahdanau_decoder.
    """

    def sentences(part: str, max_words: int) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        all_triples = (triple(index, max_words=max_words) for index in count())
        return ((t.en, t.fr) for t in all_triples if split_of(t.meaning) == part)

    train = _until(sentences("train", max_words), num_tokens, length=lambda pair: len(pair[1]) + 1)
    test = _spread(sentences(split, longest), num_test, [*edges, longest], length=lambda pair: len(pair[0]))
    en, fr = Vocabulary.words(en for en, _ in train), Vocabulary.words(fr for _, fr in train)
    return LengthTask(
        en.encode([en for en, _ in train]),
        fr.encode([fr for _, fr in train]),
        en.encode([en for en, _ in test]),
        [len(en) for en, _ in test],
        [[join_words(fr, "fr")] for _, fr in test],
        en,
        fr,
        lambda ids: join_words(fr.tokens(ids), "fr"),
        lambda text: en.encode([text.split()])[0],
    )


def joined_task(
    pairs: Sequence[tuple[str, str]],
    max_words: int,
    *,
    num_tokens: int,
    vocabulary_size: int = 3000,
    num_test: int = 100,
    edges: Sequence[int] = EDGES,
    longest: int = LONGEST,
    single: bool = False,
) -> LengthTask:
    """Sentences of a pair file, two to six put one after the other, so that there are long ones.

    The pairs are split first and joined then, so no sentence of the test is part of a sentence of training.

    Args:
        pairs: English and French sentences.
        max_words: longest joined sentence of training, in English words and punctuation marks.
        num_tokens: French subwords of training, the ends of the sentences included.
        vocabulary_size: subwords of each language, learned before the sentences are joined.
        num_test: test sentences in each bucket.
        edges: longest sentences of the buckets.
        longest: longest sentence of the test.
        single: draw one to six sentences, few of them more often, so that short ones are frequent.

    Raises:
        ValueError: as :func:`utils.corpus.splits.group_split`.

    Explained in chapters/bahdanau_decoder.
    """
    split = group_split(pairs, num_valid=0)
    en = Vocabulary.bpe([source for source, _ in split.train], vocabulary_size)
    fr = Vocabulary.bpe([target for _, target in split.train], vocabulary_size)

    def num_words(pair: tuple[str, str]) -> int:
        return len(tokenise(pair[0], "en"))

    def num_subwords(pair: tuple[str, str]) -> int:
        return len(fr.encode([pair[1]])[0]) + 1

    short = (pair for pair in _joined(split.train, seed=0, single=single) if num_words(pair) <= max_words)
    train = _until(short, num_tokens, length=num_subwords)
    held_out = _joined([(source, references[0]) for source, references in split.test], seed=1, single=single)
    test = _spread(held_out, num_test, [*edges, longest], length=num_words)
    return LengthTask(
        en.encode([source for source, _ in train]),
        fr.encode([target for _, target in train]),
        en.encode([source for source, _ in test]),
        [num_words(pair) for pair in test],
        [[target] for _, target in test],
        en,
        fr,
        lambda ids: " ".join(fr.decode(ids).split()),
        lambda text: en.encode([text])[0],
    )


def _joined(pairs: Sequence[tuple[str, str]], *, seed: int, single: bool) -> Iterator[tuple[str, str]]:
    """Join two to six random pairs into one, or n = 1 to 6 in proportion to 1/n, again and again without end."""
    draw = random.Random(seed)
    while True:
        if single:
            [num] = draw.choices(range(1, 7), [1 / n for n in range(1, 7)])
        else:
            num = draw.randint(2, 6)
        parts = draw.choices(pairs, k=num)
        yield " ".join(source for source, _ in parts), " ".join(target for _, target in parts)


def _until(pairs: Iterator[tuple], total: int, *, length: Callable[[tuple], int]) -> list[tuple]:
    """The first pairs, until the sum of their lengths reaches a total."""
    selection, sum_lengths = [], 0
    while sum_lengths < total:
        selection.append(next(pairs))
        sum_lengths += length(selection[-1])
    return selection


def _spread(
    pairs: Iterator[tuple], num: int, edges: Sequence[int], *, length: Callable[[tuple], int]
) -> list[tuple]:
    """The first pairs of each bucket, the same number for all buckets, the short ones first."""
    buckets: list[list[tuple]] = [[] for _ in edges]
    while min(map(len, buckets)) < num:
        pair = next(pairs)
        bucket = next((b for b, edge in zip(buckets, edges, strict=True) if length(pair) <= edge), [])
        if len(bucket) < num:
            bucket.append(pair)
    return [pair for bucket in buckets for pair in bucket]


def train(
    task: LengthTask,
    decoder: str,
    *,
    width: int = 128,
    batch_size: int = 20,
    lr: float = 3e-3,
    seed: int = 0,
    progress: bool = False,
) -> EncoderDecoder:
    """A translator that has read each sentence of the task once.

    Args:
        task: what to train on.
        decoder: a name in ``DECODERS``, the only difference between the translators.
        width: of the embeddings, of the decoder's state and of each direction of the encoder.
        batch_size: sentence pairs per step.
        lr: highest learning rate, as for :func:`utils.training.fit`.
        seed: of the initial weights and of the order of the sentences.
        progress: show a progress bar.

    Explained in chapters/bahdanau_decoder.
    """
    with seeded(seed):
        encoder = Encoder(len(task.src_vocabulary), width, width)
        num_tgt = len(task.tgt_vocabulary)
        model = EncoderDecoder(encoder, DECODERS[decoder](num_tgt, width, width, encoder.d_out))
    batches = ShuffledBatches(task.src_ids, task.tgt_ids, batch_size=batch_size, seed=seed)
    with tqdm(total=len(batches), disable=not progress, desc="training") as bar:
        options = {"loss": fast_loss, "label_smoothing": 0.0, "lr": lr, "seed": seed}
        fit(model, batches, epochs=1, **options, on_step=lambda _: bar.update())
    return model


class LengthScore(NamedTuple):
    """The scores of a translator on the test sentences of ``low`` to ``high`` English words.

    Attributes:
        low: fewest words.
        high: most words; infinity in the last bucket.
        num_sentences: number of these sentences.
        bleu: BLEU of all their translations together.
        length_ratio: words of the translations per word of the references.
        interval: as for :class:`utils.metrics.Score`.
    """

    low: int
    high: float
    num_sentences: int
    bleu: float
    length_ratio: float
    interval: tuple[float, float] | None = None


def score(
    model: EncoderDecoder, task: LengthTask, *, edges: Sequence[int] = EDGES, resamples: int = 0
) -> list[LengthScore]:
    """Translate the test sentences of a task greedily and score them by length.

    Args:
        edges: longest sentences of the buckets.
        resamples: as for :func:`utils.metrics.bleu`.

    Explained in chapters/bahdanau_decoder.
    """
    max_len = 3 * max(task.lengths)
    src_lens = torch.tensor([len(ids) for ids in task.test_ids])
    hypotheses = greedy(model, pad_ids(task.test_ids), src_lens, max_len=max_len)
    texts = [task.write(hypothesis.tokens) for hypothesis in hypotheses]
    scores = []
    options = {"edges": edges, "lang": "fr", "resamples": resamples}
    for bucket in bleu_by_length(texts, task.references, task.lengths, **options):
        rows = [row for row, length in enumerate(task.lengths) if bucket.low <= length <= bucket.high]
        num_words = sum(len(texts[row].split()) for row in rows)
        num_reference_words = sum(len(task.references[row][0].split()) for row in rows)
        ratio = num_words / num_reference_words
        scores.append(LengthScore(*bucket[:3], bucket.score.value, ratio, bucket.score.interval))
    return scores


def baseline(task: LengthTask, *, edges: Sequence[int] = EDGES) -> list[float]:
    """BLEU by length if each test sentence gets the reference of the sentence after it.

    Args:
        edges: longest sentences of the buckets.

    Explained in chapters/bahdanau_decoder.
    """
    references = [accepted[0] for accepted in task.references]
    others = references[1:] + references[:1]
    buckets = bleu_by_length(others, task.references, task.lengths, edges=edges, lang="fr")
    return [round(bucket.score.value, 2) for bucket in buckets]


#: The settings of the longer training on sentences by people; one seed.
#:
#: :meta hide-value:
LONGER = {
    "limits": (50,),
    "seeds": (0,),
    "num_tokens": 4_000_000,
    "num_test": 200,
    "batch_size": 48,
    "single": True,
    "vocabulary_size": 2000,
    "resamples": 300,
}


@dataclass(frozen=True)
class LengthSettings:
    """The settings that the trainings of a study share.

    Attributes:
        corpus: "grammar", or the path of a pair file (English, then French) whose sentences are joined.
        limits: longest sentences of training.
        seeds: a translator is trained with each.
        num_tokens: French tokens of each training, the same for all.
        num_test: test sentences in each bucket.
        width: as for :func:`train`.
        batch_size: as for :func:`train`.
        single: as for :func:`joined_task`.
        vocabulary_size: as for :func:`joined_task`.
        resamples: as for :func:`score`; without them no interval is stored.
    """

    corpus: str = GRAMMAR
    limits: tuple[int, ...] = (20, 50)
    seeds: tuple[int, ...] = (0, 1, 2)
    num_tokens: int = 600_000
    num_test: int = 100
    width: int = 128
    batch_size: int = 20
    single: bool = False
    vocabulary_size: int = 3000
    resamples: int = 0

    def task(self, max_words: int) -> LengthTask:
        """The sentences on which the translators with this limit are trained and tested."""
        options = {"num_tokens": self.num_tokens, "num_test": self.num_test}
        if self.corpus == GRAMMAR:
            return grammar_task(max_words, **options)
        options |= {"single": self.single, "vocabulary_size": self.vocabulary_size}
        return joined_task(read_pairs(self.corpus).between("en", "fr"), max_words, **options)

    @property
    def name(self) -> str:
        """Where the results of this study stand in the file."""
        return f"{self.corpus}, longer" if self.single else self.corpus

    def head(self) -> dict:
        """The settings and versions that are stored with the results."""
        digest = (
            None
            if self.corpus == GRAMMAR
            else hashlib.sha256(find_file(self.corpus).read_bytes()).hexdigest()
        )
        signature = bleu(["."], [["."]], lang="fr").signature
        head = asdict(self) | {"sha256": digest, "signature": signature, "torch": torch.__version__}
        return json.loads(json.dumps(head))  # tuples become lists, as in a file


def run_study(study: LengthSettings, out: Path, *, at_most: int | None = None, progress: bool = False) -> int:
    """Run the trainings of a study that a file does not hold yet, and add each result to it.

    Args:
        out: the file, with the results of one or more corpora; made if it does not exist.
        at_most: largest number of trainings to run.
        progress: show a progress bar for each.

    Returns:
        The number of trainings that are left.

    Raises:
        ValueError: the file holds results of this corpus that were made with other settings.
    """
    results = json.loads(out.read_text("utf-8")) if out.exists() else {}
    study_results = results.setdefault(study.name, study.head() | {"trainings": []})
    if {
        name: value
        for name, value in study_results.items()
        if name not in ("buckets", "baseline", "trainings")
    } != study.head():
        raise ValueError(f"{out} holds results for {study.name} with other settings: name another file")
    done = {(result["limit"], result["decoder"], result["seed"]) for result in study_results["trainings"]}
    todo = [
        (seed, limit, decoder)
        for seed, limit, decoder in product(study.seeds, study.limits, DECODERS)
        if (limit, decoder, seed) not in done
    ]
    for seed, limit, decoder in todo[:at_most]:
        task = study.task(limit)
        start = time.process_time()
        model = train(
            task, decoder, width=study.width, batch_size=study.batch_size, seed=seed, progress=progress
        )
        seconds = time.process_time() - start
        scores = score(model, task, resamples=study.resamples)
        study_results["buckets"] = [
            [bucket.low, min(bucket.high, LONGEST), bucket.num_sentences] for bucket in scores
        ]
        study_results["baseline"] = baseline(task)
        study_results["trainings"].append(
            {
                "limit": limit,
                "decoder": decoder,
                "seed": seed,
                "sentences": len(task.src_ids),
                "processor_seconds": round(seconds),
                "bleu": [round(bucket.bleu, 2) for bucket in scores],
                "length_ratio": [round(bucket.length_ratio, 3) for bucket in scores],
            }
        )
        if study.resamples:
            intervals = [[round(end, 2) for end in bucket.interval] for bucket in scores]
            study_results["trainings"][-1]["interval"] = intervals
        write_whole(out, (json.dumps(results, indent=1) + "\n").encode())
    return len(todo[at_most:]) if at_most is not None else 0


def _main(
    corpus: Annotated[
        str, typer.Argument(help="grammar, or a pair file (English, French) whose sentences are joined")
    ] = GRAMMAR,
    out: Annotated[Path, typer.Option(help="results; trainings that it holds are not done again")] = RESULTS,
    num_tokens: Annotated[
        int, typer.Option(min=1, help="French tokens of each training")
    ] = LengthSettings.num_tokens,
    longer: Annotated[bool, typer.Option(help="the longer training on a pair file, with one seed")] = False,
    at_most: Annotated[int | None, typer.Option(min=1, help="largest number of trainings to run")] = None,
) -> None:
    """Train with and without attention, on short and on longer sentences; store BLEU by length."""
    torch.set_num_threads(1)  # as for the results in the book
    study = LengthSettings(corpus, **LONGER) if longer else LengthSettings(corpus, num_tokens=num_tokens)
    num_left = run_study(study, out, at_most=at_most, progress=sys.stderr.isatty())
    typer.echo(f"{out}: {f'{num_left} trainings left' if num_left else 'complete'}")


if __name__ == "__main__":
    typer.run(_main)
