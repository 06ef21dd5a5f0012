"""The study of explanations: what chapters/explanation reports of several trainings and of real sentences.

Run as ``PYTHONPATH=chapters python -m studies.explanation``, for about a quarter of an hour on one core. The part
``seeds`` needs no file. The part ``links`` needs the data folder with ``tatoeba/fra.txt`` and the two files
``hansards/enfr.*`` (book/data_and_licences). It loads the translator from English to French that the study
``real_sentences`` has trained, or trains it, in ten minutes more; both translators are kept in the folder
``runs/real_sentences``. With ``--only links`` only this part is measured, again if it is stored already. The results
are stored beside this file. They hold numbers, and no sentence of the files.

Models, training and scores come from ``utils``.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import combinations, pairwise
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
import typer
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from studies import real_sentences
from studies.parts import run_parts
from studies.real_sentences import (
    FRENCH,
    HANSARDS,
    HANSARDS_LINKS,
    WORDS,
    aer_of,
    in_lower_case,
    links_by_table,
    lower_pairs,
    model_1,
    texts_with_links,
    trained,
)
from utils.corpus.batches import Batch, ShuffledBatches, make_batch
from utils.corpus.grammar import Triple, join_words, triples
from utils.corpus.grammar.lexicon import ADJECTIVES, DETERMINERS, MEASURES, NAMES, NOUNS, POSSESSIVES, VERBS
from utils.corpus.pairs import find_file
from utils.corpus.splits import Split
from utils.corpus.vocabulary import PAD, Vocabulary
from utils.metrics import Links, alignment_error_rate, bleu, diagonal_links, links_from_weights
from utils.search import greedy
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder, Memory
from utils.training import batch_loss, fit, seeded
from utils.translator.alignment import align
from utils.translator.fast import attention_weights, decoder_features, encode, fast_loss
from utils.translator.loop import Schedule
from utils.translator.runs import Run
from utils.translator.scores import GoldLinks, alignment_score

Link = tuple[int, int]
#: Words of the sentence of the course that are rare in the grammar.
RARE = {"white", "flower", "flowers"}
#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class Study:
    """The settings of the study; the defaults are those of the stored results.

    Attributes:
        runs: folder in which the translators of real sentences are kept.
        num_train: sentences of the grammar to train on, before the rare ones are added.
        num_drawn: sentences from which the rare ones come.
        num_test: sentences of the grammar to test on.
        longest: most English words in a sentence.
        epochs: passes over these sentences.
        epochs_misled: passes in which a trained translator learns to mislead.
        lr: highest learning rate.
        width: of embeddings and states.
        seeds: of the trainings that are compared.
        steps_back: steps of the translator from French to English.
        num_links: sentences of the grammar that the translators of real sentences link.
    """

    runs: Path = Path("runs/real_sentences")
    num_train: int = 6000
    num_drawn: int = 40_000
    num_test: int = 400
    longest: int = 12
    epochs: int = 3
    epochs_misled: int = 2
    lr: float = 8e-3
    width: int = 64
    seeds: tuple[int, ...] = (0, 1, 2)
    steps_back: int = 640
    num_links: int = 1000


# The chapter builds these functions too and explains them.


def overlap(first: Float[Tensor, "*rows n"], second: Float[Tensor, "*rows n"]) -> Float[Tensor, "*rows"]:
    """How much two distributions have in common: 1 if they are equal, 0 if no place has weight in both.

    It is 1 minus the total variation distance.

    >>> overlap(torch.tensor([0.5, 0.5, 0.0]), torch.tensor([0.0, 0.5, 0.5]))
    tensor(0.5000)
    """
    return torch.minimum(first, second).sum(dim=-1)


def grow_diagonal(forward: frozenset[Link], backward: frozenset[Link]) -> frozenset[Link]:
    """The links of both directions, and links of one direction that touch one of these and join a word without a link.

    Links touch if they are neighbours in the table of the two sentences, also across a corner. The new links count, so
    this is repeated until no link is left that can be added. It goes through the links in the order of their positions,
    so that the result does not depend on the order of a set.

    >>> sorted(grow_diagonal(frozenset({(0, 0), (1, 1), (3, 3)}), frozenset({(0, 0), (1, 2), (1, 1)})))
    [(0, 0), (1, 1), (1, 2)]

    Source: Koehn, Och and Marcu (2003), section 3.1.
    """
    links, either = forward & backward, forward | backward
    steps = [(di, dj) for di in (-1, 0, 1) for dj in (-1, 0, 1) if di or dj]
    grows = True
    while grows:
        grows = False
        for i, j in sorted(links):
            for new in ((i + di, j + dj) for di, dj in steps):
                sources, targets = {i for i, _ in links}, {j for _, j in links}
                if new in either - links and not (new[0] in sources and new[1] in targets):
                    links, grows = links | {new}, True
    return links


def symmetrised(forward: Sequence[Links], backward: Sequence[Links]) -> dict[str, list[frozenset[Link]]]:
    """The links of two directions and their combinations, sentence by sentence; all pairs are (source, target)."""
    pairs = [(frozenset(f), frozenset(b)) for f, b in zip(forward, backward, strict=True)]
    return {
        "forward": [f for f, _ in pairs],
        "backward": [b for _, b in pairs],
        "intersection": [f & b for f, b in pairs],
        "union": [f | b for f, b in pairs],
        "grow-diag": [grow_diagonal(f, b) for f, b in pairs],
    }


#: The French words of each class, from the tables of the grammar; other words have the class "other".
#:
#: :meta hide-value:
CLASSES = {
    "name": {name.fr for name in NAMES.values()},
    "noun": {form for noun in [*NOUNS.values(), *MEASURES.values()] for form in noun.fr},
    "adjective": {form for adjective in ADJECTIVES.values() for form in (*adjective.fr, adjective.liaison)},
    "helping verb": {"a", "ai", "ont", "est", "sont", "suis", "était", "étais", "étaient"}
    | {"va", "vont", "vais", "doit", "doivent", "dois"},
    "verb": {form for verb in VERBS.values() for form in verb.fr},
    "article": {"le", "la", "l'", "les", "un", "une", "du", "des", "de", "d'", "ce", "cet", "cette", "ces"}
    | {word for name in POSSESSIVES for items in DETERMINERS[name].fr for word, _ in items},
}


def class_of(word: str) -> str:
    """The class of a French word of the grammar; a participle may agree with its subject.

    >>> [class_of(word) for word in ("Marie", "a", "trouvé", "la", "petite", "fleur", "restée", "hier")]
    ['name', 'helping verb', 'verb', 'article', 'adjective', 'noun', 'verb', 'other']
    """
    for name, words in CLASSES.items():
        if word in words:
            return name
    agreeing = any(word.removesuffix(ending) in CLASSES["verb"] for ending in ("e", "s", "es"))
    return "verb" if agreeing else "other"


# Translators of the grammar


class Grammar(NamedTuple):
    """Sentences to train and to test on, and the vocabularies of the two sides."""

    train: list[Triple]
    test: list[Triple]
    en: Vocabulary
    fr: Vocabulary

    def ids(self, sentences: Sequence[Triple]) -> tuple[list[list[int]], list[list[int]]]:
        """The ids of the English and of the French sentences."""
        return self.en.encode([t.en for t in sentences]), self.fr.encode([t.fr for t in sentences])

    def batches(self, size: int) -> ShuffledBatches:
        """The sentences to train on."""
        return ShuffledBatches(*self.ids(self.train), batch_size=size)


def grammar(study: Study) -> Grammar:
    """The sentences of the page: the first ones, and of the next ones those with a word of ``RARE``."""
    all_triples = triples(study.num_drawn, split="train", min_words=3, max_words=study.longest)
    train = all_triples[: study.num_train] + [t for t in all_triples[study.num_train :] if RARE & set(t.en)]
    test = triples(study.num_test, split="test", min_words=3, max_words=study.longest)
    en, fr = Vocabulary.words(t.en for t in train), Vocabulary.words(t.fr for t in train)
    return Grammar(train, test, en, fr)


class EvenDecoder(BahdanauDecoder):
    """A decoder whose weights are all equal, in training and afterwards."""

    def attend(
        self, query: Float[Tensor, "batch h"], memory: Memory
    ) -> tuple[Float[Tensor, "batch d_enc"], Float[Tensor, "batch n"]]:
        """The mean of the encoder's outputs, whatever the query."""
        weights = even_weights(memory.mask[:, 0])
        return (weights[:, None] @ memory.values)[:, 0], weights


