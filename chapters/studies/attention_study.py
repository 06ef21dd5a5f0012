"""The attention study: how many sentences of each length a translator with attention gets right, and one without it.

Run as ``PYTHONPATH=chapters python -m studies.attention_study``. It trains on the grammar corpus and needs about 15
minutes on one core. The results are stored beside this file; chapters/bahdanau_decoder reads them. Models, training
and search come from ``utils``.
"""

import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
import typer

from studies.parts import climb, run_parts
from studies.transformer_study import SENTENCE, ChapterCorpus, corpus_of_the_chapter, endless
from utils.corpus.batches import make_batch, pad_ids
from utils.corpus.grammar import Triple
from utils.fast_training import fast_loss
from utils.search import greedy
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder, FixedContextDecoder
from utils.training import fit, seeded

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: Each decoder, and how many times as wide as the first one the translator is in all its parts.
KINDS = {
    "attention": (BahdanauDecoder, 1),
    "one vector": (FixedContextDecoder, 1),
    "one vector, twice as wide": (FixedContextDecoder, 2),
}
#: The translator that trains longer, after the first part of its name.
LONGER = "one vector, twice the steps"
#: The part that holds where the translator with attention looks in ``SENTENCE`` while it trains.
MAPS = "where it looks"


class AttentionSettings(NamedTuple):
    """The settings of the study.

    Attributes:
        pairs: sentence pairs for training.
        steps: batches of 64 pairs that every translator reads.
        more: as many times the steps for the translator that trains longer.
        start: the search for a learning rate begins with this one and its double.
        seeds: of the weights, the dropout and the order of the batches; the rate is chosen with the first one.
        num_test: sentences for validation, and as many to test.
        edges: longest sentences of the groups by length, in English words.
        map_steps: after how many steps it is stored where the translator looks.
    """

    pairs: int = 24_000
    steps: int = 750
    more: int = 2
    start: float = 8e-3
    seeds: tuple[int, ...] = (0, 1, 2)
    num_test: int = 500
    edges: tuple[int, ...] = (5, 8, 11, 14, 16)
    map_steps: tuple[int, ...] = (0, 50, 100, 150, 200, 300, 450, 600, 750)


def which_right(model: EncoderDecoder, corpus: ChapterCorpus, sentences: list[Triple]) -> list[bool]:
    """Which greedy translations equal the reference, word for word."""
    ids = corpus.en.encode([t.en for t in sentences])
    found = greedy(model, pad_ids(ids), torch.tensor([*map(len, ids)]), max_len=50)
    return [corpus.fr.tokens(each.tokens) == list(t.fr) for each, t in zip(found, sentences, strict=True)]


def by_length(counted: list[bool], sentences: list[Triple], edges: tuple[int, ...]) -> list[int]:
    """How many of the sentences of each group by length are counted."""
    groups = [0] * len(edges)
    for count, sentence in zip(counted, sentences, strict=True):
        groups[next(group for group, edge in enumerate(edges) if len(sentence.en) <= edge)] += count
    return groups


def make(kind: str, corpus: ChapterCorpus, seed: int) -> EncoderDecoder:
    """A translator before training."""
    decoder, times = KINDS[kind]
    width = 64 * times
    with seeded(seed):
        encoder = Encoder(len(corpus.en), width, width, dropout=0.1)
        return EncoderDecoder(encoder, decoder(len(corpus.fr), width, 96 * times, 2 * width, dropout=0.1))


def train(
    kind: str,
    corpus: ChapterCorpus,
    *,
    steps: int,
    lr: float,
    seed: int,
    watch: Callable[[EncoderDecoder, int], object] = lambda _model, _step: None,
) -> tuple[EncoderDecoder, dict]:
    """Train a translator, and say how long it took and how low its loss is at the end.

    Args:
        watch: called with the model and the number of steps that are done, from 0 on.
    """
    model = make(kind, corpus, seed)
    watch(model, 0)
    selection = list(islice(endless(corpus.batches(seed, batch_size=64)), steps))
    start = time.process_time()
    options = {"lr": lr, "loss": fast_loss, "seed": seed}
    history = fit(model, selection, epochs=1, **options, on_step=lambda h: watch(model, len(h.losses)))
    return model, {
        "seed": seed,
        "steps": steps,
        "processor_seconds": round(time.process_time() - start, 1),
        "loss": round(statistics.mean(history.losses[-50:]), 3),
    }


