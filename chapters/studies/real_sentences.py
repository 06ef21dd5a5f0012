"""The study of real sentences: what is reported of Tatoeba's Chinese file (chapters/chinese_english).

Run as ``PYTHONPATH=chapters python -m studies.real_sentences``. It needs the data folder with ``tatoeba/cmn.txt``
(book/data_and_licences), and three quarters of an hour on one core. The trainings stay in the folder
``runs/real_sentences``, so that a later call goes on where this one ended. With ``--only file`` only the parts that are
named are measured, again if they are stored already. The results are stored beside this file. They hold numbers, and
translations of sentences of our own, but no sentence of the file.

Models, training, search and scores come from ``utils``.
"""

import hashlib
import json
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
import typer
from opencc import OpenCC
from safetensors.torch import load_file, save

from studies.aligning import detokenise
from studies.parts import run_parts
from studies.sample import SAMPLE
from utils.corpus.batches import ShuffledBatches, pad_ids
from utils.corpus.pairs import find_file, read_pairs, tokenise
from utils.corpus.splits import Split, folded, group_split
from utils.corpus.vocabulary import UNK, Vocabulary
from utils.corpus.whole_files import write_whole
from utils.errors import check_weights
from utils.metrics import Score, bleu
from utils.search import Hypothesis, greedy
from utils.seq2seq import EncoderDecoder
from utils.translator.models import Settings, build_model
from utils.translator.options import Search
from utils.translator.runs import Run, save_run
from utils.translator.training.loop import STATE, Schedule, load_state, save_state, train_model
from utils.translator.using.input_lines import read_lines
from utils.translator.using.translating import translate_sentences

CHINESE = "tatoeba/cmn.txt"
#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")

RESAMPLES = 300


@dataclass(frozen=True)
class SentencesSettings:
    """The settings of the study; the defaults are those of the stored results.

    Attributes:
        runs: folder in which trainings are kept.
        epochs: passes over the Chinese file.
        width: of embeddings and states.
        vocabulary_size: pieces per language.
        num_test: groups to test on.
        num_valid: groups whose loss chooses the weights.
    """

    runs: Path = Path("runs/real_sentences")
    epochs: int = 5
    width: int = 192
    vocabulary_size: int = 6000
    num_test: int = 1000
    num_valid: int = 500

    def settings(self, src: str, tgt: str) -> Settings:
        """The settings of a translator."""
        dropout = 0.2 if "zh" in (src, tgt) else 0.1
        return Settings(
            src, tgt, self.vocabulary_size, d_embed=self.width, d_hidden=self.width, dropout=dropout
        )

    def split(self, path: str, src: str, tgt: str) -> Split:
        """The pairs of a file, as the command line splits them."""
        pairs = read_pairs(path, ("en", "zh") if path == CHINESE else ("en", "fr")).between(src, tgt)
        return group_split(pairs, num_test=self.num_test, num_valid=self.num_valid)


# Functions that pages build too and explain.


def groups_of(pairs: Sequence[tuple[str, str]]) -> list[int]:
    """The number of the group of each row; rows that share a sentence of either language are in one group.

    >>> groups_of([("a", "x"), ("b", "y"), ("c", "y"), ("d", "z"), ("c", "x")])
    [0, 0, 0, 3, 0]
    """
    group = list(range(len(pairs)))
    first: dict[tuple[int, str], int] = {}
    for row, pair in enumerate(pairs):
        for key in enumerate(map(folded, pair)):
            old, new = group[row], group[first.setdefault(key, row)]
            group = [new if number == old else number for number in group]
    return group


def longest_match(text: str, dictionary: Iterable[str], *, longest: int = 4) -> list[str]:
    """Cut a text from the left, each time after the longest word of the dictionary.

    >>> longest_match("我爱图书馆", {"图书", "图书馆"})
    ['我', '爱', '图书馆']
    """
    words = []
    while text:
        lengths = range(min(longest, len(text)), 1, -1)
        n = next((n for n in lengths if text[:n] in dictionary), len(tokenise(text, "zh")[0]))
        words.append(text[:n])
        text = text[n:].lstrip()
    return words