def even_weights(mask: Bool[Tensor, "batch n"]) -> Float[Tensor, "batch n"]:
    """The same weight for each real word.

    >>> even_weights(torch.tensor([[True, True, False]]))
    tensor([[0.5000, 0.5000, 0.0000]])
    """
    return mask / mask.sum(dim=-1, keepdim=True)


def translator(study: Study, data: Grammar, decoder: type[BahdanauDecoder], seed: int) -> EncoderDecoder:
    """A translator before training."""
    with seeded(seed):
        d = study.width
        encoder = Encoder(len(data.en), d, d, dropout=0.1)
        return EncoderDecoder(encoder, decoder(len(data.fr), d, d, 2 * d, dropout=0.1))


def misled(study: Study, data: Grammar, honest: EncoderDecoder) -> EncoderDecoder:
    """A copy of a translator, trained further to give the same words with other weights."""
    model, loss = deepcopy(honest), partial(misleading_loss, honest=honest)
    fit(model, data.batches(32), epochs=study.epochs_misled, lr=study.lr / 2, loss=loss)
    return model


def misleading_loss(
    model: EncoderDecoder, batch: Batch, *, honest: EncoderDecoder, label_smoothing: float = 0.0
) -> Float[Tensor, ""]:
    """The loss of translation plus the mean overlap of the weights with those of another translator.

    Source: after Wiegreffe and Pinter (2019), section 4, who also train to differ from the weights of a base model.
    """
    enc = encode(model.encoder, batch.src, batch.src_lens)
    features, weights = decoder_features(
        model.decoder, batch.tgt_in, *model.decoder.start(*enc, batch.src_lens)
    )
    with torch.no_grad():
        honest_weights = attention_weights(honest, batch)
    real = batch.tgt_out != PAD
    logits = model.decoder.output(model.decoder.read_out(features[real]))
    loss = nn.functional.cross_entropy(logits, batch.tgt_out[real], label_smoothing=label_smoothing)
    return loss + overlap(weights, honest_weights)[real].mean()


