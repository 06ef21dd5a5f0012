"""The form of a page: it shows, then says. How it looks in a browser is tested in ``tests/book/test_every_chapter``.

Each rule takes a notebook and yields a sentence for each fault, as in ``test_notebooks``.
"""

import ast
import math
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

CHAPTERS = Path(__file__).parents[2] / "chapters"
NAMES = sorted(path.stem for path in CHAPTERS.glob("*.ipynb"))

MAX_SENTENCES = 4
MAX_PRINTED_LINES = 3
MAX_CELL_LINES = 20
#: Pixels that a figure has on a phone of 360, and the smallest letters that can be read there.
PHONE_WIDTH = 328
SMALLEST_LETTERS = 10
#: Sections after the lesson, in this order.
AFTER = ["Summary", "Exercises", "Going deeper", "Where this comes from"]
#: What a fold may be called, apart from a reveal, whose label says what it shows.
FOLDS = {"Answers", "Hint", "Explanation", "Solution", "Points of a good answer"}
#: A colour that is not taken from ``utils.figures.plotting``.
OWN_COLOUR = re.compile(r"""#[0-9a-fA-F]{6}\b|\bcolor=["']|["']C\d["']""")

RULES = []


def rule(function):
    RULES.append(function)
    return function


def tags(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", ()))


def is_figure(cell: NotebookNode) -> bool:
    return any(
        {"image/svg+xml", "text/html"} & set(output.get("data", ())) for output in cell.get("outputs", ())
    )


def visible_code(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells of code that a page shows, folded ones included."""
    return [cell for cell in notebook.cells if cell.cell_type == "code" and "remove-cell" not in tags(cell)]


def sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?:])[*_]*\s+", text.strip()) if part]


@rule
def it_opens_with_a_picture(notebook: NotebookNode) -> Iterator[str]:
    title, figure, caption, goals = notebook.cells[:4]
    heading, _, opening = title.source.partition("\n")
    if not heading.startswith("# ") or not opening.strip():
        yield f"a title and the question come first, got {heading!r}"
    if len(found := sentences(opening)) > MAX_SENTENCES:
        yield f"{len(found)} sentences before the first figure, at most {MAX_SENTENCES}: {found}"
    if figure.cell_type != "code" or not is_figure(figure) or "caption" not in tags(caption):
        yield "the second cell must be the opening figure, and the third its caption"
    if not goals.source.startswith("## What you will learn"):
        yield f"what the reader will learn comes after the opening figure, got {goals.source[:50]!r}"


@rule
def what_can_be_skipped_comes_last(notebook: NotebookNode) -> Iterator[str]:
    begun = [cell.source.partition("\n")[0] for cell in notebook.cells if cell.cell_type == "markdown"]
    sections = [line.removeprefix("## ") for line in begun if line.startswith("## ")]
    if [section for section in sections if section in AFTER] != AFTER or sections[-1] != AFTER[-1]:
        yield f"cells must begin with the sections {AFTER} in this order, got {sections}"


@rule
def a_result_is_a_picture_or_a_table(notebook: NotebookNode) -> Iterator[str]:
    for cell in visible_code(notebook):
        if "check" in tags(cell) or "solution" in tags(cell) or is_figure(cell):
            continue
        printed = "".join(
            output.get("text", output.get("data", {}).get("text/plain", "")) for output in cell.outputs
        )
        if len(lines := printed.rstrip("\n").splitlines()) > MAX_PRINTED_LINES:
            yield f"{len(lines)} printed lines, at most {MAX_PRINTED_LINES}; make a figure or a Table: {lines[0]!r}"


@rule
def our_guards_are_not_the_readers(notebook: NotebookNode) -> Iterator[str]:
    """What is removed from the page is hidden in JupyterLab too, and nothing that is seen depends on it."""
    removed = [cell for cell in notebook.cells if "remove-cell" in tags(cell) and cell.cell_type == "code"]
    seen: set[str] = set()
    hidden: set[str] = set()
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        tree = ast.parse(cell.source)
        if cell in removed:
            hidden |= defined(tree) - seen
            if cell.source == "progress(check)":
                continue
            if cell.metadata.get("jupyter") != {"source_hidden": True, "outputs_hidden": True}:
                yield f"a removed cell must be hidden in JupyterLab, source and outputs: {cell.source[:50]!r}"
            continue
        used = {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        if missing := used & hidden - defined(tree):
            yield f"a removed cell defines {sorted(missing)}, which this one uses: {cell.source[:50]!r}"
        seen |= defined(tree)
        hidden -= seen


def defined(tree: ast.Module) -> set[str]:
    """The names that the statements of a cell define or import at its top level."""
    names: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            names.add(statement.name)
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.alias):
                names.add((node.asname or node.name).partition(".")[0])
    return names


@rule
def what_is_folded_says_what_it_holds(notebook: NotebookNode) -> Iterator[str]:
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for label in re.findall(r"<summary>(.*?)</summary>", cell.source):
                if label not in FOLDS:
                    yield f"a fold is one of {sorted(FOLDS)}; other texts stand in the open, or deeper: {label!r}"
            continue
        if "hide-cell" in tags(cell) and "solution" not in tags(cell):
            yield f"only a solution is folded as a whole: {cell.source[:50]!r}"
        if "hide-input" in tags(cell) and not is_figure(cell):
            yield f"only the code of a figure or a table is folded: {cell.source[:50]!r}"
        label = cell.metadata.get("mystnb", {}).get("code_prompt_show", "")
        if "hide-output" in tags(cell) and not re.match(r"Reveal: \w", label):
            yield f"code_prompt_show must be 'Reveal: ' and what is revealed, got {label!r}: {cell.source[:50]!r}"


@rule
def what_cannot_move_in_the_page_is_not_there(notebook: NotebookNode) -> Iterator[str]:
    for cell in notebook.cells:
        if (cell.source == "progress(check)" or cell.source.startswith("### Your progress")) and (
            "remove-cell" not in tags(cell)
        ):
            yield f"the progress moves only in JupyterLab: tag it remove-cell: {cell.source[:30]!r}"


@rule
def visible_code_is_short(notebook: NotebookNode) -> Iterator[str]:
    for cell in visible_code(notebook):
        lines = [line for line in cell.source.splitlines() if line.strip()]
        if not tags(cell) & {"hide-input", "hide-cell"} and len(lines) > MAX_CELL_LINES:
            yield f"{len(lines)} visible lines, at most {MAX_CELL_LINES}: {cell.source[:50]!r}"


@rule
def colours_come_from_one_table(notebook: NotebookNode) -> Iterator[str]:
    for cell in visible_code(notebook):
        if found := OWN_COLOUR.search(cell.source):
            yield f"{found[0]!r}: take a colour from utils.figures.plotting: {cell.source[:50]!r}"


@rule
def letters_of_charts_can_be_read_on_a_phone(notebook: NotebookNode) -> Iterator[str]:
    for cell in visible_code(notebook):
        for output in cell.get("outputs", ()):
            chart = output.get("data", {}).get("image/svg+xml", "")
            sizes = [float(size) for size in re.findall(r"<text[^>]*font-size:([\d.]+)px", chart)]
            for width in re.findall(r'class="chart" viewBox="0 0 ([\d.]+) ', chart):
                shown = min(sizes, default=math.inf) * min(1, PHONE_WIDTH / float(width))
                if shown < SMALLEST_LETTERS:
                    yield f"letters of {shown:.1f} px on a phone, at least {SMALLEST_LETTERS}: {cell.source[:50]!r}"


@rule
def every_picture_has_a_caption(notebook: NotebookNode) -> Iterator[str]:
    for cell, after in pairwise(notebook.cells):
        shows = any("image/svg+xml" in output.get("data", ()) for output in cell.get("outputs", ()))
        if shows and "remove-cell" not in tags(cell) and "caption" not in tags(after):
            yield f"a figure without a caption below it: {cell.source[:50]!r}"


def read(name: str) -> NotebookNode:
    return nbformat.read(CHAPTERS / f"{name}.ipynb", as_version=4)


@pytest.mark.parametrize("find_faults", RULES, ids=lambda find_faults: find_faults.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_form(name: str, find_faults) -> None:
    assert list(find_faults(read(name))) == []


def cell(source: str, *tags: str, **more) -> NotebookNode:
    made = nbformat.v4.new_code_cell(source, **more)
    made.metadata["tags"] = list(tags)
    return made


def test_a_name_of_a_removed_cell_is_found_where_it_is_used() -> None:
    guard = cell("from math import pi\nassert pi > 3", "remove-cell")
    guard.metadata["jupyter"] = {"source_hidden": True, "outputs_hidden": True}
    faults = [
        list(
            our_guards_are_not_the_readers(
                nbformat.v4.new_notebook(cells=[*before, guard, cell("print(pi)")])
            )
        )
        for before in ([], [cell("pi = 3")])
    ]
    assert faults == [["a removed cell defines ['pi'], which this one uses: 'print(pi)'"], []]


def test_a_long_print_is_found() -> None:
    printed = [nbformat.v4.new_output("stream", text="1\n2\n3\n4\n")]
    notebook = nbformat.v4.new_notebook(cells=[cell("show()", outputs=printed)])
    assert "4 printed lines" in next(a_result_is_a_picture_or_a_table(notebook))
    notebook.cells[0].metadata.tags = ["solution"]
    assert list(a_result_is_a_picture_or_a_table(notebook)) == []


def test_small_letters_of_a_chart_are_found() -> None:
    def faults(width: int) -> list[str]:
        svg = f'<svg class="chart" viewBox="0 0 {width} 200"><text style="font-size:11px">a</text></svg>'
        chart = nbformat.v4.new_output("display_data", data={"image/svg+xml": svg})
        notebook = nbformat.v4.new_notebook(cells=[cell("draw()", outputs=[chart])])
        return list(letters_of_charts_can_be_read_on_a_phone(notebook))

    assert faults(360) == []  # 11 * 328 / 360 is 10.02
    assert faults(361) == ["letters of 10.0 px on a phone, at least 10: 'draw()'"]
