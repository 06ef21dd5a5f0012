"""The words of the grammar corpus, read from the tables in ``words/``, and the types that hold them.

A table has one word per line: its forms in three languages and the facts that choose between them (gender,
classifier, what a verb may take). How words are put together is in ``phrases`` and ``clauses``.
"""

import csv
from collections.abc import Callable
from importlib.resources import files
from typing import NamedTuple, TypeVar, get_type_hints

T = TypeVar("T")

# A word, and the concepts that it expresses.
Item = tuple[str, tuple[int, ...]]

# The rows of agreement: the person, number and gender that a verb or an adjective agrees with.
FIRST, HE, SHE, THEY, THEY_FEMININE = range(5)
_AGREEMENTS = ("first", "he", "she", "they", "they f")
MANNERS = ("slowly", "quickly", "carefully")


class Noun(NamedTuple):
    """A noun: its forms, French gender, Chinese classifier and the sets that it belongs to.

    Args:
        en: English singular and plural; equal for a mass noun.
        fr: French singular and plural.
        gender: ``"m"`` or ``"f"``, in French.
        zh: the Chinese word.
        classifier: the Chinese classifier, or ``""`` for a mass noun.
        tags: the sets that verbs and adjectives select by.
    """

    en: tuple[str, str]
    fr: tuple[str, str]
    gender: str
    zh: str
    classifier: str
    tags: frozenset[str]

    @property
    def feminine(self) -> bool:
        """Whether the French noun is feminine."""
        return self.gender == "f"


class Verb(NamedTuple):
    """A verb.

    Args:
        key: the name of its concept, or ``""`` for a verb that adds too little to the meaning.
        en: base, third person singular, past, -ing form.
        particle: the English word that belongs to the verb ("listen *to*"), or ``""``.
        fr: infinitive, first and third person singular and third plural of the present, past participle.
        auxiliary: ``"avoir"`` or ``"être"``.
        zh: the Chinese verb.
        le: whether a past event takes 了; activities leave the past to the time word.
        subjects: the sets its subject comes from.
        objects: the sets its object comes from; empty for an intransitive verb.
        places: keys of the places where it is done.
        tenses: those of ``present``, ``progressive``, ``past`` and ``future`` that it is used in.
        uses: ``act`` (alone) or ``take`` (an object); ``certain`` if the object is a certain one and not
            any; ``company``, ``favour`` if done with or for somebody; the manners in which it is done.
    """

    key: str
    en: tuple[str, str, str, str]
    particle: str
    fr: tuple[str, str, str, str, str]
    auxiliary: str
    zh: str
    le: bool
    subjects: frozenset[str]
    objects: frozenset[str]
    places: tuple[str, ...]
    tenses: tuple[str, ...]
    uses: tuple[str, ...]


class Adjective(NamedTuple):
    """An adjective.

    Args:
        en: the English word, and the name of its concept.
        comparative: the English comparative in one word, ``"more"``, or ``""`` where none is used.
        fr: masculine singular, feminine singular, masculine plural, feminine plural.
        liaison: the masculine singular before a vowel ("vieil"), or ``""``.
        before: whether French puts it before the noun.
        zh: the Chinese word before a noun.
        de: whether Chinese joins it to the noun with 的.
        predicate: the Chinese word after the subject; ``"是"`` in front marks a colour (是 … 的).
        nouns: the sets it may describe.
    """

    en: str
    comparative: str
    fr: tuple[str, str, str, str]
    liaison: str
    before: bool
    zh: str
    de: bool
    predicate: str
    nouns: frozenset[str]

    @property
    def colour(self) -> bool:
        """Whether it names a colour, which has no degrees."""
        return self.predicate.startswith("是")


class Name(NamedTuple):
    """A person's name: its concept, French, gender and Chinese; English spells it like the concept."""

    en: str
    fr: str
    gender: str
    zh: str


class Pronoun(NamedTuple):
    """A personal pronoun, with the possessive that goes with it.

    Args:
        en: English subject and object form.
        fr: French subject, direct clitic and indirect clitic.
        zh: the Chinese word.
        agreement: the row of agreement of its verb, ``FIRST`` to ``THEY_FEMININE``.
        possessive: the name of its possessive in ``DETERMINERS``, or ``""``.
    """

    en: tuple[str, str]
    fr: tuple[str, str, str]
    zh: str
    agreement: int
    possessive: str


class Determiner(NamedTuple):
    """The words of a determiner. ``#`` is a numeral, and ``~`` the Chinese classifier.

    Args:
        en: singular and plural.
        fr: masculine, feminine, their plurals, and masculine and feminine before a vowel.
        zh: singular and plural.
    """

    en: tuple[tuple[Item, ...], ...]
    fr: tuple[tuple[Item, ...], ...]
    zh: tuple[tuple[Item, ...], ...]


class Move(NamedTuple):
    """A clause that follows from a state or leads to it: its kind, its verbs and the things that are given."""

    kind: str
    verbs: tuple[str, ...]
    things: tuple[str, ...]


class Expression(NamedTuple):
    """Words that always stand together, in three languages, with the concepts that they express."""

    en: tuple[Item, ...]
    fr: tuple[Item, ...]
    zh: tuple[Item, ...]


Table = list[dict[str, str]]


