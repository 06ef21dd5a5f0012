"""Figures with sliders, which work on a web page without Python and as an ipywidgets control in a notebook.

torch computes every frame in advance; the same script draws the frames in both places.
"""

from utils.figures.figure import Figure
from utils.figures.kinds import (
    Alignment,
    Bars,
    Curve,
    DecodingSteps,
    Heads,
    Plane,
    Weights,
    record_decoding,
)

__all__ = [
    "Alignment",
    "Bars",
    "Curve",
    "DecodingSteps",
    "Figure",
    "Heads",
    "Plane",
    "Weights",
    "record_decoding",
]
