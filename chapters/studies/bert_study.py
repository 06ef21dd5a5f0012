"""The BERT study: a network that fills gaps, beside networks that read one side, and with few labels.

Run as ``PYTHONPATH=chapters python -m studies.bert_study``. It trains on the grammar corpus and needs about five
minutes on one core. The results are stored beside this file; chapters/bert reads them, and takes its network, its
sentences and its labels from here.
"""

import math
import random
from collections.abc import Sequence
from copy import deepcopy
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from studies.parts import run_parts
from utils.corpus.batches import Batch, ShuffledBatches, make_batch, pad_ids
from utils.corpus.grammar import split_of, triple
from utils.corpus.grammar.lexicon import NOUNS, VERBS
from utils.corpus.vocabulary import BOS, EOS, PAD, Vocabulary
from utils.training import fit, seeded
from utils.transformer import EncoderLayer, causal_mask, sinusoids

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: The sentence of the course, and the number of the word that is hidden in it.
SENTENCE, HIDDEN = (
    ["Mary", "found", "the", "small", "white", "flower", "yesterday", "."],
    1,
)
#: Forms such as "read" and "put", which are the same in the present, do not count.
PRESENT = {form for verb in VERBS.values() for place, form in enumerate(verb.en) if place != 2}
PAST = {"was", "were", *(verb.en[2] for verb in VERBS.values())} - PRESENT
#: The forms of verbs, and those of nouns.
KINDS = tuple({form for word in book.values() for form in word.en} for book in (VERBS, NOUNS))
#: What may be added to each count of two words, so that no probability is 0.
EXTRAS = (0.01, 0.03, 0.1, 0.3, 1.0)


class BertSettings(NamedTuple):
    """The settings of the study.

    Attributes:
        epochs: passes over the 10,000 sentences.
        batch_size: sentences of a step.
        lr: highest learning rate of the networks that read text without labels.
        share: share of the words that are hidden.
        num_labels: sentences with a label in the second training.
        steps: of the second training, with at most 32 sentences each.
        lrs: learning rates of the second training; each network has the one with the lowest loss on validation.
        seeds: of the labelled sentences and the order of the second training.
    """

    epochs: int = 6
    batch_size: int = 64
    lr: float = 8e-3
    share: float = 0.3
    num_labels: tuple[int, ...] = (25, 50, 100, 200, 400)
    steps: int = 100
    lrs: tuple[float, ...] = (2.5e-4, 5e-4, 1e-3, 2e-3)
    seeds: tuple[int, ...] = (0, 1, 2)


class LanguageModel(nn.Module):
    """The network of chapters/gpt, there line by line; its mask makes it GPT or BERT."""

    def __init__(self, vocab: int, d: int = 64, num_heads: int = 4, num_layers: int = 2):
        super().__init__()
        self.table = nn.Embedding(vocab, d)
        nn.init.normal_(self.table.weight, std=d**-0.5)
        self.layers = nn.ModuleList(EncoderLayer(d, num_heads, 4 * d) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d)

    def embed(self, ids: Int[Tensor, "b n"]) -> Float[Tensor, "b n d"]:
        """The vectors of words at their places."""
        n, d = ids.shape[1], self.table.embedding_dim
        return self.table(ids) * math.sqrt(d) + sinusoids(n, d)

    def vectors(self, ids: Int[Tensor, "b n"], mask: Bool[Tensor, "..."]) -> Float[Tensor, "b n d"]:
        """The vectors after the last layer."""
        x = self.embed(ids)
        for layer in self.layers:
            x, _ = layer(x, mask)
        return self.norm(x)

    def forward(self, ids: Int[Tensor, "b n"], mask: Bool[Tensor, "..."]) -> Float[Tensor, "b n vocab"]:
        """The logits at each place."""
        return self.vectors(ids, mask) @ self.table.weight.T


