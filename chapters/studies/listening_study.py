"""The study of a network that listens: where Whisper base listens, against the times at which words are spoken.

Run as ``PYTHONPATH=chapters python -m studies.listening_study``, or with ``--only`` and the name of a part. It needs
the network (``attention-course data get whisper``), espeak-ng (``apt-get install espeak-ng``), which speaks sentences
of the sample and says when each word begins, and about 15 minutes on one core. The results are stored beside this file.
"""

import math
import random
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
import typer
from jaxtyping import Bool, Float, Int
from tokenizers import Tokenizer
from torch import Tensor

from studies.espeak import Spoken, Word, speak
from studies.parts import run_parts
from utils.corpus.download import NETWORKS, get_network
from utils.corpus.pairs import read_pairs
from utils.speech import (
    PLACE_SECONDS,
    SAMPLE_RATE,
    SpeechModel,
    log_mel,
    marks,
    path_in_order,
    read_sound,
    read_speech_model,
    words_of,
    write,
)
from utils.transformer import head_name

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
SAMPLE = Path(__file__).parents[2] / "utils" / "corpus" / "sample" / "cmn.txt"
SOUNDS = Path(__file__).parents[1] / "sounds"
RESAMPLES = 2000
#: The heads in which the bands of a translation cross.
CROSSING = ((5, 1), (5, 4), (5, 6), (5, 7))
Heads = Sequence[tuple[int, int]]  #: layers and heads, counted from 0


class ListeningSettings(NamedTuple):
    """What is spoken, and how much is measured."""

    voice: str = "en-us"
    speed: int = 175  #: words in a minute
    sentences: int = 48  #: heads are chosen on the first half, and everything is reported on the second
    shortest: int = 5  #: words
    longest: int = 9
    silenced: int = 2  #: words of each sentence that are silenced in the sound
    pauses: tuple[float, ...] = (1.0, 3.0)  #: seconds
    speeds: tuple[int, ...] = (100, 260, 350)
    gap: float = 0.5  #: seconds of silence between two sentences in one sound
    piece: float = 0.2  #: seconds of the French sentence that are silenced at a time
    near: float = 0.1  #: seconds within which a place counts as the one that was expected


SETTINGS = ListeningSettings()


# ---- What is spoken ----


def sentences(settings: ListeningSettings) -> list[tuple[str, Spoken]]:
    """English sentences of the sample, in an order that a fixed seed draws, whose words espeak-ng tells apart."""
    form = re.compile(rf"[A-Z][a-z]*( [A-Za-z]+){{{settings.shortest - 1},{settings.longest - 1}}}\.")
    of_sample = sorted({english for english, _ in read_pairs(SAMPLE, ("en", "zh")).rows})
    candidates = [text for text in of_sample if form.fullmatch(text)]
    random.Random(0).shuffle(candidates)
    found = []
    for text in candidates:
        try:
            found.append((text, speak(text, voice=settings.voice, speed=settings.speed)))
        except ValueError:  # it speaks two words as one
            continue
        if len(found) == settings.sentences:
            return found
    raise ValueError(f"the sample must have {settings.sentences} such sentences, got {len(found)}")


class Heard(NamedTuple):
    """A sentence, its sound and what the encoder makes of it."""

    text: str
    spoken: Spoken
    states: Float[Tensor, "places d"]


