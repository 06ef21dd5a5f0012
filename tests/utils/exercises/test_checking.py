"""The code that runs the checks of exercises: whatever an answer does, the reader gets a report and no traceback."""

import html
import json
import re
import threading
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
import torch
from nbformat.v4 import new_markdown_cell

from utils.exercises import checking, masked_softmax
from utils.exercises.checking import (
    LargestTensor,
    ReadersFunction,
    Report,
    Wrong,
    as_number,
    as_parts,
    as_tensor,
    choice,
    exercise,
    expect_close,
    expect_numbers,
    in_words,
    show,
)
from utils.exercises.form import kind_of
from utils.exercises.progress import FILE, VARIABLE, progress


@exercise(1, "first hint", "second hint")
def doubled(answer: ReadersFunction) -> Iterator[str]:
    expect_close(answer(torch.tensor([1.0, 2.0])), torch.tensor([2.0, 4.0]), "for [1, 2]", "of this mistake")
    yield "numbers are doubled"
    expect_close(answer(torch.tensor([-1.0])), torch.tensor([-2.0]), "for [-1]")
    yield "negative numbers too"


@choice(2, "a hint", right="b")
def chosen() -> dict[str, str]:
    return {"a": "because of this", "b": "it is so", "c": "because of that"}


@in_words(3)
def told_in_words() -> tuple[str, str]:
    return ("the first point", "the second point")


def test_a_right_answer_says_what_is_right() -> None:
    report = doubled(lambda x: 2 * x)
    assert report
    assert str(report) == "Exercise 1: Right\n  ✓ numbers are doubled\n  ✓ negative numbers too"


def test_what_is_right_comes_before_what_is_wrong() -> None:
    report = doubled(lambda x: x.abs() + x.abs())
    assert not report
    assert report.status == "wrong"
    assert report.right == ("numbers are doubled",)
    assert report.wrong == "for [-1], the result at [0] is 2; expected -2."
    assert report.hints == ("first hint",)


@pytest.mark.parametrize(
    ("hint", "hints"),
    [(0, ()), (2, ("of this mistake", "first hint")), (9, ("of this mistake", "first hint", "second hint"))],
)
def test_hints_come_one_after_the_other(hint: int, hints: tuple[str, ...]) -> None:
    assert doubled(lambda x: x, hint=hint).hints == hints


def forever(x):
    while True:
        pass


def forever_and_catches(x):
    while True:
        try:
            pass
        except Exception:
            continue


def waits(x):
    threading.Event().wait()


@pytest.mark.parametrize("answer", [forever, forever_and_catches, waits])
def test_an_answer_without_an_end_is_stopped(answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "TIME_LIMIT", 0.2)
    report = doubled(answer)
    assert f"`{answer.__name__}([1, 2])` does not come to an end" in report.wrong
    assert "loop" in report.hints[0]


def test_a_check_in_another_thread_has_no_limit() -> None:
    reports = []
    thread = threading.Thread(target=lambda: reports.append(doubled(lambda x: 2 * x)))
    thread.start()
    thread.join()
    assert reports[0]


def unfinished(x): ...


def not_implemented(x):
    raise NotImplementedError


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (doubled, unfinished),
        (doubled, not_implemented),
        (doubled, lambda x: ...),
        (doubled, ...),
        (chosen, ...),
        (told_in_words, ...),
        (told_in_words, "   "),
    ],
)
def test_a_stub_is_unfinished_and_not_wrong(check, answer) -> None:
    report = check(answer)
    assert report.status == "unfinished"
    assert not report.hints
    assert "Not written yet" in str(report)


def raises(x):
    return x[[0, 1], [5]]


def leaves(x):
    raise SystemExit("bye")


def recurses(x):
    return recurses(x)


@pytest.mark.parametrize(
    ("answer", "error"), [(raises, "IndexError"), (leaves, "SystemExit: bye"), (recurses, "RecursionError")]
)
def test_an_answer_that_raises_is_told_where(answer, error: str) -> None:
    report = doubled(answer)
    assert f"{answer.__name__}([1, 2])` raised {error}" in report.wrong
    assert "Traceback" not in str(report)


def test_an_interrupt_by_the_reader_gets_through() -> None:
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        doubled(interrupted)


@pytest.mark.parametrize(
    ("given", "change"),
    [
        (torch.tensor([1.0]), lambda x: x.mul_(2)),
        ({"a": 1}, lambda x: x.pop("a")),
        (torch.nn.Linear(2, 3), lambda x: x.requires_grad_(False).bias.mul_(2)),
    ],
)
def test_an_answer_that_changes_its_argument_is_told(given, change) -> None:
    with pytest.raises(Wrong, match="changes what it is given"):
        ReadersFunction(change)(given)
    assert ReadersFunction(lambda x: 1)(given) == 1