def model_1(
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]], rounds: int = 5
) -> dict[tuple[str, str], float]:
    """IBM model 1: the probability of each target word if the source word is given, by (source, target) word.

    Source: Brown et al. (1993), section 4.1.
    """
    table: Mapping[tuple[str, str], float] = defaultdict(lambda: 1.0)
    for _ in range(rounds):
        counts: defaultdict[tuple[str, str], float] = defaultdict(float)
        totals: defaultdict[str, float] = defaultdict(float)
        for src, tgt in pairs:
            for word in tgt:
                norm = sum(table[source, word] for source in src)
                for source in src:
                    share = table[source, word] / norm
                    counts[source, word] += share
                    totals[source] += share
        table = {pair: count / totals[pair[0]] for pair, count in counts.items()}
    return dict(table)


def links_by_table(
    table: Mapping[tuple[str, str], float], src: Sequence[str], tgt: Sequence[str]
) -> frozenset[tuple[int, int]]:
    """Link each target word with the source word that gives it the highest probability."""
    best = (max(range(len(src)), key=lambda i: table.get((src[i], word), 0.0)) for word in tgt)
    return frozenset((i, j) for j, i in enumerate(best))


# Parts: each measures something and returns what is stored


def measure_file(study: SentencesSettings) -> dict:
    """Facts about the Chinese file, and the shares of its test that a random split also has in training."""
    with find_file(CHINESE).open("rb") as file:
        raw = [tuple(line.split("\t")[:2]) for line in read_lines(file, CHINESE) if line]
    pairs = read_pairs(CHINESE, ("en", "zh")).between("zh", "en")
    to_simplified, to_traditional = OpenCC("t2s").convert, OpenCC("s2t").convert
    characters = {character for _, zh in raw for character in zh}
    scripts = Counter(
        ("neutral", "traditional", "simplified", "mixed")[
            (zh != to_simplified(zh)) + 2 * (zh != to_traditional(zh))
        ]
        for _, zh in raw
    )
    translations = [Counter(side) for side in zip(*set(pairs), strict=True)]
    return {
        "pairs": len(raw),
        "sentences": {"zh": len({zh for _, zh in raw}), "en": len({en for en, _ in raw})},
        "most_translations": {"zh": max(translations[0].values()), "en": max(translations[1].values())},
        "scripts": {script: round(count / len(raw), 3) for script, count in scripts.items()},
        "characters": {"before": len(characters), "after": len(set(map(to_simplified, characters)))},
        "repeated": {"before": len(raw) - len(set(raw)), "after": len(pairs) - len(set(pairs))},
        "seen": shares_seen_by_chance(pairs, study.num_test),
    }


def shares_seen_by_chance(pairs: Sequence[tuple[str, str]], num_test: int) -> dict[str, float]:
    """The shares of :func:`shares_seen` for a random split of the rows."""
    shuffled = random.Random(0).sample(pairs, len(pairs))
    shares = shares_seen(shuffled[:num_test], shuffled[num_test:])
    return {name: round(share, 3) for name, share in shares.items()}


def shares_seen(test: Sequence[tuple[str, str]], rows: Sequence[tuple[str, str]]) -> dict[str, float]:
    """The shares of test rows whose Chinese sentence, English sentence, or either is in the other rows.

    >>> shares_seen([("a", "x"), ("b", "y")], [("a", "z"), ("c", "X!")])
    {'zh': 0.5, 'en': 0.5, 'either': 0.5}
    """
    known_sentences = [{folded(sentence) for sentence in side} for side in zip(*rows, strict=True)]
    is_known = [[folded(s) in k for s, k in zip(pair, known_sentences, strict=True)] for pair in test]
    first, second = (sum(side) / len(test) for side in zip(*is_known, strict=True))
    return {"zh": first, "en": second, "either": sum(map(any, is_known)) / len(test)}


class Units(NamedTuple):
    """How text becomes ids: a function that cuts it, and a vocabulary of what it cuts."""

    cut: Callable[[str], str | list[str]]
    vocabulary: Vocabulary

    def ids(self, texts: Iterable[str]) -> list[list[int]]:
        """The ids of each text."""
        return self.vocabulary.encode([self.cut(text) for text in texts])


