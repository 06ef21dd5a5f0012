"""The study of explanations: what chapters/explanation reports of several trainings.

Run as ``PYTHONPATH=chapters python -m studies.explanation``, for about a quarter of an hour on one core. It needs no
file. The results are stored beside this file. Models, training and scores come from ``utils``; the chapter uses the
measures here for the translators that it trains itself.
"""

import math
from collections.abc import Callable, Collection, Sequence
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
from utils.corpus.grammar import Triple, join_words, split_of, triple, triples
from utils.corpus.grammar.lexicon import NAMES
from utils.corpus.vocabulary import EOS, PAD, Vocabulary
from utils.fast_training import attention_weights, fast_loss
from utils.metrics import alignment_error_rate, bleu, diagonal_links, links_from_weights
from utils.search import greedy
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder, Memory
from utils.training import batch_loss, fit, seeded

#: Words of the sentence of the course that are rare in the grammar.
RARE = {"white", "flower", "flowers"}
#: Numbers of sentences with such a word, so that nobody has to draw 50,000 sentences to find them again.
RARE_SENTENCES = Path(__file__).with_name("rare_sentences.txt")
#: Fewest and most English words of a sentence.
LENGTHS = {"min_words": 3, "max_words": 12}
#: A test sentence that keeps its translation while the translator learns to mislead, and the steps that are stored.
SENTENCE = "Mary will sing at home tomorrow ."
STEPS = (20, 50, 100, 200, 300, 400)
#: Widths of the guides that read nothing, in words.
BELLS = (0.5, 0.7, 1.0, 1.5)
#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class ExplanationSettings:
    """The settings of the study; the defaults are those of the stored results.

    Attributes:
        num_train: sentences of the grammar to train on, before the rare ones are added.
        num_rare: of the sentences of ``RARE_SENTENCES``, the first so many.
        num_test: sentences of the grammar to test on.
        epochs: passes over these sentences.
        epochs_misled: passes in which a trained translator learns to mislead.
        lr: highest learning rate.
        width: of embeddings and states.
        seeds: of the trainings that are compared.
    """

    num_train: int = 6000
    num_rare: int = 394
    num_test: int = 400
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
    """Sentences to train and to test on, and the vocabularies of English and of the language to write."""

    train: list[Triple]
    test: list[Triple]
    en: Vocabulary
    tgt: Vocabulary
    lang: str = "fr"

    def ids(self, sentences: Sequence[Triple]) -> tuple[list[list[int]], list[list[int]]]:
        """The ids of the sentences in both languages."""
        return self.en.encode([t.en for t in sentences]), self.tgt.encode(
            [t.words(self.lang) for t in sentences]
        )

    def batches(self, size: int, *, source: bool = True) -> ShuffledBatches:
        """The sentences to train on; without their source each begins and ends with the same single token."""
        src, tgt = self.ids(self.train)
        return ShuffledBatches(src if source else [[EOS]] * len(src), tgt, batch_size=size)

    def batch(self, sentences: Sequence[Triple], *, source: bool = True) -> Batch:
        """Sentences with their references, as one batch."""
        src, tgt = self.ids(sentences)
        return make_batch(src if source else [[EOS]] * len(src), tgt)


def grammar(study: ExplanationSettings, lang: str = "fr") -> Grammar:
    """The sentences of the page: the first ones, and some of the later ones that have a word of ``RARE``."""
    numbers = [int(number) for number in RARE_SENTENCES.read_text("utf-8").split()]
    rare = [triple(number, **LENGTHS) for number in numbers[: study.num_rare]]
    train = triples(study.num_train, split="train", **LENGTHS) + rare
    test = triples(study.num_test, split="test", **LENGTHS)
    en, tgt = Vocabulary.words(t.en for t in train), Vocabulary.words(t.words(lang) for t in train)
    return Grammar(train, test, en, tgt, lang)


def rare_numbers(first: int, last: int) -> list[int]:
    """The numbers, from ``first`` on and before ``last``, of training sentences with a word of ``RARE``.

    ``RARE_SENTENCES`` has those from 7,613 to 50,693: after the 6,000 that the study trains on, up to the 40,000th.
    """
    drawn = ((number, triple(number, **LENGTHS)) for number in range(first, last))
    return [number for number, t in drawn if RARE & set(t.en) and split_of(t.meaning) == "train"]


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