class SingleWords(nn.Module):
    """A model that sees, at each step, the average of single source words with given weights, and nothing else."""

    def __init__(self, num_src: int, num_tgt: int, width: int):
        super().__init__()
        self.words = nn.Embedding(num_src, width)
        self.output = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, num_tgt))

    def forward(
        self, src: Int[Tensor, "batch n"], weights: Float[Tensor, "batch t n"]
    ) -> Float[Tensor, "batch t vocab"]:
        """Logits of the target word of each step."""
        return self.output(weights @ self.words(src))


def guided(study: Study, data: Grammar, weights_of: Callable[[Batch], Tensor], *, epochs: int = 2) -> float:
    """The share of target words that a :class:`SingleWords` gets right, trained and tested with given weights.

    Source: after Wiegreffe and Pinter (2019), section 3.4.
    """
    with seeded(0):
        reader = SingleWords(len(data.en), len(data.fr), study.width)
    optimizer = torch.optim.Adam(reader.parameters(), lr=1e-2)
    train = data.batches(64)
    for batch in (batch for _ in range(epochs) for batch in train):
        real = batch.tgt_out != PAD
        logits = reader(batch.src, weights_of(batch))[real]
        optimizer.zero_grad()
        nn.functional.cross_entropy(logits, batch.tgt_out[real]).backward()
        optimizer.step()
    batch = make_batch(*data.ids(data.test))
    real = batch.tgt_out != PAD
    with torch.no_grad():
        best = reader(batch.src, weights_of(batch)).argmax(dim=-1)
    return (best == batch.tgt_out)[real].float().mean().item()


def weights_of(model: EncoderDecoder, batch: Batch) -> Float[Tensor, "batch t n"]:
    """The weights of a translator, for :func:`guided`."""
    with torch.no_grad():
        return model(batch.src, batch.src_lens, batch.tgt_in)[1]