class Corpus(NamedTuple):
    """The English sentences of the chapter, as words, and their vocabulary, which has a token for gaps."""

    words: Vocabulary
    train: list[list[str]]
    valid: list[list[str]]
    test: list[list[str]]

    @property
    def mask(self) -> int:
        """The id of the token for a gap."""
        return self.words.encode([["<mask>"]])[0][0]


@cache
def corpus() -> Corpus:
    """10,000 sentences to read, 1,000 for validation, 500 to test."""
    found: dict[str, list] = {"train": [], "valid": [], "test": []}
    for index in count():  # one walk for all three
        drawn = triple(index, min_words=3, max_words=14)
        found[split_of(drawn.meaning)].append(drawn.en)
        if len(found["train"]) == 10_000:
            break
    train, valid, test = found["train"], found["valid"][:1000], found["test"][:500]
    return Corpus(Vocabulary.words([*train, ["<mask>"]]), train, valid, test)


def both_sides(ids: Int[Tensor, "b n"]) -> Bool[Tensor, "b 1 n"]:
    """BERT's mask: a word sees all words of its sentence."""
    return (ids != PAD)[:, None]


def draw_gaps(
    ids: Int[Tensor, "b n"], vocab: int, mask: int, share: float
) -> tuple[Int[Tensor, "b n"], Int[Tensor, "b n"]]:
    """BERT's rule: what the network reads, and the true ids of the chosen words, with PAD elsewhere."""
    chosen = (ids > EOS) & (torch.rand(ids.shape) < share)
    dice = torch.rand(ids.shape)
    given = ids.masked_fill(chosen & (dice < 0.8), mask)
    random_ids = torch.randint(4, vocab, ids.shape)
    given = torch.where(chosen & (dice >= 0.9), random_ids, given)
    return given, ids.masked_fill(~chosen, PAD)


def loss_at(
    model: LanguageModel, given: Tensor, wanted: Tensor, mask: Bool[Tensor, "..."]
) -> Float[Tensor, ""]:
    """The mean cross-entropy at the places whose wanted id is not PAD."""
    at = wanted != PAD
    return nn.functional.cross_entropy(model.vectors(given, mask)[at] @ model.table.weight.T, wanted[at])


def gap_loss(share: float, model: LanguageModel, batch: Batch, *, label_smoothing: float) -> Tensor:
    """The loss of BERT, with this share of the words hidden; the smoothing of ``fit`` is not used."""
    given, wanted = draw_gaps(batch.tgt, model.table.num_embeddings, corpus().mask, share)
    return loss_at(model, given, wanted, both_sides(given))


def next_loss(model: LanguageModel, batch: Batch, *, label_smoothing: float) -> Tensor:
    """The loss of GPT: each word is named from those before it."""
    return loss_at(model, batch.tgt_in, batch.tgt_out, causal_mask(batch.tgt_in.shape[1]))


@cache
def trained(task: str, settings: BertSettings, share: float = 0.0) -> LanguageModel:
    """A network that has learned "gaps", or to name the word after those on its "left" or "right"."""
    ids = corpus().words.encode(corpus().train)
    if task == "right":
        ids = [row[::-1] for row in ids]
    loss = partial(gap_loss, share) if task == "gaps" else next_loss
    batches = ShuffledBatches(ids, ids, batch_size=settings.batch_size)
    with seeded(0):
        model = LanguageModel(len(corpus().words))
        fit(
            model,
            batches,
            epochs=settings.epochs,
            lr=settings.lr,
            loss=loss,
            label_smoothing=0.0,
        )
    return model


def gaps_in(sentences: Sequence[Sequence[int]], seed: int) -> list[tuple[Tensor, int]]:
    """Each sentence from BOS to EOS, and a place in it to hide."""
    draw = random.Random(seed)
    return [(torch.tensor([BOS, *ids, EOS]), draw.randint(1, len(ids))) for ids in sentences]