def pieces(texts: Iterable[str], size: int) -> Units:
    """Pieces by byte-pair encoding, which cuts by itself."""
    return Units(str, Vocabulary.bpe(texts, size))


def closed(texts: Iterable[str], cut: Callable[[str], list[str]], min_count: int) -> Units:
    """Words or characters that occur often enough; all others are unknown."""
    return Units(cut, Vocabulary.words(map(cut, texts), min_count=min_count))


def cohesive_words(
    sentences: Sequence[str], *, longest: int = 4, min_count: int = 5, ratio: float = 20
) -> set[str]:
    """Runs of Chinese characters that stand together more often than by chance.

    However one cuts a run in two, it is at least ``ratio`` times as frequent as two independent parts would make it.

    Source: after Church and Hanks (1990).
    """
    counts = Counter(
        sentence[start : start + n]
        for sentence in sentences
        for n in range(1, longest + 1)
        for start in range(len(sentence) - n + 1)
    )
    total = sum(count for run, count in counts.items() if len(run) == 1)

    def coheres(run: str) -> bool:
        cuts = ((run[:k], run[k:]) for k in range(1, len(run)))
        return all(counts[run] * total >= ratio * counts[left] * counts[right] for left, right in cuts)

    chinese = re.compile("[\u3400-\u9fff]{2,}")
    return {
        run for run, count in counts.items() if count >= min_count and chinese.fullmatch(run) and coheres(run)
    }


class Trained(NamedTuple):
    """A translator, and what is stored of its training."""

    model: EncoderDecoder
    facts: dict


def trained(
    name: str,
    study: SentencesSettings,
    src: Units,
    tgt: Units,
    split: Split,
    settings: Settings,
    schedule: Schedule | None = None,
) -> Trained:
    """Train as the command line does; or load what an earlier call has trained.

    Raises:
        ValueError: the earlier call had another version of torch, other settings or other pairs.
    """
    schedule = schedule or Schedule(epochs=study.epochs, batch_size=64)
    belongs_to = {"torch": version("torch"), "settings": asdict(settings), "schedule": asdict(schedule)}
    belongs_to = json.loads(json.dumps(belongs_to | {"pairs": len(split.train)}))
    model = build_model(settings, len(src.vocabulary), len(tgt.vocabulary))
    weights, facts = study.runs / f"{name}.safetensors", study.runs / f"{name}.json"
    if facts.exists():
        stored = json.loads(facts.read_text("utf-8"))
        if stored.get("belongs to") != belongs_to:
            raise ValueError(
                f"{facts} is of another version, other settings or other pairs: name another folder"
            )
        tensors = load_file(weights)
        check_weights(tensors, str(weights))
        model.load_state_dict(tensors)
        return Trained(model, stored["facts"])
    typer.echo(f"training {name}")
    train_ids, valid_ids = (
        tuple(units.ids(texts) for units, texts in zip((src, tgt), zip(*rows, strict=True), strict=True))
        for rows in (split.train, split.valid)
    )
    batches, folder = ShuffledBatches(*train_ids, batch_size=schedule.batch_size), study.runs / name
    folder.mkdir(parents=True, exist_ok=True)
    start = time.process_time()
    history = train_model(
        model,
        batches,
        schedule,
        valid=valid_ids,
        seed=settings.seed,
        state=load_state(folder) if (folder / STATE).exists() else None,
        save=partial(save_state, folder),
    )
    facts_of_training = {
        "pairs": len(split.train),
        "steps": len(history.losses),
        "minutes": round((time.process_time() - start) / 60, 1),
        "held_out_losses": [round(loss, 3) for loss in history.valid_losses],
    }
    write_whole(weights, save(model.state_dict()))
    write_whole(facts, json.dumps({"belongs to": belongs_to, "facts": facts_of_training}).encode())
    (folder / STATE).unlink()
    return Trained(model, facts_of_training)