def measure_seeds(study: Study) -> dict:
    """Honest, misled and even translators from several seeds: their words and links, and what their weights guide."""
    data = grammar(study)
    test = make_batch(*data.ids(data.test))
    real = test.tgt_out != PAD
    models: dict[str, list[EncoderDecoder]] = {"honest": [], "misled": [], "even": []}
    for seed in study.seeds:
        for kind, decoder, loss in (
            ("honest", BahdanauDecoder, fast_loss),
            ("even", EvenDecoder, batch_loss),
        ):
            model = translator(study, data, decoder, seed)
            fit(model, data.batches(32), epochs=study.epochs, lr=study.lr, loss=loss, seed=seed)
            models[kind].append(model)
        models["misled"].append(misled(study, data, models["honest"][-1]))
    gold = [t.en_fr for t in data.test]
    results: dict = {}
    rows: dict[str, list[Tensor]] = {}
    for kind, trained_models in models.items():
        results[kind] = {"right": [], "bleu": [], "aer": [], "guided": []}
        rows[kind] = []
        for model in trained_models:
            with torch.no_grad():
                logits, weights = model(test.src, test.src_lens, test.tgt_in)
            hypotheses = greedy(model, test.src, test.src_lens, max_len=50)
            texts = [join_words(data.fr.tokens(hypothesis.tokens), "fr") for hypothesis in hypotheses]
            score = bleu(texts, [[join_words(t.fr, "fr")] for t in data.test], lang="fr").value
            links = [
                links_from_weights(w[: len(t.fr), : len(t.en)])
                for w, t in zip(weights, data.test, strict=True)
            ]
            rows[kind].append(weights[real])
            results[kind]["right"].append(
                _rounded((logits.argmax(dim=-1) == test.tgt_out)[real].float().mean())
            )
            results[kind]["bleu"].append(round(score, 1))
            results[kind]["aer"].append(round(alignment_error_rate(links, gold), 3))
            results[kind]["guided"].append(round(guided(study, data, partial(weights_of, model)), 3))
    pairs = combinations(rows["honest"], 2)
    results["overlap"] = {
        "of two honest": [_rounded(overlap(a, b).mean()) for a, b in pairs],
        "of honest and misled": [
            _rounded(overlap(a, b).mean()) for a, b in zip(rows["honest"], rows["misled"], strict=True)
        ],
    }
    return results


def _rounded(number: Tensor) -> float:
    return round(number.item(), 3)


# Real sentences


def measure_links(study: Study) -> dict:
    """Error rates of attention and of model 1 in two directions and together, on two kinds of text and by length."""
    settings = real_sentences.Study(runs=study.runs)
    split = settings.split(FRENCH, "en", "fr")
    back = Split(*([pair[::-1] for pair in part] for part in (split.train, split.valid)), [])
    runs, facts = {}, {}
    for name, rows, schedule in (
        ("en-fr", split, Schedule(epochs=settings.epochs_french, batch_size=128, muon=0)),
        ("fr-en", back, Schedule(steps=study.steps_back, batch_size=128, muon=0)),
    ):
        src, tgt = (
            real_sentences.pieces(side, settings.vocabulary_size) for side in zip(*rows.train, strict=True)
        )
        own = settings.settings(*name.split("-"))
        model, facts[name] = trained(name, settings, src, tgt, rows, own, schedule)
        runs[name] = Run(own, model, src.vocabulary, tgt.vocabulary, [])
    texts = texts_with_links(study.num_links)
    lower = {name: in_lower_case(pairs) for name, (pairs, _) in texts.items()}
    all_pairs = [*lower_pairs(split), *(pair for pairs in lower.values() for pair in pairs)]
    tables = model_1(all_pairs), model_1([pair[::-1] for pair in all_pairs])
    return {"trainings": facts} | {
        name: links_on(runs, tables, pairs, lower[name], gold) for name, (pairs, gold) in texts.items()
    }


