"""Rules for the chapters. They find faults that a comparison of outputs (nbval) does not find.

Each rule takes a notebook and yields a sentence for each fault.
"""

import ast
import base64
import itertools
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from utils.exercises.form import exercises_of
from utils.figures import still

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))

MAX_NOTEBOOK_BYTES = 900 * 1024
MAX_CELL_LINES = 30
MAX_CODE_CELLS_IN_A_ROW = 2
#: The characters of a line of code that a page shows on a laptop without scrolling.
MAX_WIDTH = 76
#: How many exercises a chapter has.
EXERCISES = range(2, 5)
FOLDED = {"hide-input", "hide-cell"}

OPENING = ["What you will learn", "Before you start"]
CLOSING = ["Summary", "Exercises", "Going deeper", "Where this comes from"]
#: A question: its name, and all that stands below the name.
QUIZ = re.compile(r"^<!-- quiz (\S+) -->\n(.*?)^</details>$", re.MULTILINE | re.DOTALL)
#: A number that a question asks for or warns of, and its tolerance: an answer's, or that with which a choice begins.
STATED_NUMBER = re.compile(
    r"^(?:- \*\*(?:Right|No): |\d\. (?:At most )?)([-−]?\d+(?:\.\d+)?)(?: ± (\d+(?:\.\d+)?))?(?:\.\*\*|\.$|: )",
    re.MULTILINE,
)
#: The picture of a figure, as SVG in base64.
STILL = re.compile(r"data:image/svg\+xml;base64,([\w+/=]+)")
#: The keys of `metadata.course`: all must be there, or may be.
COURSE, MORE_OF_COURSE = {"question", "gives", "goals", "needs"}, {"picture", "short_way"}
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
#: Without it `nbconvert --to script` writes a text and no program. The version is left out, since it changes.
LANGUAGE = {
    "name": "python",
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "pygments_lexer": "ipython3",
}
LANGUAGE |= {"nbconvert_exporter": "python", "codemirror_mode": {"name": "ipython", "version": 3}}

Rule = Callable[[NotebookNode], Iterator[str]]
RULES: list[Rule] = []


def rule(function: Rule) -> Rule:
    RULES.append(function)
    return function


@cache
def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", ()))


def output_texts(cell: NotebookNode) -> list[str]:
    """What a cell prints or shows as text."""
    return [output.get("text", output.get("data", {}).get("text/plain", "")) for output in cell.outputs]


def begins(cell: NotebookNode) -> str:
    return repr(cell.source[:60])


def headings(notebook: NotebookNode) -> list[tuple[int, str]]:
    """Level and text of each heading. Lines of a fenced code block are not headings."""
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    prose = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    return [(len(marks), text.strip()) for marks, text in re.findall(r"^(#+) (.+)$", prose, re.MULTILINE)]


def quizzes(notebook: NotebookNode) -> list[tuple[str, str]]:
    """Name and text of each question."""
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    return [found for text in texts for found in QUIZ.findall(text)]


def checks(source: str) -> bool:
    """Whether the code asserts something, by the statement or by a function such as ``assert_close``."""
    return any(
        isinstance(node, ast.Assert)
        or (isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1].startswith("assert_"))
        for node in ast.walk(ast.parse(source))
    )


def guards(cell: NotebookNode, guarded: NotebookNode) -> bool:
    """Whether a cell that no reader sees reads a name that the other one defines."""
    read = {node.id for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Name)}
    return "remove-cell" in tags(cell) and bool(read & assigned(guarded.source))


@rule
def every_cell_ran_in_order(notebook: NotebookNode) -> Iterator[str]:
    # nbval compares nothing of a cell without an execution count.
    for position, cell in enumerate(code_cells(notebook), start=1):
        if cell.execution_count != position:
            yield f"cell {position} has execution count {cell.execution_count}"


@rule
def no_errors_and_no_warnings(notebook: NotebookNode) -> Iterator[str]:
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if output.output_type == "error":
                yield f"an error output: {output.ename}"
            if output.get("name") == "stderr":
                yield f"an output on stderr: {output.text[:60]!r}"


@rule
def no_trailing_semicolon(notebook: NotebookNode) -> Iterator[str]:
    # nbval does not compare the output of such a cell (its issue 194).
    for cell in code_cells(notebook):
        if cell.source.rstrip().endswith(";"):
            yield f"a trailing semicolon: {cell.source.splitlines()[-1]}"


