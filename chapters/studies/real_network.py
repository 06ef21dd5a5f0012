"""The study of the heads of all-MiniLM-L6-v2: each of its 72 heads is hidden, and random sets of heads as controls.

Run as ``PYTHONPATH=chapters python -m studies.real_network``. It needs the network (``attention-course data get
minilm``) and about 8 minutes on one core. The results are stored beside this file. The sentences with a word of two
meanings were written for this study, and are in ``two_meanings.tsv``: a word, and two sentences for each meaning.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from math import comb
from pathlib import Path
from typing import Annotated, NamedTuple

import regex
import torch
import typer
from opencc import OpenCC
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.functional import normalize

from studies.parts import run_parts
from studies.sample import SAMPLE
from utils.attention import length_mask
from utils.corpus.batches import pad_ids
from utils.corpus.download import NETWORKS, get_network
from utils.sentence_encoder import SentenceEncoder, read_network
from utils.transformer import head_name

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
MEANINGS = Path(__file__).with_name("two_meanings.tsv")
NUM_LAYERS, NUM_HEADS = 6, 12
Heads = Sequence[tuple[int, int]]  #: layers and heads, counted from 0
HEADS = [(layer, head) for layer in range(NUM_LAYERS) for head in range(NUM_HEADS)]


class NetworkSettings(NamedTuple):
    """How much is drawn."""

    items: int = 40  #: of each kind of sentences in another order
    draws: int = 3  #: of them
    sizes: tuple[int, ...] = (6, 18)  #: heads of a set
    sets: int = 60  #: random sets of each size
    splits: int = 6  #: into a half to choose the heads by, and a half to measure


# ---- Sentences ----

_VERB = re.compile(r"\b(is|was|are|were|am|can|will|must|should|could|would)\b(?= )")
_NEGATIVE = re.compile(r"'|\b(not|never|no|any|nothing|nobody)\b")


def paraphrases() -> tuple[list[str], list[set[int]]]:
    """The sentences of the sample that share a Chinese translation with others, and the numbers of those others."""
    rows = [line.split("\t")[:2] for line in SAMPLE.read_text("utf-8").splitlines()]
    by_translation: dict[str, set[str]] = defaultdict(set)
    for english, chinese in rows:
        by_translation[chinese].add(english)
    others: dict[str, set[str]] = {english: set() for english, _ in rows}
    for same in by_translation.values():
        for english in same:
            others[english] |= same - {english}
    sentences = [english for english, same in others.items() if same]
    number = {english: i for i, english in enumerate(sentences)}
    return sentences, [{number[other] for other in others[english]} for english in sentences]


def with_a_word_more(added: Sequence[str]) -> list[list[str]]:
    """Plain sentences, each with a paraphrase, and with each of these words behind its verb.

    They have one verb such as *is* or *can*, and no negation.
    """
    sentences, others = paraphrases()
    rows = []
    for sentence, same in zip(sentences, others, strict=True):
        if sentence.endswith(".") and len(_VERB.findall(sentence)) == 1 and not _NEGATIVE.search(sentence):
            more = [_VERB.sub(rf"\g<0> {word}", sentence) for word in added]
            rows.append([sentence, sentences[min(same)], *more])
    return rows


def translated_characters() -> Tensor:
    """For each sentence that has paraphrases, the Chinese characters of its translation: 1 where it has a character.

    If it has several translations, it is the share of those that have the character.
    """
    number = {sentence: i for i, sentence in enumerate(paraphrases()[0])}
    simplified = OpenCC("t2s")
    found = []
    for line in SAMPLE.read_text("utf-8").splitlines():
        english, chinese, *_ = line.split("\t")
        if english in number:
            found.append((number[english], set(regex.findall(r"\p{Han}", simplified.convert(chinese)))))
    column = {c: j for j, c in enumerate(sorted(set().union(*(characters for _, characters in found))))}
    values, times = torch.zeros(len(number), len(column)), torch.zeros(len(number), 1)
    for i, characters in found:
        values[i, [column[c] for c in characters]] += 1
        times[i] += 1
    return values / times


def meanings() -> list[list[str]]:
    """A word, two sentences with one of its meanings, and two with another."""
    return [line.split("\t") for line in MEANINGS.read_text("utf-8").splitlines()]


def meaning_triples() -> list[tuple[int, int, int]]:
    """Numbers of sentences: one, the other with the same meaning of the word, and one with the other meaning."""
    found = []
    for word in range(len(meanings())):
        first, second = (4 * word, 4 * word + 1), (4 * word + 2, 4 * word + 3)
        for same, other in ((first, second), (second, first)):
            found += [(same[i], same[1 - i], j) for i in (0, 1) for j in other]
    return found


class Item(NamedTuple):
    """A sentence, and twice a pair of the same words: one that says the same, and one that says something else.

    In the first pair it is the right sentence that has two words in the order of ``sentence``, in the second the wrong.
    """

    sentence: str
    kept: tuple[str, str]
    turned: tuple[str, str]


ANIMALS = ["dog", "cat", "horse", "bird", "cow", "monkey", "mouse", "wolf", "lion", "fox"]
PEOPLE = ["teacher", "doctor", "boy", "girl", "farmer", "driver", "student", "nurse", "lawyer", "child"]
MEN, WOMEN = ["Tom", "John", "Peter", "David", "Paul"], ["Mary", "Alice", "Susan", "Anna", "Emma"]
TO_ANIMALS = [
    "chased",
    "followed",
    "attacked",
    "found",
    "watched",
    "helped",
    "carried",
    "pushed",
    "fed",
    "caught",
]
TO_PEOPLE = [
    "followed",
    "helped",
    "called",
    "invited",
    "praised",
    "visited",
    "blamed",
    "paid",
    "hired",
    "thanked",
]
COMPARED = [
    ("bigger", "smaller", "small"),
    ("older", "younger", "young"),
    ("faster", "slower", "slow"),
    ("stronger", "weaker", "weak"),
    ("taller", "shorter", "short"),
    ("heavier", "lighter", "light"),
    ("richer", "poorer", "poor"),
]
THINGS = ["book", "letter", "ticket", "watch", "knife", "camera", "cake", "hat", "key", "flower"]
DID = [
    "ate",
    "slept",
    "washed",
    "cooked",
    "called",
    "paid",
    "sang",
    "danced",
    "worked",
    "studied",
    "played",
    "swam",
]
QUALITIES = [
    ("soup", "hot", "salty"),
    ("room", "large", "clean"),
    ("car", "fast", "safe"),
    ("house", "old", "warm"),
    ("road", "long", "straight"),
    ("film", "short", "funny"),
    ("man", "rich", "happy"),
    ("plate", "round", "red"),
    ("woman", "young", "tall"),
    ("hotel", "cheap", "quiet"),
    ("player", "strong", "quick"),
    ("phone", "new", "expensive"),
]
#: New ones, to test once more what was found with the others.
NEW_QUALITIES = [
    tuple(words.split())
    for words in (
        "bread fresh soft",
        "coat thick dry",
        "dog big friendly",
        "egg small white",
        "street wide busy",
        "bag full heavy",
        "story sad true",
        "bed hard cold",
        "knife sharp clean",
        "river deep cold",
        "boy tired hungry",
        "girl brave calm",
        "teacher strict polite",
        "shop open crowded",
        "cake sweet large",
        "box empty wet",
        "shirt blue tight",
        "tree green tall",
        "horse black wild",
        "milk warm sweet",
        "boat slow safe",
        "office bright small",
        "song loud slow",
        "doctor busy helpful",
        "glass thin broken",
        "mountain high snowy",
        "engine noisy weak",
        "letter short polite",
        "farmer honest lazy",
        "lesson easy useful",
        "nurse gentle fast",
        "stone smooth flat",
        "wine dry red",
        "village quiet poor",
        "answer simple wrong",
        "child shy smart",
        "plan risky cheap",
        "train late full",
        "window dirty closed",
        "king old cruel",
    )
]
PLACES = ["at home", "in the garden", "in Paris", "at school", "on the bus", "in the kitchen"]


def _action(draw: random.Random) -> Item:
    people = draw.random() < 0.5
    a, b = draw.sample(PEOPLE if people else ANIMALS, 2)
    did = draw.choice(TO_PEOPLE if people else TO_ANIMALS)
    return Item(
        f"The {a} {did} the {b}.",
        (f"It was the {a} that {did} the {b}.", f"It was the {b} that {did} the {a}."),
        (f"It was the {b} that the {a} {did}.", f"It was the {a} that the {b} {did}."),
    )


def _gift(draw: random.Random) -> Item:
    a, b = draw.sample(MEN + WOMEN, 2)
    thing = draw.choice(THINGS)
    return Item(
        f"{a} gave {b} a {thing}.",
        (f"{a} handed a {thing} to {b}.", f"{b} handed a {thing} to {a}."),
        (f"{b} got a {thing} from {a}.", f"{a} got a {thing} from {b}."),
    )


def _comparison(draw: random.Random) -> Item:
    a, b = draw.sample(draw.choice([ANIMALS, PEOPLE]), 2)
    more, less, little = draw.choice(COMPARED)
    return Item(
        f"The {a} is {more} than the {b}.",
        (f"The {a} is not as {little} as the {b}.", f"The {b} is not as {little} as the {a}."),
        (f"The {b} is {less} than the {a}.", f"The {a} is {less} than the {b}."),
    )


def _sequence(draw: random.Random) -> Item:
    name, (one, two) = draw.choice(MEN + WOMEN), draw.sample(DID, 2)
    they = "he" if name in MEN else "she"
    return Item(
        f"{name} {one} before {they} {two}.",
        (f"{name} {one}, and then {they} {two}.", f"{name} {two}, and then {they} {one}."),
        (f"{name} {two} after {they} {one}.", f"{name} {one} after {they} {two}."),
    )


def _quality(draw: random.Random) -> Item:
    thing, one, two = draw.choice(QUALITIES)
    if draw.random() < 0.5:
        one, two = two, one
    return _not(f"{draw.choice(['The', 'This', 'That', 'Our', 'Your', 'My'])} {thing} is", one, two)


def _not(that: str, one: str, two: str) -> Item:
    return Item(
        f"{that} {one} and not {two}.",
        (f"{that} {one} but not {two}.", f"{that} {two} but not {one}."),
        (f"{that} not {two} but {one}.", f"{that} not {one} but {two}."),
    )


def new_items() -> list[Item]:
    """Sentences with *not* about other things and qualities than those that are drawn, each in both orders."""
    return [
        _not(f"The {thing} is", *pair)
        for thing, one, two in NEW_QUALITIES
        for pair in ((one, two), (two, one))
    ]


def _place(draw: random.Random) -> Item:
    (a, b), place = draw.sample(MEN + WOMEN, 2), draw.choice(PLACES)
    return Item(
        f"{a} is {place}, but {b} is not.",
        (f"{a} is {place}, and {b} is elsewhere.", f"{b} is {place}, and {a} is elsewhere."),
        (f"{b} is not {place}, but {a} is.", f"{a} is not {place}, but {b} is."),
    )


#: What the sentences tell: who did it, who gave, who is bigger, what was first, what is not so, who is not there.
KINDS: Mapping[str, Callable[[random.Random], Item]] = {
    "action": _action,
    "gift": _gift,
    "comparison": _comparison,
    "sequence": _sequence,
    "quality": _quality,
    "place": _place,
}


def order_items(num: int, seed: int) -> dict[str, list[Item]]:
    """Different items of each kind."""
    found = {}
    for kind, make in KINDS.items():
        draw, items = random.Random(f"{kind} {seed}"), {}
        while len(items) < num:
            items[make(draw)] = None
        found[kind] = list(items)
    return found


# ---- Searches that know no order ----

#: Kinds of sentences that are right only if both ways are.
_BOTH_WAYS = {"not": ["quality"], "who": [kind for kind in KINDS if kind != "quality"]}
#: Cosines that differ by less are those of the same words.
_EQUAL = 1e-6


def average_of_words(encoder: SentenceEncoder, lists: Sequence[Sequence[int]]) -> Tensor:
    """The mean of the vectors of pieces at the network's input, of length 1, for each list of pieces."""
    return normalize(
        torch.stack([encoder.words.weight.detach()[ids[1:-1]].mean(dim=0) for ids in lists]), dim=1
    )


