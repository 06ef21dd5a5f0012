"""Clauses of the grammar corpus: what is said of somebody, drawn at random, in the order of each language.

Who and what is spoken of is drawn in ``nouns``; clauses make sentences in ``sentences``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from utils.corpus.grammar.lexicon import (
    ADJECTIVES,
    COUNT_NOUNS,
    HE,
    MANNERS,
    NOUNS,
    PLACE_WORDS,
    PLACES,
    PRONOUNS,
    SHE,
    VERBS,
)
from utils.corpus.grammar.nouns import (
    ACTS,
    AFTER,
    BEFORE,
    OBJECTS,
    TAKERS,
    NounSampler,
    tagged,
)
from utils.corpus.grammar.parts import (
    NOBODY,
    NOTHING,
    Clause,
    Mood,
    Parts,
    Referent,
    Run,
    Scene,
    Someone,
    is_animal,
    is_person,
    join,
    length,
    place,
    referent_of,
    suits,
)
from utils.corpus.grammar.phrases import (
    PREPOSITION,
    RECEIVER,
    TENSE,
    Piece,
    comparison,
    fixed,
    one_word,
    predicate,
    verb_group,
)

MOVES = ("go", "go", "arrive", "leave")
GIFTS = ("give", "give", "send", "write")
MODALS = frozenset({"want", "can", "must", "like"})
STATES = ("tired", "happy", "sad", "hungry")
# French says these alike of a woman and a man, as it must where nobody knows who "I" is.
PLAIN_STATES = ("sad", "hungry")

# Which verbs a zone of time allows, by their tenses.
TENSES_IN = {"past": "p", "now": "hg", "habit": "h", "future": "f"}


def _in_zone(verbs: Sequence[str], zone: str) -> tuple[str, ...]:
    return tuple(verb for verb in verbs if set(TENSES_IN[zone]) & set(VERBS[verb].tenses))


ACTS_IN = {zone: _in_zone(ACTS, zone) for zone in TENSES_IN}
TAKERS_IN = {zone: _in_zone(TAKERS, zone) for zone in TENSES_IN}
MOVES_IN = {zone: _in_zone(MOVES, zone) for zone in TENSES_IN}

TOLD_ACTS = tuple(verb for verb in ACTS_IN["past"] if VERBS[verb].le)
FAVOURS = frozenset({"buy", "open", "repair", "clean", "wash"})
SOCIABLE = frozenset(
    {
        "dance",
        "sing",
        "play",
        "work",
        "eat",
        "drink",
        "go",
        "arrive",
        "leave",
        "watch",
        "clean",
        "listen",
        "repair",
    }
)
ERRANDS = {
    "market": ("buy",),
    "library": ("read",),
    "restaurant": ("eat", "drink"),
    "park": ("dance", "sing"),
}
GOALS = tagged({"goal"}, PLACES)
# Where an animal that is nobody's pet may be.
OUTSIDE = ("garden", "park")
NAME_TAGS = frozenset({"name"})


def _sort(noun: str) -> frozenset[str]:
    """The sets within which things are compared: a hat with a coat, not with an egg."""
    return NOUNS[noun].tags & {"person", "animal", "food", "machine", "costly", "read"}


COMPARED = {
    adjective: tuple(
        (first, second)
        for first in COUNT_NOUNS
        for second in COUNT_NOUNS
        if first != second and _sort(first) & _sort(second)
        if adjective in BEFORE[first] + AFTER[first] and adjective in BEFORE[second] + AFTER[second]
    )
    for adjective, entry in ADJECTIVES.items()
    if entry.comparative
}
# What a thing may be said to be; of a new thing French says "neuf", a word that the lexicon lacks.
QUALITIES = {
    name: qualities
    for name in COUNT_NOUNS
    if (qualities := tuple(a for a in BEFORE[name] + AFTER[name] if a != "new"))
}
LIKED = tagged({"food", "drink", "animal", "read", "seen", "sung"}, NOUNS)
LAID_OUT = tuple(
    noun for noun in tagged({"food", "read", "sought"}, NOUNS) if not NOUNS[noun].tags & {"animal", "heard"}
)
HIDDEN = tagged({"pet", "sought"}, COUNT_NOUNS)
SEEN_ABOUT = tagged({"person", "pet"}, COUNT_NOUNS)
SURFACES = tagged({"surface"}, COUNT_NOUNS)
NEAR = ("near", "près de", "附近")
UPON = {"on": ("on", "sur", "上"), "under": ("under", "sous", "下面")}

_AT_HOME = fixed("at 5 home 1 | à 5 la 1 maison 1 | 家 1")
_THERE = {
    False: fixed("there 0 is 0 | il 0 y 0 a 0 | 有 0"),
    True: fixed("there 0 are 0 | il 0 y 0 a 0 | 有 0"),
}
_TOGETHER = fixed("together 0 | ensemble 0 | 一起 0")
_MANNERS = {
    verb: tuple(fixed(f"{en} 0 | {fr} 0 | {zh} 0") for en, fr, zh, verbs in MANNERS if verb in verbs)
    for verb in {verb for *_, verbs in MANNERS for verb in verbs}
}
_COMMA_UNSAID = fixed(", 0 | , 0 |")
_LE = one_word("了", TENSE)
_TO_SOMEONE = one_word("给", PREPOSITION)
_TO_HIM = one_word("给", RECEIVER)
_WITH = one_word("跟", PREPOSITION)
_WITH_TOGETHER = one_word("一起", PREPOSITION)
_AT = one_word("在", PREPOSITION)
_AFTER_PLACE = {word: one_word(word, PREPOSITION) for word in ("里", "附近", "上", "下面")}


class Surroundings(NamedTuple):
    """Where, with whom, for whom and how something is done; any of them may be nothing."""

    place: Parts = NOTHING
    company: Parts = NOTHING
    favour: Parts = NOTHING
    manner: Parts = NOTHING


ALONE = Surroundings()


def _around(before: Piece, run: Run, after: Piece | None = None) -> Run:
    """A Chinese noun phrase with the words that do the work of its preposition."""
    base = run[-1][0]
    return ((base, before), *run, (base, after)) if after else ((base, before), *run)


def _chinese_place(tense: str, negative: bool, base: int, where: Run) -> Run:
    """在 and the place; 正在, or 在 after 没, says at once that something is going on and where."""
    if tense == "g":
        concepts = (base + TENSE, where[0][0] + PREPOSITION) if where else (base + TENSE,)
        return ((0, one_word("在" if negative else "正在", *concepts)), *where)
    return ((where[0][0], _AT), *where) if where else ()


def _places_of(verb: str, subject: Referent) -> tuple[str, ...]:
    """Where the subject may do something: an animal that is nobody's pet does it in the open."""
    places = VERBS[verb].places
    if is_animal(subject) and "pet" not in COUNT_NOUNS[subject.noun].tags:
        return tuple(name for name in places if name in OUTSIDE)
    return places