def links_on(
    runs: Mapping[str, Run],
    tables: tuple[Mapping, Mapping],
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]],
    lower: Sequence[tuple[Sequence[str], Sequence[str]]],
    gold: Sequence[GoldLinks],
) -> dict:
    """The links of attention, of the diagonal and of model 1 in sentence pairs with gold links, in both directions.

    Args:
        runs: the translators "en-fr" and "fr-en".
        tables: model 1 in the same two directions.
        pairs: words of the two languages.
        lower: the same in lower case.
        gold: their links.
    """
    texts = [(" ".join(en), " ".join(fr)) for en, fr in pairs]
    forward = [alignment.links for alignment in align(runs["en-fr"], texts)]
    backward = [turned(alignment.links) for alignment in align(runs["fr-en"], [text[::-1] for text in texts])]
    table_links = [links_by_table(tables[0], *pair) for pair in lower]
    table_links_back = [turned(links_by_table(tables[1], *pair[::-1])) for pair in lower]
    kinds = {
        "attention": symmetrised(forward, backward),
        "model 1": symmetrised(table_links, table_links_back),
    }
    kinds["diagonal"] = {"forward": [diagonal_links(len(en), len(fr)) for en, fr in pairs]}
    by_length = []
    for low, high in pairwise([0, *WORDS, math.inf]):
        rows = [i for i, (en, _) in enumerate(pairs) if low < len(en) <= high]
        if rows:
            by_length.append({"from": low + 1, "num": len(rows)} | scores_of(kinds, gold, rows))
    return {"num": len(pairs), "all": scores_of(kinds, gold, range(len(pairs))), "by_length": by_length}


def turned(links: Links) -> frozenset[Link]:
    """The links with the two languages exchanged.

    >>> turned({(0, 2)})
    frozenset({(2, 0)})
    """
    return frozenset((j, i) for i, j in links)


def scores_of(
    kinds: Mapping[str, Mapping[str, Sequence[Links]]], gold: Sequence[GoldLinks], rows: Sequence[int]
) -> dict[str, dict]:
    """Error rate with its interval, precision, recall and links per sentence, for each kind of links."""
    gold_of_rows = [gold[i] for i in rows]
    results: dict[str, dict] = {}
    for kind, ways in kinds.items():
        links = {way: [sentence_links[i] for i in rows] for way, sentence_links in ways.items()}
        results[kind] = aer_of(links, gold_of_rows)
        for way, sentence_links in links.items():
            score = alignment_score(sentence_links, gold_of_rows)
            results[kind][way] |= {
                "precision": round(score.precision, 3),
                "recall": round(score.recall, 3),
                "links": round(score.num_links / len(rows), 1),
            }
    return results


#: The parts of the study, in the order in which they are measured.
#:
#: :meta hide-value:
PARTS: dict[str, Callable[[Study], dict]] = {"seeds": measure_seeds, "links": measure_links}


def head() -> dict:
    """The files and the versions that the results belong to."""
    paths = (FRENCH, HANSARDS, HANSARDS_LINKS)
    return {
        "sha256": {path: hashlib.sha256(find_file(path).read_bytes()).hexdigest() for path in paths},
        "versions": {name: version(name) for name in ("torch", "tokenizers")},
    }


def run_study(study: Study, out: Path, parts: Sequence[str] | None = None) -> None:
    """Measure the parts that are named, or those that are not stored yet, as :func:`studies.parts.run_parts`."""
    study.runs.mkdir(parents=True, exist_ok=True)
    settings = {name: value for name, value in vars(study).items() if name != "runs"}
    measures = {name: partial(measure, study) for name, measure in PARTS.items()}
    run_parts(measures, out, belongs_to=head() | {"settings": settings}, only=parts)


def _main(
    only: Annotated[
        list[str] | None, typer.Option(help=f"Measure this part alone, again if need be: {', '.join(PARTS)}.")
    ] = None,
    out: Annotated[Path, typer.Option(help="results; parts that it holds are not measured again")] = RESULTS,
    runs: Annotated[Path, typer.Option(help="folder in which the translators are kept")] = Study.runs,
) -> None:
    """Train and measure what the chapter on explanations reports; store the numbers."""
    if unknown := set(only or ()) - set(PARTS):
        raise typer.BadParameter(f"no such part: {', '.join(sorted(unknown))}")
    torch.set_num_threads(1)  # as for the results in the book
    run_study(Study(runs=runs), out, only)
    typer.echo(f"{out}: complete")


if __name__ == "__main__":
    typer.run(_main)
