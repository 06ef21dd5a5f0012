"""Captions and questions, which are plain Markdown in the notebooks so that JupyterLab and GitHub show them too.

Before a chapter is parsed, a cell with the tag ``caption`` becomes the caption of the figure above it, and what is
between ``<!-- quiz NAME -->`` and ``</details>`` becomes the directive ``quiz``: a question that the reader answers in
the page. CONTRIBUTING.md says how each kind of question is written. Here the kind is found and the question is checked:
a mistake stops the build. ``quiz.js`` makes the form in the page; without a script the page shows what was written.
"""

import json
import re

import nbformat
from chapter_tables import QUIZ, Minutes, minutes
from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

BEFORE = "## Before you start"
#: The beginning of a question, also of one that is not written as it must be.
BEGINNING = re.compile(r"^\s*<!--\s*quiz.*", re.MULTILINE | re.IGNORECASE)
OPENING, CLOSING = "<details><summary>Answers</summary>", "</details>"
#: How each answer begins, in bold: ``Right.``, ``No.``, or with what the reader must give to get this answer.
MARK = re.compile(r"(Right|No)(?:: (.+))?\.")
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)(?: ± (\d+(?:\.\d+)?))?")


def _rewrite(app: Sphinx, page: str, source: list[str]) -> None:
    if not str(app.env.doc2path(page)).endswith(".ipynb"):
        return
    notebook = nbformat.reads(source[0], as_version=4)
    kept: list[NotebookNode] = []
    for cell in notebook.cells:
        if "caption" in cell.metadata.get("tags", ()):
            figure = kept[-1].metadata.get("mystnb", {}).get("figure") if kept else None
            if figure is None or "caption" in figure:
                raise ExtensionError(
                    f"{page}: this caption does not follow the cell of a figure: {cell.source!r}"
                )
            figure["caption"] = cell.source
            continue
        if description := cell.metadata.get("mystnb", {}).get("image", {}).get("alt"):
            for output in cell.outputs:  # the text is for builders that show no picture
                if "image/svg+xml" in output.get("data", {}):
                    output.data["text/plain"] = description
        if "hide-output" in cell.metadata.get("tags", ()):  # a cell can have two folds: source and output
            names = cell.metadata.setdefault("mystnb", {})
            for verb in ("Show", "Hide"):
                name = names.get(f"code_prompt_{verb.lower()}", f"{verb} the code")
                names[f"code_prompt_{verb.lower()}"] = name.replace("the code", "the {type}")
        if cell.cell_type == "markdown":
            cell.source = cell.source.replace(BEFORE, f"{BEFORE}\n\n{allowed(minutes(notebook))}")
            cell.source = QUIZ.sub(r":::{quiz} \1\n\2\n:::", cell.source)
            if odd := BEGINNING.search(cell.source):
                form = "a question begins with a line '<!-- quiz NAME -->' and ends with a line '</details>'"
                raise ExtensionError(f"{page}: {form}: {odd[0]!r}")
        kept.append(cell)
    notebook.cells = kept
    source[0] = nbformat.writes(notebook)


def allowed(takes: Minutes) -> str:
    """How much time a reader should allow.

    >>> allowed(Minutes(40, 20, 25))
    'Allow about 40 minutes for the lesson and 20 for its exercises. *Going deeper* takes 25 more, and can wait.'
    """
    deeper = f" *Going deeper* takes {takes.deeper} more, and can wait." if takes.deeper else ""
    return (
        f"Allow about {takes.lesson} minutes for the lesson and {takes.exercises} for its exercises.{deeper}"
    )


class Quiz(nodes.container):
    """One question; ``kind`` and ``answers`` are what the script needs to know."""


