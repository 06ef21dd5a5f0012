"""The study of the variants: translators that differ in the score, in the query, or in what is added to them.

``PYTHONPATH=chapters python -m studies.variants_study`` trains them with three seeds each, first for the same number of
steps, then for the same processor time, and stores their scores beside this file; chapters/attention_variants reads
them. It takes about a quarter of an hour on one core. Trainings that are stored are not repeated. Models and scores
come from ``utils``.
"""

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Annotated

import torch
import typer
from torch import Tensor

from utils.attention_variants import (
    AttentionDecoder,
    CoverageDecoder,
    GeneralAttention,
    LocalAttention,
    PointerDecoder,
    masked_sparsemax,
    overlap,
)
from utils.corpus.batches import Batch, ShuffledBatches, make_batch, pad_ids
from utils.corpus.grammar import Triple, join_words, triples
from utils.corpus.grammar.lexicon import NOUNS
from utils.corpus.vocabulary import PAD, UNK, Vocabulary
from utils.metrics import alignment_error_rate, bleu, links_from_weights
from utils.search import Hypothesis, greedy
from utils.seq2seq import Encoder, EncoderDecoder
from utils.training import batch_loss, fit, seeded, sequence_loss
from utils.translator.recovery import write_atomically
from utils.unknown_words import point_at_source, read_pointers, replace_unknown

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: Longest source that the score *location* has rows for.
MAX_LEN = 64
#: The sentence whose weights are stored, and its translation.
ENGLISH = ["Mary", "found", "the", "small", "white", "flower", "yesterday", "."]
FRENCH = ["Marie", "a", "trouvé", "la", "petite", "fleur", "blanche", "hier", "."]

_AFTER = {"query": "after"}
#: The translators by their names in the results, with the options of their decoders.
#:
#: :meta hide-value:
VARIANTS = {
    **{
        score: {"score": score} | _AFTER
        for score in ("additive", "concat", "general", "dot", "cosine", "location")
    },
    "additive, fed": {"input_feeding": True} | _AFTER,
    "additive, before": {},
    "general, local": {"local": True} | _AFTER,
    "general, sparse": {"sparse": True} | _AFTER,
}
#: The translators that differ in score or query alone.
COMPARED = tuple(VARIANTS)[:8]
#: Those that are also trained for the same processor time: *concat* and *additive* are one function.
TIMED = tuple(name for name in COMPARED if name != "concat")
#: The translators of long sentences, with the share of the steps that train without the overlap; None has no coverage.
LONG = {"plain": None, "coverage": 0.0, "coverage, late": 0.75}
#: The translators of sentences with names that no vocabulary has, with the options of their decoders: two that write
#: the unknown word, and two that point at the source.
#:
#: :meta hide-value:
NAMES = {
    "general, unknown": VARIANTS["general"],
    "general, pointer": VARIANTS["general"] | {"unknown": UNK},
    "additive, before, unknown": {},
    "additive, before, pointer": {"unknown": UNK},
}


@dataclass(frozen=True)
class Study:
    """The settings that all trainings share.

    Attributes:
        num_sentences: training sentences.
        num_test: test sentences.
        max_words: longest training sentence, in English words.
        long_words: fewest and most words of the long sentences.
        width: of the embeddings, of the decoder's state and of both directions of the encoder together.
        batch_size: sentence pairs per step.
        steps: steps of each training, except those in the same processor time.
        seconds: processor seconds of those.
        lr: highest learning rate.
        seeds: a translator is trained with each.
        reach: of local attention.
    """

    num_sentences: int = 8000
    num_test: int = 300
    max_words: int = 12
    long_words: tuple[int, int] = (16, 24)
    width: int = 64
    batch_size: int = 32
    steps: int = 400
    seconds: float = 8.0
    lr: float = 6e-3
    seeds: tuple[int, ...] = (0, 1, 2)
    reach: float = 3.0

    def sentences(self, split: str, *, long: bool = False) -> list[Triple]:
        """Sentences of a split; no meaning of a training sentence is in the test."""
        low, high = self.long_words if long else (3, self.max_words)
        return triples(
            self.num_test if split == "test" else self.num_sentences,
            split=split,
            min_words=low,
            max_words=high,
        )

    @cached_property
    def train(self) -> list[Triple]:
        """Sentences to train on."""
        return self.sentences("train")

    @cached_property
    def test(self) -> list[Triple]:
        """Sentences to test on."""
        return self.sentences("test")

    @cached_property
    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """The English and the French words of training."""
        return Vocabulary.words(t.en for t in self.train), Vocabulary.words(t.fr for t in self.train)

    def encode(self, sentences: Sequence[Triple]) -> tuple[list[list[int]], list[list[int]]]:
        """English and French ids."""
        en, fr = self.vocabularies
        return en.encode([t.en for t in sentences]), fr.encode([t.fr for t in sentences])


