"""Clauses and sentences of the grammar corpus: what is said, drawn at random, and the order of each language.

A ``Sampler`` draws one derivation and arranges the phrases of ``grammar_phrases`` for the three languages as it goes.
A phrase is written with a number of its own, its base, that tells its concepts from those of any other phrase, so
words of two languages that share a concept can be linked when the sentence is whole.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from utils.corpus.grammar_phrases import (
    NUMBER,
    PREPOSITION,
    RECEIVER,
    TENSE,
    Phrase,
    Piece,
    comparison,
    fixed,
    name_phrase,
    noun_phrase,
    one_word,
    predicate,
    pronoun_phrase,
    verb_group,
)
from utils.corpus.lexicon import (
    ADJECTIVES,
    COUNT_NOUNS,
    HE,
    MANNERS,
    MASS_NOUNS,
    NAMES,
    NOUNS,
    NUMERALS,
    PLACE_WORDS,
    PLACES,
    PRONOUNS,
    SHE,
    THEY,
    THEY_FEMININE,
    TIMES,
    VERBS,
    Noun,
)

T = TypeVar("T")
# What one language says: pieces in order, each with the base of its concepts.
Run = tuple[tuple[int, Piece], ...]


class Parts(NamedTuple):
    """A constituent in the three languages."""

    en: Run
    fr: Run
    zh: Run


class Referent(NamedTuple):
    """What a later clause can refer to: the key of its pronoun, its noun (or ``""``), its name (or ``""``)."""

    pronoun: str
    noun: str
    name: str


NOBODY = Referent("", "", "")
ME = Referent("me", "", "")


class Someone(NamedTuple):
    """A constituent that can be a subject.

    Args:
        parts: its words.
        agreement: the row of agreement of its verb.
        referent: how later clauses refer to it.
        both: the Chinese 都 that "all" puts before the verb, or nothing.
    """

    parts: Parts
    agreement: int
    referent: Referent
    both: Run


class Clause(NamedTuple):
    """A clause, what its subject and its object are, and whether it has a pronoun of the third person."""

    parts: Parts
    subject: Referent
    thing: Referent
    refers: bool


class Scene(NamedTuple):
    """What a clause must fit.

    Args:
        zone: ``past``, ``now``, ``habit`` or ``future``.
        subject: who its subject must be, said as a pronoun; ``NOBODY`` leaves the choice.
        object: what its object must be where a kind of clause says the object as a pronoun.
        subjunctive: the French mood after "bien que".
        undated: whether its Chinese verb stands before 的 and goes without 了.
        then: the Chinese 就 that answers 如果, or nothing.
        front: whether its time may come first.
        also: whether it adds to a clause before it.
    """

    zone: str
    subject: Referent = NOBODY
    object: Referent = NOBODY
    subjunctive: bool = False
    undated: bool = False
    then: Run = ()
    front: bool = False


class Kind(NamedTuple):
    """A kind of clause: the method that says it and the fewest English words it takes in each zone."""

    say: Callable[["Sampler", int, Scene], Clause]
    least: Mapping[str, int]


class Mood(NamedTuple):
    """Tense, polarity, adverb and time of an event, and the English words they cost beyond the bare verb."""

    tense: str
    negative: bool
    adverb: str
    time: Parts
    cost: int


NOTHING = Parts((), (), ())

# Bases are this far apart, more than any phrase has concepts.
STRIDE = 16


def length(run: Run) -> int:
    """Number of words in a run."""
    return sum(len(words) for _, (words, _) in run)


def _tagged(tags: frozenset[str] | set[str], nouns: Mapping[str, Noun]) -> tuple[str, ...]:
    return tuple(name for name, noun in nouns.items() if noun.tags & tags)


SUBJECTS = {verb: _tagged(entry.subjects, COUNT_NOUNS) for verb, entry in VERBS.items()}
OBJECTS = {verb: _tagged(entry.objects, NOUNS) for verb, entry in VERBS.items()}
_ANIMALS = _tagged({"animal"}, COUNT_NOUNS)
MEASURE_OF = {
    name: tag for name, noun in MASS_NOUNS.items() for tag in ("cup", "bottle", "bowl") if tag in noun.tags
}
BEFORE = {
    name: tuple(a.en for a in ADJECTIVES.values() if a.before and a.nouns & noun.tags)
    for name, noun in NOUNS.items()
}
AFTER = {
    name: tuple(a.en for a in ADJECTIVES.values() if not a.before and a.nouns & noun.tags)
    for name, noun in NOUNS.items()
}
# Two adjectives meet only where Chinese needs 的 once: a small red car, 一 辆 红色 的 小 汽车.
SHORT_BEFORE = {name: tuple(a for a in BEFORE[name] if not ADJECTIVES[a].de) for name in NOUNS}
COMPARED = {
    a: tuple(name for name in COUNT_NOUNS if a in BEFORE[name] + AFTER[name])
    for a, entry in ADJECTIVES.items()
    if entry.comparative
}
OWNED = frozenset(_tagged({"owned", "kin", "pet", "goods", "sought"}, COUNT_NOUNS))
GOALS = _tagged({"goal"}, PLACES)
NAME_LIST = tuple(NAMES)

ACTS = ("sleep", "work", "dance", "sing", "cry", "play")
MOVES = ("go", "go", "arrive", "leave")
GIFTS = ("give", "give", "send", "write")
TAKERS = tuple(
    verb for verb, entry in VERBS.items() if entry.objects and verb not in {*MOVES, "give", "send"}
)
OPINIONS = ("think", "say", "know", "hope")
MODALS = frozenset({"want", "can", "must", "like"})
PERSON_STATES = ("tired", "happy", "sad", "hungry")
# French says these alike of a woman and a man, as it must where nobody knows who "I" is.
PLAIN_STATES = ("sad", "hungry")
ANIMAL_STATES = ("tired", "hungry")

# Which verbs a zone of time allows: a habit must be able to be one.
IN_ZONE = {"past": "p", "now": "hg", "habit": "h", "future": "f"}


def _in_zone(verbs: Sequence[str], zone: str) -> tuple[str, ...]:
    return tuple(verb for verb in verbs if set(IN_ZONE[zone]) & set(VERBS[verb].tenses))


ACTS_IN = {zone: _in_zone(ACTS, zone) for zone in IN_ZONE}
TAKERS_IN = {zone: _in_zone(TAKERS, zone) for zone in IN_ZONE}
MOVES_IN = {zone: _in_zone(MOVES, zone) for zone in IN_ZONE}
# Verbs of one finished event, which "when" can date another event by.
MOMENTS = ("find", "open", "close", "see")
MANNERED = frozenset({"eat", "drink", "read", "write", "wash", "clean", "repair", "open", "close"})
FAVOURS = frozenset({"buy", "open", "repair", "clean", "wash"})
# Verbs whose object is a certain one rather than any.
HANDLED = frozenset({"find", "see", "watch", "wash", "clean", "close", "open", "look"})
ERRANDS = {
    "market": ("buy",),
    "library": ("read",),
    "restaurant": ("eat", "drink"),
    "park": ("dance", "sing"),
    "office": ("work",),
    "hospital": ("work",),
    "school": ("work",),
}
RELATIVE_VERBS = {
    name: tuple(verb for verb in TAKERS if VERBS[verb].objects & noun.tags and "p" in VERBS[verb].tenses)
    for name, noun in COUNT_NOUNS.items()
}
NAME_TAGS = frozenset({"name"})
DISPLAYED = tuple(name for name in _tagged({"food", "read", "sought"}, COUNT_NOUNS) if name not in _ANIMALS)
HIDDEN = _tagged({"pet", "sought"}, COUNT_NOUNS)
SURFACES = ("table", "chair")
SEEN_ABOUT = _tagged({"person", "pet"}, COUNT_NOUNS)
QUALITIES = {
    name: tuple(a for a in BEFORE[name] + AFTER[name] if a != "cold")
    for name in _tagged({"thing", "animal", "clever", "known", "young"}, COUNT_NOUNS)
}
DESCRIBED = tuple(name for name, qualities in QUALITIES.items() if qualities)
LIKED = tuple(
    name for name in NOUNS if NOUNS[name].tags & {"food", "drink", "animal", "read", "seen", "sung"}
)
NEAR = ("near", "près de", "附近")
UPON = {"on": ("on", "sur", "上"), "under": ("under", "sous", "下面")}

_AT_HOME = fixed("at 5 home 1 | à 5 la 1 maison 1 | 家 1")
_THAT_CLAUSE = fixed("that 0 | que 0 |")
_RELATIVE_OBJECT = fixed("that 0 | que 0 | 的 0")
_RELATIVE_PERSON = fixed("who 0 | qui 0 | 的 0")
_RELATIVE_ANIMAL = fixed("that 0 | qui 0 | 的 0")
_AND = fixed("and 0 | et 0 | 和 0")
_THERE = {
    plural: fixed(f"there 0 {'are' if plural else 'is'} 0 | il 0 y 0 a 0 | 有 0") for plural in (False, True)
}
_TOGETHER = fixed("together 0 | ensemble 0 | 一起 0")
_TIMES = {tense: tuple(map(fixed, texts)) for tense, texts in TIMES.items()}
_GENITIVE = one_word("'s", PREPOSITION)
_DE = one_word("的", PREPOSITION)
_BOTH = one_word("都", NUMBER)
_LE = one_word("了", TENSE)
_TO_SOMEONE = one_word("给", PREPOSITION)
_TO_HIM = one_word("给", RECEIVER)
_WITH = one_word("跟", PREPOSITION)
_WITH_TOGETHER = one_word("一起", PREPOSITION)
_AFTER_PLACE = {word: one_word(word, PREPOSITION) for word in ("里", "附近", "上", "下面")}
_THEN = one_word("就", 0)
_AT = one_word("在", PREPOSITION)
_MANNERS = tuple(fixed(f"{en} 0 | {fr} 0 | {zh} 0") for en, (fr, zh) in MANNERS.items())
_NONE_FOUND: dict[str, Parts] = {}
# The order after the object in English and French.
_AFTER_OBJECT = ("favour", "manner", "company", "place")

# Between two clauses of equal rank: words, the base concept shared; "，" in Chinese does the work of "and".
_COORDINATORS = {
    "and": fixed(", 1 and 0 | et 0 | ， 01"),
    "but": fixed(", 1 but 0 | , 1 mais 0 | ， 1 但是 0"),
    "then": fixed(", 1 then 0 | , 1 puis 0 | ， 1 然后 0"),
    "so": fixed(", 1 so 0 | , 1 donc 0 | ， 1 所以 0"),
}
_ANYBODY = (Referent("I", "", ""), Referent("he", "", ""), Referent("she", "", ""))
_COMMA = fixed(", 0 | , 0 | ， 0")
_COMMA_UNSAID = fixed(", 0 | , 0 |")
_STOP = fixed(". 0 | . 0 | 。 0")
_SUBORDINATORS = {
    "because": fixed("because 0 | parce 0 que 0 | 因为 0"),
    "when": fixed("when 0 | quand 0 | 的 0 时候 0"),
    "if": fixed("if 0 | si 0 | 如果 0"),
    "although": fixed("although 0 | bien 0 que 0 | 虽然 0"),
}
_SO = one_word("所以", 0)
_BUT = one_word("但是", 0)
_CHINESE_COMMA = one_word("，", 1)


def _at(base: int, phrase: Phrase) -> Parts:
    return Parts(((base, phrase.en),), ((base, phrase.fr),), ((base, phrase.zh),))


def _join(*constituents: Parts) -> Parts:
    """Constituents that every language puts in the same order."""
    return Parts(
        tuple(part for one in constituents for part in one.en),
        tuple(part for one in constituents for part in one.fr),
        tuple(part for one in constituents for part in one.zh),
    )


def _around(before: Piece, run: Run, after: Piece | None = None) -> Run:
    """A Chinese noun phrase with the words that do the work of its preposition."""
    base = run[-1][0]
    return ((base, before), *run, (base, after)) if after else ((base, before), *run)


def _pronoun_for(noun: str, plural: bool) -> Referent:
    entry = NOUNS[noun]
    feminine = entry.gender == "f"
    if entry.tags & {"person", "kin"}:
        key = ("they f" if feminine else "they") if plural else "she" if feminine else "he"
    else:
        key = ("those" if plural else "it") + " f" * feminine
    return Referent(key, noun, "")


def _is_person(referent: Referent) -> bool:
    return (referent.pronoun != "" and referent.pronoun[:2] not in ("it", "th")) or referent.pronoun[
        :4
    ] == "they"


def _can_be_taken(referent: Referent, zone: str) -> bool:
    """Whether a verb of the zone takes it as an object."""
    if not referent.pronoun:
        return False
    tags = NOUNS[referent.noun].tags if referent.noun else NAME_TAGS
    return any(VERBS[verb].objects & tags for verb in TAKERS_IN[zone])


def _suits(subject: Referent, verb: str) -> bool:
    """Whether a subject that is given can do it."""
    if not subject.pronoun:
        return True
    if _is_person(subject):
        return bool(VERBS[verb].subjects & {"person", "adult", "kid"})
    return bool(VERBS[verb].subjects & NOUNS[subject.noun].tags)


class Sampler:
    """Draws one sentence.

    Args:
        random: a source of numbers in [0, 1); every choice calls it.

    ``meaning`` collects the concepts of the nouns, names, verbs and adjectives that have been said.
    """

    def __init__(self, random: Callable[[], float]):
        self.random = random
        self.base = 0
        self.meaning: list[str] = []

    def pick(self, choices: Sequence[T]) -> T:
        """One of the choices, all equally likely."""
        return choices[int(self.random() * len(choices))]

    def fresh(self) -> int:
        """The base of a new phrase."""
        self.base += STRIDE
        return self.base

    # Noun phrases

    def noun(
        self,
        noun: str,
        plural: bool,
        det: str,
        extra: int,
        *,
        preposition: tuple[str, str] = ("", ""),
        measure: str = "",
        relative: bool = False,
    ) -> Parts:
        """A noun phrase that grows by up to ``extra`` words: adjectives, an owner or a relative clause.

        Args:
            det, preposition, measure: as for ``noun_phrase``.
            relative: whether a relative clause or an owner may be added to a definite noun.
        """
        random = self.random
        self.meaning.append(noun)
        base = self.fresh()
        grows = relative and det == "the"
        clause = NOTHING
        if grows and extra >= 3 and noun in RELATIVE_VERBS and random() < 0.65:
            clause = self.relative_clause(noun, plural, extra)
            extra -= length(clause.en)
        adjectives = self.adjectives(noun, extra) if extra > 0 and random() < 0.75 else ()
        extra -= len(adjectives)
        if measure:
            self.meaning.append(measure)
        if grows and extra > 0 and not plural and not clause.en and noun in OWNED and random() < 0.5:
            return self.owned(noun, adjectives, base)
        numeral = int(random() * len(NUMERALS)) if "number" in det else 0
        en, fr, zh = noun_phrase(noun, plural, det, adjectives, numeral, preposition, measure)
        return Parts(((base, en), *clause.en), ((base, fr), *clause.fr), (*clause.zh, (base, zh)))

    def adjectives(self, noun: str, room: int) -> tuple[str, ...]:
        """One adjective that suits the noun, two where there is room, none where none suits."""
        before, after = BEFORE[noun], AFTER[noun]
        if room > 1 and after and SHORT_BEFORE[noun] and self.random() < 0.4:
            chosen: tuple[str, ...] = (self.pick(SHORT_BEFORE[noun]), self.pick(after))
        elif before or after:
            chosen = (self.pick(before + after),)
        else:
            return ()
        self.meaning += chosen
        return chosen

    def owned(self, noun: str, adjectives: tuple[str, ...], base: int) -> Parts:
        """ "Mary's book", "le livre de Marie", 玛丽 的 书."""
        name = self.pick(NAME_LIST)
        self.meaning.append(name)
        owner = self.fresh()
        en, fr, zh = noun_phrase(noun, False, "owned", adjectives)
        owner_en, owner_fr, owner_zh = name_phrase(name, ("", "de"))
        return Parts(
            ((owner, owner_en), (owner, _GENITIVE), (base, en)),
            ((base, fr), (owner, owner_fr)),
            ((owner, owner_zh), (owner, _DE), (base, zh)),
        )

    def named(self, preposition: tuple[str, str] = ("", ""), other: str = "") -> tuple[str, Parts]:
        """A name that is not ``other``, with its words."""
        name = self.pick(NAME_LIST)
        while name == other:
            name = self.pick(NAME_LIST)
        self.meaning.append(name)
        return name, _at(self.fresh(), name_phrase(name, preposition))

    def pronoun(self, referent: Referent) -> Someone:
        """A pronoun as subject."""
        key = referent.pronoun
        return Someone(_at(self.fresh(), pronoun_phrase(key)), PRONOUNS[key].agreement, referent, ())

    def somebody(self, verb: str, room: int, *, plain: bool = False) -> Someone:
        """A subject that suits the verb.

        Args:
            room: the most English words it may have; at least 1.
            plain: whether it has an article at most: no adjective, owner, relative clause or companion.
        """
        nouns = SUBJECTS[verb]
        chance = self.random()
        if "person" in VERBS[verb].subjects or "adult" in VERBS[verb].subjects:
            if chance < 0.12 or (room < 2 and chance < 0.35):
                return self.pronoun(self.pick(_ANYBODY))
            if chance < 0.35 or room < 2:
                return self.name_or_pair(1 if plain else room)
        elif room < 2:
            return self.name_or_pair(1)
        return self.noun_subject(self.pick(nouns), room, plain)

    def name_or_pair(self, room: int) -> Someone:
        """ "Mary", or "Mary and Paul" where there is room."""
        name, parts = self.named()
        feminine = NAMES[name].gender == "f"
        if room < 3 or self.random() < 0.6:
            return Someone(parts, HE + feminine, Referent("she" if feminine else "he", "", name), ())
        other, second = self.named(other=name)
        feminine = feminine and NAMES[other].gender == "f"
        joined = _join(parts, _at(self.fresh(), _AND), second)
        if feminine:
            return Someone(joined, THEY_FEMININE, Referent("they f", "", name), ())
        return Someone(joined, THEY, Referent("they", "", name), ())

    def noun_subject(self, noun: str, room: int, plain: bool) -> Someone:
        """ "The girl", "these two students", "all the children that Paul saw"."""
        tags = NOUNS[noun].tags
        chance = self.random()
        plural = False
        if "kin" in tags:
            det = "my"
        elif chance < 0.48:
            det = "the"
        elif chance < 0.68:
            det, plural = "the", True
        elif chance < 0.76:
            det, plural = "this", self.random() < 0.4
        elif chance < 0.85 and tags & {"owned", "pet"}:
            det = self.pick(("my", "our"))
        elif chance < 0.93 or room < 3 or plain:
            det, plural = "number", True
        else:
            det, plural = self.pick(("all", "the+number")), True
        extra = 0 if plain else room - (3 if det in ("all", "the+number") else 2)
        parts = self.noun(noun, plural, det, extra, relative=True)
        both = ((parts.zh[-1][0], _BOTH),) if det == "all" else ()
        feminine = NOUNS[noun].gender == "f"
        return Someone(parts, HE + feminine + 2 * plural, _pronoun_for(noun, plural), both)

    def relative_clause(self, noun: str, plural: bool, room: int) -> Parts:
        """ "that Paul bought yesterday", "que Paul a acheté hier", 保罗 昨天 买 的; 3 to ``room`` English words."""
        tags = NOUNS[noun].tags
        feminine = NOUNS[noun].gender == "f"
        if "person" in tags or ("animal" in tags and self.random() < 0.5):
            return self.subject_relative(noun, HE + feminine + 2 * plural, room)
        base = self.fresh()
        verb = self.pick(RELATIVE_VERBS[noun])
        particle = bool(VERBS[verb].particle)
        if particle and room < 4:
            verb, particle = "find" if "sought" in tags else "write", False
        subject = self.somebody(verb, 1 if room < 4 + particle else 2, plain=True)
        self.meaning.append(VERBS[verb].key)
        group_base = self.fresh()
        group = verb_group(verb, "p", subject.agreement, object_agreement=(feminine, plural), relative=True)
        time = self.time("p", room - 2 - particle - length(subject.parts.en))
        en, fr, zh = _RELATIVE_OBJECT
        return Parts(
            ((base, en), *subject.parts.en, (group_base, group.en), *time.en),
            ((base, fr), *subject.parts.fr, (group_base, group.fr), *time.fr),
            (*subject.parts.zh, *time.zh, (group_base, group.zh), (base, zh)),
        )

    def subject_relative(self, noun: str, agreement: int, room: int) -> Parts:
        """ "who is sleeping now", "qui dort maintenant", 现在 正在 睡觉 的."""
        base = self.fresh()
        group_base = self.fresh()
        person = "person" in NOUNS[noun].tags
        thing, time, marker = NOTHING, NOTHING, ()
        if person and room >= 4 and self.random() < 0.6:
            verb = self.pick(("buy", "read", "find", "see", "wash", "eat"))
            group = verb_group(verb, "p", agreement)
            thing = self.something(self.pick([t for t in OBJECTS[verb] if t not in PLACES]), room - 4)
        else:
            verb = self.pick([act for act in ACTS if noun in SUBJECTS[act]] or ["sleep"])
            if room >= 4:
                group = verb_group(verb, "g", agreement)
                time = self.time("g", 1)
                marker = ((group_base, one_word("正在", TENSE)),)
            else:
                group = verb_group(verb, "h", agreement, adverb=self.pick(("often", "always")))
        self.meaning.append(VERBS[verb].key)
        en, fr, zh = _RELATIVE_PERSON if person else _RELATIVE_ANIMAL
        return Parts(
            ((base, en), (group_base, group.en), *thing.en, *time.en),
            ((base, fr), (group_base, group.fr), *thing.fr, *time.fr),
            (*time.zh, (group_base, group.zh_before), *marker, (group_base, group.zh), *thing.zh, (base, zh)),
        )

    def something(self, noun: str, extra: int) -> Parts:
        """A plain object: "some bread", "a book", "the book"."""
        if "mass" in NOUNS[noun].tags:
            return self.noun(noun, False, "some", extra)
        return self.noun(
            noun, False, self.pick(("a", "the")) if "thing" in NOUNS[noun].tags else "the", extra
        )

    def object_of(
        self, verb: str, tense: str, negative: bool, owner: str, extra: int
    ) -> tuple[Parts, Referent]:
        """The object of a verb, of at most two words and ``extra`` more, and how to refer to it.

        Args:
            owner: the possessive of the subject, or ``""``.
        """
        random = self.random
        if "name" in VERBS[verb].objects and random() < 0.35:
            return self.named()[1], NOBODY
        noun = self.pick(OBJECTS[verb])
        tags = NOUNS[noun].tags
        chance = random()
        if "mass" in tags:
            return self.mass_object(noun, tense, negative, extra), NOBODY
        if "kin" in tags:
            return self.noun(noun, False, owner or "my", extra), NOBODY
        if "place" in tags:
            return self.noun(noun, False, "the" if chance < 0.85 else "this", extra), NOBODY
        if tense == "h" and "person" not in tags and verb not in HANDLED and chance < 0.8:
            return self.noun(noun, True, "none" if negative else "bare", extra + 1), NOBODY
        definite = tense == "h" or (negative and ("person" in tags or verb in HANDLED))
        plural = False
        if chance < 0.1 and owner and noun in OWNED:
            det = owner
        elif chance < 0.35 or (definite and chance < 0.7):
            det = "the"
        elif chance < 0.47 or (definite and chance < 0.9):
            det, plural = "the", True
        elif chance < 0.55 or definite:
            det, plural = "this", random() < 0.4
        elif negative:
            det, extra = "none", extra + 1
        elif chance < 0.8:
            det = "a"
        else:
            det, plural = ("some" if chance < 0.88 else "number" if chance < 0.96 else "many"), True
        referent = NOBODY if det == "none" else _pronoun_for(noun, plural)
        return self.noun(noun, plural, det, extra, relative=True), referent

    def mass_object(self, noun: str, tense: str, negative: bool, extra: int) -> Parts:
        """ "Tea", "some tea", "a cup of hot tea"; "any" is unsaid under a negation."""
        if negative:
            return self.noun(noun, False, "none", extra + 1)
        if noun in MEASURE_OF and extra >= 2 and self.random() < 0.6:
            plural = self.random() < 0.3
            det = "number" if plural else "a"
            return self.noun(noun, plural, det, extra - 2, measure=MEASURE_OF[noun])
        return self.noun(noun, False, "bare" if tense == "h" else "some", extra)

    # What surrounds the verb

    def time(self, tense: str, room: int) -> Parts:
        """An expression of time that fits the tense and the room, or nothing."""
        if room < 1 or tense not in _TIMES:
            return NOTHING
        chosen = self.pick(_TIMES[tense])
        if len(chosen.en[0]) > room:
            chosen = _TIMES[tense][0]
            if len(chosen.en[0]) > room:
                return NOTHING
        return _at(self.fresh(), chosen)

    def place(self, verb: str, room: int) -> Parts:
        """Where something is done; the Chinese 在 in front is written by ``arrange``."""
        name = self.pick(VERBS[verb].places) if room > 2 else "home"
        if name == "home":
            return _at(self.fresh(), _AT_HOME)
        near = name in GOALS and room > 3 and self.random() < 0.15
        return self.located(name, NEAR if near else PLACE_WORDS[name], room - 3)

    def located(self, noun: str, words: tuple[str, str, str], extra: int, det: str = "the") -> Parts:
        """A noun with a preposition of place; Chinese has a word after it, or none."""
        en, fr, after = words
        parts = self.noun(noun, False, det, min(extra, 1), preposition=(en, fr))
        if not after:
            return parts
        return Parts(parts.en, parts.fr, (*parts.zh, (parts.zh[-1][0], _AFTER_PLACE[after])))

    def mood(self, verb: str, zone: str, room: int, *, may_deny: bool) -> Mood:
        """Tense, polarity, adverb and time of an event.

        Args:
            zone: ``past``, ``now``, ``habit`` or ``future``.
            room: English words to spend beyond the bare verb.
            may_deny: whether a negation fits.
        """
        if zone == "past":
            return self.past_mood(verb, room, may_deny)
        if zone == "future":
            return self.future_mood(room, may_deny)
        if zone == "habit":
            return self.habit_mood(verb, room, may_deny)
        return self.present_mood(verb, room, may_deny)

    def past_mood(self, verb: str, room: int, may_deny: bool) -> Mood:
        """The past; where Chinese has neither 了 nor 没, nothing but the time tells it."""
        negative = may_deny and room >= 2 and self.random() < 0.2
        cost = 2 * negative
        unsaid = not (VERBS[verb].le or negative)
        time = self.time("p", room - cost) if unsaid or self.random() < 0.6 else NOTHING
        return Mood("p", negative, "", time, cost + length(time.en))

    def future_mood(self, room: int, may_deny: bool) -> Mood:
        """The future, a wish or a duty."""
        chance = self.random()
        tense = "want" if chance < 0.2 and room >= 3 else "must" if chance < 0.3 else "f"
        cost = 2 if tense == "want" else 1
        negative = may_deny and tense == "f" and room >= 2 and self.random() < 0.2
        cost += negative
        time = self.time("f", room - cost) if tense != "f" or self.random() < 0.7 else NOTHING
        return Mood(tense, negative, "", time, cost + length(time.en))

    def present_mood(self, verb: str, room: int, may_deny: bool) -> Mood:
        """What is going on now, what can, must or should be done, or a habit."""
        tenses = VERBS[verb].tenses
        chance = self.random()
        if "g" in tenses and room >= 2 and (chance < 0.4 or "h" not in tenses):
            negative = may_deny and room >= 3 and self.random() < 0.15
            return Mood("g", negative, "", self.time("g", 1), 2 + negative)
        if "h" in tenses and (room < 1 or chance < 0.8):
            return self.habit_mood(verb, room, may_deny)
        tense = self.pick(("can", "must", "want") if room >= 2 else ("can", "must"))
        negative = may_deny and tense == "can" and self.random() < 0.4
        return Mood(tense, negative, "", NOTHING, 2 if tense == "want" else 1)

    def habit_mood(self, verb: str, room: int, may_deny: bool) -> Mood:
        """A habit: it says how often, or is denied; only the shortest sentences have the bare present."""
        if "h" not in VERBS[verb].tenses:
            return Mood(self.pick(("can", "must")), False, "", NOTHING, 1)
        if room < 1:
            return Mood("h", False, "", NOTHING, 0)
        chance = self.random()
        if chance < 0.25 and room >= 2 and may_deny:
            return Mood("h", True, "", NOTHING, 2)
        if chance < 0.6 and room >= 2:
            return Mood("h", False, "", self.time("h", room), 2)
        adverb = "never" if chance < 0.7 and may_deny else self.pick(("often", "sometimes", "always"))
        return Mood("h", False, adverb, NOTHING, 1)

    def surroundings(self, verb: str, subject: Someone, clitic: str, room: int) -> dict[str, Parts]:
        """Where, with whom, for whom and how: as many as fit the verb and the room."""
        entry = VERBS[verb]
        options = ["place", "place"] if entry.places else []
        if "person" in entry.subjects or "adult" in entry.subjects:
            options.append("company")
        if verb in FAVOURS:
            options.append("favour")
        if verb in MANNERED:
            options.append("manner")
        found: dict[str, Parts] = {}
        while options and room > 0:
            option = options.pop(int(self.random() * len(options)))
            if option in found:
                continue
            if option == "manner":
                parts = _at(self.fresh(), self.pick(_MANNERS))
            elif option == "company" and room == 1 and PRONOUNS[subject.referent.pronoun].agreement > SHE:
                parts = _at(self.fresh(), _TOGETHER)
            elif room < 2:
                continue
            elif option == "place":
                parts = self.place(verb, room)
            else:
                parts = self.named(
                    ("with", "avec") if option == "company" else ("for", "pour"), subject.referent.name
                )[1]
            found[option] = parts
            room -= length(parts.en)
        return found

    def arrange(
        self,
        verb: str,
        subject: Someone,
        mood: Mood,
        scene: Scene,
        room: int,
        *,
        thing: Parts = NOTHING,
        referent: Referent = NOBODY,
        clitic: str = "",
        receiver: Parts = NOTHING,
        errand: Parts = NOTHING,
        le: bool = True,
    ) -> Clause:
        """The words of a clause in the order of each language, with surroundings in the room that is left.

        Args:
            thing: what follows the verb in every language: an object or a goal.
            referent: how later clauses refer to the thing.
            clitic: the key of an object pronoun, of the receiver where ``verb`` is a verb of giving; or ``""``.
            receiver: who is given something, behind "to" and "à".
            errand: what one goes somewhere to do.
            le: whether the Chinese verb may take 了.
        """
        tense, negative, adverb, time, _ = mood
        giving = verb in GIFTS and (clitic or receiver.en)
        group = verb_group(
            verb,
            tense,
            subject.agreement,
            negative=negative,
            adverb=adverb,
            clitic=clitic,
            indirect=bool(giving),
            subjunctive=scene.subjunctive,
            relative=scene.undated or not le,
        )
        self.meaning.append(VERBS[verb].key)
        if tense in MODALS:
            self.meaning.append(tense)
        base = self.fresh()
        found = self.surroundings(verb, subject, clitic, room) if room > 0 else _NONE_FOUND
        favour, manner, company, place = (found.get(name, NOTHING) for name in _AFTER_OBJECT)
        front, back = (time, NOTHING) if scene.front and time.en else (NOTHING, time)
        if front.en:
            front = _join(front, _at(self.fresh(), _COMMA_UNSAID))
        en = (
            *front.en, *subject.parts.en, (base, group.en), (base, group.en_after), *thing.en, *receiver.en,
            *favour.en, *manner.en, *company.en, *place.en, *errand.en, *back.en,
        )  # fmt: skip
        fr = (
            *front.fr, *subject.parts.fr, (base, group.fr), *thing.fr, *receiver.fr,
            *favour.fr, *manner.fr, *company.fr, *place.fr, *errand.fr, *back.fr,
        )  # fmt: skip
        before_verb = self.chinese_place(tense, negative, base, place.zh)
        if company.zh:
            before_verb += (
                company.zh if len(company.en[0][1][0]) == 1 else _around(_WITH, company.zh, _WITH_TOGETHER)
            )
        if favour.zh:
            before_verb += _around(_TO_SOMEONE, favour.zh)
        after_verb: Run = thing.zh
        if receiver.zh:
            if verb == "give":
                after_verb = receiver.zh + thing.zh
            else:
                before_verb += _around(_TO_SOMEONE, receiver.zh)
        elif clitic:
            pronoun = (base, group.zh_after)
            if giving and verb != "give":
                before_verb += ((base, _TO_HIM), pronoun)
            else:
                after_verb = (pronoun, *thing.zh)
        zh = (
            *front.zh, *subject.parts.zh, *back.zh, *subject.both, *scene.then, (base, group.zh_before),
            *before_verb, *manner.zh, (base, group.zh), *after_verb, *errand.zh,
        )  # fmt: skip
        refers = subject.referent.pronoun == scene.subject.pronoun != "" or bool(clitic)
        return Clause(Parts(en, fr, zh), subject.referent, referent, refers)

    def chinese_place(self, tense: str, negative: bool, base: int, place: Run) -> Run:
        """在 and the place; 正在, or 在 after 没, says that something is going on and where at once."""
        if tense == "g":
            where = (place[0][0] + PREPOSITION,) if place else ()
            marker = (
                ("在" if negative else "正在",),
                ((0, base + TENSE), *((0, concept) for concept in where)),
            )
            return ((0, marker), *place)
        return ((place[0][0], _AT), *place) if place else ()

    # Clauses: each method says one kind in at most ``room`` English words, and in about as many

    def clause(self, room: int, scene: Scene, kinds: Sequence[Kind]) -> Clause:
        """A clause of one of the kinds that fit the room and the scene."""
        fitting = [kind.say for kind in kinds if kind.least.get(scene.zone, room + 1) <= room]
        return self.pick(fitting)(self, room, scene)

    def share(self, room: int) -> int:
        """A part of the room, from nothing to all of it."""
        return int(self.random() * (room + 1)) if room > 0 else 0

    def subject(self, verb: str, scene: Scene, room: int) -> Someone:
        """The subject of the scene where there is one, else somebody who suits the verb."""
        return self.pronoun(scene.subject) if scene.subject.pronoun else self.somebody(verb, room)

    def say_act(self, room: int, scene: Scene) -> Clause:
        """ "Mary is sleeping in the garden now"."""
        acts = ACTS_IN[scene.zone] if room > 2 else ("cry",) if scene.zone == "past" else ACTS
        verb = self.pick([act for act in acts if _suits(scene.subject, act)] or ["sleep"])
        subject = self.subject(verb, scene, 1 + self.share(room - 5))
        room -= 1 + length(subject.parts.en)
        mood = self.mood(verb, scene.zone, room, may_deny=not subject.both)
        return self.arrange(verb, subject, mood, scene, room - mood.cost)

    def say_stay(self, room: int, scene: Scene) -> Clause:
        """ "The boy stays at home every day": the place belongs to the verb, and follows it in Chinese too."""
        subject = self.subject("stay", scene, 1 + self.share(room - 7))
        room -= 3 + length(subject.parts.en)
        mood = self.mood("stay", scene.zone, room, may_deny=not subject.both)
        en, fr, zh = self.place("stay", room - mood.cost + 2)
        place = Parts(en, fr, ((zh[0][0], _AT), *zh))
        return self.arrange("stay", subject, mood, scene, 0, thing=place)

    def say_take(self, room: int, scene: Scene) -> Clause:
        """ "Paul bought a book for Mary at the market yesterday"."""
        verb = self.pick([verb for verb in TAKERS_IN[scene.zone] if _suits(scene.subject, verb)])
        room -= 3 + bool(VERBS[verb].particle)
        subject = self.subject(verb, scene, 1 + self.share(room - 4))
        room -= length(subject.parts.en)
        mood = self.mood(verb, scene.zone, room, may_deny=not subject.both)
        room -= mood.cost
        owner = PRONOUNS[subject.referent.pronoun].possessive
        thing, referent = self.object_of(verb, mood.tense, mood.negative, owner, self.share(room))
        room += 2 - length(thing.en)
        return self.arrange(verb, subject, mood, scene, room, thing=thing, referent=referent)

    def say_take_it(self, room: int, scene: Scene) -> Clause:
        """ "Mary helped him yesterday": the object is a pronoun."""
        clitic, noun, _ = scene.object
        tags = NOUNS[noun].tags if noun else NAME_TAGS
        verb = self.pick(
            [v for v in TAKERS_IN[scene.zone] if VERBS[v].objects & tags and _suits(scene.subject, v)]
        )
        room -= 2 + bool(VERBS[verb].particle)
        subject = self.subject(verb, scene, 1 + self.share(room - 4))
        room -= length(subject.parts.en)
        mood = self.mood(verb, scene.zone, room, may_deny=not subject.both)
        return self.arrange(
            verb, subject, mood, scene, room - mood.cost, clitic=clitic, referent=scene.object
        )

    def say_give(self, room: int, scene: Scene) -> Clause:
        """ "The teacher gave a book to Mary", "the teacher gave her a book"."""
        verb = self.pick(GIFTS)
        clitic = scene.object.pronoun if _is_person(scene.object) else ""
        room -= 4 if clitic else 5
        subject = self.subject(verb, scene, 1 + self.share(room - 4))
        room -= length(subject.parts.en)
        mood = self.mood(verb, scene.zone, room, may_deny=False)
        room -= mood.cost
        noun = "letter" if verb == "write" else self.pick(OBJECTS[verb])
        extra = self.share(room)
        thing = (
            self.noun(noun, False, "a", extra)
            if self.random() < 0.7
            else self.noun(noun, True, "number", extra)
        )
        room += 2 - length(thing.en)
        receiver = NOTHING if clitic else self.named(("to", "à"), subject.referent.name)[1]
        return self.arrange(verb, subject, mood, scene, room, thing=thing, receiver=receiver, clitic=clitic)

    def say_go(self, room: int, scene: Scene) -> Clause:
        """ "Anna will go to the market tomorrow to buy bread"."""
        verb = self.pick(MOVES_IN[scene.zone])
        direct = verb == "leave"
        room -= 3 if direct else 4
        subject = self.subject(verb, scene, 1 + self.share(room - 4))
        room -= length(subject.parts.en)
        mood = self.mood(verb, scene.zone, room, may_deny=not subject.both)
        room -= mood.cost
        goal = self.pick(GOALS)
        preposition = ("", "") if direct else ("at" if verb == "arrive" else "to", "à")
        errand = NOTHING
        if verb == "go" and goal in ERRANDS and not mood.negative and room >= 4 and self.random() < 0.6:
            errand = self.errand(goal, mood.tense, room)
            room -= length(errand.en)
        place = self.noun(goal, False, "the", min(room, 1), preposition=preposition)
        room += 3 - direct - length(place.en)
        return self.arrange(verb, subject, mood, scene, room, thing=place, errand=errand, le=not errand.en)

    def errand(self, goal: str, tense: str, room: int) -> Parts:
        """ "To buy bread", "pour acheter du pain", 买 面包: in Chinese 了 comes here."""
        verb = self.pick(ERRANDS[goal])
        self.meaning.append(VERBS[verb].key)
        base = self.fresh()
        group = verb_group(verb, "to")
        thing = NOTHING
        if VERBS[verb].objects:
            noun = self.pick([name for name in OBJECTS[verb] if verb != "buy" or "daily" in NOUNS[name].tags])
            if "mass" in NOUNS[noun].tags:
                thing = self.noun(noun, False, "some", room - 4)
            else:
                thing = self.noun(noun, False, "a", room - 4)
        le = ((base, _LE),) if tense == "p" and VERBS[verb].le else ()
        return Parts(
            ((base, group.en), *thing.en), ((base, group.fr), *thing.fr), ((base, group.zh), *le, *thing.zh)
        )

    def say_state(self, room: int, scene: Scene) -> Clause:
        """ "The girl is very tired today"."""
        if scene.subject.pronoun:
            subject = self.pronoun(scene.subject)
        else:
            subject = self.somebody("like", 1 + self.share(room - 3))
        if not _is_person(subject.referent):
            state = self.pick(ANIMAL_STATES)
        else:
            state = self.pick(PLAIN_STATES if subject.referent.pronoun == "I" else PERSON_STATES)
        return self.describe(state, subject, room - 2 - length(subject.parts.en), scene)

    def say_quality(self, room: int, scene: Scene) -> Clause:
        """ "The book that Paul bought is interesting"."""
        noun = self.pick(DESCRIBED)
        quality = self.pick(QUALITIES[noun])
        plural = self.random() < 0.3
        det = "the" if self.random() < 0.6 else "this"
        parts = self.noun(noun, plural, det, room - 4, relative=True)
        agreement = HE + (NOUNS[noun].gender == "f") + 2 * plural
        subject = Someone(parts, agreement, _pronoun_for(noun, plural), ())
        return self.describe(quality, subject, room - 2 - length(parts.en), scene)

    def describe(self, adjective: str, subject: Someone, room: int, scene: Scene) -> Clause:
        """A subject, a form of "be" and an adjective, with what fits into ``room`` more words."""
        self.meaning.append(adjective)
        passing = adjective in PERSON_STATES
        chance = self.random()
        time = NOTHING
        negative = chance < 0.15 and room > 0 and not subject.both
        very = (
            not negative
            and chance < 0.45
            and room > 0
            and not ADJECTIVES[adjective].predicate.startswith("是")
        )
        room -= negative + very
        adverb = ""
        if passing and room > 0 and scene.zone != "habit" and (scene.zone == "past" or self.random() < 0.6):
            time = self.time("p" if scene.zone == "past" else "s", room)
        elif passing and room > 0 and scene.zone == "now" and not negative:
            adverb = "always"
        phrase = predicate(
            adjective,
            subject.agreement,
            past=scene.zone == "past",
            negative=negative,
            adverb=adverb,
            very=very,
            subjunctive=scene.subjunctive,
        )
        base = self.fresh()
        return Clause(
            Parts(
                (*subject.parts.en, (base, phrase.en), *time.en),
                (*subject.parts.fr, (base, phrase.fr), *time.fr),
                (*subject.parts.zh, *time.zh, *subject.both, *scene.then, (base, phrase.zh)),
            ),
            subject.referent,
            NOBODY,
            bool(scene.subject.pronoun),
        )

    def say_like(self, room: int, scene: Scene) -> Clause:
        """ "Paul likes red flowers": things of a kind, which French calls by "les"."""
        negative = room >= 5 and self.random() < 0.25
        room -= 2 + 2 * negative
        subject = self.subject("like", scene, 1 + self.share(room - 1))
        room -= length(subject.parts.en)
        noun = self.pick(LIKED)
        negative = negative and not subject.both
        group = verb_group("like", "h", subject.agreement, negative=negative)
        self.meaning.append("like")
        base = self.fresh()
        thing = self.noun(noun, "mass" not in NOUNS[noun].tags, "generic", room)
        zh = (
            *subject.parts.zh,
            *subject.both,
            *scene.then,
            (base, group.zh_before),
            (base, group.zh),
            *thing.zh,
        )
        return Clause(
            Parts(
                (*subject.parts.en, (base, group.en), *thing.en),
                (*subject.parts.fr, (base, group.fr), *thing.fr),
                zh,
            ),
            subject.referent,
            NOBODY,
            bool(scene.subject.pronoun),
        )

    def say_compare(self, room: int, scene: Scene) -> Clause:
        """ "The red car is more expensive than the bicycle", "la voiture rouge est plus chère que le vélo"."""
        adjective = self.pick(tuple(COMPARED))
        first = self.pick(COMPARED[adjective])
        second = self.pick([noun for noun in COMPARED[adjective] if noun != first])
        self.meaning.append(adjective)
        room -= 7 + (ADJECTIVES[adjective].comparative == "more")
        one = self.noun(
            first, False, "this" if self.random() < 0.3 else "the", self.share(room), relative=True
        )
        room += 2 - length(one.en)
        other = self.noun(second, False, "the", room, relative=True)
        en, fr, than, compared = comparison(adjective, HE + (NOUNS[first].gender == "f"))
        base = self.fresh()
        return Clause(
            Parts(
                (*one.en, (base, en), *other.en),
                (*one.fr, (base, fr), *other.fr),
                (*one.zh, (base, than), *other.zh, (base, compared)),
            ),
            _pronoun_for(first, False),
            NOBODY,
            False,
        )

    def say_there(self, room: int, scene: Scene) -> Clause:
        """ "There are two cats under the table", "il y a deux chats sous la table", 桌子 下面 有 两 只 猫."""
        chance = self.random()
        room -= 7
        if chance < 0.5:
            relation = self.pick(("on", "under"))
            noun = self.pick(DISPLAYED if relation == "on" else HIDDEN)
            place = self.located(self.pick(SURFACES), UPON[relation], room, "near")
        else:
            noun = self.pick(SEEN_ABOUT)
            goal = self.pick(GOALS)
            place = self.located(goal, NEAR if chance < 0.65 else PLACE_WORDS[goal], room)
        room += 3 - length(place.en)
        det = self.pick(("a", "a", "number", "some", "many"))
        plural = det != "a"
        thing = self.noun(noun, plural, det, room)
        en, fr, zh = _THERE[plural]
        base = self.fresh()
        return Clause(
            Parts(
                ((base, en), *thing.en, *place.en),
                ((base, fr), *thing.fr, *place.fr),
                (*place.zh, (base, zh), *thing.zh),
            ),
            NOBODY,
            NOBODY,
            False,
        )

    # Sentences

    def opinion(self, room: int, zone: str) -> Clause:
        """ "Mary thinks that Paul is sleeping now"; 3 words and a clause."""
        verb = self.pick(OPINIONS)
        self.meaning.append(verb)
        subject = self.somebody(verb, 1 if room < 9 else 2, plain=True)
        group = verb_group(verb, "h", subject.agreement)
        base, that = self.fresh(), self.fresh()
        if verb == "hope":
            zone = "future"
        clause = self.clause(room - 2 - length(subject.parts.en), Scene(zone), CLAUSES)
        return Clause(
            Parts(
                (*subject.parts.en, (base, group.en), (that, _THAT_CLAUSE.en), *clause.parts.en),
                (*subject.parts.fr, (base, group.fr), (that, _THAT_CLAUSE.fr), *clause.parts.fr),
                (*subject.parts.zh, (base, group.zh), *clause.parts.zh),
            ),
            clause.subject,
            clause.thing,
            clause.refers,
        )

    def follow(self, room: int, zone: str, before: Clause, kinds: Sequence[Kind], then: Run = ()) -> Clause:
        """A clause that may take up the subject or the object of the clause before it as a pronoun."""
        chance = self.random()
        scene = Scene(zone, then=then)
        if chance < 0.4 and (_is_person(before.subject) or before.subject.noun in _ANIMALS):
            taken_up = scene._replace(subject=before.subject)
            fit = SUBJECT_CLAUSES if _is_person(before.subject) else ANIMAL_CLAUSES
        elif chance < 0.6 and before.subject.pronoun != "I" and _can_be_taken(before.subject, zone):
            taken_up, fit = scene._replace(object=before.subject), OBJECT_CLAUSES
        elif chance < 0.75 and _can_be_taken(before.thing, zone):
            taken_up, fit = scene._replace(object=before.thing), THING_CLAUSES
        else:
            return self.clause(room, scene, kinds)
        fit = [kind for kind in fit if kind.least.get(zone, room + 1) <= room]
        return self.clause(room, taken_up, fit) if fit else self.clause(room, scene, kinds)

    def unit(self, room: int, zone: str, before: Clause | None) -> tuple[Parts, Clause]:
        """A clause, an opinion, or two clauses of unequal rank."""
        chance = self.random()
        if room >= 10 and (room > 13 or chance < 0.6):
            return self.pick(COMPLEX[zone])(self, room, zone)
        if room >= 8 and chance < 0.75:
            clause = self.opinion(room, zone)
        elif before is None:
            front = room > 6 and self.random() < 0.3
            clause = self.clause(room - front, Scene(zone, front=front), CLAUSES)
        else:
            clause = self.follow(room, zone, before, CLAUSES)
        return clause.parts, clause

    def because(self, room: int, zone: str) -> tuple[Parts, Clause]:
        """ "Paul stayed at home because it rained".

        Chinese gives the cause first, 因为 … 所以 …; it comes last only where a pronoun would come before its noun.
        """
        room -= 1
        main = self.clause(3 + self.share(room - 6), Scene(zone), CLAUSES)
        sub = self.follow(room - length(main.parts.en), "past" if zone == "past" else "now", main, CAUSES)
        base = self.fresh()
        word = _at(base, _SUBORDINATORS["because"])
        joined = _join(main.parts, word, sub.parts)
        comma = (base, _CHINESE_COMMA)
        if sub.refers:
            zh = (*main.parts.zh, comma, *word.zh, *sub.parts.zh)
        else:
            zh = (*word.zh, *sub.parts.zh, comma, (base, _SO), *main.parts.zh)
        return Parts(joined.en, joined.fr, zh), sub

    def when(self, room: int, zone: str) -> tuple[Parts, Clause]:
        """ "When Paul is tired, he sleeps", "when Mary arrived at the station, John left the park"."""
        zone = "past" if zone == "past" and room > 12 else "habit"
        room -= 2
        least, kinds = (5, MOMENT_CLAUSES) if zone == "past" else (3, STATES)
        sub = self.clause(least + self.share(room - least - 3), Scene(zone, undated=True), kinds)
        main = self.follow(room - length(sub.parts.en), zone, sub, CLAUSES)
        word, comma = _at(self.fresh(), _SUBORDINATORS["when"]), _at(self.fresh(), _COMMA)
        return Parts(
            (*word.en, *sub.parts.en, *comma.en, *main.parts.en),
            (*word.fr, *sub.parts.fr, *comma.fr, *main.parts.fr),
            (*sub.parts.zh, *word.zh, *comma.zh, *main.parts.zh),
        ), main

    def condition(self, room: int, zone: str) -> tuple[Parts, Clause]:
        """ "If Mary is sad, Paul will give her a flower": 如果 … ， … 就 …."""
        room -= 2
        sub = self.clause(3 + self.share(room - 6), Scene("habit"), STATES)
        base = self.fresh()
        main = self.follow(room - length(sub.parts.en), "future", sub, CLAUSES, ((base, _THEN),))
        word = _at(base, _SUBORDINATORS["if"])
        return _join(word, sub.parts, _at(self.fresh(), _COMMA), main.parts), main

    def although(self, room: int, zone: str) -> tuple[Parts, Clause]:
        """ "Although Paul was tired, he cleaned the kitchen": 虽然 … ， 但是 …."""
        room -= 2
        kinds = CONCESSIONS if zone == "past" else STATES
        sub = self.clause(3 + self.share(room - 6), Scene(zone, subjunctive=True), kinds)
        main = self.follow(room - length(sub.parts.en), zone, sub, CLAUSES)
        base = self.fresh()
        word, comma = _at(base, _SUBORDINATORS["although"]), _at(self.fresh(), _COMMA)
        joined = _join(word, sub.parts, comma, main.parts)
        zh = (*word.zh, *sub.parts.zh, *comma.zh, (base, _BUT), *main.parts.zh)
        return Parts(joined.en, joined.fr, zh), main

    def opinion_unit(self, room: int, zone: str) -> tuple[Parts, Clause]:
        """An opinion as a unit of its own."""
        clause = self.opinion(room, zone)
        return clause.parts, clause

    def coordinate(self, room: int, zone: str) -> tuple[Parts, Clause]:
        """Two clauses with "so" after a state, or "then" after an event."""
        room -= 2
        then = zone == "future" or (zone == "past" and self.random() < 0.4)
        first = self.clause(3 + self.share(room - 6), Scene(zone), EVENTS if then else STATES)
        second = self.follow(room - length(first.parts.en), zone, first, EVENTS if then else CLAUSES)
        return _join(
            first.parts, _at(self.fresh(), _COORDINATORS["then" if then else "so"]), second.parts
        ), second

    def sentence(self, words: int) -> Parts:
        """A sentence of at most ``words`` English words with its full stop, and of about as many."""
        left = words - 1
        zone = self.pick(("past", "past", "now", "now", "future" if left > 2 else "now"))
        parts, clause = self.unit(self.unit_size(left), zone, None)
        left -= length(parts.en)
        while left >= 8:
            if self.random() < 0.35:
                zone = self.pick(("past", "now", "future"))
            joint = _at(self.fresh(), _COORDINATORS["and" if self.random() < 0.6 else "but"])
            following, clause = self.unit(self.unit_size(left - 2), zone, clause)
            parts = _join(parts, joint, following)
            left -= 2 + length(following.en)
        return _join(parts, _at(self.fresh(), _STOP))

    def unit_size(self, left: int) -> int:
        """How many of the words that are left the next unit takes: all, or few enough to leave a unit's worth."""
        if left <= 13 or (left <= 24 and self.random() < 0.5):
            return left
        return min(8 + self.share(16), left - 10)


