"""The shape of `utils`: short functions, few parameters, imports that follow the data, private names kept private."""

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
MOST_LINES, MOST_PARAMETERS = 60, 10
#: The public functions of these modules are commands, with a parameter for each argument and option.
COMMANDS = set(ROOT.glob("utils/translator/commands/*.py")) - {ROOT / "utils/translator/commands/shared.py"}
#: The first line of a function in a script that prettier has formatted; not of one around a whole file.
OPENS = re.compile(r"^(?!\(\(\)) *(?!.*\b(?:if|for|while|switch|catch) \().*(?:=>|\)) [({]+$")
#: Public in spite of their underscore: the library's documentation describes them.
DOCUMENTED = {"os._exit"}

#: A module or folder may import of `utils` only itself and what is in the rows above its own.
LAYERS = [
    {"attention"},
    {"kernels", "seq2seq"},
    {"corpus", "transformer", "attention_variants"},
    {"search", "training", "metrics", "unknown_words"},
    {"figures"},
    {"translator", "exercises"},
    {"__main__"},
]
#: A folder that imports nothing else of `utils`: sentences know no model.
ALONE = {"corpus"}


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every function and method with its name, that of its class before it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{f.name}", f) for f in node.body if isinstance(f, ast.FunctionDef))
    yield from ((f.name, f) for f in tree.body if isinstance(f, ast.FunctionDef))


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


def parameters(function: ast.FunctionDef) -> int:
    """Number of parameters without ``self``; ``*args`` is one, and so is ``**options``."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    collected = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    return sum(argument.arg not in ("self", "cls") for argument in [*named, *collected])


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


def test_the_measures_by_hand():
    source = 'def f(a, *, b=1, **c):\n    """Two\n    lines."""\n    # why\n\n    return a\n'
    [(name, function)] = functions(ast.parse(source))
    assert (name, code_lines(function, source.splitlines()), parameters(function)) == ("f", 2, 3)
    [(name, function)] = functions(ast.parse("class C:\n    def f(self, a, /, *b): pass"))
    assert (name, parameters(function)) == ("C.f", 2)
    imports = "import os, utils.search\nfrom utils import metrics, training\nfrom utils.corpus.pairs import tokenise"
    assert list(imported(ast.parse(imports))) == ["search", "metrics", "training", "corpus"]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_functions_are_short_and_take_few_parameters(path: Path):
    source = path.read_text("utf-8").splitlines()
    for name, function in functions(TREES[path]):
        assert code_lines(function, source) <= MOST_LINES, f"{name} has {code_lines(function, source)} lines"
        is_command = path in COMMANDS and not name.startswith("_")
        assert is_command or parameters(function) <= MOST_PARAMETERS, (
            f"{name} has {parameters(function)} parameters"
        )


def test_the_measure_of_scripts_by_hand():
    source = "const f = (a) => {\n  if (a) {\n    g();\n  }\n};\n"
    source += (
        "kinds.x = {\n  draw(b) {\n    h(b, () => ({\n      c,\n    }));\n  },\n};\n(() => {\n  g();\n})();"
    )
    assert list(script_functions(source)) == [
        ("const f = (a) => {", 5),
        ("draw(b) {", 5),
        ("h(b, () => ({", 3),
    ]


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_functions_of_scripts_are_short(path: Path):
    for name, count in script_functions(path.read_text("utf-8")):
        assert count <= MOST_LINES, f"{name} has {count} lines"


@pytest.mark.parametrize("path", [*SCRIPTS, *STYLE_SHEETS], ids=name_of)
def test_lines_of_scripts_and_style_sheets_can_be_read(path: Path):
    assert max(map(len, path.read_text("utf-8").splitlines())) <= 120


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_module_uses_private_names_of_another(path: Path):
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.ImportFrom):
            private = [alias.name for alias in node.names if alias.name.startswith("_")]
            assert not private, f"line {node.lineno} imports {private} from {node.module}"
        # type(x)._method and module._name; what a class keeps on itself is reached through self or cls.
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            owner = node.value
            is_type = isinstance(owner, ast.Call) and getattr(owner.func, "id", "") == "type"
            assert not is_type, f"line {node.lineno} uses {node.attr} of a type"
            imported = isinstance(owner, ast.Name) and owner.id in _imported_names(TREES[path])
            assert not imported or ast.unparse(node) in DOCUMENTED, (
                f"line {node.lineno} uses {ast.unparse(node)}"
            )


def _imported_names(tree: ast.Module) -> set[str]:
    return {
        alias.asname or alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }


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


OF_UTILS = [path for path in MODULES if (ROOT / "utils") in path.parents]


@pytest.mark.parametrize("path", OF_UTILS, ids=name_of)
def test_imports_follow_the_data(path: Path):
    if path == ROOT / "utils" / "__init__.py":
        assert not list(imported(TREES[path]))
        return
    here = path.relative_to(ROOT / "utils").with_suffix("").parts[0]
    row = next((number for number, names in enumerate(LAYERS) if here in names), None)
    assert row is not None, f"{here} is in no row of LAYERS: add it below all that it imports"
    allowed = {here} if here in ALONE else {here}.union(*LAYERS[:row])
    for name in imported(TREES[path]):
        assert name in allowed, f"{here} imports {name}"
