"""Names in code type, on the pages and in the text of the chapters: each one exists.

Names with a role of Sphinx, such as {func}, are looked up by Sphinx; commands are run by `test_shown_commands`.
"""

import ast
import builtins
import collections
import itertools
import json
import keyword
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import torch
import typer
from torch.distributed.run import get_args_parser as torchrun_parser

from utils.translator.commands import app

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("book/**/*.md"))]
CHAPTERS = [ROOT / "chapters" / "README.md", *sorted(ROOT.glob("chapters/*.ipynb"))]
#: A block of code, and a piece of code in a sentence with its role, if it has one.
BLOCK = re.compile(r"^(`{3,})([^\n]*)\n(.*?)^\1", re.MULTILINE | re.DOTALL)
PIECE = re.compile(r"(\{[\w:-]+\})?`([^`\n]+)`")
PATH = re.compile(r"[\w.-]*/[\w./-]*|[\w-]+\.(?:py|js|css|md|ipynb|yml|toml|txt|bib|cff|csv|html|json)")
#: Words with hyphens, and the name of an array in a sentence of a figure.
NO_PYTHON = re.compile(r"[\w.]+(-[\w.]+)+|\{.*\}")
LIBRARIES = (
    *(builtins, collections, itertools, str, list, dict, set),
    *(torch, torch.nn, torch.nn.functional, torch.Tensor, torch.nn.GRU, torch.nn.GRUCell),
)
PROGRAMS = {"cd", "python3", "source", "torchrun", "wsl"}
#: What no code of `utils` and of the studies defines, by kind.
OTHERS = {
    "names of the reader": {"FOLDER", "my.txt", "returned", "pie", "pie.js", "slider", "utils.py"},
    "files of others": {"__MACOSX", "conf.py", "enfr.gold", "fra.txt"},
    "names in other software": {"Float", "SKIPPED", "ignore_index", "ipywidgets", "link", "tokenizers"},
    "tokens and codes of others": {"CLS", "SEP", "yue"},
    "settings": {"OMP_NUM_THREADS", "extensions", "extra_extensions", "metadata", "course"},
    "keys of metadata.course": {"gives", "goals", "needs", "picture", "question", "short_way", "true"},
    "keys of a chapter's metadata": {"gives", "goals", "needs", "short_way", "true"},
    "addresses": {"repository", "url", "branch"},
    "names in the tests": {"CHROMIUM", "LAYERS", "tests"},
    "mathematics that a task asks for, and the end of a name": {"latent", "_known"},
}
#: Files that a reader or a command makes, or that stand for others.
MADE_LATER = re.compile(
    r"(marks|totals)\.csv|(_build|runs|source|ANN|hansards)/.*|.*(NAME|\bpie|test_pie|\.exercises)\b.*"
)


def names_in(tree: ast.AST) -> Iterator[str]:
    """The names that code uses or defines."""
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg", "name"):
            if isinstance(name := getattr(node, field, None), str):
                yield from name.split(".")


def defined_in(tree: ast.AST) -> Iterator[str]:
    """What code defines for others, and its strings: functions, classes, parameters, attributes, keys, commands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        for statement in node.body if isinstance(node, ast.Module | ast.ClassDef) else ():
            if isinstance(statement, ast.Assign | ast.AnnAssign):
                targets = getattr(statement, "targets", None) or [statement.target]
                yield from (target.id for target in targets if isinstance(target, ast.Name))


@cache
def classes() -> dict[str, set[str]]:
    """The members of each class of ours, with those that it inherits from a module of torch."""
    found = {}
    for path in ROOT.glob("utils/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, set(dir(torch.nn.Module))).update(defined_in(node))
    return found


@cache
def known() -> set[str]:
    """All names of the course's code, and of what it is made of."""
    found = set(keyword.kwlist).union(*(dir(library) for library in LIBRARIES), *OTHERS.values())
    for path in [*ROOT.glob("utils/**/*.py"), *ROOT.glob("chapters/studies/*.py")]:
        found.update(defined_in(ast.parse(path.read_text("utf-8"))))
        found.update(path.relative_to(ROOT).with_suffix("").parts)
    return found


@cache
def options() -> set[str]:
    """The options of the course's commands, and of the program that starts several of them."""
    waiting, found = [typer.main.get_command(app)], set(torchrun_parser()._option_string_actions)
    while waiting:
        command = waiting.pop()
        waiting += getattr(command, "commands", {}).values()
        found.update(name for parameter in command.params for name in parameter.opts)
    return found


@cache
def files() -> str:
    """The paths of the files and folders of the course, each between a slash and a line feed."""
    rooms = ("*", ".github/**/*", "book/**/*", "chapters/**/*", "tests/**/*", "utils/**/*")
    paths = [path for room in rooms for path in ROOT.glob(room)]
    return "".join(f"/{path.relative_to(ROOT).as_posix()}{'/' * end}\n" for path in paths for end in (0, 1))


def unknown(piece: str, own: set[str]) -> set[str]:
    """What a piece of code names and nobody has defined. A tuple is a shape, and a single letter is mathematics."""
    if piece in known() or piece.split()[0] in PROGRAMS or NO_PYTHON.fullmatch(piece):
        return set()
    if piece.startswith("--"):
        return set(re.findall(r"--[\w-]+", piece)) - options()
    if PATH.fullmatch(piece):
        return set() if MADE_LATER.fullmatch(piece) or f"/{piece}\n" in files() else {piece}
    if re.fullmatch(r"utils(\.\w+)+", piece):
        return set() if pkgutil.resolve_name(piece) else {piece}
    try:
        code = ast.parse(piece)
    except SyntaxError:
        return set()
    if any(
        isinstance(part, ast.AnnAssign) or isinstance(getattr(part, "value", None), ast.Tuple)
        for part in code.body
    ):
        return set()  # a part of a signature of sacreBLEU, as tok:13a, or a shape
    members = {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(code)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in classes()
        if node.attr not in classes()[node.value.id]
    }
    return members | {name for name in names_in(code) if len(name) > 1} - known() - own


def text_and_names(path: Path) -> tuple[str, set[str]]:
    """The Markdown of a page, and the names in the code that it shows."""
    text, code = path.read_text("utf-8"), []
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    code += [block for _, language, block in BLOCK.findall(text) if language == "python"]
    return text, {name for source in code for name in names_in(ast.parse(source))}


@pytest.mark.parametrize("path", PAGES + CHAPTERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_in_code_type_exist(path: Path) -> None:
    text, own = text_and_names(path)
    pieces = [piece for role, piece in PIECE.findall(BLOCK.sub("", text)) if not role]
    assert {piece: names for piece in pieces if (names := unknown(piece, own))} == {}


@pytest.mark.parametrize(
    "piece",
    ["align_sentences", "Vocabulary.bqe", "search(texts, bim=5)", "--bim", "utils/atention.py", "shaped.py"],
)
def test_a_name_that_nobody_defines_is_found(piece: str) -> None:
    assert unknown(piece, own=set())
