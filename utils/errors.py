"""The course's own errors: what a user can correct. Every other exception is a fault of a program.

Beside them are the two checks that the numbers of a network are numbers.

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


def check_logits(logits: Any) -> None:
    """Raise an error if there is a row of logits, a tensor, in which no word is the most probable one.

    Every search and every writer calls it: where logits are NaN, torch chooses a word anyway. The largest number of a
    row is NaN if one of its numbers is.

    Raises:
        ValueError: whole numbers, or no word to choose from.
        FloatingPointError: a row with NaN or plus infinity, or without any finite number.

    :meta private:
    """
    if not logits.is_floating_point() or not logits.dim() or not logits.shape[-1]:
        raise CourseError(
            f"logits must be fractions, one for each word, got {logits.dtype} of shape {tuple(logits.shape)}"
        )
    if not logits.amax(dim=-1).isfinite().all():
        raise NotFiniteError(
            "logits must allow a word, and none may be infinite or NaN: a largest one is not finite"
        )