def hypotheses_of(model: EncoderDecoder, src: Units, texts: Sequence[str]) -> list[Hypothesis]:
    """The hypothesis of greedy search for each text; texts of similar length are translated together."""
    ids = src.ids(texts)
    order = sorted(range(len(ids)), key=lambda row: len(ids[row]))
    by_row: dict[int, Hypothesis] = {}
    for start in range(0, len(order), 64):
        rows = order[start : start + 64]
        src_lens = torch.tensor([len(ids[row]) for row in rows])
        batch = pad_ids([ids[row] for row in rows])
        longest = 2 * int(src_lens.max()) + 10
        by_row |= zip(rows, greedy(model, batch, src_lens, max_len=longest), strict=True)
    return [by_row[row] for row in range(len(ids))]


def translated(model: EncoderDecoder, src: Units, tgt: Units, texts: Sequence[str]) -> list[str]:
    """The translation of each text by greedy search."""
    return [tgt.vocabulary.decode(hypothesis.tokens) for hypothesis in hypotheses_of(model, src, texts)]


def stored_score(texts: Sequence[str], references: Sequence[Sequence[str]], lang: str = "en") -> dict:
    """BLEU with its interval, and the number of sentences."""
    return {"num": len(texts)} | _rounded_score(bleu(texts, references, lang=lang, resamples=RESAMPLES))


def _rounded_score(score: Score) -> dict:
    return {"bleu": round(score.value, 2), "interval": _rounded(score.interval)}


def gain(better: Sequence[str], worse: Sequence[str], references: Sequence[Sequence[str]]) -> dict:
    """The difference in BLEU between two lists of translations, with the interval of the paired bootstrap.

    Each resample draws the same sentences for both.

    Source: Koehn (2004), section 5.
    """

    def difference(rows: Sequence[int]) -> float:
        better_score, worse_score = (
            bleu([texts[i] for i in rows], [references[i] for i in rows]).value for texts in (better, worse)
        )
        return better_score - worse_score

    rows = range(len(references))
    draw = random.Random(0)
    differences = sorted(difference(draw.choices(rows, k=len(rows))) for _ in range(RESAMPLES))
    cut = RESAMPLES // 40  # 2.5 % at each end
    return {
        "bleu": round(difference(rows), 2),
        "interval": _rounded((differences[cut], differences[-cut - 1])),
    }


def _rounded(interval: tuple[float, float]) -> list[float]:
    return [round(end, 1) + 0.0 for end in interval]  # adding 0 makes 0.0 of -0.0


class Chinese(NamedTuple):
    """The Chinese file split, and a translator of pieces from Chinese to English."""

    split: Split
    src: Units
    tgt: Units
    model: EncoderDecoder
    facts: dict

    def run(self, settings: Settings) -> Run:
        """The translator as a run of the command line."""
        return Run(settings, self.model, self.src.vocabulary, self.tgt.vocabulary, self.split.test)


@cache
def chinese(study: SentencesSettings) -> Chinese:
    """The translator that most parts look at; what ``attention-course train`` trains, too."""
    split = study.split(CHINESE, "zh", "en")
    src, tgt = (pieces(side, study.vocabulary_size) for side in zip(*split.train, strict=True))
    return Chinese(split, src, tgt, *trained("zh-en", study, src, tgt, split, study.settings("zh", "en")))


class Leak(NamedTuple):
    """One test row of each group, and two trainings of equal size: without and with the other rows of these groups."""

    test: list[tuple[str, str]]
    has_relatives: list[bool]
    relatives: list[tuple[str, str]]
    honest: list[tuple[str, str]]
    leaky: list[tuple[str, str]]

    def compared(self, honest_texts: Sequence[str], leaky_texts: Sequence[str]) -> dict[str, dict]:
        """Both scores and the gain, on the rows with relatives and on those without."""
        results = {}
        for name, related in (("with relatives", True), ("without", False)):
            rows = [i for i, has in enumerate(self.has_relatives) if has == related]
            references = [[self.test[i][1]] for i in rows]
            honest, leaky = ([texts[i] for i in rows] for texts in (honest_texts, leaky_texts))
            results[name] = {
                "honest": stored_score(honest, references),
                "leaky": stored_score(leaky, references),
                "gain": gain(leaky, honest, references),
                "exact": {
                    kind: _share(map(list.__contains__, references, texts))
                    for kind, texts in (("honest", honest), ("leaky", leaky))
                },
            }
        return results