class QuizDirective(SphinxDirective):
    """Check one question: ``:::{quiz} NAME``, with a name that no other question of the book has."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """The question and its answers as they are written, in a box that says what kind of question it is."""
        box = Quiz(names=[f"quiz-{self.arguments[0]}"])
        self.state.nested_parse(self.content, self.content_offset, box)
        try:
            box["kind"], box["answers"] = kind_and_answers(box)
        except ValueError as fault:
            raise self.error(f"quiz {self.arguments[0]!r}: {fault}") from None
        self.state.document.note_explicit_target(box)
        return [box]


def kind_and_answers(box: nodes.Element) -> tuple[str, list[dict]]:
    """The kind of a question, and for each of its answers whether it is right and what the reader gives to get it."""
    asked, answers = _parts(box)
    marks = [_mark(item) for item in answers]
    if not any(right for right, _ in marks):
        raise ValueError("no answer is marked **Right.**")
    if isinstance(asked, nodes.bullet_list):
        raise ValueError("number the choices: the list must be 1., 2., 3.")
    if not isinstance(asked, nodes.enumerated_list):
        return "number", _numbers(marks)
    if len(marks) != len(asked):
        raise ValueError(f"{len(asked)} choices need as many answers, got {len(marks)}")
    if any(value for _, value in marks):
        raise ValueError("the answer to a choice has no value: it begins with **Right.** or **No.**")
    rights = [right for right, _ in marks]
    return "one" if sum(rights) == 1 else "all", [{"right": right} for right in rights]


def _parts(box: nodes.Element) -> tuple[nodes.Node, nodes.Element]:
    """The last part of the question, which tells its kind, and the list of answers."""
    *_, asked, opening, answers, closing = [None] * 4 + box.children
    if asked is None or ["".join(part.astext().split()) for part in (opening, closing)] != [OPENING, CLOSING]:
        raise ValueError(
            f"after the question it needs {OPENING}, the answers and {CLOSING}, with empty lines between"
        )
    if not isinstance(answers, nodes.bullet_list | nodes.enumerated_list):
        raise ValueError("the answers must be one list")
    return asked, answers


def _mark(item: nodes.list_item) -> tuple[bool, str | None]:
    """Whether an answer is right, and its value."""
    # The parser begins a paragraph that begins in bold with an empty text.
    inline = item[0].children if item.children else []
    bold = next((node for node in inline if node.astext()), None)
    match = MARK.fullmatch(bold.astext()) if isinstance(bold, nodes.strong) else None
    if not match:
        raise ValueError(f"this answer must begin with **Right.** or **No.**: {item.astext()[:60]!r}")
    return match[1] == "Right", match[2] and match[2].replace("−", "-")


def _numbers(marks: list[tuple[bool, str | None]]) -> list[dict]:
    """The number for each answer; the first answer that fits is given, the last one for all other numbers."""
    *valued, (right, value) = marks
    if right or value or not all(value for _, value in valued):
        raise ValueError(
            'the last answer must be **No.**, for all else; the others need a value: "Right: 2."'
        )
    found = [(right, value, NUMBER.fullmatch(value)) for right, value in valued]
    if wrong := [value for _, value, match in found if not match]:
        raise ValueError(f"the value must be a number, as 0.25 or 0.25 ± 0.01; got {wrong[0]!r}")
    numbers = [
        {"right": right, "number": float(match[1]), "within": float(match[2] or 0)}
        for right, _, match in found
    ]
    return [*numbers, {"right": False}]


def _number_questions(_app: Sphinx, doctree: nodes.document) -> None:
    """Number the questions of a page, and put those that follow each other under one heading.

    A question that is an exercise stands under the heading of the exercise.
    """
    for number, quiz in enumerate(list(doctree.findall(Quiz)), start=1):
        quiz.insert(0, nodes.paragraph("", f"Question {number}", classes=["quiz-number"]))
        place = quiz.parent.index(quiz)
        block = quiz.parent[place - 1] if place else None
        if isinstance(block, nodes.container) and "quizzes" in block["classes"]:
            quiz.parent.remove(quiz)
        else:
            block = nodes.container(classes=["quizzes"])
            quiz.parent[place] = block
            if not block.parent[0].astext().startswith("Exercise "):
                block += nodes.rubric("", "Check your understanding")
        block += quiz


def _open_box(translator, quiz: Quiz) -> None:
    told = {"data-kind": quiz["kind"], "data-answers": json.dumps(quiz["answers"])}
    translator.body.append(translator.starttag(quiz, "div", CLASS="quiz", **told))


def _close_box(translator, _quiz: Quiz) -> None:
    translator.body.append("</div>\n")


def setup(app: Sphinx) -> None:
    app.connect("source-read", _rewrite)
    app.add_node(Quiz, html=(_open_box, _close_box))
    app.add_directive("quiz", QuizDirective)
    app.connect("doctree-read", _number_questions)
