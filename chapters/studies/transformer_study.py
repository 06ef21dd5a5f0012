"""The Transformer study: the Transformer and the recurrent translator in the same seconds, and on long sentences.

``PYTHONPATH=chapters python -m studies.transformer_study`` measures and stores what chapters/transformer reports: BLEU
and alignment error of both after the same seconds, BLEU after longer trainings, where the Transformer looks, and BLEU
by sentence length beside the recurrent translator of the length study. Models, sentences and scores come from other
modules.
"""

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
import typer
from torch import Tensor
from tqdm import tqdm

from studies.length_study import LengthSettings, score
from utils.corpus.batches import Batch, ShuffledBatches, make_batch, pad_ids
from utils.corpus.grammar import Triple, join_words, triples
from utils.corpus.vocabulary import Vocabulary
from utils.corpus.whole_files import write_whole
from utils.fast_training import fast_loss
from utils.metrics import alignment_error_rate, bleu, diagonal_links, links_from_weights, paired_bootstrap
from utils.search import greedy
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder
from utils.training import fit, seeded
from utils.transformer import TransformerDecoder, TransformerEncoder, head_name

#: Where the results of the whole study are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: The translators that are trained for the same seconds.
TRAINED = ("recurrent", "transformer", "transformer, no warm-up", "transformer, norm after")
#: A sentence that no training has, and its translation.
SENTENCE = ("Mary found the small white flower yesterday .", "Marie a trouvé la petite fleur blanche hier .")


@dataclass(frozen=True)
class TransformerSettings:
    """The settings of the study.

    Attributes:
        seconds: processor time of each training on the sentences of the chapter.
        width: of both models in these trainings.
        lrs: highest learning rates to choose from in these trainings.
        limits: longest sentences of training, as in the length study.
        seeds: a Transformer is trained with each.
        num_heads: of each attention.
        num_layers: of the encoder, and as many of the decoder.
        lr: highest learning rate of the wider Transformer of the length study.
        warmup: share of the steps over which the learning rate of a Transformer rises.
        timed: training steps of both models that are timed for the ratio of their speeds.
        longer: how many times as long the longer trainings are.
        look_after: the one after which it is stored where the Transformer looks.
    """

    seconds: float = 30.0
    width: int = 64
    lrs: tuple[float, ...] = (1.5e-3, 3e-3, 6e-3, 1.2e-2, 2.4e-2)
    limits: tuple[int, ...] = (20, 50)
    seeds: tuple[int, ...] = (0, 1)
    num_heads: int = 4
    num_layers: int = 2
    lr: float = 4e-3
    warmup: float = 0.1
    timed: int = 30
    longer: tuple[int, ...] = (2, 4)
    look_after: int = 4


def transformer(
    num_src: int,
    num_tgt: int,
    width: int,
    setup: TransformerSettings,
    *,
    dropout: float = 0.0,
    norm_first: bool = True,
) -> EncoderDecoder:
    """A Transformer of the study."""
    options = {"num_heads": setup.num_heads, "num_layers": setup.num_layers}
    options |= {"dropout": dropout, "norm_first": norm_first}
    encoder = TransformerEncoder(num_src, width, **options)
    return EncoderDecoder(encoder, TransformerDecoder(num_tgt, width, **options))


def recurrent(num_src: int, num_tgt: int, width: int, *, dropout: float = 0.0) -> EncoderDecoder:
    """The recurrent translator of the length study."""
    encoder = Encoder(num_src, width, width, dropout=dropout)
    return EncoderDecoder(encoder, BahdanauDecoder(num_tgt, width, width, encoder.d_out, dropout=dropout))


