"""Sentences of the grammar corpus: clauses that go together, and how each language joins them.

Clauses are drawn in ``clauses``. Here are the reasons why one follows from another: who is hungry
eats, or is given a cake; who is tired sleeps, or works all the same.
"""

from collections.abc import Mapping, Sequence

from utils.corpus.grammar.clauses import (
    ACT,
    COMPARE,
    GIVE,
    GIVE_HIM,
    GO,
    LIKE,
    QUALITY,
    STATE,
    STAY,
    TAKE,
    TAKE_IT,
    TAKE_US,
    THERE,
    ClauseSampler,
    Kind,
)
from utils.corpus.grammar.parts import (
    Clause,
    Parts,
    Run,
    Scene,
    is_animal,
    is_person,
    join,
    length,
    place,
)
from utils.corpus.grammar.phrases import fixed, one_word, verb_group

OPINIONS = ("say", "think", "know", "hope")
# The shortest clause that may follow another, and the shortest sentence of two.
LEAST_CLAUSE, LEAST_PAIR = 6, 12

CLAUSES = (
    ACT,
    ACT,
    STAY,
    TAKE,
    TAKE,
    TAKE,
    TAKE,
    GIVE,
    GO,
    GO,
    STATE,
    QUALITY,
    LIKE,
    COMPARE,
    THERE,
    TAKE_US,
)
# What a person, an animal, and a person who may be a woman or a man can be said to do next.
BY_PERSON = (ACT, STAY, TAKE, TAKE, GO, LIKE, STATE)
BY_ANIMAL = (ACT, STATE)
BY_ME = (ACT, TAKE, TAKE, LIKE)

# What goes with a state: kinds of clause, their verbs, and what is given. ``ALONE`` is what the same person
# does, ``HELPED`` what another does for that person, ``THOUGH`` what the person does all the same;
# ``SINCE``, ``THANKS`` and ``OTHERS`` are what the person did before, what was done for the person, and
# what others did.
Move = tuple[Kind, tuple[str, ...], tuple[str, ...]]
_FOOD = ("apple", "cake", "egg")
_COMFORT = ("flower", "cake", "book", "gift")
ALONE: Mapping[str, Sequence[Move]] = {
    "tired": ((ACT, ("sleep",), ()), (STAY, ("stay",), ())),
    "hungry": ((TAKE, ("eat",), ()),),
    "happy": ((ACT, ("sing", "dance"), ()),),
    "sad": ((STAY, ("stay",), ()), (TAKE, ("listen",), ())),
}
HELPED: Mapping[str, Sequence[Move]] = {
    "tired": ((TAKE_IT, ("help",), ()),),
    "hungry": ((GIVE_HIM, ("give",), _FOOD),),
    "happy": (),
    "sad": ((GIVE_HIM, ("give",), _COMFORT), (GIVE_HIM, ("write",), ()), (TAKE_IT, ("help",), ())),
}
THOUGH: Mapping[str, Sequence[Move]] = {
    "tired": ((TAKE, ("clean", "wash", "repair", "read", "write"), ()), (ACT, ("work", "dance"), ())),
    "hungry": ((ACT, ("work", "play"), ()), (TAKE, ("read", "clean"), ())),
    "sad": ((ACT, ("sing", "dance", "work"), ()), (TAKE, ("help",), ())),
}
SINCE: Mapping[str, Sequence[Move]] = {
    "tired": ((TAKE, ("clean", "wash", "repair"), ()), (ACT, ("work", "dance", "play"), ())),
    "happy": ((TAKE, ("find", "buy", "see"), ()), (ACT, ("dance", "play"), ())),
}
THANKS: Mapping[str, Sequence[Move]] = {
    "happy": ((GIVE_HIM, ("give", "send", "write"), ()), (TAKE_IT, ("help",), ())),
}
OTHERS: Mapping[str, Sequence[Move]] = {
    "happy": ((ACT, ("sing", "dance"), ()), (GO, ("arrive",), ())),
    "sad": ((ACT, ("cry",), ()), (GO, ("leave",), ())),
}
# What one has done in vain: "although he ate the cake, he was hungry".
IN_VAIN: Mapping[str, Move] = {"tired": (ACT, ("sleep",), ()), "hungry": (TAKE, ("eat",), ())}