def _rows(table: str) -> Table:
    """The rows of a table, with cells by the names of their columns; a cell ``-`` is empty."""
    with (files(__package__) / "words" / f"{table}.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [{column: "" if cell == "-" else cell for column, cell in row.items()} for row in rows]


def _names(cell: str) -> tuple[str, ...]:
    """Names separated by commas."""
    return tuple(cell.split(",")) if cell else ()


#: How a cell is read, by the type of its field.
_READERS: dict[object, Callable[[str], object]] = {
    str: str,
    bool: "yes".__eq__,
    int: _AGREEMENTS.index,
    tuple[str, ...]: _names,
    frozenset[str]: lambda cell: frozenset(_names(cell)),
}


def _entries(kind: type[T], table: str, by: str, **columns: str) -> dict[str, T]:
    """The entries of a table by the cells of the column ``by``.

    Args:
        kind: the class of an entry.
        columns: the column of a field, where it has another name; or the columns of its forms, of which an empty one is
            like the first.
    """
    types = get_type_hints(kind)

    def field(row: dict[str, str], name: str) -> object:
        first, *others = [row[column] for column in columns.get(name, name).split()]
        return (first, *(form or first for form in others)) if others else _READERS[types[name]](first)

    return {row[by]: kind(**{name: field(row, name) for name in types}) for row in _rows(table)}


def _items(cell: str) -> tuple[Item, ...]:
    """Words with the digits of their concepts: ``last:0 week:1``, or ``la`` for a word without concept."""
    pairs = (text.partition(":") for text in cell.split())
    return tuple((word, tuple(map(int, digits))) for word, _, digits in pairs)


def _determiners(rows: Table) -> dict[str, Determiner]:
    """Determiners by their names."""
    determiners = {}
    for row in rows:
        masculine, feminine = row["fr_m_vowel"] or row["fr_m"], row["fr_f_vowel"] or row["fr_f"]
        french = (row["fr_m"], row["fr_f"], row["fr_m_plural"], row["fr_f_plural"], masculine, feminine)
        forms = ((row["en"], row["en_plural"]), french, (row["zh"], row["zh_plural"]))
        determiners[row["determiner"]] = Determiner(*(tuple(map(_items, cells)) for cells in forms))
    return determiners


def _expression(row: dict[str, str]) -> Expression:
    return Expression(_items(row["en"]), _items(row["fr"]), _items(row["zh"]))


def _times(rows: Table) -> dict[str, tuple[Expression, ...]]:
    """The expressions of time of each tense; an expression is repeated as often as its weight says."""
    times: dict[str, tuple[Expression, ...]] = {}
    for row in rows:
        times[row["tense"]] = (*times.get(row["tense"], ()), *[_expression(row)] * int(row["weight"]))
    return times


def _moves(rows: Table) -> dict[str, dict[str, tuple[Move, ...]]]:
    """The moves of each rule and state, in the order of the table.

    The rules: ``reaction`` is what somebody does in a state, ``help`` what another person then does for them,
    ``despite`` what they do in spite of it. Three rules give causes: ``own cause`` is what the person did before,
    ``thanks`` what another did for the person, ``others`` what others did. ``in vain`` is something that should have
    ended the state. ``first`` and ``next`` are two actions one after the other, which need no state: it is ``""``.
    """
    moves: dict[str, dict[str, tuple[Move, ...]]] = {}
    for row in rows:
        states = moves.setdefault(row["rule"], {})
        move = Move(row["kind"], _names(row["verbs"]), _names(row["things"]))
        states[row["state"]] = (*states.get(row["state"], ()), move)
    return moves


_ALL_NOUNS = _entries(Noun, "nouns", "en", en="en en_plural", fr="fr fr_plural")
MEASURES = {name: entry for name, entry in _ALL_NOUNS.items() if "measure" in entry.tags}
NOUNS = {name: entry for name, entry in _ALL_NOUNS.items() if name not in MEASURES}
MASS_NOUNS = {name: entry for name, entry in NOUNS.items() if "mass" in entry.tags}
PLACES = {name: entry for name, entry in NOUNS.items() if "place" in entry.tags}
COUNT_NOUNS = {name: entry for name, entry in NOUNS.items() if not entry.tags & {"mass", "place"}}
# The words of a place: prepositions in English and French, and in Chinese a word after the place or "".
PLACE_WORDS = {row["place"]: (row["en"], row["fr"], row["zh_after"]) for row in _rows("places")}
NAMES = _entries(Name, "names", "en")
NUMERALS = tuple((row["en"], row["fr"], row["zh"]) for row in _rows("numerals"))
ADVERBS = {row["en"]: (row["fr"], row["zh"]) for row in _rows("adverbs")}
DETERMINERS = _determiners(_rows("determiners"))
PRONOUNS = _entries(Pronoun, "pronouns", "pronoun", en="en en_object", fr="fr fr_direct fr_indirect")
# The determiners that are possessives.
POSSESSIVES = {pronoun.possessive for pronoun in PRONOUNS.values()} - {""}
VERBS = _entries(
    Verb, "verbs", "en", key="concept", en="en en_third en_past en_ing", particle="en_particle",
    fr="fr fr_first fr_third fr_plural fr_participle", auxiliary="fr_auxiliary", le="zh_le",
)  # fmt: skip
ADJECTIVES = _entries(
    Adjective, "adjectives", "en", comparative="en_comparative", fr="fr_m fr_f fr_m_plural fr_f_plural",
    liaison="fr_m_vowel", before="fr_before", de="zh_de", predicate="zh_predicate",
)  # fmt: skip
EXPRESSIONS = {row["expression"]: _expression(row) for row in _rows("expressions")}
TIMES = _times(_rows("times"))
MOVES = _moves(_rows("moves"))
