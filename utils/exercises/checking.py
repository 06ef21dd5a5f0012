"""What the checks of exercises call: each says what is wrong with an answer, by raising :class:`Wrong`.

The checks themselves are in the modules named after the chapters, and ``report`` runs them.

Explained in book/teaching.
"""

import re
import weakref
from collections.abc import Iterable, Sequence
from fractions import Fraction

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode


class Wrong(Exception):
    """A mistake in an answer, described in the words of the lesson, and hints for this mistake.

    The hints of the exercise follow these.
    """

    def __init__(self, message: str, *hints: str) -> None:
        super().__init__(message)
        self.hints = hints


class Unfinished(Exception):
    """The reader has not answered yet."""


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
        raise Wrong(f"{name} {verb(name)} {kind(answer)}, not numbers.", kinds) from None
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


def kind(answer: object) -> str:
    """What an answer is, as a message says it: "a function", "a text"."""
    if callable(answer):
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


def expect_one_thing(result: object, expected: object, name: str) -> None:
    """Raise :class:`Wrong` where a function returns several things, one of which has the form of the expected one."""

    def has_form(part: object) -> bool:
        if isinstance(part, Tensor | float | int) and isinstance(expected, Tensor | float | int):
            return torch.as_tensor(part).shape == torch.as_tensor(expected).shape
        return type(part) is type(expected) and equal(part, expected)

    is_several = isinstance(result, tuple) and not isinstance(expected, tuple) and len(result) > 1
    if is_several and any(map(has_form, result)):
        message = f"the function returns {len(result)} things; expected {name} alone."
        raise Wrong(message, f"End it with {return_of([name])} and nothing else.")


def return_of(names: Iterable[str]) -> str:
    """The last line of a function that returns these things.

    >>> return_of(["the context", "the row of weights"])
    '`return context, weights`'
    """
    return f"`return {', '.join(name.split()[-1] for name in names)}`"


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
        raise Wrong(
            f"the function returns {num}; expected {', '.join(names)}.", f"End it with {return_of(names)}."
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


def equal(left: object, right: object) -> bool:
    """Whether two arguments hold the same, NaN for NaN."""
    if isinstance(left, Tensor):
        if left.shape != right.shape:
            return False
        both_nan = (left != left) & (right != right)
        return bool(((left == right) | both_nan).all())
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(equal(left[name], right[name]) for name in left)
    if isinstance(left, torch.nn.Module):
        return all(map(equal, left.parameters(), right.parameters()))
    if isinstance(left, tuple | list):
        return len(left) == len(right) and all(map(equal, left, right))
    return callable(left) or left == right or (left != left and right != right)


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
