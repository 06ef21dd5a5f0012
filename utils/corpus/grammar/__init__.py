"""The grammar corpus: English, French and Chinese sentences with the same meaning and gold word alignments.

A synchronous grammar draws a meaning and writes it in three languages at once; this module numbers the sentences,
links their words and splits them. The grammar is in the other modules of this folder: words in ``lexicon``, their
forms and articles in ``phrases``, then noun phrases in ``nouns``, ``clauses`` and ``sentences``. Explained in
book/grammar_corpus.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count, islice
from struct import unpack
from typing import NamedTuple

from utils.checks import refuse_text
from utils.corpus.grammar.parts import Parts, Pieces, length
from utils.corpus.grammar.phrases import elide
from utils.corpus.grammar.sentences import SentenceSampler
from utils.errors import CourseError

LANGUAGES = ("en", "fr", "zh")
SPLITS = ("train", "valid", "test")
# The lengths, in English words, that the grammar can reach.
SHORTEST, LONGEST = 3, 60

Links = frozenset[tuple[int, int]]

# The splits of the indices that were drawn before, by seed and lengths: another split need not draw them again.
_SPLITS: defaultdict[tuple[int, int, int], dict[int, str]] = defaultdict(dict)


class Triple(NamedTuple):
    """One meaning in three languages, tokens and alignments.

    Args:
        en, fr, zh: the words; punctuation and elided words ("l'") are words of their own.
        en_fr, en_zh, fr_zh: pairs of positions, from 0, of words that mean the same; the position in the language
            named first comes first. A word without a counterpart is in no pair.
        meaning: the concepts of the nouns, names, verbs and adjectives, in alphabetical order; it decides the
            split.
    """

    en: tuple[str, ...]
    fr: tuple[str, ...]
    zh: tuple[str, ...]
    en_fr: Links
    en_zh: Links
    fr_zh: Links
    meaning: str

    def words(self, lang: str) -> tuple[str, ...]:
        """The words in one language.

        Raises:
            ValueError: a language that is not ``en``, ``fr`` or ``zh``.

        >>> triple(0, max_words=6).words("fr")
        ('Anna', 'a', 'dansé', 'hier', '.')
        """
        _check_language("lang", lang)
        return getattr(self, lang)

    def links(self, src: str, tgt: str) -> Links:
        """The gold links from one language to another, positions of ``src`` first, in either direction.

        Raises:
            ValueError: a language that is not ``en``, ``fr`` or ``zh``, or the same one twice.

        >>> example = triple(0, max_words=6)  # "Anna danced yesterday."
        >>> sorted(example.links("fr", "en"))
        [(0, 0), (1, 1), (2, 1), (3, 2), (4, 3)]
        """
        _check_language("src", src)
        _check_language("tgt", tgt)
        if src == tgt:
            raise CourseError(f"src and tgt must be two languages, got {src!r} twice")
        if LANGUAGES.index(src) < LANGUAGES.index(tgt):
            return getattr(self, f"{src}_{tgt}")
        return frozenset((j, i) for i, j in getattr(self, f"{tgt}_{src}"))


def triple(index: int, *, seed: int = 0, min_words: int = SHORTEST, max_words: int = LONGEST) -> Triple:
    """The triple of an index: always the same for the same arguments, on any machine and in any process.

    Args:
        index: from 0; each index of a seed is drawn on its own, so short sentences repeat.
        seed: from 0; another seed is another corpus.
        min_words: the fewest English words, at least 3, with the full stop.
        max_words: the most English words, at most 60; the lengths are spread over the whole range.

    Raises:
        ValueError: an index or a seed below 0, or lengths that the grammar cannot reach.

    >>> join_words(triple(11, max_words=6).zh, "zh")
    '我今天非常难过。'
    >>> len(triple(7, min_words=12, max_words=12).en)
    12

    Explained in book/grammar_corpus and chapters/bahdanau_decoder.
    """
    return _write_triple(*_draw(index, seed=seed, min_words=min_words, max_words=max_words))


def triples(
    num: int, *, split: str = "train", seed: int = 0, min_words: int = SHORTEST, max_words: int = LONGEST
) -> list[Triple]:
    """The first ``num`` triples of a split, in the order of their indices.

    A hash of its meaning puts a triple into "train" (8 of 10), "valid" (1) or "test" (1). Sentences that
    are equal in any language have equal meanings, so no sentence of one split is in another, in any of the
    languages.

    Raises:
        ValueError: a negative number, an unknown split, or as :func:`triple`.

    >>> [join_words(example.en, "en") for example in triples(2, split="test", max_words=6)]
    ['Peter sleeps.', 'I am very sad today.']
    """
    if num < 0:
        raise CourseError(f"num must not be negative, got {num}")
    if split not in SPLITS:
        raise CourseError(f"split must be one of {', '.join(SPLITS)}, got {split!r}")
    lengths = {"min_words": min_words, "max_words": max_words}
    known = _SPLITS[seed, min_words, max_words]

    def of_split() -> Iterator[Triple]:
        for index in count():
            if known.get(index, split) == split:
                parts, meaning = _draw(index, seed=seed, **lengths)
                known[index] = split_of(meaning)
                if known[index] == split:
                    yield _write_triple(parts, meaning)

    return list(islice(of_split(), num))


def split_of(meaning: str) -> str:
    """The split that a meaning belongs to.

    >>> split_of("John sleep"), split_of("Peter sleep"), split_of("Paul cold like milk")
    ('train', 'test', 'valid')
    """
    bucket = hashlib.blake2b(meaning.encode(), digest_size=4).digest()[0] % 10
    return "test" if bucket == 0 else "valid" if bucket == 1 else "train"


def join_words(words: Sequence[str], lang: str) -> str:
    """Join words to text: no blank after an apostrophe or before a punctuation mark, and none in Chinese.

    Raises:
        ValueError: a language that is not ``en``, ``fr`` or ``zh``, or a text in place of words.

    >>> join_words(["l'", "ami", "de", "Paul", "n'", "est", "pas", "fatigué", "."], "fr")
    "L'ami de Paul n'est pas fatigué."
    >>> join_words(["Mary", "'s", "cat", "sleeps", "."], "en")
    "Mary's cat sleeps."
    >>> join_words(["玛丽", "在", "家", "睡觉", "。"], "zh")
    '玛丽在家睡觉。'
    """
    _check_language("lang", lang)
    refuse_text(words=words)
    if lang == "zh":
        return "".join(words)
    text = ""
    for word in words:
        no_blank = not text or text.endswith("'") or word in (",", ".", "'s")
        text += word if no_blank else " " + word
    return text[:1].upper() + text[1:]


def _draw(index: int, *, seed: int, min_words: int, max_words: int) -> tuple[Parts, str]:
    """A sentence before it is written, and its meaning, which is all that its split needs."""
    if index < 0 or seed < 0:
        raise CourseError(f"index and seed must not be negative, got index {index} and seed {seed}")
    if not SHORTEST <= min_words <= max_words <= LONGEST:
        raise CourseError(
            f"lengths must obey {SHORTEST} <= min_words <= max_words <= {LONGEST}, "
            f"got min_words {min_words} and max_words {max_words}"
        )
    random = _numbers(seed, index).__next__
    while True:
        sampler = SentenceSampler(random)
        parts = sampler.sentence(min_words + int(random() * (max_words - min_words + 1)))
        if min_words <= length(parts.en) <= max_words:
            return parts, " ".join(sorted(sampler.meaning))


def _write_triple(parts: Parts, meaning: str) -> Triple:
    (en, en_concepts), (fr, fr_concepts), (zh, zh_concepts) = map(_write, parts)
    return Triple(
        tuple(en),
        tuple(elide(fr)),
        tuple(zh),
        _links(en_concepts, fr_concepts),
        _links(en_concepts, zh_concepts),
        _links(fr_concepts, zh_concepts),
        meaning,
    )


def _numbers(seed: int, index: int) -> Iterator[float]:
    """Numbers in [0, 1) that depend only on seed and index; a hash starts faster than ``random.Random``."""
    block = 0
    while True:
        digest = hashlib.blake2b(f"{seed} {index} {block}".encode()).digest()
        for number in unpack("<16I", digest):
            yield number / 2**32
        block += 1


def _write(run: Pieces) -> tuple[list[str], dict[int, list[int]]]:
    """The words of a run, and for each concept the positions of the words that express it."""
    words: list[str] = []
    positions: dict[int, list[int]] = defaultdict(list)
    for base, (piece_words, marks) in run:
        start = len(words)
        words += piece_words
        for offset, concept in marks:
            positions[base + concept].append(start + offset)
    return words, positions


def _links(src: dict[int, list[int]], tgt: dict[int, list[int]]) -> Links:
    """All pairs of positions whose words share a concept."""
    shared = src.keys() & tgt.keys()
    return frozenset([(i, j) for concept in shared for i in src[concept] for j in tgt[concept]])


def _check_language(name: str, lang: str) -> None:
    if lang not in LANGUAGES:
        raise CourseError(f"{name} must be one of {', '.join(LANGUAGES)}, got {lang!r}")
