"""The directive ``quiz``: a question that the reader answers in the page.

An instructor writes Markdown that reads well everywhere: a question, and below it the folded answers. CONTRIBUTING.md
shows one example of each kind. Here the kind is found and the question is checked, so a mistake stops the build.
The form in the page is made by ``quiz.js``; without it a page shows what was written.
"""

import json
import re
from collections.abc import Callable

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

OPENING, CLOSING = "<details><summary>Answers</summary>", "</details>"
#: How each answer begins, in bold: ``Right.``, ``No.``, or with what the reader must give to get this answer.
MARK = re.compile(r"(Right|No)(?:: (.+))?\.")
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)(?: ± (\d+(?:\.\d+)?))?")
ORDER = re.compile(r"\d+(?:, \d+)+")
PLACE = re.compile(r"row ([1-9]\d*)(?:, column ([1-9]\d*))?|column ([1-9]\d*)")


class Quiz(nodes.container):
    """One question; ``kind`` and ``answers`` are what the script needs to know."""


class QuizDirective(SphinxDirective):
    """Check one question: ``:::{quiz} NAME``, with a name that no other question of the book has."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """The question and its answers as they are written, in a box that says what kind of question it is."""
        (name,) = self.arguments
        box = Quiz(names=[f"quiz-{name}"])
        self.state.nested_parse(self.content, self.content_offset, box)
        try:
            if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
                raise ValueError("a name has lower-case letters, digits and hyphens")
            box["kind"], box["answers"] = kind_and_answers(box)
        except ValueError as fault:
            raise self.error(f"quiz {name!r}: {fault}") from None
        self.state.document.note_explicit_target(box)
        return [box]


def kind_and_answers(box: nodes.Element) -> tuple[str, list[dict]]:
    """The kind of a question, and for each of its answers whether it is right and what the reader gives to get it.

    Raises:
        ValueError: a question that is not written as the rules want it.
    """
    asked, answers = _parts(box)
    marks = [_mark(item) for item in answers]
    if not any(right for right, _ in marks):
        raise ValueError("no answer is marked **Right.**")
    if isinstance(asked, nodes.bullet_list):
        raise ValueError("number the choices: the list must be 1., 2., 3.")
    if isinstance(asked, nodes.enumerated_list):
        if not any(value for _, value in marks):
            return _choice(marks, len(asked))
        orders = _conditions(marks, lambda value: _order(value, len(asked)))
        if any(answer["right"] and answer["order"] == sorted(answer["order"]) for answer in orders):
            raise ValueError("the items are in the right order already: write them in another one")
        return "order", orders
    if isinstance(asked, nodes.table):
        rows, columns = _name_rows(asked)
        return "point", _conditions(marks, lambda value: _place(value, rows, columns))
    return "number", _conditions(marks, _number)


def _parts(box: nodes.Element) -> tuple[nodes.Node, nodes.Element]:
    """The last part of the question, which tells its kind, and the list of answers."""
    if len(box) < 4:
        raise ValueError(f"it needs a question, and below it {OPENING}, the answers and {CLOSING}")
    *_, asked, opening, answers, closing = box
    if "".join(opening.astext().split()) != OPENING or closing.astext().strip() != CLOSING:
        raise ValueError(f"it must end in {OPENING}, the answers and {CLOSING}, with empty lines between")
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


def _choice(marks: list[tuple[bool, None]], choices: int) -> tuple[str, list[dict]]:
    if len(marks) != choices:
        raise ValueError(f"{choices} choices need as many answers, got {len(marks)}")
    if all(right for right, _ in marks):
        raise ValueError("every choice is right")
    return "one" if sum(right for right, _ in marks) == 1 else "all", [{"right": right} for right, _ in marks]


def _conditions(marks: list[tuple[bool, str | None]], read: Callable[[str], dict]) -> list[dict]:
    """What the reader must give to get each answer; the first answer that fits is given, the last one for all else."""
    *valued, (right, value) = marks
    if right or value or not all(value for _, value in valued):
        raise ValueError(
            'the last answer must be **No.**, for all else; the others need a value, as "Right: 2."'
        )
    return [*({"right": right, **read(value)} for right, value in valued), {"right": False}]


def _number(value: str) -> dict:
    match = _match(NUMBER, value, "a number, as 0.25 or 0.25 ± 0.01")
    return {"number": float(match[1]), "within": float(match[2] or 0)}


def _order(value: str, items: int) -> dict:
    order = [int(number) for number in _match(ORDER, value, "an order, as 2, 3, 1")[0].split(", ")]
    if sorted(order) != list(range(1, items + 1)):
        raise ValueError(f"an order must name each of the {items} items once, got {value!r}")
    return {"order": order}


def _place(value: str, rows: int, columns: int) -> dict:
    match = _match(PLACE, value, "a place, as row 2, column 3 or row 2 or column 3")
    row, column = int(match[1] or 0), int(match[2] or match[3] or 0)
    if row > rows or column > columns:
        raise ValueError(f"the table has {rows} rows and {columns} columns, got {value!r}")
    return {"row": row, "column": column}


def _match(pattern: re.Pattern, value: str, wanted: str) -> re.Match:
    if match := pattern.fullmatch(value):
        return match
    raise ValueError(f"the value must be {wanted}; got {value!r}")


def _name_rows(table: nodes.table) -> tuple[int, int]:
    """How many rows and columns of cells there are; a first column without a heading has the names of the rows."""
    (body,) = table.findall(nodes.tbody)
    columns = list(table.findall(nodes.colspec))
    named = not next(table.findall(nodes.entry)).astext()
    columns[0]["stub"] = int(named)
    return len(body), len(columns) - named


def _number_questions(_app: Sphinx, doctree: nodes.document) -> None:
    """Number the questions of a page, and put those that follow each other under one heading."""
    for number, quiz in enumerate(list(doctree.findall(Quiz)), start=1):
        quiz.insert(0, nodes.paragraph("", f"Question {number}", classes=["quiz-number"]))
        place = quiz.parent.index(quiz)
        block = quiz.parent[place - 1] if place else None
        if isinstance(block, nodes.container) and "quizzes" in block["classes"]:
            quiz.parent.remove(quiz)
        else:
            block = nodes.container(classes=["quizzes"])
            quiz.parent[place] = block
            block += nodes.rubric("", "Check your understanding")
        block += quiz


def _open_box(translator, quiz: Quiz) -> None:
    told = {"data-kind": quiz["kind"], "data-answers": json.dumps(quiz["answers"])}
    translator.body.append(translator.starttag(quiz, "div", CLASS="quiz", **told))


def _close_box(translator, _quiz: Quiz) -> None:
    translator.body.append("</div>\n")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(Quiz, html=(_open_box, _close_box))
    app.add_directive("quiz", QuizDirective)
    app.connect("doctree-read", _number_questions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
