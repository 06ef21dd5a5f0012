"""What a figure needs in a page or a notebook: script, style and control.

Nothing here knows what a figure is. Explained in book/explorables.
"""

import json
from collections.abc import Callable, Mapping, Sequence

from utils.figures.colours import DARK_PAGES, css_variables
from utils.figures.still import DARK_IN_JUPYTERLAB, drawing_script, read

#: The scripts of a figure in a page or a notebook, after those that draw it.
_IN_PAGES = ("elements", "nodes", "sounds", "controls", "gestures", "parts", "figure")
_VIEW = "application/vnd.jupyter.widget-view+json"


def style() -> str:
    """The style sheet of every figure, with the colours of the roles on a light ground and on a dark one."""
    dark = ",".join(f"{page} .xp-live" for page in DARK_PAGES)
    colours = (
        f".xp-live{{{css_variables(dark=False)};--on-weight:#fff}}\n"
        f"@media screen{{{dark}{{{css_variables(dark=True)};--on-weight:#111}}}}\n"  # paper is always light
    )
    return colours + read("figure.css") + DARK_IN_JUPYTERLAB


def script(kinds: Sequence[str] | None = None) -> str:
    """The script of the figures of these kinds, by default of all: it offers an object for each of its files."""
    look = f"const PICTURE_STYLE = {json.dumps(read('picture.css'))};\n"
    return "".join([drawing_script(kinds), look, *(read(f"script/{name}.js") for name in _IN_PAGES)])


def module() -> str:
    """The script as the ES module that anywidget asks for."""
    return f"{script()}export default {{ render: figure.render }};\n"


def page_script() -> str:
    """One classic script for a page: a module would not load from ``file://``."""
    return f"(() => {{\n{script()}{read('script/page.js')}}})();\n"


def view(control) -> dict:
    """A control's part of the mime bundle."""
    data, _ = control._repr_mimebundle_()
    return {_VIEW: data[_VIEW]}


def control(spec: Mapping, point: Mapping[str, object], check: Callable[[str, object], object]):
    """An anywidget that shows a figure, with a trait for each axis and pick.

    Args:
        spec: what the script needs of the figure.
        point: the value of each axis and pick at first.
        check: takes the name of an axis or pick and a value that it shall have, and returns it; a ``ValueError`` from
            it is told as ``traitlets.TraitError``.

    Raises:
        ValueError: the name of an axis or pick that every control has already.
    """
    import anywidget
    import traitlets

    reserved = {name for name in point if hasattr(anywidget.AnyWidget, name)}
    if reserved:
        raise ValueError(f"ipywidgets has attributes of these names already: {sorted(reserved)}")

    class GridValue(traitlets.TraitType):
        """A value of one axis, or the number or label of a pick."""

        def validate(self, obj, value):
            try:
                return check(self.name, value)
            except ValueError as error:
                raise traitlets.TraitError(str(error)) from None

    members = {name: GridValue(value).tag(sync=True) for name, value in point.items()}
    members |= {"_esm": module(), "_css": style(), "spec": traitlets.Dict().tag(sync=True)}
    return type("ExplorableWidget", (anywidget.AnyWidget,), members)(spec=spec)
