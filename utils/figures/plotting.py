"""One look for every figure of the course: sizes, colours, fonts, and the heat map of attention weights.

Only this module imports matplotlib.
A notebook stores each figure as an SVG whose letters are text and whose colours are CSS variables. The book writes it
into the page itself, because only there the drawing sees the theme of the page. Elsewhere the drawing has a white
background.
Its colours are explained in book/notation.
"""

import hashlib
import io
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
from IPython import get_ipython
from jaxtyping import Bool, Float
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.textpath import TextPath
from torch import Tensor

from utils.figures.chinese import font_face, font_path
from utils.figures.colours import (  # chapters take them from here
    BASELINE,  # noqa: F401
    BROWN,
    COLOURS,
    FAINT,  # noqa: F401
    GOLD,  # noqa: F401
    GREY,
    INK,
    KEY,  # noqa: F401
    LOOKS_BACK,  # noqa: F401
    ONE_VECTOR,
    PAPER,
    QUERY,  # noqa: F401
    TRAINING,  # noqa: F401
    TRANSFORMER,  # noqa: F401
    TRUTH,  # noqa: F401
    VALIDATION,  # noqa: F401
    VALUE,  # noqa: F401
    VIOLET,
    WEIGHT,
    css_variables,
)
from utils.figures.packing import check_shares

#: The colours of weights: transparent is 0, blue is 1, so that 0 is white on paper and dark on a dark page.
WEIGHTS = LinearSegmentedColormap.from_list("weights", [(WEIGHT, 0.0), (WEIGHT, 1.0)])
#: The colours of scores, each drawing on its own scale; blue is for weights alone.
SCORES = LinearSegmentedColormap.from_list("scores", [(GREY, 0.0), (GREY, 1.0)])
#: The curves of a figure in their order; the line styles are for readers who do not see the colours.
SERIES = (BROWN, VIOLET, GREY, INK)
DASHES = ("-", "--", "-.", ":")

#: Inches. A phone shows 328 pixels of width: on a figure of this width, letters of 11 points have 10 pixels there.
SIZE = (5.0, 3.2)
FONT_SIZE = 11


def use_style() -> None:
    """Set matplotlib to the look of the book, Chinese glyphs included; call once per notebook.

    All other settings get matplotlib's defaults, whatever stands in the reader's own ``matplotlibrc``.
    """
    font_manager.fontManager.addfont(font_path())
    mpl.rcdefaults()
    if WEIGHTS.name not in mpl.colormaps:
        mpl.colormaps.register(WEIGHTS)
    mpl.rcParams.update(
        {
            "figure.figsize": SIZE,
            "figure.dpi": 100,
            "savefig.dpi": 100,
            "figure.constrained_layout.use": True,
            "figure.facecolor": PAPER,
            "axes.facecolor": "none",
            "font.family": ["DejaVu Sans", "Noto Sans CJK JP"],
            "font.size": FONT_SIZE,
            **dict.fromkeys(("axes.titlesize", "axes.labelsize", "legend.fontsize"), FONT_SIZE),
            **dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), FONT_SIZE),
            **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), INK),
            **dict.fromkeys(("xtick.color", "ytick.color", "patch.edgecolor"), INK),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": mpl.cycler(color=SERIES) + mpl.cycler(linestyle=DASHES),
            "lines.linewidth": 1.8,
            "hatch.linewidth": 0.7,
            "legend.frameon": False,
            "image.cmap": WEIGHTS.name,
            "svg.hashsalt": "attention",
            "text.language": "zh-Hans",  # the Chinese forms of characters that Japanese has, too
        }
    )
    if shell := get_ipython():
        # The backend of notebooks registers PNG when it is first used, so it is used before PNG is taken away.
        plt.switch_backend(mpl.get_backend())
        formatters = shell.display_formatter.formatters
        formatters["image/png"].pop(Figure, None)
        formatters["image/svg+xml"].for_type(Figure, svg)


