"""The kinds of figures. Each has two files here: Python, which says what it draws, and a script that draws it.

Explained in book/explorables.
"""

from utils.explorables.kinds.alignment import Alignment
from utils.explorables.kinds.bars import Bars
from utils.explorables.kinds.curve import Curve
from utils.explorables.kinds.decoding import DecodingSteps, record_decoding
from utils.explorables.kinds.plane import Plane
from utils.explorables.kinds.scene import Scene
from utils.explorables.kinds.weights import Weights

__all__ = ["Alignment", "Bars", "Curve", "DecodingSteps", "Plane", "Scene", "Weights", "record_decoding"]
