"""Noun phrases of the grammar corpus: persons, animals and things, drawn at random, with what describes them.

Each method gets the number of English words that its phrase may have. ``phrases`` makes the words, and ``clauses``
puts the noun phrases into clauses.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from utils.corpus.grammar.lexicon import (
    ADJECTIVES,
    COUNT_NOUNS,
    HE,
    MASS_NOUNS,
    MEASURES,
    NAMES,
    NOUNS,
    NUMERALS,
    PLACES,
    PRONOUNS,
    THEY,
    THEY_FEMININE,
    VERBS,
    Noun,
)
from utils.corpus.grammar.parts import (
    NOBODY,
    NOTHING,
    Parts,
    Pieces,
    Referent,
    Subject,
    agreement_of,
    join,
    length,
    place,
    referent_of,
)
from utils.corpus.grammar.phrases import (
    FIXED,
    NUMBER,
    PREPOSITION,
    TENSE,
    TIME_PHRASES,
    name_phrase,
    noun_phrase,
    one_word,
    pronoun_phrase,
    verb_group,
)

T = TypeVar("T")

# The distance between two bases: larger than the number of concepts in any phrase.
STRIDE = 16


def tagged(tags: Iterable[str], nouns: Mapping[str, Noun]) -> tuple[str, ...]:
    """The nouns that are in any of the sets."""
    tags = set(tags)
    return tuple(name for name, noun in nouns.items() if noun.tags & tags)


def used_for(use: str) -> tuple[str, ...]:
    """The verbs that have this use."""
    return tuple(name for name, verb in VERBS.items() if use in verb.uses)


SUBJECTS = {verb: tagged(entry.subjects, COUNT_NOUNS) for verb, entry in VERBS.items()}
OBJECTS = {verb: tagged(entry.objects, NOUNS) for verb, entry in VERBS.items()}
MEASURE_OF = {
    name: measure for name, noun in MASS_NOUNS.items() for measure in MEASURES if measure in noun.tags
}
BEFORE = {
    name: tuple(a.en for a in ADJECTIVES.values() if a.before and a.nouns & noun.tags)
    for name, noun in NOUNS.items()
}
AFTER = {
    name: tuple(a.en for a in ADJECTIVES.values() if not a.before and a.nouns & noun.tags)
    for name, noun in NOUNS.items()
}
# A noun has two adjectives only if Chinese needs one 的: a small red car, 一 辆 红色 的 小 汽车.
SHORT_BEFORE = {name: tuple(a for a in BEFORE[name] if not ADJECTIVES[a].de) for name in NOUNS}
LONG_AFTER = {name: tuple(a for a in AFTER[name] if ADJECTIVES[a].de) for name in NOUNS}
OWNED = set(tagged({"owned", "kin", "pet", "goods", "sought"}, COUNT_NOUNS)) - set(
    tagged({"food"}, COUNT_NOUNS)
)
NAME_LIST = tuple(NAMES)
ACTS, TAKERS = used_for("act"), used_for("take")
# Verbs of relatives in which the noun is the object: "the book that Paul bought".
RELATIVE_VERBS = {
    name: tuple(verb for verb in TAKERS if VERBS[verb].objects & noun.tags and "past" in VERBS[verb].tenses)
    for name, noun in COUNT_NOUNS.items()
}
SHORT_RELATIVE_VERBS = {
    name: tuple(verb for verb in verbs if not VERBS[verb].particle) for name, verbs in RELATIVE_VERBS.items()
}
# Verbs of relatives in which it is the subject: "the girl who found the key".
DEEDS = ("buy", "find", "see", "wash", "eat", "open")
ANYBODY = (Referent("I"), Referent("he"), Referent("she"))

_GENITIVE = one_word("'s", PREPOSITION)
_DE = one_word("的", PREPOSITION)
_DOU = one_word("都", NUMBER)
_ZHENGZAI = one_word("正在", TENSE)


class NounSampler:
    """Draws noun phrases.

    Args:
        random: a source of numbers in [0, 1); every choice calls it.

    ``meaning`` collects the concepts of the nouns, names, verbs and adjectives of the sentence, ``zone`` is the
    time of the current clause, and ``names`` holds the last two names.
    """

    def __init__(self, random: Callable[[], float]):
        self.random = random
        self.base = 0
        self.meaning: list[str] = []
        self.zone = "now"
        self.names: tuple[str, ...] = ()

    def pick(self, choices: Sequence[T]) -> T:
        """One of the choices, all equally likely."""
        return choices[int(self.random() * len(choices))]

    def share(self, room: int) -> int:
        """A random number of words from 0 to ``room``."""
        return int(self.random() * (room + 1)) if room > 0 else 0

    def fresh(self) -> int:
        """The base of a new phrase."""
        self.base += STRIDE
        return self.base

    def fixed(self, name: str) -> Parts:
        """An expression of the lexicon as a constituent of its own."""
        return place(self.fresh(), FIXED[name])

    def mean(self, verb: str) -> None:
        """Add a verb to the meaning, unless it has no concept of its own."""
        if VERBS[verb].key:
            self.meaning.append(VERBS[verb].key)

    def time(self, tense: str, room: int) -> Parts:
        """An expression of time that fits the tense and the room, or nothing."""
        if room < 1 or tense not in TIME_PHRASES:
            return NOTHING
        phrase = self.pick(TIME_PHRASES[tense])
        if len(phrase.en[0]) > room:
            phrase = TIME_PHRASES[tense][0]
        return place(self.fresh(), phrase) if len(phrase.en[0]) <= room else NOTHING

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
        described: bool = True,
    ) -> Parts:
        """A noun phrase that grows by up to ``extra`` words: adjectives, an owner or a relative clause.

        Args:
            det, preposition, measure: as for ``noun_phrase``.
            relative: whether a relative clause or an owner may be added to a definite noun.
            described: whether adjectives may be added.
        """
        random = self.random
        self.meaning.append(noun)
        base = self.fresh()
        may_grow = relative and det == "the"
        clause = NOTHING
        if may_grow and extra >= 3 and noun in RELATIVE_VERBS and random() < 0.65:
            clause = self.relative_clause(noun, plural, extra)
            extra -= length(clause.en)
        adjectives = self.adjectives(noun, extra) if extra > 0 and described and random() < 0.75 else ()
        extra -= len(adjectives)
        if measure:
            self.meaning.append(measure)
        if may_grow and extra > 0 and not plural and not clause.en and noun in OWNED and random() < 0.5:
            return self.owned(noun, adjectives, base)
        numeral = int(random() * len(NUMERALS)) if "number" in det else 0
        en, fr, zh = noun_phrase(noun, plural, det, adjectives, numeral, preposition, measure)
        return Parts(((base, en), *clause.en), ((base, fr), *clause.fr), (*clause.zh, (base, zh)))

    def adjectives(self, noun: str, room: int) -> tuple[str, ...]:
        """One adjective that suits the noun, two where there is room, none where none suits."""
        before, after = BEFORE[noun], AFTER[noun]
        if room > 1 and SHORT_BEFORE[noun] and LONG_AFTER[noun] and self.random() < 0.4:
            adjectives: tuple[str, ...] = (self.pick(SHORT_BEFORE[noun]), self.pick(LONG_AFTER[noun]))
        elif before or after:
            adjectives = (self.pick(before + after),)
        else:
            return ()
        self.meaning += adjectives
        return adjectives

    def owned(self, noun: str, adjectives: tuple[str, ...], base: int) -> Parts:
        """ "Mary's book", "le livre de Marie", 玛丽 的 书."""
        _, owner = self.named(("", "de"))
        en, fr, zh = noun_phrase(noun, False, "owned", adjectives)
        owner_base = owner.en[0][0]
        return Parts(
            (*owner.en, (owner_base, _GENITIVE), (base, en)),
            ((base, fr), *owner.fr),
            (*owner.zh, (owner_base, _DE), (base, zh)),
        )

    def named(self, preposition: tuple[str, str] = ("", "")) -> tuple[str, Parts]:
        """A name that is not one of the last two, and its words."""
        name = self.pick(NAME_LIST)
        while name in self.names:
            name = self.pick(NAME_LIST)
        self.names = (*self.names[-1:], name)
        self.meaning.append(name)
        return name, place(self.fresh(), name_phrase(name, preposition))

    def something(self, noun: str, extra: int) -> Parts:
        """A plain object: "some bread", "a book", "the book"."""
        tags = NOUNS[noun].tags
        det = "some" if "mass" in tags else self.pick(("a", "the")) if "thing" in tags else "the"
        return self.noun(noun, False, det, extra)

    # Subjects

    def pronoun(self, referent: Referent) -> Subject:
        """A pronoun as subject."""
        key = referent.pronoun
        return Subject(place(self.fresh(), pronoun_phrase(key)), PRONOUNS[key].agreement, referent)

    def somebody(self, verb: str, room: int, *, plain: bool = False) -> Subject:
        """A subject that suits the verb.

        Args:
            room: the most English words it may have; at least 1.
            plain: whether it has at most a determiner: no adjective, owner, relative clause or second person.
        """
        entry = VERBS[verb]
        chance = self.random()
        if not entry.subjects & {"person", "adult"}:
            return (
                self.name_or_pair(1)
                if room < 2
                else self.noun_subject(self.pick(SUBJECTS[verb]), room, plain)
            )
        if chance < 0.12 or (room < 2 and chance < 0.3):
            # French participles with "être" would show whether "I" is a man. Later in a sentence "he" and "she"
            # would seem to be somebody named before.
            pronouns = ANYBODY[1:] if entry.auxiliary == "être" else ANYBODY
            if not self.meaning:
                return self.pronoun(self.pick(pronouns))
            if ANYBODY[0] in pronouns:
                return self.pronoun(ANYBODY[0])
        if chance < 0.38 or room < 2:
            return self.name_or_pair(1 if plain else room)
        return self.noun_subject(self.pick(SUBJECTS[verb]), room, plain)

    def name_or_pair(self, room: int) -> Subject:
        """ "Mary", or "Mary and Paul" where there is room."""
        name, parts = self.named()
        feminine = NAMES[name].gender == "f"
        if room < 3 or self.random() < 0.6:
            return Subject(parts, HE + feminine, Referent("she" if feminine else "he", name=name))
        second_name, second_parts = self.named()
        joined = join(parts, self.fixed("and (nouns)"), second_parts)
        if feminine and NAMES[second_name].gender == "f":
            return Subject(joined, THEY_FEMININE, Referent("they f", name=name))
        return Subject(joined, THEY, Referent("they", name=name))

    def noun_subject(self, noun: str, room: int, plain: bool) -> Subject:
        """ "The girl", "these two students", "all the children that Paul saw"."""
        tags = NOUNS[noun].tags
        chance = self.random()
        plural = False
        if "kin" in tags:
            det = self.pick(("my", "my", "our"))
        elif "owned" in tags and chance < 0.4:
            det = self.pick(("my", "our"))
        elif chance < 0.5:
            det = "the"
        elif chance < 0.68:
            det, plural = "the", True
        elif chance < 0.76:
            det, plural = "this", self.random() < 0.4
        elif chance < 0.86 and "pet" in tags:
            det = self.pick(("my", "our"))
        elif chance < 0.93 or room < 3 or plain:
            det, plural = "number", True
        else:
            det, plural = self.pick(("all", "the+number")), True
        extra = 0 if plain else room - (3 if det in ("all", "the+number") else 2)
        parts = self.noun(noun, plural, det, extra, relative=True)
        dou: Pieces = ((parts.zh[-1][0], _DOU),) if det == "all" else ()
        return Subject(parts, agreement_of(noun, plural), referent_of(noun, plural), dou)

    # Relative clauses

    def relative_clause(self, noun: str, plural: bool, room: int) -> Parts:
        """ "that Paul bought yesterday", "que Paul a acheté hier", 保罗 昨天 买 的; 3 to ``room`` words."""
        tags, feminine = NOUNS[noun].tags, NOUNS[noun].feminine
        if "person" in tags or ("animal" in tags and self.random() < 0.5):
            return self.subject_relative(noun, agreement_of(noun, plural), room)
        base = self.fresh()
        verb = self.pick((RELATIVE_VERBS if room > 3 else SHORT_RELATIVE_VERBS)[noun])
        room -= 2 + bool(VERBS[verb].particle)
        subject = self.somebody(verb, min(room, 2), plain=True)
        self.mean(verb)
        group_base = self.fresh()
        group = verb_group(
            verb, "past", subject.agreement, object_agreement=(feminine, plural), relative=True
        )
        time = self.time("past", room - length(subject.parts.en))
        en, fr, zh = FIXED["that (object)"]
        return Parts(
            ((base, en), *subject.parts.en, (group_base, group.en), *time.en),
            ((base, fr), *subject.parts.fr, (group_base, group.fr), *time.fr),
            (*subject.parts.zh, *time.zh, (group_base, group.zh), (base, zh)),
        )

    def subject_relative(self, noun: str, agreement: int, room: int) -> Parts:
        """ "who is sleeping now", "qui dort maintenant", 现在 正在 睡觉 的; 3 to ``room`` English words."""
        base, group_base = self.fresh(), self.fresh()
        person = "person" in NOUNS[noun].tags
        thing, time, marker = NOTHING, NOTHING, ()
        if person and room >= 4 and self.random() < 0.6:
            verb = self.pick(DEEDS)
            group = verb_group(verb, "past", agreement)
            thing = self.something(self.pick(OBJECTS[verb]), room - 4)
        else:
            verb = self.pick([act for act in ACTS if noun in SUBJECTS[act]])
            if room >= 4 and self.zone == "now":
                group = verb_group(verb, "progressive", agreement)
                time = self.time("progressive", 1)
                marker = ((group_base, _ZHENGZAI),)
            else:
                group = verb_group(verb, "present", agreement, adverb=self.pick(("often", "always")))
        self.mean(verb)
        en, fr, zh = FIXED["who" if person else "that (subject)"]
        return Parts(
            ((base, en), (group_base, group.en), *thing.en, *time.en),
            ((base, fr), (group_base, group.fr), *thing.fr, *time.fr),
            (*time.zh, (group_base, group.zh_before), *marker, (group_base, group.zh), *thing.zh, (base, zh)),
        )

    # Objects

    def object_of(
        self, verb: str, tense: str, negated: bool, owner: str, extra: int
    ) -> tuple[Parts, Referent]:
        """The object of a verb, of at most two words and ``extra`` more, and how to refer to it.

        Args:
            negated: whether "not" or "never" stands with the verb.
            owner: the possessive of the subject, or ``""``.
        """
        random = self.random
        if "name" in VERBS[verb].objects and random() < 0.35:
            return self.named()[1], NOBODY
        noun = self.pick(OBJECTS[verb])
        tags, certain = NOUNS[noun].tags, "certain" in VERBS[verb].uses
        chance = random()
        usual = tense in ("present", "like")
        if "mass" in tags:
            return self.mass_object(noun, usual, negated, extra), NOBODY
        if "kin" in tags:
            return self.noun(noun, False, owner or "my", extra), NOBODY
        if noun in PLACES:
            return self.noun(noun, False, "the" if chance < 0.85 else "this", extra), NOBODY
        if usual and "person" not in tags and not certain and chance < 0.8:
            return self.noun(noun, True, "none" if negated else "bare", extra + 1), NOBODY
        definite = usual or (negated and ("person" in tags or certain))
        plural = False
        if chance < 0.1 and owner and noun in OWNED:
            det = owner
        elif chance < 0.35 or (definite and chance < 0.7):
            det = "the"
        elif chance < 0.47 or (definite and chance < 0.9):
            det, plural = "the", True
        elif chance < 0.55 or definite:
            det, plural = "this", random() < 0.4
        elif negated:
            return self.noun(noun, False, "none", extra), NOBODY
        elif chance < 0.8 or certain:
            det = "a"
        else:
            det, plural = ("some" if chance < 0.88 else "number" if chance < 0.96 else "many"), True
        return self.noun(noun, plural, det, extra, relative=True), referent_of(noun, plural)

    def mass_object(self, noun: str, usual: bool, negated: bool, extra: int) -> Parts:
        """ "Tea", "some tea", "a cup of hot tea"; with a negated verb only "tea"."""
        if negated:
            return self.noun(noun, False, "none", extra + 1)
        if noun in MEASURE_OF and extra >= 2 and self.random() < 0.6:
            plural = self.random() < 0.3
            det = "number" if plural else "a"
            return self.noun(noun, plural, det, extra - 2, measure=MEASURE_OF[noun])
        return self.noun(noun, False, "bare" if usual else "some", extra)
