"""Checks that are tables: a right program, wrong programs that learners write, and the cases that tell them apart.

A check runs the reader's answer on each case. Where its result is not that of the right program, the wrong programs
run on the cases so far, and the first with the same results has the message. Numbers have tables of their own.
The tables are in the modules named after the chapters; ``report`` runs them.

Explained in book/teaching.
"""

import copy
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from utils.exercises.checking import (
    Wrong,
    as_number,
    as_parts,
    expect,
    expect_close,
    expect_distribution,
    expect_one_thing,
    return_of,
    show,
    verb,
)
from utils.exercises.readers_function import ReadersFunction
from utils.exercises.report import Check, exercise

#: What a mistake is and a hint (which may be missing), with a bar between them, and the wrong program, or the right
#: one's options for it.
Programs = Mapping[str, Callable | Mapping[str, Any]]


class Case(NamedTuple):
    """What the right program, the wrong ones and the reader's function are called with."""

    says: str  #: the inputs, as they stand in a message: "for the scores [0, 1]"
    inputs: tuple | Callable[[], tuple]  #: the arguments, or a function that makes them
    point: str = ""  #: what is right, once this case is
    hint: str = ""  #: for a result that no wrong program has


def normal(*shapes: tuple[int, ...], seed: int = 5) -> tuple[Tensor, ...]:
    """Normal tensors of these shapes, the same in each call."""
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(shape, generator=generator) for shape in shapes)


def against(
    number: int,
    *hints: str,
    cases: Sequence[Case],
    mistakes: Programs,
    parts: Sequence[str] = ("the result",),
    last_first: bool = False,
    compared: Callable[[Any], Any] = lambda part: part,
    tolerance: float = 1e-4,
    also: Callable[..., Iterator[str]] | None = None,
) -> Callable[[Callable], Check]:
    """Make the right program of exercise ``number`` into the check of an answer.

    Args:
        hints: of the exercise, the first one first; the hint of a mistake or of a case comes before them.
        mistakes: a wrong program, or the options with which the right one is wrong, is named where it gives what the
            answer gives, in this case and those before it.
        parts: names of the things that the function returns. They are compared in this order.
        last_first: whether the parts are compared from the last to the first, because the last was computed first.
        compared: what is compared of a part, where there are several right ones; it may raise :class:`Wrong`.
        tolerance: relative or absolute.
        also: yields points that no case can show, such as the memory that an answer takes. It gets the function and
            what else the reader answers.

    >>> @against(1, cases=[Case("for 3", (3.0,), "3 is right")], mistakes={"squared | Add.": lambda x: x * x})
    ... def double(x):
    ...     return x + x
    >>> double(lambda x: 2 * x, record=False)
    Exercise 1: Right
      ✓ 3 is right
    >>> double(lambda x: x**2, record=False)
    Exercise 1: Not right yet
      ✗ for 3, the result is 9: squared. Expected 6.
      Hint: Add.

    Explained in book/teaching.
    """

    def parts_of(result: object) -> dict[str, Any]:
        """What is compared, by the names of the parts."""
        all_parts = as_parts(result, *parts) if len(parts) > 1 else [result]
        return {name: compared(part) for name, part in zip(parts, all_parts, strict=True)}

    def run(program: Callable, inputs: tuple) -> dict[str, Any]:
        return parts_of(program(*copy.deepcopy(inputs)))

    def decorate(right: Callable) -> Check:
        wrong_answers = {
            says: (wrong if callable(wrong) else partial(right, **wrong),) for says, wrong in mistakes.items()
        }

        def examine(answer: ReadersFunction, *others: object) -> Iterator[str]:
            so_far: list[tuple[tuple, dict]] = []  # inputs, and the parts that the answer returned
            for case in cases:
                inputs = case.inputs() if callable(case.inputs) else case.inputs
                hints = [case.hint] if case.hint else []
                expected_result = right(*copy.deepcopy(inputs))
                try:
                    result = answer(*copy.deepcopy(inputs))
                    if len(parts) == 1:
                        expect_one_thing(result, expected_result, *parts)
                    found = parts_of(result)
                except Wrong as error:  # it raises, changes its inputs, or returns more or fewer things
                    raise Wrong(f"{case.says}, {error}", *error.hints, *hints) from None
                so_far.append((inputs, {}))
                right_parts = parts_of(expected_result)
                for name in reversed(parts) if last_first else parts:
                    own, expected = found[name], right_parts[name]
                    so_far[-1][1][name] = own
                    if _same(own, expected, tolerance):
                        continue
                    if len(so_far[-1][1]) > 1:
                        yield f"{case.says}, right so far: {', '.join(list(so_far[-1][1])[:-1])}"
                    for says, (wrong,) in wrong_answers.items():
                        if _gives(partial(run, wrong), so_far, tolerance):
                            raise _mistake(f"{case.says}, {name}", own, expected, says)
                    _expect_order(found, right_parts, case.says, tolerance)
                    if isinstance(expected, Tensor | float | int):
                        expect_close(own, expected, case.says, *hints, name=name, tolerance=tolerance)
                    shown = f"{name} {verb(name)} {show(own)}"
                    raise Wrong(f"{case.says}, {shown}; expected {show(expected)}.", *hints)
                if case.point:
                    yield case.point
            if also:
                yield from also(answer, *others)

        check = _named(examine, right, number, hints, wrong_answers)
        check.program = right  # type: ignore[attr-defined]  # tests read it
        return check

    return decorate


