"""Phrases of the grammar corpus: the words of a noun phrase or a verb group, in three languages at once.

Every word carries the numbers of the concepts it expresses, local to its phrase; ``nouns`` and ``clauses``
decide which phrases are joined and in which order. Phrases are cached, since most of them are used again.
"""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from utils.corpus.grammar.lexicon import (
    ADJECTIVES,
    ADVERBS,
    DETERMINERS,
    EXPRESSIONS,
    HE,
    MEASURES,
    NAMES,
    NOUNS,
    NUMERALS,
    POSSESSIVES,
    PRONOUNS,
    TIMES,
    VERBS,
    Adjective,
    Expression,
    Item,
    Noun,
    Verb,
)

# A piece is some words and their marks: pairs of a position and a concept that the word there expresses.
Words = tuple[str, ...]
Marks = tuple[tuple[int, int], ...]
Piece = tuple[Words, Marks]


# Concepts of a noun phrase.
DET, NOUN, FIRST_ADJECTIVE, SECOND_ADJECTIVE, NUMBER, PREPOSITION, OF, MEASURE = range(8)
# Concepts of a verb group or a predicate.
VERB, TENSE, NEGATION, ADVERB, MODAL, OBJECT, RECEIVER, DEGREE, THAN = range(9)

FRENCH_VOWELS = frozenset("aâeéèêiîoôuœhA")
ASPIRATED = frozenset({"hamster", "hamsters"})
CONTRACTED = {("à", "le"): "au", ("à", "les"): "aux", ("de", "le"): "du", ("de", "les"): "des"}
ELIDED = {"le": "l'", "la": "l'", "de": "d'", "que": "qu'", "ne": "n'", "je": "j'", "me": "m'"}


class Phrase(NamedTuple):
    """One phrase in the three languages."""

    en: Piece
    fr: Piece
    zh: Piece


class Group(NamedTuple):
    """A verb group. French keeps it together, Chinese splits it around the place and the company.

    ``en_after`` and ``zh_after`` hold the object pronoun, which French puts before the verb (inside ``fr``).
    """

    en: Piece
    fr: Piece
    zh_before: Piece
    zh: Piece
    en_after: Piece
    zh_after: Piece


def piece(items: Iterable[Item]) -> Piece:
    """Words and marks of a list of (word, concepts)."""
    items = tuple(items)
    words = tuple(word for word, _ in items)
    return words, tuple((i, concept) for i, (_, concepts) in enumerate(items) for concept in concepts)


def one_word(word: str, *concepts: int) -> Piece:
    """A piece of one word."""
    return piece([(word, concepts)])


def _when(condition: object, word: str, *concepts: int) -> list[Item]:
    """The word if the condition holds, else nothing."""
    return [(word, concepts)] if condition else []


def fixed(expression: Expression) -> Phrase:
    """The phrase of an expression that the lexicon has.

    >>> fixed(EXPRESSIONS["and"]).zh
    (('，',), ((0, 0), (0, 1)))
    """
    return Phrase(*map(piece, expression))


FIXED = {name: fixed(expression) for name, expression in EXPRESSIONS.items()}
TIME_PHRASES = {tense: tuple(map(fixed, expressions)) for tense, expressions in TIMES.items()}


def starts_with_vowel(word: str) -> bool:
    """Whether a French word makes the word before it elide: vowels and mute h, not the h of "hamster".

    >>> [starts_with_vowel(word) for word in ("ami", "homme", "hamster", "chat")]
    [True, True, False, False]
    """
    return word[0] in FRENCH_VOWELS and word not in ASPIRATED


def elide(words: list[str]) -> list[str]:
    """French elision: ``le ami`` becomes ``l' ami``. Changes the list and returns it.

    >>> elide(["je", "aime", "la", "eau", "que", "ils", "ne", "aiment", "pas", "si", "il"])
    ["j'", 'aime', "l'", 'eau', "qu'", 'ils', "n'", 'aiment', 'pas', "s'", 'il']
    """
    for i in range(len(words) - 1):
        word = words[i]
        if word in ELIDED:
            if starts_with_vowel(words[i + 1]):
                words[i] = ELIDED[word]
        elif word == "si" and words[i + 1] in ("il", "ils"):
            words[i] = "s'"
    return words


