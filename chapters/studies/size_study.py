"""The size study: how good a small translator becomes with 1,000 to 160,000 sentence pairs.

It also measures how many steps the translator of chapters/chinese_english needs for the sample of the course.

Run as ``PYTHONPATH=chapters python -m studies.size_study``. It needs the data folder with ``tatoeba/cmn.txt`` and
``tatoeba/fra.txt`` (book/data_and_licences), and about half an hour on one core. The results are stored beside this
file; they hold numbers and no sentence. Models, training, search and scores come from ``utils``.
"""

import copy
import hashlib
import math
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
import typer

from studies.parts import run_parts
from studies.sample import SAMPLE
from utils.corpus.batches import ShuffledBatches, make_batch, pad_ids
from utils.corpus.pairs import find_file, read_pairs
from utils.corpus.splits import Example, group_split
from utils.corpus.vocabulary import Vocabulary
from utils.fast_training import fast_loss
from utils.metrics import bleu, chrf
from utils.search import greedy
from utils.seq2seq import EncoderDecoder
from utils.training import Ids, fit, seeded
from utils.translator.models import Settings, build_model

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: The file of each source language; the target is English, the first column.
FILES = {"zh": "tatoeba/cmn.txt", "fr": "tatoeba/fra.txt"}
#: The groups of rows that are held out to test on, and the width of embeddings and states.
NUM_TEST, WIDTH = 500, 128
#: The merges of a language with blanks between its words.
MERGES = 3_000
#: Steps of training that are compared on the sample of the course, and the groups that are held out from it.
STEPS, GROUPS_OF_SAMPLE = (400, 800, 1_600), 240


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


#: The sentences of both languages as ids.
Sides = tuple[Ids, Ids]


def measure(source: str, plan: Plan) -> dict:
    """Train on some pairs of a file, and score the translations of its test sentences."""
    pairs = read_pairs(FILES[source], ("en", source)).between(source, "en")
    split = group_split(pairs, num_test=NUM_TEST, num_valid=0)
    rows = random.Random(0).sample(split.train, len(split.train))[: plan.pairs]
    sources, targets = zip(*rows, strict=True)
    src = pieces(sources, merges=0 if source == "zh" else MERGES)
    tgt = pieces(targets, merges=MERGES)
    settings = Settings(source, "en", d_embed=WIDTH, d_hidden=WIDTH, dropout=plan.dropout)
    model = build_model(settings, len(src), len(tgt))
    batches = ShuffledBatches(src.encode(sources), tgt.encode(targets), batch_size=64)
    start = time.process_time()
    history = fit(model, batches, epochs=plan.epochs, loss=fast_loss)
    minutes = (time.process_time() - start) / 60
    hypotheses = translations(model, src, tgt, [example.source for example in split.test])
    facts = {
        "pairs": len(rows),
        "epochs": plan.epochs,
        "steps": len(history.losses),
        "minutes_of_training": round(minutes, 1),
        "test": len(split.test),
    }
    return facts | scores(hypotheses, split.test)


def measure_steps(numbers: Sequence[int]) -> dict:
    """The translator of chapters/chinese_english, trained on the sample with more and fewer steps."""
    pairs = read_pairs(str(SAMPLE), ("en", "zh")).between("zh", "en")
    split = group_split(pairs, num_test=GROUPS_OF_SAMPLE, num_valid=GROUPS_OF_SAMPLE)
    for part in split:
        random.Random(0).shuffle(part)
    sources, targets = zip(*split.train, strict=True)
    src, tgt = pieces(sources, merges=0), pieces(targets, merges=1_000)
    train, valid = (
        tuple(
            vocabulary.encode(side)
            for vocabulary, side in zip((src, tgt), zip(*rows, strict=True), strict=True)
        )
        for rows in (split.train, split.valid)
    )
    settings = Settings("zh", "en", d_embed=WIDTH, d_hidden=WIDTH, dropout=0.3)
    results = {}
    for steps in numbers:
        model = build_model(settings, len(src), len(tgt))
        loss, best_step = train_as_on_the_page(model, train, valid, steps)
        texts = translations(model, src, tgt, [example.source for example in split.test])
        results[str(steps)] = {"loss": round(loss, 3), "at": best_step} | scores(texts, split.test)
    return results


def train_as_on_the_page(model: EncoderDecoder, train: Sides, valid: Sides, steps: int) -> tuple[float, int]:
    """Train with a learning rate that falls to 0; the model gets the weights of the lowest validation loss.

    Returns:
        This loss, and its step.
    """
    with seeded(0):
        batches = ShuffledBatches(*train, batch_size=64)
        endless = (batch for _ in count() for batch in batches)
        optimizer = torch.optim.Adam(model.parameters())
        best, best_step, weights = math.inf, 0, {}
        for step, batch in zip(range(1, steps + 1), endless, strict=False):
            optimizer.param_groups[0]["lr"] = 0.006 * (1 - step / steps)
            loss = fast_loss(model.train(), batch)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            if step % 50 == 0 or step == steps:
                with torch.no_grad():
                    held_out = fast_loss(model.eval(), make_batch(*valid)).item()
                if held_out < best:
                    best, best_step, weights = held_out, step, copy.deepcopy(model.state_dict())
        model.load_state_dict(weights)
        model.eval()
    return best, best_step


def translations(
    model: EncoderDecoder, src: Vocabulary, tgt: Vocabulary, sources: Sequence[str]
) -> list[str]:
    """The greedy translation of each sentence."""
    texts = []
    for first in range(0, len(sources), 100):
        ids = src.encode(sources[first : first + 100])
        src_lens = torch.tensor(list(map(len, ids)))
        hypotheses = greedy(model, pad_ids(ids), src_lens, max_len=60)
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


def run_study(
    plans: Mapping[str, Sequence[Plan]],
    out: Path,
    *,
    steps: Sequence[int] = STEPS,
) -> None:
    """Measure the plans and the numbers of steps.

    What is stored is not measured again.
    """
    digests = {path: hashlib.sha256(find_file(path).read_bytes()).hexdigest() for path in FILES.values()}
    head = {"sha256": digests, "test_groups": NUM_TEST, "width": WIDTH}
    measures: dict[str, Callable[[], dict]] = {
        f"{source} {plan.pairs}": lambda source=source, plan=plan: measure(source, plan)
        for source in plans
        for plan in plans[source]
    }
    measures["steps"] = partial(measure_steps, steps)
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