#: If a page names its theme, the drawing has no background of its own, and it has dark colours if the page has.
_STYLE = (
    f".chart{{{css_variables(dark=False)};background:var(--paper);height:auto;max-width:100%}}"
    ".chart *{stroke-linejoin:round}"
    ".chart text{font-family:Chinese,var(--pst-font-family-base,system-ui,'DejaVu Sans',sans-serif)}"
    ".chart tspan{font-family:'DejaVu Sans',Verdana,sans-serif}"
    '@media screen{html[data-theme="dark"] .chart,body[data-jp-theme-light="false"] .chart'
    f"{{{css_variables(dark=True)}}}"
    "html[data-theme] .chart{--paper:var(--pst-color-background);background:none}}"
    "@media(forced-colors:active){.chart{--ink:CanvasText;--paper:Canvas}}"
)
_VARIABLES = {light: f"var(--{name})" for name, (light, _) in COLOURS.items()} | {"#000000": "var(--ink)"}
_SVG = "http://www.w3.org/2000/svg"
ElementTree.register_namespace("", _SVG)
_LINK = "{http://www.w3.org/1999/xlink}href"
#: Properties with their default values, which can be left out.
_NEEDLESS = {"stroke-linejoin: round", "stroke-linecap: butt", "stroke-dashoffset: 0", "text-anchor: start"}
#: Fonts are those of the page; only mathematics keeps the font for which its letters were placed.
_FONT_FAMILY = re.compile("font-family: [^;]*(; )?")


def svg(figure: Figure) -> str:
    """The figure as a notebook stores it: small, the same at each run, in colours that follow the theme of a page.

    Letters are text, coordinates are rounded to a tenth of a point, and ids begin with a checksum of the drawing, so
    that a page can hold many drawings.
    """
    drawing = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        figure.savefig(drawing, format="svg", facecolor="none", metadata={"Date": None})
    root = ElementTree.fromstring(drawing.getvalue())
    _simplify(root)
    _rename_ids(root)
    width, height = root.attrib.pop("viewBox").split()[2:]
    pixels = [str(round(float(size) * 96 / 72)) for size in (width, height)]
    root.attrib = {
        "class": "chart",
        "viewBox": f"0 0 {width} {height}",
        "width": pixels[0],
        "height": pixels[1],
    }
    style = ElementTree.Element(f"{{{_SVG}}}style")
    style.text = font_face("Chinese", "".join(root.itertext())) + _STYLE
    root.insert(0, style)
    return ElementTree.tostring(root, encoding="unicode")


def _simplify(parent: ElementTree.Element) -> None:
    """Remove elements that show nothing, replace fixed colours by those of the theme, and round the coordinates."""
    for child in list(parent):
        _simplify(child)
        kind = child.tag.removeprefix(f"{{{_SVG}}}")
        if kind in ("metadata", "style") or (kind in ("g", "defs") and len(child) == 0):
            parent.remove(child)
            continue
        if link := child.attrib.pop(_LINK, None):
            child.set("href", link)
        for name in {"d", "x", "y", "width", "height", "transform"}.intersection(child.attrib):
            child.set(name, _rounded(child.get(name)))
        if child.get("transform", "").startswith("rotate(-0 "):
            del child.attrib["transform"]
        look = _FONT_FAMILY.sub("", child.attrib.pop("style", ""))
        look = "; ".join(part for part in look.split("; ") if part and part not in _NEEDLESS)
        if look == "fill: none" and kind == "path":
            parent.remove(child)
            continue
        if look:
            child.set("style", _themed(look))
        if ground := child.attrib.pop("fill", None):  # the colour of a hatch
            child.set("style", _themed(f"fill: {ground}"))
        if len(child) or kind not in ("text", "tspan"):
            child.text = None
        child.tail = None
        if kind == "g":
            child.attrib.pop("id", None)
            if not child.attrib:  # a group without a meaning: its children take its place
                place = list(parent).index(child)
                parent[place : place + 1] = list(child)


def _rounded(numbers: str) -> str:
    """Coordinates to a tenth of a point, without needless spaces.

    >>> _rounded("M 1.96 -0.04\\nL 30.00 2")
    'M2 0L30 2'
    """
    numbers = re.sub(r"-?\d+\.\d+", lambda match: f"{round(float(match[0]), 1) + 0.0:g}", numbers)
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", " ".join(numbers.split()))