def _contract(preposition: Item, rest: list[Item]) -> list[Item]:
    """``à le`` becomes ``au``, ``de les`` ``des``; not where the article is elided (``de l' hôpital``)."""
    word, concepts = preposition
    article, article_concepts = rest[0]
    elides = article == "le" and starts_with_vowel(rest[1][0])
    if elides or (word, article) not in CONTRACTED:
        return [preposition, *rest]
    return [(CONTRACTED[word, article], concepts + article_concepts), *rest[1:]]


@cache
def noun_phrase(
    noun: str,
    plural: bool,
    det: str,
    adjectives: tuple[str, ...] = (),
    numeral: int = 0,
    preposition: tuple[str, str] = ("", ""),
    measure: str = "",
) -> Phrase:
    """A noun with its determiner and adjectives.

    Args:
        noun: a key of ``NOUNS``.
        plural: the number of the noun; with a measure ("two cups of tea"), the number of the measure.
        det: a key of ``DETERMINERS``. ``near`` is "the", but nothing in Chinese; ``bare`` is "some" without a word in
            English and Chinese; ``generic`` is "all" without a word; ``none`` is "a" or "any" where the verb is
            negated; ``owned`` stands after "'s" in English.
        adjectives: at most one before and one after the French noun, in English order.
        numeral: index into ``NUMERALS``.
        preposition: English and French preposition in front, or blanks.
        measure: a key of ``MEASURES`` or ``""``.
    """
    entry = NOUNS[noun]
    head = MEASURES[measure] if measure else entry
    entries = [ADJECTIVES[name] for name in adjectives]
    if det == "the" and "place" in entry.tags:
        det = "near"
    elif det == "none" and "mass" in entry.tags:
        det = "none (mass)"
    en_numeral, fr_numeral, zh_numeral = NUMERALS[numeral]
    en = _english_noun_phrase(entry, head, plural, det, entries, en_numeral)
    fr = _french_noun_phrase(entry, head, plural, det, entries, fr_numeral)
    zh = _chinese_noun_phrase(entry, head, plural, det, entries, zh_numeral)
    en_preposition, fr_preposition = preposition
    if en_preposition:
        en = [*((word, (PREPOSITION,)) for word in en_preposition.split()), *en]
    if fr_preposition:
        *first, last = fr_preposition.split()
        fr = [*((word, (PREPOSITION,)) for word in first), *_contract((last, (PREPOSITION,)), fr)]
    return Phrase(piece(en), piece(fr), piece(zh))


def _english_noun_phrase(
    noun: Noun, head: Noun, plural: bool, det: str, adjectives: list[Adjective], numeral: str
) -> list[Item]:
    core: list[Item] = [(word.en, (FIRST_ADJECTIVE + i,)) for i, word in enumerate(adjectives)]
    if head is noun:
        core.append((noun.en[plural], (NOUN,)))
    else:
        core = [(head.en[plural], (MEASURE,)), ("of", (OF,)), *core, (noun.en[0], (NOUN,))]
    words = {"#": numeral, "a": "an" if core[0][0][0] in "aeiou" else "a"}
    return [*_filled(DETERMINERS[det].en[plural], words), *core]


def _filled(items: Iterable[Item], words: dict[str, str]) -> list[Item]:
    """The items of a determiner with some of their words replaced."""
    return [(words.get(word, word), concepts) for word, concepts in items]


def french_form(adjective: Adjective, feminine: bool, plural: bool) -> str:
    """The form of an adjective that agrees with its noun."""
    return adjective.fr[feminine + 2 * plural]


def _french_noun_phrase(
    noun: Noun, head: Noun, plural: bool, det: str, adjectives: list[Adjective], numeral: str
) -> list[Item]:
    own_plural = plural and head is noun
    before: list[Item] = []
    after: list[Item] = []
    for i, adjective in enumerate(adjectives):
        form = french_form(adjective, noun.feminine, own_plural)
        if adjective.liaison and not (noun.feminine or own_plural) and starts_with_vowel(noun.fr[0]):
            form = adjective.liaison
        (before if adjective.before else after).append((form, (FIRST_ADJECTIVE + i,)))
    core = [*before, (noun.fr[own_plural], (NOUN,)), *after]
    # "De belles fleurs": "des" is "de" before an adjective.
    words = {"#": numeral, "des": "de" if before else "des"}
    if head is not noun:
        core = [(head.fr[plural], (MEASURE,)), ("de", (OF,)), *core]
    before_vowel = not plural and starts_with_vowel(core[0][0])
    form = head.feminine + (2 if plural else 4 if before_vowel else 0)
    return [*_filled(DETERMINERS[det].fr[form], words), *core]


