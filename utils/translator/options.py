"""The choices and limits that the options of the commands share with the functions that they call.

Nothing here imports torch, so that ``--help`` takes little time.
Explained in book/your_translator.
"""

from dataclasses import dataclass
from enum import StrEnum

from utils.errors import CourseError


@dataclass(frozen=True)
class Search:
    """How to search for a translation.

    Attributes:
        beam: number of hypotheses, from 1, which is greedy search, to 100. Time and memory of a search grow with it,
            and far smaller beams give the best translations.
        length_penalty: from 0 to 10, as for :func:`utils.search.beam_search`; it does not change greedy search.
        no_repeat_ngram: from 0 to 1000, as for :func:`utils.search.greedy`.

    Raises:
        ValueError: a number out of its range, with its name.

    >>> Search(beam=5)
    Search(beam=5, length_penalty=1.0, no_repeat_ngram=0)

    Explained in book/your_translator.
    """

    beam: int = 1
    length_penalty: float = 1.0
    no_repeat_ngram: int = 0

    def __post_init__(self):
        limits = {"beam": (1, 100), "length_penalty": (0, 10), "no_repeat_ngram": (0, 1000)}
        for name, (least, most) in limits.items():
            number = getattr(self, name)
            if name != "length_penalty" and (isinstance(number, bool) or not isinstance(number, int)):
                raise CourseError(f"{name} must be a whole number, got {number!r}")
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
