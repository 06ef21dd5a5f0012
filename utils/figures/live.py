"""Figures in a notebook: a figure as an ipywidgets control, and sliders for a reader's own function.

Explained in book/explorables.
"""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from utils.figures.colours import css_variables
from utils.figures.still import DARK_IN_JUPYTERLAB, drawing_script, read

if TYPE_CHECKING:
    from utils.figures.figure import Figure

#: How the pages of books, JupyterLab and VS Code say that they are dark.
_DARK = (
    'html[data-theme="dark"]',
    'body[data-jp-theme-light="false"]',
    "body.vscode-dark",
    'html[theme="dark"]',
)
#: The scripts of a figure in a page or a notebook, after those that draw it.
_IN_PAGES = ("controls", "gestures", "figure")
_VIEW = "application/vnd.jupyter.widget-view+json"
#: JupyterLab shows a substitute unless the next output has a control, and hides an output that lacks its control.
#: Programs without these classes, and notebooks that are not trusted, never show it.
_SUBSTITUTE = ".jp-OutputArea-child:has(>.jp-OutputArea-output>.xp-substitute)"
_CONTROL = ".jp-OutputArea-child>.jp-OutputArea-output>*"
_SUBSTITUTES = (
    ".jp-OutputArea-output>.xp-substitute{display:block}"
    f"{_SUBSTITUTE}:has(+{_CONTROL}){{display:none}}"
    f"{_SUBSTITUTE}+.jp-OutputArea-child:not(:has(>.jp-OutputArea-output>*)){{display:none}}"
)


def style() -> str:
    """The style sheet of every figure, with the colours of the roles on a light ground and on a dark one."""
    dark = ",".join(f"{theme} .xp-live" for theme in _DARK)
    colours = (
        f".xp-live{{{css_variables(dark=False)};--on-weight:#fff}}\n"
        f"@media screen{{{dark}{{{css_variables(dark=True)};--on-weight:#111}}}}\n"  # paper is always light
    )
    return colours + read("figure.css") + DARK_IN_JUPYTERLAB


def script(kinds: Sequence[str] | None = None) -> str:
    """The script of the figures of these kinds, by default of all, as one ES module."""
    look = f"const PICTURE_STYLE = {json.dumps(read('picture.css'))};"
    return "\n".join([drawing_script(kinds), look, *(read(f"script/{name}.js") for name in _IN_PAGES)])


def page_script() -> str:
    """One classic script for a page: a module would not load from ``file://``."""
    drawing = script().replace("export default { render };", "")
    return f"(() => {{\n{drawing}\n{read('script/page.js')}}})();\n"


def standalone_html(figure: "Figure") -> str:
    """HTML of a figure with its script and style, for a page outside a book."""
    return f"{figure._repr_html_()}<style>{style()}</style><script>{page_script()}</script>"


def page_of_its_own(figure: "Figure", *, title: str) -> str:
    """A whole HTML page with one figure; it needs no other file."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title></head>"
        f'<body style="font-family: sans-serif"><main><h1>{escape(title)}</h1>{standalone_html(figure)}</main></body>'
        "</html>\n"
    )


def view(figure: "Figure") -> dict:
    """The widget's part of the mime bundle."""
    data, _ = figure.widget._repr_mimebundle_()
    return {_VIEW: data[_VIEW]}


def store_substitute(html: str) -> None:
    """Output HTML that JupyterLab shows in place of the next output when that is a control without its kernel."""
    from IPython.display import publish_display_data

    advice = "<p>To use the controls, run this cell again.</p>"
    substitute = f'<div class="xp-substitute" hidden>{html}{advice}</div><style>{_SUBSTITUTES}</style>'
    publish_display_data({"text/html": substitute})


def make_widget(figure: "Figure"):
    """An anywidget whose traits are the figure's axes and picks; a trait refuses values that are not on the grid."""
    import anywidget
    import traitlets

    reserved = {name for name in [*figure.axes, *figure.picks] if hasattr(anywidget.AnyWidget, name)}
    if reserved:
        raise ValueError(f"ipywidgets has attributes of these names already: {sorted(reserved)}")

    class GridValue(traitlets.TraitType):
        """A value of one axis, or the number or label of a pick."""

        def validate(self, obj, value):
            try:
                return figure.on_grid(self.name, value)
            except ValueError as error:
                raise traitlets.TraitError(str(error)) from None

    names = [*figure.axes, *figure.picks]
    members = {name: GridValue(figure.point[name]).tag(sync=True) for name in names}
    members |= {"_esm": script(), "_css": style()}
    members["_ipython_display_"] = lambda _widget: figure._ipython_display_()
    members["spec"] = traitlets.Dict().tag(sync=True)
    live = type("ExplorableWidget", (anywidget.AnyWidget,), members)
    return live(spec=figure.spec)


def play(function: Callable, **axes: Sequence | Mapping):
    """Sliders for your own function, which runs again at each move: ``play(f, d=[1, 64], valid_length=range(9))``.

    Args:
        function: takes the axes as keyword arguments; its printed output, its drawing and its result are displayed.
        axes: the values of each control; numbers make a slider, texts a choice.

    Returns:
        The ipywidgets box; its ``kwargs`` are the positions of the sliders, its ``result`` is that of the last run.

    Raises:
        ValueError: an axis that the function does not take, or one without values.
    """
    import ipywidgets

    class Sliders(ipywidgets.interactive):
        def _ipython_display_(self) -> None:
            store_substitute("")
            raise NotImplementedError  # IPython then displays the box

    parameters = inspect.signature(function).parameters
    controls = {}
    for name, values in axes.items():
        if name not in parameters:
            raise ValueError(f"{function.__name__} takes no argument {name!r}, only {list(parameters)}")
        if not len(values):
            raise ValueError(f"axis {name!r} needs at least one value")
        kind = ipywidgets.ToggleButtons if isinstance(values[0], str) else ipywidgets.SelectionSlider
        controls[name] = kind(options=list(values), description=name.replace("_", " "))
    return Sliders(function, **controls)