class ClauseSampler(NounSampler):
    """Draws clauses; each ``say_`` method says a kind in ``room`` English words or few less."""

    def clause(self, room: int, scene: Scene, kinds: tuple["Kind", ...]) -> Clause:
        """A clause of one of the kinds that fit the room and the scene."""
        self.zone = scene.zone
        return self.pick(_fitting(kinds, scene.zone, room)).say(self, room, scene)

    def subject(self, verb: str, scene: Scene, room: int) -> Someone:
        """The subject of the scene where there is one, else somebody who suits the verb."""
        return self.pronoun(scene.subject) if scene.subject.pronoun else self.somebody(verb, room)

    def verb(self, verbs: tuple[str, ...], scene: Scene) -> str:
        """One of the verbs that the scene allows and its subject can do."""
        return self.pick(_allowed(verbs, scene.verbs, scene.subject))

    # Tense and time

    def mood(self, verb: str, scene: Scene, room: int, *, may_deny: bool = True) -> Mood:
        """Tense, polarity, adverb and time of an event.

        Args:
            room: English words to spend beyond the bare verb.
            may_deny: whether a negation fits.
        """
        may_deny = may_deny and not scene.verbs and not scene.also
        if scene.zone == "past":
            return self.past_mood(verb, room, may_deny, scene.timed)
        if scene.zone == "future":
            return self.future_mood(room, may_deny, scene.timed, scene.modal)
        if scene.zone == "habit":
            return self.habit_mood(verb, room, may_deny, scene.timed)
        return self.present_mood(verb, room, may_deny, scene.timed)

    def past_mood(self, verb: str, room: int, may_deny: bool, timed: bool) -> Mood:
        """The past; where Chinese has neither 了 nor 没, only the time tells it, here or before."""
        negative = may_deny and room >= 2 and self.random() < 0.2
        cost = 2 * negative
        untold = not (VERBS[verb].le or negative)
        time = self.time("p", room - cost) if timed and (untold or self.random() < 0.6) else NOTHING
        return Mood("p", negative, "", time, cost + length(time.en))

    def future_mood(self, room: int, may_deny: bool, timed: bool, modal: bool) -> Mood:
        """The future, a wish or a duty."""
        chance = self.random()
        tense = "f"
        if modal and chance < 0.3:
            tense = "want" if chance < 0.2 and room >= 3 else "must"
        cost = 2 if tense == "want" else 1
        negative = may_deny and tense == "f" and room >= 2 and self.random() < 0.2
        cost += negative
        time = self.time("f", room - cost) if timed and (tense != "f" or self.random() < 0.7) else NOTHING
        return Mood(tense, negative, "", time, cost + length(time.en))

    def present_mood(self, verb: str, room: int, may_deny: bool, timed: bool) -> Mood:
        """What is going on now, what one can, must, likes or wants to do, or a habit."""
        tenses = VERBS[verb].tenses
        chance = self.random()
        if "g" in tenses and room >= 2 and (chance < 0.4 or "h" not in tenses):
            negative = may_deny and room >= 3 and self.random() < 0.15
            return Mood("g", negative, "", self.time("g", 1), 2 + negative)
        if "h" in tenses and (room < 1 or chance < 0.8):
            return self.habit_mood(verb, room, may_deny, timed)
        tense = self.pick(("can", "must", "want", "like") if room >= 2 and "h" in tenses else ("can", "must"))
        negative = may_deny and tense == "can" and self.random() < 0.4
        return Mood(tense, negative, cost=2 if tense in ("want", "like") else 1)

    def habit_mood(self, verb: str, room: int, may_deny: bool, timed: bool) -> Mood:
        """A habit: it says how often, or is denied; only the shortest sentences have the bare present."""
        if "h" not in VERBS[verb].tenses:
            return Mood(self.pick(("can", "must")), cost=1)
        if room < 1:
            return Mood("h")
        chance = self.random()
        if chance < 0.25 and room >= 2 and may_deny:
            return Mood("h", True, cost=2)
        if chance < 0.6 and room >= 2 and timed:
            return Mood("h", time=self.time("h", room), cost=2)
        adverb = "never" if chance < 0.7 and may_deny else self.pick(("often", "sometimes", "always"))
        return Mood("h", adverb=adverb, cost=1)

    # What surrounds the verb

    def where(self, verb: str, subject: Someone, room: int) -> Parts:
        """Where something is done, in two English words or more; the Chinese 在 is left to ``arrange``."""
        name = "home" if room < 3 else self.pick(_places_of(verb, subject.referent))
        if name == "home":
            # French and Chinese need not tell a home from a house: one concept.
            self.meaning.append("house")
            return place(self.fresh(), _AT_HOME)
        near = name in GOALS and room > 3 and self.random() < 0.15
        return self.located(name, NEAR if near else PLACE_WORDS[name], room - 3)

    def located(self, noun: str, words: tuple[str, str, str], extra: int, det: str = "the") -> Parts:
        """A noun with a preposition of place; Chinese has a word after it, or none."""
        en, fr, after = words
        parts = self.noun(noun, False, det, min(extra, 1), preposition=(en, fr))
        if not after:
            return parts
        return Parts(parts.en, parts.fr, (*parts.zh, (parts.zh[-1][0], _AFTER_PLACE[after])))

    def surroundings(self, verb: str, subject: Someone, room: int, short: bool) -> Surroundings:
        """As many surroundings as suit the verb and fit the room; ``short`` allows how."""
        options = ["place", "place"] if VERBS[verb].places else []
        if verb in SOCIABLE and is_person(subject.referent):
            options.append("company")
        if verb in FAVOURS:
            options.append("favour")
        if verb in _MANNERS and short:
            options.append("manner")
        found: dict[str, Parts] = {}
        while options and room > 0:
            option = options.pop(int(self.random() * len(options)))
            if option in found:
                continue
            if option == "manner":
                parts = place(self.fresh(), self.pick(_MANNERS[verb]))
            elif option == "company" and subject.agreement > SHE:
                parts = place(self.fresh(), _TOGETHER)
            elif room < 2 or (
                option == "place" and room < 3 and "home" not in _places_of(verb, subject.referent)
            ):
                continue
            elif option == "place":
                parts = self.where(verb, subject, room)
            else:
                parts = self.named(("with", "avec") if option == "company" else ("for", "pour"))[1]
            found[option] = parts
            room -= length(parts.en)
        return Surroundings(**found)

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
    ) -> Clause:
        """The words of a clause in the order of each language, with surroundings in the room that is left.

        Args:
            thing: what follows the verb in every language: an object or a goal.
            referent: how later clauses refer to the thing.
            clitic: the key of an object pronoun, which is the receiver of a verb of giving; or ``""``.
            receiver: who is given something, behind "to" and "à".
            errand: what one goes somewhere to do; in Chinese its verb takes the 了 of the sentence.
        """
        tense, negative, adverb, time, _ = mood
        if scene.also and not adverb:
            adverb = "also"
        giving = verb in GIFTS and bool(clitic or receiver.en)
        group = verb_group(
            verb,
            tense,
            subject.agreement,
            negative=negative,
            adverb=adverb,
            clitic=clitic,
            indirect=giving,
            subjunctive=scene.subjunctive,
            relative=scene.undated or bool(errand.en),
        )
        self.mean(verb)
        if tense in MODALS:
            self.meaning.append(tense)
        base = self.fresh()
        # "Lentement" between "jamais" and "de lait" would be clumsy.
        short = length(thing.en) <= 4 and not mood.denies
        around = self.surroundings(verb, subject, room, short) if room > 0 and not errand.en else ALONE
        front, back = (time, NOTHING) if scene.front else (NOTHING, time)
        if front.en:
            front = join(front, place(self.fresh(), _COMMA_UNSAID))
        # fmt: off
        en = (
            *front.en, *subject.parts.en, (base, group.en), (base, group.en_after), *thing.en, *receiver.en,
            *around.manner.en, *around.favour.en, *around.company.en, *around.place.en, *errand.en, *back.en,
        )
        fr = (
            *front.fr, *subject.parts.fr, (base, group.fr), *around.manner.fr, *thing.fr, *receiver.fr,
            *around.favour.fr, *around.company.fr, *around.place.fr, *errand.fr, *back.fr,
        )
        # fmt: on
        before_verb = _chinese_place(tense, negative, base, around.place.zh)
        if around.company.zh:
            together = subject.agreement > SHE
            before_verb += (
                around.company.zh if together else _around(_WITH, around.company.zh, _WITH_TOGETHER)
            )
        before_verb += around.manner.zh
        if around.favour.zh:
            before_verb += _around(_TO_SOMEONE, around.favour.zh)
        after_verb: Run = thing.zh
        if clitic and giving and verb != "give":
            before_verb += ((base, _TO_HIM), (base, group.zh_after))
        elif clitic:
            after_verb = ((base, group.zh_after), *thing.zh)
        elif receiver.zh and verb == "give":
            after_verb = receiver.zh + thing.zh
        elif receiver.zh:
            before_verb += _around(_TO_SOMEONE, receiver.zh)
        if errand.zh:
            le = ((base, _LE),) if tense == "p" else ()
            after_verb += (errand.zh[0], *le, *errand.zh[1:])
        # fmt: off
        zh = (
            *front.zh, *subject.parts.zh, *back.zh, *subject.both, *scene.then, (base, group.zh_before),
            *before_verb, (base, group.zh), *after_verb,
        )
        # fmt: on
        refers = bool(scene.subject.pronoun) or bool(clitic)
        return Clause(Parts(en, fr, zh), subject.referent, referent, refers)

    # Events

    def say_act(self, room: int, scene: Scene) -> Clause:
        """ "Mary is sleeping in the garden now"."""
        # Only a verb with 了 tells the past where there is no room to say when.
        acts = ACTS_IN[scene.zone] if scene.zone != "past" or room > 3 else TOLD_ACTS
        verb = self.verb(acts, scene)
        subject = self.subject(verb, scene, 1 + self.share(room - 5))
        room -= 1 + length(subject.parts.en)
        mood = self.mood(verb, scene, room, may_deny=not subject.both)
        return self.arrange(verb, subject, mood, scene, room - mood.cost)

    def say_stay(self, room: int, scene: Scene) -> Clause:
        """ "The boy stays at home every day": the place belongs to the verb and follows it in Chinese too."""
        subject = self.subject("stay", scene, 1 + self.share(room - 7))
        room -= 3 + length(subject.parts.en)
        mood = self.mood("stay", scene, room, may_deny=not subject.both)
        en, fr, zh = self.where("stay", subject, room - mood.cost + 2)
        where = Parts(en, fr, ((zh[0][0], _AT), *zh))
        return self.arrange("stay", subject, mood, scene, 0, thing=where)

    def say_take(self, room: int, scene: Scene) -> Clause:
        """ "Paul bought a book for Mary at the market yesterday"."""
        verb = self.verb(TAKERS_IN[scene.zone], scene)
        room -= 3 + bool(VERBS[verb].particle)
        subject = self.subject(verb, scene, 1 + self.share(room - 4))
        room -= length(subject.parts.en)
        mood = self.mood(verb, scene, room, may_deny=not subject.both)
        room -= mood.cost
        owner = PRONOUNS[subject.referent.pronoun].possessive
        thing, referent = self.object_of(verb, mood.tense, mood.denies, owner, self.share(room))
        room += 2 - length(thing.en)
        return self.arrange(verb, subject, mood, scene, room, thing=thing, referent=referent)

    def takers_of(self, referent: Referent, zone: str) -> tuple[str, ...]:
        """The verbs of a zone that can have the referent as their object."""
        if not referent.pronoun:
            return ()
        tags = NOUNS[referent.noun].tags if referent.noun else NAME_TAGS
        return tuple(verb for verb in TAKERS_IN[zone] if VERBS[verb].objects & tags)

    def say_take_it(self, room: int, scene: Scene) -> Clause:
        """ "Mary helped him yesterday": the object is a pronoun."""
        verb = self.verb(self.takers_of(scene.object, scene.zone), scene)
        room -= 2 + bool(VERBS[verb].particle)
        subject = self.subject(verb, scene, 1 + self.share(room - 4))
        room -= length(subject.parts.en)
        mood = self.mood(verb, scene, room, may_deny=not subject.both)
        room -= mood.cost
        return self.arrange(
            verb, subject, mood, scene, room, clitic=scene.object.pronoun, referent=scene.object
        )

    def say_take_us(self, room: int, scene: Scene) -> Clause:
        """ "Mary helps me every day", but not in the past: French would show whether "me" is a woman."""
        verb = "help"
        subject = (
            self.name_or_pair(1) if room < 6 else self.noun_subject(self.pick(("friend", "teacher")), 2, True)
        )
        room -= 2 + length(subject.parts.en)
        mood = self.mood(verb, scene, room)
        clitic = self.pick(("I", "we"))
        return self.arrange(verb, subject, mood, scene, room - mood.cost, clitic=clitic)

    def say_give(self, room: int, scene: Scene) -> Clause:
        """ "The teacher gave a book to Mary", "the teacher gave her a book"."""
        verb = self.verb(GIFTS, scene)
        clitic = scene.object.pronoun
        room -= 4 if clitic else 5
        subject = self.subject(verb, scene, 1 + self.share(room - 4))
        room -= length(subject.parts.en)
        mood = self.mood(verb, scene, room, may_deny=False)
        room -= mood.cost
        noun = "letter" if verb == "write" else self.pick(scene.things or OBJECTS[verb])
        det, plural = ("number", True) if self.random() < 0.25 else ("a", False)
        thing = self.noun(noun, plural, det, self.share(room))
        room += 2 - length(thing.en)
        receiver = NOTHING if clitic else self.named(("to", "à"))[1]
        return self.arrange(verb, subject, mood, scene, room, thing=thing, receiver=receiver, clitic=clitic)

    def say_go(self, room: int, scene: Scene) -> Clause:
        """ "Anna will go to the market tomorrow to buy bread"."""
        verb = self.verb(MOVES_IN[scene.zone], scene)
        direct = verb == "leave"
        room -= 3 if direct else 4
        subject = self.subject(verb, scene, 1 + self.share(room - 4))
        room -= length(subject.parts.en)
        mood = self.mood(verb, scene, room, may_deny=not subject.both)
        room -= mood.cost
        goal = self.pick(GOALS)
        errand = NOTHING
        if verb == "go" and goal in ERRANDS and not mood.negative and room >= 4 and self.random() < 0.6:
            errand = self.errand(goal, room)
            room -= length(errand.en)
        preposition = ("", "") if direct else ("at" if verb == "arrive" else "to", "à")
        where = self.noun(goal, False, "the", min(room, 1), preposition=preposition)
        room += 3 - direct - length(where.en)
        return self.arrange(verb, subject, mood, scene, room, thing=where, errand=errand)

    def errand(self, goal: str, room: int) -> Parts:
        """ "To buy some bread", "pour acheter du pain", 买 一些 面包."""
        verb = self.pick(ERRANDS[goal])
        self.mean(verb)
        base = self.fresh()
        en, fr, _, zh, _, _ = verb_group(verb, "to")
        thing = NOTHING
        if VERBS[verb].objects:
            noun = self.pick([noun for noun in OBJECTS[verb] if verb != "buy" or "daily" in NOUNS[noun].tags])
            det = "some" if "mass" in NOUNS[noun].tags else "a"
            thing = self.noun(noun, False, det, room - 4)
        return Parts(((base, en), *thing.en), ((base, fr), *thing.fr), ((base, zh), *thing.zh))

    # States and facts

    def say_state(self, room: int, scene: Scene) -> Clause:
        """ "The girl is very tired today"."""
        if scene.subject.pronoun:
            subject = self.pronoun(scene.subject)
        else:
            subject = self.somebody("help", 1 + self.share(room - 3))
            if subject.referent.pronoun == "I" and scene.state and scene.state not in PLAIN_STATES:
                subject = self.name_or_pair(1)
        state = scene.state or self.pick(PLAIN_STATES if subject.referent.pronoun == "I" else STATES)
        return self.describe(state, subject, room - 2 - length(subject.parts.en), scene)

    def say_quality(self, room: int, scene: Scene) -> Clause:
        """ "The book that Paul bought is interesting"."""
        noun = self.pick(tuple(QUALITIES))
        plural = self.random() < 0.3
        det = "the" if self.random() < 0.6 else "this"
        parts = self.noun(noun, plural, det, room - 4, relative=True, described=False)
        subject = Someone(parts, HE + (NOUNS[noun].gender == "f") + 2 * plural, referent_of(noun, plural))
        return self.describe(self.pick(QUALITIES[noun]), subject, room - 2 - length(parts.en), scene)

    def describe(self, adjective: str, subject: Someone, room: int, scene: Scene) -> Clause:
        """A subject, a form of "be" and an adjective, with what fits into ``room`` more words."""
        self.meaning.append(adjective)
        passing = adjective in STATES
        colour = ADJECTIVES[adjective].predicate.startswith("是")
        time, adverb = NOTHING, ""
        if passing and scene.timed and scene.zone == "past":
            time = self.time("p", room)
        elif passing and scene.timed and scene.zone == "now" and self.random() < 0.6:
            time = self.time("s", room)
        room -= length(time.en)
        chance = self.random() if room > 0 and not subject.both else 1.0
        negative = chance < 0.15 and not scene.state
        very = not negative and chance < 0.45 and not colour
        if passing and not (time.en or negative or scene.state) and scene.zone == "now" and room > very:
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
        parts = Parts(
            (*subject.parts.en, (base, phrase.en), *time.en),
            (*subject.parts.fr, (base, phrase.fr), *time.fr),
            (*subject.parts.zh, *time.zh, *subject.both, *scene.then, (base, phrase.zh)),
        )
        return Clause(parts, subject.referent, refers=bool(scene.subject.pronoun), state=adjective)

    def say_like(self, room: int, scene: Scene) -> Clause:
        """ "Paul likes red flowers": things of a kind, which French calls by "les"."""
        room -= 2
        subject = self.subject("like", scene, 1 + self.share(room - 1))
        room -= length(subject.parts.en)
        negative = room >= 2 and not subject.both and not scene.also and self.random() < 0.3
        group = verb_group(
            "like", "h", subject.agreement, negative=negative, adverb="also" if scene.also else ""
        )
        self.mean("like")
        base = self.fresh()
        noun = self.pick(LIKED)
        thing = self.noun(noun, "mass" not in NOUNS[noun].tags, "generic", room - 2 * negative)
        parts = Parts(
            (*subject.parts.en, (base, group.en), *thing.en),
            (*subject.parts.fr, (base, group.fr), *thing.fr),
            (*subject.parts.zh, *subject.both, (base, group.zh_before), (base, group.zh), *thing.zh),
        )
        return Clause(parts, subject.referent, refers=bool(scene.subject.pronoun))

    def say_compare(self, room: int, scene: Scene) -> Clause:
        """ "The car is more expensive than the bicycle", "la voiture est plus chère que le vélo"."""
        adjective = self.pick(tuple(COMPARED))
        first, second = self.pick(COMPARED[adjective])
        self.meaning.append(adjective)
        room -= 7 + (ADJECTIVES[adjective].comparative == "more")
        det = "this" if self.random() < 0.3 else "the"
        one = self.noun(first, False, det, self.share(room), relative=True, described=False)
        room += 2 - length(one.en)
        other = self.noun(second, False, "the", room, relative=True, described=False)
        en, fr, than, compared = comparison(adjective, HE + (NOUNS[first].gender == "f"))
        base = self.fresh()
        parts = Parts(
            (*one.en, (base, en), *other.en),
            (*one.fr, (base, fr), *other.fr),
            (*one.zh, (base, than), *other.zh, (base, compared)),
        )
        return Clause(parts, referent_of(first, False))

    def say_there(self, room: int, scene: Scene) -> Clause:
        """ "There are two cats under the table", "il y a deux chats sous la table", 桌子 下面 有 两 只 猫."""
        chance = self.random()
        room -= 7
        if chance < 0.5:
            relation = self.pick(("on", "under"))
            noun = self.pick(LAID_OUT if relation == "on" else HIDDEN)
            surface = "table" if relation == "on" else self.pick(SURFACES)
            where = self.located(surface, UPON[relation], room, "near")
        else:
            noun = self.pick(SEEN_ABOUT)
            goal = self.pick(GOALS)
            where = self.located(goal, NEAR if chance < 0.65 else PLACE_WORDS[goal], room)
        room += 3 - length(where.en)
        mass = "mass" in NOUNS[noun].tags
        det = "some" if mass else self.pick(("a", "a", "number", "some", "many"))
        plural = det != "a" and not mass
        thing = self.noun(noun, plural, det, room)
        base = self.fresh()
        there = _THERE[plural]
        parts = Parts(
            ((base, there.en), *thing.en, *where.en),
            ((base, there.fr), *thing.fr, *where.fr),
            (*where.zh, (base, there.zh), *thing.zh),
        )
        return Clause(parts, NOBODY)


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of clause: the method that says it, and the fewest English words for each of its zones."""

    say: Callable[[ClauseSampler, int, Scene], Clause]
    least: Mapping[str, int]


@cache
def _fitting(kinds: tuple[Kind, ...], zone: str, room: int) -> tuple[Kind, ...]:
    """The kinds that a zone has and that fit into ``room`` words."""
    return tuple(kind for kind in kinds if zone in kind.least and kind.least[zone] <= room)


@cache
def _allowed(verbs: tuple[str, ...], wanted: tuple[str, ...], subject: Referent) -> tuple[str, ...]:
    """The verbs that are wanted, or any if none is, and that the subject can do."""
    return tuple(verb for verb in verbs if (not wanted or verb in wanted) and suits(subject, verb))


def _kind(say: Callable[[ClauseSampler, int, Scene], Clause], **least: int) -> Kind:
    return Kind(say, least)


ACT = _kind(ClauseSampler.say_act, now=2, past=2, future=3, habit=3)
STAY = _kind(ClauseSampler.say_stay, now=5, past=5, future=5, habit=5)
TAKE = _kind(ClauseSampler.say_take, now=6, past=5, future=6, habit=6)
TAKE_IT = _kind(ClauseSampler.say_take_it, now=5, past=4, future=5, habit=5)
TAKE_US = _kind(ClauseSampler.say_take_us, now=4, future=4)
GIVE = _kind(ClauseSampler.say_give, past=6, future=7)
GIVE_HIM = _kind(ClauseSampler.say_give, past=5, future=6)
GO = _kind(ClauseSampler.say_go, now=6, past=5, future=6, habit=6)
STATE = _kind(ClauseSampler.say_state, now=3, past=4, habit=3)
QUALITY = _kind(ClauseSampler.say_quality, now=4)
LIKE = _kind(ClauseSampler.say_like, now=3, habit=3)
COMPARE = _kind(ClauseSampler.say_compare, now=8)
THERE = _kind(ClauseSampler.say_there, now=7)
