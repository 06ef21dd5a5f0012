"""Sentences of the grammar corpus: clauses that go together, and how each language joins them.

``clauses`` draws single clauses. Here one clause follows from another: a hungry person eats or is given a cake, a
tired person sleeps or works nevertheless. The lexicon's ``MOVES`` list what can follow, by rule and state.
"""

from collections.abc import Sequence

from utils.corpus.grammar.clauses import (
    ACT,
    COMPARE,
    GIVE,
    GO,
    KINDS,
    LIKE,
    QUALITY,
    STATE,
    STAY,
    TAKE,
    TAKE_IT,
    TAKE_US,
    THERE,
    ClauseSampler,
)
from utils.corpus.grammar.lexicon import MOVES, Move
from utils.corpus.grammar.parts import (
    Clause,
    Conditions,
    Parts,
    Pieces,
    is_animal,
    is_person,
    join,
    length,
    place,
)
from utils.corpus.grammar.phrases import FIXED, Phrase, one_word, verb_group

OPINIONS = ("say", "think", "know", "hope")
# The shortest clause that may follow another, and the shortest sentence of two.
LEAST_CLAUSE, LEAST_PAIR = 6, 12

CLAUSES = (
    ACT, ACT, STAY, TAKE, TAKE, TAKE, TAKE, GIVE, GO, GO, STATE, QUALITY, LIKE, COMPARE, THERE, TAKE_US
)  # fmt: skip
# The kinds of clause that can follow with the same subject: a person, an animal, or "I", a woman or a man.
BY_PERSON = (ACT, STAY, TAKE, TAKE, GO, LIKE, STATE)
BY_ANIMAL = (ACT, STATE)
BY_ME = (ACT, TAKE, TAKE, LIKE)

# The states that lead to a reaction, and those that somebody may act in spite of.
REACTED, DEFIED = tuple(MOVES["reaction"]), tuple(MOVES["despite"])

_SO = one_word("所以", 0)
_BUT = one_word("但是", 0)
_THEN = one_word("就", 0)
_CHINESE_COMMA = one_word("，", 1)

# A unit of a sentence, and the clause that the next unit may refer to.
Unit = tuple[Parts, Clause]


