"""What every page with a translator in it holds: scripts, style, and JSON.

``export`` writes the page of a run. The scripts lie in the folder ``page``.
"""

import json
from collections.abc import Mapping
from importlib.resources import files

from utils.corpus.languages import script
from utils.corpus.vocabulary import Vocabulary
from utils.figures.chinese import font_face
from utils.figures.colours import COLOURS
from utils.figures.live import script as figure_script
from utils.figures.still import read as without_comments


def style(vocabularies: Mapping[str, Vocabulary]) -> str:
    """The style sheet, with a font for the characters of the vocabularies of simplified Chinese.

    Args:
        vocabularies: each under the code of its language.
    """
    tokens = [
        token
        for lang, vocabulary in vocabularies.items()
        if script(lang) == "Hans"
        for token in vocabulary.tokens(range(len(vocabulary)))
    ]
    colours = ";".join(f"--{name}:light-dark({light},{dark})" for name, (light, dark) in COLOURS.items())
    return f"{font_face('Chinese', ''.join(tokens))}:root{{{colours}}}\n{read('page.css')}"


def drawing() -> str:
    """The scripts of the course's figures, of which the pages draw with ``alignment``."""
    return figure_script(kinds=["alignment"]).replace("export default { render };", "")


def read(*names: str) -> str:
    """The files of the folder ``page`` with these names, one after the other, without comments and indents."""
    folder = files("utils.translator") / "page"
    return "\n".join(without_comments(name, folder) for name in names)


def as_json(value: object) -> str:
    """JSON that cannot close the element that it stands in."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