def build(study: Study, *, seed: int, local=False, sparse=False, coverage=False, **options) -> EncoderDecoder:
    """A translator that was not trained; the options are those of a variant."""
    num_src, num_tgt = map(len, study.vocabularies)
    width = study.width
    with seeded(seed):
        encoder = Encoder(num_src, width, width // 2)
        if local:
            options["score"] = LocalAttention(width, width, study.reach)
        if sparse:
            options["score"] = GeneralAttention(width, width, normalise=masked_sparsemax)
        if options.get("score") == "location":
            options["max_len"] = MAX_LEN
        decoder = (
            PointerDecoder if "unknown" in options else CoverageDecoder if coverage else AttentionDecoder
        )
        sizes = (num_tgt, width, width, encoder.d_out)
        return EncoderDecoder(encoder, decoder(*sizes, d_enc_state=width // 2, **options))


class CoverageLoss:
    """The loss of the words, plus the overlap of the weights with those of earlier steps.

    Args:
        start: number of calls without the overlap.
    """

    def __init__(self, start: int):
        self._left = start

    def __call__(self, model: EncoderDecoder, batch: Batch, *, label_smoothing: float = 0.0) -> Tensor:
        """The loss of a batch."""
        logits, weights = model(batch.src, batch.src_lens, batch.tgt_in)
        loss = sequence_loss(logits, batch.tgt_out, label_smoothing=label_smoothing)
        self._left -= 1
        return loss if self._left >= 0 else loss + overlap(weights, batch.tgt_out != PAD)


def train(
    study: Study,
    model: EncoderDecoder,
    ids: tuple[list[list[int]], list[list[int]]],
    *,
    steps: int,
    seed: int,
    loss: Callable = batch_loss,
) -> dict[str, float]:
    """Train for a number of steps; return the processor seconds, and the target tokens of each."""
    batches = ShuffledBatches(*ids, batch_size=study.batch_size, seed=seed)
    chosen_batches: list[Batch] = []
    while len(chosen_batches) < steps:
        chosen_batches.extend(batches)
    chosen_batches = chosen_batches[:steps]
    start = time.process_time()
    fit(model, chosen_batches, epochs=1, loss=loss, label_smoothing=0.0, lr=study.lr, seed=seed)
    seconds = time.process_time() - start
    tokens = sum(batch.num_tokens for batch in chosen_batches)
    return {"steps": steps, "seconds": round(seconds, 2), "tokens_per_second": round(tokens / seconds)}


def translate(model: EncoderDecoder, src_ids: list[list[int]]) -> list[Hypothesis]:
    """Translate greedily, a hundred sentences at a time."""
    hypotheses = []
    for start in range(0, len(src_ids), 100):
        some = src_ids[start : start + 100]
        hypotheses += greedy(
            model, pad_ids(some), torch.tensor([*map(len, some)]), max_len=2 * max(map(len, some))
        )
    return hypotheses


def score_bleu(sentences: Sequence[Triple], words: Sequence[Sequence[str]]) -> float:
    """BLEU of translations, given as words."""
    references = [[join_words(t.fr, "fr")] for t in sentences]
    return round(bleu([join_words(w, "fr") for w in words], references, lang="fr").value, 2)


@torch.no_grad()
def forced_weights(study: Study, model: EncoderDecoder, sentences: Sequence[Triple]) -> list[Tensor]:
    """The weights of each sentence while the decoder reads the reference."""
    batch = make_batch(*study.encode(sentences))
    _, weights = model(batch.src, batch.src_lens, batch.tgt_in)
    return [w[: len(t.fr), : len(t.en)] for w, t in zip(weights, sentences, strict=True)]


_FRENCH_NOUNS = {form for noun in NOUNS.values() for form in noun.fr}


def count_errors(sentences: Sequence[Triple], words: Sequence[Sequence[str]]) -> dict[str, float]:
    """Nouns that are missing, nouns that are written too often, and sequences of three words that are repeated.

    The first two are shares of the nouns of the references; the third is a share of all three-word sequences.
    """
    num_nouns = num_missing = num_repeated = num_sequences = num_again = 0
    for t, translation in zip(sentences, words, strict=True):
        right = Counter(word for word in t.fr if word in _FRENCH_NOUNS)
        written_counts = Counter(translation)
        num_nouns += right.total()
        num_missing += sum(max(0, count - written_counts[noun]) for noun, count in right.items())
        num_repeated += sum(max(0, written_counts[noun] - count) for noun, count in right.items())
        threes = Counter(zip(translation, translation[1:], translation[2:], strict=False))
        num_sequences += threes.total()
        num_again += threes.total() - len(threes)
    shares = {
        "missing": num_missing / num_nouns,
        "repeated": num_repeated / num_nouns,
        "again": num_again / max(1, num_sequences),
    }
    return {name: round(share, 4) for name, share in shares.items()}


def measure(study: Study, model: EncoderDecoder, sentences: Sequence[Triple]) -> dict[str, float]:
    """Size, BLEU, alignment error rate, and the errors of :func:`count_errors`."""
    _, fr = study.vocabularies
    words = [fr.tokens(hypothesis.tokens) for hypothesis in translate(model, study.encode(sentences)[0])]
    links = [links_from_weights(w) for w in forced_weights(study, model, sentences)]
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "bleu": score_bleu(sentences, words),
        "aer": round(alignment_error_rate(links, [t.en_fr for t in sentences]), 4),
        **count_errors(sentences, words),
    }


def run_variant(study: Study, name: str, seed: int, *, steps: int) -> dict:
    """Train a variant and measure it; with the first seed also the weights on our sentence."""
    model = build(study, seed=seed, **VARIANTS[name])
    result = train(study, model, study.encode(study.train), steps=steps, seed=seed)
    result |= measure(study, model, study.test)
    if seed == study.seeds[0]:
        none = frozenset()
        ours = Triple(tuple(ENGLISH), tuple(FRENCH), (), none, none, none, "")
        result["weights"] = [
            [round(w, 3) for w in row] for row in forced_weights(study, model, [ours])[0].tolist()
        ]
    return result


def run_long(study: Study, kind: str, seed: int, *, steps: int) -> dict:
    """Train on long sentences; score the translations, and count missing and repeated words."""
    share = LONG[kind]
    model = build(study, seed=seed, coverage=share is not None)
    loss = batch_loss if share is None else CoverageLoss(round(share * steps))
    ids = study.encode(study.sentences("train", long=True))
    result = train(study, model, ids, steps=steps, seed=seed, loss=loss)
    return result | measure(study, model, study.sentences("test", long=True))


# ---- Names that the model has never seen ----


def invented_names(num: int, *, seed: int) -> list[str]:
    """Names that no vocabulary has, all different, with a consonant first."""
    draw = random.Random(seed)
    names: dict[str, None] = {}
    while len(names) < num:
        syllables = [draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(draw.randint(2, 3))]
        names["".join(syllables).capitalize() + draw.choice(["", "n", "r", "s"])] = None
    return list(names)


#: Names whose place an invented one can take: they begin with a consonant, so nothing before them is elided.
REPLACED = {"Mary": "Marie", "Paul": "Paul", "Peter": "Pierre", "John": "Jean"}


def with_new_names(
    sentences: Sequence[Triple], names: Sequence[str], *, share: float, seed: int
) -> list[tuple[list[str], list[str]]]:
    """English and French words in which a share of the names is replaced, the same name on both sides."""
    draw = random.Random(seed)
    pairs = []
    for t in sentences:
        selection = iter(draw.sample(names, len(REPLACED)))
        new = {old: next(selection) for old in REPLACED if draw.random() < share}
        french = {REPLACED[old]: name for old, name in new.items()}
        pairs.append(([new.get(w, w) for w in t.en], [french.get(w, w) for w in t.fr]))
    return pairs


def run_names(study: Study, kind: str, seed: int, *, steps: int) -> dict:
    """Train on sentences with new names and count those that are written right in sentences with other new names."""
    en, fr = study.vocabularies
    names = invented_names(400, seed=0)
    train_pairs = with_new_names(study.train, names[:300], share=0.7, seed=1)
    test_pairs = with_new_names(study.test, names[300:], share=1.0, seed=2)
    test_pairs = [pair for pair in test_pairs if set(names) & set(pair[0])]
    pointer = "unknown" in NAMES[kind]
    model = build(study, seed=seed, **NAMES[kind])
    src_ids, tgt_ids = en.encode([src for src, _ in train_pairs]), fr.encode([tgt for _, tgt in train_pairs])
    if pointer:
        tgt_ids = [
            point_at_source(ids, tgt, src, vocab_size=len(fr))
            for ids, (src, tgt) in zip(tgt_ids, train_pairs, strict=True)
        ]
    result = train(study, model, (src_ids, tgt_ids), steps=steps, seed=seed)
    hypotheses = translate(model, en.encode([src for src, _ in test_pairs]))
    if pointer:
        translations = [
            read_pointers(f.tokens, fr.tokens, src, vocab_size=len(fr))
            for f, (src, _) in zip(hypotheses, test_pairs, strict=True)
        ]
        return result | {"pointer": score_names(translations, test_pairs, names)}
    plain = [fr.tokens(f.tokens) for f in hypotheses]
    with_copies = [
        replace_unknown(words, src, f.weights)
        for words, f, (src, _) in zip(plain, hypotheses, test_pairs, strict=True)
    ]
    by_kind = {"left": plain, "copied": with_copies}
    return result | {kind: score_names(words, test_pairs, names) for kind, words in by_kind.items()}


def score_names(
    translations: Sequence[Sequence[str]],
    test_pairs: Sequence[tuple[list[str], list[str]]],
    names: Sequence[str],
) -> dict[str, float]:
    """BLEU, the number of new names in the references, and the share of them that is written."""
    new = set(names)
    expected = [[word for word in tgt if word in new] for _, tgt in test_pairs]
    written_names = [[word for word in words if word in new] for words in translations]
    hits = sum((Counter(e) & Counter(f)).total() for e, f in zip(expected, written_names, strict=True))
    # The tokenizer of BLEU would count "<unk>" as three words.
    texts = [join_words(words, "fr").replace("<unk>", "unk") for words in translations]
    references = [[join_words(tgt, "fr")] for _, tgt in test_pairs]
    return {
        "bleu": round(bleu(texts, references, lang="fr").value, 2),
        "names": sum(map(len, expected)),
        "right": round(hits / sum(map(len, expected)), 4),
    }


# ---- The study ----


def run_study(study: Study, out: Path, *, at_most: int | None = None, say: Callable = print) -> int:
    """Run the trainings that a file does not hold yet and add each result to it; return how many are left.

    Raises:
        ValueError: the file holds results that were made with other settings.
    """
    head = json.loads(json.dumps(asdict(study) | {"torch": torch.__version__}))
    results = json.loads(out.read_text("utf-8")) if out.exists() else {"study": head, "trainings": []}
    if results["study"] != head:
        raise ValueError(f"{out} holds results with other settings: name another file")
    done = {(r["part"], r["name"], r["seed"]) for r in results["trainings"]}
    parts = [("steps", VARIANTS), ("names", NAMES), ("seconds", TIMED), ("long", LONG)]
    todo = [
        (part, name, seed)
        for part, names in parts
        for seed, name in product(study.seeds, names)
        if (part, name, seed) not in done
    ]
    for part, name, seed in todo[:at_most]:
        if part in ("names", "long"):
            run = run_names if part == "names" else run_long
            result = run(study, name, seed, steps=study.steps)
        else:
            steps = study.steps if part == "steps" else steps_for(study, results["trainings"], name)
            result = run_variant(study, name, seed, steps=steps)
        results["trainings"].append({"part": part, "name": name, "seed": seed} | result)
        write_atomically(out, (json.dumps(results, indent=1, ensure_ascii=False) + "\n").encode())
        numbers = {k: v for k, v in result.items() if k != "weights"}
        say(part, name, seed, numbers)
    return max(0, len(todo) - len(todo[:at_most]))


def steps_for(study: Study, trainings: Sequence[dict], name: str) -> int:
    """The steps that the variant makes in the study's seconds, at the speed of its fastest training; at least two."""
    times = [r["seconds"] / r["steps"] for r in trainings if (r["part"], r["name"]) == ("steps", name)]
    return max(2, round(study.seconds / min(times)))


def _main(
    out: Annotated[Path, typer.Option(help="results; trainings that it holds are not done again")] = RESULTS,
    at_most: Annotated[int | None, typer.Option(min=1, help="largest number of trainings to run")] = None,
) -> None:
    """Train the variants with three seeds each; store their scores."""
    torch.set_num_threads(1)
    num_left = run_study(Study(), out, at_most=at_most, say=lambda *parts: print(*parts, file=sys.stderr))
    typer.echo(f"{out}: {f'{num_left} trainings left' if num_left else 'complete'}")


if __name__ == "__main__":
    typer.run(_main)
