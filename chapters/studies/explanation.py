"""The study of explanations: what chapters/explanation reports of several trainings.

Run as ``PYTHONPATH=chapters python -m studies.explanation``, for about four minutes on one core. It needs no file. The
results are stored beside this file. Models, training and scores come from ``utils``.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
import typer
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from studies.parts import run_parts
from utils.corpus.batches import Batch, ShuffledBatches, make_batch
from utils.corpus.grammar import Triple, join_words, triples
from utils.corpus.vocabulary import PAD, Vocabulary
from utils.fast_training import attention_weights, fast_loss
from utils.metrics import alignment_error_rate, bleu, links_from_weights
from utils.search import greedy
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder, Memory
from utils.training import batch_loss, fit, seeded

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
        num_train: sentences of the grammar to train on, before the rare ones are added.
        num_drawn: sentences from which the rare ones come.
        num_test: sentences of the grammar to test on.
        longest: most English words in a sentence.
        epochs: passes over these sentences.
        epochs_misled: passes in which a trained translator learns to mislead.
        lr: highest learning rate.
        width: of embeddings and states.
        seeds: of the trainings that are compared.
    """

    num_train: int = 6000
    num_drawn: int = 40_000
    num_test: int = 400
    longest: int = 12
    epochs: int = 3
    epochs_misled: int = 2
    lr: float = 8e-3
    width: int = 64
    seeds: tuple[int, ...] = (0, 1, 2)


# The chapter builds these functions too and explains them.


def overlap(first: Float[Tensor, "*rows n"], second: Float[Tensor, "*rows n"]) -> Float[Tensor, "*rows"]:
    """How much two distributions have in common: 1 if they are equal, 0 if no place has weight in both.

    It is 1 minus the total variation distance.

    >>> overlap(torch.tensor([0.5, 0.5, 0.0]), torch.tensor([0.0, 0.5, 0.5]))
    tensor(0.5000)
    """
    return torch.minimum(first, second).sum(dim=-1)


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
    features, _, weights = model.decoder.features(batch.tgt_in, *model.start(batch.src, batch.src_lens))
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


def run_study(study: Study, out: Path) -> None:
    """Measure and store it, unless the results are stored already."""
    belongs_to = {"versions": {"torch": version("torch")}, "settings": vars(study)}
    run_parts({"seeds": partial(measure_seeds, study)}, out, belongs_to=belongs_to)


def _main(
    out: Annotated[Path, typer.Option(help="results; if it holds them, nothing is measured")] = RESULTS,
) -> None:
    """Train and measure what the chapter on explanations reports; store the numbers."""
    torch.set_num_threads(1)  # as for the results in the book
    run_study(Study(), out)
    typer.echo(f"{out}: complete")


if __name__ == "__main__":
    typer.run(_main)