def tf_idf(lists: Sequence[Sequence[int]], collection: Sequence[Sequence[int]]) -> Tensor:
    """How often each piece is in a list, times the logarithm of how rare it is in the collection; of length 1.

    A piece that the collection does not have counts as much as one that it has once.
    """
    texts = Counter(piece for ids in collection for piece in set(ids[1:-1]))
    pieces = sorted({piece for ids in lists for piece in ids[1:-1]})
    place = {piece: j for j, piece in enumerate(pieces)}
    counts = torch.zeros(len(lists), len(pieces))
    for i, ids in enumerate(lists):
        for piece in ids[1:-1]:
            counts[i, place[piece]] += 1
    rare = torch.tensor([len(collection) / max(1, texts[piece]) for piece in pieces]).log()
    return normalize(counts * rare, dim=1)


def reading_once(search: Callable[[list[list[int]]], Tensor]) -> Callable[[list[list[int]]], Tensor]:
    """A search that remembers the vectors of the lists of pieces that it has read."""
    known: dict[tuple[int, ...], Tensor] = {}

    def vectors(lists: list[list[int]]) -> Tensor:
        new = [ids for ids in dict.fromkeys(map(tuple, lists)) if ids not in known]
        known.update(zip(new, search([list(ids) for ids in new]), strict=True))
        return torch.stack([known[tuple(ids)] for ids in lists])

    return vectors


