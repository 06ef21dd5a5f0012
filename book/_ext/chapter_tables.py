"""The tables of chapters: their order is in _toc.yml, and what they say is in `metadata.course` of each notebook.

Pages of the book ask for them by `{{ chapter_cards }}` and `{{ chapter_goals }}`, for the plans of teachers by
`{{ one_week }}` and `{{ eight_weeks }}`, and for all figures with sliders by `{{ figures }}`; `{{ kinds }}` lists the
kinds of figures. The tables of README.md and of chapters/README.md, which are read without the book, are written by
`make readme` (see `publishing.py`).
"""

import inspect
import re
from pathlib import Path
from typing import NamedTuple

import nbformat
import yaml
from nbformat import NotebookNode

from utils.figures import Figure, kinds
from utils.figures.sphinx_extension import stored_figures

QUIZ = re.compile(r"^<!-- quiz (\S+) -->\n(.*?^</details>)$", re.MULTILINE | re.DOTALL)
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
EXERCISE = re.compile(r"^### Exercise \d.*\((\d+) minutes\)", re.MULTILINE)
#: The sections at which another part of a chapter begins; what comes after the last is not counted.
PARTS = {"## Exercises": "exercises", "## Going deeper": "deeper", "## Where this comes from": "sources"}
#: Cells whose code is not seen, or seen only by who wants to.
UNSEEN = {"hide-input", "hide-cell", "remove-cell", "remove-input"}

CARD = """
::::{{grid-item-card}}
{picture}:link: ../chapters/{name}
:link-type: doc

:::{{card-header}}
{{doc}}`../chapters/{name}`{star}
:::
{question}
:::{{card-footer}}
Needs {needs}. Gives {gives}. {minutes}.
:::
::::
"""
PICTURE = ":img-top: _assets/map/{name}.svg\n:img-alt: {picture}\n:class-img-top: dark-light\n"


class Minutes(NamedTuple):
    """About how long a chapter takes, to five minutes, and what its exercises say."""

    lesson: int  #: up to the exercises, with those in its body
    exercises: int  #: at the end of the lesson
    deeper: int  #: what can be skipped; 0 if there is nothing


def minutes(notebook: NotebookNode) -> Minutes:
    """How long a chapter takes somebody who thinks: checked with readers and a clock."""
    parts: dict[str, list[NotebookNode]] = {"lesson": [], "exercises": [], "deeper": []}
    part = "lesson"
    for cell in notebook.cells:
        part = PARTS.get(cell.source.partition("\n")[0], part)
        if part in parts:
            parts[part].append(cell)
    exercises = sum(int(n) for cell in parts["exercises"] for n in EXERCISE.findall(cell.source))
    return Minutes(_reading(parts["lesson"]), exercises, _reading(parts["deeper"]))


def _reading(cells: list[NotebookNode]) -> int:
    """Words, visible lines, questions, and the exercises among them. A picture costs nothing."""
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    words = len(FOLDED.sub("", QUIZ.sub("", text)).split())
    lines = sum(
        bool(line.strip())
        for cell in cells
        if cell.cell_type == "code" and not UNSEEN & set(cell.metadata.get("tags", ()))
        for line in cell.source.splitlines()
    )
    exercises = sum(map(int, EXERCISE.findall(text)))
    return 5 * round((words / 60 + lines / 6 + 1.5 * len(QUIZ.findall(text)) + exercises) / 5)


def hours(found: list[dict]) -> int:
    """Hours for the lessons of these chapters, with their exercises."""
    return round(sum(chapter["minutes"].lesson + chapter["minutes"].exercises for chapter in found) / 60)


def short_way(root: Path) -> str:
    """What the marked chapters are, and how long they and all take."""
    all_chapters = chapters(root)
    short = [chapter for chapter in all_chapters if chapter["star"]]
    return (
        f"◆ marks the short way: {len(short)} chapters lead in about {hours(short)} hours, exercises included, from a "
        "weighted average to a translator that looks at the right words, and they need no other chapter. "
        f"All {len(all_chapters)} take about {hours(all_chapters)} hours."
    )


def chapters(root: Path) -> list[dict]:
    """What the tables say about each chapter, in order."""
    parts = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))["parts"]
    pages = [(Path(entry["file"]), part["caption"]) for part in parts for entry in part["chapters"]]
    pages = [(page, part) for page, part in pages if page.parent.name == "chapters"]
    numbers = {page.name: str(number) for number, (page, _) in enumerate(pages, start=1)}
    found = []
    for page, part in pages:
        notebook = nbformat.read(root / f"{page}.ipynb", as_version=4)
        course = dict(notebook.metadata["course"], name=page.name, number=numbers[page.name], part=part)
        course["title"] = notebook.cells[0].source.partition("\n")[0].removeprefix("# ")
        course["minutes"] = minutes(notebook)
        course["star"] = " ◆" if course.get("short_way") else ""
        course["needs"] = ", ".join(numbers.get(need, need) for need in course["needs"])
        found.append(course)
    return found


