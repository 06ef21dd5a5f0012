"""The attention study: a translator with attention and one without, on two amounts of data, with three seeds.

Run as ``PYTHONPATH=chapters python -m studies.attention_study``. It trains on the grammar corpus and needs about 20
minutes on one core. The results are stored beside this file; chapters/bahdanau_decoder reads them. Models, training
and search come from ``utils``.
"""

import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
import typer

from studies.parts import run_parts
from studies.transformer_study import ChapterCorpus, corpus_of_the_chapter
from utils.corpus.batches import pad_ids
from utils.corpus.grammar import Triple
from utils.fast_training import fast_loss
from utils.search import greedy
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder, FixedContextDecoder
from utils.training import fit, seeded

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: The two decoders; all else is the same.
KINDS = {"with": BahdanauDecoder, "without": FixedContextDecoder}


class AttentionSettings(NamedTuple):
    """The settings of the study.

    Attributes:
        sizes: sentence pairs for training; each smaller set is the beginning of the larger one, whose rows are
            drawn at random.
        steps: batches of 64 pairs that every translator reads.
        more: as many times the steps for a translator without attention that trains at least as long as one with it.
        lrs: learning rates; each decoder has the one with the most right sentences of validation, by the first seed.
        seeds: of the weights, the dropout and the order of the batches.
        num_test: sentences for validation, and as many to test.
    """

    sizes: tuple[int, ...] = (6_000, 24_000)
    steps: int = 750
    more: int = 2
    lrs: tuple[float, ...] = (4e-3, 8e-3, 1.6e-2, 3.2e-2)
    seeds: tuple[int, ...] = (0, 1, 2)
    num_test: int = 500


def which_right(model: EncoderDecoder, corpus: ChapterCorpus, sentences: list[Triple]) -> list[bool]:
    """Which greedy translations equal the reference, word for word."""
    ids = corpus.en.encode([t.en for t in sentences])
    found = greedy(model, pad_ids(ids), torch.tensor([*map(len, ids)]), max_len=50)
    return [corpus.fr.tokens(each.tokens) == list(t.fr) for each, t in zip(found, sentences, strict=True)]


def train(
    kind: str, corpus: ChapterCorpus, *, steps: int, lr: float, seed: int
) -> tuple[EncoderDecoder, dict]:
    """Train a translator, and say how long it took and how low its loss is at the end."""
    batches = corpus.batches(seed, batch_size=64)
    with seeded(seed):
        encoder = Encoder(len(corpus.en), 64, 64, dropout=0.1)
        decoder = KINDS[kind](len(corpus.fr), 64, 96, 128, dropout=0.1, cell="gated")
        model = EncoderDecoder(encoder, decoder)
    start = time.process_time()
    selection = list(islice(chain.from_iterable(repeat(batches)), steps))
    history = fit(model, selection, epochs=1, lr=lr, loss=fast_loss, seed=seed)
    return model, {
        "seed": seed,
        "steps": steps,
        "processor_seconds": round(time.process_time() - start, 1),
        "loss": round(statistics.mean(history.losses[-50:]), 3),
    }


def tested(model: EncoderDecoder, corpus: ChapterCorpus) -> dict:
    """How many test sentences are right, and how many of the long ones."""
    right = which_right(model, corpus, corpus.test)
    return {
        "right": sum(right),
        "long_right": sum(ok for ok, t in zip(right, corpus.test, strict=True) if len(t.en) >= 12),
    }


def measure(kind: str, size: int, setup: AttentionSettings) -> dict:
    """Choose a learning rate on the sentences of validation, then train with every seed and test."""
    corpus = corpus_of_the_chapter(size, setup.num_test)
    trials, first = [], {}
    for lr in setup.lrs:
        model, about = train(kind, corpus, steps=setup.steps, lr=lr, seed=setup.seeds[0])
        trials.append({"lr": lr, "right": sum(which_right(model, corpus, corpus.valid))})
        first[lr] = model, about
    lr = max(trials, key=lambda trial: trial["right"])["lr"]
    runs = [first[lr], *(train(kind, corpus, steps=setup.steps, lr=lr, seed=s) for s in setup.seeds[1:])]
    return {"lr": lr, "validation": trials, "runs": [about | tested(model, corpus) for model, about in runs]}


def measure_more(size: int, setup: AttentionSettings, lr: Callable[[], float]) -> dict:
    """Train the translator without attention for more steps, with every seed, and test."""
    corpus, rate = corpus_of_the_chapter(size, setup.num_test), lr()
    runs = [train("without", corpus, steps=setup.more * setup.steps, lr=rate, seed=s) for s in setup.seeds]
    return {"lr": rate, "runs": [about | tested(model, corpus) for model, about in runs]}


def _main(
    parts: Annotated[
        list[str] | None, typer.Argument(help="parts to measure; by default those missing")
    ] = None,
    out: Annotated[Path, typer.Option(help="the results")] = RESULTS,
) -> None:
    """Train both translators on both amounts of data; store the results."""
    torch.set_num_threads(1)  # as for the results in the book
    setup = AttentionSettings()
    measures: dict[str, Callable[[], dict]] = {}
    for size in setup.sizes:
        measures |= {f"{kind} {size}": partial(measure, kind, size, setup) for kind in KINDS}
    largest = f"without {max(setup.sizes)}"
    measures[f"{largest}, more steps"] = partial(
        measure_more,
        max(setup.sizes),
        setup,
        lambda: json.loads(out.read_text("utf-8"))["parts"][largest]["lr"],
    )
    belongs_to = {"torch": torch.__version__, **setup._asdict()}
    run_parts(measures, out, belongs_to=belongs_to, only=parts)


if __name__ == "__main__":
    typer.run(_main)
