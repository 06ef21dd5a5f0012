"""The beam study: what a wider beam finds, with and without division by the length.

Run as ``PYTHONPATH=chapters python -m studies.beam_study``. It trains the translator of chapters/beam_search with three
seeds on the grammar corpus, and needs about five minutes on one core. With the first of them it also draws translations
and answers what the chapter asks in *Going deeper*. The results are stored beside this file; the chapter reads them.
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
from utils.metrics import bleu, bleu_tokenizer, paired_bootstrap
from utils.search import DecoderSteps, Hypothesis, beam_search, greedy
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
#: The width and the exponent of the searches that *Going deeper* compares, and how often a translation is drawn.
SEARCHES = {"greedy search": (1, 1), "beam of 5": (5, 1), "beam of 50, not divided": (50, 0)}
TEMPERATURES, NUM_DRAWS = (0.4, 0.7, 1.0), 5
#: The differences that are tested: the widths and exponents of two searches.
DIFFERENCES = {
    "greedy search, beam of 5 (divided)": ((1, 1), (5, 1)),
    "beam of 5, beam of 50 (undivided)": ((5, 0), (50, 0)),
    "beam of 5, undivided and divided": ((5, 0), (5, 1)),
}


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


@torch.no_grad()
def draw(
    model: EncoderDecoder,
    sentences: Sequence[Sequence[int]],
    temperature: float,
    generator: torch.Generator,
) -> list[list[int]]:
    """A translation of each sentence, drawn word by word: its ids, without the end.

    Explained in chapters/beam_search.
    """
    memory, state = model.start(pad_ids(sentences), torch.tensor([len(ids) for ids in sentences]))
    word, written = torch.full((len(sentences), 1), BOS), []
    for _ in range(MAX_LEN):
        logits, state, _ = model.decoder(word, memory, state)
        word = torch.multinomial(
            (logits[:, 0] / temperature).softmax(dim=-1), num_samples=1, generator=generator
        )
        written.append(word)
    rows = torch.cat([*written, torch.full_like(word, EOS)], dim=1)
    return [row[: row.index(EOS)] for row in rows.tolist()]


def repeats(words: Sequence[str], n: int = 3) -> bool:
    """Whether n words in a row occur twice.

    Explained in chapters/beam_search.
    """
    grams = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
    return len(set(grams)) < len(grams)


def measure_more() -> dict[str, Any]:
    """With the translator of the first seed: drawn translations, tests, practised lengths and blocked phrases."""
    task = beam_task()
    model = translator(task)
    sentences, references = task.test_ids[-NUM_LONG:], task.references[-NUM_LONG:]

    def texts_of(found: Sequence[Hypothesis]) -> list[str]:
        return [task.write(one.tokens) for one in found]

    def bleu_of(texts: Sequence[str]) -> float:
        return round(bleu(texts, references, lang="fr").value, 2)

    pairs = {*SEARCHES.values()}.union(*DIFFERENCES.values())
    texts = {
        (beam, gamma): texts_of(found_by(model, sentences, beam=beam, gamma=gamma))
        for beam, gamma in sorted(pairs)
    }

    generator = torch.Generator().manual_seed(0)
    drawn = {
        T: [[*map(task.write, draw(model, sentences, T, generator))] for _ in range(NUM_DRAWS)]
        for T in TEMPERATURES
    }
    ways = {name: [texts[SEARCHES[name]]] for name in ("beam of 5", "greedy search")}
    ways |= {f"drawn, T = {T}": some for T, some in drawn.items()}
    chosen = {
        name: {
            "bleu": round(sum(map(bleu_of, some)) / len(some), 2),
            "different": round(sum(len({*of_one}) for of_one in zip(*some, strict=True)) / NUM_LONG, 3),
        }
        for name, some in ways.items()
    }

    tests = {}
    for name, (first, second) in DIFFERENCES.items():
        result, _ = paired_bootstrap(texts[first], texts[second], references, lang="fr", resamples=3000)
        numbers = {"first": result.first, "second": result.second, "p": result.p_value}
        tests[name] = {what: round(number, 5) for what, number in numbers.items()}

    practised = {}
    for name, (beam, gamma) in SEARCHES.items():
        found = texts_of(found_by(model, task.test_ids[:-NUM_LONG], beam=beam, gamma=gamma))
        same = [text == right for text, [right] in zip(found, task.references[:-NUM_LONG], strict=True)]
        practised[name] = [sum(same[:NUM_LONG]), sum(same[NUM_LONG:])]

    lens = torch.tensor([len(ids) for ids in sentences])
    blocked = greedy(model, pad_ids(sentences), lens, max_len=MAX_LEN, no_repeat_ngram=3)
    compared = {
        "greedy search": texts[1, 1],
        "blocked": texts_of(blocked),
        "references": [text for [text] in references],
    }
    phrases = {
        name: {"repeated": sum(repeats(text.split()) for text in some), "bleu": bleu_of(some)}
        for name, some in compared.items()
    }
    return {"chosen": chosen, "tests": tests, "practised": practised, "phrases": phrases}


def main() -> None:
    """Train the translators, search with each of them, and store what is found."""
    torch.set_num_threads(1)  # as for the results in the book
    measures = {f"seed {seed}": partial(measure_seed, seed) for seed in SEEDS}
    measures |= {"trees": measure_trees, "more": measure_more}
    run_parts(measures, RESULTS, belongs_to={"torch": torch.__version__})


if __name__ == "__main__":
    main()
