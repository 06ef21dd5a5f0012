"""Answers that learners give to the exercises, right and wrong, and the tests that each answer must pass.

For each chapter, a file of tests collects answers in one :class:`Answers` and takes its tests from there.
"""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from utils.exercises.checking import Report

Check = Callable[..., Report]


class Answer(NamedTuple):
    check: Check
    parts: tuple[object, ...]
    says: str = ""
    hint: str = ""

    @property
    def name(self) -> str:
        shown = [getattr(part, "__name__", repr(part))[:40] for part in self.parts]
        return f"{self.check.__name__}: {', '.join(shown)}"


class Answers:
    """The answers to the exercises of one chapter, which has its checks in the module ``checks``."""

    def __init__(self, checks: object) -> None:
        self.exercises = {check for check in vars(checks).values() if hasattr(check, "number")}
        self.all_right: list[Answer] = []
        self.all_wrong: list[Answer] = []

    def right(self, check: Check, *parts: object) -> None:
        self.all_right.append(Answer(check, parts))

    def wrong(self, check: Check, *parts: object, says: str, hint: str) -> None:
        """A wrong answer, a part of the message that it and no other answer gets, and a part of its hints."""
        self.all_wrong.append(Answer(check, parts, says, hint))

    def tests(self) -> tuple[Callable, Callable, Callable]:
        """The tests of a file: of the right answers, of the wrong ones, and of their number."""

        @pytest.mark.parametrize("answer", self.all_right, ids=lambda answer: answer.name)
        def test_right(answer: Answer) -> None:
            report = answer.check(*answer.parts)
            assert report.status in {"right", "open"}, str(report)
            assert report.right
            assert not report.wrong
            assert not report.hints

        @pytest.mark.parametrize("answer", self.all_wrong, ids=lambda answer: answer.name)
        def test_wrong(answer: Answer) -> None:
            report = answer.check(*answer.parts, hint=2)
            assert report.status == "wrong", str(report)
            assert answer.says in report.wrong
            assert answer.hint in " ".join(report.hints)
            assert "The check cannot use" not in report.wrong
            for other in self.all_wrong:
                if other.check is answer.check and other is not answer:
                    assert other.says not in report.wrong, f"the message of {other.name}"

        def test_each_exercise_has_answers() -> None:
            for check in self.exercises:
                assert [answer for answer in self.all_right if answer.check is check], check.__name__
                num_wrong = sum(answer.check is check for answer in self.all_wrong)
                assert num_wrong >= (1 if check.kind == "open" else 3), (
                    f"{check.__name__}: {num_wrong} wrong answers"
                )

        return test_right, test_wrong, test_each_exercise_has_answers
