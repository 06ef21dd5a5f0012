"""The imports within `utils` follow the data: a module knows nothing of what is made from it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UTILS = ROOT / "utils"
MODULES = [path for path in sorted(UTILS.rglob("*.py")) if path != UTILS / "__init__.py"]
#: A module or folder may import of `utils` only itself and what is in the rows above its own.
LAYERS = [
    {"attention", "checks", "errors"},
    {"kernels", "seq2seq"},
    {"corpus", "transformer", "attention_variants", "positions"},
    {
        "search",
        "training",
        "metrics",
        "long_sequences",
        "fast_decoding",
        "circuits",
        "sentence_encoder",
    },
    {"fast_training", "chat_model", "speech"},
    {"figures"},
    {"translator", "exercises"},
    {"__main__"},
]
#: What imports only this of `utils`: `attention` can be copied together with `checks`, and sentences know no model.
ALONE = {"attention": {"checks"}, "checks": set(), "corpus": {"checks", "errors"}}


def imported(module: Path) -> Iterator[str]:
    """The modules and folders of `utils` that are imported at the top of a module.

    A function may import more: it does so when it is called.
    """
    for node in ast.parse(module.read_text("utf-8")).body:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("utils."))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(UTILS)))
def test_imports_follow_the_data(module: Path) -> None:
    here = module.relative_to(UTILS).with_suffix("").parts[0]
    row = next((number for number, names in enumerate(LAYERS) if here in names), None)
    assert row is not None, f"{here} is in no row of LAYERS: add it below all that it imports"
    allowed = {here} | (ALONE[here] if here in ALONE else set().union(*LAYERS[:row]))
    for name in imported(module):
        assert name in allowed, f"{here} imports {name}"


def test_the_picture_of_the_rooms_is_that_of_the_imports() -> None:
    picture = (ROOT / "book" / "_assets" / "rooms.html").read_text("utf-8")
    drawn: list[set[str]] = [set() for _ in LAYERS]
    for row, name in re.findall(r'data-row="(\d+)"[^>]*>(\w+)<', picture):
        drawn[int(row)].add(name)
    assert drawn == LAYERS
    # What a row holds stands above what the rows after it hold; corpus is as high as the models beside it.
    places = re.findall(r'data-row="(\d+)" x="\d+" y="(\d+)">(?!corpus)', picture)
    heights = [int(y) for _, y in sorted(places, key=lambda place: (int(place[0]), int(place[1])))]
    assert heights == sorted(heights)


def test_the_messages_that_a_page_explains_are_those_of_the_code() -> None:
    # The line before each answer quotes a message, with … for what differs.
    sources = [*ROOT.glob("utils/**/*.py"), *ROOT.glob("tests/support/*.py"), ROOT / "Makefile"]
    code = re.sub(r"[\"\n]\s*[f]?\"?", "", "".join(path.read_text("utf-8") for path in sources))
    of_others = (
        "make: command",
        "python3 is",
        "'utils' is",
        "cannot import",
        "from 'utils'",
        "No module",
        "No matching",
        "jupyter-book: not",
        "no space",
    )
    rows = re.findall(r"^(.+)\n: ", (ROOT / "book" / "problems.md").read_text("utf-8"), re.MULTILINE)
    quoted = [piece for row in rows for text in re.findall(r"`([^`]+)`", row) for piece in text.split("…")]
    assert len(quoted) > 15
    for piece in quoted:
        if len(piece) > 12 and not piece.strip().startswith(of_others):
            assert piece.strip() in code, piece


def test_no_assertion_is_a_conditional() -> None:
    # `assert a == b if c else d` asserts d alone where c is false, and d may be anything that is true.
    found = []
    for path in [*ROOT.glob("tests/**/*.py"), *ROOT.glob("utils/**/*.py"), *ROOT.glob("chapters/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Assert) and isinstance(node.test, ast.IfExp):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert found == []
