"""The alignment study: which words small translators link, and what they write with a word hidden from one step.

Run as ``PYTHONPATH=chapters python -m studies.alignment_study``. It needs no file and about four minutes on one core.
The results are stored beside this file; chapters/alignment reads them. Sentences and translators are those of the study
of explanations.
"""

from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
import typer

from studies.aligning import GoldLinks
from studies.explanation import (
    ExplanationSettings,
    Grammar,
    control,
    grammar,
    read,
    translator,
    with_hidden,
)
from studies.links_study import aer_of
from studies.parts import run_parts
from studies.real_sentences import links_by_table, model_1
from utils.corpus.batches import ShuffledBatches, make_batch
from utils.corpus.grammar.lexicon import ADJECTIVES, NAMES, NOUNS, VERBS
from utils.fast_training import fast_loss
from utils.metrics import diagonal_links, links_from_weights
from utils.search import greedy
from utils.seq2seq import BahdanauDecoder, EncoderDecoder
from utils.training import fit

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
SETTINGS = ExplanationSettings(num_test=500)
#: Our sentence, which no training has.
ENGLISH = ["Mary", "found", "the", "small", "white", "flower", "yesterday", "."]
OURS = {
    "fr": ["Marie", "a", "trouvé", "la", "petite", "fleur", "blanche", "hier", "."],
    "zh": ["玛丽", "昨天", "找到", "了", "那", "朵", "白色", "的", "小", "花", "。"],
}
#: The translator whose weights are stored: of the three into Chinese the first that writes our sentence rightly.
MAPPED = ("zh", 1)
#: The translator that reads our sentence with each of its words hidden.
HIDING = ("fr", 0)
#: After how many steps they are stored.
STEPS = (0, 50, 100, 150, 200, 300, 400, 600)
#: Model 1 counts in so many pairs of the training.
NUM_COUNTED = 2000
#: The bands of weight of a hidden word: up to each of these.
EDGES = (0.25, 0.5, 0.75, 1.0)
#: The forms of the words of each kind.
WORDS = {
    "name": set(NAMES),
    "noun": {form for noun in NOUNS.values() for form in noun.en},
    "verb": {form for verb in VERBS.values() for form in verb.en},
    "adjective": set(ADJECTIVES),
}


class Hidden(NamedTuple):
    """A step of the translator whose own source word was hidden from it.

    Attributes:
        kind: of the source word; a name that begins the translation is a "first name".
        weight: that the source word had.
        before: whether the right word was the most probable one.
        after: the same with the source word hidden.
        control: the same with other words hidden that have at least its weight together; None if there are none.
    """

    kind: str
    weight: float
    before: bool
    after: bool
    control: bool | None = None


def kind_of(word: str, place: int) -> str:
    """The kind of an English word whose translation has this place.

    >>> kind_of("Mary", 0), kind_of("Mary", 5), kind_of("flowers", 4), kind_of("the", 3)
    ('first name', 'name', 'noun', 'other')
    """
    kind = next((kind for kind, words in WORDS.items() if word in words), "other")
    return "first name" if kind == "name" and place == 0 else kind


def hide_own_words(model: EncoderDecoder, data: Grammar) -> list[Hidden]:
    """Hide from each step the source word that a gold link joins with its word, if there is exactly one."""
    batch = data.batch(data.test)
    probabilities, weights = read(model, batch)
    alone, others = torch.zeros(2, *weights.shape, dtype=torch.bool)
    steps = []
    for row, sentence in enumerate(data.test):
        for j in range(len(sentence.words(data.lang))):
            own = [i for i, k in sentence.links("en", data.lang) if k == j]
            if len(own) == 1:
                alone[row, j, own[0]] = True
                others[row, j, control(weights[row, j, : len(sentence.en)], own[0])] = True
                steps.append((row, j, own[0]))
    runs = probabilities, with_hidden(model, batch, alone), with_hidden(model, batch, others)
    before, after, controlled = (run.argmax(dim=-1) == batch.tgt_out for run in runs)
    return [
        Hidden(
            kind_of(data.test[row].en[i], j),
            weights[row, j, i].item(),
            before[row, j].item(),
            after[row, j].item(),
            controlled[row, j].item() if others[row, j].any() else None,
        )
        for row, j, i in steps
    ]


def by_weight(steps: Sequence[Hidden]) -> dict[str, list[list[int]]]:
    """Counts for each kind of word and each band of weight.

    Six numbers: the steps, those that were right, those that still are; the steps with a control, and of these those
    that still are right, and those that are right in the control.

    >>> by_weight([Hidden("noun", 0.6, True, False), Hidden("noun", 0.3, True, False, True)])
    {'noun': [[0, 0, 0, 0, 0, 0], [1, 1, 0, 1, 0, 1], [1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]}
    """
    counts = {step.kind: [[0] * 6 for _ in EDGES] for step in steps}
    for step in steps:
        band = counts[step.kind][next(k for k, edge in enumerate(EDGES) if step.weight <= edge + 1e-6)]
        numbers = [1, step.before, step.after]
        if step.control is not None:
            numbers += [1, step.after, step.control]
        for place, number in enumerate(numbers):
            band[place] += number
    return counts