def seconds_of(call: Callable[[], object]) -> float:
    """Processor time of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def training_step(model: EncoderDecoder, batches: Iterable[Batch]) -> Callable[[], object]:
    """A function that takes the next of these batches through a whole step of training."""
    optimizer, following = torch.optim.Adam(model.parameters(), lr=1e-4), iter(batches)

    def step() -> None:
        optimizer.zero_grad()
        fast_loss(model.train(), next(following)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step


def speeds(models: dict[str, EncoderDecoder], batches: Sequence[Batch]) -> dict[str, tuple[float, float]]:
    """Steps and target tokens per second of processor time; the models take turns on the same batches."""
    steps = {name: training_step(model, batches) for name, model in models.items()}
    total_seconds = dict.fromkeys(models, 0.0)
    for number in range(len(batches)):
        for name, step in steps.items():
            seconds = seconds_of(step)
            total_seconds[name] += seconds if number else 0.0  # the first step makes the optimizer's state
    timed_batches = batches[1:]
    num_tokens = sum(batch.num_tokens for batch in timed_batches)
    return {
        name: (len(timed_batches) / seconds, num_tokens / seconds) for name, seconds in total_seconds.items()
    }


def endless(batches: ShuffledBatches) -> Iterable[Batch]:
    """Epoch after epoch without end."""
    return chain.from_iterable(repeat(batches))


def fit_steps(
    model: EncoderDecoder, batches: ShuffledBatches, steps: int, *, progress: bool, **options: float
) -> EncoderDecoder:
    """Train for a number of steps."""
    with tqdm(total=steps, disable=not progress, desc="training") as bar:
        selection = list(islice(endless(batches), steps))
        fit(model, selection, epochs=1, loss=fast_loss, **options, on_step=lambda _: bar.update())
    return model


# The same seconds on the sentences of the chapter


class ChapterCorpus(NamedTuple):
    """The sentences of the chapter, English and French, and others to choose the learning rates by."""

    train: list[Triple]
    valid: list[Triple]
    test: list[Triple]
    en: Vocabulary
    fr: Vocabulary

    def batches(self, seed: int, *, batch_size: int = 32) -> ShuffledBatches:
        """The batches that all models of a seed read."""
        ids = self.en.encode([t.en for t in self.train]), self.fr.encode([t.fr for t in self.train])
        return ShuffledBatches(*ids, batch_size=batch_size, seed=seed)


def corpus_of_the_chapter(num: int = 10_000, num_test: int = 500) -> ChapterCorpus:
    """The corpus that chapters/bahdanau_decoder and chapters/transformer train on."""
    train, valid, test = (
        triples(n, split=split, min_words=3, max_words=16)
        for n, split in ((num, "train"), (num_test, "valid"), (num_test, "test"))
    )
    return ChapterCorpus(
        train, valid, test, Vocabulary.words(t.en for t in train), Vocabulary.words(t.fr for t in train)
    )


def translations(model: EncoderDecoder, corpus: ChapterCorpus, sentences: Sequence[Triple]) -> list[str]:
    """The greedy translations of the sentences."""
    ids = corpus.en.encode([t.en for t in sentences])
    hypotheses = greedy(model, pad_ids(ids), torch.tensor([*map(len, ids)]), max_len=50)
    return [join_words(corpus.fr.tokens(hypothesis.tokens), "fr") for hypothesis in hypotheses]


def references(sentences: Sequence[Triple]) -> list[list[str]]:
    """The French of each sentence."""
    return [[join_words(t.fr, "fr")] for t in sentences]


@torch.no_grad()
def alignment_errors(model: EncoderDecoder, corpus: ChapterCorpus) -> dict[str, float]:
    """The alignment error rate of each head of each cross-attention, of the mean of each layer, and of the diagonal."""
    ids = corpus.en.encode([t.en for t in corpus.test]), corpus.fr.encode([t.fr for t in corpus.test])
    batch = make_batch(*ids)
    weights_by_name: dict[str, Tensor] = {}
    if isinstance(model.decoder, TransformerDecoder):
        memory, past = model.start(batch.src, batch.src_lens)
        for layer in range(len(model.decoder.layers)):
            model.decoder.weights_of = layer
            weights = model.decoder.features(batch.tgt_in, memory, past)[2]
            weights_by_name |= {head_name(layer, h): weights[:, h] for h in range(weights.shape[1])}
            weights_by_name[f"layer {layer}, mean"] = weights.mean(dim=1)
    else:
        weights_by_name["attention"] = model(batch.src, batch.src_lens, batch.tgt_in)[1]
    gold = [t.links("en", "fr") for t in corpus.test]
    lengths = [(len(t.en), len(t.fr)) for t in corpus.test]
    links = {
        name: [links_from_weights(w[:m, :n]) for w, (n, m) in zip(weights, lengths, strict=True)]
        for name, weights in weights_by_name.items()
    }
    links["diagonal"] = [diagonal_links(*pair) for pair in lengths]
    return {name: round(alignment_error_rate(each, gold), 3) for name, each in links.items()}


def make(name: str, corpus: ChapterCorpus, setup: TransformerSettings, *, seed: int) -> EncoderDecoder:
    """One of the translators, before training."""
    sizes = len(corpus.en), len(corpus.fr), setup.width
    with seeded(seed):
        if name == TRAINED[0]:
            return recurrent(*sizes, dropout=0.1)
        return transformer(*sizes, setup, dropout=0.1, norm_first=name != TRAINED[3])


def train(
    name: str,
    corpus: ChapterCorpus,
    setup: TransformerSettings,
    *,
    seed: int,
    steps: int,
    lr: float,
    progress: bool,
) -> EncoderDecoder:
    """Train one of the translators on the sentences of the chapter."""
    model, batches = make(name, corpus, setup, seed=seed), corpus.batches(seed)
    # The recurrent translator has the warm-up of fit. A warm-up of one step is none: the second step has the full rate.
    warmups = {TRAINED[0]: {}, TRAINED[2]: {"warmup": 1 / steps}}
    warmup = warmups.get(name, {"warmup": setup.warmup})
    return fit_steps(model, batches, steps, progress=progress, seed=seed, lr=lr, **warmup)


def same_seconds(setup: TransformerSettings, corpus: ChapterCorpus, *, progress: bool = False) -> list[dict]:
    """Train all translators for the same processor time, with each seed; BLEU and alignment error of each.

    The p-value is that of the paired test against the first translator with the same seed.

    The learning rate of each is that of ``setup.lrs`` with the highest BLEU on the sentences for validation, after a
    training of the same length with another seed.
    """
    batches = list(islice(endless(corpus.batches(0)), setup.timed + 1))
    speed = speeds({name: make(name, corpus, setup, seed=0) for name in TRAINED}, batches)
    results, texts = [], {}
    for name in TRAINED:
        options = {"steps": round(setup.seconds * speed[name][0]), "progress": progress}
        validation = []
        for lr in setup.lrs:
            model = train(name, corpus, setup, seed=max(setup.seeds) + 1, lr=lr, **options)
            score_of = bleu(translations(model, corpus, corpus.valid), references(corpus.valid), lang="fr")
            validation.append({"lr": lr, "bleu": round(score_of.value, 1)})
        options["lr"] = max(validation, key=lambda trial: trial["bleu"])["lr"]
        for seed in setup.seeds:
            start = time.process_time()
            model = train(name, corpus, setup, seed=seed, **options)
            seconds = time.process_time() - start
            texts[name, seed] = translations(model, corpus, corpus.test)
            pair = texts[TRAINED[0], seed], texts[name, seed]
            difference, _ = paired_bootstrap(*pair, references(corpus.test), lang="fr")
            results.append(
                {
                    "model": name,
                    "seed": seed,
                    "steps": options["steps"],
                    "lr": options["lr"],
                    "validation": validation,
                    "tokens_per_second": round(speed[name][1]),
                    "processor_seconds": round(seconds, 1),
                    "parameters": sum(parameter.numel() for parameter in model.parameters()),
                    "bleu": round(difference.second, 1),
                    "p_value": round(difference.p_value, 3),
                    "signature": difference.signature,
                    "alignment_errors": alignment_errors(model, corpus),
                }
            )
    return results


# Longer trainings


def train_longer(
    first: dict, times: int, corpus: ChapterCorpus, setup: TransformerSettings
) -> tuple[EncoderDecoder, dict]:
    """Train a translator of :func:`same_seconds` again, for several times as many steps; the model, and its BLEU.

    The learning rate is the one that was best for the shorter training.

    Args:
        first: what :func:`same_seconds` returned for this translator.
    """
    kept = {name: first[name] for name in ("model", "seed", "lr")}
    steps = first["steps"] * times
    start = time.process_time()
    model = train(
        first["model"], corpus, setup, seed=first["seed"], steps=steps, lr=first["lr"], progress=False
    )
    seconds = time.process_time() - start
    result = bleu(translations(model, corpus, corpus.test), references(corpus.test), lang="fr")
    return model, kept | {
        "times": times,
        "steps": steps,
        "processor_seconds": round(seconds, 1),
        "bleu": round(result.value, 1),
    }


def longer(same: Sequence[dict], corpus: ChapterCorpus, setup: TransformerSettings) -> list[dict]:
    """Train the recurrent translator and the Transformer for several times as many steps, with the first seed."""
    return [
        train_longer(first, times, corpus, setup)[1]
        for first in same
        if first["model"] in TRAINED[:2] and first["seed"] == setup.seeds[0]
        for times in setup.longer
    ]


@torch.no_grad()
def where_it_looks(model: EncoderDecoder, corpus: ChapterCorpus) -> dict:
    """The weights of each head of a Transformer while it reads ``SENTENCE``, and the words that it would write.

    Weights are in thousandths. Of each head there is a text for each query: those of the encoder, layer by layer, then
    those of each layer of the decoder, with its own words and with the source. Behind the last key stand zeros, so that
    all texts have as many numbers.
    """
    english, french = (text.split() for text in SENTENCE)
    batch = make_batch(corpus.en.encode([english]), corpus.fr.encode([french]))
    decoder = [
        part for layer in model.decoder.layers for part in (layer.self_attention, layer.cross_attention)
    ]
    rows: list[Tensor] = []  # of each attention (heads, queries, keys), in the order of the calls
    hooks = []
    for attention in [*(layer.self_attention for layer in model.encoder.layers), *decoder]:
        asking = attention.register_forward_pre_hook(
            lambda _, inputs, options: (inputs, options | {"need_weights": True}), with_kwargs=True
        )
        hooks += [asking, attention.register_forward_hook(lambda _, __, found: rows.append(found[1][0]))]
    logits, _ = model.eval()(batch.src, batch.src_lens, batch.tgt_in[:, : len(french)])
    for hook in hooks:
        hook.remove()
    longest = max(len(english), len(french))
    padded = [torch.nn.functional.pad(each, (0, longest - each.shape[-1])) for each in rows]
    thousandths = (1000 * torch.cat(padded, dim=1)).round().int().tolist()
    surest, best = torch.softmax(logits[0], dim=-1).max(dim=-1)
    return {
        "english": english,
        "french": ["<bos>", *french[:-1]],
        "next": corpus.fr.tokens(best.tolist()),
        "probability": [round(each, 3) for each in surest.tolist()],
        "weights": [[" ".join(map(str, row)) for row in head] for head in thousandths],
    }


def looks(same: Sequence[dict], corpus: ChapterCorpus, setup: TransformerSettings) -> dict:
    """Where the Transformer of the first seed looks after one of the longer trainings."""
    first = next(each for each in same if each["model"] == TRAINED[1])
    model, about = train_longer(first, setup.look_after, corpus, setup)
    return about | where_it_looks(model, corpus)


# BLEU by length, beside the length study


def by_length(study: LengthSettings, setup: TransformerSettings, *, progress: bool = False) -> list[dict]:
    """Train a Transformer in the time that a recurrent translator of the length study takes; BLEU by length."""
    results = []
    for limit in setup.limits:
        task = study.task(limit)
        sizes = len(task.src_vocabulary), len(task.tgt_vocabulary), study.width
        batches = ShuffledBatches(task.src_ids, task.tgt_ids, batch_size=study.batch_size)
        with seeded(0):
            models = {"recurrent": recurrent(*sizes), "transformer": transformer(*sizes, setup)}
        speed = speeds(models, list(islice(endless(batches), setup.timed + 1)))
        steps = round(len(batches) * speed["transformer"][0] / speed["recurrent"][0])
        with seeded(0):
            model = transformer(*sizes, setup)
        options = {"label_smoothing": 0.0, "lr": setup.lr, "warmup": setup.warmup}
        start = time.process_time()
        fit_steps(model, batches, steps, progress=progress, **options)
        seconds = time.process_time() - start
        scores = score(model, task)
        results.append(
            {
                "limit": limit,
                "tokens_per_second": {name: round(each[1]) for name, each in speed.items()},
                "steps": {"recurrent": len(batches), "transformer": steps},
                "processor_seconds": round(seconds),
                "bleu": [round(bucket.bleu, 2) for bucket in scores],
                "length_ratio": [round(bucket.length_ratio, 3) for bucket in scores],
            }
        )
    return results


def _main(
    parts: Annotated[
        list[str] | None, typer.Argument(help="same_seconds, longer, looks, by_length; by default all")
    ] = None,
    out: Annotated[Path, typer.Option(help="results; other parts that it holds stay")] = RESULTS,
) -> None:
    """Measure the Transformer beside the recurrent translator; store the results."""
    torch.set_num_threads(1)  # as for the results in the book
    setup, progress = TransformerSettings(), sys.stderr.isatty()
    head = {"torch": torch.__version__}
    results = json.loads(out.read_text("utf-8")) if out.exists() else head
    if results["torch"] != head["torch"]:  # other parts stay, and would be said to be of this version
        raise ValueError(f"{out} holds results of torch {results['torch']}: name another file")
    measures: dict[str, Callable[[], Sequence[dict] | dict]] = {
        "same_seconds": lambda: same_seconds(setup, corpus_of_the_chapter(), progress=progress),
        "longer": lambda: longer(results["same_seconds"], corpus_of_the_chapter(), setup),
        "looks": lambda: looks(results["same_seconds"], corpus_of_the_chapter(), setup),
        "by_length": lambda: by_length(LengthSettings(), setup, progress=progress),
    }
    for part in parts or measures:
        results[part] = measures[part]()
        write_whole(out, (json.dumps(results, indent=1) + "\n").encode())


if __name__ == "__main__":
    typer.run(_main)
