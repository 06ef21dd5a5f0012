"""Guards for the chapters. They find faults that a comparison of outputs (nbval) does not find.

Each guard takes a notebook and yields a sentence for each fault. Every chapter must pass all guards, and each guard
must complain about a chapter with its fault.
"""

import ast
import base64
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output

from utils.exercises.form import exercises_of

pytestmark = pytest.mark.chapter

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))

MAX_NOTEBOOK_BYTES = 600 * 1024
MAX_PICTURE_BYTES = 50 * 1024
#: The width that a phone of 360 pixels leaves for a figure, and the size of the smallest letters there.
PHONE_WIDTH, MIN_LETTER = 328, 10
MAX_CELL_LINES = 30
MAX_CODE_CELLS_IN_A_ROW = 2
#: The characters of a line of code that a page shows on a laptop without scrolling.
MAX_WIDTH = 76
#: Of the code that a reader sees before the exercises, at most this share makes pictures.
MAX_PLUMBING = 0.1
#: A statement with one of these names counts as drawing.
DRAWS = {
    "plt",
    "ax",
    "axes",
    "axis",
    "figure",
    "heatmap",
    "panels",
    "colorbar_for",
    "shape_diagram",
    "use_style",
}
FOLDED = {"hide-input", "hide-cell"}
MIN_ALT_LENGTH = 40

OPENING = ["What you will learn", "Before you start"]
CLOSING = ["Summary", "Exercises", "Where this comes from"]
#: A question: its name, and all that stands below the name.
QUIZ = re.compile(r"^<!-- quiz (\S+) -->\n(.*?)^</details>$", re.MULTILINE | re.DOTALL)
#: A number that a question asks for, and its tolerance.
ASKED_NUMBER = re.compile(r"\*\*Right: ([-−]?\d+(?:\.\d+)?)(?: ± (\d+(?:\.\d+)?))?\.\*\*")
MIN_QUIZZES = 8
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}

Guard = Callable[[NotebookNode], Iterator[str]]
GUARDS: list[Guard] = []


def guard(function: Guard) -> Guard:
    GUARDS.append(function)
    return function


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", ()))


def output_texts(cell: NotebookNode) -> list[str]:
    """All text in a cell's outputs, with drawings in SVG and without other pictures."""
    texts = []
    for output in cell.outputs:
        texts.append(output.get("text", ""))
        texts += [
            str(data)
            for kind, data in output.get("data", {}).items()
            if not kind.startswith("image/") or kind == "image/svg+xml"
        ]
    return texts