def test_printed_text_is_shown_in_the_card(capsys: pytest.CaptureFixture) -> None:
    def talks(x):
        for i in range(100):
            print("line", i)
        return 2 * x

    report = doubled(talks)
    assert report
    assert report.printed.splitlines() == [f"line {i}" for i in range(5)] + ["..."]
    assert capsys.readouterr().out == ""


def test_a_check_leaves_the_readers_random_numbers() -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)[1]
    torch.manual_seed(3)
    torch.rand(1)
    doubled(lambda x: torch.rand(7)[0] + x)
    assert torch.rand(1) == expected


@pytest.mark.parametrize(
    "answer", ["text", {"a": 1}, [[1.0], [2.0, 3.0]], object(), [], torch.zeros(3, 5, 7), float("nan")]
)
def test_a_result_of_a_wrong_kind_is_told(answer: object) -> None:
    report = doubled(lambda x: answer)
    assert report.status == "wrong"
    assert report.wrong
    assert "cannot use" not in report.wrong


def test_a_surprise_in_the_check_is_reported() -> None:
    assert "cannot use this answer (TypeError" in doubled().wrong


def test_a_result_instead_of_a_function_is_named() -> None:
    report = doubled(torch.tensor([2.0, 4.0]))
    assert report.wrong == "The check got a Tensor; expected a function."
    assert "without parentheses" in report.hints[0]


@pytest.mark.parametrize(
    ("answer", "number"),
    [(0.25, 0.25), ("1/4", 0.25), ("25 %", 0.25), ([0.25], 0.25), (torch.tensor([[3]]), 3.0), (True, 1.0)],
)
def test_numbers_are_taken_in_every_form(answer: object, number: float) -> None:
    assert as_number(answer) == number


@pytest.mark.parametrize("answer", ["a quarter", "1/0", [1, 2], "", object()])
def test_what_is_no_number_is_told(answer: object) -> None:
    with pytest.raises(Wrong, match=r"your number|text"):
        as_number(answer)


def test_numbers_in_lists_arrays_and_tensors_are_one() -> None:
    expected = torch.tensor([[1.0, 2.0]], dtype=torch.float64)
    row = torch.tensor([1.0, 2.0])
    for answer in ([[1, 2]], [(1, Fraction(2))], expected.float(), expected.half(), expected.numpy(), [row]):
        assert as_tensor(answer, shape=(1, 2)).equal(expected)


SWAPPED = [((0.25, 0.75), "they are exchanged", "look again")]


def test_a_known_mistake_is_told_with_its_hint() -> None:
    message = r"^here, the result is \[0\.25, 0\.75\]: they are exchanged\. Expected \[0\.75, 0\.25\]\.$"
    with pytest.raises(Wrong, match=message) as told:
        expect_close([0.25, 0.75], [0.75, 0.25], "here", "another hint", mistakes=SWAPPED)
    assert told.value.hints == ("look again",)
    expect_close([0.75, 0.25], [0.75, 0.25], "here", mistakes=SWAPPED)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (0.251, "3/4", "a is 0.251, b is 0.75: they are exchanged."),
        (0.75, 0.24, "b is 0.24; expected another number."),
        (75, 25, "a, b are [75, 25], in per cent."),
        (-0.25, 1.25, "a, b are [-0.25, 1.25]; expected numbers from 0 to 1."),
        (0.75, 0.75, "a, b are [0.75, 0.75], with the sum 1.5; expected 1."),
    ],
)
def test_numbers_by_hand_are_told_apart(first: object, second: object, told: str) -> None:
    with pytest.raises(Wrong) as wrong:
        expect_numbers({"a": first, "b": second}, [0.75, 0.25], SWAPPED, tolerance=0.002, weights=True)
    assert str(wrong.value) == told
    expect_numbers({"a": 0.751, "b": [0.25]}, [0.75, 0.25], tolerance=0.002, weights=True)
    expect_numbers({"a": 751}, [750], tolerance=0.002)


@pytest.mark.parametrize(("result", "num"), [(torch.ones(2), "one thing"), ((1, 2, 3), "3 things")])
def test_a_missing_result_is_told(result: object, num: str) -> None:
    with pytest.raises(Wrong, match=f"returns {num}; expected context, weights"):
        as_parts(result, "context", "weights")
    assert as_parts([1, 2], "context", "weights") == [1, 2]


