"""The course's own errors: what a user can correct. Every other exception is a fault of a program.

The command line prints one of these in a line, and shows the traceback of every other exception.
Explained in book/problems.
"""

from collections.abc import Mapping
from typing import Any


class CourseError(ValueError):
    """A text, a file, an option or a number that cannot be used; the message names it and says what is wanted."""


class NotFiniteError(CourseError, FloatingPointError):
    """A loss, a gradient or a weight that is not a finite number."""


def check_weights(weights: Mapping[str, Any], where: str) -> None:
    """Raise an error if one of these tensors has a number that is NaN or infinite.

    Every function that reads or writes the weights of a network calls it: such a network would compute nothing else.

    Args:
        weights: the tensors of a network, by name.
        where: what holds them, for the message.

    Raises:
        FloatingPointError: with the name of the tensor.

    :meta private:
    """
    for name, tensor in weights.items():
        if not tensor.isfinite().all():
            raise NotFiniteError(
                f"{where}: {name} has numbers that are not finite: the weights are damaged, or their training diverged"
            )