class Listener:
    """The network with what it reads: texts in pieces, and sounds as states of the encoder."""

    def __init__(self, model: SpeechModel, tokenizer: Tokenizer, heads: Heads):
        self.model, self.tokenizer, self.published = model, tokenizer, list(heads)
        self.layers = len(model.decoder)
        self.num_heads = model.decoder[0].cross_attention.num_heads
        self.end = tokenizer.token_to_id("<|endoftext|>")

    def states(self, sound: Float[Tensor, " samples"]) -> Float[Tensor, "places d"]:
        return self.model.encode(log_mel(sound))

    def ids(self, text: str, **wanted: str) -> tuple[list[int], list[list[int]]]:
        """The pieces of a text after their marks, and the places of the pieces of each word."""
        ids = (
            marks(self.tokenizer, **wanted) + self.tokenizer.encode(" " + text, add_special_tokens=False).ids
        )
        words = [places for word, places in words_of(self.tokenizer, ids) if any(map(str.isalnum, word))]
        return [*ids, self.end], words

    def weights(
        self, text: str, states: Float[Tensor, "places d"], **wanted: str
    ) -> Float[Tensor, "layers heads n places"]:
        """The weights with which each piece of a given text is written, whether the network would write it or not.

        The row of a piece is that of the piece before it, whose logits are of this piece.
        """
        ids, _ = self.ids(text, **wanted)
        weights = self.model.decode(torch.tensor(ids), self.model.project(states)).weights
        return weights.roll(1, dims=2)

    def probabilities(
        self,
        text: str,
        states: Float[Tensor, "places d"],
        masks: Bool[Tensor, "several places"] | None = None,
        **wanted: str,
    ) -> tuple[Float[Tensor, "several words"], Bool[Tensor, "several words"]]:
        """The probability of each word of a given text after the words before it, and whether it is the most probable.

        The probability of a word is the product of those of its pieces, and it is the most probable one if all its
        pieces are.

        Args:
            masks: True at the places that may be heard; a row of results for each.
        """
        ids, words = self.ids(text, **wanted)
        several = 1 if masks is None else len(masks)
        batch = torch.tensor(ids).expand(several, -1)
        mask = None if masks is None else masks[:, None]
        decoded = self.model.decode(batch, self.model.project(states), mask=mask, need_weights=False)
        log_p = decoded.logits[:, :-1].log_softmax(dim=-1)
        of_pieces = log_p.gather(-1, batch[:, 1:, None]).squeeze(-1)
        is_best = log_p.argmax(dim=-1) == batch[:, 1:]
        before = [[place - 1 for place in places] for places in words]
        p = torch.stack([of_pieces[:, places].sum(dim=1).exp() for places in before], dim=1)
        return p, torch.stack([is_best[:, places].all(dim=1) for places in before], dim=1)

    def written(self, states: Float[Tensor, "places d"], **wanted: str) -> str:
        keys = self.model.project(states)
        return self.tokenizer.decode(write(self.model, self.tokenizer, keys, num_pieces=100, **wanted))


# ---- Places and times ----


def place_of(seconds: float) -> int:
    """The place whose 20 ms hold this time."""
    return math.floor(round(seconds / PLACE_SECONDS, 6))


def hidden(begin: float, end: float, num_places: int) -> Bool[Tensor, " places"]:
    """A mask that hides the places of these seconds.

    >>> hidden(0.03, 0.06, 5).int()
    tensor([1, 0, 0, 1, 1], dtype=torch.int32)
    """
    mask = torch.ones(num_places, dtype=torch.bool)
    mask[place_of(begin) : math.ceil(round(end / PLACE_SECONDS, 6))] = False
    return mask


def is_within(place: int, word: Word) -> bool:
    """Whether the middle of a place lies within a word."""
    return word.begin <= (place + 0.5) * PLACE_SECONDS < word.end


def diagonal(words: Sequence[Word]) -> list[tuple[float, float]]:
    """Begin and end of each word if each letter, and each blank, took the same time.

    >>> diagonal([Word("a", 1.0, 1.2), Word("bcd", 1.2, 2.0)])  # five signs in one second
    [(1.0, 1.2), (1.4, 2.0)]
    """
    begin, end = words[0].begin, words[-1].end
    for_each = (end - begin) / (sum(len(word.text) + 1 for word in words) - 1)
    times, place = [], 0
    for word in words:
        times.append(
            (round(begin + place * for_each, 6), round(begin + (place + len(word.text)) * for_each, 6))
        )
        place += len(word.text) + 1
    return times


def share_with_interval(hits: Sequence[Sequence[bool]]) -> dict:
    """The share of hits, with the 95 % interval of the bootstrap over sentences.

    Args:
        hits: of the words of each sentence.

    >>> share_with_interval([[True, False], [True, False, True, False]])
    {'share': 0.5, 'interval': [0.5, 0.5], 'words': 6}
    """
    counts = torch.tensor([[sum(row), len(row)] for row in hits], dtype=torch.float64)
    rows = torch.randint(len(hits), (RESAMPLES, len(hits)), generator=torch.Generator().manual_seed(0))
    drawn = counts[rows].sum(dim=1)
    ends = (drawn[:, 0] / drawn[:, 1]).quantile(torch.tensor([0.025, 0.975], dtype=torch.float64))
    total = counts.sum(dim=0)
    return {
        "share": round((total[0] / total[1]).item(), 3),
        "interval": [round(end, 3) for end in ends.tolist()],
        "words": int(total[1]),
    }