def _least(now: int, past: int, future: int, habit: int) -> dict[str, int]:
    lengths = {"now": now, "past": past, "future": future, "habit": habit}
    return {zone: least for zone, least in lengths.items() if least}


# The fewest words of each kind now, in the past, in the future and as a habit; 0 where there is none.
ACT = Kind(Sampler.say_act, _least(2, 2, 3, 3))
STAY = Kind(Sampler.say_stay, _least(5, 5, 5, 5))
TAKE = Kind(Sampler.say_take, _least(6, 5, 6, 6))
TAKE_IT = Kind(Sampler.say_take_it, _least(5, 4, 5, 5))
GIVE = Kind(Sampler.say_give, _least(0, 6, 7, 0))
GO = Kind(Sampler.say_go, _least(7, 5, 6, 6))
STATE = Kind(Sampler.say_state, _least(3, 3, 0, 3))
QUALITY = Kind(Sampler.say_quality, _least(4, 0, 0, 4))
LIKE = Kind(Sampler.say_like, _least(3, 0, 0, 3))
COMPARE = Kind(Sampler.say_compare, _least(8, 0, 0, 0))
THERE = Kind(Sampler.say_there, _least(7, 0, 0, 0))

CLAUSES = (ACT, ACT, STAY, TAKE, TAKE, TAKE, GIVE, GO, GO, STATE, QUALITY, LIKE, COMPARE, THERE)
SUBJECT_CLAUSES = (ACT, ACT, STAY, TAKE, TAKE, STATE)
ANIMAL_CLAUSES = (ACT, STATE)
OBJECT_CLAUSES = (TAKE_IT, TAKE_IT, GIVE)
THING_CLAUSES = (TAKE_IT,)
EVENTS = (ACT, TAKE, GIVE, GO)
CAUSES = (ACT, TAKE, STATE, QUALITY, LIKE, GIVE)
STATES = (STATE,)
MOMENT_CLAUSES = (GO,)
CONCESSIONS = (STATE, TAKE, GO)
COMPLEX = {
    "past": (Sampler.because, Sampler.when, Sampler.although, Sampler.coordinate, Sampler.opinion_unit),
    "now": (Sampler.because, Sampler.when, Sampler.although, Sampler.coordinate, Sampler.opinion_unit),
    "future": (
        Sampler.because,
        Sampler.condition,
        Sampler.condition,
        Sampler.coordinate,
        Sampler.opinion_unit,
    ),
}