def leak_of(split: Split) -> Leak:
    """A test and two trainings that differ in the relatives of the test alone."""
    rows = [(example.source, reference) for example in split.test for reference in example.references]
    groups: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
    for row, group in zip(rows, groups_of(rows), strict=True):
        groups[group].append(row)
    draw = random.Random(0)
    for group in groups.values():
        draw.shuffle(group)
    relatives = [row for group in groups.values() for row in group[1:]]
    # As many rows as the honest training, so that only the choice of rows differs.
    others = draw.sample(split.train, len(split.train) - len(relatives))
    return Leak(
        [group[0] for group in groups.values()],
        [len(group) > 1 for group in groups.values()],
        relatives,
        split.train,
        others + relatives,
    )


def measure_leak(study: SentencesSettings) -> dict:
    """Two translators and one test; one translator was also trained on the other rows of the groups of the test."""
    page = chinese(study)
    leak = leak_of(page.split)
    split = page.split._replace(train=leak.leaky)
    leaky, facts = trained("zh-en-leaky", study, page.src, page.tgt, split, study.settings("zh", "en"))
    texts = [
        translated(model, page.src, page.tgt, [zh for zh, _ in leak.test]) for model in (page.model, leaky)
    ]
    return {
        "test": len(leak.test),
        "relatives": len(leak.relatives),
        "trainings": {"honest": page.facts, "leaky": facts},
    } | leak.compared(*texts)


def measure_looked_up(study: SentencesSettings) -> dict:
    """The same test for a program that translates nothing: it looks the most similar sentence up."""
    leak = leak_of(study.split(CHINESE, "zh", "en"))
    sources = [zh for zh, _ in leak.test]
    return leak.compared(*(looked_up(sources, rows) for rows in (leak.honest, leak.leaky)))


def looked_up(sources: Iterable[str], rows: Sequence[tuple[str, str]]) -> list[str]:
    """For each sentence the translation of the row whose Chinese is the most similar: chapters/chinese_english.

    Similar are two sentences by the characters that both have, divided by the characters that either has.

    >>> looked_up(["天很冷。"], [("我很冷。", "I am cold."), ("今天很冷，我不出去了。", "It is cold, I stay.")])
    ['I am cold.']
    """
    known = [(set(zh), en) for zh, en in rows]

    def translation(source: str) -> str:
        wanted = set(source)
        return max(known, key=lambda row: len(wanted & row[0]) / len(wanted | row[0]))[1]

    return list(map(translation, sources))


def measure_sample(study: SentencesSettings) -> dict:
    """The rows of the sample of the course of which the translators that come with it have read neither sentence."""
    read = {folded(sentence) for pair in study.split(CHINESE, "zh", "en").train for sentence in pair}
    sample = read_pairs(str(SAMPLE), ("en", "zh")).between("zh", "en")
    return {
        "rows": len(sample),
        "never read": [row for row, pair in enumerate(sample) if read.isdisjoint(map(folded, pair))],
    }


def _share(flags: Iterable[bool]) -> float | None:
    """The share of true values; None for an empty list."""
    flags = list(flags)
    return round(sum(flags) / len(flags), 3) if flags else None