def mean_over(weights: Float[Tensor, "layers heads n places"], heads: Heads) -> Float[Tensor, "n places"]:
    """The mean weights of some heads."""
    return torch.stack([weights[layer, head] for layer, head in heads]).mean(dim=0)


def places_of_words(
    weights: Float[Tensor, "*heads n places"], words: Sequence[Sequence[int]]
) -> Int[Tensor, "*heads words"]:
    """The place with the largest weight for each word; the weights of its pieces are added."""
    rows = [weights[..., list(places), :].sum(dim=-2) for places in words]
    return torch.stack(rows, dim=-2).argmax(dim=-1)


# ---- Times as programs compute them ----


def prepared(
    weights: Float[Tensor, "layers heads n places"], heads: Heads, *, width: int = 7
) -> Float[Tensor, "n places"]:
    """The scores that Whisper's own program makes of weights before it looks for a path.

    Each head's weights of a place get the mean 0 and the variance 1 over the pieces, and each is replaced by the median
    of the seven places around it. Then the heads are averaged.
    """
    chosen = torch.stack([weights[layer, head] for layer, head in heads])
    deviation, mean = torch.std_mean(chosen, dim=-2, keepdim=True, unbiased=False)
    scaled = (chosen - mean) / deviation
    around = torch.nn.functional.pad(scaled, (width // 2, width // 2), mode="reflect")
    return around.unfold(-1, width, 1).median(dim=-1).values.mean(dim=0)


def times_on_path(
    scores: Float[Tensor, "n places"], words: Sequence[Sequence[int]], first: int
) -> list[tuple[float, float]]:
    """Begin and end of each word on the best path through the rows from ``first`` on, in seconds.

    A word begins where the path comes to its first piece, and ends where it comes to the piece after its last one.
    """
    path = path_in_order(scores[first:])
    begins = [begin for begin, _ in path]
    times = [(begins[places[0] - first], begins[places[-1] + 1 - first]) for places in words]
    return [(begin * PLACE_SECONDS, end * PLACE_SECONDS) for begin, end in times]


def errors_in_ms(found: Sequence[Sequence[tuple[float, float]]], gold: Sequence[Sequence[Word]]) -> dict:
    """How far begins and ends are from the gold ones, in milliseconds: means, medians and shares within 100 ms."""
    results: dict = {}
    for number, name in enumerate(("begin", "end")):
        differences = [
            1000 * (times[number] - word[1 + number])
            for sentence, words in zip(found, gold, strict=True)
            for times, word in zip(sentence, words, strict=True)
        ]
        sizes = torch.tensor(differences, dtype=torch.float64).abs()
        results[name] = {
            "mean": round(sizes.mean().item()),
            "median": round(sizes.median().item()),
            "within 100 ms": round((sizes <= 100).double().mean().item(), 3),
            "shift": round(sum(differences) / len(differences)),
        }
    return results


# ---- The parts ----


class Study:
    """Measures the parts; what several of them need is computed once."""

    def __init__(self, listener: Listener, settings: ListeningSettings):
        self.listener, self.settings = listener, settings
        self.heard = cache(self._heard)

    @property
    def half(self) -> int:
        """Sentences before this number choose heads, and are not reported."""
        return self.settings.sentences // 2

    @cached_property
    def spoken(self) -> list[tuple[str, Spoken]]:
        return sentences(self.settings)

    def _heard(self, number: int) -> Heard:
        text, spoken = self.spoken[number]
        return Heard(text, spoken, self.listener.states(spoken.sound))

    def reported(self) -> Iterable[Heard]:
        return map(self.heard, range(self.half, self.settings.sentences))

    def all_heads(self) -> list[tuple[int, int]]:
        return [
            (layer, head) for layer in range(self.listener.layers) for head in range(self.listener.num_heads)
        ]

    def hits(
        self, numbers: Iterable[int], heads_of: Mapping[str, Heads], shift: int = 0
    ) -> dict[str, list[list[bool]]]:
        """For each mean of heads, whether the largest weight of each word lies within it.

        Args:
            shift: 1 for the rows of the pieces themselves, in place of those with which they are written.
        """
        found: dict[str, list[list[bool]]] = {name: [] for name in heads_of}
        for heard in map(self.heard, numbers):
            weights = self.listener.weights(heard.text, heard.states).roll(-shift, dims=2)
            _, words = self.listener.ids(heard.text)
            for name, heads in heads_of.items():
                places = places_of_words(mean_over(weights, heads), words).tolist()
                found[name].append([is_within(p, w) for p, w in zip(places, heard.spoken.words, strict=True)])
        return found

    def sentences(self) -> dict:
        """What is spoken and when, and what the network writes of it."""
        found = []
        for heard in map(self.heard, range(self.settings.sentences)):
            written = self.listener.written(heard.states).strip()
            found.append(
                {
                    "text": heard.text,
                    "begins": " ".join(f"{word.begin:.3f}" for word in heard.spoken.words),
                    "ends": " ".join(f"{word.end:.3f}" for word in heard.spoken.words),
                    "written": written,
                }
            )
        right = [plain(row["text"]) == plain(row["written"]) for row in found]
        exact = [row["text"] == row["written"] for row in found]
        return {"right": sum(right), "right to the sign": sum(exact), "sentences": found}

    def heads(self) -> dict:
        """Each head and means of heads: the share of words within which the largest weight lies."""
        single = {head_name(*head): [head] for head in self.all_heads()}
        first = self.hits(range(self.half), single)
        rate = {name: sum(map(sum, hits)) / sum(map(len, hits)) for name, hits in first.items()}
        order = sorted(rate, key=lambda name: -rate[name])
        best = [single[name][0] for name in order[:8]]
        means = {
            "best head": best[:1],
            "best eight": best,
            "published eight": self.listener.published,
            "all": self.all_heads(),
        }
        numbers = range(self.half, self.settings.sentences)
        second = self.hits(numbers, single | means)
        reported = {name: share_with_interval(second[name]) for name in means}
        baseline = []
        for heard in self.reported():
            middles = [place_of((begin + end) / 2) for begin, end in diagonal(heard.spoken.words)]
            baseline.append([is_within(p, w) for p, w in zip(middles, heard.spoken.words, strict=True)])
        reported["diagonal"] = share_with_interval(baseline)
        later = self.hits(numbers, means, shift=1)
        return {
            "chosen": order[:8],
            "published": [head_name(*head) for head in self.listener.published],
            "reported": reported,
            "rows of the pieces themselves": {name: share_with_interval(later[name]) for name in means},
            "chosen on": {name: round(rate[name], 3) for name in single},
            "each head": {name: share_with_interval(second[name])["share"] for name in single},
        }

    def hiding(self) -> dict:
        """Right words if the places of one word are hidden from the decoder, or as many elsewhere, or all others."""
        draw = random.Random(0)
        found: dict[str, list[list[bool]]] = {}
        for heard in self.reported():
            words, num_places = heard.spoken.words, len(heard.states)
            ways = {
                "nothing hidden": [torch.ones(num_places, dtype=torch.bool)] * len(words),
                "the word": [hidden(word.begin, word.end, num_places) for word in words],
                "elsewhere": [hidden(*elsewhere(word, words, draw), num_places) for word in words],
                "all but the word": [~hidden(word.begin, word.end, num_places) for word in words],
                "all": [torch.zeros(num_places, dtype=torch.bool)] * len(words),
            }
            for name, masks in ways.items():
                _, is_right = self.listener.probabilities(heard.text, heard.states, torch.stack(masks))
                found.setdefault(name, []).append(is_right.diagonal().tolist())
                if name in ("the word", "elsewhere"):
                    others = [row[:i] + row[i + 1 :] for i, row in enumerate(is_right.tolist())]
                    found.setdefault(f"{name}: other words", []).append(list(chain(*others)))
        return {name: share_with_interval(hits) for name, hits in found.items()}

    def silence(self) -> dict:
        """Right words if the sound of one word is silence, or as much of it elsewhere."""
        draw = random.Random(0)
        found: dict[str, list[list[bool]]] = {}
        for heard in self.reported():
            words = heard.spoken.words
            _, right = self.listener.probabilities(heard.text, heard.states)
            for number in sorted(draw.sample(range(len(words)), self.settings.silenced)):
                spans = {"the word": words[number][1:], "elsewhere": elsewhere(words[number], words, draw)}
                found.setdefault("nothing silenced", []).append([right[0, number].item()])
                for name, span in spans.items():
                    states = self.listener.states(silenced(heard.spoken.sound, *span))
                    _, is_right = self.listener.probabilities(heard.text, states)
                    found.setdefault(name, []).append([is_right[0, number].item()])
        size = self.settings.silenced
        by_sentence = {
            name: [list(chain(*rows[i : i + size])) for i in range(0, len(rows), size)]
            for name, rows in found.items()
        }
        return {name: share_with_interval(hits) for name, hits in by_sentence.items()}

    def pause(self) -> dict:
        """How far the largest weights move if silence is put before the middle word."""
        results = {}
        for pause in self.settings.pauses:
            moved: dict[str, list[list[bool]]] = {"before": [], "after": []}
            within: list[list[bool]] = []
            for heard in self.reported():
                words = heard.spoken.words
                middle = len(words) // 2
                states = self.listener.states(with_pause(heard.spoken.sound, words[middle].begin, pause))
                _, of_words = self.listener.ids(heard.text)
                old, new = (
                    places_of_words(
                        mean_over(self.listener.weights(heard.text, s), self.listener.published), of_words
                    )
                    for s in (heard.states, states)
                )
                steps = ((new - old) * PLACE_SECONDS).tolist()
                for name, part, expected in (("before", steps[:middle], 0), ("after", steps[middle:], pause)):
                    moved[name].append([abs(step - expected) <= self.settings.near + 1e-9 for step in part])
                later = [
                    Word(w.text, w.begin + pause * (i >= middle), w.end + pause * (i >= middle))
                    for i, w in enumerate(words)
                ]
                within.append([is_within(p, w) for p, w in zip(new.tolist(), later, strict=True)])
            results[f"{pause:g} s"] = {name: share_with_interval(hits) for name, hits in moved.items()}
            results[f"{pause:g} s"]["within the word"] = share_with_interval(within)
        return results

    def times(self) -> dict:
        """Times of words by dynamic programming, and by what is simpler, against the times of espeak-ng."""
        chosen = self.chosen_heads()
        found: dict[str, list[list[tuple[float, float]]]] = {}
        gold = []
        for heard in self.reported():
            words, num_places = heard.spoken.words, place_of(len(heard.spoken.sound) / SAMPLE_RATE)
            weights = self.listener.weights(heard.text, heard.states)[..., :num_places]
            _, of_words = self.listener.ids(heard.text)
            weights = weights / weights.sum(dim=-1, keepdim=True)
            later = weights.roll(-1, dims=2)
            first = len(marks(self.listener.tokenizer))
            published = self.listener.published

            def by_path(scores: Tensor, first: int = first, of_words=of_words) -> list[tuple[float, float]]:
                return times_on_path(scores, of_words, first)

            found.setdefault("as programs do", []).append(by_path(prepared(weights, published)))
            found.setdefault("best eight", []).append(by_path(prepared(weights, chosen)))
            found.setdefault("all heads", []).append(by_path(prepared(weights, self.all_heads())))
            found.setdefault("weights as they are", []).append(by_path(mean_over(weights, published)))
            found.setdefault("marks stay in", []).append(by_path(prepared(weights, published), first=1))
            found.setdefault("rows of the pieces themselves", []).append(by_path(prepared(later, published)))
            peaks = places_of_words(mean_over(weights, published), of_words).tolist()
            peaks = [(place + 0.5) * PLACE_SECONDS for place in peaks]
            between = [(a + b) / 2 for a, b in pairwise(peaks)]
            bounds = [words[0].begin, *between, words[-1].end]
            found.setdefault("halfway between largest weights", []).append(list(pairwise(bounds)))
            found.setdefault("diagonal", []).append(diagonal(words))
            gold.append(words)
        return {name: errors_in_ms(times, gold) for name, times in found.items()}

    def chosen_heads(self) -> list[tuple[int, int]]:
        """The eight heads that are best on the first half."""
        single = {head_name(*head): [head] for head in self.all_heads()}
        first = self.hits(range(self.half), single)
        order = sorted(single, key=lambda name: -sum(map(sum, first[name])))
        return [single[name][0] for name in order[:8]]

    def speed(self) -> dict:
        """Other speeds: what is written, and the largest weights of the published heads."""
        results = {}
        for speed in self.settings.speeds:
            right, hits, baseline = 0, [], []
            for text, _ in self.spoken[self.half :]:
                spoken = speak(text, voice=self.settings.voice, speed=speed)
                states = self.listener.states(spoken.sound)
                right += plain(self.listener.written(states)) == plain(text)
                weights = mean_over(self.listener.weights(text, states), self.listener.published)
                places = places_of_words(weights, self.listener.ids(text)[1]).tolist()
                hits.append([is_within(p, w) for p, w in zip(places, spoken.words, strict=True)])
                middles = [place_of((begin + end) / 2) for begin, end in diagonal(spoken.words)]
                baseline.append([is_within(p, w) for p, w in zip(middles, spoken.words, strict=True)])
            results[str(speed)] = {
                "right": right,
                "published eight": share_with_interval(hits),
                "diagonal": share_with_interval(baseline),
            }
        return results

    def two(self) -> dict:
        """Two sentences in one sound: what is written, and the largest weights of the published heads."""
        right, hits, baseline = 0, [], []
        silence = torch.zeros(round(self.settings.gap * SAMPLE_RATE))
        reported = list(self.reported())
        for one, other in zip(reported[::2], reported[1::2], strict=True):
            sound = torch.cat([one.spoken.sound, silence, other.spoken.sound])
            later = (len(one.spoken.sound) + len(silence)) / SAMPLE_RATE
            words = one.spoken.words + [
                Word(word.text, word.begin + later, word.end + later) for word in other.spoken.words
            ]
            text, states = f"{one.text} {other.text}", self.listener.states(sound)
            right += plain(self.listener.written(states)) == plain(text)
            weights = mean_over(self.listener.weights(text, states), self.listener.published)
            places = places_of_words(weights, self.listener.ids(text)[1]).tolist()
            hits.append([is_within(p, w) for p, w in zip(places, words, strict=True)])
            middles = [place_of((begin + end) / 2) for begin, end in diagonal(words)]
            baseline.append([is_within(p, w) for p, w in zip(middles, words, strict=True)])
        return {
            "sounds": len(hits),
            "right": right,
            "published eight": share_with_interval(hits),
            "diagonal": share_with_interval(baseline),
        }

    def french(self) -> dict:
        """A French sentence and its translation: where each word looks, and what silence in each piece takes away."""
        sound = read_sound(SOUNDS / "marie-fr.wav")
        states = self.listener.states(sound)
        wanted = {"language": "fr", "task": "translate"}
        text = self.listener.written(states, **wanted).strip()
        ids, words = self.listener.ids(text, **wanted)
        names = [self.listener.tokenizer.decode([ids[place] for place in places]).strip() for places in words]
        weights = self.listener.weights(text, states, **wanted)
        heads = {head_name(*head): [head] for head in CROSSING}
        heads |= {"published eight": self.listener.published, "all": self.all_heads()}
        looks = {
            name: {
                word: round(place * PLACE_SECONDS, 2)
                for word, place in zip(
                    names, places_of_words(mean_over(weights, of), words).tolist(), strict=True
                )
            }
            for name, of in heads.items()
        }
        seconds, piece = len(sound) / SAMPLE_RATE, self.settings.piece
        spans = [(number * piece, (number + 1) * piece) for number in range(-int(-seconds // piece))]
        whole, _ = self.listener.probabilities(text, states, **wanted)
        masks = torch.stack([hidden(*span, len(states)) for span in spans])
        by_hiding, _ = self.listener.probabilities(text, states, masks, **wanted)
        rows = [("nothing", whole[0])]
        for begin, end in spans:
            changed = self.listener.states(silenced(sound, begin, end))
            rows.append(
                (f"{begin:.1f} to {end:.1f}", self.listener.probabilities(text, changed, **wanted)[0][0])
            )
        labels = [name for name, _ in rows[1:]]
        return {
            "written in French": self.listener.written(states, language="fr").strip(),
            "translation": text,
            "seconds of the largest weights": looks,
            "silence in the sound": {name: named(names, row) for name, row in rows},
            "hidden from the decoder": {
                name: named(names, row) for name, row in zip(labels, by_hiding, strict=True)
            },
        }

    def kennedy(self) -> dict:
        """Real speech: what is written, and how far the largest weights move with the sound."""
        sound = read_sound(SOUNDS / "jfk.wav")
        states = self.listener.states(sound)
        text = self.listener.written(states).strip()
        _, words = self.listener.ids(text)
        old = places_of_words(mean_over(self.listener.weights(text, states), self.listener.published), words)
        quiet, results = quietest(sound), {"written": text}
        for name, at, pause in (("2 s before all", 0.0, 2.0), (f"1 s at {quiet:.2f} s", quiet, 1.0)):
            changed = self.listener.states(with_pause(sound, at, pause))
            weights = mean_over(self.listener.weights(text, changed), self.listener.published)
            steps = ((places_of_words(weights, words) - old) * PLACE_SECONDS).tolist()
            is_after = [place * PLACE_SECONDS >= at for place in old.tolist()]
            near = [
                abs(step - pause * after) <= self.settings.near + 1e-9
                for step, after in zip(steps, is_after, strict=True)
            ]
            results[name] = {
                "before": [
                    sum(n for n, a in zip(near, is_after, strict=True) if not a),
                    is_after.count(False),
                ],
                "after": [sum(n for n, a in zip(near, is_after, strict=True) if a), is_after.count(True)],
            }
        return results

    def invented(self) -> dict:
        """What is written of sounds without speech, beside the mark for no speech."""
        seconds = torch.arange(3 * SAMPLE_RATE) / SAMPLE_RATE
        noise = torch.randn(len(seconds), generator=torch.Generator().manual_seed(0))
        sounds = {
            "silence": torch.zeros(len(seconds)),
            "noise": 0.1 * noise,
            "a tone": 0.3 * torch.sin(2 * torch.pi * 440 * seconds),
            "Kennedy": read_sound(SOUNDS / "jfk.wav"),
        }
        first = marks(self.listener.tokenizer)[:1]
        nothing = self.listener.tokenizer.token_to_id("<|nocaptions|>")
        results = {}
        for name, sound in sounds.items():
            states = self.listener.states(sound)
            logits = self.listener.model.decode(
                torch.tensor(first), self.listener.model.project(states)
            ).logits
            results[name] = {
                "written": self.listener.written(states),
                "no speech": round(logits[-1].softmax(dim=-1)[nothing].item(), 3),
            }
        return results

    def language(self) -> dict:
        """The three most probable languages of each sound."""
        sounds = {
            "Kennedy": read_sound(SOUNDS / "jfk.wav"),
            "Marie, in French": read_sound(SOUNDS / "marie-fr.wav"),
            "the first sentence, by espeak-ng": self.heard(0).spoken.sound,
        }
        start, english, task, _ = marks(self.listener.tokenizer)
        languages = range(english, task - 1)
        results = {}
        for name, sound in sounds.items():
            keys = self.listener.model.project(self.listener.states(sound))
            logits = self.listener.model.decode(torch.tensor([start]), keys).logits[-1]
            best = logits[list(languages)].softmax(dim=-1).topk(3)
            results[name] = {
                self.listener.tokenizer.id_to_token(english + number)[2:-2]: round(p, 4)
                for p, number in zip(best.values.tolist(), best.indices.tolist(), strict=True)
            }
        return results

    def cost(self) -> dict:
        """Seconds of one core and multiplications, for the encoder and for a piece of text."""
        model, ids = self.listener.model, marks(self.listener.tokenizer)
        mel = log_mel(read_sound(SOUNDS / "jfk.wav"))
        states = model.encode(mel)
        keys = model.project(states)
        past = model.decode(torch.tensor(ids), keys, need_weights=False).past
        piece = torch.tensor(ids[-1:])
        seconds = {
            "encoder": median_seconds(lambda: model.encode(mel)),
            "keys and values of the sound": median_seconds(lambda: model.project(states)),
            "a piece of text": median_seconds(lambda: model.decode(piece, keys, past, need_weights=False)),
        }
        places, d = states.shape
        hidden_width = model.encoder[0].feed_forward[0].out_features
        bands, layers, vocab = mel.shape[0], self.listener.layers, model.pieces.num_embeddings
        for_layer = 4 * d * d + 2 * d * hidden_width
        products = {
            "encoder": 2 * places * 3 * bands * d
            + places * 3 * d * d
            + layers * places * (for_layer + 2 * places * d),
            "keys and values of the sound": layers * places * 2 * d * d,
            "a piece of text": layers * (for_layer + 2 * d * d + 2 * places * d) + d * vocab,
        }
        return {"seconds": seconds, "products in millions": {k: round(v / 1e6) for k, v in products.items()}}


def plain(text: str) -> str:
    """Words without regard to case and punctuation."""
    return " ".join(re.findall(r"\w+", text.lower()))


def named(names: Sequence[str], numbers: Iterable[float]) -> dict[str, float]:
    return {name: round(float(number), 3) for name, number in zip(names, numbers, strict=True)}


def elsewhere(word: Word, words: Sequence[Word], draw: random.Random) -> tuple[float, float]:
    """As long a stretch as a word, drawn from the speech before and after it."""
    length = word.end - word.begin
    begin, end = words[0].begin, words[-1].end
    rooms = [(begin, word.begin - length), (word.end, end - length)]
    sizes = [max(0.0, high - low) for low, high in rooms]
    if not any(sizes):  # it takes more than half of the speech: what is left
        rooms = [(begin, word.begin), (word.end, end)]
        return max(rooms, key=lambda room: room[1] - room[0])
    point = draw.random() * sum(sizes)
    start = rooms[0][0] + point if point < sizes[0] else rooms[1][0] + point - sizes[0]
    return start, start + length


def silenced(sound: Float[Tensor, " samples"], begin: float, end: float) -> Float[Tensor, " samples"]:
    """The sound with zeros from one second to another.

    >>> silenced(torch.ones(5), 1 / 16_000, 3 / 16_000)
    tensor([1., 0., 0., 1., 1.])
    """
    changed = sound.clone()
    changed[round(begin * SAMPLE_RATE) : round(end * SAMPLE_RATE)] = 0
    return changed


def with_pause(sound: Float[Tensor, " samples"], at: float, pause: float) -> Float[Tensor, " longer"]:
    """The sound with silence put in at some second.

    >>> with_pause(torch.ones(3), 1 / 16_000, 2 / 16_000)
    tensor([1., 0., 0., 1., 1.])
    """
    place = round(at * SAMPLE_RATE)
    return torch.cat([sound[:place], torch.zeros(round(pause * SAMPLE_RATE)), sound[place:]])


def quietest(sound: Float[Tensor, " samples"]) -> float:
    """The middle of the quietest 0.3 s in the middle half of a sound, in seconds."""
    width = round(0.3 * SAMPLE_RATE)
    powers = sound.square().unfold(0, width, 160).sum(dim=1)
    quarter = len(powers) // 4
    return ((quarter + powers[quarter:-quarter].argmin().item()) * 160 + width / 2) / SAMPLE_RATE


def median_seconds(compute: Callable[[], object], times: int = 5) -> float:
    """The median time of one core that a computation takes."""
    found = []
    for _ in range(times):
        start = time.process_time()
        compute()
        found.append(time.process_time() - start)
    return round(sorted(found)[times // 2], 4)


#: The parts, in the order in which they are measured.
#:
#: :meta hide-value:
PARTS = ("sentences", "heads", "hiding", "silence", "pause", "times", "speed", "two")
PARTS += ("french", "kennedy", "invented", "language", "cost")


def run_study(settings: ListeningSettings, out: Path, *, only: Sequence[str] | None = None) -> None:
    """Measure the parts that are not stored yet, or these alone."""
    study = Study(Listener(*read_speech_model(get_network("whisper"))), settings)
    head = {"sha256": dict(NETWORKS["whisper"].files), "settings": settings._asdict()}
    with torch.no_grad():
        run_parts({name: getattr(study, name) for name in PARTS}, out, belongs_to=head, only=only)


def _main(
    out: Annotated[Path, typer.Option(help="results; what it holds is not measured again")] = RESULTS,
    only: Annotated[list[str] | None, typer.Option(help="a part to measure, also if it is stored")] = None,
) -> None:
    """Speak, listen and compare, and store what was found."""
    torch.set_num_threads(1)
    run_study(SETTINGS, out, only=only)
    typer.echo(f"{out}: complete")


if __name__ == "__main__":
    typer.run(_main)