def by_distance(links: Sequence[frozenset], data: Grammar) -> list[list[int]]:
    """For gold links on the diagonal, one, two, and three or more words beside it: target words, and right ones."""
    counts = [[0, 0] for _ in range(4)]
    for found, sentence in zip(links, data.test, strict=True):
        gold = sentence.links("en", data.lang)
        straight = {j: i for i, j in diagonal_links(len(sentence.en), len(sentence.words(data.lang)))}
        looked = {j: i for i, j in found}
        for j in {j for _, j in gold}:
            distance = min(abs(i - straight[j]) for i, k in gold if k == j)
            counts[min(distance, 3)][0] += 1
            counts[min(distance, 3)][1] += (looked[j], j) in gold
    return counts


def attention_links(model: EncoderDecoder, data: Grammar) -> list[frozenset]:
    """Link each target word of the references with the source word that has its largest weight."""
    _, weights = read(model, data.batch(data.test))
    return [
        frozenset(links_from_weights(rows[: len(t.words(data.lang)), : len(t.en)]))
        for rows, t in zip(weights, data.test, strict=True)
    ]


def num_right(model: EncoderDecoder, data: Grammar) -> int:
    """How many greedy translations of the test sentences equal the reference."""
    batch = data.batch(data.test)
    found = greedy(model, batch.src, batch.src_lens, max_len=50)
    return sum(
        data.tgt.tokens(hypothesis.tokens) == list(t.words(data.lang))
        for hypothesis, t in zip(found, data.test, strict=True)
    )


def trained(study: ExplanationSettings, data: Grammar, seed: int) -> tuple[EncoderDecoder, list[dict]]:
    """A translator with attention after training, and if it is ``MAPPED``, where it looked after ``STEPS``."""
    model, looks = translator(study, data, BahdanauDecoder, seed), []

    def watch(done: int) -> None:
        if (data.lang, seed) == MAPPED and done in STEPS:
            looks.append(look(model, data) | {"step": done})

    watch(0)
    options = {"epochs": study.epochs, "lr": study.lr, "loss": fast_loss, "seed": seed}
    batches = ShuffledBatches(*data.ids(data.train), batch_size=32, seed=seed)
    fit(model, batches, **options, on_step=lambda history: watch(len(history.losses)))
    return model, looks


def look(model: EncoderDecoder, data: Grammar, hidden: str = "") -> dict[str, list]:
    """Where a translator looks while it reads our sentence in the other language, and the most probable words.

    Args:
        model: the translator, which stays in its mode.
        data: its vocabularies and its language.
        hidden: an English word that attention may not see, in each step by itself.
    """
    ours, mode = OURS[data.lang], model.training
    batch = make_batch(data.en.encode([ENGLISH]), data.tgt.encode([ours]))
    _, weights = read(model.eval(), batch)
    is_hidden = torch.tensor([word == hidden for word in ENGLISH]).expand(weights.shape)
    best = with_hidden(model, batch, is_hidden)[0, : len(ours)].argmax(dim=-1)
    model.train(mode)
    rest = weights.double().masked_fill(is_hidden, 0)[0, : len(ours)]
    rows = (rest / rest.sum(dim=-1, keepdim=True)).round(decimals=4)
    return {"weights": rows.tolist(), "written": data.tgt.tokens(best.tolist())}


def measure(lang: str, study: ExplanationSettings) -> dict:
    """What links the test sentences, and what is written if a word is hidden, for each seed."""
    data = grammar(study, lang)
    gold = [GoldLinks(links, links) for links in (t.links("en", lang) for t in data.test)]
    table = model_1([(t.en, t.words(lang)) for t in data.train[:NUM_COUNTED]])
    links = {
        "diagonal": [diagonal_links(len(t.en), len(t.words(lang))) for t in data.test],
        "model 1": [links_by_table(table, t.en, t.words(lang)) for t in data.test],
    }
    runs, maps, without = [], [], {}
    for seed in study.seeds:
        model, looks = trained(study, data, seed)
        found = attention_links(model, data)
        maps += looks
        if (lang, seed) == HIDING:
            without = {word: look(model, data, word) for word in ("nothing", *ENGLISH)}
        runs.append(
            {
                "seed": seed,
                "right": num_right(model, data),
                "attention": aer_of({"diagonal": links["diagonal"], "attention": found}, gold)["attention"],
                "by distance": by_distance(found, data),
                "hidden": by_weight(hide_own_words(model, data)),
            }
        )
    return {
        "num": len(data.test),
        "trained on": len(data.train),
        "aer": aer_of(links, gold),
        "runs": runs,
        "maps": maps,
        "without": without,
    }


def run_study(study: ExplanationSettings, out: Path) -> None:
    """Measure each language and store it, unless it is stored already."""
    belongs_to = {"versions": {"torch": version("torch")}, "settings": vars(study)}
    run_parts({lang: partial(measure, lang, study) for lang in OURS}, out, belongs_to=belongs_to)


def _main(
    out: Annotated[Path, typer.Option(help="results; parts that it holds are not measured again")] = RESULTS,
) -> None:
    """Train and measure what the chapter on alignment reports; store the numbers."""
    torch.set_num_threads(1)  # as for the results in the book
    run_study(SETTINGS, out)
    typer.echo(f"{out}: complete")


if __name__ == "__main__":
    typer.run(_main)
