"""Figures with sliders, alive in a page without a kernel and an ipywidgets control with one.

torch computes every frame; one script draws them in both worlds.
"""

from utils.explorables.decoding import DecodingSteps, record_decoding
from utils.explorables.figure import Figure
from utils.explorables.kinds import Alignment, Bars, Curve, Weights
from utils.explorables.live import play

__all__ = ["Alignment", "Bars", "Curve", "DecodingSteps", "Figure", "Weights", "play", "record_decoding"]
