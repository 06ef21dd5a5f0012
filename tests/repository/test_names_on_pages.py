"""Names in code type, on the pages, in the text of the chapters and at the top of modules: what they name exists.

Names with a role of Sphinx, such as {func}, are looked up by Sphinx; commands are run by `test_shown_commands`.
"""

import ast
import json
import pkgutil
import re
from functools import cache
from pathlib import Path

import pytest
import typer
from torch.distributed.run import get_args_parser as torchrun_parser

from utils.translator.commands import app

ROOT = Path(__file__).parents[2]
PAGES = [path for pattern in ("*.md", "book/**/*.md", "chapters/*.*") for path in sorted(ROOT.glob(pattern))]
PAGES = [path for path in PAGES if path.suffix in (".md", ".ipynb") and path.stem != "CHANGELOG"]
#: A piece of code in a sentence with its role, if it has one.
PIECE = re.compile(r"(\{[\w:-]+\})?`([^`\n]+)`")
#: A file of the course in one of its folders. Those that a reader or a command makes have NAME or pie in their name.
FILE = re.compile(r"(?:\.ci|\.github|book|chapters|tests|utils)/[\w./-]+")
MADE_LATER = re.compile(r"NAME|\bpie\b|test_pie|\.exercises")
#: A function with underscores, which is hardly a word of anything else.
FUNCTION = re.compile(r"[a-z]+(?:_[a-z]+)+")
#: A setting of Jupyter Book, what another course calls our ``src_lens``, and options of a search in another library.
OF_OTHERS = {"extra_extensions", "enc_valid_len", "enc_valid_lens"} | {
    "num_beams",
    "length_penalty",
    "early_stopping",
    "no_repeat_ngram_size",
    "past_key_values",
    "hallucination_silence_threshold",
    "top_k",
    "top_p",
}


@cache
def words() -> set[str]:
    """The words of all code of the course, of its chapters and of its configuration."""
    paths = list(ROOT.glob("*.yml")) + [
        path for room in ("utils", "chapters", "book", "tests") for path in ROOT.glob(f"{room}/**/*")
    ]
    texts = [path.read_text("utf-8") for path in paths if path.suffix in (".py", ".js", ".yml")]
    for path in ROOT.glob("chapters/*.ipynb"):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        texts += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return {word for text in texts for word in re.findall(r"\w+", text)}


@cache
def options() -> set[str]:
    """The options of the course's commands, and of the program that starts several of them."""
    waiting, found = [typer.main.get_command(app)], set(torchrun_parser()._option_string_actions)
    while waiting:
        command = waiting.pop()
        waiting += getattr(command, "commands", {}).values()
        found.update(name for parameter in command.params for name in parameter.opts)
    return found


def is_known(piece: str) -> bool:
    if piece.startswith("--"):
        return set(re.findall(r"--[\w-]+", piece)) <= options()
    if re.fullmatch(r"utils(\.\w+)+(?<!\.py)", piece):
        return pkgutil.resolve_name(piece) is not None
    if FILE.fullmatch(piece):
        return bool(MADE_LATER.search(piece)) or (ROOT / piece).exists()
    return not FUNCTION.fullmatch(piece) or piece in words() | OF_OTHERS


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_in_code_type_exist(path: Path) -> None:
    text = path.read_text("utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    prose = re.sub(r"^(`{3,}).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    assert [piece for role, piece in PIECE.findall(prose) if not role and not is_known(piece)] == []


@pytest.mark.parametrize("piece", ["align" + "_sentences_of", "--bim", "utils/atention.py"])
def test_a_name_that_nobody_defines_is_found(piece: str) -> None:
    assert not is_known(piece)


# Modules that say where something is

MODULES = [path for room in ("utils", "chapters/studies") for path in sorted(ROOT.glob(f"{room}/**/*.py"))]


def is_known_in(module: Path, name: str) -> bool:
    """Whether a name is a module or a folder beside this module or further out, a name of its code, or a command."""
    places = [place / name.replace(".", "/") for place in module.parents if place.is_relative_to(ROOT)]
    if any(place.is_dir() or place.with_suffix(".py").exists() for place in places):
        return True
    nodes = list(ast.walk(ast.parse(module.read_text("utf-8"))))
    own = {getattr(node, field, None) for node in nodes for field in ("id", "attr", "name", "arg")}
    commands = {"torchrun", *typer.main.get_command(app).commands}
    return name in own | commands or (name.startswith("torch.") and pkgutil.resolve_name(name) is not None)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(ROOT)))
def test_names_at_the_top_of_a_module_exist(module: Path) -> None:
    text = ast.get_docstring(ast.parse(module.read_text("utf-8"))) or ""
    names = re.findall(r"``([a-z_]+(?:\.[a-z_]+)*)``", text)
    files = {name for name in names if (module.parent / name).exists()}
    assert [name for name in names if name not in files and not is_known_in(module, name)] == []


def test_a_module_that_is_gone_is_found() -> None:
    lines = ROOT / "utils/translator/using/input_lines.py"
    assert is_known_in(lines, "translating")
    assert not is_known_in(lines, "alignment")
