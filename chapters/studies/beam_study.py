"""The beam study: what a wider beam finds, with and without division by the length.

Run as ``PYTHONPATH=chapters python -m studies.beam_study``. It trains the translator of chapters/beam_search with three
seeds on the grammar corpus, and needs about five minutes on one core. The results are stored beside this file; the
chapter reads them.
"""

import json
import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from sacrebleu import corpus_bleu
from torch import Tensor

from studies.length_study import LengthTask, grammar_task, train
from studies.parts import run_parts
from utils.corpus.batches import pad_ids
from utils.corpus.vocabulary import BOS, EOS
from utils.exercises.beam_search import beam_step
from utils.metrics import bleu_tokenizer
from utils.search import DecoderSteps, Hypothesis, beam_search
from utils.seq2seq import EncoderDecoder

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
SEEDS = (0, 1, 2)
#: The exponents of the length, and the widths of the beam.
GAMMAS, WIDTHS = (0, 1), (1, 2, 5, 10, 20, 50)
#: The last sentences of the task, all of 17 to 24 words; those of training have at most 16.
NUM_LONG = 300
MAX_LEN = 60
#: A test sentence that greedy search translates wrongly and a beam of three rightly, and the widths of its trees.
SENTENCE = "he will eat a cake tomorrow ."
RIGHT = "Il va manger un gâteau demain."
TREES = (1, 3, 5)


def beam_task() -> LengthTask:
    """Sentences of at most 16 words to train on, and sentences of up to 24 to search with; the longest come last.

    Explained in chapters/beam_search.
    """
    return grammar_task(16, num_tokens=120_000, longest=24, num_test=NUM_LONG, edges=(8, 16))


def translator(task: LengthTask, seed: int = 0) -> EncoderDecoder:
    """The translator with attention that has read each sentence of the task once.

    Explained in chapters/beam_search.
    """
    return train(task, "attention", width=64, batch_size=24, lr=0.01, seed=seed)


class CountedSteps(DecoderSteps):
    """Counts what a search costs: the rows that the decoder reads, one for each hypothesis at each step."""

    rows = 0

    def predict(self, words: Tensor) -> tuple:
        CountedSteps.rows += words.numel()
        return super().predict(words)


def found_by(
    model: EncoderDecoder, sentences: Sequence[Sequence[int]], *, beam: int, gamma: float
) -> list[Hypothesis]:
    """The best translation of each sentence."""
    found = []
    for start in range(0, len(sentences), 100):  # a wide beam of all at once would take much memory
        some = sentences[start : start + 100]
        lens = torch.tensor([len(ids) for ids in some])
        options = {"beam": beam, "length_penalty": gamma, "max_len": MAX_LEN}
        found += beam_search(model, pad_ids(some), lens, **options, steps=CountedSteps)
    return [hypotheses[0] for hypotheses in found]


def measure_search(model: EncoderDecoder, task: LengthTask, *, beam: int, gamma: float) -> dict[str, float]:
    """BLEU, with and without its penalty for brevity, length, log-probability and cost on the long sentences."""
    CountedSteps.rows = 0
    best = found_by(model, task.test_ids[-NUM_LONG:], beam=beam, gamma=gamma)
    texts = [task.write(one.tokens) for one in best]
    right = [reference for [reference] in task.references[-NUM_LONG:]]
    score = corpus_bleu(texts, [right], tokenize=bleu_tokenizer("fr"), lowercase=True)
    return {
        "gamma": gamma,
        "width": beam,
        "bleu": round(score.score, 2),
        "without_penalty": round(score.score / score.bp, 2),
        "length_ratio": round(score.sys_len / score.ref_len, 3),
        "log_prob": round(sum(one.log_prob for one in best) / len(best), 3),
        "rows": CountedSteps.rows,
    }


def measure_seed(seed: int) -> dict[str, Any]:
    """Every search with the translator of one seed."""
    task = beam_task()
    model = translator(task, seed)
    return {"searches": [measure_search(model, task, beam=k, gamma=g) for g in GAMMAS for k in WIDTHS]}


def measured(measure: str, gamma: float) -> Tensor:
    """A measure of the stored searches: a row for each seed, a column for each width.

    Explained in chapters/beam_search.
    """
    parts = json.loads(RESULTS.read_text("utf-8"))["parts"]
    rows = [parts[f"seed {seed}"]["searches"] for seed in SEEDS]
    numbers = [[search[measure] for search in row if search["gamma"] == gamma] for row in rows]
    return torch.tensor(numbers, dtype=torch.float64)


class _Steps:
    """The decoder, word by word, as the exercises of the chapter run it."""

    def __init__(self, model: EncoderDecoder, ids: Sequence[int]):
        self.decoder = model.decoder
        self.memory, self.first = model.start(torch.tensor([ids]), torch.tensor([len(ids)]))

    def next(self, word: int, state: Tensor) -> tuple[Tensor, Tensor]:
        logits, state, _ = self.decoder(torch.tensor([[word]]), self.memory, state)
        return logits[0, 0].log_softmax(dim=-1), state


@torch.no_grad()
def tree(model: EncoderDecoder, task: LengthTask, sentence: str, beam: int) -> list[list]:
    """What a beam keeps after each step: the words of each hypothesis, and its probability."""
    steps = _Steps(model, task.read(sentence))
    kept, history = [([BOS], 0.0, steps.first)], []
    while len(history) < MAX_LEN and any(words[-1] != EOS for words, _, _ in kept):
        kept = beam_step.program(steps, kept, beam, 1)
        history.append(
            [[task.tgt_vocabulary.tokens(words[1:]), round(math.exp(p), 4)] for words, p, _ in kept]
        )
    return history


def measure_trees() -> dict[str, Any]:
    """The trees of one sentence, by the width of the beam."""
    task = beam_task()
    model = translator(task)
    return {
        "sentence": SENTENCE,
        "right": RIGHT,
        "trees": {str(beam): tree(model, task, SENTENCE, beam) for beam in TREES},
    }


def main() -> None:
    """Train the translators, search with each of them, and store what is found."""
    torch.set_num_threads(1)  # as for the results in the book
    measures = {f"seed {seed}": partial(measure_seed, seed) for seed in SEEDS} | {"trees": measure_trees}
    run_parts(measures, RESULTS, belongs_to={"torch": torch.__version__})


if __name__ == "__main__":
    main()