class SentenceSampler(ClauseSampler):
    """Draws sentences of a given length."""

    def sentence(self, words: int) -> Parts:
        """A sentence of about ``words`` English words with its full stop, and never of more."""
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
            parts = join(parts, self.fixed(joint), following)
            left -= 2 + length(following.en)
        return join(parts, self.fixed("stop"))

    def unit_size(self, left: int) -> int:
        """Number of words for the next unit: all that are left, or so few that another unit fits."""
        if left <= 14 or (left <= 24 and self.random() < 0.5):
            return left
        return min(LEAST_CLAUSE + self.share(18), left - LEAST_CLAUSE - 2)

    def unit(self, room: int, zone: str, before: Clause | None, *, also: bool = False) -> Unit:
        """A clause, an opinion, or two clauses of which one explains the other."""
        chance = self.random()
        if room >= LEAST_PAIR and (room > 14 or chance < 0.6):
            pair = self.pick([pair for pair, least in _PAIRS[zone] if least <= room])
            return pair(self, room, zone)
        if room >= 9 and chance < 0.7:
            return self.opinion(room, zone)
        if before is None:
            front = room > 6 and self.random() < 0.3
            clause = self.clause(room - front, Conditions(zone, front=front), CLAUSES)
        else:
            clause = self.follow(room, Conditions(zone, also=also and self.random() < 0.4), before)
        return clause.parts, clause

    # One clause after another

    def follow(self, room: int, scene: Conditions, before: Clause) -> Clause:
        """A clause that may refer to the subject or the object of the clause before it by a pronoun."""
        chance = self.random()
        subject = before.subject
        also, scene = scene.also, scene._replace(also=False)
        if chance < 0.45 and (is_person(subject) or is_animal(subject)):
            # Two actions of one person cannot both be going on now.
            zone = "habit" if scene.zone == "now" else scene.zone
            scene = scene._replace(zone=zone, subject=subject)
            kinds = BY_ME if subject.pronoun == "I" else BY_PERSON if is_person(subject) else BY_ANIMAL
            if before.state:
                kinds = tuple(kind for kind in kinds if kind is not STATE)
            if also and room > LEAST_CLAUSE and is_person(subject):
                kinds = (TAKE, LIKE) if zone == "habit" else (TAKE,)
                return self.clause(room - 1, scene._replace(also=True), kinds)
            return self.clause(room, scene, kinds)
        if chance < 0.6 and subject.pronoun != "I" and self.takers_of(subject, scene.zone):
            return self.clause(room, scene._replace(object=subject), (TAKE_IT,))
        if chance < 0.75 and self.takers_of(before.object, scene.zone):
            return self.clause(room, scene._replace(object=before.object), (TAKE_IT,))
        return self.clause(room, scene, CLAUSES)

    def state_clause(self, room: int, scene: Conditions) -> Clause:
        """A clause about a state that leaves enough room for another clause."""
        return self.clause(4 + self.share(room - LEAST_CLAUSE - 4), scene, (STATE,))

    def move(self, room: int, scene: Conditions, moves: Sequence[Move]) -> Clause:
        """A clause of one of the moves."""
        kind, verbs, things = self.pick([move for move in moves if scene.zone in KINDS[move.kind].least])
        return self.clause(room, scene._replace(verbs=verbs, things=things), (KINDS[kind],))

    def reaction(self, room: int, scene: Conditions, before: Clause) -> Clause:
        """What follows from a state: what the person does, or what another does for that person."""
        person = before.subject.pronoun != "I"
        moves = MOVES["help"].get(before.state, ())
        moves = [move for move in moves if scene.zone in KINDS[move.kind].least]
        if moves and person and self.random() < 0.4:
            return self.move(room, scene._replace(object=before.subject), moves)
        moves = MOVES["reaction"][before.state]
        if not person and scene.zone == "past" and before.state == "sad":
            moves = moves[1:]  # "je suis resté" would show whether "I" is a man
        return self.move(room, scene._replace(subject=before.subject), moves)

    # Two clauses, of which one explains the other

    def opinion(self, room: int, zone: str) -> Unit:
        """ "Mary thinks that she will buy some bread tomorrow"."""
        speaker = self.somebody("know", 2, plain=True)
        verb = self.pick(OPINIONS[1:] if speaker.referent.pronoun == "I" else OPINIONS)
        group = verb_group(verb, "present", speaker.agreement)
        self.mean(verb)
        base = self.fresh()
        room -= 2 + length(speaker.parts.en)
        scene = Conditions("future", modal=False) if verb == "hope" else Conditions(zone)
        if is_person(speaker.referent) and speaker.referent.pronoun != "I" and self.random() < 0.4:
            clause = self.clause(room, scene._replace(subject=speaker.referent), BY_PERSON)
        else:
            clause = self.clause(room, scene, CLAUSES)
        verb_parts = place(base, Phrase(group.en, group.fr, group.zh))
        return join(speaker.parts, verb_parts, self.fixed("that (clause)"), clause.parts), clause

    def because(self, room: int, zone: str) -> Unit:
        """ "Paul stayed at home because he was tired", "Mary is happy because John found the key".

        Chinese gives the cause first, 因为 … 所以 …, unless a pronoun would then come before its noun.
        """
        room -= 1
        if zone == "future" or self.random() < 0.5:
            state = self.pick(REACTED)
            words = LEAST_CLAUSE + self.share(room - LEAST_CLAUSE - 4)
            main = self.move(words, Conditions(zone), MOVES["reaction"][state])
            if main.subject.pronoun == "I" and state not in ("sad", "hungry"):
                state = "hungry"
            scene = Conditions(
                "past" if zone == "past" else "now", subject=main.subject, state=state, timed=False
            )
            cause = self.clause(room - length(main.parts.en), scene, (STATE,))
        else:
            state = self.pick(("tired", "happy", "happy", "sad"))
            main = self.state_clause(room, Conditions(zone, state=state))
            cause = self.cause(room - length(main.parts.en), Conditions("past", timed=zone != "past"), main)
        base = self.fresh()
        because = place(base, FIXED["because"])
        en, fr, zh = join(main.parts, because, cause.parts)
        comma = (base, _CHINESE_COMMA)
        if cause.refers:
            zh = (*main.parts.zh, comma, *because.zh, *cause.parts.zh)
        else:
            zh = (*because.zh, *cause.parts.zh, comma, (base, _SO), *main.parts.zh)
        return Parts(en, fr, zh), cause

    def cause(self, room: int, scene: Conditions, before: Clause) -> Clause:
        """What must have happened to bring about a state."""
        state, chance = before.state, self.random()
        own = state in MOVES["own cause"]
        if own and (chance < 0.4 or state not in MOVES["others"]):
            return self.move(room, scene._replace(subject=before.subject), MOVES["own cause"][state])
        if chance < 0.7 and state in MOVES["thanks"]:
            return self.move(room, scene._replace(object=before.subject), MOVES["thanks"][state])
        return self.move(room, scene, MOVES["others"][state])

    def when(self, room: int, zone: str) -> Unit:
        """ "When Paul is tired, he often sleeps", "when Mary arrived at the park, John left"."""
        room -= 2
        if zone == "past":
            scene = Conditions("past", verbs=("arrive", "leave"), relative=True)
            sub = self.clause(5 + self.share(room - LEAST_CLAUSE - 5), scene, (GO,))
            main = self.move(room - length(sub.parts.en), Conditions("past", timed=False), MOVES["next"][""])
        else:
            scene = Conditions("habit", state=self.pick(REACTED), relative=True)
            sub = self.state_clause(room, scene)
            main = self.reaction(room - length(sub.parts.en), Conditions("habit", timed=False), sub)
        word, comma = self.fixed("when"), self.fixed("comma")
        en, fr, _ = join(word, sub.parts, comma, main.parts)
        return Parts(en, fr, (*sub.parts.zh, *word.zh, *comma.zh, *main.parts.zh)), main

    def condition(self, room: int, zone: str) -> Unit:
        """ "If Mary is sad, Paul will give her a flower": 如果 … ， … 就 …."""
        room -= 2
        scene = Conditions("habit", state=self.pick(REACTED))
        sub = self.state_clause(room, scene)
        base = self.fresh()
        then: Pieces = ((base, _THEN),)
        main = self.reaction(room - length(sub.parts.en), Conditions("future", then=then), sub)
        return join(place(base, FIXED["if"]), sub.parts, self.fixed("comma"), main.parts), main

    def although(self, room: int, zone: str) -> Unit:
        """ "Although Paul was tired, he cleaned the kitchen": 虽然 … ， 但是 …."""
        room -= 2
        if zone == "past" and self.random() < 0.4:
            state = self.pick(tuple(MOVES["in vain"]))
            scene = Conditions("past", subjunctive=True)
            words = LEAST_CLAUSE + self.share(room - LEAST_CLAUSE - 4)
            sub = self.move(words, scene, MOVES["in vain"][state])
            if sub.subject.pronoun == "I":
                state = "hungry"
            scene = Conditions("past", subject=sub.subject, state=state, timed=False)
            main = self.clause(room - length(sub.parts.en), scene, (STATE,))
        else:
            scene = Conditions(zone, state=self.pick(DEFIED), subjunctive=True)
            sub = self.state_clause(room, scene)
            scene = Conditions(zone, subject=sub.subject, timed=False)
            main = self.move(room - length(sub.parts.en), scene, MOVES["despite"][sub.state])
        base = self.fresh()
        although, comma = place(base, FIXED["although"]), self.fixed("comma")
        en, fr, _ = join(although, sub.parts, comma, main.parts)
        zh = (*although.zh, *sub.parts.zh, *comma.zh, (base, _BUT), *main.parts.zh)
        return Parts(en, fr, zh), main

    def result(self, room: int, zone: str) -> Unit:
        """ "Anna is hungry, so Paul is giving her an apple"."""
        room -= 2
        scene = Conditions(zone, state=self.pick(REACTED))
        first = self.state_clause(room, scene)
        zone = self.pick(("now", "future")) if zone == "now" else zone
        second = self.reaction(room - length(first.parts.en), Conditions(zone, timed=zone == "future"), first)
        return join(first.parts, self.fixed("so"), second.parts), second

    def sequence(self, room: int, zone: str) -> Unit:
        """ "The girl bought a book, then she went to the library"."""
        room -= 2
        words = LEAST_CLAUSE + self.share(room - 2 * LEAST_CLAUSE)
        first = self.move(words, Conditions(zone), MOVES["first"][""])
        scene, moves = Conditions(zone, timed=False), MOVES["next"][""]
        if is_person(first.subject):
            scene = scene._replace(subject=first.subject)
        if first.subject.pronoun == "I":
            moves = moves[:1]  # "je suis allé" would show whether "I" is a man
        second = self.move(room - length(first.parts.en), scene, moves)
        return join(first.parts, self.fixed("then"), second.parts), second


_S = SentenceSampler
# Pairs of clauses for each zone, with the fewest English words they take.
_PAIRS = {
    "past": (
        (_S.because, 12), (_S.because, 12), (_S.when, 13), (_S.although, 12), (_S.result, 12), (_S.sequence, 14),
        (_S.opinion, 9),
    ),
    "now": (
        (_S.because, 12), (_S.because, 12), (_S.when, 12), (_S.although, 12), (_S.result, 12), (_S.opinion, 9),
    ),
    "future": ((_S.because, 12), (_S.condition, 12), (_S.condition, 12), (_S.sequence, 14), (_S.opinion, 9)),
}  # fmt: skip