def _chinese_noun_phrase(
    noun: Noun, head: Noun, plural: bool, det: str, adjectives: list[Adjective], numeral: str
) -> list[Item]:
    with_de: list[Item] = []
    without: list[Item] = []
    for i, adjective in enumerate(adjectives):
        word: Item = (adjective.zh, (FIRST_ADJECTIVE + i,))
        if adjective.de:
            with_de += [word, ("的", ())]
        else:
            without.append(word)
    determiner = _filled(DETERMINERS[det].zh[plural], {"#": numeral})
    if det in POSSESSIVES and ("kin" in noun.tags or with_de):
        # Close relatives take no 的 (我妈妈), and 的 is used only once (我年轻的邻居).
        del determiner[1]
    if determiner and determiner[-1][0] == "~":
        # A measure word is a classifier with a meaning of its own.
        concepts = determiner[-1][1] if head is noun else (MEASURE,)
        determiner[-1] = (head.classifier, concepts)
    return [*determiner, *with_de, *without, (noun.zh, (NOUN,))]


@cache
def name_phrase(name: str, preposition: tuple[str, str] = ("", "")) -> Phrase:
    """A person's name, after a preposition or alone."""
    entry = NAMES[name]
    items = [
        [*_when(word, word, PREPOSITION), (form, (NOUN,))]
        for word, form in zip((*preposition, ""), (entry.en, entry.fr, entry.zh), strict=True)
    ]
    return Phrase(*map(piece, items))


@cache
def pronoun_phrase(key: str) -> Phrase:
    """A pronoun as subject."""
    pronoun = PRONOUNS[key]
    return Phrase(*(one_word(word, NOUN) for word in (pronoun.en[0], pronoun.fr[0], pronoun.zh)))


# By the row of agreement: the person (first, third, third plural), and whether it is feminine and plural.
_PERSON = (0, 1, 1, 2, 2)
_FEATURES = ((False, False), (False, False), (True, False), (False, True), (True, True))
# By person: "be", and present, imperfect and subjunctive of the two French auxiliaries.
_BE = {"present": ("am", "is", "are"), "past": ("was", "was", "were")}
_ETRE = {
    "present": ("suis", "est", "sont"),
    "past": ("étais", "était", "étaient"),
    "that": ("sois", "soit", "soient"),
}
_AVOIR = {
    "present": ("ai", "a", "ont"),
    "past": ("avais", "avait", "avaient"),
    "that": ("aie", "ait", "aient"),
}
_ALLER = ("vais", "va", "vont")


def participle(verb: Verb, feminine: bool, plural: bool) -> str:
    """The past participle with its agreement.

    >>> participle(VERBS["write"], True, True)
    'écrites'
    """
    return verb.fr[4] + "e" * feminine + "s" * plural


MODALS = ("want", "can", "must", "like")


@cache
def verb_group(
    verb: str,
    tense: str,
    agreement: int = HE,
    *,
    negative: bool = False,
    adverb: str = "",
    clitic: str = "",
    indirect: bool = False,
    subjunctive: bool = False,
    object_agreement: tuple[bool, bool] = (False, False),
    relative: bool = False,
) -> Group:
    """A verb with its auxiliaries, negation, adverb and object pronoun.

    Args:
        verb: a key of ``VERBS``.
        tense: ``present`` (a habit or a state), ``progressive``, ``past``, ``future``, ``purpose``, or a modal
            verb of ``MODALS``.
        agreement: row of agreement of the subject.
        negative: not with the adverb "never", which is a negation by itself.
        adverb: often, sometimes, always, never, also, or ``""``.
        clitic: a key of ``PRONOUNS`` for the object, or ``""``.
        indirect: whether the pronoun is the receiver.
        subjunctive: the French mood after "bien que", for the past tense.
        object_agreement: feminine and plural of an object that stands before the verb.
        relative: whether the clause stands before its noun in Chinese, where its verb has no 了.
    """
    entry = VERBS[verb]
    en = _english_group(entry, tense, agreement, negative, adverb)
    fr = _french_group(
        entry, tense, agreement, negative, adverb, clitic, indirect, subjunctive, object_agreement
    )
    zh_before, zh = _chinese_group(entry, tense, negative, adverb, relative)
    en_after: list[Item] = [(PRONOUNS[clitic].en[1], (OBJECT,))] if clitic else []
    zh_after: list[Item] = [(PRONOUNS[clitic].zh, (OBJECT,))] if clitic else []
    return Group(*map(piece, (en, fr, zh_before, zh, en_after, zh_after)))


