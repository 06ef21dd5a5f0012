"""The code that runs the checks of exercises: whatever an answer does, the reader gets a report and no traceback."""

import html
import math
import re
import threading
from collections.abc import Iterator
from functools import partial

import pytest
import torch

from utils.exercises import readers_function
from utils.exercises.checking import Wrong, expect_close
from utils.exercises.readers_function import ReadersFunction
from utils.exercises.report import Report, exercise


@exercise(1, "first hint", "second hint")
def doubled(answer: ReadersFunction) -> Iterator[str]:
    expect_close(answer(torch.tensor([1.0, 2.0])), torch.tensor([2.0, 4.0]), "for [1, 2]", "of this mistake")
    yield "numbers are doubled"
    expect_close(answer(torch.tensor([-1.0])), torch.tensor([-2.0]), "for [-1]")
    yield "negative numbers too"


def forever(x):
    while True:
        try:
            pass
        except Exception:
            continue


def waits(x):
    threading.Event().wait()


def raises(x, error=IndexError):
    raise error


#: Answers, the status of their reports, and what these say.
ANSWERS = [
    (lambda x: 2 * x, "right", ""),
    (lambda x: x.abs() + x.abs(), "wrong", "for [-1], the result at [0] is 2; expected -2."),
    (lambda x: x, "wrong", "for [1, 2], the result at [0] is 1; expected 2."),
    (lambda x: ..., "unfinished", "`<lambda>` returns nothing."),
    (partial(raises, error=NotImplementedError), "unfinished", "Write the body of your function"),
    (..., "unfinished", "Replace the `...`"),
    (raises, "wrong", "`raises([1, 2])` raised IndexError"),
    (partial(raises, error=SystemExit("bye")), "wrong", "`partial([1, 2])` raised SystemExit: bye"),
    (partial(raises, error=RecursionError), "wrong", "raised RecursionError"),
    (forever, "wrong", "`forever([1, 2])` does not come to an end"),
    (waits, "wrong", "`waits([1, 2])` does not come to an end"),
    (lambda x: x.mul_(2), "wrong", "changes what it is given"),
    (torch.tensor([2.0, 4.0]), "wrong", "The check got a Tensor; expected a function."),
    (lambda x: "text", "wrong", "is a text, not numbers"),
    (lambda x: {"a": 1}, "wrong", "is a dict, not numbers"),
    (lambda x: [[1.0], [2.0, 3.0]], "wrong", "is a list, not numbers"),
    (lambda x: torch.zeros(3, 5, 7), "wrong", "has the shape (3, 5, 7); expected (2,)"),
    (lambda x: x / 0, "wrong", "the result at [0] is inf; expected 2."),
]


@pytest.mark.parametrize(("answer", "status", "says"), ANSWERS)
def test_each_answer_gets_its_report(
    answer: object, status: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "does not come to an end" in says:
        monkeypatch.setattr(readers_function, "TIME_LIMIT", 0.2)
    report = doubled(answer)
    assert (report.status, bool(report)) == (status, status == "right")
    assert says in report.wrong
    assert bool(report.hints) == (status == "wrong")
    assert "Traceback" not in str(report)


def test_what_is_right_comes_before_what_is_wrong() -> None:
    assert str(doubled(torch.abs)) == (
        "Exercise 1: Not right yet\n  ✗ for [1, 2], the result at [0] is 1; expected 2.\n  Hint: of this mistake"
    )
    assert str(doubled(lambda x: x.abs() * 2)) == (
        "Exercise 1: Not right yet\n  ✓ numbers are doubled\n"
        "  ✗ for [-1], the result at [0] is 2; expected -2.\n  Hint: first hint"
    )


@pytest.mark.parametrize(
    ("hint", "hints"),
    [(0, ()), (2, ("of this mistake", "first hint")), (9, ("of this mistake", "first hint", "second hint"))],
)
def test_hints_come_one_after_the_other(hint: int, hints: tuple[str, ...]) -> None:
    assert doubled(lambda x: x, hint=hint).hints == hints


def test_an_interrupt_by_the_reader_gets_through() -> None:
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        doubled(interrupted)


@pytest.mark.parametrize(
    ("given", "change"),
    [
        ({"a": 1}, lambda x: x.pop("a")),
        (torch.nn.Linear(2, 3), lambda x: x.requires_grad_(False).bias.mul_(2)),
    ],
)
def test_a_changed_argument_of_each_kind_is_told(given, change) -> None:
    with pytest.raises(Wrong, match="changes what it is given"):
        ReadersFunction(change)(given)
    assert ReadersFunction(lambda x: 1)(given) == 1


@pytest.mark.parametrize("given", [math.nan, [math.nan, 2.0], torch.tensor([math.nan, 3.0])])
def test_nan_in_an_argument_is_no_change(given) -> None:
    assert ReadersFunction(lambda x: 1)(given) == 1
    assert ReadersFunction(lambda *, x: 1)(x=given) == 1


def test_an_option_is_an_argument_too() -> None:
    with pytest.raises(Wrong, match="changes what it is given"):
        ReadersFunction(lambda *, x: x.zero_())(x=torch.tensor([math.nan, 3.0]))


def test_printed_text_is_shown_in_the_card(capsys: pytest.CaptureFixture) -> None:
    def talks(x):
        for i in range(100):
            print("line", i)
        return 2 * x

    report = doubled(talks)
    assert report
    assert report.printed.splitlines() == [f"line {i}" for i in range(5)] + ["..."]
    assert capsys.readouterr().out == ""


def test_the_card_escapes_the_readers_markup() -> None:
    report = Report("Exercise 1", "wrong", ("a `b` c",), "<script>x</script> & more", ("look",), "x < y\n2")
    card = report._repr_html_()
    assert "<script>" not in card
    assert "<code>b</code>" in card
    words = html.unescape(re.sub(r"<[^>]+>", " ", card)).split()
    assert words == str(report).replace("`", "").split()