_THAT_CLAUSE = fixed("that 0 | que 0 |")
_COMMA = fixed(", 0 | , 0 | ， 0")
_STOP = fixed(". 0 | . 0 | 。 0")
# Between clauses of equal rank; the Chinese comma does the work of "and".
_JOINTS = {
    "and": fixed(", 1 and 0 | et 0 | ， 01"),
    "but": fixed(", 1 but 0 | , 1 mais 0 | ， 1 但是 0"),
    "then": fixed(", 1 then 0 | , 1 puis 0 | ， 1 然后 0"),
    "so": fixed(", 1 so 0 | , 1 donc 0 | ， 1 所以 0"),
}
_BECAUSE = fixed("because 0 | parce 0 que 0 | 因为 0")
_WHEN = fixed("when 0 | quand 0 | 的 0 时候 0")
_IF = fixed("if 0 | si 0 | 如果 0")
_ALTHOUGH = fixed("although 0 | bien 0 que 0 | 虽然 0")
_SO = one_word("所以", 0)
_BUT = one_word("但是", 0)
_THEN = one_word("就", 0)
_CHINESE_COMMA = one_word("，", 1)

# A unit of a sentence, and the clause that the next unit may refer to.
Unit = tuple[Parts, Clause]


class SentenceSampler(ClauseSampler):
    """Draws sentences of a wanted length."""

    def sentence(self, words: int) -> Parts:
        """A sentence of at most ``words`` English words with its full stop, and of about as many."""
        left = words - 1
        zone = self.pick(("past", "past", "now", "now", "future" if left > 2 else "now"))
        parts, clause = self.unit(self.unit_size(left), zone, None)
        left -= length(parts.en)
        joint = "and"
        while left >= LEAST_CLAUSE + 2:
            if self.random() < 0.35:
                zone = self.pick(("past", "now", "future"))
            joint = "and" if joint == "but" or clause.refers or self.random() < 0.6 else "but"
            following, clause = self.unit(self.unit_size(left - 2), zone, clause, also=joint == "and")
            parts = join(parts, place(self.fresh(), _JOINTS[joint]), following)
            left -= 2 + length(following.en)
        return join(parts, place(self.fresh(), _STOP))

    def unit_size(self, left: int) -> int:
        """How many of the words left the next unit takes: all, or few enough to leave a unit's worth."""
        if left <= 14 or (left <= 24 and self.random() < 0.5):
            return left
        return min(LEAST_CLAUSE + self.share(18), left - LEAST_CLAUSE - 2)

    def unit(self, room: int, zone: str, before: Clause | None, *, also: bool = False) -> Unit:
        """A clause, an opinion, or two clauses of which one explains the other."""
        chance = self.random()
        if room >= LEAST_PAIR and (room > 14 or chance < 0.6):
            say = self.pick([pair for pair, least in _PAIRS[zone] if least <= room])
            return say(self, room, zone)
        if room >= 9 and chance < 0.7:
            return self.opinion(room, zone)
        if before is None:
            front = room > 6 and self.random() < 0.3
            clause = self.clause(room - front, Scene(zone, front=front), CLAUSES)
        else:
            clause = self.follow(room, Scene(zone, also=also and self.random() < 0.4), before)
        return clause.parts, clause

    # One clause after another

    def follow(self, room: int, scene: Scene, before: Clause) -> Clause:
        """A clause that may take up the subject or the object of the clause before it as a pronoun."""
        chance = self.random()
        subject = before.subject
        also, scene = scene.also, scene._replace(also=False)
        if chance < 0.45 and (is_person(subject) or is_animal(subject)):
            # Nobody does two things at once.
            zone = "habit" if scene.zone == "now" else scene.zone
            scene = scene._replace(zone=zone, subject=subject)
            kinds = BY_ME if subject.pronoun == "I" else BY_PERSON if is_person(subject) else BY_ANIMAL
            kinds = tuple(kind for kind in kinds if kind is not STATE or not before.state)
            if also and room > LEAST_CLAUSE and is_person(subject):
                kinds = (TAKE, LIKE) if zone == "habit" else (TAKE,)
                return self.clause(room - 1, scene._replace(also=True), kinds)
            return self.clause(room, scene, kinds)
        if chance < 0.6 and subject.pronoun != "I" and self.takers_of(subject, scene.zone):
            return self.clause(room, scene._replace(object=subject), (TAKE_IT,))
        if chance < 0.75 and self.takers_of(before.thing, scene.zone):
            return self.clause(room, scene._replace(object=before.thing), (TAKE_IT,))
        return self.clause(room, scene, CLAUSES)

    def move(self, room: int, scene: Scene, moves: Sequence[Move]) -> Clause:
        """A clause of one of the moves."""
        kind, verbs, things = self.pick([move for move in moves if scene.zone in move[0].least])
        return self.clause(room, scene._replace(verbs=verbs, things=things), (kind,))

    def reaction(self, room: int, scene: Scene, before: Clause) -> Clause:
        """What follows from a state: what the person does, or what another does for that person."""
        helped = [move for move in HELPED[before.state] if scene.zone in move[0].least]
        if helped and before.subject.pronoun != "I" and self.random() < 0.4:
            return self.move(room, scene._replace(object=before.subject), helped)
        if before.subject.pronoun == "I" and scene.zone == "past" and before.state == "sad":
            return self.move(room, scene._replace(subject=before.subject), [(TAKE, ("listen",), ())])
        return self.move(room, scene._replace(subject=before.subject), ALONE[before.state])

    # Two clauses, of which one explains the other

    def opinion(self, room: int, zone: str) -> Unit:
        """ "Mary thinks that she will buy some bread tomorrow"."""
        speaker = self.somebody("know", 2, plain=True)
        verb = self.pick(OPINIONS[1:] if speaker.referent.pronoun == "I" else OPINIONS)
        group = verb_group(verb, "h", speaker.agreement)
        self.mean(verb)
        base, that = self.fresh(), self.fresh()
        room -= 2 + length(speaker.parts.en)
        scene = Scene("future", modal=False) if verb == "hope" else Scene(zone)
        if is_person(speaker.referent) and speaker.referent.pronoun != "I" and self.random() < 0.4:
            clause = self.clause(room, scene._replace(subject=speaker.referent), BY_PERSON)
        else:
            clause = self.clause(room, scene, CLAUSES)
        said = clause.parts
        parts = Parts(
            (*speaker.parts.en, (base, group.en), (that, _THAT_CLAUSE.en), *said.en),
            (*speaker.parts.fr, (base, group.fr), (that, _THAT_CLAUSE.fr), *said.fr),
            (*speaker.parts.zh, (base, group.zh), *said.zh),
        )
        return parts, clause

    def because(self, room: int, zone: str) -> Unit:
        """ "Paul stayed at home because he was tired", "Mary is happy because John found the key".

        Chinese gives the cause first, 因为 … 所以 …, save where a pronoun would then come before its noun.
        """
        room -= 1
        if zone == "future" or self.random() < 0.5:
            state = self.pick(tuple(ALONE))
            main = self.move(LEAST_CLAUSE + self.share(room - LEAST_CLAUSE - 4), Scene(zone), ALONE[state])
            if main.subject.pronoun == "I" and state not in ("sad", "hungry"):
                state = "hungry"
            scene = Scene("past" if zone == "past" else "now", subject=main.subject, state=state, timed=False)
            cause = self.clause(room - length(main.parts.en), scene, (STATE,))
        else:
            state = self.pick(("tired", "happy", "happy", "sad"))
            main = self.clause(4 + self.share(room - LEAST_CLAUSE - 4), Scene(zone, state=state), (STATE,))
            cause = self.cause(room - length(main.parts.en), Scene("past", timed=zone != "past"), main)
        base = self.fresh()
        en, fr, zh = join(main.parts, place(base, _BECAUSE), cause.parts)
        comma = (base, _CHINESE_COMMA)
        if cause.refers:
            zh = (*main.parts.zh, comma, (base, _BECAUSE.zh), *cause.parts.zh)
        else:
            zh = ((base, _BECAUSE.zh), *cause.parts.zh, comma, (base, _SO), *main.parts.zh)
        return Parts(en, fr, zh), cause

    def cause(self, room: int, scene: Scene, before: Clause) -> Clause:
        """What must have happened to bring about a state."""
        state, chance = before.state, self.random()
        if chance < 0.4 and state in SINCE:
            return self.move(room, scene._replace(subject=before.subject), SINCE[state])
        if chance < 0.7 and state in THANKS:
            return self.move(room, scene._replace(object=before.subject), THANKS[state])
        if state in OTHERS:
            return self.move(room, scene, OTHERS[state])
        return self.move(room, scene._replace(subject=before.subject), SINCE[state])

    def when(self, room: int, zone: str) -> Unit:
        """ "When Paul is tired, he often sleeps", "when Mary arrived at the park, John left"."""
        room -= 2
        if zone == "past":
            scene = Scene("past", verbs=("arrive", "leave"), undated=True)
            sub = self.clause(5 + self.share(room - LEAST_CLAUSE - 5), scene, (GO,))
            main = self.move(room - length(sub.parts.en), Scene("past", timed=False), _THEN_MOVES)
        else:
            state = self.pick(tuple(ALONE))
            scene = Scene("habit", state=state, undated=True)
            sub = self.clause(4 + self.share(room - LEAST_CLAUSE - 4), scene, (STATE,))
            main = self.reaction(room - length(sub.parts.en), Scene("habit", timed=False), sub)
        word, comma = place(self.fresh(), _WHEN), place(self.fresh(), _COMMA)
        en, fr, _ = join(word, sub.parts, comma, main.parts)
        return Parts(en, fr, (*sub.parts.zh, *word.zh, *comma.zh, *main.parts.zh)), main

    def condition(self, room: int, zone: str) -> Unit:
        """ "If Mary is sad, Paul will give her a flower": 如果 … ， … 就 …."""
        room -= 2
        scene = Scene("habit", state=self.pick(tuple(ALONE)))
        sub = self.clause(4 + self.share(room - LEAST_CLAUSE - 4), scene, (STATE,))
        base = self.fresh()
        then: Run = ((base, _THEN),)
        main = self.reaction(room - length(sub.parts.en), Scene("future", then=then), sub)
        return join(place(base, _IF), sub.parts, place(self.fresh(), _COMMA), main.parts), main

    def although(self, room: int, zone: str) -> Unit:
        """ "Although Paul was tired, he cleaned the kitchen": 虽然 … ， 但是 …."""
        room -= 2
        if zone == "past" and self.random() < 0.4:
            state = self.pick(tuple(IN_VAIN))
            scene = Scene("past", subjunctive=True)
            sub = self.move(LEAST_CLAUSE + self.share(room - LEAST_CLAUSE - 4), scene, (IN_VAIN[state],))
            if sub.subject.pronoun == "I":
                state = "hungry"
            scene = Scene("past", subject=sub.subject, state=state, timed=False)
            main = self.clause(room - length(sub.parts.en), scene, (STATE,))
        else:
            scene = Scene(zone, state=self.pick(tuple(THOUGH)), subjunctive=True)
            sub = self.clause(4 + self.share(room - LEAST_CLAUSE - 4), scene, (STATE,))
            scene = Scene(zone, subject=sub.subject, timed=False)
            main = self.move(room - length(sub.parts.en), scene, THOUGH[sub.state])
        base = self.fresh()
        comma = place(self.fresh(), _COMMA)
        en, fr, _ = join(place(base, _ALTHOUGH), sub.parts, comma, main.parts)
        zh = ((base, _ALTHOUGH.zh), *sub.parts.zh, *comma.zh, (base, _BUT), *main.parts.zh)
        return Parts(en, fr, zh), main

    def result(self, room: int, zone: str) -> Unit:
        """ "Anna is hungry, so Paul is giving her an apple"."""
        room -= 2
        scene = Scene(zone, state=self.pick(tuple(ALONE)))
        first = self.clause(4 + self.share(room - LEAST_CLAUSE - 4), scene, (STATE,))
        zone = self.pick(("now", "future")) if zone == "now" else zone
        second = self.reaction(room - length(first.parts.en), Scene(zone, timed=zone == "future"), first)
        return join(first.parts, place(self.fresh(), _JOINTS["so"]), second.parts), second

    def sequence(self, room: int, zone: str) -> Unit:
        """ "The girl bought a book, then she went to the library"."""
        room -= 2
        first = self.move(LEAST_CLAUSE + self.share(room - 2 * LEAST_CLAUSE), Scene(zone), _FIRST_MOVES)
        scene = Scene(zone, timed=False)
        moves = _THEN_MOVES
        if is_person(first.subject):
            scene = scene._replace(subject=first.subject)
            if first.subject.pronoun == "I":
                moves = _THEN_MOVES[:1]
        second = self.move(room - length(first.parts.en), scene, moves)
        return join(first.parts, place(self.fresh(), _JOINTS["then"]), second.parts), second


_FIRST_MOVES: tuple[Move, ...] = (
    (TAKE, ("eat", "drink", "buy", "read", "clean", "wash", "close", "open", "sell"), ()),
    (GO, (), ()),
)
_THEN_MOVES: tuple[Move, ...] = (
    (TAKE, ("eat", "drink", "buy", "read", "open", "close", "clean", "wash"), ()),
    (GO, ("go", "leave"), ()),
)
_S = SentenceSampler
# Pairs of clauses for each zone, with the fewest English words they take.
_PAIRS = {
    "past": (
        (_S.because, 12),
        (_S.because, 12),
        (_S.when, 13),
        (_S.although, 12),
        (_S.result, 12),
        (_S.sequence, 14),
        (_S.opinion, 9),
    ),
    "now": (
        (_S.because, 12),
        (_S.because, 12),
        (_S.when, 12),
        (_S.although, 12),
        (_S.result, 12),
        (_S.opinion, 9),
    ),
    "future": ((_S.because, 12), (_S.condition, 12), (_S.condition, 12), (_S.sequence, 14), (_S.opinion, 9)),
}
