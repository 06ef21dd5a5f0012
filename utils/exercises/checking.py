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
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from utils.exercises.progress import add_exercise, record_result

#: Seconds after which a check says that a reader's function does not come to an end.
TIME_LIMIT = 30.0

Status = Literal["right", "wrong", "unfinished"]
#: The head of a report and the colour of its card.
_LOOKS: dict[Status, tuple[str, str]] = {
    "right": ("Right", "#15803d"),
    "wrong": ("Not right yet", "#b45309"),
    "unfinished": ("Not written yet", "#64748b"),
}
Examine = Callable[..., Iterator[str]]
Check = Callable[..., "Report"]


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
            own_lines = _first_lines(printed.getvalue())
            report = Report(f"Exercise {number}", status, tuple(right), wrong, shown_hints[:hint], own_lines)
            if record:
                record_result(chapter, number, status, wrong or "; ".join(right))
            return report

        return check

    return decorate


# ---- Readers' functions ----


def _wrapped(examine: Examine, answers: Sequence[object]) -> list[object]:
    """The answers, with functions as :class:`ReadersFunction`, where the check expects one and elsewhere."""
    wrapped = [ReadersFunction(answer) if callable(answer) else answer for answer in answers]
    for parameter, answer in zip(inspect.signature(examine).parameters.values(), wrapped, strict=False):
        if parameter.annotation is ReadersFunction and not isinstance(answer, ReadersFunction):
            expect_written(answer)
            parentheses = "Write the name of your function without parentheses."
            raise Wrong(f"The check got {_kind(answer)}; expected a function.", parentheses)
    return wrapped