@rule
def nothing_is_exempt_without_a_check(notebook: NotebookNode) -> Iterator[str]:
    cells = code_cells(notebook)
    for position, cell in enumerate(cells):
        if skipped := tags(cell) & {"nbval-skip", "nbval-raises-exception", "raises-exception"}:
            yield f"the tag {skipped.pop()}: each cell must run"
        if "NBVAL_" in cell.source or "PYTEST_VALIDATE" in cell.source:
            yield "a comment steers nbval: use the tag nbval-ignore-output, which shows in the metadata"
        if "nbval-ignore-output" not in tags(cell):
            continue
        # The guards of a page may be gathered in a last cell, which names what they guard.
        near = [
            *cells[position : position + 2],
            *(later for later in cells[position + 2 :] if guards(later, cell)),
        ]
        if not any(checks(other.source) for other in near):
            yield f"nothing asserts what this exempt cell computes: {begins(cell)}"


@rule
def course_has_its_keys(notebook: NotebookNode) -> Iterator[str]:
    keys = set(notebook.metadata.get("course", ()))
    if not COURSE <= keys <= COURSE | MORE_OF_COURSE:
        yield (
            f"metadata.course must have {sorted(COURSE)} and may have {sorted(MORE_OF_COURSE)}, "
            f"got {sorted(keys)}"
        )


@rule
def notebook_is_small(notebook: NotebookNode) -> Iterator[str]:
    size = len(nbformat.writes(notebook).encode())
    if size > MAX_NOTEBOOK_BYTES:
        yield f"{size:,} bytes (at most {MAX_NOTEBOOK_BYTES:,})"


@rule
def headings_are_those_of_a_chapter(notebook: NotebookNode) -> Iterator[str]:
    found = headings(notebook)
    titles = [text for level, text in found if level == 1]
    sections = [text for level, text in found if level == 2]
    if len(titles) != 1 or found[0][0] != 1:
        yield f"one title, at the top, is wanted: {titles}"
    closing = CLOSING if "Going deeper" in sections else [text for text in CLOSING if text != "Going deeper"]
    if sections[:2] != OPENING or sections[-len(closing) :] != closing:
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


@rule
def exercises_have_their_form(notebook: NotebookNode) -> Iterator[str]:
    named = [text for level, text in headings(notebook) if level == 3 and text.startswith("Exercise")]
    exercises = list(exercises_of(notebook))
    if [exercise.number for exercise in exercises] != list(range(1, len(named) + 1)):
        yield f"exercises must be called '### Exercise 1: name (5 minutes)' and so on, got {named}"
    if len(exercises) not in EXERCISES or not any(exercise.check for exercise in exercises):
        yield f"two to four exercises are wanted, one of them with code, got {named}"
    for exercise in exercises:
        where = f"exercise {exercise.number}"
        if exercise.check is None:
            continue
        if missing := set(exercise.names) - assigned(exercise.stub.source):
            yield f"{where}: the cell to write in does not define {missing}"
        source = exercise.solution.source
        if "hide-cell" not in tags(exercise.solution):
            yield f"{where}: the solution is not folded (tag hide-cell)"
        if both := assigned(source) & assigned(exercise.stub.source):
            yield f"{where}: the solution redefines the reader's {both}"
        last = ast.unparse(ast.parse(source).body[-1])
        if not re.fullmatch(rf"assert check\.{exercise.check_name}\(.*, record=False\)", last):
            yield f"{where}: the solution must end in 'assert check.{exercise.check_name}(..., record=False)'"
    after = itertools.takewhile(
        lambda cell: not cell.source.startswith("### Exercise"), reversed(notebook.cells)
    )
    if "progress(check)" not in [cell.source for cell in after]:
        yield "a cell progress(check) must come after the last exercise"


@rule
def numbers_of_questions_are_computed(notebook: NotebookNode) -> Iterator[str]:
    # A cell prints "name: 0.25 0.5 3", with the name of the question: the wrong numbers are computed by their mistakes.
    shown = "\n".join(text for cell in code_cells(notebook) for text in output_texts(cell))
    printed = dict(re.findall(r"^([a-z][a-z0-9-]*): (.+)$", shown, re.MULTILINE))
    for name, text in quizzes(notebook):
        computed = printed.get(name, "").split()
        if stated := STATED_NUMBER.findall(text.replace("−", "-")):
            fits = len(computed) == len(stated) and all(
                abs(float(number) - float(of_page)) <= float(within or 0)
                for number, (of_page, within) in zip(computed, stated, strict=True)
            )
            if not fits:
                wanted = " ".join(number for number, _ in stated)
                yield f"a cell must compute the numbers of {name} and print '{name}: {wanted}', got {computed}"
        elif missing := set(computed) - set(re.findall(r"-?\d+(?:\.\d+)?", text)):
            yield f"a cell prints numbers for the question {name} that are not in it: {sorted(missing)}"