def test_choices_are_taken_in_every_form() -> None:
    for answer in ("b", "B", " (b) ", "b."):
        assert str(chosen(answer)) == "Exercise 2: Right\n  ✓ b: it is so"
    assert str(chosen("a")) == "Exercise 2: Not right yet\n  ✗ Not a: because of this\n  Hint: a hint"
    for answer in ("d", "", "ab", 2, ["b"]):
        report = chosen(answer)
        assert "none of the choices" in report.wrong
        assert report.hints == ("Write one letter in quotes: a, b or c.",)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (torch.tensor([[0.25, 1 / 3]]), "[[0.25, 0.3333]]"),
        (torch.zeros(5, 7), "<tensor of shape (5, 7)>"),
        (torch.tensor(True), "True"),
        ((1, "x"), "(1, 'x')"),
        (abs, "abs"),
        (torch.nn.Linear(2, 3), "<Linear>"),
        ("x" * 500, "'" + "x" * 156 + "..."),
    ],
)
def test_values_are_shown_as_one_writes_them(value: object, shown: str) -> None:
    assert show(value) == shown


def test_an_answer_in_words_gets_no_verdict() -> None:
    report = told_in_words("word " * 20)
    assert report.status == "open"
    assert report.right == ("the first point", "the second point")
    assert told_in_words("汉语" * 20).status == "open"
    assert told_in_words("word " * 19).wrong.startswith("Your answer has 19 words.")
    assert told_in_words("短短短").wrong.startswith("Your answer has 1 word.")
    assert told_in_words(5).wrong == "Your answer is an int; write a text in quotes."


def test_the_card_escapes_the_readers_markup() -> None:
    report = Report("Exercise 1", "wrong", ("a `b` c",), "<script>x</script> & more", ("look",), "x < y\n2")
    card = report._repr_html_()
    assert "<script>" not in card
    assert "<code>b</code>" in card
    words = html.unescape(re.sub(r"<[^>]+>", " ", card)).split()
    assert words == str(report).replace("`", "").split()


@pytest.mark.parametrize("between", ["", "\n"])
@pytest.mark.parametrize("summary", ["Hint", "Explanation", "An answer"])
def test_a_fold_begins_in_one_line_or_two(summary: str, between: str) -> None:
    text = f"<details>{between}<summary>{summary}</summary>\n\nIt is 2.\n\n</details>"
    assert kind_of(new_markdown_cell(text)) == summary.lower()
    assert kind_of(new_markdown_cell(f"{text}\n\nmore")) == ""


# ---- Progress ----


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / FILE


def test_progress_tells_what_is_done(kept: Path) -> None:
    assert str(progress(masked_softmax)).startswith("Exercises done: 0 of 5   (1 –   2 –")
    assert masked_softmax.filled_with_zero("c")
    masked_softmax.mask_from_ids(lambda ids: ids == 0)
    masked_softmax.empty_row("word " * 20)
    assert str(progress(masked_softmax)) == "Exercises done: 2 of 5   (1 ✓   2 –   3 –   4 –   5 ✓)"
    assert masked_softmax.mask_from_ids(lambda ids: (ids != 0)[:, None, :], record=False)
    assert "2 –" in str(progress(masked_softmax)), "a solution of the chapter is not the reader's work"
    assert [path.name for path in kept.parent.iterdir()] == [FILE]


@pytest.mark.parametrize("text", ["", "{", "\0"])
def test_a_broken_file_of_progress_is_begun_anew(kept: Path, text: str) -> None:
    kept.write_text(text)
    assert "0 of 5" in str(progress(masked_softmax))
    masked_softmax.filled_with_zero("c")
    assert json.loads(kept.read_text()) == {"masked_softmax": {"1": "right"}}


def test_a_folder_that_cannot_be_written_stops_nothing(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(kept.parent / "missing" / FILE))
    assert masked_softmax.filled_with_zero("c")
    assert "0 of 5" in str(progress(masked_softmax))


def test_progress_can_be_turned_off(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    masked_softmax.filled_with_zero("c")
    assert not list(kept.parent.iterdir())
    assert "0 of 5" in str(progress(masked_softmax))


def test_tensors_kept_at_one_time_are_counted() -> None:
    given = torch.ones(7, 3)
    with LargestTensor() as made:
        rows = [given[:5] @ torch.ones(3, 2) for _ in range(4)]
        del rows
        _ = torch.ones(2, 11)
    assert made.shapes == {(5, 3), (3, 2), (5, 2), (2, 11)}
    # The given tensor, which all its parts share, four products, and a factor.
    assert made.peak == 7 * 3 + 4 * 10 + 6
