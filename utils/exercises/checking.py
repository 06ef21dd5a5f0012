"""The code that runs a check of an exercise on a reader's answer, and the report that the reader sees.

A check is a generator with ``@exercise``. It yields a sentence for each point in which the answer is right, and raises
:class:`Wrong` at the first point in which it is not. It calls the reader's functions as if they were its own, because
they are wrapped in :class:`ReadersFunction`. The checks themselves are in the modules named after the chapters.

Explained in book/teaching.
"""

import contextlib
import copy
import functools
import html
import inspect
import io
import re
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal, NamedTuple

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from utils.exercises.progress import record_result

#: Seconds of processor time after which a check says that the answer does not come to an end.
TIME_LIMIT = 20.0
#: Seconds by the clock, for an answer that waits. There are more of them because other programs may use the processor.
WAITING_LIMIT = 60.0

_ENDLESS = "Does each loop have an end that it reaches?"

Status = Literal["right", "wrong", "unfinished", "open"]
#: The task of an exercise: predict, compute by hand, write code, try something out, or answer in words.
Kind = Literal["predict", "compute", "implement", "experiment", "open"]
_HEADS: dict[Status, str] = {
    "right": "Right",
    "wrong": "Not right yet",
    "unfinished": "Not written yet",
    "open": "Compare your text with these points",
}
_COLOURS: dict[Status, str] = {
    "right": "#15803d",
    "wrong": "#b45309",
    "unfinished": "#64748b",
    "open": "#1d4ed8",
}


class Wrong(Exception):
    """A mistake in an answer, described in the words of the lesson, and hints for this mistake.

    The hints of the exercise follow these.
    """

    def __init__(self, message: str, *hints: str) -> None:
        super().__init__(message)
        self.hints = hints


class Unfinished(Exception):
    """The reader has not answered yet."""


class TimeUp(BaseException):
    """The time limit; not an ``Exception``, so that an answer's own ``except Exception`` lets it pass."""


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
        mark = "·" if self.status == "open" else "✓"
        yield from ((mark, sentence) for sentence in self.right)
        if self.wrong:
            yield "✗" if self.status == "wrong" else "·", self.wrong
        yield from (("Hint:", hint) for hint in self.hints)
        if self.printed:
            yield "Your function printed:", self.printed

    def __str__(self) -> str:
        lines = [f"{self.exercise}: {_HEADS[self.status]}"]
        lines += [f"  {mark} {sentence}" for mark, sentence in self._lines()]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        colour = _COLOURS[self.status]
        lines = "".join(
            f'<p style="margin:.3em 0"><b>{mark}</b> {_with_code(sentence)}</p>'
            for mark, sentence in self._lines()
        )
        return (
            f'<div class="check" data-status="{self.status}" style="border-left:5px solid {colour};'
            f'background:{colour}1a;border-radius:4px;padding:.5em 1em;max-width:46em">'
            f'<p style="margin:.3em 0"><b>{self.exercise}: {_HEADS[self.status]}</b></p>{lines}</div>'
        )


def _with_code(sentence: str) -> str:
    """The sentence as HTML: text between backticks becomes code, and line breaks are kept."""
    escaped = html.escape(sentence, quote=False).replace("\n", "<br>")
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped)


def exercise(
    number: int, kind: Kind, *hints: str
) -> Callable[[Callable[..., Iterator[str]]], Callable[..., Report]]:
    """Make a check of exercise ``number`` out of a generator that examines the reader's answers.

    The check takes the answers, ``hint`` (how many hints to show when the answer is wrong) and ``record`` (whether the
    result counts for :func:`utils.exercises.progress.progress`). Whatever the answers do, it returns a
    :class:`Report` and raises nothing.
    """

    def decorate(examine: Callable[..., Iterator[str]]) -> Callable[..., Report]:
        chapter = examine.__module__.split(".")[-1]

        @functools.wraps(examine)
        def check(*answers: object, hint: int = 1, record: bool = True) -> Report:
            report = _report(f"Exercise {number}", examine, answers, hints, hint)
            if record:
                record_result(chapter, number, report.status)
            return report

        check.number = number  # type: ignore[attr-defined]
        check.kind = kind  # type: ignore[attr-defined]
        return check

    return decorate


