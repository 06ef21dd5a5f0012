"""The study of the variants: translators that differ in the score, in the query, or in what is added to them.

``PYTHONPATH=chapters python -m studies.variants_study`` trains them with three seeds each and stores their scores
beside this file; chapters/attention_variants reads them. The learning rate of each is the one of three with the lowest
loss on validation sentences. It takes about twenty minutes on one core. Trainings that are stored are not
repeated. Models and scores come from ``utils``.
"""

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Annotated

import torch
import typer
from torch import Tensor

from utils.attention import masked_softmax
from utils.attention_variants import AttentionDecoder, GeneralAttention, PointerDecoder, masked_sparsemax
from utils.corpus.batches import Batch, ShuffledBatches, make_batch, pad_ids
from utils.corpus.grammar import Triple, join_words, triples
from utils.corpus.vocabulary import SPECIAL_TOKENS, UNK, Vocabulary
from utils.corpus.whole_files import write_whole
from utils.metrics import alignment_error_rate, bleu, links_from_weights
from utils.search import Hypothesis, greedy
from utils.seq2seq import Encoder, EncoderDecoder
from utils.training import History, batch_loss, fit, seeded

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: Longest source that the score *location* has rows for.
MAX_LEN = 64
#: The sentence whose weights are stored, and its translation.
ENGLISH = ["Mary", "found", "the", "small", "white", "flower", "yesterday", "."]
FRENCH = ["Marie", "a", "trouvé", "la", "petite", "fleur", "blanche", "hier", "."]
#: Its gold links, as pairs of a French and an English place.
GOLD = ((0, 0), (1, 1), (2, 1), (3, 2), (4, 3), (5, 5), (6, 4), (7, 6), (8, 7))

_AFTER = {"query": "after"}
#: The translators by their names in the results, with the options of their decoders.
#:
#: :meta hide-value:
VARIANTS = {
    **{
        score: {"score": score} | _AFTER
        for score in ("additive", "concat", "general", "dot", "scaled dot", "cosine", "location")
    },
    "additive, fed": {"input_feeding": True} | _AFTER,
    "additive, before": {},
    "general, sparse": {"sparse": True} | _AFTER,
    "general, sparse late": {"sparse": True, "late": True} | _AFTER,
    "equal": {"equal": True} | _AFTER,
}
#: The translators that differ in score or query alone.
COMPARED = tuple(VARIANTS)[:9]
#: Those that are also trained longer.
LONGER = ("additive", "cosine", "scaled dot", "location", "equal")
#: Those that are also trained to write Chinese.
INTO_CHINESE = ("additive", "general", "location")
#: A name whose learning rate another one uses: *concat* is the additive score, with other starting numbers.
RATE_OF = {"concat": "additive", "general, sparse late": "general, sparse"}
#: The translators of sentences with names that no vocabulary has, with the options of their decoders: three that
#: write the unknown word, and two that point at the source.
#:
#: :meta hide-value:
NAMES = {
    "general, unknown": VARIANTS["general"],
    "general, pointer": VARIANTS["general"] | {"unknown": UNK},
    "additive, unknown": VARIANTS["additive"],
    "additive, before, unknown": {},
    "additive, before, pointer": {"unknown": UNK},
}


@dataclass(frozen=True)
class VariantsSettings:
    """The settings that all trainings share.

    Attributes:
        num_sentences: training sentences.
        num_test: test sentences, and validation sentences.
        max_words: longest sentence, in English words.
        width: of the embeddings, of the decoder's state and of both directions of the encoder together.
        batch_size: sentence pairs per step.
        steps: steps of a training.
        long_steps: steps of a long one.
        lrs: highest learning rates to choose from.
        lr: highest learning rate of the translators of new names.
        seeds: a translator is trained with each; the first chooses the learning rate.
    """

    num_sentences: int = 8000
    num_test: int = 300
    max_words: int = 12
    width: int = 64
    batch_size: int = 32
    steps: int = 400
    long_steps: int = 1000
    lrs: tuple[float, ...] = (6e-3, 12e-3, 24e-3)
    lr: float = 6e-3
    seeds: tuple[int, ...] = (0, 1, 2)

    def sentences(self, split: str) -> list[Triple]:
        """Sentences of a split; no meaning of a training sentence is in another split."""
        num = self.num_sentences if split == "train" else self.num_test
        return triples(num, split=split, min_words=3, max_words=self.max_words)

    @cached_property
    def train(self) -> list[Triple]:
        """Sentences to train on."""
        return self.sentences("train")

    @cached_property
    def valid(self) -> list[Triple]:
        """Sentences to choose the learning rate with."""
        return self.sentences("valid")

    @cached_property
    def test(self) -> list[Triple]:
        """Sentences to test on."""
        return self.sentences("test")

    @cached_property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """The words of training in each language."""
        return {lang: Vocabulary.words(t.words(lang) for t in self.train) for lang in ("en", "fr", "zh")}

    def encode(
        self, sentences: Sequence[Triple], lang: str = "fr"
    ) -> tuple[list[list[int]], list[list[int]]]:
        """English ids, and those of the language to write."""
        words = self.vocabularies
        return words["en"].encode([t.en for t in sentences]), words[lang].encode(
            [t.words(lang) for t in sentences]
        )