def answers_of(search: Callable[[list[list[int]]], Tensor], tokenizer: Tokenizer) -> dict[str, float]:
    """Shares of right answers of a search, which gives a vector to each list of pieces; for names see ``answers_in``.

    Equal cosines are half right where there are two sentences, and wrong where both ways must be right.
    """

    def vectors(texts: Sequence[str]) -> Tensor:
        return search([encoding.ids for encoding in tokenizer.encode_batch(list(texts))])

    sentences, others = paraphrases()
    v = vectors(sentences)
    nearest = (v @ v.T).fill_diagonal_(-2).argmax(dim=1).tolist()
    v = vectors([sentence for row in meanings() for sentence in row[1:]])
    one, same, other = (v[numbers] for numbers in torch.tensor(meaning_triples()).T)
    ahead = (one * (same - other)).sum(dim=1)
    found = {
        "paraphrase": sum(j in of for j, of in zip(nearest, others, strict=True)) / len(others),
        "meaning": ((ahead > _EQUAL).double() + (ahead.abs() <= _EQUAL) / 2).mean().item(),
    }
    items = order_items(20, 0)
    for name, kinds in _BOTH_WAYS.items():
        v = vectors([text for kind in kinds for item in items[kind] for text in _texts(item)])
        v = v.view(20 * len(kinds), 5, -1)
        cosines = (v[:, :1] * v[:, 1:]).sum(dim=2)
        found[name] = (cosines[:, ::2] > cosines[:, 1::2] + _EQUAL).all(dim=1).double().mean().item()
    return found


