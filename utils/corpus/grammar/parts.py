"""The parts of sentences of the grammar corpus: constituents in three languages, and conditions for clauses.

This module has only types and small functions; ``phrases`` makes phrases, and ``nouns``, ``clauses`` and
``sentences`` make the random choices.
"""

from typing import NamedTuple

from utils.corpus.grammar.lexicon import COUNT_NOUNS, HE, NOUNS, VERBS
from utils.corpus.grammar.phrases import Phrase, Piece

# The words in one language: pieces in order, each with its base, a number that distinguishes its concepts from
# those of other phrases.
Pieces = tuple[tuple[int, Piece], ...]


class Parts(NamedTuple):
    """A constituent in the three languages."""

    en: Pieces
    fr: Pieces
    zh: Pieces


class Referent(NamedTuple):
    """Somebody or something that a later clause can refer to: its pronoun's key, its noun or name (or ``""``)."""

    pronoun: str
    noun: str = ""
    name: str = ""


NOTHING = Parts((), (), ())
NOBODY = Referent("")


class Subject(NamedTuple):
    """A constituent that can be a subject.

    Args:
        parts: its words.
        agreement: the row of agreement of its verb.
        referent: how later clauses refer to it.
        dou: the Chinese 都, which stands before the verb if the subject has "all"; else nothing.
    """

    parts: Parts
    agreement: int
    referent: Referent
    dou: Pieces = ()


class Clause(NamedTuple):
    """A clause.

    Args:
        parts: its words.
        subject: how later clauses refer to its subject.
        object: how later clauses refer to its object.
        refers: whether its subject or its object is a pronoun for something in an earlier clause.
        state: the adjective it is about, or ``""``.
    """

    parts: Parts
    subject: Referent
    object: Referent = NOBODY
    refers: bool = False
    state: str = ""


class Conditions(NamedTuple):
    """The conditions that a clause must meet.

    Args:
        zone: ``past``, ``now``, ``habit`` or ``future``.
        subject: its subject, which is then a pronoun; ``NOBODY`` leaves the choice open.
        object: its object, in the kinds of clause whose object is a pronoun.
        verbs: the verbs to choose from; all that fit if empty.
        things: the nouns to give; all that fit if empty.
        state: the state that a clause about a state affirms, or ``""``.
        timed: whether it may have an expression of time.
        modal: whether a wish or a duty may replace the future.
        front: whether the time comes first.
        also: whether it adds to the clause before it, with "also".
        subjunctive: the French mood after "bien que".
        relative: whether its Chinese verb stands before 的 and has no 了.
        then: the Chinese 就 that belongs to 如果, or nothing.
    """

    zone: str
    subject: Referent = NOBODY
    object: Referent = NOBODY
    verbs: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    state: str = ""
    timed: bool = True
    modal: bool = True
    front: bool = False
    also: bool = False
    subjunctive: bool = False
    relative: bool = False
    then: Pieces = ()


class Mood(NamedTuple):
    """Tense, negation, adverb and time of an event, and how many English words they add to the bare verb."""

    tense: str
    negative: bool = False
    adverb: str = ""
    time: Parts = NOTHING
    cost: int = 0

    @property
    def negated(self) -> bool:
        """Whether "not" or "never" stands with the verb; its French object then has "de"."""
        return self.negative or self.adverb == "never"


def length(run: Pieces) -> int:
    """Number of words in a run."""
    return sum([len(words) for _, (words, _) in run])


def place(base: int, phrase: Phrase) -> Parts:
    """A phrase as a constituent of its own."""
    en, fr, zh = phrase
    return Parts(((base, en),), ((base, fr),), ((base, zh),))


def join(*constituents: Parts) -> Parts:
    """Constituents that every language puts in the same order."""
    return Parts(*[sum(runs, ()) for runs in zip(*constituents, strict=True)])


def agreement_of(noun: str, plural: bool) -> int:
    """The row of agreement of a noun, by its French gender and its number.

    >>> agreement_of("horse", plural=False) == HE, agreement_of("girl", plural=True) - HE
    (True, 3)
    """
    return HE + NOUNS[noun].feminine + 2 * plural


def referent_of(noun: str, plural: bool) -> Referent:
    """The referent of a noun phrase: its pronoun has the French gender of the noun; persons have their own pronouns.

    >>> referent_of("apple", False), referent_of("girl", True)
    (Referent(pronoun='it f', noun='apple', name=''), Referent(pronoun='they f', noun='girl', name=''))
    """
    entry = NOUNS[noun]
    feminine = " f" if entry.feminine else ""
    if not entry.tags & {"person", "kin"}:
        return Referent(("those" if plural else "it") + feminine, noun)
    if plural:
        return Referent("they" + feminine, noun)
    return Referent("she" if entry.feminine else "he", noun)


def is_person(referent: Referent) -> bool:
    """Whether the referent is one person or several.

    >>> is_person(referent_of("girl", True)), is_person(referent_of("cat", True)), is_person(NOBODY)
    (True, False, False)
    """
    return referent.pronoun in ("I", "he", "she", "they", "they f")


def is_animal(referent: Referent) -> bool:
    """Whether the referent is one animal or several."""
    return referent.noun in COUNT_NOUNS and "animal" in COUNT_NOUNS[referent.noun].tags


def suits(subject: Referent, verb: str) -> bool:
    """Whether a subject can do what the verb says.

    >>> suits(referent_of("cat", False), "eat"), suits(referent_of("cat", False), "read")
    (True, False)
    """
    if is_person(subject):
        return bool(VERBS[verb].subjects & {"person", "adult", "kid"})
    return bool(VERBS[verb].subjects & NOUNS[subject.noun].tags)
