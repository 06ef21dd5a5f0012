"""The code that runs a check of an exercise on a reader's answer, and the report that the reader sees.

A check is a generator with ``@exercise``. It yields a sentence for each point in which the answer is right, and raises
:class:`~utils.exercises.checking.Wrong` at the first point in which it is not.

Explained in book/teaching.
"""

import contextlib
import functools
import html
import inspect
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from utils.exercises.checking import Unfinished, Wrong, expect_written, kind
from utils.exercises.progress import add_exercise, record_result
from utils.exercises.readers_function import ReadersFunction, first_lines

Status = Literal["right", "wrong", "unfinished"]
#: The head of a report and the colour of its card.
_LOOKS: dict[Status, tuple[str, str]] = {
    "right": ("Right", "#15803d"),
    "wrong": ("Not right yet", "#b45309"),
    "unfinished": ("Not written yet", "#64748b"),
}
Examine = Callable[..., Iterator[str]]
Check = Callable[..., "Report"]


@dataclass(frozen=True)
class Report:
    """The report of a check; true if the answer is right.

    A notebook shows it as a card, a terminal as the same text.
    """

    exercise: str
    status: Status
    right: tuple[str, ...] = ()
    wrong: str = ""
    hints: tuple[str, ...] = ()
    printed: str = ""

    def __bool__(self) -> bool:
        return self.status == "right"

    def _lines(self) -> Iterator[tuple[str, str]]:
        """Mark and sentence of each line under the head."""
        yield from (("✓", sentence) for sentence in self.right)
        if self.wrong:
            yield "✗" if self.status == "wrong" else "·", self.wrong
        yield from (("Hint:", hint) for hint in self.hints)
        if self.printed:
            yield "Your function printed:", self.printed

    def __str__(self) -> str:
        head, _ = _LOOKS[self.status]
        return "\n".join([f"{self.exercise}: {head}", *(f"  {mark} {text}" for mark, text in self._lines())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, colour = _LOOKS[self.status]
        lines = "".join(
            f'<p style="margin:.3em 0"><b>{mark}</b> {_with_code(sentence)}</p>'
            for mark, sentence in self._lines()
        )
        return (
            f'<div class="check" data-status="{self.status}" style="border-left:5px solid {colour};'
            f'background:{colour}1a;border-radius:4px;padding:.5em 1em;max-width:46em">'
            f'<p style="margin:.3em 0"><b>{self.exercise}: {head}</b></p>{lines}</div>'
        )


def _with_code(sentence: str) -> str:
    """The sentence as HTML: text between backticks becomes code, and line breaks are kept."""
    escaped = html.escape(sentence, quote=False).replace("\n", "<br>")
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped)


def exercise(number: int, *hints: str) -> Callable[[Examine], Check]:
    """Make a check of exercise ``number`` out of a generator that examines the reader's answers.

    The check takes the answers, ``hint`` (how many hints to show when the answer is wrong) and ``record`` (whether the
    result counts for :func:`utils.exercises.progress.progress`). Whatever the answers do, it returns a
    :class:`Report` and raises nothing.
    """

    def decorate(examine: Examine) -> Check:
        chapter = examine.__module__.split(".")[-1]
        add_exercise(chapter, number)

        @functools.wraps(examine)
        def check(*answers: object, hint: int = 1, record: bool = True) -> Report:
            right: list[str] = []
            printed = io.StringIO()
            status, wrong, shown_hints = "right", "", ()
            try:
                with contextlib.redirect_stdout(printed), torch.random.fork_rng(devices=[]):
                    for point in examine(*_wrapped(examine, answers)):
                        right.append(point)
            except Unfinished as unfinished:
                status, wrong = "unfinished", str(unfinished)
            except Wrong as mistake:
                status, wrong, shown_hints = "wrong", str(mistake), (*mistake.hints, *hints)
            except Exception as error:  # unexpected kinds of answers
                wrong = f"The check cannot use this answer ({type(error).__name__}: {error})."
                status, shown_hints = "wrong", hints
            own_lines = first_lines(printed.getvalue())
            report = Report(f"Exercise {number}", status, tuple(right), wrong, shown_hints[:hint], own_lines)
            if record:
                record_result(chapter, number, status, wrong or "; ".join(right))
            return report

        return check

    return decorate


def _wrapped(examine: Examine, answers: Sequence[object]) -> list[object]:
    """The answers, with functions as :class:`ReadersFunction`, where the check expects one and elsewhere."""
    wrapped = [ReadersFunction(answer) if callable(answer) else answer for answer in answers]
    for parameter, answer in zip(inspect.signature(examine).parameters.values(), wrapped, strict=False):
        if parameter.annotation is ReadersFunction and not isinstance(answer, ReadersFunction):
            expect_written(answer)
            parentheses = "Write the name of your function without parentheses."
            raise Wrong(f"The check got {kind(answer)}; expected a function.", parentheses)
    return wrapped