def _themed(style: str) -> str:
    colours = re.sub("#[0-9a-f]{6}", lambda match: _VARIABLES.get(match[0], match[0]), style.lower())
    return colours.replace(": ", ":").replace("; ", ";")


def _rename_ids(root: ElementTree.Element) -> None:
    """Keep only the ids that something refers to, and give them names that no other drawing has."""
    text = ElementTree.tostring(root, encoding="unicode")
    used_names = list(dict.fromkeys(re.findall(r'(?:href="|url\()#(\w+)', text)))
    prefix = "x" + hashlib.sha256(text.encode()).hexdigest()[:8]
    names = {name: f"{prefix}-{number}" for number, name in enumerate(used_names)}
    for element in root.iter():
        for attribute, value in list(element.items()):
            if attribute == "id":
                if value in names:
                    element.set("id", names[value])
                else:
                    del element.attrib["id"]
            elif "#" in value:
                element.set(attribute, re.sub(r"#(\w+)", lambda m: "#" + names.get(m[1], m[1]), value))


def panels(
    num: int, *, width: float = SIZE[0], height: float = SIZE[1], **kwargs
) -> tuple[Figure, list[Axes]]:
    """A figure with ``num`` axes side by side.

    Args:
        num: number of axes.
        width: of the whole figure, in inches; by default as for a single panel.
        height: of the whole figure, in inches.
        kwargs: passed to ``plt.subplots`` (``sharey=True``, …).
    """
    figure, axes = plt.subplots(1, num, figsize=(width, height), squeeze=False, **kwargs)
    return figure, list(axes[0])


def heatmap(
    weights: Float[Tensor, "queries keys"],
    *,
    queries: Sequence[object] | None = None,
    keys: Sequence[object] | None = None,
    ax: Axes | None = None,
    mask: Bool[Tensor, "queries keys"] | None = None,
    colorbar: bool = True,
    xlabel: str = "keys",
    ylabel: str = "queries",
) -> Axes:
    """Draw attention weights: one row per query, one column per key; the background is 0, and full blue is 1.

    Args:
        queries: labels of the rows, for instance words; None numbers them. A ``$`` in a label is a dollar sign.
        keys: labels of the columns; long ones are rotated.
        mask: False where a query may not attend; these cells are hatched. None hatches none.
        ax: where to draw; None makes a new figure.
        colorbar: draw the colour bar. Panels that share a colour bar pass False and call :func:`colorbar_for`.

    Raises:
        ValueError: a number of labels that is not the number of rows or columns, or weights that are not from 0 to 1.
    """
    num_queries, num_keys = weights.shape
    for name, labels, length in (("queries", queries, num_queries), ("keys", keys, num_keys)):
        if labels is not None and len(labels) != length:
            raise ValueError(f"{name} must have {length} labels, got {len(labels)}")
    shares = weights.detach().float().cpu().numpy()
    check_shares("weights", shares)
    if ax is None:
        ax = plt.subplots(figsize=(SIZE[0], max(SIZE[1], 1.4 + 0.21 * num_queries)))[1]
    # Not imshow, which would store a picture of pixels in the SVG: cell (i, j) is the square around (j, i).
    columns, rows = ([edge - 0.5 for edge in range(length + 1)] for length in (num_keys, num_queries))
    ax.pcolormesh(columns, rows, shares, cmap=WEIGHTS, vmin=0, vmax=1)
    ax.set_ylim(num_queries - 0.5, -0.5)
    if mask is not None:
        for row, column in (~mask).nonzero().tolist():
            ax.add_patch(
                Rectangle(
                    (columns[column], rows[row]), 1, 1, fill=False, hatch="///", edgecolor=GREY, linewidth=0
                )
            )
    key_labels = [str(label) for label in (range(num_keys) if keys is None else keys)]
    rotated = any(len(label.encode()) > 3 for label in key_labels)  # a Chinese character is three bytes long
    look = {"rotation": 60, "rotation_mode": "anchor", "ha": "right"} if rotated else {}
    ax.set_xticks(range(num_keys), key_labels, parse_math=False, **look)
    query_labels = [str(label) for label in (range(num_queries) if queries is None else queries)]
    ax.set_yticks(range(num_queries), query_labels, parse_math=False)
    ax.set_xlabel(xlabel, parse_math=False)
    ax.set_ylabel(ylabel, parse_math=False)
    ax.spines[:].set(visible=True, color=GREY)  # without these lines, cells of 0 would have no edge
    ax.tick_params(length=0)
    if colorbar:
        colorbar_for([ax])
    return ax


