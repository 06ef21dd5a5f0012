"""The choices and limits that the options of the commands share with the functions that they call.

Nothing here imports torch, so that ``--help`` takes little time.
Explained in book/api/command_line.
"""

from enum import StrEnum

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


class Precision(StrEnum):
    """How ``export`` stores each number of a matrix: in 1, 2 or 4 bytes."""

    INT8 = "int8"
    FLOAT16 = "float16"
    FLOAT32 = "float32"
