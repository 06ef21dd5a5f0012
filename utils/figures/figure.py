"""The base class of figures with sliders: the grid of points, the sentence, the still picture, both outputs.

torch computes every frame in Python; the page's script only looks numbers up. Explained in book/explorables.
"""

import base64
import itertools
import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from html import escape
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from torch import Tensor

from utils.figures.live import control, view
from utils.figures.packing import check_shares, num_bytes, pack, unpack
from utils.figures.still import DARK_IN_JUPYTERLAB, WIDTH, Stage

#: How much a value may differ from that of an axis, as a part of it: half a unit in the last place of a float32.
ROUNDING = 2**-24
#: Most bytes of numbers that one figure may bring to a page.
MAX_BYTES = 200_000
#: Set to "live" or "static" to choose what a notebook's output holds; see :meth:`Figure._repr_mimebundle_`.
MODE_VARIABLE = "ATTENTION_FIGURES"
#: A field of a sentence that stands for a label: the array that has its number, and the name of the labels.
LABEL = re.compile(r"\{(\w+)[^{}|]*\|(\w+)\}")
#: Names that the script and the widget need, so no axis has them. (The last two say what is under the mouse.)
RESERVED = {"points", "spec", "column", "panel"}


class Figure:
    """A picture with controls: an ipywidgets control in a notebook, a picture with a script on a web page.

    Args:
        compute: called once with each point of the grid as keyword arguments; returns named arrays or tensors,
            of the same names and shapes at every point.
        axes: name and values of each control, in the order of the page. Numbers make a slider, text makes buttons.
        name: identifies the figure on its page, in its address (``#name?d=64``) and in tests.
        alt: what is drawn and what to see, for readers who do not see the picture.
        say: the sentence under the picture. ``{d}`` is the value of an axis or pick, ``{entropy:2}`` a number
            with two decimals, ``{size:2g}`` one with two significant digits, ``{share:0%}`` a percentage,
            ``{top[query]:2}`` the entry that a pick chooses, and ``{best[query]|keys}`` the label with that number. Of
            several sentences the integer array ``case`` chooses one: a number, or one for each choice of the pick.
        labels: texts by name, for the picks, the tables and ``|`` in sentences; under the name of an axis, what the
            page writes for its values, for instance with their unit.
        start: the opening point; an axis or pick that it does not name starts at its first value.
        play: the axis or pick that a play button runs through, if any; or several, each of which moves by one step
            when those before it have reached their end.
        invite: a short sentence above the picture that says what to do with it.

    Raises:
        ValueError: names that clash, no value on an axis, a start that is not on the grid, arrays that change
            name or shape between points, labels that do not fit, NaN or infinite numbers, weights and other shares
            that are not from 0 to 1, or more than 200 KB.
    """

    #: Name of the kind: its drawing function is ``kinds.NAME`` in a script of this name.
    kind = "figure"
    #: Choices made in the picture, which are not axes of the grid: name of the pick to name of its labels.
    picks: ClassVar[dict[str, str]] = {}
    #: Arrays that hold numbers of labels: name of the array to name of the labels, if the figure has these.
    numbered: ClassVar[dict[str, str]] = {}
    #: What the table under the picture shows: arrays with their titles, and the labels of rows and columns. If a pick
    #: follows, the table has the numbers of the chosen row of the array.
    table: tuple | None = None
    #: A heading and, from the name of a number from 0 to 1 that ``compute`` returns, to the text beside its curve: the
    #: chart above the picture, along the axis that is played first. With one number for each choice of the pick, the
    #: curve is that of the chosen one, and an empty text its name.
    gauges: tuple[str, Mapping[str, str]] = ("", MappingProxyType({}))
    #: Milliseconds between two steps of the play button; None takes the default of the script.
    pace: int | None = None
    #: What the page plays, if anything: a WAV file of one channel with 16 bits, behind a header of 44 bytes. The script
    #: of the kind says which piece of it, as ``heard``.
    sound: bytes = b""

    def __init__(
        self,
        compute: Callable[..., Mapping[str, Tensor | np.ndarray | float]],
        axes: Mapping[str, Sequence],
        *,
        name: str,
        alt: str,
        say: str | Sequence[str],
        labels: Mapping[str, Sequence[object]] | None = None,
        start: Mapping[str, object] | None = None,
        play: str | Sequence[str] | None = None,
        invite: str = "",
    ):
        if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
            raise ValueError(f"name must be lower-case letters, digits and dashes, got {name!r}")
        self.name, self.alt = name, alt
        self.axes = {axis: [_plain(value) for value in values] for axis, values in axes.items()}
        self.labels = {key: [str(label) for label in values] for key, values in (labels or {}).items()}
        self.sentences = [say] if isinstance(say, str) else list(say)
        self.invite = invite
        self.play = [play] if isinstance(play, str) else list(play or ())
        self._check_names()
        self.point = self._opening(start or {})
        self.compute = compute
        self._packed = self._pack_grid()
        self._check_arrays()
        self._check_sentences()

    # -- the grid ---------------------------------------------------------------------------------------------

    def _check_names(self) -> None:
        for axis, values in self.axes.items():
            if axis in RESERVED:
                raise ValueError(f"no axis may have the name {axis!r}: the script of the figures uses it")
            if not values or len(set(values)) != len(values):
                raise ValueError(f"axis {axis!r} needs different values, at least one, got {values}")
            if len(self.labels.get(axis, values)) != len(values):
                raise ValueError(
                    f"axis {axis!r} has {len(values)} values and {len(self.labels[axis])} labels"
                )
        for pick, labels in self.picks.items():
            if pick in self.axes:
                raise ValueError(f"{pick!r} is the name of an axis and of a pick")
            if not self.labels.get(labels):
                raise ValueError(f"pick {pick!r} needs labels {labels!r}")
        if unknown := set(self.play) - self.axes.keys() - self.picks.keys():
            raise ValueError(f"play must name axes and picks, got {min(unknown)!r}")
        if self.gauges[1] and not (self.play and rises(self.axes.get(self.play[0], ()))):
            raise ValueError(
                f"gauges need an axis of several rising numbers that is played first, got {self.play}"
            )

    def _opening(self, start: Mapping[str, object]) -> dict:
        point = {axis: values[0] for axis, values in self.axes.items()} | dict.fromkeys(self.picks, 0)
        for key, value in start.items():
            if key not in point:
                raise ValueError(f"start must name axes and picks, got {key!r}")
            point[key] = self.on_grid(key, value)
        return point

    def on_grid(self, key: str, value: object) -> object:
        """Check a value of an axis or pick and return it; a label of a pick gives its number.

        A fraction may differ from the value of the axis by a rounding error, as 0.1 + 0.2 from 0.3.
        """
        value = _plain(value)
        if key in self.axes:
            return value_among(
                self.axes[key], value, f"{key} has no value {value!r}; it has {self.axes[key]}"
            )
        labels = self.labels[self.picks[key]]
        if value in labels:
            return labels.index(value)
        if isinstance(value, int) and 0 <= value < len(labels):
            return value
        raise ValueError(f"{key} has no value {value!r}; it has {labels}")

    def _pack_grid(self) -> dict[str, dict]:
        frames: dict[str, list[np.ndarray]] = {}
        shapes: dict[str, tuple[int, ...]] = {}
        for point in itertools.product(*self.axes.values()):
            at = dict(zip(self.axes, point, strict=True))
            arrays = {key: _array(value) for key, value in self.compute(**at).items()}
            returned = {key: array.shape for key, array in arrays.items()}
            shapes = shapes or returned
            if returned != shapes:
                raise ValueError(
                    f"compute returned {returned} at {at} and {shapes} before; shapes must not change"
                )
            for key, array in arrays.items():
                frames.setdefault(key, []).append(array)
        for key in frames.keys() & (self.axes.keys() | self.picks):
            raise ValueError(f"{key!r} names two things")
        grid = tuple(len(values) for values in self.axes.values())
        packed = {}
        for key, arrays in frames.items():
            array = np.stack(arrays).reshape(grid + shapes[key])
            try:
                packed[key] = self._pack_one(array)
            except ValueError as error:
                raise ValueError(f"array {key!r}: {error}") from None
        sizes = {key: num_bytes(record) for key, record in packed.items()}
        if sum(sizes.values()) > MAX_BYTES:
            raise ValueError(
                f"a figure may bring at most {MAX_BYTES} bytes to a page, got {sum(sizes.values())}: {sizes}"
            )
        return packed

    def _pack_one(self, array: np.ndarray) -> dict:
        """Pack an array over the grid, without the axes along which it never changes."""
        over = []
        for axis, name in enumerate(self.axes):
            if array.shape[axis] > 1 and (array != array.take([0], axis)).any():
                over.append(name)
            else:
                array = array.take([0], axis)
        grid = tuple(len(self.axes[name]) for name in over)
        return pack(array.reshape(grid + array.shape[len(self.axes) :])) | {"over": over}

    def _check_arrays(self) -> None:
        """Check that compute returned the arrays that this kind draws, in their shapes."""
        shapes = {key: tuple(p["shape"][len(p["over"]) :]) for key, p in self._packed.items()}
        for key, shape in self.expected_shapes().items():
            if shapes.get(key) != shape:
                raise ValueError(f"compute must return {key!r} of shape {shape}, got {shapes.get(key)}")
        for key, labels in self.numbered.items():
            if self.labels.get(labels):
                self._check_numbers_of_labels(key, labels)
        choices = [(len(self.labels[labels]),) for labels in self.picks.values()]
        for key in self.gauges[1]:
            if shapes.get(key) not in [(), *choices]:
                raise ValueError(
                    f"compute must return {key!r}, a number or one per choice, got {shapes.get(key)}"
                )
        for key in sorted(self.shares() & self._packed.keys()):
            check_shares(key, self.frames(key))

    def _check_numbers_of_labels(self, key: str, labels: str) -> None:
        """Check that an array holds numbers of these labels."""
        last = len(self.labels[labels]) - 1
        for number in np.unique(self.frames(key)):
            if number not in range(last + 1):
                raise ValueError(
                    f"{key!r} must be numbers of the labels {labels!r}, from 0 to {last}, got {number:g}"
                )

    def shares(self) -> set[str]:
        """Names of the arrays whose numbers are from 0 to 1."""
        return {*self.gauges[1]}

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the arrays that this kind draws."""
        return {}

    def _optional(self, shapes: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        """The optional arrays that ``compute`` returned."""
        return {key: shape for key, shape in shapes.items() if key in self._packed}

    def array(self, key: str, **point: object) -> np.ndarray:
        """The numbers of an array at a point (the current one by default), as the page shows them."""
        at = self.point | {axis: self.on_grid(axis, value) for axis, value in point.items()}
        frame = tuple(self.axes[axis].index(at[axis]) for axis in self._packed[key]["over"])
        return self.frames(key)[(*frame, ...)]

    def frames(self, key: str) -> np.ndarray:
        """The numbers of an array at all points, as the page shows them; the axes along which it changes come first."""
        return unpack(self._packed[key])

    @cached_property
    def _stage(self) -> Stage:
        return Stage(self.spec)

    def _state(self, point: Mapping[str, object]) -> dict:
        """The position of each control at a point, as the script counts them."""
        at = self.point | {key: self.on_grid(key, value) for key, value in point.items()}
        return {"place": {key: self.axes[key].index(v) if key in self.axes else v for key, v in at.items()}}

    def _check_sentences(self) -> None:
        """Each sentence must name only what there is, and ``case`` only the sentences that there are."""
        cases = self.frames("case") if "case" in self._packed else np.zeros(1)
        if not set(np.unique(cases)) <= set(range(len(self.sentences))):
            raise ValueError(
                f"case must be from 0 to {len(self.sentences) - 1}, got {np.unique(cases).tolist()}"
            )
        others = {key: record for key, record in self._packed.items() if key != "case"}
        for sentence in self.sentences:
            for key, labels in LABEL.findall(sentence):
                if key in others and labels in self.labels:
                    self._check_numbers_of_labels(key, labels)
            Stage(self.spec | {"say": [sentence], "arrays": others}).sentence(self._state({}))

    def sentence(self, **point: object) -> str:
        """The sentence at a point, as the page writes it."""
        return self._stage.sentence(self._state(point))

    # -- the two outputs --------------------------------------------------------------------------------------

    def draw(self, width: float = WIDTH, **point: object) -> str:
        """The picture at a point as SVG text, as the page draws it in a column of this many pixels."""
        return self._stage.picture(self._state(point), width)

    @property
    def options(self) -> dict:
        """What the drawing function of the kind gets besides numbers and labels, ready for JSON."""
        return {}

    @property
    def movable(self) -> dict | None:
        """Points that readers move: their ``labels``, ``places``, and ``names`` and ``bounds`` of both directions."""
        return None

    @cached_property
    def spec(self) -> dict:
        """All the data that the script needs, ready for JSON."""
        return {
            "alt": self.alt,
            "arrays": self._packed,
            "axes": [
                {
                    "buttons": isinstance(values[0], str),
                    "labels": self.labels.get(axis) or [_label(value) for value in values],
                    "name": axis,
                    "values": values,
                }
                for axis, values in self.axes.items()
            ],
            "gauges": [self.gauges[0], list(self.gauges[1].items())],
            "invite": self.invite,
            "kind": self.kind,
            "labels": self.labels,
            "movable": self.movable,
            "name": self.name,
            "options": self.options,
            "picks": self.picks,
            "play": self.play,
            "say": self.sentences,
            "table": self.table,
        } | {key: value for key, value in (("pace", self.pace), ("sound", self._sound)) if value}

    @property
    def _sound(self) -> str:
        return f"data:audio/wav;base64,{base64.b64encode(self.sound).decode()}" if self.sound else ""

    @cached_property
    def widget(self):
        """The ipywidgets control, made on first use; each axis and pick is a trait of it."""
        points = {name: self.point[name] for name in (*self.axes, *self.picks)}
        return control(self.spec, points, self.on_grid)

    def _still(self) -> str:
        picture = base64.b64encode(self.draw().encode()).decode()
        return f'<img class="xp-still" alt="{escape(self.alt)}" src="data:image/svg+xml;base64,{picture}">'

    def _player(self) -> str:
        return f'<audio controls preload="none" src="{self._sound}"></audio>' if self.sound else ""

    def _repr_html_(self) -> str:
        elsewhere = ("alt", "sound")  # they have elements of their own, for pages without a script
        store = {"spec": {k: v for k, v in self.spec.items() if k not in elsewhere}, "state": self.point}
        store_json = json.dumps(store, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        store_json = store_json.replace("<", "\\u003c")  # so that no label can close the script element
        return (
            f'<figure class="xp" id="{self.name}" data-kind="{self.kind}">{self._still()}{self._player()}'
            f"<p>{escape(self.sentence())}</p>"
            f'<script type="application/json">{store_json}</script><style>{DARK_IN_JUPYTERLAB}</style></figure>'
        )

    def __repr__(self) -> str:
        grid = " × ".join(f"{axis} ({len(values)})" for axis, values in self.axes.items())
        return f"{type(self).__name__} {self.name}: {grid}\n{self.alt}\n{self.sentence()}"

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        """The HTML for a page and, unless ATTENTION_FIGURES is "static", the ipywidgets control."""
        bundle = {"text/plain": repr(self), "text/html": self._repr_html_()}
        return bundle | (view(self.widget) if _are_live() else {})


def value_among(values: Sequence[object], value: object, refusal: str) -> object:
    """The one of the values that is this value, up to a rounding error.

    Raises:
        ValueError: there is none; ``refusal`` is the message.
    """
    if value in values:
        return value
    for known in values:
        numbers = isinstance(value, int | float) and isinstance(known, int | float)
        if numbers and math.isclose(value, known, rel_tol=ROUNDING, abs_tol=1e-12):
            return known
    raise ValueError(refusal)


def check_pair(what: str, pair: tuple[str, object], axes: Mapping[str, Sequence]) -> tuple[str, object]:
    """Check that a pair names an axis and one of its values, and return it."""
    axis, value = pair[0], _plain(pair[1])
    refusal = f"{what} must name an axis and one of its values, got {pair!r}"
    return axis, value_among([_plain(known) for known in axes.get(axis, ())], value, refusal)


def rises(values: Sequence[object]) -> bool:
    """Whether values are at least two numbers, each larger than the one before."""
    numbers = all(isinstance(value, int | float) for value in values)
    return numbers and len(values) > 1 and all(a < b for a, b in itertools.pairwise(values))


def _are_live() -> bool:
    return os.environ.get(MODE_VARIABLE, "live") == "live"


def _plain(value: object) -> object:
    """A number or text that JSON holds."""
    return value.item() if hasattr(value, "item") else value


def _label(value: object) -> str:
    """A value of an axis as the page writes it."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _array(value: Tensor | np.ndarray | float) -> np.ndarray:
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        value = value.double() if value.is_floating_point() else value
    return np.asarray(value)