def answers_in(part: Mapping) -> dict[str, float]:
    """Shares of right answers in a stored part.

    A paraphrase is nearest; the state of a word has its meaning, and the vector of its sentence has it; the place of
    *not* and who did it are right in both ways.
    """
    found = {"paraphrase": part["paraphrases"], "word": part["word"], "meaning": part["sentence"]}
    for name, kinds in _BOTH_WAYS.items():
        shares = [order[kind][2] for order in part["order"] for kind in kinds]
        found[name] = sum(shares) / len(shares)
    return found


# ---- What is measured ----


class Texts:
    """Sentences in batches of equal lengths, and what each layer of the whole network reads of them."""

    def __init__(self, encoder: SentenceEncoder, tokenizer: Tokenizer, sentences: Sequence[str]):
        self.encoder = encoder
        self.ids = [encoding.ids for encoding in tokenizer.encode_batch(list(sentences))]
        order = sorted(range(len(self.ids)), key=lambda i: len(self.ids[i]))
        self.rows = [order[first : first + 32] for first in range(0, len(order), 32)]
        self.masks, self.read = [], []
        with torch.no_grad():
            for rows in self.rows:
                src_lens = torch.tensor([len(self.ids[row]) for row in rows])
                mask = length_mask(src_lens, int(src_lens.max()))
                ids = pad_ids([self.ids[row] for row in rows])
                h = encoder.norm(encoder.words(ids) + encoder.places.weight[: ids.shape[1]])
                read = [h]
                for layer in encoder.layers:
                    read.append(layer(read[-1], mask)[0])
                self.masks.append(mask)
                self.read.append(read)

    @torch.no_grad()
    def states(self, hidden: Heads) -> Iterator[tuple[list[int], Tensor, Tensor]]:
        """For each batch the numbers of its sentences, their states without these heads, and the mask."""
        start = min((layer for layer, _ in hidden), default=len(self.encoder.layers))
        layers = self.encoder.without(hidden).layers
        for rows, mask, read in zip(self.rows, self.masks, self.read, strict=True):
            h = read[start]
            for layer in layers[start:]:
                h, _ = layer(h, mask)
            yield rows, h, mask

    def vectors(self, hidden: Heads, at: Sequence[int] | None = None) -> tuple[Tensor, Tensor | None]:
        """The vectors of the sentences, and the states of one piece of each, which ``at`` names."""
        vectors = torch.zeros(len(self.ids), self.encoder.words.embedding_dim)
        pieces = vectors.clone()
        for rows, h, mask in self.states(hidden):
            real = mask.to(h).transpose(1, 2)
            vectors[rows] = normalize((h * real).sum(dim=1) / real.sum(dim=1), dim=1)
            if at is not None:
                pieces[rows] = normalize(h[torch.arange(len(rows)), [at[row] for row in rows]], dim=1)
        return vectors, None if at is None else pieces