def _english_group(verb: Verb, tense: str, agreement: int, negative: bool, adverb: str) -> list[Item]:
    # The words between the auxiliary and the verb.
    middle = [*_when(negative, "not", NEGATION), *_when(adverb, adverb, ADVERB)]
    base: Item = (verb.en[0], (VERB,))
    to: Item = ("to", (MODAL,))
    person = _PERSON[agreement]
    do: Item = ("did" if tense == "past" else "does" if person == 1 else "do", (TENSE,))
    if tense == "purpose":
        group = [to, base]
    elif tense == "progressive":
        group = [(_BE["present"][person], (TENSE,)), *middle, (verb.en[3], (VERB,))]
    elif tense == "future":
        group = [("will", (TENSE,)), *middle, base]
    elif tense in ("present", "past"):
        form = verb.en[2] if tense == "past" else verb.en[person == 1]
        group = [do, *middle, base] if negative else [*middle, (form, (VERB, TENSE))]
    elif tense == "can" and negative:
        group = [("cannot", (MODAL, NEGATION)), *middle[1:], base]  # it contains "not"
    elif tense in ("can", "must"):
        group = [(tense, (MODAL,)), *middle, base]
    elif negative:
        group = [do, *middle, (VERBS[tense].en[0], (MODAL, TENSE)), to, base]
    else:
        group = [*middle, (VERBS[tense].en[person == 1], (MODAL, TENSE)), to, base]
    return [*group, *_when(verb.particle, verb.particle, VERB)]


def _french_group(
    verb: Verb,
    tense: str,
    agreement: int,
    negative: bool,
    adverb: str,
    clitic: str,
    indirect: bool,
    subjunctive: bool,
    object_agreement: tuple[bool, bool],
) -> list[Item]:
    pronoun: list[Item] = []
    if clitic:
        form = PRONOUNS[clitic].fr[2 if indirect else 1]
        pronoun = [(form, (OBJECT, RECEIVER) if indirect else (OBJECT,))]
        if not indirect:
            object_agreement = _FEATURES[PRONOUNS[clitic].agreement]
    infinitive: Item = (verb.fr[0], (VERB,))
    person = _PERSON[agreement]
    if tense == "purpose":
        return [("pour", (MODAL,)), *pronoun, infinitive]
    if tense == "past":
        if verb.auxiliary == "être":
            forms, features = _ETRE, _FEATURES[agreement]
        else:
            forms, features = _AVOIR, object_agreement
        auxiliary = forms["that" if subjunctive else "present"][person]
        finite: list[Item] = [*pronoun, (auxiliary, (TENSE,))]
        rest: list[Item] = [(participle(verb, *features), (VERB,))]
    elif tense == "future":
        finite, rest = [(_ALLER[person], (TENSE,))], [*pronoun, infinitive]
    elif tense in MODALS:
        form = VERBS[tense].fr[1 + person]
        concepts = (MODAL,) if tense in ("can", "must") else (MODAL, TENSE)
        finite, rest = [(form, concepts)], [*pronoun, infinitive]
    else:
        finite, rest = [*pronoun, (verb.fr[1 + person], (VERB, TENSE))], []
    return [*_french_negation(finite, negative, adverb), *rest]


def _french_negation(finite: list[Item], negative: bool, adverb: str) -> list[Item]:
    """``ne … pas`` or ``ne … jamais`` around the finite verb, and the adverb after it."""
    french = ADVERBS[adverb][0] if adverb else ""
    if adverb == "never":
        return [("ne", (ADVERB,)), *finite, (french, (ADVERB,))]
    if negative:
        finite = [("ne", (NEGATION,)), *finite, ("pas", (NEGATION,))]
    return [*finite, *_when(french, french, ADVERB)]


