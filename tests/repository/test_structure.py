"""The shape of `utils`: short functions, lines that can be read, and imports that follow the data."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted([*ROOT.glob("utils/**/*.py"), *ROOT.glob("chapters/studies/*.py")])
TREES = {path: ast.parse(path.read_text("utf-8")) for path in MODULES}
SCRIPTS = sorted([*ROOT.glob("utils/**/*.js"), *ROOT.glob("book/_assets/*.js")])
STYLE_SHEETS = sorted([*ROOT.glob("utils/**/*.css"), *ROOT.glob("book/_assets/*.css")])
MOST_LINES = 60
#: The first line of a function in a script that prettier has formatted; not of one around a whole file.
OPENS = re.compile(r"^(?!\(\(\)) *(?!.*\b(?:if|for|while|switch|catch) \().*(?:=>|\)) [({]+$")
#: A module or folder may import of `utils` only itself and what is in the rows above its own.
LAYERS = [
    {"attention"},
    {"kernels", "seq2seq"},
    {"corpus", "transformer", "attention_variants"},
    {"search", "training", "metrics", "unknown_words", "long_sequences", "fast_decoding", "circuits"},
    {"fast_training"},
    {"figures"},
    {"translator", "exercises"},
    {"__main__"},
]
#: A folder that imports nothing else of `utils`: sentences know no model.
ALONE = {"corpus"}


def code_lines(function: ast.FunctionDef, source: list[str]) -> int:
    """Lines of a function without its docstring, comments and blanks."""
    docstring = set()
    if ast.get_docstring(function) is not None:
        docstring = set(range(function.body[0].lineno, function.body[0].end_lineno + 1))
    lines = range(function.lineno, function.end_lineno + 1)
    return sum(
        number not in docstring
        and bool(source[number - 1].strip())
        and not source[number - 1].lstrip().startswith("#")
        for number in lines
    )


def script_functions(source: str) -> Iterator[tuple[str, int]]:
    """The first line of each function of a formatted script, and how many lines it has; it ends at its own indent."""
    lines = source.splitlines()
    for start, line in enumerate(lines):
        if OPENS.match(line):
            indent = len(line) - len(line.lstrip())
            ends = re.compile(rf" {{{indent}}}[)}}]")
            yield line.strip(), next(n for n, later in enumerate(lines[start + 1 :], 2) if ends.match(later))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_functions_are_short(path: Path):
    source = path.read_text("utf-8").splitlines()
    for function in ast.walk(TREES[path]):
        if isinstance(function, ast.FunctionDef):
            assert code_lines(function, source) <= MOST_LINES, function.name


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_functions_of_scripts_are_short(path: Path):
    for name, count in script_functions(path.read_text("utf-8")):
        assert count <= MOST_LINES, f"{name} has {count} lines"


@pytest.mark.parametrize("path", [*SCRIPTS, *STYLE_SHEETS], ids=name_of)
def test_lines_of_scripts_and_styles_are_short(path: Path):
    assert max(map(len, path.read_text("utf-8").splitlines())) <= 120


def imported(tree: ast.Module) -> Iterator[str]:
    """The modules and folders of `utils` that are imported at the top of a module.

    A function may import more: it does so when it is called.
    """
    for node in tree.body:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = (
                [f"utils.{alias.name}" for alias in node.names] if node.module == "utils" else [node.module]
            )
        yield from (name.split(".")[1] for name in names if (name or "").startswith("utils."))


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in MODULES
        if path.parts[-2:] != ("utils", "__init__.py") and ROOT / "utils" in path.parents
    ],
    ids=name_of,
)
def test_imports_follow_the_data(path: Path):
    here = path.relative_to(ROOT / "utils").with_suffix("").parts[0]
    row = next((number for number, names in enumerate(LAYERS) if here in names), None)
    assert row is not None, f"{here} is in no row of LAYERS: add it below all that it imports"
    allowed = {here} if here in ALONE else {here}.union(*LAYERS[:row])
    for name in imported(TREES[path]):
        assert name in allowed, f"{here} imports {name}"
