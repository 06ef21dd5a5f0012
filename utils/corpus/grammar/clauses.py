"""Clauses of the grammar corpus: events, states and facts, drawn at random, in the word order of each language.

Subjects and objects are drawn in ``nouns``; ``sentences`` puts clauses together.
"""

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import NamedTuple

from utils.corpus.grammar.lexicon import (
    ADJECTIVES,
    COUNT_NOUNS,
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
    Conditions,
    Mood,
    Parts,
    Pieces,
    Referent,
    Subject,
    agreement_of,
    is_animal,
    is_person,
    join,
    length,
    place,
    referent_of,
    suits,
)
from utils.corpus.grammar.phrases import (
    FIXED,
    MODALS,
    PREPOSITION,
    RECEIVER,
    TENSE,
    Group,
    Phrase,
    Piece,
    comparison,
    one_word,
    predicate,
    verb_group,
)

GIFTS = ("give", "give", "send", "write")
STATES = ("tired", "happy", "sad", "hungry")
# French has the same form of these for a woman and a man, as the subject "I" may be either.
PLAIN_STATES = ("sad", "hungry")

# The tenses of each zone of time.
ZONES = {"past": {"past"}, "now": {"present", "progressive"}, "habit": {"present"}, "future": {"future"}}


def _by_zone(verbs: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """For each zone, the verbs that are used in one of its tenses."""
    return {
        zone: tuple(verb for verb in verbs if not tenses.isdisjoint(VERBS[verb].tenses))
        for zone, tenses in ZONES.items()
    }


ACTS_IN, TAKERS_IN, GOING_IN = _by_zone(ACTS), _by_zone(TAKERS), _by_zone(("go", "go", "arrive", "leave"))

# Acts whose Chinese verb shows the past by 了.
MARKED_ACTS = tuple(verb for verb in ACTS_IN["past"] if VERBS[verb].le)
ERRANDS = {
    "market": ("buy",),
    "library": ("read",),
    "restaurant": ("eat", "drink"),
    "park": ("dance", "sing"),
}
GOALS = tagged({"goal"}, PLACES)
# The places of animals that are not pets.
OUTSIDE = ("garden", "park")
# Things are compared only within one of these sets: a hat with a coat, not with an egg.
COMPARABLE = {"person", "animal", "food", "machine", "costly", "read"}
COMPARED = {
    adjective: tuple(
        (first, second)
        for first, second in permutations(COUNT_NOUNS, 2)
        if NOUNS[first].tags & NOUNS[second].tags & COMPARABLE
        if entry.nouns & NOUNS[first].tags and entry.nouns & NOUNS[second].tags
    )
    for adjective, entry in ADJECTIVES.items()
    if entry.comparative
}
# The adjectives for a clause about a thing; not "new": French would need "neuf", which the lexicon does not have.
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

_MANNERS = {
    verb: tuple(FIXED[manner] for manner in MANNERS if manner in entry.uses) for verb, entry in VERBS.items()
}
_LE = one_word("了", TENSE)
_TO_SOMEONE = one_word("给", PREPOSITION)
_TO_HIM = one_word("给", RECEIVER)
_WITH = one_word("跟", PREPOSITION)
_WITH_TOGETHER = one_word("一起", PREPOSITION)
_AT = one_word("在", PREPOSITION)
_AFTER_PLACE = {
    word: one_word(word, PREPOSITION) for *_, word in (*PLACE_WORDS.values(), NEAR, *UPON.values()) if word
}


class Surroundings(NamedTuple):
    """Where, with whom, for whom and how something is done; each may be nothing."""

    place: Parts = NOTHING
    company: Parts = NOTHING
    favour: Parts = NOTHING
    manner: Parts = NOTHING


class Complements(NamedTuple):
    """The complements of the verb of a clause; each may be nothing.

    Args:
        thing: what follows the verb in every language: an object or a goal.
        referent: how later clauses refer to the thing.
        clitic: the key of an object pronoun, which is the receiver of a verb of giving; or ``""``.
        receiver: who is given something, after "to" and "à".
        errand: the purpose of going somewhere; in Chinese its verb takes the 了 of the sentence.
    """

    thing: Parts = NOTHING
    referent: Referent = NOBODY
    clitic: str = ""
    receiver: Parts = NOTHING
    errand: Parts = NOTHING


ALONE, NO_COMPLEMENTS = Surroundings(), Complements()


def _around(before: Piece, run: Pieces, after: Piece | None = None) -> Pieces:
    """A Chinese noun phrase with the words before and after it that translate an English preposition."""
    base = run[-1][0]
    return ((base, before), *run, (base, after)) if after else ((base, before), *run)


def _chinese_before_verb(base: int, mood: Mood, around: Surroundings, together: bool) -> Pieces:
    """Place, company, manner and favour; ``together``: whether the company is only the word 一起."""
    run: Pieces = around.place.zh
    if mood.tense == "progressive":
        # One word, 正在 or (after 没) 在, expresses both that something is going on and where.
        concepts = (base + TENSE, run[0][0] + PREPOSITION) if run else (base + TENSE,)
        run = ((0, one_word("在" if mood.negative else "正在", *concepts)), *run)
    elif run:
        run = ((run[0][0], _AT), *run)
    if around.company.zh:
        run += around.company.zh if together else _around(_WITH, around.company.zh, _WITH_TOGETHER)
    run += around.manner.zh
    return run + _around(_TO_SOMEONE, around.favour.zh) if around.favour.zh else run


def _chinese_objects(
    verb: str, base: int, group: Group, complements: Complements, tense: str
) -> tuple[Pieces, Pieces]:
    """The words right before the verb and those after it: receiver, object, goal and errand."""
    thing, _, clitic, receiver, errand = complements
    pronoun: Pieces = ((base, group.zh_after),) if clitic else ()
    if clitic and verb in GIFTS and verb != "give":
        return ((base, _TO_HIM), *pronoun), thing.zh
    if receiver.zh and verb != "give":
        return _around(_TO_SOMEONE, receiver.zh), thing.zh
    after = (*pronoun, *receiver.zh, *thing.zh)
    if errand.zh:
        le = ((base, _LE),) if tense == "past" else ()
        after += (errand.zh[0], *le, *errand.zh[1:])
    return (), after


def _places_of(verb: str, subject: Referent) -> tuple[str, ...]:
    """Where the subject may do something; an animal that is not a pet does it outside."""
    places = VERBS[verb].places
    if is_animal(subject) and "pet" not in COUNT_NOUNS[subject.noun].tags:
        return tuple(name for name in places if name in OUTSIDE)
    return places


class ClauseSampler(NounSampler):
    """Draws clauses; each ``say_`` method makes a clause of one kind with ``room`` English words or slightly fewer."""

    def clause(self, room: int, scene: Conditions, kinds: tuple["Kind", ...]) -> Clause:
        """A clause of one of the kinds that fit the room and the scene."""
        self.zone = scene.zone
        fitting = [kind for kind in kinds if kind.least.get(scene.zone, room + 1) <= room]
        return self.pick(fitting).say(self, room, scene)

    def subject(self, verb: str, scene: Conditions, room: int) -> Subject:
        """The subject of the scene if it has one, else somebody who suits the verb."""
        return self.pronoun(scene.subject) if scene.subject.pronoun else self.somebody(verb, room)

    def verb(self, verbs: tuple[str, ...], scene: Conditions) -> str:
        """One of the verbs that the scene allows and its subject can do."""
        allowed = [verb for verb in verbs if verb in scene.verbs] if scene.verbs else verbs
        if scene.subject.pronoun:
            allowed = [verb for verb in allowed if suits(scene.subject, verb)]
        return self.pick(allowed)

    # Tense and time

    def mood(self, verb: str, scene: Conditions, room: int, *, may_negate: bool = True) -> Mood:
        """Tense, negation, adverb and time of an event.

        Args:
            room: number of English words that may be added to the bare verb.
            may_negate: whether a negation is allowed.
        """
        may_negate = may_negate and not scene.verbs and not scene.also
        if scene.zone == "past":
            return self.past_mood(verb, room, may_negate, scene.timed)
        if scene.zone == "future":
            return self.future_mood(room, may_negate, scene.timed, scene.modal)
        if scene.zone == "habit":
            return self.habit_mood(verb, room, may_negate, scene.timed)
        return self.present_mood(verb, room, may_negate, scene.timed)

    def past_mood(self, verb: str, room: int, may_negate: bool, timed: bool) -> Mood:
        """The past; if Chinese has neither 了 nor 没, an expression of time must show it, here or earlier."""
        negative = may_negate and room >= 2 and self.random() < 0.2
        cost = 2 * negative
        unmarked = not (VERBS[verb].le or negative)
        time = self.time("past", room - cost) if timed and (unmarked or self.random() < 0.6) else NOTHING
        return Mood("past", negative, "", time, cost + length(time.en))

    def future_mood(self, room: int, may_negate: bool, timed: bool, modal: bool) -> Mood:
        """The future, a wish or a duty."""
        chance = self.random()
        tense = "future"
        if modal and chance < 0.3:
            tense = "want" if chance < 0.2 and room >= 3 else "must"
        cost = 2 if tense == "want" else 1
        modal = tense != "future"
        negative = may_negate and not modal and room >= 2 and self.random() < 0.2
        cost += negative
        time = self.time("future", room - cost) if timed and (modal or self.random() < 0.7) else NOTHING
        return Mood(tense, negative, "", time, cost + length(time.en))

    def present_mood(self, verb: str, room: int, may_negate: bool, timed: bool) -> Mood:
        """What is going on now, what one can, must, likes or wants to do, or a habit."""
        tenses = VERBS[verb].tenses
        chance = self.random()
        if "progressive" in tenses and room >= 2 and (chance < 0.4 or "present" not in tenses):
            negative = may_negate and room >= 3 and self.random() < 0.15
            return Mood("progressive", negative, "", self.time("progressive", 1), 2 + negative)
        if "present" in tenses and (room < 1 or chance < 0.8):
            return self.habit_mood(verb, room, may_negate, timed)
        modals = ("can", "must", "want", "like") if room >= 2 and "present" in tenses else ("can", "must")
        tense = self.pick(modals)
        negative = may_negate and tense == "can" and self.random() < 0.4
        return Mood(tense, negative, cost=2 if tense in ("want", "like") else 1)

    def habit_mood(self, verb: str, room: int, may_negate: bool, timed: bool) -> Mood:
        """A habit, with its frequency or negated; only the shortest sentences have the bare present."""
        if "present" not in VERBS[verb].tenses:
            return Mood(self.pick(("can", "must")), cost=1)
        if room < 1:
            return Mood("present")
        chance = self.random()
        if chance < 0.25 and room >= 2 and may_negate:
            return Mood("present", True, cost=2)
        if chance < 0.6 and room >= 2 and timed:
            return Mood("present", time=self.time("present", room), cost=2)
        adverb = "never" if chance < 0.7 and may_negate else self.pick(("often", "sometimes", "always"))
        return Mood("present", adverb=adverb, cost=1)

    def subject_and_mood(
        self, verb: str, scene: Conditions, room: int, *, may_negate: bool = True
    ) -> tuple[Subject, Mood, int]:
        """A subject, the mood of its verb, and how many of the ``room`` words they leave."""
        subject = self.subject(verb, scene, 1 + self.share(room - 4))
        room -= length(subject.parts.en)
        # "All the girls do not sleep" may mean two things.
        mood = self.mood(verb, scene, room, may_negate=may_negate and not subject.dou)
        return subject, mood, room - mood.cost

    # What surrounds the verb

    def where(self, verb: str, subject: Subject, room: int) -> Parts:
        """The place of an action, in two English words or more, without the Chinese 在."""
        name = "home" if room < 3 else self.pick(_places_of(verb, subject.referent))
        if name == "home":
            # "Home" and "house" are one concept: French and Chinese need not distinguish them.
            self.meaning.append("house")
            return self.fixed("at home")
        near = name in GOALS and room > 3 and self.random() < 0.15
        return self.located(name, NEAR if near else PLACE_WORDS[name], room - 3)

    def located(self, noun: str, words: tuple[str, str, str], extra: int, det: str = "the") -> Parts:
        """A noun with a preposition of place; Chinese has a word after it, or none."""
        en, fr, after = words
        parts = self.noun(noun, False, det, min(extra, 1), preposition=(en, fr))
        if not after:
            return parts
        return Parts(parts.en, parts.fr, (*parts.zh, (parts.zh[-1][0], _AFTER_PLACE[after])))

    def surroundings(self, verb: str, subject: Subject, room: int, short: bool) -> Surroundings:
        """As many surroundings as suit the verb and fit the room; ``short`` allows a manner."""
        uses, places = VERBS[verb].uses, _places_of(verb, subject.referent)
        options = ["place", "place"] if VERBS[verb].places else []
        if "company" in uses and is_person(subject.referent):
            options.append("company")
        if "favour" in uses:
            options.append("favour")
        if _MANNERS[verb] and short:
            options.append("manner")
        around: dict[str, Parts] = {}
        while options and room > 0:
            option = options.pop(int(self.random() * len(options)))
            if option in around:
                continue
            if option == "manner":
                parts = place(self.fresh(), self.pick(_MANNERS[verb]))
            elif option == "company" and subject.agreement > SHE:
                parts = self.fixed("together")
            elif room < 2 or (option == "place" and room < 3 and "home" not in places):
                continue
            elif option == "place":
                parts = self.where(verb, subject, room)
            else:
                parts = self.named(("with", "avec") if option == "company" else ("for", "pour"))[1]
            around[option] = parts
            room -= length(parts.en)
        return Surroundings(**around)

    def arrange(
        self,
        verb: str,
        subject: Subject,
        mood: Mood,
        scene: Conditions,
        room: int,
        complements: Complements = NO_COMPLEMENTS,
    ) -> Clause:
        """The words of a clause in the order of each language, with surroundings in the room that is left."""
        thing, referent, clitic, receiver, errand = complements
        group = verb_group(
            verb,
            mood.tense,
            subject.agreement,
            negative=mood.negative,
            adverb="also" if scene.also and not mood.adverb else mood.adverb,
            clitic=clitic,
            indirect=verb in GIFTS and bool(clitic),
            subjunctive=scene.subjunctive,
            relative=scene.relative or bool(errand.en),
        )
        self.mean(verb)
        if mood.tense in MODALS:
            self.meaning.append(mood.tense)
        # "Lentement" between "jamais" and "de lait" would sound wrong.
        short = length(thing.en) <= 4 and not mood.negated
        around = self.surroundings(verb, subject, room, short) if room > 0 and not errand.en else ALONE
        front, back = (mood.time, NOTHING) if scene.front else (NOTHING, mood.time)
        if front.en:
            front = join(front, self.fixed("comma (not in Chinese)"))
        base = self.fresh()
        before_verb = _chinese_before_verb(base, mood, around, together=subject.agreement > SHE)
        receiver_before, after_verb = _chinese_objects(verb, base, group, complements, mood.tense)
        # fmt: off
        en = (
            *front.en, *subject.parts.en, (base, group.en), (base, group.en_after), *thing.en, *receiver.en,
            *around.manner.en, *around.favour.en, *around.company.en, *around.place.en, *errand.en, *back.en,
        )
        fr = (
            *front.fr, *subject.parts.fr, (base, group.fr), *around.manner.fr, *thing.fr, *receiver.fr,
            *around.favour.fr, *around.company.fr, *around.place.fr, *errand.fr, *back.fr,
        )
        zh = (
            *front.zh, *subject.parts.zh, *back.zh, *subject.dou, *scene.then, (base, group.zh_before),
            *before_verb, *receiver_before, (base, group.zh), *after_verb,
        )
        # fmt: on
        refers = bool(scene.subject.pronoun) or bool(clitic)
        return Clause(Parts(en, fr, zh), subject.referent, referent, refers)

    # Events

    def say_act(self, room: int, scene: Conditions) -> Clause:
        """ "Mary is sleeping in the garden now"."""
        # Without room for an expression of time, only 了 shows the past.
        acts = ACTS_IN[scene.zone] if scene.zone != "past" or room > 3 else MARKED_ACTS
        verb = self.verb(acts, scene)
        subject, mood, room = self.subject_and_mood(verb, scene, room - 1)
        return self.arrange(verb, subject, mood, scene, room)

    def say_stay(self, room: int, scene: Conditions) -> Clause:
        """ "The boy stays at home every day": the place belongs to the verb and follows it in Chinese too."""
        subject, mood, room = self.subject_and_mood("stay", scene, room - 3)
        en, fr, zh = self.where("stay", subject, room + 2)
        where = Parts(en, fr, ((zh[0][0], _AT), *zh))
        return self.arrange("stay", subject, mood, scene, 0, Complements(where))

    def say_take(self, room: int, scene: Conditions) -> Clause:
        """ "Paul bought a book for Mary at the market yesterday"."""
        verb = self.verb(TAKERS_IN[scene.zone], scene)
        subject, mood, room = self.subject_and_mood(verb, scene, room - 3 - bool(VERBS[verb].particle))
        owner = PRONOUNS[subject.referent.pronoun].possessive
        thing, referent = self.object_of(verb, mood.tense, mood.negated, owner, self.share(room))
        room += 2 - length(thing.en)
        return self.arrange(verb, subject, mood, scene, room, Complements(thing, referent))

    def takers_of(self, referent: Referent, zone: str) -> tuple[str, ...]:
        """The verbs of a zone that can have the referent as their object."""
        if not referent.pronoun:
            return ()
        tags = NOUNS[referent.noun].tags if referent.noun else {"name"}
        return tuple(verb for verb in TAKERS_IN[zone] if VERBS[verb].objects & tags)

    def say_take_it(self, room: int, scene: Conditions) -> Clause:
        """ "Mary helped him yesterday": the object is a pronoun."""
        verb = self.verb(self.takers_of(scene.object, scene.zone), scene)
        subject, mood, room = self.subject_and_mood(verb, scene, room - 2 - bool(VERBS[verb].particle))
        complements = Complements(referent=scene.object, clitic=scene.object.pronoun)
        return self.arrange(verb, subject, mood, scene, room, complements)

    def say_take_us(self, room: int, scene: Conditions) -> Clause:
        """ "Mary helps me every day", but not in the past: there French shows whether "me" is a woman."""
        if room < 6:
            subject = self.name_or_pair(1)
        else:
            subject = self.noun_subject(self.pick(("friend", "teacher")), 2, True)
        room -= 2 + length(subject.parts.en)
        mood = self.mood("help", scene, room)
        complements = Complements(clitic=self.pick(("I", "we")))
        return self.arrange("help", subject, mood, scene, room - mood.cost, complements)

    def say_give(self, room: int, scene: Conditions) -> Clause:
        """ "The teacher gave a book to Mary", "the teacher gave her a book"."""
        verb = self.verb(GIFTS, scene)
        clitic = scene.object.pronoun
        room -= 4 if clitic else 5
        subject, mood, room = self.subject_and_mood(verb, scene, room, may_negate=False)
        noun = "letter" if verb == "write" else self.pick(scene.things or OBJECTS[verb])
        det, plural = ("number", True) if self.random() < 0.25 else ("a", False)
        thing = self.noun(noun, plural, det, self.share(room))
        room += 2 - length(thing.en)
        receiver = NOTHING if clitic else self.named(("to", "à"))[1]
        complements = Complements(thing, clitic=clitic, receiver=receiver)
        return self.arrange(verb, subject, mood, scene, room, complements)

    def say_go(self, room: int, scene: Conditions) -> Clause:
        """ "Anna will go to the market tomorrow to buy bread"."""
        verb = self.verb(GOING_IN[scene.zone], scene)
        direct = verb == "leave"
        subject, mood, room = self.subject_and_mood(verb, scene, room - 4 + direct)
        goal = self.pick(GOALS)
        errand = NOTHING
        if verb == "go" and goal in ERRANDS and not mood.negative and room >= 4 and self.random() < 0.6:
            errand = self.errand(goal, room)
            room -= length(errand.en)
        preposition = ("", "") if direct else ("at" if verb == "arrive" else "to", "à")
        where = self.noun(goal, False, "the", min(room, 1), preposition=preposition)
        room += 3 - direct - length(where.en)
        return self.arrange(verb, subject, mood, scene, room, Complements(where, errand=errand))

    def errand(self, goal: str, room: int) -> Parts:
        """ "To buy some bread", "pour acheter du pain", 买 一些 面包."""
        verb = self.pick(ERRANDS[goal])
        self.mean(verb)
        group = verb_group(verb, "purpose")
        thing = NOTHING
        if VERBS[verb].objects:
            noun = self.pick([noun for noun in OBJECTS[verb] if verb != "buy" or "daily" in NOUNS[noun].tags])
            det = "some" if "mass" in NOUNS[noun].tags else "a"
            thing = self.noun(noun, False, det, room - 4)
        return join(place(self.fresh(), Phrase(group.en, group.fr, group.zh)), thing)

    # States and facts

    def say_state(self, room: int, scene: Conditions) -> Clause:
        """ "The girl is very tired today"."""
        if scene.subject.pronoun:
            subject = self.pronoun(scene.subject)
        else:
            subject = self.somebody("help", 1 + self.share(room - 3))
            if subject.referent.pronoun == "I" and scene.state and scene.state not in PLAIN_STATES:
                subject = self.name_or_pair(1)
        state = scene.state or self.pick(PLAIN_STATES if subject.referent.pronoun == "I" else STATES)
        return self.describe(state, subject, room - 2 - length(subject.parts.en), scene)

    def say_quality(self, room: int, scene: Conditions) -> Clause:
        """ "The book that Paul bought is interesting"."""
        noun = self.pick(tuple(QUALITIES))
        plural = self.random() < 0.3
        det = "the" if self.random() < 0.6 else "this"
        parts = self.noun(noun, plural, det, room - 4, relative=True, described=False)
        subject = Subject(parts, agreement_of(noun, plural), referent_of(noun, plural))
        return self.describe(self.pick(QUALITIES[noun]), subject, room - 2 - length(parts.en), scene)

    def describe(self, adjective: str, subject: Subject, room: int, scene: Conditions) -> Clause:
        """A subject, a form of "be" and an adjective, with what fits into ``room`` more words."""
        self.meaning.append(adjective)
        passing = adjective in STATES
        time, adverb = NOTHING, ""
        if passing and scene.timed and scene.zone == "past":
            time = self.time("past", room)
        elif passing and scene.timed and scene.zone == "now" and self.random() < 0.6:
            time = self.time("state", room)
        room -= length(time.en)
        chance = self.random() if room > 0 and not subject.dou else 1.0
        negative = chance < 0.15 and not scene.state
        very = not negative and chance < 0.45 and not ADJECTIVES[adjective].colour
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
        state = place(self.fresh(), phrase)
        en, fr, _ = join(subject.parts, state, time)
        zh = (*subject.parts.zh, *time.zh, *subject.dou, *scene.then, *state.zh)
        parts = Parts(en, fr, zh)
        return Clause(parts, subject.referent, refers=bool(scene.subject.pronoun), state=adjective)

    def say_like(self, room: int, scene: Conditions) -> Clause:
        """ "Paul likes red flowers": things of a kind, which have "les" in French."""
        room -= 2
        subject = self.subject("like", scene, 1 + self.share(room - 1))
        room -= length(subject.parts.en)
        negative = room >= 2 and not subject.dou and not scene.also and self.random() < 0.3
        noun = self.pick(LIKED)
        thing = self.noun(noun, "mass" not in NOUNS[noun].tags, "generic", room - 2 * negative)
        return self.arrange("like", subject, Mood("present", negative), scene, 0, Complements(thing))

    def say_compare(self, room: int, scene: Conditions) -> Clause:
        """ "The car is more expensive than the bicycle", "la voiture est plus chère que le vélo"."""
        adjective = self.pick(tuple(COMPARED))
        first, second = self.pick(COMPARED[adjective])
        self.meaning.append(adjective)
        room -= 7 + (ADJECTIVES[adjective].comparative == "more")
        det = "this" if self.random() < 0.3 else "the"
        first_parts = self.noun(first, False, det, self.share(room), relative=True, described=False)
        room += 2 - length(first_parts.en)
        second_parts = self.noun(second, False, "the", room, relative=True, described=False)
        en, fr, than, adjective_zh = comparison(adjective, agreement_of(first, False))
        base = self.fresh()
        parts = Parts(
            (*first_parts.en, (base, en), *second_parts.en),
            (*first_parts.fr, (base, fr), *second_parts.fr),
            (*first_parts.zh, (base, than), *second_parts.zh, (base, adjective_zh)),
        )
        return Clause(parts, referent_of(first, False))

    def say_there(self, room: int, scene: Conditions) -> Clause:
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
        there = self.fixed("there are" if plural else "there is")
        en, fr, _ = join(there, thing, where)
        return Clause(Parts(en, fr, (*where.zh, *there.zh, *thing.zh)), NOBODY)


class Kind(NamedTuple):
    """A kind of clause: the method that makes it, and the smallest number of English words for each zone."""

    say: Callable[[ClauseSampler, int, Conditions], Clause]
    least: dict[str, int]


ACT = Kind(ClauseSampler.say_act, {"now": 2, "past": 2, "future": 3, "habit": 3})
STAY = Kind(ClauseSampler.say_stay, {"now": 5, "past": 5, "future": 5, "habit": 5})
TAKE = Kind(ClauseSampler.say_take, {"now": 6, "past": 5, "future": 6, "habit": 6})
TAKE_IT = Kind(ClauseSampler.say_take_it, {"now": 5, "past": 4, "future": 5, "habit": 5})
TAKE_US = Kind(ClauseSampler.say_take_us, {"now": 4, "future": 4})
GIVE = Kind(ClauseSampler.say_give, {"past": 6, "future": 7})
GIVE_HIM = Kind(ClauseSampler.say_give, {"past": 5, "future": 6})
GO = Kind(ClauseSampler.say_go, {"now": 6, "past": 5, "future": 6, "habit": 6})
STATE = Kind(ClauseSampler.say_state, {"now": 3, "past": 4, "habit": 3})
QUALITY = Kind(ClauseSampler.say_quality, {"now": 4})
LIKE = Kind(ClauseSampler.say_like, {"now": 3, "habit": 3})
COMPARE = Kind(ClauseSampler.say_compare, {"now": 8})
THERE = Kind(ClauseSampler.say_there, {"now": 7})
# The kinds that the moves of the lexicon name.
KINDS = {"act": ACT, "stay": STAY, "take": TAKE, "take it": TAKE_IT, "give him": GIVE_HIM, "go": GO}