def _report(
    name: str,
    examine: Callable[..., Iterator[str]],
    answers: Sequence[object],
    hints: Sequence[str],
    num_hints: int,
) -> Report:
    right: list[str] = []
    printed = io.StringIO()
    wrapped_answers = [ReadersFunction(answer) if callable(answer) else answer for answer in answers]
    try:
        with (
            contextlib.redirect_stdout(printed),
            torch.random.fork_rng(devices=[]),
            time_limit(TIME_LIMIT, waiting=WAITING_LIMIT),
        ):
            _expect_functions(examine, wrapped_answers)
            for point in examine(*wrapped_answers):
                right.append(point)
    except Unfinished as unfinished:
        return Report(name, "unfinished", tuple(right), str(unfinished), printed=_first_lines(printed))
    except OpenAnswer as points:
        return Report(name, "open", points.rubric)
    except TimeUp:
        wrong = f"The answer does not come to an end within {TIME_LIMIT:.0f} seconds."
        return Report(name, "wrong", tuple(right), wrong, (_ENDLESS,))
    except Wrong as wrong:
        first_hints = (*wrong.hints, *hints)[: max(0, num_hints)]
        return Report(name, "wrong", tuple(right), str(wrong), first_hints, _first_lines(printed))
    except Exception as error:  # unexpected kinds of answers
        reason = f"The check cannot use this answer ({type(error).__name__}: {error})."
        return Report(name, "wrong", tuple(right), reason, tuple(hints[:num_hints]), _first_lines(printed))
    return Report(name, "right", tuple(right), printed=_first_lines(printed))


def _expect_functions(examine: Callable[..., Iterator[str]], answers: Sequence[object]) -> None:
    for parameter, answer in zip(inspect.signature(examine).parameters.values(), answers, strict=False):
        if parameter.annotation is ReadersFunction and not isinstance(answer, ReadersFunction):
            expect_written(answer)
            raise Wrong(
                f"The check got {_kind(answer)}; expected a function.",
                "Write the name of your function without parentheses.",
            )


def _first_lines(printed: io.StringIO, *, limit: int = 5, width: int = 200) -> str:
    lines = printed.getvalue().splitlines()
    more = ["..."] if len(lines) > limit else []
    return "\n".join([line[:width] for line in lines[:limit]] + more)