def headings(notebook: NotebookNode) -> list[tuple[int, str]]:
    """Level and text of each heading. Lines of a fenced code block are not headings."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            prose = re.sub(r"^(```|~~~).*?^\1", "", cell.source, flags=re.MULTILINE | re.DOTALL)
            found += [
                (len(marks), text.strip()) for marks, text in re.findall(r"^(#+) (.+)$", prose, re.MULTILINE)
            ]
    return found


def quizzes(notebook: NotebookNode) -> list[tuple[str, str]]:
    """Name and text of each question."""
    return [
        found
        for cell in notebook.cells
        if cell.cell_type == "markdown"
        for found in QUIZ.findall(cell.source)
    ]


def checks(source: str) -> bool:
    """Whether the code asserts something, by the statement or by a function such as ``assert_close``."""
    return any(
        isinstance(node, ast.Assert)
        or (isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1].startswith("assert_"))
        for node in ast.walk(ast.parse(source))
    )


@guard
def every_cell_ran_in_order(notebook: NotebookNode) -> Iterator[str]:
    # nbval compares nothing of a cell without an execution count.
    for position, cell in enumerate(code_cells(notebook), start=1):
        if cell.execution_count != position:
            yield f"cell {position} has execution count {cell.execution_count}"


@guard
def no_errors_and_no_warnings(notebook: NotebookNode) -> Iterator[str]:
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if output.output_type == "error":
                yield f"an error output: {output.ename}"
            if output.get("name") == "stderr":
                yield f"an output on stderr: {output.text[:60]!r}"


@guard
def outputs_are_the_same_everywhere(notebook: NotebookNode) -> Iterator[str]:
    for cell in code_cells(notebook):
        for text in output_texts(cell):
            if address := re.search(r"\b0x[0-9a-fA-F]{6,}", text):
                yield f"a memory address in an output: {address[0]}"
            if path := re.search(r"(?<![\w.])/(?:home|root|Users|tmp|work)/\S*", text):
                yield f"a path of one machine in an output: {path[0]}"


@guard
def no_trailing_semicolon(notebook: NotebookNode) -> Iterator[str]:
    # nbval does not compare the output of such a cell (its issue 194).
    for cell in code_cells(notebook):
        if cell.source.rstrip().endswith(";"):
            yield f"a trailing semicolon: {cell.source.splitlines()[-1]}"


@guard
def nothing_is_exempt_without_a_check(notebook: NotebookNode) -> Iterator[str]:
    cells = code_cells(notebook)
    for position, cell in enumerate(cells):
        if skipped := tags(cell) & {"nbval-skip", "nbval-raises-exception", "raises-exception"}:
            yield f"the tag {skipped.pop()}: each cell must run"
        if "NBVAL_" in cell.source or "PYTEST_VALIDATE" in cell.source:
            yield "a comment steers nbval: use the tag nbval-ignore-output, which shows in the metadata"
        if "nbval-ignore-output" in tags(cell) and not any(
            checks(c.source) for c in cells[position : position + 2]
        ):
            yield f"neither this exempt cell nor the next one asserts anything: {cell.source[:60]!r}"


@guard
def every_figure_has_words(notebook: NotebookNode) -> Iterator[str]:
    captioned = {cell.id for cell, below in itertools.pairwise(notebook.cells) if "caption" in tags(below)}
    for cell in code_cells(notebook):
        shown = cell.metadata.get("mystnb", {})
        figure = shown.get("figure", {})
        alts = [
            alt
            for text in output_texts(cell)
            for alt in re.findall(r'(?:<img class="xp-still" alt|<svg role="img" aria-label)="([^"]*)"', text)
        ]
        if any("image/png" in output.get("data", {}) for output in cell.outputs):
            alts.append(shown.get("image", {}).get("alt", ""))
        if alts:
            if min(map(len, alts)) < MIN_ALT_LENGTH:
                yield f"a figure whose alt text has under {MIN_ALT_LENGTH} characters: {cell.source[:60]!r}"
            if cell.id not in captioned or not figure.get("name"):
                yield f"a figure without caption or name: {cell.source[:60]!r}"
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and re.search(r"!\[\s*\]\(", cell.source):
            yield "a picture in the text without alt text"


@guard
def figures_with_sliders_are_stored_for_the_page(notebook: NotebookNode) -> Iterator[str]:
    # A control would be dead: its kernel has ended.
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if "application/vnd.jupyter.widget-view+json" in output.get("data", {}):
                yield f"a control without its kernel: run make notebooks: {cell.source[:60]!r}"


@guard
def pictures_are_small(notebook: NotebookNode) -> Iterator[str]:
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if png := output.get("data", {}).get("image/png"):
                size = len(base64.b64decode(png))
                if size > MAX_PICTURE_BYTES:
                    yield f"a picture of {size:,} bytes (at most {MAX_PICTURE_BYTES:,})"


@guard
def drawings_can_be_read_on_a_phone(notebook: NotebookNode) -> Iterator[str]:
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if "image/png" not in output.get("data", {}):
                continue
            drawing = output.data.get("image/svg+xml", "")
            if 'class="chart"' not in drawing:
                yield f"a picture that is not drawn in the style of utils.figures.plotting: {cell.source[:60]!r}"
                continue
            width = float(re.search(r'viewBox="0 0 ([\d.]+)', drawing)[1])
            letters = re.findall(r"<text[^>]*font-size:([\d.]+)px", drawing)
            shown = PHONE_WIDTH / width * min(map(float, letters))
            if shown < MIN_LETTER:
                yield f"letters of {shown:.1f} pixels on a phone: draw it narrower: {cell.source[:60]!r}"
            if len(drawing) > MAX_PICTURE_BYTES:
                yield f"a drawing of {len(drawing):,} bytes (at most {MAX_PICTURE_BYTES:,})"


@guard
def notebook_is_small(notebook: NotebookNode) -> Iterator[str]:
    size = len(nbformat.writes(notebook).encode())
    if size > MAX_NOTEBOOK_BYTES:
        yield f"{size:,} bytes (at most {MAX_NOTEBOOK_BYTES:,})"


@guard
def headings_are_those_of_a_chapter(notebook: NotebookNode) -> Iterator[str]:
    found = headings(notebook)
    titles = [text for level, text in found if level == 1]
    sections = [text for level, text in found if level == 2]
    if len(titles) != 1 or found[0][0] != 1:
        yield f"one title, at the top, is wanted: {titles}"
    if sections[:2] != OPENING or sections[-3:] != CLOSING:
        yield f"sections must open with {OPENING} and close with {CLOSING}, got {sections}"
    for (above, _), (level, text) in itertools.pairwise(found):
        if level > above + 1:
            yield f"a level is skipped before {text!r}"


def assigned(source: str) -> set[str]:
    """Names that code defines at its top level."""
    names = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {
                name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)
            }
    return names


@guard
def exercises_have_their_form(notebook: NotebookNode) -> Iterator[str]:
    named = [text for level, text in headings(notebook) if level == 3 and text.startswith("Exercise")]
    try:
        exercises = list(exercises_of(notebook))
    except ValueError as error:
        yield str(error)
        return
    if [exercise.number for exercise in exercises] != list(range(1, len(named) + 1)):
        yield f"exercises must be called '### Exercise 1: name (5 minutes)' and so on, got {named}"
    if not 4 <= len(exercises) <= 6:
        yield f"{len(exercises)} exercises (4 to 6)"
    for exercise in exercises:
        where = f"exercise {exercise.number}"
        if not re.fullmatch(r"check\.\w+\([a-z]\w*(, [a-z]\w*)*\)", exercise.check.source):
            yield f"{where}: the cell of the check must be one call, got {exercise.check.source!r}"
        elif missing := set(exercise.names) - assigned(exercise.stub.source):
            yield f"{where}: the cell to write in does not define {missing}"
        elif exercise.solution is not None:
            if "hide-cell" not in tags(exercise.solution):
                yield f"{where}: the solution is not folded (tag hide-cell)"
            if both := assigned(exercise.solution.source) & assigned(exercise.stub.source):
                yield f"{where}: the solution redefines the reader's {both}"
            if not re.search(
                rf"^assert check\.{exercise.check_name}\(.*, record=False\)\Z",
                exercise.solution.source,
                re.M | re.S,
            ):
                yield f"{where}: the solution must end in 'assert check.{exercise.check_name}(..., record=False)'"
    if code_cells(notebook)[-1].source != "progress(check)":
        yield "the last cell of code must be progress(check)"


@guard
def questions_are_many(notebook: NotebookNode) -> Iterator[str]:
    found = quizzes(notebook)
    if found and len(found) < MIN_QUIZZES:
        yield f"{len(found)} questions (at least {MIN_QUIZZES})"


@guard
def numbers_of_questions_are_computed(notebook: NotebookNode) -> Iterator[str]:
    # A cell prints "name: 0.25", with the name of the question.
    printed = dict(
        re.findall(
            r"^([a-z][a-z0-9-]*): (.+)$",
            "\n".join(text for cell in code_cells(notebook) for text in output_texts(cell)),
            re.MULTILINE,
        )
    )
    for name, text in quizzes(notebook):
        numbers = printed.get(name, "").split()
        if asked := ASKED_NUMBER.search(text):
            if not numbers:
                yield f"no cell prints '{name}: ' and the number that this question asks for"
            elif abs(float(numbers[0]) - float(asked[1].replace("−", "-"))) > float(asked[2] or 0):
                yield f"a cell prints {numbers[0]} for the question {name}, whose right answer is {asked[1]}"
        elif missing := set(numbers) - set(re.findall(r"-?\d+(?:\.\d+)?", text)):
            yield f"a cell prints numbers for the question {name} that are not in it: {sorted(missing)}"


@guard
def cells_are_short_and_explained(notebook: NotebookNode) -> Iterator[str]:
    in_a_row = 0
    for cell in notebook.cells:
        in_a_row = in_a_row + 1 if cell.cell_type == "code" else 0
        if in_a_row == MAX_CODE_CELLS_IN_A_ROW + 1:
            yield f"more than {MAX_CODE_CELLS_IN_A_ROW} code cells in a row: {cell.source[:60]!r}"
        if cell.cell_type == "code" and len(cell.source.splitlines()) > MAX_CELL_LINES:
            yield f"a cell of {len(cell.source.splitlines())} lines: {cell.source[:60]!r}"


@guard
def visible_code_fits_the_column(notebook: NotebookNode) -> Iterator[str]:
    for cell in code_cells(notebook):
        if not tags(cell) & FOLDED:
            yield from (
                f"a line of {len(line)} characters: {line}"
                for line in cell.source.splitlines()
                if len(line) > MAX_WIDTH
            )


@guard
def folded_code_is_folded_in_jupyterlab_too(notebook: NotebookNode) -> Iterator[str]:
    for cell in code_cells(notebook):
        if tags(cell) & FOLDED and not cell.metadata.get("jupyter", {}).get("source_hidden"):
            yield f'a folded cell without {{"jupyter": {{"source_hidden": true}}}}: {cell.source[:60]!r}'


@guard
def figure_plumbing_is_folded(notebook: NotebookNode) -> Iterator[str]:
    lines = plumbing = 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and re.search("^## Exercises", cell.source, re.M):
            break
        if cell.cell_type == "code" and not tags(cell) & FOLDED:
            lines += sum(bool(line.strip()) for line in cell.source.splitlines())
            plumbing += sum(
                node.end_lineno - node.lineno + 1
                for node in ast.walk(ast.parse(cell.source))
                if isinstance(node, ast.Expr | ast.Assign)
                and DRAWS & {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
            )
    if plumbing > MAX_PLUMBING * lines:
        yield f"{plumbing} of {lines} visible lines of code draw: fold them (tag hide-input)"


@guard
def nothing_is_installed_or_patched(notebook: NotebookNode) -> Iterator[str]:
    for cell in code_cells(notebook):
        if found := re.search(
            r"sys\.path|^\s*[%!]\s*(?:pip|conda)|warnings\.(?:filterwarnings|simplefilter)", cell.source, re.M
        ):
            yield f"{found[0].strip()!r} in a cell"


@guard
def notebook_is_normalised(notebook: NotebookNode) -> Iterator[str]:
    if dict(notebook.metadata) != {"kernelspec": KERNEL}:
        yield f"metadata must be the kernelspec {KERNEL} alone, got {dict(notebook.metadata)}"
    for cell in notebook.cells:
        if odd := set(cell.metadata) - {"tags", "mystnb", "jupyter"}:
            yield f"cell metadata {sorted(odd)}: run make notebooks"
    for cell in code_cells(notebook):
        names = [output.get("name") for output in cell.outputs]
        if any(name and name == after for name, after in itertools.pairwise(names)):
            yield f"what a cell prints is in several pieces: run make notebooks: {cell.source[:60]!r}"
    ids = [cell.id for cell in notebook.cells]
    if len(set(ids)) < len(ids):
        yield "two cells have the same id"


@pytest.mark.parametrize("check", GUARDS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapter(path: Path, check: Guard) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert list(check(notebook)) == []


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_file_is_normalised(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text == nbformat.writes(nbformat.reads(text, as_version=4)) + "\n", "run make notebooks"


def test_figures_have_a_name_of_their_own() -> None:
    names = [
        name
        for path in CHAPTERS
        for cell in code_cells(nbformat.read(path, as_version=4))
        if (name := cell.metadata.get("mystnb", {}).get("figure", {}).get("name"))
    ]
    assert sorted(names) == sorted(set(names))


def test_questions_have_names_of_their_own() -> None:
    found = {path.stem: quizzes(nbformat.read(path, as_version=4)) for path in CHAPTERS}
    assert all(found.values())
    names = [name for questions in found.values() for name, _ in questions]
    assert sorted(names) == sorted(set(names))


def test_the_book_has_every_chapter() -> None:
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    listed = [entry["file"] for part in toc["parts"] for entry in part["chapters"]]
    assert CHAPTERS
    assert {f"chapters/{path.stem}" for path in CHAPTERS} == {
        file for file in listed if file.startswith("chapters/")
    }


# ---- The guards themselves: for each guard a change to a chapter about which it must complain. ----


def print_in(cell: NotebookNode, text: str, name: str = "stdout") -> None:
    cell.outputs = [new_output("stream", name=name, text=text)]


def show_in(cell: NotebookNode, kind: str, data: object) -> None:
    cell.outputs = [new_output("display_data", {kind: data})]


def retitle(notebook: NotebookNode, old: str, new: str) -> None:
    for cell in notebook.cells:
        cell.source = cell.source.replace(old, new)


WIDGET = "application/vnd.jupyter.widget-view+json"
Change = Callable[[NotebookNode, NotebookNode, NotebookNode], object]
#: Guard -> a change to the notebook (its second argument is a cell of code, the third one a cell with a picture) and a
#: part of the complaint.
BROKEN: dict[str, tuple[Change, str]] = {
    "every_cell_ran_in_order": (lambda nb, code, fig: code.update(execution_count=7), "count 7"),
    "no_errors_and_no_warnings": (lambda nb, code, fig: print_in(code, "Warning", "stderr"), "stderr"),
    "outputs_are_the_same_everywhere": (lambda nb, code, fig: print_in(code, "/home/ann/x.py"), "path"),
    "no_trailing_semicolon": (lambda nb, code, fig: code.update(source="plt.plot(x);\n"), "semicolon"),
    "nothing_is_exempt_without_a_check": (
        lambda nb, code, fig: code.metadata.update(tags=["nbval-skip"]),
        "nbval-skip",
    ),
    "every_figure_has_words": (
        lambda nb, code, fig: fig.metadata.mystnb.image.update(alt="a line"),
        "alt text",
    ),
    "figures_with_sliders_are_stored_for_the_page": (
        lambda nb, code, fig: show_in(code, WIDGET, {}),
        "without its kernel",
    ),
    "pictures_are_small": (
        lambda nb, code, fig: show_in(fig, "image/png", base64.b64encode(bytes(60_000)).decode()),
        "60,000",
    ),
    "drawings_can_be_read_on_a_phone": (lambda nb, code, fig: show_in(fig, "image/png", ""), "not drawn in"),
    "notebook_is_small": (lambda nb, code, fig: print_in(code, "1" * MAX_NOTEBOOK_BYTES), "bytes"),
    "headings_are_those_of_a_chapter": (
        lambda nb, code, fig: retitle(nb, "## Summary", "## In short"),
        "In short",
    ),
    "exercises_have_their_form": (lambda nb, code, fig: retitle(nb, " minutes)", ")"), "must be called"),
    "questions_are_many": (
        lambda nb, code, fig: nb.update(cells=[new_markdown_cell("<!-- quiz two -->\n</details>")]),
        "1 questions (at least",
    ),
    "numbers_of_questions_are_computed": (
        lambda nb, code, fig: nb.cells.append(
            new_markdown_cell("<!-- quiz two -->\n- **Right: 2.** Yes.\n</details>")
        ),
        "no cell prints 'two: '",
    ),
    "visible_code_fits_the_column": (
        lambda nb, code, fig: code.update(source="x = 1  #" + "=" * MAX_WIDTH),
        "characters",
    ),
    "folded_code_is_folded_in_jupyterlab_too": (
        lambda nb, code, fig: code.metadata.update(tags=["hide-input"]),
        "a folded cell without",
    ),
    "figure_plumbing_is_folded": (
        lambda nb, code, fig: code.update(source="plt.show()\n" * 30),
        "lines of code draw",
    ),
    "cells_are_short_and_explained": (lambda nb, code, fig: code.update(source="x = 1\n" * 31), "31 lines"),
    "nothing_is_installed_or_patched": (lambda nb, code, fig: code.update(source="%pip install x"), "%pip"),
    "notebook_is_normalised": (lambda nb, code, fig: nb.metadata.update(language_info={}), "language_info"),
}


@pytest.mark.parametrize("check", GUARDS, ids=lambda check: check.__name__)
def test_guards_complain(check: Guard) -> None:
    change, complaint = BROKEN[check.__name__]
    notebook = nbformat.read(ROOT / "chapters" / "masked_softmax.ipynb", as_version=4)
    code = code_cells(notebook)
    change(notebook, code[0], next(cell for cell in code if "image" in cell.metadata.get("mystnb", {})))
    assert complaint in "\n".join(check(notebook))