def tested(model: EncoderDecoder, corpus: ChapterCorpus, setup: AttentionSettings) -> dict:
    """How many test sentences are right, in all and in each group by length."""
    groups = by_length(which_right(model, corpus, corpus.test), corpus.test, setup.edges)
    return {"right": sum(groups), "right_by_length": groups}


def measure(kind: str, setup: AttentionSettings) -> dict:
    """Choose a learning rate on the sentences of validation, then train with every seed and test."""
    corpus, first = corpus_of_the_chapter(setup.pairs, setup.num_test), {}

    def on_validation(lr: float) -> int:
        first[lr] = train(kind, corpus, steps=setup.steps, lr=lr, seed=setup.seeds[0])
        return sum(which_right(first[lr][0], corpus, corpus.valid))

    trials = climb(on_validation, setup.start)
    lr = max(trials, key=lambda lr: trials[lr])
    runs = [first[lr], *(train(kind, corpus, steps=setup.steps, lr=lr, seed=s) for s in setup.seeds[1:])]
    return {
        "lr": lr,
        "parameters": sum(parameter.numel() for parameter in first[lr][0].parameters()),
        "num_by_length": by_length([True] * len(corpus.test), corpus.test, setup.edges),
        "validation": [{"lr": lr, "right": right} for lr, right in trials.items()],
        "runs": [about | tested(model, corpus, setup) for model, about in runs],
    }


def measure_longer(setup: AttentionSettings, of_equal_steps: Callable[[], dict]) -> dict:
    """Train the translator without attention for more steps, with every seed, and test."""
    kind, corpus = LONGER.partition(",")[0], corpus_of_the_chapter(setup.pairs, setup.num_test)
    same = {name: of_equal_steps()[name] for name in ("lr", "parameters", "num_by_length")}
    steps = setup.more * setup.steps
    runs = [train(kind, corpus, steps=steps, lr=same["lr"], seed=s) for s in setup.seeds]
    return same | {"runs": [about | tested(model, corpus, setup) for model, about in runs]}


def look(setup: AttentionSettings, of_attention: Callable[[], dict]) -> dict:
    """Train with attention and the first seed again, and keep where it looks in one sentence, read as in training."""
    corpus, lr = corpus_of_the_chapter(setup.pairs, setup.num_test), of_attention()["lr"]
    english, french = ([text.split()] for text in SENTENCE)
    batch = make_batch(corpus.en.encode(english), corpus.fr.encode(french))
    maps = []

    @torch.no_grad()
    def watch(model: EncoderDecoder, step: int) -> None:
        if step in setup.map_steps:
            trains = model.training
            _, weights = model.eval()(batch.src, batch.src_lens, batch.tgt_in)
            model.train(trains)
            rows = weights[0, : len(french[0])]
            maps.append([[round(weight, 3) for weight in row] for row in rows.tolist()])

    train("attention", corpus, steps=setup.steps, lr=lr, seed=setup.seeds[0], watch=watch)
    return {"lr": lr, "english": english[0], "french": french[0], "weights": maps}


def _main(
    parts: Annotated[
        list[str] | None, typer.Argument(help="parts to measure; by default those missing")
    ] = None,
    out: Annotated[Path, typer.Option(help="the results")] = RESULTS,
) -> None:
    """Train with attention and without it; store how many sentences of each length are right."""
    torch.set_num_threads(1)  # as for the results in the book
    setup = AttentionSettings()

    def stored(part: str) -> dict:
        return json.loads(out.read_text("utf-8"))["parts"][part]

    measures: dict[str, Callable[[], dict]] = {kind: partial(measure, kind, setup) for kind in KINDS}
    measures[LONGER] = partial(measure_longer, setup, partial(stored, "one vector"))
    measures[MAPS] = partial(look, setup, partial(stored, "attention"))
    belongs_to = {"torch": torch.__version__, **setup._asdict()}
    run_parts(measures, out, belongs_to=belongs_to, only=parts)


if __name__ == "__main__":
    typer.run(_main)