class NetworkMeter:
    """Measures the network without some of its heads."""

    def __init__(self, encoder: SentenceEncoder, tokenizer: Tokenizer, settings: NetworkSettings):
        self.encoder, self.tokenizer, self.settings = encoder, tokenizer, settings
        rows = meanings()
        self.meanings = self._encoded([sentence for row in rows for sentence in row[1:]])
        numbers = [tokenizer.token_to_id(row[0]) for row in rows for _ in row[1:]]
        self.at = [ids.index(number) for ids, number in zip(self.meanings.ids, numbers, strict=True)]
        self.triples = torch.tensor(meaning_triples()).T

    def _encoded(self, sentences: Sequence[str]) -> Texts:
        return Texts(self.encoder, self.tokenizer, sentences)

    @cached_property  # the chapter needs the meanings alone
    def paraphrases(self) -> tuple[Texts, list[set[int]]]:
        sentences, same = paraphrases()
        return self._encoded(sentences), same

    @cached_property
    def order(self) -> list[Texts]:
        drawn = (order_items(self.settings.items, seed) for seed in range(self.settings.draws))
        return [
            self._encoded([text for of_kind in items.values() for item in of_kind for text in _texts(item)])
            for items in drawn
        ]

    def paraphrase_found(self, hidden: Heads) -> Tensor:
        """For each sentence whether the nearest of the others is a paraphrase."""
        texts, others = self.paraphrases
        vectors, _ = texts.vectors(hidden)
        nearest = (vectors @ vectors.T).fill_diagonal_(-2).argmax(dim=1).tolist()
        return torch.tensor([j in same for j, same in zip(nearest, others, strict=True)])

    def meaning_right(self, hidden: Heads) -> tuple[Tensor, Tensor]:
        """Share of right triples of each word: by the states of the word, and by the vectors of the sentences."""
        vectors, states = self.meanings.vectors(hidden, self.at)
        return self._of_triples(states), self._of_triples(vectors)

    def _of_triples(self, vectors: Tensor) -> Tensor:
        one, same, other = (vectors[numbers] for numbers in self.triples)
        right = (one * same).sum(dim=1) > (one * other).sum(dim=1)
        return right.double().view(-1, 8).mean(dim=1)

    def order_right(self, hidden: Heads, draw: int = 0) -> dict[str, list[float]]:
        """Of each kind the share of items that are right with the order kept, with it turned, and with both."""
        vectors, _ = self.order[draw].vectors(hidden)
        of_kinds = vectors.view(len(KINDS), self.settings.items, 5, -1)
        found = {}
        for kind, v in zip(KINDS, of_kinds, strict=True):
            cosines = (v[:, :1] * v[:, 1:]).sum(dim=2)
            kept, turned = cosines[:, 0] > cosines[:, 1], cosines[:, 2] > cosines[:, 3]
            found[kind] = [round(x.double().mean().item(), 3) for x in (kept, turned, kept & turned)]
        return found


def _texts(item: Item) -> list[str]:
    return [item.sentence, *item.kept, *item.turned]


def sign_test(fell: int, rose: int) -> float:
    """The probability that of ``fell + rose`` fair coins so many or more fall on one side, for both sides."""
    n, most = fell + rose, max(fell, rose)
    return min(1.0, 2 * sum(comb(n, k) for k in range(most, n + 1)) / 2**n)


def changes(before: Tensor, after: Tensor) -> dict:
    """The change of the mean, how many became worse and better, and the sign test of these."""
    fell, rose = int((after < before).sum()), int((after > before).sum())
    change = (after.double() - before.double()).mean().item()
    return {
        "change": round(change, 4),
        "worse": fell,
        "better": rose,
        "p": float(f"{sign_test(fell, rose):.2g}"),
    }


