"""The size study: how good a small translator becomes with 1,000 to 160,000 sentence pairs.

Run as ``PYTHONPATH=chapters python -m studies.size_study``. It needs the data folder with ``tatoeba/cmn.txt`` and
``tatoeba/fra.txt`` (book/data_and_licences), and about 25 minutes on one core. The results are stored beside this
file; they hold numbers and no sentence. Models, training, search and scores come from ``utils``.
"""

import hashlib
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
import typer

from studies.parts import run_parts
from utils.corpus.batches import ShuffledBatches, pad_ids
from utils.corpus.pairs import find_file, read_pairs
from utils.corpus.splits import Example, group_split
from utils.corpus.vocabulary import Vocabulary
from utils.fast_training import fast_loss
from utils.metrics import bleu, chrf
from utils.search import greedy
from utils.seq2seq import EncoderDecoder
from utils.training import fit
from utils.translator.models import Settings, build_model

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: The file of each source language; the target is English, the first column.
FILES = {"zh": "tatoeba/cmn.txt", "fr": "tatoeba/fra.txt"}
#: The groups of rows that are held out to test on, and the width of embeddings and states.
NUM_TEST, WIDTH = 500, 128


class Plan(NamedTuple):
    """How a number of pairs is trained on: fewer passes over more pairs, so that all fit into half an hour."""

    pairs: int
    epochs: int
    dropout: float


#: The trainings of each source language.
PLANS = {
    "zh": (Plan(1_000, 30, 0.3), Plan(4_000, 16, 0.3), Plan(16_000, 6, 0.2)),
    "fr": (
        Plan(1_000, 30, 0.3),
        Plan(4_000, 16, 0.3),
        Plan(16_000, 6, 0.2),
        Plan(40_000, 3, 0.1),
        Plan(160_000, 1, 0.0),
    ),
}


def pieces(texts: Iterable[str], merges: int) -> Vocabulary:
    """Byte-pair encoding with a number of merges; with none, each character is a piece."""
    texts = list(texts)
    characters = {"▁", *"".join(texts).replace(" ", "▁")}
    return Vocabulary.bpe(texts, 4 + 256 + len(characters) + merges)


def measure(source: str, plan: Plan) -> dict:
    """Train on some pairs of a file, and score the translations of its test sentences."""
    pairs = read_pairs(FILES[source], ("en", source)).between(source, "en")
    split = group_split(pairs, num_test=NUM_TEST, num_valid=0)
    rows = random.Random(0).sample(split.train, len(split.train))[: plan.pairs]
    sources, targets = zip(*rows, strict=True)
    src = pieces(sources, merges=0 if source == "zh" else 3_000)
    tgt = pieces(targets, merges=3_000)
    settings = Settings(source, "en", d_embed=WIDTH, d_hidden=WIDTH, dropout=plan.dropout)
    model = build_model(settings, len(src), len(tgt))
    batches = ShuffledBatches(src.encode(sources), tgt.encode(targets), batch_size=64)
    start = time.process_time()
    history = fit(model, batches, epochs=plan.epochs, loss=fast_loss)
    minutes = (time.process_time() - start) / 60
    hypotheses = translations(model, src, tgt, [example.source for example in split.test])
    return {
        "pairs": len(rows),
        "epochs": plan.epochs,
        "steps": len(history.losses),
        "minutes_of_training": round(minutes, 1),
        "test": len(split.test),
    } | scores(hypotheses, split.test)


def translations(
    model: EncoderDecoder, src: Vocabulary, tgt: Vocabulary, sources: Sequence[str]
) -> list[str]:
    """The greedy translation of each sentence."""
    texts = []
    for first in range(0, len(sources), 100):
        ids = src.encode(sources[first : first + 100])
        lens = torch.tensor(list(map(len, ids)))
        hypotheses = greedy(model, pad_ids(ids), lens, max_len=60)
        texts += [tgt.decode(hypothesis.tokens) for hypothesis in hypotheses]
    return texts


def scores(hypotheses: Sequence[str], test: Sequence[Example]) -> dict:
    """BLEU with its 95 % interval, and chrF."""
    references = [example.references for example in test]
    score = bleu(hypotheses, references, resamples=300)
    return {
        "bleu": round(score.value, 1),
        "interval": [round(end, 1) for end in score.interval or ()],
        "chrf": round(chrf(hypotheses, references).value, 1),
    }


def run_study(plans: Mapping[str, Sequence[Plan]], out: Path) -> None:
    """Measure the plans that are not stored yet."""
    digests = {path: hashlib.sha256(find_file(path).read_bytes()).hexdigest() for path in FILES.values()}
    head = {"sha256": digests, "test_groups": NUM_TEST, "width": WIDTH}
    measures: dict[str, Callable[[], dict]] = {
        f"{source} {plan.pairs}": partial(measure, source, plan) for source in plans for plan in plans[source]
    }
    run_parts(measures, out, belongs_to=head)


def _main(
    out: Annotated[Path, typer.Option(help="results; what it holds is not measured again")] = RESULTS,
) -> None:
    """Train translators on more and more pairs, and store their scores."""
    torch.set_num_threads(1)
    run_study(PLANS, out)
    typer.echo(f"{out}: complete")


if __name__ == "__main__":
    typer.run(_main)
