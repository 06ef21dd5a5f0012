"""Figures with sliders, which work on a web page without Python and as an ipywidgets control in a notebook.

torch computes every frame in advance; the same script draws the frames in both places. The kinds of figures are listed
in ``kinds``.
"""

from utils.figures import kinds
from utils.figures.figure import Figure
from utils.figures.kinds import *  # noqa: F403
from utils.figures.table import Table

__all__ = ["Figure", "Table"]
__all__ += kinds.__all__
