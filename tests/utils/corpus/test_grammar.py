"""The grammar corpus: sentences checked by hand, rules of the three languages, alignments, splits."""

import itertools
import os
import pickle
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utils.corpus import grammar
from utils.corpus.grammar import LANGUAGES, SPLITS, Triple, join_words, split_of, triple, triples
from utils.corpus.grammar.lexicon import (
    ADJECTIVES,
    FIRST,
    HE,
    MEASURES,
    NAMES,
    NOUNS,
    SHE,
    THEY,
    THEY_FEMININE,
    VERBS,
)
from utils.corpus.grammar.phrases import (
    elide,
    noun_phrase,
    participle,
    predicate,
    verb_group,
)

# Index, sentences, and all links as pairs of positions: en–fr, en–zh, fr–zh. One of each kind: a relative
# whose participle agrees, a receiver before the verb, 都 for "all", and so on.
HAND_CHECKED = [
    (236, "the friends are sad because Alice left the famous restaurant last week .",
     "les amis sont tristes parce qu' Alice a quitté le restaurant célèbre la semaine dernière .",
     "因为 爱丽丝 上周 离开 了 有名 的 餐厅 ， 所以 那些 朋友 很 难过 。",
     "0-0 1-1 2-2 3-3 4-4 4-5 5-6 6-7 6-8 7-9 8-11 9-10 10-14 11-13 12-15",
     "0-10 1-11 2-12 3-13 4-0 4-9 5-1 6-3 6-4 8-5 9-7 10-2 11-2 12-14",
     "0-10 1-11 2-12 3-13 4-0 4-9 5-0 5-9 6-1 7-4 8-3 10-7 11-5 13-2 14-2 15-14"),
    (768, "the boy knows that the table that Alice repaired is small .",
     "le garçon sait que la table qu' Alice a réparée est petite .",
     "那 个 男孩 知道 爱丽丝 修理 的 那 张 桌子 很 小 。",
     "0-0 1-1 2-2 3-3 4-4 5-5 6-6 7-7 8-8 8-9 9-10 10-11 11-12",
     "0-0 0-1 1-2 2-3 4-7 4-8 5-9 6-6 7-4 8-5 9-10 10-11 11-12",
     "0-0 0-1 1-2 2-3 4-7 4-8 5-9 6-6 7-4 9-5 10-10 11-11 12-12"),
    (1255, "if he is tired , the neighbours will help him .", "s' il est fatigué , les voisins vont l' aider .",
     "如果 他 很 累 ， 那些 邻居 就 会 帮助 他 。", "0-0 1-1 2-2 3-3 4-4 5-5 6-6 7-7 8-9 9-8 10-10",
     "0-0 0-7 1-1 2-2 3-3 4-4 5-5 6-6 7-8 8-9 9-10 10-11", "0-0 0-7 1-1 2-2 3-3 4-4 5-5 6-6 7-8 8-10 9-9 10-11"),
    (1578, "she sent a gift to Paul yesterday , but Alice did not see her yesterday .",
     "elle a envoyé un cadeau à Paul hier , mais Alice ne l' a pas vue hier .",
     "她 昨天 给 保罗 寄 了 一 份 礼物 ， 但是 爱丽丝 昨天 没 看见 她 。",
     "0-0 1-1 1-2 2-3 3-4 4-5 5-6 6-7 7-8 8-9 9-10 10-13 11-11 11-14 12-15 13-12 14-16 15-17",
     "0-0 1-4 1-5 2-6 2-7 3-8 4-2 5-3 6-1 7-9 8-10 9-11 10-13 11-13 12-14 13-15 14-12 15-16",
     "0-0 1-5 2-4 3-6 3-7 4-8 5-2 6-3 7-1 8-9 9-10 10-11 11-13 12-15 13-13 14-13 15-14 16-12 17-16"),
    (3241, "I am repairing an old expensive computer now .", "je répare un vieil ordinateur cher maintenant .",
     "我 现在 正在 修理 一 台 昂贵 的 旧 电脑 。",
     "0-0 1-1 2-1 3-2 4-3 5-5 6-4 7-6 8-7", "0-0 1-2 2-3 3-4 3-5 4-8 5-6 6-9 7-1 8-10",
     "0-0 1-2 1-3 2-4 2-5 3-8 4-9 5-6 6-1 7-10"),
    (3310, "the house is bigger than Paul 's car .", "la maison est plus grande que la voiture de Paul .",
     "那 座 房子 比 保罗 的 汽车 大 。",
     "0-0 1-1 2-2 3-3 3-4 4-5 5-9 6-8 7-7 8-10", "0-0 0-1 1-2 3-7 4-3 5-4 6-5 7-6 8-8",
     "0-0 0-1 1-2 4-7 5-3 7-6 8-5 9-4 10-8"),
]  # fmt: skip