@torch.no_grad()
def log_probs(
    model: LanguageModel, gaps: Sequence[tuple[Tensor, int]], side: str
) -> Float[Tensor, "gaps vocab"]:
    """Logarithms of the probabilities of all words at the gaps, for a network that reads "both" sides or one."""
    rows, at = [], []
    for each, place in gaps:
        row = each.tolist()
        if side == "both":
            rows.append([*row[:place], corpus().mask, *row[place + 1 :]])
        elif side == "left":
            rows.append(row[:place])
        else:
            rows.append([BOS, *row[place + 1 : -1][::-1]])
        at.append(place if side == "both" else len(rows[-1]) - 1)
    ids = pad_ids(rows)
    mask = both_sides(ids) if side == "both" else causal_mask(ids.shape[1])
    x = model.vectors(ids, mask)[torch.arange(len(ids)), torch.tensor(at)]
    return (x @ model.table.weight.T).log_softmax(dim=-1)


def by_counts(gaps: Sequence[tuple[Tensor, int]], extra: float, *, both: bool) -> float:
    """The perplexity of hidden words for a count of neighbours in the training text.

    It is p(w | left), or with both neighbours p(w | left) p(right | w), divided by the sum over all words w.

    Args:
        gaps: sentences, and the place of the hidden word in each.
        extra: what is added to each count.
        both: whether the neighbour on the right is used, too.
    """
    ids, vocab = corpus().words.encode(corpus().train), len(corpus().words)
    text = make_batch(ids, ids).tgt
    first, second = text[:, :-1], text[:, 1:]
    pairs = (first * vocab + second)[second != PAD]
    counts = torch.bincount(pairs, minlength=vocab**2).view(vocab, vocab) + extra
    follows = (counts / counts.sum(dim=1, keepdim=True)).log()
    found = [
        (follows[row[place - 1]] + both * follows[:, row[place + 1]]).log_softmax(dim=0)[row[place]]
        for row, place in gaps
    ]
    return (-torch.stack(found).mean()).exp().item()


def measure_counts() -> dict:
    """The perplexities of both counts, each with the addition that is best on gaps for validation."""
    encode, found = corpus().words.encode, {}
    valid, gaps = (
        gaps_in(encode(corpus().valid[:500]), 1),
        gaps_in(encode(corpus().test), 0),
    )
    for name, both in (("left", False), ("both", True)):
        extra = min(EXTRAS, key=lambda each: by_counts(valid, each, both=both))
        found[name] = {
            "extra": extra,
            "perplexity": round(by_counts(gaps, extra, both=both), 2),
        }
    return found


class KindGaps(NamedTuple):
    """Sentences in each of which a noun or a verb is hidden.

    Attributes:
        ids: the sentences.
        places: the place of the gap in each.
        nouns: 1 if the hidden word is a noun, and 0 if it is a verb.
        hidden: the hidden words.
    """

    ids: Int[Tensor, "b n"]
    places: Int[Tensor, " b"]
    nouns: Int[Tensor, " b"]
    hidden: list[str]


def gaps_of_a_kind(sentences: Sequence[Sequence[str]], num: int, seed: int) -> KindGaps:
    """Hide a noun or a verb, as a coin decides, in sentences that are drawn with replacement."""
    draw, made = random.Random(seed), []
    while len(made) < num:
        sentence, kind = draw.choice(sentences), draw.randrange(2)
        if found := [i for i, word in enumerate(sentence) if word in KINDS[kind] - KINDS[1 - kind]]:
            made.append((sentence, draw.choice(found), kind))
    texts = [[*words[:i], "<mask>", *words[i + 1 :]] for words, i, _ in made]
    return KindGaps(
        pad_ids([[BOS, *ids, EOS] for ids in corpus().words.encode(texts)]),
        torch.tensor([i + 1 for _, i, _ in made]),
        torch.tensor([kind for *_, kind in made]),
        [words[i] for words, i, _ in made],
    )


