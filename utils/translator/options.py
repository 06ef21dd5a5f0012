"""The choices and limits that the options of the commands share with the functions that they call.

Nothing here imports torch, so that ``--help`` takes little time.
Explained in book/api/command_line.
"""

from enum import StrEnum

#: Lines per round of reading and translating: enough to form batches of similar length.
AT_ONCE = 512
#: The largest beam. Time and memory of a search grow with the beam, and far smaller beams give the best translations.
MAX_BEAM = 100


class Device(StrEnum):
    """The devices that a user can choose from. Explained in book/scaling."""

    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"
    MPS = "mps"


class Model(StrEnum):
    """The translators that a user can choose from."""

    RECURRENT = "recurrent"
    TRANSFORMER = "transformer"