PAIRS = (("en", "fr"), ("en", "zh"), ("fr", "zh"))


@cache
def samples() -> dict[str, list[Triple]]:
    """Triples made in another process, where no run-time check of types makes them twenty times slower."""
    program = """
import pickle, sys
from utils.corpus.grammar import triple
samples = {
    "any": [tuple(triple(i, seed=5)) for i in range(3_000)],
    "short": [tuple(triple(i, seed=5, max_words=9)) for i in range(6_000)],
}
sys.stdout.buffer.write(pickle.dumps(samples))
"""
    settings = {"PYTHONHASHSEED": "0", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **settings}
    made = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)
    return {
        name: [Triple(*fields) for fields in triples] for name, triples in pickle.loads(made.stdout).items()
    }


def links(text: str) -> frozenset[tuple[int, int]]:
    return frozenset((int(i), int(j)) for i, j in (pair.split("-") for pair in text.split()))


@pytest.mark.parametrize("case", HAND_CHECKED, ids=lambda case: case[1])
def test_sentences_checked_by_hand(case):
    index, en, fr, zh, en_fr, en_zh, fr_zh = case
    example = triple(index, min_words=5, max_words=17)
    assert [" ".join(example.words(lang)) for lang in LANGUAGES] == [en, fr, zh]
    assert (example.en_fr, example.en_zh, example.fr_zh) == (links(en_fr), links(en_zh), links(fr_zh))


# Phrases by hand


def text_of(*pieces) -> str:
    return " ".join(word for words, _ in pieces for word in words)


_NOT_HER = {"clitic": "she", "negative": True}
_TO_HER = {"clitic": "she", "indirect": True}
_TO_THEM = {"clitic": "they", "indirect": True}
_RELATIVE = {"object_agreement": (True, True), "relative": True}
_THEY_NOT = {"negative": True, "past": True}


