"""The words of the grammar corpus, read from the tables in ``words/``, and the types that hold them.

A table has one word per line: its forms in three languages and the facts that choose between them (gender,
classifier, what a verb may take). How words are put together is in ``phrases`` and ``clauses``.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple, TypeVar

T = TypeVar("T")

WORDS = files(__package__) / "words"

# A word, and the concepts that it expresses.
Item = tuple[str, tuple[int, ...]]

# The rows of agreement: the person, number and gender that a verb or an adjective agrees with.
FIRST, HE, SHE, THEY, THEY_FEMININE = range(5)
_AGREEMENTS = ("first", "he", "she", "they", "they f")
# The tenses that the tables name; the modal verbs are further tenses of ``phrases.verb_group``.
TENSES = ("present", "progressive", "past", "future")
MANNERS = ("slowly", "quickly", "carefully")
# How a clause can follow from a state or lead to it, and the kinds of such clauses: see ``read_moves``.
RULES = ("reaction", "help", "despite", "own cause", "thanks", "others", "in vain", "first", "next")
KINDS = ("act", "stay", "take", "take it", "give him", "go")


class Noun(NamedTuple):
    """A noun: its forms, French gender, Chinese classifier and the sets that it belongs to.

    Args:
        key: the name of its concept; two nouns that have the same word in one of the languages share a key.
        en: English singular and plural; equal for a mass noun.
        fr: French singular and plural.
        gender: ``"m"`` or ``"f"``, in French.
        zh: the Chinese word.
        classifier: the Chinese classifier, or ``""`` for a mass noun.
        tags: the sets that verbs and adjectives select by.
    """

    key: str
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
        tenses: those of ``TENSES`` that it is used in.
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
        possessive: the name of its possessive determiner in ``POSSESSIVES``, or ``""``.
    """

    en: tuple[str, str]
    fr: tuple[str, str, str]
    zh: str
    agreement: int
    possessive: str


class Possessive(NamedTuple):
    """A possessive determiner; French: masculine, feminine (before a consonant), plural."""

    en: str
    fr: tuple[str, str, str]
    zh: str


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


class Row:
    """A row of a table, with a method for each kind of cell; a cell ``-`` is empty.

    Args:
        place: the file and the line, for messages.
        cells: the cells by the names of their columns.

    Raises:
        ValueError: a cell of another kind; the message names the file and the line.
    """

    def __init__(self, place: str, cells: Mapping[str, str]):
        self.place = place
        self.cells = cells

    def error(self, message: str) -> ValueError:
        """A ValueError that names the place of this row."""
        return ValueError(f"{self.place}: {message}")

    def cell(self, column: str) -> str:
        """The text of a cell, which may be empty."""
        if column not in self.cells:
            raise self.error(f"the table must have a column {column!r}")
        return "" if self.cells[column] == "-" else self.cells[column]

    def words(self, *columns: str) -> tuple[str, ...]:
        """One word per column."""
        words = tuple(self.cell(column) for column in columns)
        for column, word in zip(columns, words, strict=True):
            if not word:
                raise self.error(f"column {column!r} must hold a word")
        return words

    def word(self, column: str, options: Collection[str] = ()) -> str:
        """A word, one of the options if there are any."""
        (word,) = self.words(column)
        if options and word not in options:
            raise self.error(f"{column} must be one of {', '.join(options)}, got {word!r}")
        return word

    def flag(self, column: str) -> bool:
        """Whether the cell is "yes"; the other value is "no"."""
        return self.word(column, ("yes", "no")) == "yes"

    def names(self, column: str, options: Collection[str]) -> tuple[str, ...]:
        """Names separated by commas, each of them one of the options."""
        names = tuple(self.cell(column).split(",")) if self.cell(column) else ()
        for name in names:
            if name not in options:
                raise self.error(f"{column} has no {name!r}")
        return names

    def items(self, column: str) -> tuple[Item, ...]:
        """Words with the digits of their concepts: ``last:0 week:1``, or ``la`` for a word without concept."""
        items = []
        for text in self.cell(column).split():
            word, _, digits = text.partition(":")
            if not word or (":" in text and not (digits.isascii() and digits.isdigit())):
                raise self.error(f"{column} must hold words and digits such as week:1, got {text!r}")
            items.append((word, tuple(map(int, digits))))
        return tuple(items)


def rows(path: Traversable) -> list[Row]:
    """The rows of a table: a line of column names, then one line per row, with tabs between the cells.

    Raises:
        ValueError: a row with another number of cells than columns, or with an empty cell.
    """
    header, *lines = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    table = []
    for number, cells in enumerate(lines, start=2):
        place = f"{path.name}, line {number}"
        if len(cells) != len(header):
            raise ValueError(f"{place}: a row must have {len(header)} cells, got {len(cells)}")
        if any(not cell or cell != cell.strip() for cell in cells):
            raise ValueError(
                f"{place}: a cell must not be empty or begin or end with a blank; write - for nothing"
            )
        table.append(Row(place, dict(zip(header, cells, strict=True))))
    return table


def read(path: Traversable, make: Callable[[Row], T]) -> dict[str, T]:
    """The entries of a table by the words of its first column.

    Raises:
        ValueError: as ``rows`` and ``make``, or a word that has an entry already.
    """
    entries: dict[str, T] = {}
    for row in rows(path):
        key = next(iter(row.cells.values()))
        if key in entries:
            raise row.error(f"{key!r} has a row already")
        entries[key] = make(row)
    return entries


