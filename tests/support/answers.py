"""The tables of answers that learners give to the exercises, and the tests that each answer must pass."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import pytest

from utils.exercises.report import Report


class Answer(NamedTuple):
    check: Callable[..., Report]
    parts: tuple[object, ...]
    says: str = ""


class Answers:
    """The answers to the exercises of one chapter. An answer of several parts is a tuple."""

    def __init__(self) -> None:
        self.all_right: list[Answer] = []
        self.all_wrong: list[Answer] = []

    def add(
        self, check: Callable[..., Report], right: list[object], wrong: Iterable[tuple[object, str]] = ()
    ) -> None:
        """Right answers to an exercise, and wrong ones, each with words of the message that it alone must get."""
        self.all_right += [Answer(check, _parts(answer)) for answer in right]
        self.all_wrong += [Answer(check, _parts(answer), says) for answer, says in wrong]

    def tests(self) -> tuple[Callable, Callable]:
        """The tests of a file: of the right answers and of the wrong ones."""

        @pytest.mark.parametrize("answer", self.all_right, ids=lambda answer: answer.check.__name__)
        def test_right(answer: Answer) -> None:
            report = answer.check(*answer.parts)
            assert report.status == "right", str(report)
            assert report.right

        @pytest.mark.parametrize("answer", self.all_wrong, ids=lambda a: f"{a.check.__name__}: {a.says}")
        def test_wrong(answer: Answer) -> None:
            report = answer.check(*answer.parts)
            assert report.status == "wrong", str(report)
            told = [other.says for other in self.all_wrong if other.check is answer.check]
            assert [says for says in told if says in report.wrong] == [answer.says], str(report)
            assert report.hints, str(report)
            assert "The check cannot use" not in report.wrong

        return test_right, test_wrong


def _parts(answer: object) -> tuple[object, ...]:
    return answer if isinstance(answer, tuple) else (answer,)
