"""Pictures and sentences of a figure in one state, from the script that draws it in a page.

Pictures are drawn in one place, the script. For pages without a script, for paper and for a notebook on a forge, V8
(the JavaScript engine of Chromium, package mini-racer) runs that script here.
"""

import atexit
import json
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

import numpy as np
from rjsmin import jsmin

from utils.figures.chinese import font_face
from utils.figures.colours import css_variables
from utils.figures.packing import stored_numbers

if TYPE_CHECKING:
    from py_mini_racer import MiniRacer

_HERE = files("utils.figures")
#: The scripts that need no browser, in the order in which they use one another.
_PURE = ("texts", "mathematics", "marks", "grips", "maps", "kinds", "gauges", "numbers")
#: What of a style sheet is for those who read the file: lines of comment, and indents.
_FOR_READERS = re.compile(r"^ */\*.*?\*/\n|^ +", re.MULTILINE | re.DOTALL)
#: JupyterLab shows still pictures, and the drawings of ``plotting``, as images, which do not know its theme.
DARK_IN_JUPYTERLAB = (
    'body[data-jp-theme-light="false"] :is(img.xp-still,img[src*="class%3D%22chart%22"])'
    "{filter:invert(.93) hue-rotate(180deg)}"
)
#: Width of a still picture: that of the book's column.
WIDTH = 720

_IN_PYTHON = """
let figure = null;
const open = (spec) => { figure = numbers.makeFigure(JSON.parse(spec)); return true; };
const at = (state) => {
  const { place, moved } = JSON.parse(state);
  figure.moved = moved;
  figure.put(place);
};
const sentence = (state) => { at(state); return figure.sentence(); };
const still = (state, width) => { at(state); return marks.svgText(figure.draw(width)); };
const array = (state, key) => { at(state); return JSON.stringify([...figure.array(key)]); };
"""


def read(name: str, folder: Traversable = _HERE) -> str:
    """A script or style sheet, by default one of the figures, without comments and indents.

    These are for those who read the files, and a page is loaded sooner without them.
    """
    text = (folder / name).read_text(encoding="utf-8")
    return f"{jsmin(text)}\n" if name.endswith(".js") else _FOR_READERS.sub("", text)


def drawing_script(kinds: Sequence[str] | None = None) -> str:
    """All that makes a picture of numbers: the scripts that need no browser, and the drawing function of each kind.

    Args:
        kinds: by default all.
    """
    if kinds is None:
        files_of_kinds = (path.name for path in (_HERE / "kinds").iterdir())
        kinds = sorted(name.removesuffix(".js") for name in files_of_kinds if name.endswith(".js"))
    names = [f"script/{name}" for name in _PURE] + [f"kinds/{name}" for name in kinds]
    return "".join(read(f"{name}.js") for name in names)


@cache
def engine() -> "MiniRacer":
    """V8 with the drawing script, until the process ends."""
    from py_mini_racer import MiniRacer, init_mini_racer

    # V8 is started here: on processors with protection keys only the thread that starts it, and threads that come from
    # that one, may write to its code, and the process would crash when it ends.
    init_mini_racer(ignore_duplicate_init=True)
    # In a thread: in a notebook's own it would wait for the notebook's event loop. Closed in time: what Python's end
    # closes by itself sometimes waits for ever.
    with ThreadPoolExecutor(1) as thread:
        context = thread.submit(MiniRacer).result()
    atexit.register(context.close)
    context.eval(drawing_script() + _IN_PYTHON)
    return context


class Stage:
    """One figure as the script shows it.

    Args:
        spec: as a page holds it.

    Raises:
        ValueError: a kind without a drawing, or a sentence that names what there is not.
    """

    def __init__(self, spec: dict) -> None:
        arrays = {key: record | {"data": stored_numbers(record)} for key, record in spec["arrays"].items()}
        self._spec = json.dumps(spec | {"arrays": arrays})

    def _call(self, function: str, state: dict, *arguments: object):
        from py_mini_racer import JSEvalException

        context = engine()
        try:
            if getattr(context, "shown", None) is not self:  # the engine holds one figure at a time
                context.call("open", self._spec)
                context.shown = self
            return context.call(function, json.dumps({"moved": {}} | state), *arguments)
        except JSEvalException as error:
            raise ValueError(str(error).split("Error: ")[-1].splitlines()[0]) from None

    def sentence(self, state: dict) -> str:
        """The sentence in a state: ``{"place": position of each control}``.

        It may also have ``"moved"``, from the number of a point to its place.
        """
        return self._call("sentence", state)

    def numbers(self, state: dict, key: str) -> np.ndarray:
        """An array in a state, flat; also one that the page computes itself."""
        return np.array(json.loads(self._call("array", state, key)))

    def picture(self, state: dict, width: float = WIDTH) -> str:
        """The picture in a state as SVG text, with a font for its Chinese characters if it has any."""
        drawn = self._call("still", state, width)
        style = f"{font_face('Chinese', drawn)}svg{{{css_variables(dark=False)}}}\n{read('picture.css')}"
        return drawn.replace(
            "<style></style>", f"<style>{style.replace('&', '&amp;').replace('<', '&lt;')}</style>", 1
        )
