"""One look for every figure of the course: sizes, colours, fonts, and the heat map of attention weights.

Only this module imports matplotlib. Of the other modules of ``utils`` only ``heatmaps`` imports it, and only to draw a
picture.
Its colours are explained in book/notation.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from jaxtyping import Float
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

#: Okabe and Ito's colours, which readers with any colour vision can tell apart; black is a dark grey.
BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, BLACK = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#222222",
)  # fmt: skip
#: One colour each for the three roles, in every figure of the book.
QUERY, KEY, VALUE = VERMILION, BLUE, GREEN
#: The colours of weights, in static and in live figures: white is 0, blue is 1.
WEIGHTS = LinearSegmentedColormap.from_list("weights", ["white", BLUE])
#: Line styles in the order of the colours, for readers who do not see the colours.
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))

SIZE = (6.4, 3.6)


def use_style() -> None:
    """Set matplotlib's defaults to the look of the book, Chinese glyphs included; call once per notebook."""
    cjk = _add_cjk_font()
    mpl.rcParams.update(
        {
            "figure.figsize": SIZE,
            "figure.dpi": 100,
            "savefig.dpi": 100,
            "figure.constrained_layout.use": True,
            "figure.facecolor": "white",
            "font.family": ["DejaVu Sans", cjk],
            "font.size": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": mpl.cycler(color=[BLUE, VERMILION, GREEN, ORANGE, PURPLE])
            + mpl.cycler(linestyle=list(DASHES)),
            "lines.linewidth": 1.8,
            "legend.frameon": False,
            "image.cmap": "Blues",
            "svg.hashsalt": "attention",
        }
    )
    if "text.language" in mpl.rcParams:  # matplotlib 3.11: the Chinese forms of the shared ideographs
        mpl.rcParams["text.language"] = "zh-Hans"


def _add_cjk_font() -> str:
    """Register Noto Sans CJK from the package notojp-matplotlib, and return its family name."""
    spec = find_spec("notojp_matplotlib")  # not imported: an import would change matplotlib's defaults
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("the Chinese font is missing: pip install notojp-matplotlib")
    path = str(Path(spec.submodule_search_locations[0]) / "fonts" / "NotoSansCJKjp-Regular.otf")
    family = font_manager.get_font(path).family_name
    if family not in {font.name for font in font_manager.fontManager.ttflist}:
        font_manager.fontManager.addfont(path)
    return family


def panels(
    num: int, *, width: float | None = None, height: float = SIZE[1], **kwargs
) -> tuple[Figure, list[Axes]]:
    """A figure with ``num`` axes side by side.

    Args:
        num: number of axes.
        width: of the whole figure, in inches; 6.4 by default, as for a single panel.
        height: of the whole figure, in inches.
        kwargs: passed to ``plt.subplots`` (``sharey=True``, …).
    """
    figure, axes = plt.subplots(1, num, figsize=(width or SIZE[0], height), squeeze=False, **kwargs)
    return figure, list(axes[0])


def heatmap(
    weights: Float[Tensor, "queries keys"],
    *,
    queries: Sequence[object] | None = None,
    keys: Sequence[object] | None = None,
    ax: Axes | None = None,
    colorbar: bool = True,
    xlabel: str = "keys",
    ylabel: str = "queries",
) -> Axes:
    """Draw attention weights: one row per query, one column per key; white is 0 and blue is 1.

    Args:
        queries: labels of the rows, for instance words; None numbers them.
        keys: labels of the columns; long ones are rotated.
        ax: where to draw; None makes a new figure.
        colorbar: draw the colour bar. Panels that share a colour bar pass False and call :func:`colorbar_for`.

    Raises:
        ValueError: a number of labels that is not the number of rows or columns.
    """
    num_queries, num_keys = weights.shape
    for name, labels, length in (("queries", queries, num_queries), ("keys", keys, num_keys)):
        if labels is not None and len(labels) != length:
            raise ValueError(f"{name} must have {length} labels, got {len(labels)}")
    if ax is None:
        ax = plt.subplots()[1]
    image = ax.imshow(weights.detach().float().cpu().numpy(), cmap=WEIGHTS, vmin=0, vmax=1, aspect="auto")
    key_labels = [str(label) for label in (range(num_keys) if keys is None else keys)]
    rotated = any(len(label) > 3 for label in key_labels)
    ax.set_xticks(
        range(num_keys), key_labels, rotation=60 if rotated else 0, ha="right" if rotated else "center"
    )
    if rotated:
        for label in ax.get_xticklabels():
            label.set_rotation_mode("anchor")
    ax.set_yticks(range(num_queries), [str(q) for q in (range(num_queries) if queries is None else queries)])
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.spines[:].set(visible=True, color="lightgrey")  # white cells would have no edge
    ax.tick_params(length=0)
    if colorbar:
        colorbar_for([ax], image)
    return ax


def colorbar_for(axes: Sequence[Axes], image: mpl.image.AxesImage | None = None) -> None:
    """Draw one colour bar, 0 to 1, for several heat maps."""
    image = image or axes[0].images[0]
    axes[0].figure.colorbar(image, ax=list(axes), label="weight", ticks=[0, 0.5, 1], shrink=0.9, pad=0.02)


def shape_diagram(blocks: Sequence[tuple[str, tuple[int, int], str, str]], *, ax: Axes | None = None) -> Axes:
    """Draw a formula of matrices as rectangles in proportion to their shapes, the name above and the shape below.

    Args:
        blocks: for each matrix its name, its shape ``(rows, columns)``, its colour, and the text between it and
            the next one: an operator, a word, or nothing.
        ax: where to draw; None makes a new figure of the usual width and less height.
    """
    if ax is None:
        ax = plt.subplots(figsize=(SIZE[0], 0.65 * SIZE[1]))[1]
    half = max(rows for _, (rows, _), _, _ in blocks) / 2
    unit = sum(columns for _, (_, columns), _, _ in blocks) / 30  # room for text, whatever the shapes
    x = 0.0
    for name, (rows, columns), colour, operator in blocks:
        ax.add_patch(Rectangle((x, -rows / 2), columns, rows, facecolor=colour, edgecolor=colour, alpha=0.4))
        ax.text(x + columns / 2, half + unit, name, ha="center", va="bottom")
        ax.text(x + columns / 2, -half - unit, f"{rows} × {columns}", ha="center", va="top", fontsize=9)
        gap = unit * (2.5 if len(operator) < 3 else 1.5 + 0.6 * len(operator))
        ax.text(x + columns + gap / 2, 0, operator, ha="center", va="center")
        x += columns + gap
    ax.set(xlim=(-unit, x), ylim=(-half - 4 * unit, half + 4 * unit), aspect="equal")
    ax.axis("off")
    return ax