@rule
def cells_are_short_and_explained(notebook: NotebookNode) -> Iterator[str]:
    in_a_row = 0
    for cell in notebook.cells:
        in_a_row = in_a_row + 1 if cell.cell_type == "code" else 0
        if in_a_row == MAX_CODE_CELLS_IN_A_ROW + 1:
            yield f"more than {MAX_CODE_CELLS_IN_A_ROW} code cells in a row: {begins(cell)}"
        is_read = cell.cell_type == "code" and "remove-cell" not in tags(cell)
        if is_read and len(cell.source.splitlines()) > MAX_CELL_LINES:
            yield f"a cell of {len(cell.source.splitlines())} lines: {begins(cell)}"


@rule
def a_prediction_is_made_before_the_answer_is_seen(notebook: NotebookNode) -> Iterator[str]:
    page = list(itertools.takewhile(lambda cell: not cell.source.startswith("## Exercises"), notebook.cells))
    for position, cell in enumerate(page):
        asks = re.search(r"^(?!- ).*\bPredict\b.*", QUIZ.sub("", cell.source), re.MULTILINE)
        if cell.cell_type != "markdown" or not asks:
            continue
        answered = [
            near for near in page[position + 1 :] if near.get("outputs") and "hide-cell" not in tags(near)
        ]
        is_asked = any(QUIZ.search(near.source) for near in page[position : position + 2])
        if not is_asked and answered and "hide-output" not in tags(answered[0]):
            yield f"the answer stands open below this question; add a quiz, or tag the cell hide-output: {asks[0]}"


@rule
def visible_code_fits_the_column(notebook: NotebookNode) -> Iterator[str]:
    for cell in code_cells(notebook):
        for line in [] if tags(cell) & {*FOLDED, "remove-cell"} else cell.source.splitlines():
            if len(line) > MAX_WIDTH:
                yield f"a line of {len(line)} characters: {line}"


@rule
def folded_code_is_folded_in_jupyterlab_too(notebook: NotebookNode) -> Iterator[str]:
    for cell in code_cells(notebook):
        folded = {"source_hidden": bool(tags(cell) & FOLDED), "outputs_hidden": "hide-output" in tags(cell)}
        for key in [key for key, is_folded in folded.items() if is_folded]:
            if not cell.metadata.get("jupyter", {}).get(key):
                yield f'a folded cell without {{"jupyter": {{"{key}": true}}}}: {begins(cell)}'


@rule
def notebook_is_normalised(notebook: NotebookNode) -> Iterator[str]:
    wanted = {"kernelspec": KERNEL, "language_info": LANGUAGE}
    if (found := {key: about for key, about in notebook.metadata.items() if key != "course"}) != wanted:
        yield f"metadata must be course and {wanted}, got {found}"
    for cell in notebook.cells:
        if odd := set(cell.metadata) - {"tags", "mystnb", "jupyter"}:
            yield f"cell metadata {sorted(odd)}: run make notebooks"
    for cell in code_cells(notebook):
        names = [output.get("name") for output in cell.outputs]
        if any(name and name == after for name, after in itertools.pairwise(names)):
            yield f"what a cell prints is in several pieces: run make notebooks: {begins(cell)}"
    ids = [cell.id for cell in notebook.cells]
    if len(set(ids)) < len(ids):
        yield "two cells have the same id"


@rule
def stored_figures_look_as_a_run_would_draw_them(notebook: NotebookNode) -> Iterator[str]:
    """The still pictures hold the style of the day on which the chapter was run."""
    style = still.read("picture.css").replace("&", "&amp;").replace("<", "&lt;")
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            for picture in STILL.findall(output.get("data", {}).get("text/html", "")):
                if style not in base64.b64decode(picture).decode():
                    yield f"run the chapter: the figure of the cell {cell.id} has an older picture.css"


@pytest.mark.parametrize("find_faults", RULES, ids=lambda find_faults: find_faults.__name__)
@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapter(path: Path, find_faults: Rule) -> None:
    assert list(find_faults(read(path))) == []


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_file_is_normalised(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text == nbformat.writes(nbformat.reads(text, as_version=4)) + "\n", "run make notebooks"


def test_figures_and_questions_have_names_of_their_own() -> None:
    notebooks = [read(path) for path in CHAPTERS]
    cells = [cell.metadata.get("mystnb", {}) for notebook in notebooks for cell in notebook.cells]
    figures = [shown["figure"]["name"] for shown in cells if "name" in shown.get("figure", {})]
    questions = [name for notebook in notebooks for name, _ in quizzes(notebook)]
    assert len(figures) == len(set(figures))
    assert len(questions) == len(set(questions))