def translator(
    study: ExplanationSettings, data: Grammar, decoder: type[BahdanauDecoder], seed: int
) -> EncoderDecoder:
    """A translator before training."""
    with seeded(seed):
        d = study.width
        encoder = Encoder(len(data.en), d, d, dropout=0.1)
        return EncoderDecoder(encoder, decoder(len(data.tgt), d, d, 2 * d, dropout=0.1))


def misled(study: ExplanationSettings, data: Grammar, honest: EncoderDecoder) -> EncoderDecoder:
    """A copy of a translator, trained further to give the same words with other weights."""
    model, loss = deepcopy(honest), partial(misleading_loss, honest=honest)
    fit(model, data.batches(32), epochs=study.epochs_misled, lr=study.lr / 2, loss=loss)
    return model


def continued(study: ExplanationSettings, data: Grammar, honest: EncoderDecoder) -> EncoderDecoder:
    """A copy that is trained as long as the misled one, to translate and for nothing else."""
    model = deepcopy(honest)
    fit(model, data.batches(32), epochs=study.epochs_misled, lr=study.lr / 2, loss=fast_loss)
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


def measure_guided(
    study: ExplanationSettings,
    data: Grammar,
    weights_of: Callable[[Batch], Tensor],
    *,
    epochs: int = 2,
    seed: int = 0,
) -> dict[str, float]:
    """The share of target words that a :class:`SingleWords` gets right, trained and tested with given weights.

    Once of all words, with the end of each sentence, and once of those of :func:`off_diagonal`.

    Source: after Wiegreffe and Pinter (2019), section 3.4.
    """
    with seeded(seed):
        reader = SingleWords(len(data.en), len(data.tgt), study.width)
    optimizer = torch.optim.Adam(reader.parameters(), lr=1e-2)
    train = data.batches(64)
    for batch in (batch for _ in range(epochs) for batch in train):
        real = batch.tgt_out != PAD
        logits = reader(batch.src, weights_of(batch))[real]
        optimizer.zero_grad()
        nn.functional.cross_entropy(logits, batch.tgt_out[real]).backward()
        optimizer.step()
    batch = data.batch(data.test)
    real = batch.tgt_out != PAD
    with torch.no_grad():
        right = reader(batch.src, weights_of(batch)).argmax(dim=-1) == batch.tgt_out
    shares = {"guided": right[real], "off the diagonal": right[off_diagonal(data, batch)]}
    return {name: share.float().mean().item() for name, share in shares.items()}


def off_diagonal(data: Grammar, batch: Batch) -> Bool[Tensor, "batch t"]:
    """The words of the test sentences that have gold links, none of them on the diagonal."""
    is_off = torch.zeros(batch.tgt_out.shape, dtype=torch.bool)
    for row, t in enumerate(data.test):
        gold, on_diagonal = t.links("en", data.lang), diagonal_links(len(t.en), len(t.words(data.lang)))
        for _, j in gold:
            is_off[row, j] = True
        for _, j in set(gold) & on_diagonal:
            is_off[row, j] = False
    return is_off


def bell(batch: Batch, *, sigma: float) -> Float[Tensor, "batch t n"]:
    """A guide that reads nothing: weights that fall with the distance from the diagonal, as a bell of this width.

    It knows the lengths of the two sentences, and no word.
    """
    num_tgt = (batch.tgt_out != PAD).sum(dim=-1) - 1  # without the end
    places, steps = torch.arange(batch.src.shape[1]), torch.arange(batch.tgt_out.shape[1])
    middle = (steps + 0.5) * (batch.src_lens / num_tgt)[:, None] - 0.5
    scores = -((places - middle[..., None]) ** 2) / (2 * sigma**2)
    is_word = places < batch.src_lens[:, None, None]
    return scores.masked_fill(~is_word, -math.inf).softmax(dim=-1)


def weights_of(model: EncoderDecoder, batch: Batch) -> Float[Tensor, "batch t n"]:
    """The weights of a translator, for :func:`guided`."""
    with torch.no_grad():
        return model(batch.src, batch.src_lens, batch.tgt_in)[1]


# What a translator needs


@torch.no_grad()
def read(
    model: EncoderDecoder, batch: Batch
) -> tuple[Float[Tensor, "batch t vocab"], Float[Tensor, "batch t n"]]:
    """The probabilities of all words at each step of the reference, and the weights."""
    logits, weights = model(batch.src, batch.src_lens, batch.tgt_in)
    return logits.softmax(dim=-1), weights