def measure_parts(meter: NetworkMeter) -> dict:
    """The whole network, without each layer, with layer 0 alone, and without any head."""
    hidden = {"whole": [], "no head": HEADS, "layer 0 alone": [place for place in HEADS if place[0]]} | {
        f"without layer {n}": [place for place in HEADS if place[0] == n] for n in range(NUM_LAYERS)
    }
    results = {}
    for name, heads in hidden.items():
        word, sentence = meter.meaning_right(heads)
        draws = meter.settings.draws if name in ("whole", "no head") else 1
        results[name] = {
            "paraphrases": round(meter.paraphrase_found(heads).double().mean().item(), 4),
            "word": round(word.mean().item(), 4),
            "sentence": round(sentence.mean().item(), 4),
            "order": [meter.order_right(heads, draw) for draw in range(draws)],
        }
    return results


def measure_sets(meter: NetworkMeter) -> dict:
    """Sets of heads: those that cost most on a half of the words, on the other half, and random ones."""
    word, _ = meter.meaning_right([])
    alone = {place: meter.meaning_right([place])[0] - word for place in HEADS}
    draw, results = random.Random(0), {}
    for size in meter.settings.sizes:
        chosen = []
        for _ in range(meter.settings.splits):
            half = torch.tensor(draw.sample([True, False] * (len(word) // 2), len(word)))
            costly = sorted(HEADS, key=lambda place: alone[place][half].mean().item())[:size]
            right, _ = meter.meaning_right(costly)
            change = round((right - word)[~half].mean().item(), 4)
            chosen.append({"heads": [head_name(layer, head) for layer, head in costly], "change": change})
        at_random = []
        for _ in range(meter.settings.sets):
            right, _ = meter.meaning_right(draw.sample(HEADS, size))
            at_random.append(round((right - word).mean().item(), 4))
        results[str(size)] = {"chosen": chosen, "random": sorted(at_random)}
    return results


def measure_each(meter: NetworkMeter) -> dict:
    """Each head hidden alone: what becomes worse and better, with a sign test."""
    found, (word, sentence) = meter.paraphrase_found([]), meter.meaning_right([])
    heads = {}
    for layer, head in HEADS:
        other_word, other_sentence = meter.meaning_right([(layer, head)])
        order = meter.order_right([(layer, head)])
        heads[head_name(layer, head)] = {
            "paraphrases": changes(found, meter.paraphrase_found([(layer, head)])),
            "word": changes(word, other_word),
            "sentence": changes(sentence, other_sentence),
            "order": {kind: both for kind, (_, _, both) in order.items()},
        }
    return heads


def measure_not_again(meter: NetworkMeter) -> dict:
    """Each head hidden alone, with the new sentences with *not*."""
    items = new_items()
    texts = Texts(meter.encoder, meter.tokenizer, [text for item in items for text in _texts(item)])

    def both(hidden: Heads) -> Tensor:
        v = texts.vectors(hidden)[0].view(len(items), 5, -1)
        cosines = (v[:, :1] * v[:, 1:]).sum(dim=2)
        return (cosines[:, 0] > cosines[:, 1]) & (cosines[:, 2] > cosines[:, 3])

    whole = both([])
    heads = {head_name(layer, head): changes(whole, both([(layer, head)])) for layer, head in HEADS}
    return {
        "whole": round(whole.double().mean().item(), 4),
        "no head": round(both(HEADS).double().mean().item(), 4),
        "heads": heads,
    }


def run_study(settings: NetworkSettings, out: Path, *, only: Sequence[str] | None = None) -> None:
    """Measure the parts that are not stored yet, or these alone."""
    meter = NetworkMeter(*read_network(get_network("minilm")), settings)
    functions = {
        "parts": measure_parts,
        "sets": measure_sets,
        "each head": measure_each,
        "not again": measure_not_again,
    }
    measures = {name: partial(measure, meter) for name, measure in functions.items()}
    files = dict(NETWORKS["minilm"].files)
    run_parts(measures, out, belongs_to={"sha256": files, "settings": settings._asdict()}, only=only)


def _main(
    out: Annotated[Path, typer.Option(help="results; what it holds is not measured again")] = RESULTS,
) -> None:
    """Hide the heads of all-MiniLM-L6-v2, and store what changes."""
    torch.set_num_threads(1)
    run_study(NetworkSettings(), out)
    typer.echo(f"{out}: complete")


if __name__ == "__main__":
    typer.run(_main)