def colorbar_for(axes: Sequence[Axes]) -> Axes:
    """Draw one colour bar, 0 to 1, for several heat maps, right of them."""
    # matplotlib's own colour bar would be a picture of pixels. Here are twenty cells in the colours of the heat maps.
    holder, _ = mpl.colorbar.make_axes(list(axes), shrink=0.9, pad=0.02, aspect=18)
    steps = [step / 20 for step in range(21)]
    centres = [[(low + high) / 2] for low, high in itertools.pairwise(steps)]
    holder.pcolormesh([0, 1], steps, centres, cmap=WEIGHTS, vmin=0, vmax=1)
    holder.set(xticks=[], yticks=[0, 0.5, 1], ylabel="weight")
    holder.yaxis.set(label_position="right", ticks_position="right")
    holder.spines[:].set(visible=True, color=GREY)
    return holder


#: How dark the box of a word is that is in no shared run, alone, or in a run of two, three, and four words.
_SHADES = 0, 0.08, 0.17, 0.28, 0.42


def longest_runs(words: Sequence[str], others: Sequence[str]) -> list[int]:
    """For each word the length of the longest run with it, up to 4, that another text has, too.

    A run counts at most as often as the other text has it, as for BLEU.

    >>> longest_runs("la petite petite fleur".split(), "la petite fleur".split())
    [2, 2, 2, 2]
    """
    longest = [0] * len(words)
    for n in (1, 2, 3, 4):
        left = Counter(zip(*(others[start:] for start in range(n)), strict=False))
        for start in range(len(words) - n + 1):
            run = tuple(words[start : start + n])
            if left[run] > 0:
                left[run] -= 1
                longest[start : start + n] = [n] * n
    return longest


def words_in_boxes(ax: Axes, x: float, y: float, words: Sequence[str], longest: Sequence[int]) -> float:
    """Draw words in boxes: the longer the run of a word, the darker its box and the thicker the line below it.

    Args:
        ax: from :func:`page_of_boxes`.
        x: the left edge, in points.
        y: the middle of the first line, in points.
        words: what to draw; it goes on in a new line at the right edge.
        longest: for each word a number from 0 to 4, as from :func:`longest_runs`.

    Returns:
        The middle of the last line.
    """
    left = x
    for word, n in zip(words, longest, strict=True):
        width = TextPath((0, 0), word, size=FONT_SIZE).get_extents().width + 8
        if x + width > ax.get_xlim()[1] - 4:
            x, y = left, y - 23
        if n:
            ax.add_patch(
                Rectangle((x, y - 9), width, 18, facecolor=ONE_VECTOR, alpha=_SHADES[n], linewidth=0)
            )
            ax.add_patch(Rectangle((x, y - 9), width, 1.1 * n, facecolor=ONE_VECTOR, linewidth=0))
        else:
            ax.add_patch(
                Rectangle((x, y - 9), width, 18, fill=False, edgecolor=GREY, linestyle=":", linewidth=0.8)
            )
        ax.text(x + width / 2, y, word, ha="center", va="center", parse_math=False)
        x += width + 2
    return y


def page_of_boxes(height: float) -> Axes:
    """Axes for :func:`words_in_boxes`, in points, y from ``-height`` to 0, with what the boxes mean at the top."""
    ax = plt.subplots(figsize=(SIZE[0], height / 72))[1]
    ax.set(xlim=(0, 72 * SIZE[0]), ylim=(-height, 0))
    ax.axis("off")
    words_in_boxes(ax, 2, -12, ["not shared", "a word", "run of 2", "run of 3", "4 or more"], range(5))
    return ax