@contextlib.contextmanager
def time_limit(seconds: float, *, waiting: float) -> Iterator[None]:
    """Raise :class:`TimeUp` in the code of this block when its time is over.

    Only the main thread, where a notebook runs its cells, can be interrupted; in other threads there is no limit.

    Args:
        seconds: processor time of the main thread, so that other programs of a busy machine do not count.
        waiting: seconds by the clock, for code that waits and uses no processor time.
    """
    end, waiting_end = time.thread_time() + seconds, time.monotonic() + waiting

    def ring(*_: object) -> None:
        if time.thread_time() >= end or time.monotonic() >= waiting_end:
            raise TimeUp

    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    # Repeat the signal: the time may not be over yet, and the answer may catch the exception.
    signal.setitimer(signal.ITIMER_REAL, min(seconds, waiting), 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class ReadersFunction:
    """A reader's function; an error in it becomes a :class:`Wrong`."""

    def __init__(self, function: Callable) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def __call__(self, *args: object, **options: object) -> object:
        """Call the function on copies of the arguments, and return its result.

        Raises:
            Unfinished: it returns nothing.
            Wrong: it raised, did not end in time, or changed its arguments.
        """
        own_args, own_options = copy.deepcopy((args, options))
        call = f"`{self.name}({_arguments(args, options)})`"
        try:
            result = self.function(*own_args, **own_options)
        except TimeUp:
            raise Wrong(
                f"{call} does not come to an end within {TIME_LIMIT:.0f} seconds.",
                _ENDLESS,
            ) from None
        except (Exception, SystemExit) as error:
            # A stub raises it without a message; torch's errors have one.
            if isinstance(error, NotImplementedError) and not str(error):
                raise Unfinished(
                    "Write the body of your function, run its cell, then run this one again."
                ) from None
            raise Wrong(
                f"{call} raised {type(error).__name__}: {_first_lines(io.StringIO(str(error)), limit=2)}",
                "Call your function on these inputs in a cell of your own, and look at the shape of each step.",
            ) from None
        if result is None or result is ...:
            raise Unfinished(
                f"`{self.name}` returns nothing. Write its body, and end it with `return` and the result."
            )
        if not _same((args, options), (own_args, own_options)):
            raise Wrong(
                f"{call} changes what it is given.",
                "Make a new object instead of writing into the old one: the caller may need it again.",
            )
        return result


class LargestTensor(TorchFunctionMode):
    """Notes the floating-point tensors that functions of torch make within its block.

    ``shapes`` are their shapes, and ``peak`` is the largest number of numbers that they held at the same time. Copies
    of arguments, arrays and lists do not count, and an axis that only repeats, as after ``expand``, counts as one.
    """

    _COPIES = (Tensor.__deepcopy__, torch.tensor, torch.as_tensor, torch.from_numpy)

    def __init__(self) -> None:
        super().__init__()
        self.shapes: set[tuple[int, ...]] = set()
        self.peak = 0
        self._alive: list[weakref.ref[Tensor]] = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for item in result if isinstance(result, tuple | list) else [result]:
            if isinstance(item, Tensor) and item.is_floating_point() and function not in self._COPIES:
                self._keep(torch.func.debug_unwrap(item))  # within torch.vmap, the tensor of all calls
        return result

    def _keep(self, tensor: Tensor) -> None:
        sizes = zip(tensor.shape, tensor.stride(), strict=True)
        self.shapes.add(tuple(size if step else 1 for size, step in sizes))
        alive = [other for reference in self._alive if (other := reference()) is not None] + [tensor]
        self._alive = [weakref.ref(other) for other in alive]
        by_storage = {other.untyped_storage().data_ptr(): other for other in alive}
        held = (other.untyped_storage().nbytes() // other.element_size() for other in by_storage.values())
        self.peak = max(self.peak, sum(held))


def _arguments(args: Sequence[object], options: Mapping[str, object]) -> str:
    keywords = [f"{name}={show(value, most=8)}" for name, value in options.items()]
    return ", ".join([show(value, most=8) for value in args] + keywords)


def _same(left: object, right: object) -> bool:
    """Whether two nested tuples, lists, dictionaries or tensors hold the same."""
    if isinstance(left, Tensor):
        if not isinstance(right, Tensor) or (left.shape, left.dtype) != (right.shape, right.dtype):
            return False
        both_nan = (left != left) & (right != right)
        return bool(((left == right) | both_nan).all())
    if isinstance(left, tuple | list):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, torch.nn.Module):
        return _same(left.state_dict(), right.state_dict())
    return callable(left) or left == right


def show(value: object, *, width: int = 160, most: int = 24) -> str:
    """A value as a reader would write it: tensors as nested lists of short numbers, large ones as their shape.

    Args:
        most: a tensor of more numbers than this is large.
    """
    if isinstance(value, Tensor):
        if value.numel() > most:
            return f"<tensor of shape {tuple(value.shape)}>"
        value = value.tolist()
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else f"{value:.4g}"
    if isinstance(value, list | tuple):
        inner = ", ".join(show(item, width=width, most=most) for item in value)
        text = f"[{inner}]" if isinstance(value, list) else f"({inner})"
    else:
        plain = f"<{type(value).__name__}>" if isinstance(value, torch.nn.Module) else repr(value)
        text = getattr(value, "__name__", None) or plain
    return text if len(text) <= width else text[: width - 3] + "..."


# ---- Functions that the checks call ----


def expect_written(answer: object) -> None:
    """Raise :class:`Unfinished` where the answer is still the ``...`` of its cell."""
    if answer is ... or answer is None:
        raise Unfinished("Replace the `...` in the cell above, run that cell, then run this one again.")


def expect(condition: object, message: str, *hints: str) -> None:
    """Raise :class:`Wrong` with this message unless the condition holds."""
    if not condition:
        raise Wrong(message, *hints)


def as_tensor(
    answer: object, *hints: str, shape: tuple[int, ...] | None = None, name: str = "the result"
) -> Tensor:
    """The answer as a float64 tensor (boolean stays boolean): a tensor, an array, a number or nested lists.

    Args:
        hints: what to say if the shape is another.

    Raises:
        Wrong: it is none of these, or its shape is another.
    """
    expect_written(answer)
    try:
        tensor = answer.detach() if isinstance(answer, Tensor) else torch.as_tensor(_plain(answer))
    except (TypeError, ValueError, RuntimeError):
        raise Wrong(
            f"{name} is {_kind(answer)}, not numbers.",
            "A tensor will do, and so will a number or lists of numbers of equal length.",
        ) from None
    if tensor.is_complex():
        raise Wrong(f"{name} holds complex numbers.")
    if shape is not None and tuple(tensor.shape) != shape:
        raise Wrong(f"{name} has the shape {tuple(tensor.shape)}; expected {shape}.", *hints)
    return tensor if tensor.dtype == torch.bool else tensor.double()


def _plain(answer: object) -> object:
    """Lists in which tensors are replaced by their numbers, and fractions by floats."""
    if isinstance(answer, Tensor):
        return answer.tolist()
    if isinstance(answer, Fraction | Decimal):
        return float(answer)
    return [_plain(item) for item in answer] if isinstance(answer, list | tuple) else answer


def _kind(answer: object) -> str:
    if isinstance(answer, ReadersFunction):
        return "a function"
    name = "text" if isinstance(answer, str) else type(answer).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


class Mistake(NamedTuple):
    """A wrong result that learners get, what it is (without a full stop), and a hint."""

    result: Tensor | Sequence | float
    says: str
    hint: str


def expect_close(
    answer: object,
    expected: Tensor | Sequence | float,
    case: str,
    *hints: str,
    name: str = "the result",
    tolerance: float = 1e-4,
    mistakes: Iterable[Mistake] = (),
) -> None:
    """Raise :class:`Wrong` if a number differs by more than the tolerance, relative or absolute.

    It names the mistake that has this result, or else the first number that differs.

    Args:
        case: what the answer was computed from, as it stands in the message: "for the scores [0, 1]".
    """
    expected = torch.as_tensor(expected).double()
    numbers = as_tensor(answer, shape=tuple(expected.shape), name=f"{case}, {name}").double()

    def near(other: Tensor) -> Tensor:
        return torch.isclose(numbers, other, rtol=tolerance, atol=tolerance, equal_nan=True)

    if near(expected).all():
        return
    for mistake in mistakes:
        wrong = torch.as_tensor(mistake.result).double()
        if wrong.numel() == numbers.numel() and near(wrong.reshape(numbers.shape)).all():
            small = numbers.numel() <= 8
            shown, wanted = (f" is {show(numbers)}", f" Expected {show(expected)}.") if small else ("", "")
            raise Wrong(f"{case}, {name}{shown}: {mistake.says}.{wanted}", mistake.hint)
    place = tuple((~near(expected)).nonzero()[0].tolist())
    where = f" at {list(place)}" if place else ""
    raise Wrong(
        f"{case}, {name}{where} is {show(numbers[place].item())}; expected {show(expected[place].item())}.",
        *hints,
    )


def expect_numbers(
    answers: Mapping[str, object],
    right: Sequence[float],
    mistakes: Iterable[Mistake] = (),
    *hints: str,
    tolerance: float = 0.0065,
    weights: bool = False,
) -> None:
    """Raise :class:`Wrong` if numbers that were found by hand differ by more than the tolerance.

    Args:
        answers: the reader's name of each number, and the number.
        tolerance: absolute below 1, and relative above.
        weights: whether the numbers must lie between 0 and 1 and sum to 1.
    """
    numbers = [as_number(answer, name=name) for name, answer in answers.items()]
    if weights:
        expect_distribution(numbers, ", ".join(answers))

    def near(others: Sequence[float]) -> list[bool]:
        return [abs(a - b) <= tolerance * max(1, abs(b)) for a, b in zip(numbers, others, strict=True)]

    if all(near(right)):
        return
    shown = ", ".join(f"{name} is {show(number)}" for name, number in zip(answers, numbers, strict=True))
    for mistake in mistakes:
        if all(near(torch.as_tensor(mistake.result).reshape(-1).tolist())):
            raise Wrong(f"{shown}: {mistake.says}.", mistake.hint)
    first = near(right).index(False)
    raise Wrong(f"{list(answers)[first]} is {show(numbers[first])}; expected another number.", *hints)


def expect_distribution(numbers: Sequence[float], name: str, *, tolerance: float = 0.016) -> None:
    """Raise :class:`Wrong` unless the numbers lie between 0 and 1 and sum to 1."""
    shown, total = f"{name} are {show(numbers)}", sum(numbers)
    expect(abs(total - 100) > 1.6, f"{shown}, in per cent.", "50 per cent is 0.5.")
    expect(
        all(0 <= number <= 1 + tolerance for number in numbers),
        f"{shown}; expected numbers from 0 to 1.",
        "Scores become weights by the softmax, and logarithms become probabilities by `exp`.",
    )
    expect(
        abs(total - 1) <= tolerance,
        f"{shown}, with the sum {show(total)}; expected 1.",
        "Divide each by their sum.",
    )


def as_parts(result: object, *names: str) -> Sequence:
    """The several things that a function returns.

    Raises:
        Wrong: they are fewer or more than these names.
    """
    if not isinstance(result, tuple | list) or len(result) != len(names):
        num = f"{len(result)} things" if isinstance(result, tuple | list) else "one thing"
        wanted = ", ".join(names)
        raise Wrong(f"the function returns {num}; expected {wanted}.", f"End it with `return {wanted}`.")
    return result


def as_number(answer: object, *, name: str = "your number") -> float:
    """The answer as a float: a number, a tensor or list of one number, or text such as "0.25" and "1/4".

    Raises:
        Wrong: it is something else.
    """
    if isinstance(answer, str):
        try:
            text = "".join(answer.split())
            return float(Fraction(text.rstrip("%"))) / (100 if text.endswith("%") else 1)
        except (ValueError, ZeroDivisionError):
            raise Wrong(
                f"{name} is the text {answer!r}, not a number.",
                "Write digits alone, without a unit and without commas.",
            ) from None
    tensor = as_tensor(answer, name=name)
    expect(tensor.numel() == 1, f"{name} holds {tensor.numel()} numbers; expected one.", "Write one number.")
    return tensor.double().item()


def choose(answer: object, right: str, reason: str, wrong: Mapping[str, str]) -> Iterator[str]:
    """A check of one choice of several sentences; "b", "B" and "(b)" are one choice.

    Args:
        answer: the reader's letter.
        right: the right letter.
        reason: why it is right.
        wrong: for each other letter, what is wrong with it.
    """
    expect_written(answer)
    letters = sorted([right, *wrong])
    letter = re.sub(r"\W", "", answer).lower() if isinstance(answer, str) else ""
    expect(
        letter in letters,
        f"{show(answer)} is none of the choices.",
        f"Write one letter in quotes: {', '.join(letters[:-1])} or {letters[-1]}.",
    )
    if letter != right:
        raise Wrong(f"Not {letter}: {wrong[letter]}")
    yield f"{letter}: {reason}"


class OpenAnswer(Exception):
    """An answer in words, which the reader judges by the points of a rubric."""

    def __init__(self, rubric: Sequence[str]) -> None:
        self.rubric = tuple(rubric)


def _num_words(text: str) -> int:
    """Number of words of a text; two characters of a script without blanks, such as Chinese, count as one word."""
    without_blanks = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
    return len(without_blanks.sub("", text).split()) + len(without_blanks.findall(text)) // 2


def compare_with_rubric(answer: object, rubric: Sequence[str], *, min_words: int = 20) -> Iterator[str]:
    """A check of an answer in words: shows the rubric once there is a text to compare with it."""
    expect_written(answer)
    expect(isinstance(answer, str), f"Your answer is {_kind(answer)}; write a text in quotes.")
    num_words = _num_words(str(answer))
    if num_words == 0:
        raise Unfinished("Write your answer between the quotes, run that cell, then run this one again.")
    expect(
        num_words >= min_words,
        f"Your answer has {num_words} {'word' if num_words == 1 else 'words'}. The points to compare it with come when "
        f"it has {min_words}.",
        "Write down what you think before you look: you remember more of what you have tried to say.",
    )
    raise OpenAnswer(rubric)
    yield  # makes this a generator, as every check is