@torch.no_grad()
def with_hidden(
    model: EncoderDecoder, batch: Batch, hidden: Bool[Tensor, "batch t n"]
) -> Float[Tensor, "batch t vocab"]:
    """The probabilities of step i if attention may not see source words j of ``hidden[b, i, j]`` in this step alone."""
    memory, state = model.start(batch.src, batch.src_lens)
    after = []
    for i, word in enumerate(batch.tgt_in.unbind(dim=1)):
        masked = memory._replace(mask=memory.mask & ~hidden[:, i, None])
        after.append(model.decoder(word[:, None], masked, state)[0])
        state = model.decoder(word[:, None], memory, state)[1]
    return torch.cat(after, dim=1).softmax(dim=-1)


def hidden_in_step(
    model: EncoderDecoder, batch: Batch, hidden: Int[Tensor, "batch t"]
) -> Float[Tensor, "batch t vocab"]:
    """As :func:`with_hidden`, with a single word ``hidden[b, i]`` in each step."""
    return with_hidden(model, batch, nn.functional.one_hot(hidden, batch.src.shape[1]).bool())


def control(weights: Float[Tensor, " n"], hidden: int, spared: Collection[int] = ()) -> list[int]:
    """The lightest set of other words that has at least the weight of the hidden word; empty if there is none.

    Args:
        weights: of the words of a sentence in one step.
        hidden: the word that the set is a control for.
        spared: words that the set may not have.

    >>> control(torch.tensor([0.3, 0.4, 0.2, 0.1]), 0)
    [2, 3]
    >>> control(torch.tensor([0.3, 0.6, 0.1]), 1)
    []
    """
    others = [i for i in range(len(weights)) if i != hidden and i not in spared]
    if weights[others].sum() < weights[hidden]:
        return []
    sets = torch.cartesian_prod(*[torch.tensor([0.0, 1.0])] * len(others)).reshape(-1, len(others))
    totals = sets @ weights[others]
    totals[totals < weights[hidden]] = math.inf
    return [i for i, chosen in zip(others, sets[totals.argmin()], strict=True) if chosen]


@torch.no_grad()
def each_left_out(model: EncoderDecoder, batch: Batch) -> Float[Tensor, "batch t n vocab"]:
    """The probabilities of step i if source word j is left out of the sentence."""
    after = []
    for j in range(batch.src.shape[1]):
        src = torch.cat([batch.src[:, :j], batch.src[:, j + 1 :]], dim=1)
        src_lens = batch.src_lens - (j < batch.src_lens).long()
        after.append(model(src, src_lens, batch.tgt_in)[0].softmax(dim=-1))
    return torch.stack(after, dim=2)


def gradient_times_input(
    model: EncoderDecoder, batch: Batch, words: Int[Tensor, "batch t"]
) -> Float[Tensor, "batch t n"]:
    """Of the log-probability of each given word: its gradient at each source embedding, times this embedding."""
    inputs: list[Tensor] = []
    hook = model.encoder.embedding.register_forward_hook(lambda layer, ids, x: inputs.append(x))
    logits, _ = model(batch.src, batch.src_lens, batch.tgt_in)
    hook.remove()
    (x,), products = inputs, []
    log_p = logits.log_softmax(dim=-1).gather(-1, words[..., None]).squeeze(-1)
    for step in log_p.unbind(dim=1):
        (grad,) = torch.autograd.grad(step.sum(), x, retain_graph=True)
        products.append((grad * x).sum(dim=-1).detach())
    return torch.stack(products, dim=1)


def other_words(batch: Batch, named: Int[Tensor, "batch t"], draw: torch.Generator) -> Int[Tensor, "batch t"]:
    """For each step a random source word other than the named one."""
    share = torch.rand(named.shape, generator=draw)
    further = 1 + (share * (batch.src_lens[:, None] - 1)).long()
    return (named + further) % batch.src_lens[:, None]


