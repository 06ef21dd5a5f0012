"""The Transformer study: the Transformer and the recurrent translator in the same seconds, and what each step costs.

``PYTHONPATH=chapters python -m studies.transformer_study`` measures and stores what chapters/transformer reports: BLEU
and alignment error of both after the same seconds, BLEU by sentence length beside the recurrent translator of the
length study, the time and memory of a training step by length, and the time to write a sentence with and without the
cache. Models, sentences and scores come from other modules.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Annotated, NamedTuple
from unittest.mock import patch

import torch
import typer
from torch import Tensor
from tqdm import tqdm

from studies.length_study import LengthSettings, score
from utils.attention import DotProductAttention
from utils.corpus.batches import Batch, ShuffledBatches, make_batch, pad_ids
from utils.corpus.grammar import Triple, join_words, triples
from utils.corpus.vocabulary import BOS, Vocabulary
from utils.corpus.whole_files import write_whole
from utils.fast_training import fast_loss
from utils.metrics import alignment_error_rate, bleu, diagonal_links, links_from_weights
from utils.search import DecoderSteps, greedy
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder
from utils.training import fit, seeded
from utils.transformer import TransformerDecoder, TransformerEncoder, head_name

#: Where the results of the whole study are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: The forms of the translator whose training steps are measured.
NAMES = ("recurrent", "transformer", "transformer, weights kept")
#: The translators that are trained for the same seconds.
TRAINED = ("recurrent", "transformer", "transformer, norm after")


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
        lengths: words per sentence for the cost of a step.
        written: words to write for the cost of decoding.
        repeats: times that each cost is measured; the median counts.
    """

    seconds: float = 30.0
    width: int = 64
    lrs: tuple[float, ...] = (1.5e-3, 3e-3, 6e-3, 1.2e-2)
    limits: tuple[int, ...] = (20, 50)
    seeds: tuple[int, ...] = (0, 1)
    num_heads: int = 4
    num_layers: int = 2
    lr: float = 4e-3
    warmup: float = 0.1
    timed: int = 30
    lengths: tuple[int, ...] = (8, 16, 32, 64, 128, 256, 512)
    written: tuple[int, ...] = (16, 32, 64, 128, 256)
    repeats: int = 5


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


