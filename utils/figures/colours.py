"""One colour for each role, in every figure of the book, static or live, and the same colours for dark pages.

Only the colours live here, so that drawings that need no matplotlib can use them; ``utils.figures.plotting`` draws.
Explained in book/notation.
"""

QUERY, KEY, VALUE, WEIGHT = "#d55e00", "#a2548b", "#00795a", "#0072b2"
#: Axes and text. True curves and gold links are dashed lines of this colour.
INK = GOLD = TRUTH = "#222222"
#: Colours without a role: methods and runs that are compared, scores before the softmax, thin lines, the background.
BROWN, VIOLET, GREY, FAINT, PAPER = "#6b4a00", "#5b3fb8", "#707070", "#cccccc", "#ffffff"
#: The curve of a loss on the sentences that a model learns from, and on those it is stopped or chosen by.
TRAINING, VALIDATION = BROWN, VIOLET
#: The three translators that are compared: all that it knows is in one vector, it looks back, it has no recurrence.
ONE_VECTOR, LOOKS_BACK, TRANSFORMER = "#005f73", "#b0124b", "#7a6a00"
#: What has not learned, or has not read: a diagonal, a copy of the source, a random choice.
BASELINE = GREY

#: The colours by the names of their CSS variables: for a light background, and for a dark one.
COLOURS = {
    "query": (QUERY, "#ff9d5c"),
    "key": (KEY, "#f2b5d4"),
    "value": (VALUE, "#4fd6ac"),
    "weight": (WEIGHT, "#6cb8f0"),
    "ink": (INK, "#dddddd"),
    "brown": (BROWN, "#e8cf70"),
    "violet": (VIOLET, "#9a86e8"),
    "grey": (GREY, "#a3a3a3"),
    "one-vector": (ONE_VECTOR, "#45c8d6"),
    "looks-back": (LOOKS_BACK, "#ff5c8a"),
    "transformer": (TRANSFORMER, "#e6e03a"),
    "faint": (FAINT, "#4d4d4d"),
    "paper": (PAPER, "#121212"),
}

#: How the pages of books, JupyterLab and VS Code say that they are dark.
DARK_PAGES = (
    'html[data-theme="dark"]',
    'body[data-jp-theme-light="false"]',
    "body.vscode-dark",
    'html[theme="dark"]',
)


def css_variables(*, dark: bool) -> str:
    """CSS that sets a variable for each colour, for a light or a dark background.

    >>> css_variables(dark=False)[:28]
    '--query:#d55e00;--key:#a2548'
    """
    return ";".join(f"--{name}:{pair[dark]}" for name, pair in COLOURS.items())