def _first_lines(text: str, *, limit: int = 5, width: int = 200) -> str:
    lines = text.splitlines()
    more = ["..."] if len(lines) > limit else []
    return "\n".join([line[:width] for line in lines[:limit]] + more)


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`TimeUp` in the code of this block after this time.

    Only the main thread, where a notebook runs its cells, can be interrupted; in other threads there is no limit.
    """

    def ring(*_: object) -> None:
        raise TimeUp

    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
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
        shown = [show(argument, most=8) for argument in args]
        shown += [f"{name}={show(option, most=8)}" for name, option in options.items()]
        call = f"`{self.name}({', '.join(shown)})`"
        try:
            with time_limit(TIME_LIMIT):
                result = self.function(*own_args, **own_options)
        except TimeUp:
            message = f"{call} does not come to an end within {TIME_LIMIT:.0f} seconds."
            raise Wrong(message, "Does each loop have an end that it reaches?") from None
        except (Exception, SystemExit) as error:
            # A stub raises it without a message; torch's errors have one.
            if isinstance(error, NotImplementedError) and not str(error):
                raise Unfinished(
                    "Write the body of your function, run its cell, then run this one again."
                ) from None
            raise Wrong(
                f"{call} raised {type(error).__name__}: {_first_lines(str(error), limit=2)}",
                "Call your function on these inputs in a cell of your own, and look at the shape of each step.",
            ) from None
        if result is None or result is ...:
            raise Unfinished(
                f"`{self.name}` returns nothing. Write its body, and end it with `return` and the result."
            )
        expect(
            all(map(_same, args, own_args)),
            f"{call} changes what it is given.",
            "Make a new object instead of writing into the old one: the caller may need it again.",
        )
        return result


class LargestTensor(TorchFunctionMode):
    """Notes the floating-point tensors that functions of torch make within its block.

    ``shapes`` are their shapes, ``peak`` is the largest number of numbers that they held at the same time, and
    ``calls`` says how many functions ran.
    """

    def __init__(self) -> None:
        super().__init__()
        self.shapes: set[tuple[int, ...]] = set()
        self.peak = self.calls = 0
        self._made: list[weakref.ref[Tensor]] = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        self.calls += 1
        for item in result if isinstance(result, tuple | list) else [result]:
            if isinstance(item, Tensor) and item.is_floating_point():
                self._keep(torch.func.debug_unwrap(item))  # within torch.vmap, the tensor of all calls
        return result

    def _keep(self, tensor: Tensor) -> None:
        self.shapes.add(tuple(tensor.shape))
        self._made.append(weakref.ref(tensor))
        alive = [other for reference in self._made if (other := reference()) is not None]
        held = {  # views share one storage
            other.untyped_storage().data_ptr(): other.untyped_storage().nbytes() // other.element_size()
            for other in alive
        }
        self.peak = max(self.peak, sum(held.values()))


def _same(left: object, right: object) -> bool:
    """Whether two arguments hold the same."""
    if isinstance(left, Tensor):
        return torch.equal(left, right)
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same(left[name], right[name]) for name in left)
    if isinstance(left, torch.nn.Module):
        return all(map(torch.equal, left.parameters(), right.parameters()))
    if isinstance(left, tuple | list):
        return len(left) == len(right) and all(map(_same, left, right))
    return callable(left) or left == right


def show(value: object, *, most: int = 24) -> str:
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
        inner = ", ".join(show(item, most=most) for item in value)
        text = f"[{inner}]" if isinstance(value, list) else f"({inner})"
    else:
        is_large = isinstance(value, torch.nn.Module | dict)
        plain = f"<{type(value).__name__}>" if is_large else repr(value)
        text = getattr(value, "__name__", None) or plain
    return text if len(text) <= 160 else text[:157] + "..."


# ---- Functions that the checks call ----


def expect_written(*answers: object) -> None:
    """Raise :class:`Unfinished` where an answer is still the ``...`` of its cell."""
    if any(answer is ... or answer is None for answer in answers):
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
        kinds = "A tensor will do, and so will a number or lists of numbers of equal length."
        raise Wrong(f"{name} {verb(name)} {_kind(answer)}, not numbers.", kinds) from None
    if shape is not None and tuple(tensor.shape) != shape:
        has = verb(name, "has", "have")
        raise Wrong(f"{name} {has} the shape {tuple(tensor.shape)}; expected {shape}.", *hints)
    return tensor if tensor.dtype == torch.bool else tensor.double()


def verb(name: str, one: str = "is", many: str = "are") -> str:
    """The verb for what a message names: "the weight is", "the new keys are", "weights is" for the reader's own name.

    >>> verb("for two sentences, the weights"), verb("the loss"), verb("w_s")
    ('are', 'is', 'is')
    """
    return many if re.search(r"\bthe (new )?\w*[^s]s$", name) else one


def _plain(answer: object) -> object:
    """Lists in which tensors are replaced by their numbers, and fractions by floats."""
    if isinstance(answer, Tensor):
        return answer.tolist()
    if isinstance(answer, Fraction):
        return float(answer)
    return [_plain(item) for item in answer] if isinstance(answer, list | tuple) else answer


def _kind(answer: object) -> str:
    if isinstance(answer, ReadersFunction):
        return "a function"
    name = "text" if isinstance(answer, str) else type(answer).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def expect_close(
    answer: object,
    expected: Tensor | Sequence | float,
    case: str,
    *hints: str,
    name: str = "the result",
    tolerance: float = 1e-4,
) -> None:
    """Raise :class:`Wrong` with the first number that differs by more than the tolerance, relative or absolute.

    Args:
        case: what the answer was computed from, as it stands in the message: "for the scores [0, 1]".
    """
    expected = torch.as_tensor(expected).double()
    numbers = as_tensor(answer, *hints, shape=tuple(expected.shape), name=f"{case}, {name}").double()
    for place in (~torch.isclose(numbers, expected, rtol=tolerance, atol=tolerance)).nonzero().tolist():
        where = f" at {place}" if place else ""
        number, right = show(numbers[tuple(place)]), show(expected[tuple(place)])
        raise Wrong(f"{case}, {name}{where} {verb(name)} {number}; expected {right}.", *hints)


def expect_distribution(numbers: Sequence[float], name: str, *, tolerance: float = 0.016) -> None:
    """Raise :class:`Wrong` unless the numbers lie between 0 and 1 and sum to 1."""
    shown, total = f"{name} are {show(numbers)}", sum(numbers)
    expect(abs(total - 100) > 1.6, f"{shown}, in per cent.", "50 per cent is 0.5.")
    expect(
        all(0 <= number <= 1 + tolerance for number in numbers),
        f"{shown}; expected numbers from 0 to 1.",
        "Scores become weights by the softmax, and logarithms become probabilities by `exp`.",
    )
    message = f"{shown}, with the sum {show(total)}; expected 1."
    expect(abs(total - 1) <= tolerance, message, "Divide each by their sum.")


def as_parts(result: object, *names: str) -> Sequence:
    """The several things that a function returns.

    Raises:
        Wrong: they are fewer or more than these names.
    """
    if not isinstance(result, tuple | list) or len(result) != len(names):
        num = f"{len(result)} things" if isinstance(result, tuple | list) else "one thing"
        variables = ", ".join(name.split()[-1] for name in names)  # "weights" of "the weights"
        raise Wrong(
            f"the function returns {num}; expected {', '.join(names)}.", f"End it with `return {variables}`."
        )
    return result


def as_number(answer: object, *, name: str = "your number") -> float:
    """The answer as a float: a number, a tensor or list of one number, or text such as "0.25", "1/4" and "25%".

    Raises:
        Wrong: it is something else.
    """
    if isinstance(answer, str):
        try:
            text = "".join(answer.split()).replace("−", "-")
            return float(Fraction(text.removesuffix("%"))) / (100 if text.endswith("%") else 1)
        except (ValueError, ZeroDivisionError):
            digits = "Write digits alone, without a unit and without commas."
            raise Wrong(f"{name} is the text {answer!r}, not a number.", digits) from None
    tensor = as_tensor(answer, name=name)
    expect(tensor.numel() == 1, f"{name} holds {tensor.numel()} numbers; expected one.", "Write one number.")
    return tensor.double().item()