def _chinese_adverb(adverb: str) -> list[Item]:
    return [(ADVERBS[adverb][1], (ADVERB,))] if adverb else []


def _chinese_group(
    verb: Verb, tense: str, negative: bool, adverb: str, relative: bool
) -> tuple[list[Item], list[Item]]:
    before = _chinese_adverb(adverb)
    word: list[Item] = [(verb.zh, (VERB,))]
    if negative:
        did_not: Item = ("没", (NEGATION, TENSE) if tense == "past" else (NEGATION,))
        before.append(did_not if tense in ("past", "progressive") else ("不", (NEGATION,)))
    elif tense == "past" and verb.le and not relative:
        word.append(("了", (TENSE,)))
    # In the progressive 正在 stands before the place and replaces its 在, so the clause writes it.
    if tense == "future":
        before.append(("会", (TENSE,)))
    elif tense in MODALS:
        before.append((VERBS[tense].zh, (MODAL,)))
    return before, word


@cache
def predicate(
    adjective: str,
    agreement: int,
    *,
    past: bool = False,
    negative: bool = False,
    adverb: str = "",
    very: bool = False,
    subjunctive: bool = False,
) -> Phrase:
    """A subject's state: "is not tired", "n'est pas fatigué", 不累. For hunger French has "a faim", with "avoir".

    Args:
        adjective: a key of ``ADJECTIVES``.
        agreement: row of agreement of the subject.
        past: the past tense; the imperfect in French.
        negative: whether the state is negated; not with ``very``.
        adverb: always, also, or ``""``.
        very: whether the degree is high; never with a colour.
        subjunctive: the French mood after "bien que".
    """
    entry = ADJECTIVES[adjective]
    hungry = adjective == "hungry"
    # "Bien qu'il ait été fatigué", "bien qu'il ait eu faim".
    perfect = subjunctive and past
    mood = "that" if subjunctive else "past" if past else "present"
    verb = (_AVOIR if hungry or perfect else _ETRE)[mood][_PERSON[agreement]]
    en = [
        (_BE["past" if past else "present"][_PERSON[agreement]], (TENSE,)),
        *_when(negative, "not", NEGATION),
        *_when(adverb, adverb, ADVERB),
        *_when(very, "very", DEGREE),
        (adjective, (VERB,)),
    ]
    fr = [
        *_french_negation([(verb, (TENSE,))], negative, adverb),
        *_when(perfect, "eu" if hungry else "été", TENSE),
        *_when(very, "très", DEGREE),
        (french_form(entry, *_FEATURES[agreement]), (VERB,)),
    ]
    zh = [*_chinese_adverb(adverb), *_when(negative, "不", NEGATION)]
    if entry.colour:
        zh += [("是", (TENSE,)), (entry.zh, (VERB,)), ("的", ())]
    else:
        degree = _when(very, "非常", DEGREE) or _when(not negative, "很", TENSE)
        zh += [*degree, (entry.predicate, (VERB,))]
    return Phrase(piece(en), piece(fr), piece(zh))


def comparison(adjective: str, agreement: int) -> tuple[Piece, Piece, Piece, Piece]:
    """ "is bigger than", "est plus grand que", and for Chinese 比 before what is compared and 大 after it."""
    entry = ADJECTIVES[adjective]
    be: Item = (_BE["present"][_PERSON[agreement]], (TENSE,))
    if entry.comparative == "more":
        degree: list[Item] = [("more", (DEGREE,)), (entry.en, (VERB,))]
    else:
        degree = [(entry.comparative, (VERB, DEGREE))]
    en = [be, *degree, ("than", (THAN,))]
    fr: list[Item] = [
        (_ETRE["present"][_PERSON[agreement]], (TENSE,)),
        ("plus", (DEGREE,)),
        (french_form(entry, *_FEATURES[agreement]), (VERB,)),
        ("que", (THAN,)),
    ]
    return piece(en), piece(fr), piece([("比", (THAN,))]), piece([(entry.predicate, (VERB,))])