def with_weights(model: EncoderDecoder, change: Callable[[Tensor, Tensor], Tensor]) -> EncoderDecoder:
    """A translator whose weights are changed in every step, by a function of weights and mask."""
    changed = deepcopy(model)

    def attend(query: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        weights = change(model.decoder.attend(query, memory)[1], memory.mask[:, 0])
        return (weights[:, None] @ memory.values)[:, 0], weights

    changed.decoder.attend = attend
    return changed


def shuffled(weights: Tensor, mask: Tensor, *, draw: torch.Generator) -> Tensor:
    """The weights of each row in another order; padding keeps its 0."""
    order = torch.rand(weights.shape, generator=draw).masked_fill(~mask, 2.0).argsort(dim=-1)
    return weights.gather(-1, order)


def link_errors(data: Grammar, importance: Tensor) -> float:
    """The alignment error rate of the links that the largest number of each row makes."""
    rows = zip(importance, data.test, strict=True)
    links = [links_from_weights(row[: len(t.words(data.lang)), : len(t.en)]) for row, t in rows]
    return alignment_error_rate(links, [t.links("en", data.lang) for t in data.test])


def bleu_of(data: Grammar, model: EncoderDecoder) -> float:
    """BLEU of greedy translations of the test sentences."""
    batch = data.batch(data.test)
    hypotheses = greedy(model, batch.src, batch.src_lens, max_len=50)
    texts = [join_words(data.tgt.tokens(hypothesis.tokens), data.lang) for hypothesis in hypotheses]
    references = [[join_words(t.words(data.lang), data.lang)] for t in data.test]
    return bleu(texts, references, lang=data.lang).value


def measure_needs(data: Grammar, model: EncoderDecoder) -> dict[str, float]:
    """How often another word is written, by the way in which a word is hidden; and links from the three tables."""
    batch, draw = data.batch(data.test), torch.Generator().manual_seed(0)
    real = (batch.tgt_out != PAD) & (batch.tgt_out != EOS)
    before, weights = read(model, batch)
    written = before.argmax(dim=-1)
    gradient = gradient_times_input(model, batch, written).abs()
    attended = weights.argmax(dim=-1)
    without = each_left_out(model, batch)
    named = {
        "attention": attended,
        "gradient": gradient.argmax(dim=-1),
        "chance": other_words(batch, attended, draw),
    }
    results = measure_taken_away(model, batch, named, without)
    results |= measure_controlled(model, batch, attended)
    choice = written[:, :, None, None].expand(-1, -1, without.shape[2], 1)
    lost = before.gather(-1, written[..., None]) - without.gather(-1, choice).squeeze(-1)
    for name, table in ("attention", weights), ("gradient", gradient), ("left out", lost):
        results[f"aer of {name}"] = link_errors(data, table)
    for name, change in (
        ("even", lambda w, mask: even_weights(mask)),
        ("shuffled", partial(shuffled, draw=draw)),
    ):
        other = with_weights(model, change)
        same = read(other, batch)[0].argmax(dim=-1) == written
        results[f"same words, {name}"] = same[real].float().mean().item()
        results[f"bleu, {name}"] = bleu_of(data, other)
    return results


def measure_taken_away(
    model: EncoderDecoder, batch: Batch, named: dict[str, Int[Tensor, "batch t"]], without: Tensor
) -> dict[str, float]:
    """How often another word is written if the words of each name are hidden in their step, or left out.

    ``without`` are the probabilities of :func:`each_left_out`.
    """
    real = (batch.tgt_out != PAD) & (batch.tgt_out != EOS)
    written = read(model, batch)[0].argmax(dim=-1)
    moved = without.argmax(dim=-1) != written[..., None]
    results = {}
    for name, word in named.items():
        hidden = hidden_in_step(model, batch, word).argmax(dim=-1) != written
        left_out = moved.gather(-1, word[..., None]).squeeze(-1)
        results[f"{name}, hidden"] = hidden[real].float().mean().item()
        results[f"{name}, left out"] = left_out[real].float().mean().item()
    return results


def measure_controlled(
    model: EncoderDecoder, batch: Batch, named: Int[Tensor, "batch t"]
) -> dict[str, float]:
    """In the steps that have a :func:`control`: how often another word is written without the named word or without it.

    In a step whose named word has more than half of the weight there is none.
    """
    real = (batch.tgt_out != PAD) & (batch.tgt_out != EOS)
    before, weights = read(model, batch)
    alone, others = torch.zeros(2, *weights.shape, dtype=torch.bool)
    for row, i in real.nonzero().tolist():
        found = control(weights[row, i, : batch.src_lens[row]], int(named[row, i]))
        others[row, i, found], alone[row, i, named[row, i]] = True, bool(found)
    steps = others.any(dim=-1)
    results = {"controlled steps": (steps.sum() / real.sum()).item()}
    for name, hidden in ("named", alone), ("others", others):
        moved = with_hidden(model, batch, hidden).argmax(dim=-1) != before.argmax(dim=-1)
        results[f"controlled, {name}"] = moved[steps].float().mean().item()
        results[f"controlled weight, {name}"] = (weights * hidden).sum(dim=-1)[steps].mean().item()
    return results


# What a name at the beginning comes from


@torch.no_grad()
def first_word(
    model: EncoderDecoder, batch: Batch, *, state_of: Int[Tensor, " batch"] | None = None, hide: bool = False
) -> tuple[Int[Tensor, " batch"], Float[Tensor, "batch n"]]:
    """The first word and its weights, if the first source word is hidden or s_0 is that of other sentences."""
    memory, state = model.start(batch.src, batch.src_lens)
    if hide:
        mask = memory.mask.clone()
        mask[:, 0, 0] = False
        memory = memory._replace(mask=mask)
    if state_of is not None:
        state = state[:, state_of]
    logits, _, weights = model.decoder(batch.tgt_in[:, :1], memory, state)
    return logits[:, 0].argmax(dim=-1), weights[:, 0]


def measure_names(data: Grammar, model: EncoderDecoder) -> dict[str, float]:
    """Of the sentences that begin with a name in both languages: how often it is right, by what is changed."""
    some = [t for t in data.test if t.en[0] in set(NAMES) and (0, 0) in t.links("en", data.lang)]
    partner = torch.tensor(
        [
            next(row for row in [*range(k + 1, len(some)), *range(k)] if some[row].en[0] != t.en[0])
            for k, t in enumerate(some)
        ]
    )
    batch = data.batch(some)
    own, other = batch.tgt_out[:, 0], batch.tgt_out[partner, 0]
    plain, weights = first_word(model, batch)
    swapped, _ = first_word(model, batch, state_of=partner)
    results = {
        "right": plain == own,
        "weight on the name": weights[:, 0],
        "right, name hidden": first_word(model, batch, hide=True)[0] == own,
        "s_0 exchanged, our name": swapped == own,
        "s_0 exchanged, the other name": swapped == other,
    }
    return {"sentences": len(some)} | {name: values.float().mean().item() for name, values in results.items()}


# The trainings


def trained(
    study: ExplanationSettings, data: Grammar, seed: int, *, even: bool = False, source: bool = True
) -> EncoderDecoder:
    """A translator after training; with even weights, or without a source, it is the control of the page."""
    model = translator(study, data, EvenDecoder if even else BahdanauDecoder, seed)
    batches = data.batches(32, source=source)
    fit(model, batches, epochs=study.epochs, lr=study.lr, loss=batch_loss if even else fast_loss, seed=seed)
    return model


def measure_seeds(study: ExplanationSettings) -> dict:
    """Translators from several seeds: honest, misled, trained further, with even weights, and without a source."""
    data = grammar(study)
    test = data.batch(data.test)
    real = test.tgt_out != PAD
    words = real & (test.tgt_out != EOS)
    results: dict = {kind: [] for kind in ("honest", "misled", "continued", "even", "no source")}
    rows: dict[str, list[Tensor]] = {kind: [] for kind in results if kind != "no source"}
    for seed in study.seeds:
        honest = trained(study, data, seed)
        blind = trained(study, data, seed, source=False)
        written = read(honest, test)[0].argmax(dim=-1)
        guess = read(blind, data.batch(data.test, source=False))[0].argmax(dim=-1)
        results["no source"].append(
            {
                "right": (guess == test.tgt_out)[words].float().mean().item(),
                "same words": (guess == written)[words].float().mean().item(),
            }
        )
        for kind, model in {
            "honest": honest,
            "misled": misled(study, data, honest),
            "continued": continued(study, data, honest),
            "even": trained(study, data, seed, even=True),
        }.items():
            probabilities, weights = read(model, test)
            rows[kind].append(weights[real])
            right = probabilities.argmax(dim=-1) == test.tgt_out
            measured = {
                "right": right[words].float().mean().item(),
                "bleu": bleu_of(data, model),
                "aer": link_errors(data, weights),
                "same words": (probabilities.argmax(dim=-1) == written)[words].float().mean().item(),
            }
            measured |= measure_guided(study, data, partial(weights_of, model))
            if kind in {"honest", "misled"}:
                measured |= measure_needs(data, model)
            if kind == "honest":
                measured |= {f"names: {name}": number for name, number in measure_names(data, model).items()}
            results[kind].append(measured)
    results = {kind: _columns(runs) for kind, runs in results.items()}
    results["overlap"] = {
        "of two honest": [_rounded(overlap(a, b).mean()) for a, b in combinations(rows["honest"], 2)],
        **{
            f"of honest and {kind}": [
                _rounded(overlap(a, b).mean()) for a, b in zip(rows["honest"], rows[kind], strict=True)
            ]
            for kind in ("misled", "continued")
        },
    }
    return results


def measure_bells(study: ExplanationSettings) -> dict:
    """Bells of several widths as guides: of each, simple models from several seeds."""
    data = grammar(study)
    return {
        str(sigma): _columns(
            [measure_guided(study, data, partial(bell, sigma=sigma), seed=seed) for seed in study.seeds]
        )
        for sigma in BELLS
    }


def measure_sentence(study: ExplanationSettings) -> dict:
    """One test sentence while the first translator learns to mislead: its weights, and what is written."""
    data = grammar(study)
    sentence = next(t for t in data.test if " ".join(t.en) == SENTENCE)
    batch, num_tgt = data.batch([sentence]), len(sentence.words(data.lang))
    honest = trained(study, data, study.seeds[0])
    model = deepcopy(honest)
    frames: dict = {"weights": [], "written": [], "probability": []}

    def keep(done: int) -> None:
        model.eval()
        probabilities, weights = (x[0, :num_tgt] for x in read(model, batch))
        model.train()
        best, first = probabilities.max(dim=-1)
        frames["weights"].append([[_rounded(weight) for weight in row] for row in weights])
        frames["written"].append(data.tgt.tokens(first.tolist()))
        frames["probability"].append([_rounded(number) for number in best])

    keep(0)
    fit(
        model,
        data.batches(32),
        epochs=study.epochs_misled,
        lr=study.lr / 2,
        loss=partial(misleading_loss, honest=honest),
        on_step=lambda history: keep(len(history.losses)) if len(history.losses) in STEPS else None,
    )
    return {
        "english": list(sentence.en),
        "french": list(sentence.words(data.lang)),
        "steps": [0, *STEPS],
    } | frames


def measure_chinese(study: ExplanationSettings) -> dict:
    """Translators into Chinese from several seeds: names at the beginning."""
    data = grammar(study, "zh")
    test = data.batch(data.test)
    words = (test.tgt_out != PAD) & (test.tgt_out != EOS)
    runs = []
    for seed in study.seeds:
        model = trained(study, data, seed)
        probabilities, weights = read(model, test)
        right = (probabilities.argmax(dim=-1) == test.tgt_out)[words].float().mean().item()
        names = {f"names: {name}": number for name, number in measure_names(data, model).items()}
        runs.append({"words right": right, "aer": link_errors(data, weights)} | names)
    return _columns(runs)


def _columns(runs: Sequence[dict[str, float]]) -> dict[str, list[float]]:
    """One list for each measure, with a number for each seed."""
    return {name: [round(run[name], 3) for run in runs] for name in runs[0]}


def _rounded(number: Tensor) -> float:
    return round(number.item(), 3)


def run_study(study: ExplanationSettings, out: Path) -> None:
    """Measure and store it, unless the results are stored already."""
    belongs_to = {"versions": {"torch": version("torch")}, "settings": vars(study)}
    parts = {"one sentence": partial(measure_sentence, study), "bells": partial(measure_bells, study)}
    parts |= {"seeds": partial(measure_seeds, study), "chinese": partial(measure_chinese, study)}
    run_parts(parts, out, belongs_to=belongs_to)


def _main(
    out: Annotated[Path, typer.Option(help="results; if it holds them, nothing is measured")] = RESULTS,
) -> None:
    """Train and measure what the chapter on explanations reports; store the numbers."""
    torch.set_num_threads(1)  # as for the results in the book
    run_study(ExplanationSettings(), out)
    typer.echo(f"{out}: complete")


if __name__ == "__main__":
    typer.run(_main)
