"""The choices and limits that the options of the commands share with the functions that they call.

Nothing here imports torch, so that ``--help`` takes little time.
Explained in book/your_translator.
"""

from dataclasses import dataclass, field, fields
from enum import StrEnum

from utils.errors import CourseError


@dataclass(frozen=True)
class Search:
    """How to search for a translation. Each number has an option of the commands that search, with the help text here.

    Attributes:
        beam: number of hypotheses, from 1, which is greedy search, to 100. Time and memory of a search grow with it,
            and far smaller beams give the best translations.
        length_penalty: from 0 to 10, as for :func:`utils.search.beam_search`; it does not change greedy search.
        no_repeat_ngram: from 0 to 1000, as for :func:`utils.search.greedy`.

    Raises:
        ValueError: a number out of its range, with its name.

    >>> Search(beam=5)
    Search(beam=5, length_penalty=1.0, no_repeat_ngram=0)
    """

    beam: int = field(
        default=1,
        metadata={
            "limits": (1, 100),
            "help": "Number of hypotheses in the search, at most 100; 1 is greedy search.",
        },
    )
    length_penalty: float = field(
        default=1.0,
        metadata={
            "limits": (0, 10),
            "help": "Exponent of the length by which a beam search divides log-probabilities; 0 favours short "
            "translations.",
        },
    )
    no_repeat_ngram: int = field(
        default=0,
        metadata={
            "limits": (0, 1000),
            "help": "Write no sequence of this many tokens twice in a translation; 0 allows it.",
        },
    )

    def __post_init__(self):
        for option in fields(self):
            name, number = option.name, getattr(self, option.name)
            if option.type is int and (isinstance(number, bool) or not isinstance(number, int)):
                raise CourseError(f"{name} must be a whole number, got {number!r}")
            least, most = option.metadata["limits"]
            if not least <= number <= most:
                raise CourseError(f"{name} must be from {least} to {most}, got {number}")


#: The search where none is chosen.
GREEDY = Search()


class Device(StrEnum):
    """The devices that a user can choose from. Explained in book/your_translator."""

    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"
    MPS = "mps"


class Model(StrEnum):
    """The translators that a user can choose from."""

    RECURRENT = "recurrent"
    TRANSFORMER = "transformer"