def cards(root: Path) -> str:
    """The map of the course; a chapter that has a picture in book/_assets/map says in `picture` what it shows."""
    written = ""
    for chapter in chapters(root):
        needs, picture = chapter["needs"], PICTURE.format(**chapter) if "picture" in chapter else ""
        if needs[0].isdigit():
            needs = f"chapter{'s' * (',' in needs)} " + " and ".join(needs.rsplit(", ", 1))
        lesson, exercises, deeper = chapter["minutes"]
        takes = f"{lesson + exercises} minutes" + (f", and {deeper} to go deeper" if deeper else "")
        told = chapter | {"needs": needs, "picture": picture, "minutes": takes}
        written += CARD.format(**told)
    return f":::::{{grid}} 1 2 2 2\n:gutter: 3\n:class-container: course-map\n{written}:::::\n"


def figures(root: Path) -> str:
    """All figures with sliders, under the titles of their chapters."""
    written = ""
    for chapter in chapters(root):
        if names := stored_figures(root / "chapters" / f"{chapter['name']}.ipynb"):
            written += f"\n**{{doc}}`../chapters/{chapter['name']}`**\n"
            for name in names:
                written += f"\n```{{explorable}} {name}\n:from: chapters/{chapter['name']}\n```\n"
    return written


def kinds_of_figures() -> str:
    """A row for each kind of figure: its class, and the first line of the docstring."""
    written = "| kind | what it draws |\n|---|---|"
    for name in kinds.__all__:
        if inspect.isclass(kind := getattr(kinds, name)) and issubclass(kind, Figure):
            drawn = inspect.getdoc(kind).partition("\n")[0]
            written += f"\n| {{class}}`{name} <utils.figures.kinds.{name}>` | {drawn} |"
    return written


def goals(root: Path) -> str:
    """The table for teachers."""
    head = "| chapter | needs | minutes (lesson + exercises, deeper) | at the end, students can |\n|-|-|-|-|"
    row = (
        "\n| {number}. [](../chapters/{name}.ipynb) | {needs} "
        "| {minutes.lesson} + {minutes.exercises}, {minutes.deeper} | {goals} |"
    )
    rows = "".join(row.format(**chapter) for chapter in chapters(root))
    return f":::{{table}}\n:class: cards\n\n{head}{rows}\n:::"


SESSIONS_A_WEEK, WEEKS = 3, 8


def one_week(root: Path) -> str:
    """The sessions of the short way, with their minutes."""
    short = [chapter for chapter in chapters(root) if chapter["star"]]
    return _sessions([(str(number), chapter) for number, chapter in enumerate(short, start=1)], "session")


def eight_weeks(root: Path) -> str:
    """The sessions of all chapters, with their minutes; those that are left over come into the last week."""
    found = chapters(root)
    weeks = [str(min(number // SESSIONS_A_WEEK + 1, WEEKS)) for number in range(len(found))]
    return _sessions(list(zip(weeks, found, strict=True)), "week")


def _sessions(sessions: list[tuple[str, dict]], kind: str) -> str:
    """A row for each session with its chapter; a week is named once."""
    head = f"| {kind} | chapter | minutes in class | at home | to go deeper |\n|-|-|-|-|-|"
    row = "\n| {where} | [](../chapters/{name}.ipynb) | {minutes.lesson} | {minutes.exercises} | {minutes.deeper} |"
    written, before = head, None
    for where, chapter in sessions:
        written += row.format(where=where if where != before else "", **chapter)
        before = where
    return written


def questions(root: Path) -> str:
    """The table of README.md: the parts with their chapters, and the question of each."""
    written, before = "| | chapter | its question |\n|---|---|---|", None
    for chapter in chapters(root):
        part = f"{chapter['part']} " if chapter["part"] != before else ""
        written += "\n| {0}| [{title}](chapters/{name}.ipynb){star} | {question} |".format(part, **chapter)
        before = chapter["part"]
    return written


def titles(root: Path) -> str:
    """The list beside the notebooks."""
    return "\n".join("{number}. [{title}]({name}.ipynb)".format(**chapter) for chapter in chapters(root))