def equal_weights(scores: Tensor, mask: Tensor) -> Tensor:
    """The same weight for each word, whatever its score: the baseline.

    >>> equal_weights(torch.tensor([[3.0, 1.0, 2.0]]), torch.tensor([[True, True, False]]))
    tensor([[0.5000, 0.5000, 0.0000]])
    """
    return masked_softmax(torch.zeros_like(scores), mask)


def build(
    study: VariantsSettings, *, seed: int, lang: str = "fr", sparse=False, late=False, equal=False, **options
) -> EncoderDecoder:
    """A translator that was not trained; the options are those of a variant."""
    words, width = study.vocabularies, study.width
    with seeded(seed):
        encoder = Encoder(len(words["en"]), width, width // 2)
        if sparse or equal:
            normalise = equal_weights if equal else masked_softmax if late else masked_sparsemax
            options["score"] = GeneralAttention(width, width, normalise=normalise)
        if options.get("score") == "location":
            options["max_len"] = MAX_LEN
        decoder = PointerDecoder if "unknown" in options else AttentionDecoder
        sizes = (len(words[lang]), width, width, encoder.d_out)
        return EncoderDecoder(encoder, decoder(*sizes, d_enc_state=width // 2, **options))


def train(
    study: VariantsSettings,
    model: EncoderDecoder,
    ids: tuple[list[list[int]], list[list[int]]],
    *,
    steps: int,
    lr: float,
    seed: int,
    on_step: Callable | None = None,
) -> dict[str, float]:
    """Train for a number of steps; return them with the learning rate and the processor seconds."""
    batches = ShuffledBatches(*ids, batch_size=study.batch_size, seed=seed)
    chosen_batches: list[Batch] = []
    while len(chosen_batches) < steps:
        chosen_batches.extend(batches)
    chosen_batches = chosen_batches[:steps]
    start = time.process_time()
    fit(model, chosen_batches, epochs=1, label_smoothing=0.0, lr=lr, seed=seed, on_step=on_step)
    return {"steps": steps, "lr": lr, "seconds": round(time.process_time() - start, 2)}


def translate(model: EncoderDecoder, src_ids: list[list[int]]) -> list[Hypothesis]:
    """Translate greedily, a hundred sentences at a time."""
    hypotheses = []
    for start in range(0, len(src_ids), 100):
        some = src_ids[start : start + 100]
        hypotheses += greedy(
            model, pad_ids(some), torch.tensor([*map(len, some)]), max_len=2 * max(map(len, some))
        )
    return hypotheses


def score_bleu(sentences: Sequence[Triple], words: Sequence[Sequence[str]], lang: str = "fr") -> float:
    """BLEU of translations, given as words."""
    references = [[join_words(t.words(lang), lang)] for t in sentences]
    return round(bleu([join_words(w, lang) for w in words], references, lang=lang).value, 2)


@torch.no_grad()
def forced_weights(
    study: VariantsSettings, model: EncoderDecoder, sentences: Sequence[Triple], lang: str = "fr"
) -> list[Tensor]:
    """The weights of each sentence while the decoder reads the reference."""
    batch = make_batch(*study.encode(sentences, lang))
    _, weights = model(batch.src, batch.src_lens, batch.tgt_in)
    return [w[: len(t.words(lang)), : len(t.en)] for w, t in zip(weights, sentences, strict=True)]


#: How many places after its source the largest weight of a word is looked for.
OFFSETS = range(-2, 3)


def offsets(weights: Sequence[Tensor], gold: Sequence[Collection[tuple[int, int]]]) -> dict[str, float]:
    """The share of the linked words whose largest weight is so many places after the nearest of their sources.

    >>> offsets([torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.2, 0.6]])], [{(0, 0), (1, 1)}])
    {'-2': 0.0, '-1': 0.0, '0': 0.5, '1': 0.5, '2': 0.0}
    """
    found = []
    for w, links in zip(weights, gold, strict=True):
        best = w.argmax(dim=-1).tolist()
        for j in {j for _, j in links}:
            found.append(min((best[j] - i for i, k in links if k == j), key=abs))
    return {str(offset): round(found.count(offset) / len(found), 4) for offset in OFFSETS}


@torch.no_grad()
def measure(study: VariantsSettings, model: EncoderDecoder, lang: str = "fr") -> dict:
    """Size, BLEU, alignment error rate, and where the largest weights are."""
    hypotheses = translate(model, study.encode(study.test, lang)[0])
    words = [study.vocabularies[lang].tokens(hypothesis.tokens) for hypothesis in hypotheses]
    weights, gold = forced_weights(study, model, study.test, lang), [t.links("en", lang) for t in study.test]
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "bleu": score_bleu(study.test, words, lang),
        "aer": round(alignment_error_rate([links_from_weights(w) for w in weights], gold), 4),
        "offsets": offsets(weights, gold),
    }


@torch.no_grad()
def valid_loss(study: VariantsSettings, model: EncoderDecoder, lang: str) -> float:
    """The loss of the validation sentences."""
    return round(batch_loss(model, make_batch(*study.encode(study.valid, lang))).item(), 4)


def run_variant(
    study: VariantsSettings, name: str, seed: int, *, steps: int, lrs: Sequence[float], lang: str = "fr"
) -> dict:
    """Train a variant with each learning rate, and measure the one with the lowest loss on validation sentences.

    With the first seed also the weights on our sentence are stored, for French.
    """
    runs = []
    for lr in lrs:
        model = build(study, seed=seed, lang=lang, **VARIANTS[name])

        def sparse_from_half(history: History, model: EncoderDecoder = model) -> None:
            if len(history.losses) == steps // 2:
                model.decoder.attention.normalise = masked_sparsemax

        late = VARIANTS[name].get("late")
        ids = study.encode(study.train, lang)
        result = train(
            study, model, ids, steps=steps, lr=lr, seed=seed, on_step=sparse_from_half if late else None
        )
        runs.append((valid_loss(study, model, lang), result, model))
    losses = [loss for loss, _, _ in runs]
    _, result, model = runs[losses.index(min(losses))]
    result |= {"valid": losses} | measure(study, model, lang)
    if seed == study.seeds[0] and lang == "fr":
        none = frozenset()
        ours = Triple(tuple(ENGLISH), tuple(FRENCH), (), none, none, none, "")
        result["weights"] = [
            [round(w, 3) for w in row] for row in forced_weights(study, model, [ours])[0].tolist()
        ]
    return result


# ---- Names that the model has never seen ----


def invented_names(num: int, *, seed: int) -> list[str]:
    """Names that no vocabulary has, all different, with a consonant first."""
    draw = random.Random(seed)
    names: dict[str, None] = {}
    while len(names) < num:
        syllables = [draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(draw.randint(2, 3))]
        names["".join(syllables).capitalize() + draw.choice(["", "n", "r", "s"])] = None
    return list(names)


#: Names whose place an invented one can take: they begin with a consonant, so nothing before them is elided.
REPLACED = {"Mary": "Marie", "Paul": "Paul", "Peter": "Pierre", "John": "Jean"}


def with_new_names(
    sentences: Sequence[Triple], names: Sequence[str], *, share: float, seed: int
) -> list[tuple[list[str], list[str]]]:
    """English and French words in which a share of the names is replaced, the same name on both sides."""
    draw = random.Random(seed)
    pairs = []
    for t in sentences:
        selection = iter(draw.sample(names, len(REPLACED)))
        new = {old: next(selection) for old in REPLACED if draw.random() < share}
        french = {REPLACED[old]: name for old, name in new.items()}
        pairs.append(([new.get(w, w) for w in t.en], [french.get(w, w) for w in t.fr]))
    return pairs


def replace_unknown(tokens: Sequence[str], src_words: Sequence[str], weights: Tensor) -> list[str]:
    """Replace each unknown word by a copy of the source word of the largest weight, as Jean et al. (2015) do.

    Args:
        tokens: the words of the translation.
        src_words: the words of the source, including those that are not in the vocabulary.
        weights: (steps, source words); row i of the step that wrote ``tokens[i]``, and perhaps one more for the end.

    >>> weights = torch.tensor([[0.9, 0.1, 0.0], [0.1, 0.7, 0.2], [0.0, 0.2, 0.8]])
    >>> replace_unknown(["I", "<unk>", "<unk>"], ["je", "connais", "Zoé"], weights)
    ['I', 'connais', 'Zoé']
    """
    attended = [src_words[j] for j in weights[: len(tokens)].argmax(dim=1).tolist()]
    unknown = SPECIAL_TOKENS[UNK]
    return [word if token == unknown else token for token, word in zip(tokens, attended, strict=True)]


def point_at_source(
    tgt_ids: Sequence[int], tgt_words: Sequence[str], src_words: Sequence[str], *, vocab_size: int
) -> list[int]:
    """Replace the ids of unknown words by pointers: ``vocab_size + j`` where source word j is the same word.

    An unknown word that is not in the source stays unknown. Of equal source words the first is taken.

    >>> point_at_source([4, 3, 3], ["I", "know", "Zoé"], ["je", "connais", "Zoé"], vocab_size=10)
    [4, 3, 12]
    """
    places = {word: j for j, word in reversed(list(enumerate(src_words)))}
    return [
        vocab_size + places[word] if token == UNK and word in places else token
        for token, word in zip(tgt_ids, tgt_words, strict=True)
    ]


def read_pointers(ids: Sequence[int], vocabulary: Vocabulary, src_words: Sequence[str]) -> list[str]:
    """The words of a translation with pointers, the reverse of :func:`point_at_source`."""
    size = len(vocabulary)
    return [src_words[i - size] if i >= size else vocabulary.tokens([i])[0] for i in ids]


def run_names(study: VariantsSettings, kind: str, seed: int, *, steps: int) -> dict:
    """Train on sentences with new names and count those that are written right in sentences with other new names."""
    en, fr = study.vocabularies["en"], study.vocabularies["fr"]
    names = invented_names(400, seed=0)
    train_pairs = with_new_names(study.train, names[:300], share=0.7, seed=1)
    test_pairs = with_new_names(study.test, names[300:], share=1.0, seed=2)
    test_pairs = [pair for pair in test_pairs if set(names) & set(pair[0])]
    pointer = "unknown" in NAMES[kind]
    model = build(study, seed=seed, **NAMES[kind])
    src_ids, tgt_ids = en.encode([src for src, _ in train_pairs]), fr.encode([tgt for _, tgt in train_pairs])
    if pointer:
        tgt_ids = [
            point_at_source(ids, tgt, src, vocab_size=len(fr))
            for ids, (src, tgt) in zip(tgt_ids, train_pairs, strict=True)
        ]
    result = train(study, model, (src_ids, tgt_ids), steps=steps, lr=study.lr, seed=seed)
    hypotheses = translate(model, en.encode([src for src, _ in test_pairs]))
    if pointer:
        translations = [
            read_pointers(f.tokens, fr, src) for f, (src, _) in zip(hypotheses, test_pairs, strict=True)
        ]
        return result | {"pointer": score_names(translations, test_pairs, names)}
    plain = [fr.tokens(f.tokens) for f in hypotheses]
    with_copies = [
        replace_unknown(words, src, f.weights)
        for words, f, (src, _) in zip(plain, hypotheses, test_pairs, strict=True)
    ]
    by_kind = {"left": plain, "copied": with_copies}
    result |= {kind: score_names(words, test_pairs, names) for kind, words in by_kind.items()}
    return result | {"offsets": name_offsets(study, model, test_pairs, names)}


@torch.no_grad()
def name_offsets(
    study: VariantsSettings,
    model: EncoderDecoder,
    test_pairs: Sequence[tuple[list[str], list[str]]],
    names: Sequence[str],
) -> dict[str, float]:
    """Where the largest weight of each new name is, while the decoder reads the reference."""
    en, fr = study.vocabularies["en"], study.vocabularies["fr"]
    batch = make_batch(en.encode([src for src, _ in test_pairs]), fr.encode([tgt for _, tgt in test_pairs]))
    weights = model(batch.src, batch.src_lens, batch.tgt_in)[1]
    gold = [
        {(i, j) for i, s in enumerate(src) for j, t in enumerate(tgt) if s == t and s in set(names)}
        for src, tgt in test_pairs
    ]
    return offsets(list(weights), gold)


def score_names(
    translations: Sequence[Sequence[str]],
    test_pairs: Sequence[tuple[list[str], list[str]]],
    names: Sequence[str],
) -> dict[str, float]:
    """BLEU, the number of new names in the references, and the share of them that is written."""
    new = set(names)
    expected = [[word for word in tgt if word in new] for _, tgt in test_pairs]
    written_names = [[word for word in words if word in new] for words in translations]
    hits = sum((Counter(e) & Counter(f)).total() for e, f in zip(expected, written_names, strict=True))
    # The tokenizer of BLEU would count "<unk>" as three words.
    texts = [join_words(words, "fr").replace("<unk>", "unk") for words in translations]
    references = [[join_words(tgt, "fr")] for _, tgt in test_pairs]
    return {
        "bleu": round(bleu(texts, references, lang="fr").value, 2),
        "names": sum(map(len, expected)),
        "right": round(hits / sum(map(len, expected)), 4),
    }


# ---- The study ----


def run_study(
    study: VariantsSettings, out: Path, *, at_most: int | None = None, say: Callable = print
) -> int:
    """Run the trainings that a file does not hold yet and add each result to it; return how many are left.

    Raises:
        ValueError: the file holds results that were made with other settings.
    """
    head = json.loads(json.dumps(asdict(study) | {"torch": torch.__version__}))
    results = json.loads(out.read_text("utf-8")) if out.exists() else {"study": head, "trainings": []}
    if results["study"] != head:
        raise ValueError(f"{out} holds results with other settings: name another file")
    done = {(r["part"], r["name"], r["seed"]) for r in results["trainings"]}
    parts = [
        ("steps", VARIANTS, study.seeds),
        ("names", NAMES, study.seeds),
        ("chinese", INTO_CHINESE, study.seeds),
        ("long", LONGER, study.seeds),
    ]
    todo = [
        (part, name, seed)
        for part, names, seeds in parts
        for seed, name in product(seeds, names)
        if (part, name, seed) not in done
    ]
    for part, name, seed in todo[:at_most]:
        if part == "names":
            result = run_names(study, name, seed, steps=study.steps)
        else:
            lang = "zh" if part == "chinese" else "fr"
            lrs = rates(study, results["trainings"], name)
            steps = study.long_steps if part == "long" else study.steps
            result = run_variant(study, name, seed, steps=steps, lrs=lrs, lang=lang)
        results["trainings"].append({"part": part, "name": name, "seed": seed} | result)
        write_whole(out, (json.dumps(results, indent=1, ensure_ascii=False) + "\n").encode())
        numbers = {k: v for k, v in result.items() if k != "weights"}
        say(part, name, seed, numbers)
    return max(0, len(todo) - len(todo[:at_most]))


def rates(study: VariantsSettings, trainings: Sequence[dict], name: str) -> Sequence[float]:
    """All learning rates for the first training of a variant, then the one that it chose."""
    owner = RATE_OF.get(name, name)
    chosen = [
        r["lr"] for r in trainings if (r["part"], r["name"], r["seed"]) == ("steps", owner, study.seeds[0])
    ]
    return chosen or study.lrs


def _main(
    out: Annotated[Path, typer.Option(help="results; trainings that it holds are not done again")] = RESULTS,
    at_most: Annotated[int | None, typer.Option(min=1, help="largest number of trainings to run")] = None,
) -> None:
    """Train the variants with three seeds each; store their scores."""
    torch.set_num_threads(1)
    num_left = run_study(
        VariantsSettings(), out, at_most=at_most, say=lambda *parts: print(*parts, file=sys.stderr)
    )
    typer.echo(f"{out}: {f'{num_left} trainings left' if num_left else 'complete'}")


if __name__ == "__main__":
    typer.run(_main)