def measure_units(study: SentencesSettings) -> dict:
    """BLEU of characters, pieces and words."""
    page = chinese(study)
    split, settings = page.split, study.settings("zh", "en")
    zh_train, en_train = zip(*split.train, strict=True)
    dictionary = cohesive_words(zh_train)
    characters = closed(zh_train, partial(tokenise, lang="zh"), 2)
    zh_words = closed(zh_train, partial(longest_match, dictionary=dictionary), 5)
    en_words = closed(en_train, partial(tokenise, lang="en"), 5)
    by_characters = trained("zh-en-characters", study, characters, page.tgt, split, settings)
    by_words = trained("zh-en-words", study, zh_words, en_words, split, settings)
    sources, references = _test_of(split)
    hypotheses = hypotheses_of(by_words.model, zh_words, sources)
    translations = [en_words.vocabulary.tokens(hypothesis.tokens) for hypothesis in hypotheses]
    texts = {
        "characters": translated(by_characters.model, characters, page.tgt, sources),
        "pieces": translated(page.model, page.src, page.tgt, sources),
        # A vocabulary writes "<unk>", which the tokenizer of BLEU would count as three words.
        "words": [_joined(words).replace("<unk>", "unk") for words in translations],
    }
    sides = {"characters": characters, "pieces": page.src, "words": zh_words}
    return {
        "trainings": {"characters": by_characters.facts, "pieces": page.facts, "words": by_words.facts},
        "cohesive_words": len(dictionary),
        "sides": {name: _facts_of(units, sources) for name, units in sides.items()},
        "scores": {name: stored_score(list_, references) for name, list_ in texts.items()},
        "gains": {
            f"{better} over {worse}": gain(texts[better], texts[worse], references)
            for better, worse in combinations(sides, 2)
        },
    }


def _test_of(split: Split) -> tuple[list[str], list[tuple[str, ...]]]:
    return [example.source for example in split.test], [example.references for example in split.test]


def _joined(words: Sequence[str]) -> str:
    return detokenise(words, "en")[0]


def _facts_of(units: Units, texts: Sequence[str]) -> dict:
    ids = units.ids(texts)
    num_tokens = sum(map(len, ids))
    return {
        "types": len(units.vocabulary),
        "tokens_per_sentence": round(num_tokens / len(ids), 1),
        "unknown": round(sum(row.count(UNK) for row in ids) / num_tokens, 3),
    }


def measure_translator(study: SentencesSettings) -> dict:
    """The translator from Chinese: its training and its score."""
    page = chinese(study)
    run = page.run(study.settings("zh", "en"))
    save_run(run, study.runs / "zh-en")
    sources, references = _test_of(page.split)
    texts = [translation.text for translation in translate_sentences(run, sources, Search(beam=5))]
    return {"training": page.facts, "bleu": stored_score(texts, references)}


def capitalised(words: Sequence[str]) -> list[str]:
    """The words of a sentence as people write it: the grammar's begin with a small letter."""
    return [words[0][:1].upper() + words[0][1:], *words[1:]]


def lower_pairs(split: Split) -> list[tuple[list[str], list[str]]]:
    """The English and French words of training, in lower case."""
    return [(_lower(en, "en"), _lower(fr, "fr")) for en, fr in split.train]


def in_lower_case(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[tuple[list[str], ...]]:
    """The same pairs of words in lower case."""
    return [tuple([word.lower() for word in side] for side in pair) for pair in pairs]


def _lower(text: str, lang: str) -> list[str]:
    return tokenise(text.lower(), lang)


#: The parts of the study, in the order in which they are measured.
#:
#: :meta hide-value:
PARTS: dict[str, Callable[[SentencesSettings], dict]] = {
    "file": measure_file,
    "leak": measure_leak,
    "looked up": measure_looked_up,
    "sample": measure_sample,
    "units": measure_units,
    "translator": measure_translator,
}


def head() -> dict:
    """The files and the versions that the results belong to."""
    paths = (CHINESE,)
    return {
        "sha256": {path: hashlib.sha256(find_file(path).read_bytes()).hexdigest() for path in paths},
        "signature": bleu(["."], [["."]]).signature,
        "versions": {name: version(name) for name in ("torch", "tokenizers", "opencc", "sacrebleu")},
    }


def run_study(study: SentencesSettings, out: Path, parts: Sequence[str] | None = None) -> None:
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
    runs: Annotated[
        Path, typer.Option(help="folder in which the trainings are kept")
    ] = SentencesSettings.runs,
) -> None:
    """Measure the files of real sentences and the translators that are trained on them; store the numbers."""
    if unknown := set(only or ()) - set(PARTS):
        raise typer.BadParameter(f"no such part: {', '.join(sorted(unknown))}")
    torch.set_num_threads(1)  # as for the results in the book
    run_study(SentencesSettings(runs=runs), out, only)
    typer.echo(f"{out}: complete")


if __name__ == "__main__":
    typer.run(_main)