def french_text(piece) -> str:
    return join_words(elide(list(piece[0])), "fr").lower()


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("bread", False, "some"), "du pain"),
        (("water", False, "some"), "de l'eau"),
        (("meat", False, "none"), "de viande"),
        (("story", True, "none"), "d'histoires"),
        (("flower", True, "none", ("beautiful", "red")), "de belles fleurs rouges"),
        (("flower", True, "some"), "des fleurs"),
        (("flower", True, "some", ("red",)), "des fleurs rouges"),
        (("bird", False, "a", ("beautiful",)), "un bel oiseau"),
        (("computer", False, "the", ("old",)), "le vieil ordinateur"),
        (("hamster", False, "the"), "le hamster"),
        (("man", False, "this"), "cet homme"),
        (("man", False, "this", ("young",)), "ce jeune homme"),
        (("story", False, "my"), "mon histoire"),
        (("story", False, "my", ("good",)), "ma bonne histoire"),
        (("horse", True, "number", ("big", "white")), "deux grands chevaux blancs"),
        (("tea", False, "a", ("hot",), 0, ("", ""), "cup"), "une tasse de thé chaud"),
        (("water", True, "number", (), 1, ("", ""), "bottle"), "trois bouteilles d'eau"),
        (("park", False, "the", (), 0, ("to", "à")), "au parc"),
        (("hospital", False, "the", ("new",), 0, ("to", "à")), "au nouvel hôpital"),
        (("hospital", False, "the", (), 0, ("near", "près de")), "près de l'hôpital"),
        (("girl", True, "the", (), 0, ("to", "à")), "aux filles"),
        (("girl", True, "the", (), 0, ("of", "de")), "des filles"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_french_noun_phrases(args, expected):
    assert french_text(noun_phrase(*args).fr) == expected


@pytest.mark.parametrize(
    ("args", "en", "zh"),
    [
        (("apple", False, "a"), "an apple", "一 个 苹果"),
        (("apple", False, "a", ("big", "red")), "a big red apple", "一 个 红色 的 大 苹果"),
        (("book", True, "the"), "the books", "那些 书"),
        (("book", True, "the+number", (), 1), "the three books", "那 三 本 书"),
        (("horse", True, "number"), "two horses", "两 匹 马"),
        (("mother", False, "my"), "my mother", "我 妈妈"),
        (("bag", False, "her", ("white",)), "her white bag", "她 白色 的 包"),
        (("car", False, "none"), "a car", "汽车"),
        (("tea", True, "number", ("hot",), 0, ("", ""), "cup"), "two cups of hot tea", "两 杯 热 茶"),
        (("library", False, "the", ("new",), 0, ("at", "à")), "at the new library", "新 图书馆"),
    ],
)
def test_english_and_chinese_noun_phrases(args, en, zh):
    phrase = noun_phrase(*args)
    assert (text_of(phrase.en), text_of(phrase.zh)) == (en, zh)


@pytest.mark.parametrize(
    ("verb", "tense", "agreement", "options", "en", "fr", "zh"),
    [
        ("read", "present", HE, {}, "reads", "lit", "读"),
        ("read", "present", THEY, {"negative": True}, "do not read", "ne lisent pas", "不 读"),
        ("read", "future", SHE, {"negative": True}, "will not read", "ne va pas lire", "不 会 读"),
        ("read", "present", SHE, {"adverb": "never"}, "never reads", "ne lit jamais", "从不 读"),
        ("read", "past", SHE, {"adverb": "also"}, "also read", "a aussi lu", "也 读 了"),
        ("go", "past", SHE, {}, "went", "est allée", "去 了"),
        ("arrive", "past", THEY_FEMININE, {}, "arrived", "sont arrivées", "到 了"),
        ("arrive", "past", THEY, {"subjunctive": True}, "arrived", "soient arrivés", "到 了"),
        ("help", "past", HE, {"clitic": "they f"}, "helped them", "les a aidées", "帮助 了 她们"),
        ("help", "past", HE, _NOT_HER, "did not help her", "ne l'a pas aidée", "没 帮助 她"),
        ("help", "want", HE, _NOT_HER, "does not want to help her", "ne veut pas l'aider", "不 想 帮助 她"),
        ("give", "past", HE, _TO_HER, "gave her", "lui a donné", "送给 了 她"),
        ("give", "past", FIRST, _TO_THEM, "gave them", "leur ai donné", "送给 了 他们"),
        ("look", "progressive", HE, {"clitic": "it f"}, "is looking for it", "la cherche", "找 它"),
        ("open", "past", HE, _RELATIVE, "opened", "a ouvertes", "打开"),
        ("sleep", "can", HE, {"negative": True}, "cannot sleep", "ne peut pas dormir", "不 能 睡觉"),
        ("buy", "purpose", HE, {}, "to buy", "pour acheter", "买"),
    ],
)
def test_verb_groups(verb, tense, agreement, options, en, fr, zh):
    group = verb_group(verb, tense, agreement, **options)
    assert text_of(group.en, group.en_after) == en
    assert french_text(group.fr) == fr
    assert text_of(group.zh_before, group.zh, group.zh_after) == zh


@pytest.mark.parametrize(
    ("adjective", "agreement", "options", "en", "fr", "zh"),
    [
        ("tired", SHE, {}, "is tired", "est fatiguée", "很 累"),
        ("tired", THEY, _THEY_NOT, "were not tired", "n'étaient pas fatigués", "不 累"),
        ("happy", THEY_FEMININE, {"very": True}, "are very happy", "sont très heureuses", "非常 高兴"),
        ("hungry", HE, {"past": True, "subjunctive": True}, "was hungry", "ait eu faim", "很 饿"),
        ("sad", FIRST, {"subjunctive": True}, "am sad", "sois triste", "很 难过"),
        ("red", SHE, {"negative": True}, "is not red", "n'est pas rouge", "不 是 红色 的"),
        ("tired", HE, {"adverb": "always"}, "is always tired", "est toujours fatigué", "总是 很 累"),
    ],
)
def test_predicates(adjective, agreement, options, en, fr, zh):
    phrase = predicate(adjective, agreement, **options)
    assert text_of(phrase.en) == en
    assert french_text(phrase.fr) == fr
    assert text_of(phrase.zh) == zh


def test_join_words():
    assert join_words(["他", "睡觉", "。"], "zh") == "他睡觉。"
    assert join_words(["Mary", "'s", "cat", ",", "and", "I", "."], "en") == "Mary's cat, and I."
    assert join_words(["aujourd'hui", ",", "j'", "ai", "l'", "œuf", "."], "fr") == "Aujourd'hui, j'ai l'œuf."
    assert join_words([], "en") == ""


# Every sentence


@settings(max_examples=25)
@given(st.integers(0, 2**40), st.integers(0, 2**20), st.tuples(st.integers(3, 60), st.integers(3, 60)))
def test_lengths_links_and_repetition(index, seed, lengths):
    low, high = sorted(lengths)
    example = triple(index, seed=seed, min_words=low, max_words=high)
    assert low <= len(example.en) <= high
    assert example == triple(index, seed=seed, min_words=low, max_words=high)
    for src, tgt in PAIRS:
        pairs = example.links(src, tgt)
        rows, columns = len(example.words(src)), len(example.words(tgt))
        assert all(0 <= i < rows and 0 <= j < columns for i, j in pairs)
        assert (rows - 1, columns - 1) in pairs  # the full stops
        assert example.links(tgt, src) == {(j, i) for i, j in pairs}


def test_the_same_with_another_hash_seed_and_locale():
    here = [triple(i, seed=5) for i in range(40)]
    assert samples()["any"][:40] == here
    assert [triple(i, seed=6) for i in range(40)] != here


# Rules of the languages

VOWELS = "aâeéèêiîoôuœAÉE"
MUTE_H = {"homme", "hommes", "hôpital", "heureux", "heureuse", "heureuses", "histoire", "histoires", "hier"}
ELIDED = {"le", "la", "de", "que", "ne", "je", "me"}
CONTRACTED = {("de", "le"), ("de", "les"), ("à", "le"), ("à", "les"), ("de", "des")}


def test_words_suit_the_sound_after_them():
    seen = set()
    for example in samples()["any"]:
        for pair in itertools.pairwise(example.fr):
            word, following = pair
            vowel = following[0] in VOWELS or following in MUTE_H
            assert not (word in ELIDED and vowel), example.fr
            assert not (word == "si" and following in ("il", "ils")), example.fr
            assert pair not in CONTRACTED, example.fr
            if word.endswith("'"):
                assert vowel, example.fr
                seen.add(word)
        for word, following in itertools.pairwise(example.en):
            if word in ("a", "an"):
                assert (word == "an") == (following[0] in "aeiou"), example.en
    assert seen == {"l'", "d'", "qu'", "n'", "j'", "m'", "s'"}


# Meaning and splits


@cache
def concepts(lang: str) -> dict[str, str]:
    """The concept of every word that has one, from the word alone."""
    position = LANGUAGES.index(lang)
    concept_of: dict[str, str] = {}

    def add(concept: str, *forms: str) -> None:
        for form in forms:
            assert concept_of.get(form, concept) == concept, form
            if form and concept:
                concept_of[form] = concept

    for noun in (*NOUNS.values(), *MEASURES.values()):
        add(noun.en[0], *(noun.en, noun.fr, (noun.zh,))[position])
    for name in NAMES.values():
        add(name.en, (name.en, name.fr, name.zh)[position])
    for adjective in ADJECTIVES.values():
        forms = (
            (adjective.en, adjective.comparative.replace("more", "")),
            (*adjective.fr, adjective.liaison),
            (adjective.zh, adjective.predicate),
        )
        add(adjective.en, *forms[position])
    for verb in VERBS.values():
        participles = [participle(verb, f, p) for f in (False, True) for p in (False, True)]
        english = (*verb.en, "cannot") if verb.key == "can" else verb.en
        add(verb.key, *(english, (*verb.fr, *participles), (verb.zh,))[position])
    # A house and a home are one concept.
    add("house", *(("home",), (), ("家",))[position])
    return concept_of


def test_links_join_words_of_one_concept():
    for example in samples()["any"][:2_000]:
        for src, tgt in PAIRS:
            src_concepts, tgt_concepts, tgt_words = concepts(src), concepts(tgt), getattr(example, tgt)
            linked = {}
            for i, j in getattr(example, f"{src}_{tgt}"):
                linked.setdefault(i, set()).add(tgt_concepts.get(tgt_words[j]))
            for i, word in enumerate(getattr(example, src)):
                if word in src_concepts:
                    assert src_concepts[word] in linked[i], (example, word)


def test_splits_share_no_meaning_and_no_sentence():
    # Short sentences occur often, so a careless split puts some of them into two parts.
    split_by = {key: {} for key in (*LANGUAGES, "meaning")}
    counts = Counter()
    repeated = 0
    for example in samples()["short"]:
        split = split_of(example.meaning)
        counts[split] += 1
        repeated += example.zh in split_by["zh"]
        for key, split_of_key in split_by.items():
            assert split_of_key.setdefault(getattr(example, key), split) == split
    assert repeated > 1_000
    assert all(0.07 < counts[split] / counts.total() < 0.13 for split in ("valid", "test"))


def test_triples_are_those_of_their_split():
    for split in SPLITS:
        of_split = [example for example in samples()["any"][:200] if split_of(example.meaning) == split]
        assert triples(4, split=split, seed=5) == of_split[:4]
    assert triples(0) == []


def test_what_is_known_of_another_split_is_not_drawn_again(monkeypatch):
    drawn = []

    class Counting(grammar.SentenceSampler):
        def __init__(self, random):
            drawn.append(1)
            super().__init__(random)

    monkeypatch.setattr(grammar, "SentenceSampler", Counting)
    valid = triples(2, split="valid", seed=77, max_words=7)
    first = len(drawn)
    test = triples(1, split="test", seed=77, max_words=7)
    train = triples(3, split="train", seed=77, max_words=7)
    assert len(drawn) < first + 5
    monkeypatch.setattr(grammar, "_SPLITS", defaultdict(dict))
    assert (train, test) == tuple(
        triples(num, split=s, seed=77, max_words=7) for num, s in ((3, "train"), (1, "test"))
    )
    assert triples(2, split="valid", seed=77, max_words=7) == valid


def test_a_sentence_has_one_translation():
    # A Chinese sentence may not tell the tense. English and French sentences tell all that the others tell.
    french, english = {}, {}
    for example in samples()["short"]:
        assert french.setdefault(example.en, example.fr) == example.fr
        assert english.setdefault(example.fr, example.en) == example.en


# Errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: triple(-1), "index -1"),
        (lambda: triple(0, seed=-2), "seed -2"),
        (lambda: triple(0, min_words=2), "min_words 2"),
        (lambda: triple(0, max_words=61), "max_words 61"),
        (lambda: triple(0, min_words=9, max_words=8), "min_words 9 and max_words 8"),
        (lambda: triples(-3), "got -3"),
        (lambda: triples(1, split="dev"), "train, valid, test, got 'dev'"),
        (lambda: triples(1, max_words=99), "max_words 99"),
        (lambda: triple(0).words("de"), "en, fr, zh, got 'de'"),
        (lambda: triple(0).links("en", "en"), "'en' twice"),
        (lambda: triple(0).links("en", "it"), "tgt must be one of"),
        (lambda: join_words(["a"], "xx"), "got 'xx'"),
    ],
)
def test_errors_name_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()