def in_turn(calls: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """The median processor time of each call; they take turns, so that a busy machine slows all of them."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats + 1):
        for name, call in calls.items():
            times[name].append(seconds_of(call))
    return {name: statistics.median(seconds[1:]) for name, seconds in times.items()}


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


def bleu_of(model: EncoderDecoder, corpus: ChapterCorpus, sentences: Sequence[Triple]) -> float:
    """BLEU of the greedy translations of the sentences."""
    ids = corpus.en.encode([t.en for t in sentences])
    hypotheses = greedy(model, pad_ids(ids), torch.tensor([*map(len, ids)]), max_len=50)
    texts = [join_words(corpus.fr.tokens(hypothesis.tokens), "fr") for hypothesis in hypotheses]
    return bleu(texts, [[join_words(t.fr, "fr")] for t in sentences], lang="fr").value


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
        return transformer(*sizes, setup, dropout=0.1, norm_first=name == TRAINED[1])


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
    warmup = {} if name == TRAINED[0] else {"warmup": setup.warmup}
    return fit_steps(model, batches, steps, progress=progress, seed=seed, lr=lr, **warmup)


def same_seconds(setup: TransformerSettings, corpus: ChapterCorpus, *, progress: bool = False) -> list[dict]:
    """Train all translators for the same processor time, with each seed; BLEU and alignment error of each.

    The learning rate of each is that of ``setup.lrs`` with the highest BLEU on the sentences for validation, after a
    training of the same length with another seed.
    """
    batches = list(islice(endless(corpus.batches(0)), setup.timed + 1))
    speed = speeds({name: make(name, corpus, setup, seed=0) for name in TRAINED}, batches)
    results = []
    for name in TRAINED:
        options = {"steps": round(setup.seconds * speed[name][0]), "progress": progress}
        validation = []
        for lr in setup.lrs:
            model = train(name, corpus, setup, seed=max(setup.seeds) + 1, lr=lr, **options)
            validation.append({"lr": lr, "bleu": round(bleu_of(model, corpus, corpus.valid), 1)})
        options["lr"] = max(validation, key=lambda trial: trial["bleu"])["lr"]
        for seed in setup.seeds:
            start = time.process_time()
            model = train(name, corpus, setup, seed=seed, **options)
            results.append(
                {
                    "model": name,
                    "seed": seed,
                    "steps": options["steps"],
                    "lr": options["lr"],
                    "validation": validation,
                    "tokens_per_second": round(speed[name][1]),
                    "processor_seconds": round(time.process_time() - start, 1),
                    "parameters": sum(parameter.numel() for parameter in model.parameters()),
                    "bleu": round(bleu_of(model, corpus, corpus.test), 1),
                    "alignment_errors": alignment_errors(model, corpus),
                }
            )
    return results


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


# The cost of a training step and of a written word


def kept_bytes(step: Callable[[], Tensor]) -> int:
    """Bytes of the tensors that a forward pass keeps for the backward pass, each storage once."""
    storages = {}

    def pack(tensor: Tensor) -> Tensor:
        if not isinstance(tensor, torch.nn.Parameter):
            storage = tensor.untyped_storage()
            storages[storage.data_ptr()] = storage  # kept, so that no other gets its address
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = step()
        total = sum(storage.nbytes() for storage in storages.values())
        del loss
    return total


def loss_with_weights(model: EncoderDecoder, batch: Batch) -> Tensor:
    """The loss of a Transformer that computes the weights of all its attentions and keeps them."""
    forward = DotProductAttention.forward

    def with_weights(self, *arguments, need_weights=True):
        return forward(self, *arguments, need_weights=True)

    with patch.object(DotProductAttention, "forward", with_weights):
        return fast_loss(model, batch)


def costs(
    setup: TransformerSettings, *, width: int = 128, vocab: int = 500, batch_size: int = 8
) -> list[dict]:
    """Time and memory of a training step for sentences of each length, without the optimizer's part."""
    results = []
    for length in setup.lengths:
        with seeded(0):
            ids = torch.randint(4, vocab, (2, batch_size, length)).tolist()
            models = {
                "recurrent": recurrent(vocab, vocab, width),
                "transformer": transformer(vocab, vocab, width, setup),
            }
        batch = make_batch(*ids)
        losses = {
            NAMES[0]: lambda models=models, batch=batch: fast_loss(models["recurrent"].train(), batch),
            NAMES[1]: lambda models=models, batch=batch: fast_loss(models["transformer"].train(), batch),
            NAMES[2]: lambda models=models, batch=batch: loss_with_weights(
                models["transformer"].train(), batch
            ),
        }
        seconds = in_turn(
            {name: lambda loss=loss: loss().backward() for name, loss in losses.items()}, setup.repeats
        )
        results.append(
            {
                "length": length,
                "milliseconds": {name: round(1e3 * number, 2) for name, number in seconds.items()},
                "kibibytes": {name: round(kept_bytes(loss) / 2**10) for name, loss in losses.items()},
            }
        )
    return results


@torch.no_grad()
def write_words(model: EncoderDecoder, src: Tensor, words: Tensor, *, steps: Callable | None) -> None:
    """Read the words of one sentence one by one, as a search does; without ``steps`` all earlier ones again."""
    src_lens = torch.tensor([src.shape[1]])
    if steps is not None:
        runner = steps(model, src, src_lens)
        for word in words.unbind(1):
            runner.predict(word[:, None])
        return
    memory, state = model.start(src, src_lens)
    for end in range(1, words.shape[1] + 1):
        features = model.decoder.features(words[:, :end], memory, state, need_weights=False)[0]
        model.decoder.output(features[:, -1:])


def decoding(setup: TransformerSettings, *, width: int = 128, vocab: int = 500) -> list[dict]:
    """Milliseconds to write sentences of each length, one at a time, from a source of the same length."""
    with seeded(0):
        transformer_model = transformer(vocab, vocab, width, setup).eval()
        recurrent_model = recurrent(vocab, vocab, width).eval()
    results = []
    for length in setup.written:
        with seeded(length):
            src, words = torch.randint(4, vocab, (2, 1, length))
        words[:, 0] = BOS
        calls = {
            "with cache": lambda src=src, words=words: write_words(
                transformer_model, src, words, steps=DecoderSteps
            ),
            "without cache": lambda src=src, words=words: write_words(
                transformer_model, src, words, steps=None
            ),
            "recurrent": lambda src=src, words=words: write_words(
                recurrent_model, src, words, steps=DecoderSteps
            ),
        }
        seconds = in_turn(calls, setup.repeats)
        results.append(
            {"words": length, "milliseconds": {name: round(1e3 * n, 1) for name, n in seconds.items()}}
        )
    return results


def _main(
    parts: Annotated[
        list[str] | None, typer.Argument(help="same_seconds, by_length, costs, decoding; by default all")
    ] = None,
    out: Annotated[Path, typer.Option(help="results; other parts that it holds stay")] = RESULTS,
) -> None:
    """Measure the Transformer beside the recurrent translator; store the results."""
    torch.set_num_threads(1)  # as for the results in the book
    setup, progress = TransformerSettings(), sys.stderr.isatty()
    results = json.loads(out.read_text("utf-8")) if out.exists() else {}
    results["torch"] = torch.__version__
    measures: dict[str, Callable[[], Sequence[dict]]] = {
        "same_seconds": lambda: same_seconds(setup, corpus_of_the_chapter(), progress=progress),
        "by_length": lambda: by_length(LengthSettings(), setup, progress=progress),
        "costs": lambda: costs(setup),
        "decoding": lambda: decoding(setup),
    }
    for part in parts or measures:
        results[part] = measures[part]()
        write_whole(out, (json.dumps(results, indent=1) + "\n").encode())


if __name__ == "__main__":
    typer.run(_main)