def _gives(program: Callable[[tuple], dict], so_far: Sequence[tuple[tuple, dict]], tolerance: float) -> bool:
    """Whether a program gives the same parts as the answer in all cases so far."""
    try:
        return all(
            _same(own, result[name], tolerance)
            for inputs, found in so_far
            for result in [program(inputs)]  # run it once
            for name, own in found.items()
        )
    except Exception:  # a wrong program need not be able to take every case
        return False


def _expect_order(found: Mapping[str, Any], expected: Mapping[str, Any], case: str, tolerance: float) -> None:
    """Raise :class:`Wrong` where all parts are right and only their order is not."""
    for order in itertools.permutations(found):
        if all(_same(found[name], expected[of], tolerance) for name, of in zip(found, order, strict=True)):
            hint = f"End it with {return_of(found)}."
            raise Wrong(f"{case}, the function returns {', '.join(order)}, in this order.", hint)


def _mistake(case: str, own: object, expected: object, text: str) -> Wrong:
    says, hints = _with_hints(text)
    is_small = not isinstance(own, Tensor) or own.numel() <= 8
    shown, wanted = (f" {verb(case)} {show(own)}", f" Expected {show(expected)}.") if is_small else ("", "")
    return Wrong(f"{case}{shown}: {says}.{wanted}", *hints)


def _with_hints(text: str) -> tuple[str, list[str]]:
    """What a mistake is, and its hint, if there is one."""
    says, bar, hint = text.partition(" | ")
    return says, [hint] if bar else []


def _same(found: object, expected: object, tolerance: float) -> bool:
    """Whether two results are equal: numbers up to the tolerance, and everything else exactly."""
    try:
        numbers, others = (torch.as_tensor(result).detach().double() for result in (found, expected))
    except (TypeError, ValueError, RuntimeError):
        return found == expected or (isinstance(found, tuple) and list(found) == expected)
    close = {"rtol": tolerance, "atol": tolerance, "equal_nan": True}
    return numbers.shape == others.shape and torch.allclose(numbers, others, **close)


class Row(NamedTuple):
    """One or more numbers that belong together."""

    answers: Mapping[str, float]  #: the reader's name of each number, and the number
    point: str  #: what is right, once these are
    #: What a mistake is and a hint (which may be missing), with a bar between, and the numbers.
    mistakes: Mapping[str, float | Sequence[float]]
    tolerance: float = 0.0065  #: absolute below 1, and relative above
    weights: bool = False  #: whether the numbers must lie between 0 and 1 and sum to 1


def numbers(number: int, *hints: str) -> Callable[[Callable[[], Sequence[Row]]], Check]:
    """Make a function that returns rows of right numbers into the check of exercise ``number``.

    >>> @numbers(2)
    ... def half():
    ...     return [Row({"p": 0.5}, "p is a half", {"this is per cent | Divide by 100.": 50})]
    >>> half(50, record=False)
    Exercise 2: Not right yet
      ✗ p is 50: this is per cent.
      Hint: Divide by 100.
    """

    def decorate(rows: Callable[[], Sequence[Row]]) -> Check:
        all_rows = rows()

        def examine(*found: object) -> Iterator[str]:
            left = list(found)
            for row in all_rows:
                names, right = list(row.answers), list(row.answers.values())
                own = [as_number(left.pop(0), name=name) for name in names]
                if row.weights:
                    expect_distribution(own, ", ".join(names))
                shown = ", ".join(
                    f"{name} is {show(number)}" for name, number in zip(names, own, strict=True)
                )
                if not all(near := _near(own, right, row.tolerance)):
                    for text, value in row.mistakes.items():
                        says, hints_of_mistake = _with_hints(text)
                        is_this = all(_near(own, value, row.tolerance))
                        expect(not is_this, f"{shown}: {says}.", *hints_of_mistake)
                    first = near.index(False)
                    raise Wrong(f"{names[first]} is {show(own[first])}; expected another number.")
                yield row.point

        right = [value for row in all_rows for value in row.answers.values()]
        wrong, first = {}, 0
        for row in all_rows:
            last = first + len(row.answers)
            for says, value in row.mistakes.items():
                wrong[says] = (*right[:first], *torch.as_tensor(value).reshape(-1).tolist(), *right[last:])
            first = last
        return _named(examine, rows, number, hints, wrong)

    return decorate


def _near(found: Sequence[float], others: float | Sequence[float], tolerance: float) -> list[bool]:
    others = torch.as_tensor(others).reshape(-1).tolist()
    return [abs(a - b) <= tolerance * max(1, abs(b)) for a, b in zip(found, others, strict=True)]


def _named(
    examine: Callable, right: Callable, number: int, hints: Sequence[str], wrong: Mapping[str, tuple]
) -> Check:
    """The check, with the name and the chapter of the right program, and with the wrong answers, which tests read."""
    examine.__name__, examine.__module__, examine.__doc__ = right.__name__, right.__module__, right.__doc__
    check = exercise(number, *hints)(examine)
    check.wrong_answers = wrong  # type: ignore[attr-defined]
    return check
