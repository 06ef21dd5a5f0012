"""The kinds of figures: each defines the arrays that it draws, and draws its opening frame once, with bindings.

Explained in book/explorables.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from torch import Tensor

from utils.explorables import shapes
from utils.explorables.chinese import font_face
from utils.explorables.drawing import Bind, binds, fixed, tag, text
from utils.explorables.figure import Figure

#: The style of a picture. On a page the script puts the picture into a shadow tree, which the page's own rules do not
#: reach, and figure.css sets its colours, dark mode included. A still picture has the default colours given here.
_STYLE = (
    "svg{--ink:var(--xp-ink,#0072b2);--bar:var(--xp-bar,#d55e00);--true:var(--xp-true,#00795a);"
    "--paper:var(--xp-paper,#fff);color:var(--xp-text,#222)}"
    ":host svg{display:block;max-width:100%;height:auto;touch-action:pan-y}"
    "text{font:12px var(--xp-font,system-ui,sans-serif);fill:currentColor}.paper{fill:var(--paper)}"
    ".bar{fill:var(--bar)}.dot{stroke:var(--bar);stroke-width:12;stroke-linecap:round}"
    ".point{fill:var(--true)}.cells{fill:var(--ink)}"
    ".hit{fill:none;pointer-events:all;cursor:pointer}.hit[data-drag]{cursor:ew-resize;touch-action:pan-y}"
    ".chosen{fill:none;stroke:var(--bar);stroke-width:2;pointer-events:none}"
    ".grid{fill:none;stroke:currentColor;stroke-opacity:.25}"
    ".edges{opacity:.25;fill:currentColor}.edges path{fill:none;stroke:currentColor;stroke-dasharray:2 2}"
    ".line{fill:none;stroke:var(--ink);stroke-width:2;stroke-linecap:round}"
    ".truth{fill:none;stroke:var(--true);stroke-width:1.5;stroke-dasharray:5 3}"
    ".trace{fill:currentColor;fill-opacity:.3;pointer-events:none}"
    ".link{fill:var(--ink);pointer-events:none}"
    ".gold{stroke:var(--bar);stroke-width:1.5;stroke-dasharray:4 3;pointer-events:none}"
    ".onink{paint-order:stroke;stroke:var(--paper);stroke-width:3px}"
    "@media(forced-colors:active){.grid{stroke-opacity:1}.edges{opacity:1}"
    ".cells,.bar,.dot,.link{forced-color-adjust:none}}"
)

#: Width of the band of a weight of 1, from a word to a word that it attends to.
_BAND = 5

#: A phone has room for pictures of this width; where there is more room, they are enlarged.
_NARROW = 420
_ENLARGED = 1.25


def _style(drawing: str) -> str:
    """The style of a picture, with a font for its Chinese: a still picture cannot use the fonts of the page."""
    face = font_face("Chinese", drawing)
    return face + _STYLE.replace("sans-serif)", "sans-serif,Chinese)") if face else _STYLE


def picture(width: float, height: float, *children: str) -> str:
    enlarged = _ENLARGED if width <= _NARROW else 1
    return tag(
        "svg",
        tag("style", _style("".join(children))),
        # A background under all that changes; figure.css says why.
        tag("rect", width="100%", height="100%", class_="paper"),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {round(width)} {round(height)}",
        width=round(enlarged * width),
        height=round(enlarged * height),
    )


def _axis_ticks(left: float, right: float, bottom: float, height: float) -> str:
    """Lines and numbers at 0, 0.5 and 1 of an axis of weights."""
    parts = []
    for value in (0, 0.5, 1):
        y = bottom - height * value
        parts.append(tag("line", x1=left, x2=right, y1=y, y2=y, class_="grid"))
        parts.append(text(value, x=left - 4, y=y + 4, text_anchor="end"))
    return "".join(parts)


class Weights(Figure):
    """Heat map of queries by keys, and under it one row as bars, which readers choose by click, tap or slider.

    ``compute`` returns at least ``weights`` of shape (queries, keys), numbers from 0 to 1.

    Args:
        queries: labels of the rows.
        keys: labels of the columns.
        options: as for :class:`utils.explorables.figure.Figure`.

    >>> import torch
    >>> figure = Weights(
    ...     lambda d: {"weights": torch.softmax(torch.eye(2) * d, dim=-1)},
    ...     {"d": [0, 1]}, queries=["a", "b"], keys=["x", "y"],
    ...     name="tiny", alt="Two rows of weights.", say="{query} at d = {d}",
    ... )
    >>> figure
    Weights tiny: d (2)
    a at d = 0
    """

    kind = "weights"
    table = ("weights", "queries", "keys")

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        queries: Sequence[object],
        keys: Sequence[object],
        **options,
    ):
        labels = {"queries": queries, "keys": keys} | options.pop("labels", {})
        super().__init__(compute, axes, labels=labels, picks={"query": "queries"}, **options)

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """weights: (queries, keys)."""
        return {"weights": (len(self.labels["queries"]), len(self.labels["keys"]))}

    def draw(self) -> str:
        """The heat map, and under its columns the bars of the chosen row with their numbers."""
        queries, keys = self.labels["queries"], self.labels["keys"]
        cell, top, height = 30, 6, 80
        left = max(12 + 7 * max(map(len, queries)), 30)
        right = left + len(keys) * cell
        base = top + len(queries) * cell + 28 + height
        parts = [_heat_map(self, left, top, cell)]
        parts.append(_axis_ticks(left, right, base, height))
        middles = [left + (j + 0.5) * cell for j in range(len(keys))]
        parts += _numbered_bars(self, "weights", middles, cell * 3 / 4, base, height, digits=2, pick="query")
        for j, key in enumerate(keys):
            if len(max(keys, key=len)) > 3:
                parts.append(_turned(key, left + j * cell + 10, base + 14))
            else:
                parts.append(text(key, x=middles[j], y=base + 16, text_anchor="middle"))
        return picture(right + 24, base + 22 + 6 * max(map(len, keys)), *parts)


class Bars(Figure):
    """Distributions as bars, side by side.

    ``compute`` returns an array of shape (bars,), numbers from 0 to 1, for each name in ``panels``. If a panel may
    have no numbers, ``compute`` also returns an array with its name and ``_known``, of shape (): 1 if the panel has
    numbers, 0 if not. In the second case the panel shows only the text ``unknown``.

    Args:
        panels: name of each array to its title.
        bars: labels of the bars.
        unknown: the text of a panel without numbers.
        edge: an axis whose value n draws a dashed line before bar n, for instance the length of a mask; its values
            are 0, 1 and so on.
        options: as for :class:`utils.explorables.figure.Figure`.
    """

    kind = "bars"

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        panels: Mapping[str, str],
        bars: Sequence[object],
        unknown: str = "no numbers",
        edge: str | None = None,
        **options,
    ):
        steps = list(axes.get(edge, ())) if edge else [0]
        if not steps or steps != list(range(len(steps))):
            raise ValueError(f"edge must name an axis of the values 0, 1 and so on, got {edge!r}")
        self.panels, self.unknown, self.edge = dict(panels), unknown, edge
        labels = {"bars": bars} | options.pop("labels", {})
        super().__init__(compute, axes, labels=labels, **options)

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """Each panel: (bars,); each ``_known``: ()."""
        required = dict.fromkeys(self.panels, (len(self.labels["bars"]),))
        return required | self._optional({f"{array}_known": () for array in self.panels})

    def draw(self) -> str:
        """The panels, each with an axis and a number above each bar; wide panels are one above the other."""
        bars = self.labels["bars"]
        width, height, top, left = 48, 130, 40, 34
        # Long labels would touch their neighbours, so every second one is a line lower.
        lower = 14 if max(len(str(label)) for label in bars) > 7 else 0
        step, down = left + len(bars) * width + 20, top + height + 26 + lower
        side_by_side = len(self.panels) * step <= _NARROW
        parts = []
        for number, (array, title) in enumerate(self.panels.items()):
            x0 = left + number * step * side_by_side
            base = top + height + number * down * (not side_by_side)
            parts.append(text(title, x=x0, y=base - height - 26))
            parts.append(_axis_ticks(x0, x0 + len(bars) * width, base, height))
            middles = [x0 + (j + 0.5) * width for j in range(len(bars))]
            numbers = _numbered_bars(self, array, middles, width * 3 / 4, base, height, digits=3)
            for j, label in enumerate(bars):
                parts.append(text(label, x=middles[j], y=base + 16 + lower * (j % 2), text_anchor="middle"))
            if self.edge:
                x = float(x0 + width * self.axes[self.edge].index(self.point[self.edge]))
                across = {"array": f"#{self.edge}", "scale": width, "offset": x0}
                moved = binds(Bind("x1", **across), Bind("x2", **across))
                parts.append(
                    tag("line", x1=x, x2=x, y1=base - height, y2=base, class_="gold", data_bind=moved)
                )
            parts.append(_where_known(self, f"{array}_known", *numbers))
            if f"{array}_known" in self._packed:
                known = float(self.array(f"{array}_known"))
                parts.append(
                    text(
                        self.unknown,
                        x=x0 + len(bars) * width / 2,
                        y=base - height / 2 - 6,
                        text_anchor="middle",
                        visibility="hidden" if known else "visible",
                        data_bind=binds(Bind("visibility", f"{array}_known", scale=-1.0, offset=1.0)),
                    )
                )
        columns, rows = (len(self.panels), 1) if side_by_side else (1, len(self.panels))
        return picture(columns * step, rows * down, *parts)


class Curve(Figure):
    """Points, the true curve and the estimate, a query that readers drag, and its weights under the points.

    ``compute`` returns ``estimate`` (grid,), the estimated curve, ``weights`` (points,), numbers from 0 to 1, and
    ``height`` (), the estimate at the query. If an estimate may be missing, ``estimate_known`` (grid,) and
    ``height_known`` () are 1 where there is one; where they are 0, nothing is drawn.

    Args:
        query: the axis whose values lie on the x axis; readers drag it in the picture.
        points: observed x and y, each (points,).
        grid: x of the drawn curves, (grid,).
        truth: the true y on that grid, (grid,).
        x_label: label of the x axis, with its unit.
        y_label: label of the y axis, with its unit.
        options: as for :class:`utils.explorables.figure.Figure`.
    """

    kind = "curve"

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        query: str,
        points: tuple[Tensor, Tensor],
        grid: Tensor,
        truth: Tensor,
        x_label: str = "",
        y_label: str = "",
        **options,
    ):
        if query not in axes:
            raise ValueError(f"query must name an axis, got {query!r}")
        self.query, self.x_label, self.y_label = query, x_label, y_label
        self.points_x, self.points_y = (np.asarray(side, dtype=float) for side in points)
        self.grid, self.truth = np.asarray(grid, dtype=float), np.asarray(truth, dtype=float)
        for names, x, y in (
            ("x and y of points", self.points_x, self.points_y),
            ("grid and truth", self.grid, self.truth),
        ):
            if x.shape != y.shape:
                raise ValueError(f"{names} must have the same shape, got {x.shape} and {y.shape}")
        super().__init__(compute, axes, **options)

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """estimate and estimate_known: (grid,); weights: (points,); height and height_known: ()."""
        required = {"estimate": self.grid.shape, "weights": self.points_x.shape, "height": ()}
        return required | self._optional({"estimate_known": self.grid.shape, "height_known": ()})

    def draw(self) -> str:
        """The curves above, the weights as bars below, the line of the query across both."""
        left, width, top, curve_height, gap, bar_height = 30, 320, 24, 160, 34, 80
        low, high = self.grid.min(), self.grid.max()
        bottom_y = min(self.points_y.min(), self.truth.min())
        top_y = max(self.points_y.max(), self.truth.max())
        x_scale, y_scale = width / (high - low), -curve_height / (top_y - bottom_y)
        y_offset = top - y_scale * top_y
        base = top + curve_height + gap + bar_height

        def x_of(values):
            return left + (values - low) * x_scale

        def y_of(values):
            return y_offset + y_scale * values

        first, last = (float(x_of(value)) for value in (self.axes[self.query][0], self.axes[self.query][-1]))
        area = {"x": left, "y": top, "width": width, "height": base - top}
        parts = [
            *self._curves(x_of(self.grid), y_of(self.truth), y_scale, y_offset),
            _axis_ticks(left, left + width, base, bar_height),
            text(self.y_label, x=left, y=top - 10),
            *_levels(bottom_y, top_y, y_of, left, left + width),
            *self._points(x_of(self.points_x), y_of(self.points_y), bar_height, base),
            *self._query_line(first, last, (top, base), y_scale, y_offset),
            text("weights", x=left, y=top + curve_height + gap - 10, class_="onink"),
        ]
        for value in np.linspace(low, high, 5):
            parts.append(text(f"{value:g}", x=float(x_of(value)), y=base + 16, text_anchor="middle"))
        parts.append(text(self.x_label, x=left + width / 2, y=base + 32, text_anchor="middle"))
        parts.append(tag("rect", **area, class_="hit", data_drag=f"{self.query} {first:.1f} {last:.1f}"))
        return picture(left + width + 16, base + 38, *parts)

    def _curves(self, xs: np.ndarray, true_ys: np.ndarray, y_scale: float, y_offset: float) -> list[str]:
        """The true curve, and the estimate where there is one."""
        points = " ".join(f"{x:.5g},{y:.5g}" for x, y in zip(xs, true_ys, strict=True))
        known = "estimate_known" if "estimate_known" in self._packed else None
        return [
            tag("polyline", points=points, class_="truth"),
            shapes.curve(self, "estimate", xs, y_scale, y_offset, known=known, class_="line"),
        ]

    def _points(self, xs: np.ndarray, ys: np.ndarray, bar_height: float, base: float) -> list[str]:
        """The points, and below each point its weight as a bar."""
        circles = [
            tag("circle", cx=float(x), cy=float(y), r=3.5, class_="point")
            for x, y in zip(xs, ys, strict=True)
        ]
        return [*circles, shapes.bars(self, "weights", xs.tolist(), 5, -bar_height, base, class_="bar")]

    def _query_line(
        self, first: float, last: float, span: tuple[float, float], y_scale: float, y_offset: float
    ) -> list[str]:
        """The vertical line at the query, and the dot where it meets the estimate."""
        values = self.axes[self.query]
        step = (last - first) / (len(values) - 1)
        at = first + step * values.index(self.point[self.query])
        across = [Bind(end, f"#{self.query}", scale=step, offset=first) for end in ("x1", "x2")]
        height = float(y_offset + y_scale * self.array("height"))
        along = [Bind(end, "height", scale=y_scale, offset=y_offset) for end in ("y1", "y2")]
        line = {"x1": at, "x2": at, "y1": span[0], "y2": span[1]}
        # A line of length 0 with a round end: after moving a circle the browser would compute style again.
        dot = {"x1": at, "x2": at, "y1": height, "y2": height}
        return [
            tag("line", **line, class_="chosen", data_bind=binds(*across)),
            _where_known(
                self, "height_known", tag("line", **dot, class_="dot", data_bind=binds(*across, *along))
            ),
        ]


def _levels(low: float, high: float, y_of: Callable[[float], float], left: float, right: float) -> list[str]:
    """Lines at round values from ``low`` to ``high``, with their numbers."""
    unit = 10.0 ** math.floor(math.log10(high - low))
    parts = []
    for number in range(math.ceil(low / unit), math.floor(high / unit) + 1):
        y = float(y_of(number * unit))
        parts.append(tag("line", x1=left, x2=right, y1=y, y2=y, class_="grid"))
        parts.append(text(f"{number * unit:g}", x=left - 4, y=y + 4, text_anchor="end"))
    return parts


class Alignment(Figure):
    """Two sentences as columns, with lines from the chosen target word to the source words that it attends to.

    The words are listed one below the other, so that long sentences do not make the picture wider. Grey lines show the
    weights of all target words, blue lines those of the chosen word, which are also written in the margin. The larger
    the weight, the thicker the line.
    ``compute`` returns ``weights`` of shape (target, source), numbers from 0 to 1.

    Args:
        source: the words that are attended to, on the left.
        target: the words that attend, on the right.
        gold: known links (target position, source position), drawn as dashed lines if the axis ``gold_links`` is
            "shown".
        options: as for :class:`utils.explorables.figure.Figure`; with ``gold`` give an axis ``gold_links`` with
            the values "hidden" and "shown".
    """

    kind = "alignment"
    table = ("weights", "target", "source")

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        source: Sequence[str],
        target: Sequence[str],
        gold: Sequence[tuple[int, int]] = (),
        **options,
    ):
        if gold and list(axes.get("gold_links", [])) != ["hidden", "shown"]:
            raise ValueError('gold links need an axis "gold_links" with the values "hidden" and "shown"')
        for i, j in gold:
            if not (0 <= i < len(target) and 0 <= j < len(source)):
                raise ValueError(
                    f"gold link {(i, j)} does not fit {len(target)} target and {len(source)} source words"
                )
        self.gold = list(gold)
        labels = {"source": source, "target": target} | options.pop("labels", {})
        super().__init__(compute, axes, labels=labels, picks={"word": "target"}, **options)

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """weights: (target, source)."""
        return {"weights": (len(self.labels["target"]), len(self.labels["source"]))}

    def draw(self) -> str:
        """Words, links of every target word and of the chosen one, and the gold links."""
        source, target = self.labels["source"], self.labels["target"]
        row, cell, gap, letter = 25, 38, 110, 7.5
        rows = max(len(source), len(target))
        left = cell + 16 + letter * max(map(_columns, source))
        right = left + gap
        width = right + 16 + letter * max(map(_columns, target))
        # The shorter sentence is spread over the height of the longer one.
        ys = [(j + 0.5) * row * rows / len(source) for j in range(len(source))]
        yt = [(i + 0.5) * row * rows / len(target) for i in range(len(target))]
        weights, word_index = self.array("weights"), self.point["word"]
        sides = (ys, yt, left, right, _BAND)
        bands = [
            shapes.bands(self, "weights", *sides, class_="trace"),
            shapes.bands(self, "weights", *sides, pick="word", class_="link"),
        ]
        step = yt[-1] / (len(target) - 0.5)  # from one target word to the next
        parts = [
            tag(
                "rect",
                x=right + 2,
                y=yt[word_index] - 11,
                width=width - right - 4,
                height=22,
                class_="chosen",
                data_bind=binds(Bind("y", "#word", scale=step, offset=yt[0] - 11)),
            ),
            shapes.bars(self, "weights", ys, 20, cell, 1, level=True, pick="word", class_="link"),
        ]
        for j, word in enumerate(source):
            parts.append(tag("rect", x=1, y=ys[j] - 10, width=cell, height=20, class_="grid"))
            parts.append(
                text(
                    f"{weights[word_index, j]:.2f}",
                    x=1 + cell / 2,
                    y=ys[j] + 4,
                    text_anchor="middle",
                    class_="onink",
                    data_bind=binds(Bind("text", "weights", j, "word", len(source), digits=2)),
                )
            )
            parts.append(text(word, x=left - 6, y=ys[j] + 4, text_anchor="end"))
        for i, word in enumerate(target):
            parts.append(text(word, x=right + 8, y=yt[i] + 4))
            area = {"x": right - 30, "y": yt[i] - row / 2, "width": width - right + 30, "height": row}
            parts.append(tag("rect", **area, class_="hit", data_pick=f"word={i}"))
        visibility = binds(Bind("stroke-opacity", "#gold_links"))
        gold = [
            tag(
                "line",
                x1=left,
                x2=right,
                y1=ys[j],
                y2=yt[i],
                class_="gold",
                stroke_opacity=self.axes["gold_links"].index(self.point["gold_links"]),
                data_bind=visibility,
            )
            for i, j in self.gold
        ]
        return picture(width, row * rows, *bands, *gold, *parts)


def _columns(word: str) -> float:
    """Width of a word in Latin letters; an ideograph is about twice as wide."""
    return sum(1.7 if letter > "\u2e7f" else 1 for letter in word)


def _turned(label: str, x: float, y: float) -> str:
    return text(label, transform=f"translate({x:g} {y:g}) rotate(50)")


def _numbered_bars(
    figure: Figure,
    array: str,
    middles: Sequence[float],
    width: float,
    base: float,
    height: float,
    *,
    digits: int,
    pick: str | None = None,
) -> list[str]:
    """Bars that stand on ``base``, with height ``height`` for a number of 1, and a number above each bar."""
    parts = [shapes.bars(figure, array, middles, width, -height, base, pick=pick, class_="bar")]
    numbers = shapes.row(figure, array, pick)
    for j, (middle, number) in enumerate(zip(middles, numbers, strict=True)):
        entry = {"index": j, "pick": pick, "stride": len(middles)} if pick else {"index": j}
        parts.append(
            text(
                fixed(number, digits),
                x=middle,
                y=float(base - 5 - number * height),
                text_anchor="middle",
                data_bind=binds(
                    Bind("text", array, digits=digits, **entry),
                    Bind("y", array, scale=-height, offset=base - 5, **entry),
                ),
            )
        )
    return parts


def _where_known(figure: Figure, array: str, *children: str) -> str:
    """The children; if the figure has the array, they are visible only where it is 1."""
    if array not in figure._packed:
        return "".join(children)
    visibility = "visible" if figure.array(array) else "hidden"
    return tag("g", *children, visibility=visibility, data_bind=binds(Bind("visibility", array)))


def _heat_map(figure: Weights, left: float, top: float, cell: int) -> str:
    """The cells of the weights with labels of the rows, and a frame around the chosen row."""
    row_labels, width = figure.labels["queries"], len(figure.labels["keys"]) * cell
    parts = [shapes.cells(figure, "weights", left, top, cell)]
    for i, label in enumerate(row_labels):
        parts.append(text(label, x=left - 6, y=top + (i + 0.5) * cell + 4, text_anchor="end"))
        area = {"x": 0, "y": top + i * cell, "width": left + width, "height": cell}
        parts.append(tag("rect", **area, class_="hit", data_pick=f"query={i}"))
    parts.append(
        tag(
            "rect",
            x=left - 2,
            y=top + figure.point["query"] * cell - 2,
            width=width + 3,
            height=cell + 3,
            class_="chosen",
            data_bind=binds(Bind("y", "#query", scale=cell, offset=top - 2)),
        )
    )
    return "".join(parts)