@torch.no_grad()
def at_gaps(model: LanguageModel, gaps: KindGaps, num_layers: int) -> Float[Tensor, "b d"]:
    """The vectors at the gaps after some layers."""
    x, mask = model.embed(gaps.ids), both_sides(gaps.ids)
    for layer in model.layers[:num_layers]:
        x, _ = layer(x, mask)
    return x[torch.arange(len(x)), gaps.places]


@torch.no_grad()
def right_kinds(model: LanguageModel, x: Float[Tensor, "b d"], nouns: Int[Tensor, " b"]) -> float:
    """In how many gaps nouns or verbs, as it should be, get more probability.

    Args:
        model: a network that fills gaps.
        x: the vectors at the gaps after its last layer, perhaps changed.
        nouns: 1 if the hidden word is a noun, and 0 if it is a verb.
    """
    words = corpus().words
    known = set(words.tokens(range(4, len(words))))
    verb_ids, noun_ids = (words.encode([sorted(kind & known)])[0] for kind in KINDS)
    probs = (model.norm(x) @ model.table.weight.T).softmax(dim=-1)
    chooses_noun = probs[:, noun_ids].sum(dim=1) > probs[:, verb_ids].sum(dim=1)
    return (chooses_noun == nouns.bool()).float().mean().item()


def coin_labels(parts: Sequence[KindGaps], seed: int) -> list[Int[Tensor, " b"]]:
    """A label for each hidden word of each part; a coin decides for each form of a word, once for all parts."""
    forms = sorted({word for part in parts for word in part.hidden})
    flips = torch.randint(2, (len(forms),), generator=torch.Generator().manual_seed(seed)).tolist()
    label = dict(zip(forms, flips, strict=True))
    return [torch.tensor([label[word] for word in part.hidden]) for part in parts]


def neighbours(x: Tensor, labels: Tensor, x_test: Tensor, labels_test: Tensor) -> float:
    """The share of right answers if a vector gets the label that most of its five nearest ones have."""
    near = torch.cdist(x_test, x).topk(5, largest=False).indices
    return ((labels[near].sum(dim=1) > 2) == labels_test).float().mean().item()


def measure_sides(settings: BertSettings) -> dict:
    """The perplexity of hidden words from the left, from the right and from both sides; candidates for our gap."""
    words = corpus().words
    gaps = gaps_in(words.encode(corpus().test), 0)
    row = torch.tensor([BOS, *words.encode([SENTENCE])[0], EOS])
    tasks = {"left": 0.0, "right": 0.0, "both": settings.share}
    models = {side: trained("gaps" if share else side, settings, share) for side, share in tasks.items()}
    ours = [(row, HIDDEN + 1)]
    at_ours = {side: log_probs(model, ours, side)[0].exp() for side, model in models.items()}
    shown = {i for probs in at_ours.values() for i in probs.topk(4).indices.tolist()}
    shown = sorted(shown, key=lambda i: -at_ours["both"][i])
    return {
        "perplexity": {side: perplexity(model, gaps, side) for side, model in models.items()},
        "words": words.tokens(shown),
        "probabilities": {
            side: [round(probs[i].item(), 4) for i in shown] for side, probs in at_ours.items()
        },
    }


def perplexity(model: LanguageModel, gaps: Sequence[tuple[Tensor, int]], side: str) -> float:
    """The exponential of the mean surprise at the hidden words."""
    hidden = torch.stack([row[place] for row, place in gaps])
    found = log_probs(model, gaps, side)[torch.arange(len(gaps)), hidden]
    return round((-found.mean()).exp().item(), 2)


def labelled(
    sentences: Sequence[Sequence[str]],
) -> tuple[Int[Tensor, "b n"], Int[Tensor, " b"]]:
    """Sentences as rows of ids, and whether each of them has a verb in the past."""
    rows = [[BOS, *ids, EOS] for ids in corpus().words.encode(sentences)]
    return pad_ids(rows), torch.tensor([int(not PAST.isdisjoint(sentence)) for sentence in sentences])