def noun(row: Row) -> Noun:
    """A noun. Mass nouns and places have only a singular, and mass nouns have no classifier."""
    en, fr, zh = row.words("en", "fr", "zh")
    tags = frozenset(row.word("tags").split(","))
    plurals = (en, fr) if tags & {"mass", "place"} else row.words("en_plural", "fr_plural")
    return Noun(
        en,
        (en, plurals[0]),
        (fr, plurals[1]),
        row.word("gender", ("m", "f")),
        zh,
        "" if "mass" in tags else row.word("classifier"),
        tags,
    )


def verb(row: Row) -> Verb:
    """A verb, whose subjects, objects and places must be known."""
    return Verb(
        row.cell("concept"),
        row.words("en", "en_third", "en_past", "en_ing"),
        row.cell("en_particle"),
        row.words("fr", "fr_first", "fr_third", "fr_plural", "fr_participle"),
        row.word("fr_auxiliary", ("avoir", "être")),
        row.word("zh"),
        row.flag("zh_le"),
        frozenset(row.names("subjects", _TAGS)),
        frozenset(row.names("objects", _TAGS)),
        row.names("places", ("home", *PLACES)),
        row.names("tenses", TENSES),
        row.names("uses", ("act", "take", "certain", "company", "favour", *MANNERS)),
    )


def adjective(row: Row) -> Adjective:
    """An adjective, whose nouns must be known."""
    return Adjective(
        row.word("en"),
        row.cell("en_comparative"),
        row.words("fr_m", "fr_f", "fr_m_plural", "fr_f_plural"),
        row.cell("fr_m_vowel"),
        row.flag("fr_before"),
        row.word("zh"),
        row.flag("zh_de"),
        row.word("zh_predicate"),
        frozenset(row.names("nouns", _TAGS)),
    )


def place_words(row: Row) -> tuple[str, str, str]:
    """The words of a place: prepositions in English and French, a word after the place in Chinese or ``""``."""
    row.word("place", PLACES)
    return (*row.words("en", "fr"), row.cell("zh_after"))


def name(row: Row) -> Name:
    """A name."""
    return Name(*row.words("en", "fr"), row.word("gender", ("m", "f")), row.word("zh"))


def possessive(row: Row) -> Possessive:
    """A possessive determiner."""
    return Possessive(row.word("en"), row.words("fr_m", "fr_f", "fr_plural"), row.word("zh"))


def pronoun(row: Row) -> Pronoun:
    """A pronoun, whose possessive must be known."""
    return Pronoun(
        row.words("en", "en_object"),
        row.words("fr", "fr_direct", "fr_indirect"),
        row.word("zh"),
        _AGREEMENTS.index(row.word("agreement", _AGREEMENTS)),
        row.word("possessive", POSSESSIVES) if row.cell("possessive") else "",
    )


def expression(row: Row) -> Expression:
    """An expression of several words, or one of times."""
    return Expression(row.items("en"), row.items("fr"), row.items("zh"))


def read_times(path: Traversable) -> dict[str, tuple[Expression, ...]]:
    """The expressions of time of each tense; an expression is repeated as often as its weight says."""
    times: dict[str, tuple[Expression, ...]] = defaultdict(tuple)
    for row in rows(path):
        weight = row.word("weight", ("1", "2", "3"))
        times[row.word("tense", (*TENSES, "state"))] += (expression(row),) * int(weight)
    return dict(times)


def read_moves(path: Traversable) -> dict[str, dict[str, tuple[Move, ...]]]:
    """The moves of each rule and state, in the order of the table.

    The rules: ``reaction`` is what somebody does in a state, ``help`` what another person then does for them,
    ``despite`` what they do in spite of it. Three rules give causes: ``own cause`` is what the person did before,
    ``thanks`` what another did for the person, ``others`` what others did. ``in vain`` is something that should have
    ended the state. ``first`` and ``next`` are two actions one after the other, which need no state: it is ``""``.
    """
    moves: dict[str, dict[str, tuple[Move, ...]]] = {}
    for row in rows(path):
        states = moves.setdefault(row.word("rule", RULES), {})
        state = row.word("state", ADJECTIVES) if row.cell("state") else ""
        move = Move(row.word("kind", KINDS), row.names("verbs", VERBS), row.names("things", COUNT_NOUNS))
        states[state] = (*states.get(state, ()), move)
    return moves


_ALL_NOUNS = read(WORDS / "nouns.tsv", noun)
MEASURES = {name: entry for name, entry in _ALL_NOUNS.items() if "measure" in entry.tags}
NOUNS = {name: entry for name, entry in _ALL_NOUNS.items() if name not in MEASURES}
MASS_NOUNS = {name: entry for name, entry in NOUNS.items() if "mass" in entry.tags}
PLACES = {name: entry for name, entry in NOUNS.items() if "place" in entry.tags}
COUNT_NOUNS = {name: entry for name, entry in NOUNS.items() if not entry.tags & {"mass", "place"}}
PLACE_WORDS = read(WORDS / "places.tsv", place_words)
NAMES = read(WORDS / "names.tsv", name)
NUMERALS = tuple(read(WORDS / "numerals.tsv", lambda row: row.words("en", "fr", "zh")).values())
ADVERBS = read(WORDS / "adverbs.tsv", lambda row: row.words("fr", "zh"))
POSSESSIVES = read(WORDS / "possessives.tsv", possessive)
PRONOUNS = read(WORDS / "pronouns.tsv", pronoun)
_TAGS = frozenset({"name"}).union(*(entry.tags for entry in NOUNS.values()))
VERBS = read(WORDS / "verbs.tsv", verb)
ADJECTIVES = read(WORDS / "adjectives.tsv", adjective)
EXPRESSIONS = read(WORDS / "expressions.tsv", expression)
TIMES = read_times(WORDS / "times.tsv")
MOVES = read_moves(WORDS / "moves.tsv")
