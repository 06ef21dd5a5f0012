"""The kinds of figures: classes, which say what is drawn, and for each of them a script here that draws it.

Explained in book/explorables.
"""

from utils.figures.kinds.alignment import Alignment
from utils.figures.kinds.arrows import Arrows
from utils.figures.kinds.bars import Bars
from utils.figures.kinds.cache import Cache
from utils.figures.kinds.curve import Curve
from utils.figures.kinds.decoding import DecodingSteps, record_decoding
from utils.figures.kinds.heads import Heads
from utils.figures.kinds.layers import Layers
from utils.figures.kinds.lines import Lines
from utils.figures.kinds.listening import Listening
from utils.figures.kinds.pieces import Pieces
from utils.figures.kinds.plane import Plane
from utils.figures.kinds.ranking import Ranking
from utils.figures.kinds.translations import Translations
from utils.figures.kinds.tree import Tree
from utils.figures.kinds.weights import Weights

__all__ = [
    "Alignment",
    "Arrows",
    "Bars",
    "Cache",
    "Curve",
    "DecodingSteps",
    "Heads",
    "Layers",
    "Lines",
    "Listening",
    "Pieces",
    "Plane",
    "Ranking",
    "Translations",
    "Tree",
    "Weights",
    "record_decoding",
]