def tune(
    model: LanguageModel,
    ids: Int[Tensor, "b n"],
    labels: Int[Tensor, " b"],
    lr: float,
    steps: int = 100,
) -> nn.Linear:
    """Train a network in place on labels, and return the layer that reads its first vector."""
    head = nn.Linear(model.table.embedding_dim, 2)
    adam = torch.optim.Adam([*model.parameters(), *head.parameters()], lr)
    for _ in range(steps):
        part = torch.randperm(len(ids))[:32]
        x = model.vectors(ids[part], both_sides(ids[part]))
        loss = nn.functional.cross_entropy(head(x[:, 0]), labels[part])
        adam.zero_grad()
        loss.backward()
        adam.step()
    return head


def tuned(
    start: LanguageModel | None,
    data: tuple,
    exam: tuple,
    lr: float,
    steps: int,
    seed: int,
) -> tuple:
    """The loss and the share of right answers, of a network that starts from another one or from random numbers."""
    with seeded(seed):
        model = deepcopy(start) if start else LanguageModel(len(corpus().words))
        head = tune(model, *data, lr=lr, steps=steps)
    ids, labels = exam
    with torch.no_grad():
        logits = head(model.vectors(ids, both_sides(ids))[:, 0])
    right = (logits.argmax(dim=1) == labels).float().mean().item()
    return nn.functional.cross_entropy(logits, labels).item(), right


def words_alone(data: tuple, exam: tuple) -> float:
    """The share of right answers of a linear classifier that knows only which words a sentence has."""
    tokens = torch.arange(EOS, len(corpus().words))
    has, asks = ((tokens == ids[..., None]).any(dim=1).float() for ids, _ in (data, exam))
    targets = nn.functional.one_hot(
        data[1], 2
    ).float()  # of least squares; each sentence has EOS, for the bias
    matrix = torch.linalg.solve(has.T @ has + torch.eye(len(tokens)), has.T @ targets)
    return ((asks @ matrix).argmax(dim=1) == exam[1]).float().mean().item()


def measure_labels(settings: BertSettings) -> dict:
    """Right answers after a second training with few labels, from BERT and from random numbers."""
    bert = trained("gaps", settings, settings.share)
    valid, exam = (
        labelled(random.Random(4).sample(corpus().valid, 200)),
        labelled(corpus().test),
    )
    draws = {
        (num, seed): labelled(random.Random(100 + seed).sample(corpus().train, num))
        for num in settings.num_labels
        for seed in (*settings.seeds, 9)
    }
    found = {"always no": round(1 - exam[1].float().mean().item(), 3)}
    found["words alone"] = [
        [round(words_alone(draws[num, seed], exam), 3) for seed in settings.seeds]
        for num in settings.num_labels
    ]
    for name, start in (("from BERT", bert), ("from random numbers", None)):
        runs = found[name] = {"lrs": [], "right": []}
        for num in settings.num_labels:
            losses = {
                lr: tuned(start, draws[num, 9], valid, lr, settings.steps, seed=9)[0] for lr in settings.lrs
            }
            runs["lrs"].append(lr := min(losses, key=losses.__getitem__))
            again = (
                tuned(start, draws[num, seed], exam, lr, settings.steps, seed)[1] for seed in settings.seeds
            )
            runs["right"].append([round(right, 3) for right in again])
    return found


def main() -> None:
    """Measure all parts."""
    torch.set_num_threads(1)  # as for the results in the book
    settings = BertSettings()
    measures = {
        "counts": measure_counts,
        "sides": partial(measure_sides, settings),
        "labels": partial(measure_labels, settings),
    }
    run_parts(measures, RESULTS, belongs_to={"torch": torch.__version__, **settings._asdict()})


if __name__ == "__main__":
    main()
