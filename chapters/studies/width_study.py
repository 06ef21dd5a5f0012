"""The width study: does a wider vector keep more of a long sentence? The comparison of chapters/sentence_length again.

Run as ``PYTHONPATH=chapters python -m studies.width_study``. It trains on the grammar corpus and needs about seven
minutes on one core. The results are stored beside this file; chapters/sentence_length reads them.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch

from studies.length_study import LengthTask, grammar_task, score, train
from studies.parts import run_parts
from utils.metrics import bleu

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: Decoder and width, by the names in the results.
KINDS = {
    "attention 64": ("attention", 64),
    "one vector 64": ("one vector", 64),
    "one vector 128": ("one vector", 128),
    "one vector 256": ("one vector", 256),
}


class WidthSettings(NamedTuple):
    """The settings of the study: those of the chapter, and how a learning rate is found.

    Attributes:
        limit: longest sentence of training, in English words.
        num_tokens: French words of training, the ends of the sentences included.
        longest: longest sentence of the test.
        edges: longest sentences of the buckets.
        num_test: test sentences in each bucket.
        num_valid: sentences of validation, in each bucket that training has.
        batch_size: sentence pairs per step.
        start: the search for a learning rate begins with this one and its double.
        seeds: the rate is chosen with the first one.
    """

    limit: int = 16
    num_tokens: int = 130_000
    longest: int = 30
    edges: tuple[int, ...] = (8, 16, 24)
    num_test: int = 75
    num_valid: int = 150
    batch_size: int = 24
    start: float = 0.005
    seeds: tuple[int, ...] = (0, 1, 2)

    def test_task(self) -> LengthTask:
        """The sentences of the chapter."""
        options = {"num_tokens": self.num_tokens, "longest": self.longest}
        return grammar_task(self.limit, num_test=self.num_test, edges=self.edges, **options)

    def valid_task(self) -> LengthTask:
        """The same sentences of training, and others of validation that are as short as these."""
        edges = [edge for edge in self.edges if edge < self.limit]
        options = {"num_tokens": self.num_tokens, "longest": self.limit, "split": "valid"}
        return grammar_task(self.limit, num_test=self.num_valid, edges=edges, **options)


def climb(score_of: Callable[[float], float], start: float) -> dict[float, float]:
    """The scores of learning rates, each twice the one before, so many that the best is not at an edge.

    >>> climb(lambda lr: -abs(lr - 5), start=1)
    {1: -4, 2: -3, 4: -1, 8: -3}
    """
    scores = {lr: score_of(lr) for lr in (start, 2 * start)}
    while (best := max(scores, key=lambda lr: scores[lr])) in (min(scores), max(scores)):
        lr = best / 2 if best == min(scores) else 2 * best
        scores[lr] = score_of(lr)
    return dict(sorted(scores.items()))


def measure(kind: str, setup: WidthSettings) -> dict:
    """Choose a learning rate on the sentences of validation, then train with every seed and test."""
    (decoder, width), task, valid = KINDS[kind], setup.test_task(), setup.valid_task()
    trained = partial(train, task, decoder, width=width, batch_size=setup.batch_size)
    first = {}

    def on_validation(lr: float) -> float:
        first[lr] = trained(lr=lr, seed=setup.seeds[0])
        [together] = score(first[lr], valid, edges=(setup.limit,))
        return round(together.bleu, 2)

    trials = climb(on_validation, setup.start)
    lr = max(trials, key=lambda lr: trials[lr])
    runs = []
    for seed in setup.seeds:
        model = first[lr] if seed == setup.seeds[0] else trained(lr=lr, seed=seed)
        scores = score(model, task, edges=setup.edges)
        ratios = [round(bucket.length_ratio, 3) for bucket in scores]
        runs.append(
            {"seed": seed, "bleu": [round(bucket.bleu, 2) for bucket in scores], "length_ratio": ratios}
        )
    return {
        "lr": lr,
        "parameters": sum(parameter.numel() for parameter in first[lr].parameters()),
        "validation": [{"lr": lr, "bleu": value} for lr, value in trials.items()],
        "runs": runs,
    }


def main() -> None:
    """Train the translators of each kind and store their BLEU by sentence length."""
    torch.set_num_threads(1)  # as for the results in the book
    setup = WidthSettings()
    signature = bleu(["."], [["."]], lang="fr").signature
    belongs_to = {"torch": torch.__version__, "signature": signature, **setup._asdict()}
    run_parts({kind: partial(measure, kind, setup) for kind in KINDS}, RESULTS, belongs_to=belongs_to)


if __name__ == "__main__":
    main()
