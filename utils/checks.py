"""Checks of arguments: counts, numbers, lists of texts, lengths, masks and the axes of tensors.

A check gets arguments by their names, and raises a ValueError that says which one is wrong, what it got and what it
wants. What only one function demands is checked in that function. Checks of counts and texts need no torch, so commands
that compute nothing start fast.
Explained in book/inside.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any


def check_count(low: int, high: float = math.inf, /, **counts: int | None) -> None:
    """Raise ValueError for a count that is not a whole number from ``low`` to ``high``.

    None is allowed: it stands for an argument that was left out.

    >>> check_count(0, 11, head=12)
    Traceback (most recent call last):
    ValueError: head must be from 0 to 11, got 12
    """
    for name, count in counts.items():
        if isinstance(count, bool) or not (count is None or hasattr(count, "__index__")):
            raise ValueError(f"{name} must be a whole number, got {count!r}")
    check_number(low, high, **counts)


def check_number(low: float, high: float = math.inf, /, **numbers: float | None) -> None:
    """Raise ValueError for a number that is infinite, NaN, or not from ``low`` to ``high``.

    None is allowed: it stands for an argument that was left out.

    >>> check_number(0, length_penalty=-0.5)
    Traceback (most recent call last):
    ValueError: length_penalty must be at least 0, got -0.5
    """
    limits = f"from {low} to {high}" if high < math.inf else f"at least {low}"
    for name, number in numbers.items():
        if number is not None and not low <= number <= high:
            raise ValueError(f"{name} must be {limits}, got {number}")
        if number == math.inf:
            raise ValueError(f"{name} must be finite, got {number}")


def check_positive(**numbers: float | None) -> None:
    """Raise ValueError for a number that is neither None nor positive and finite."""
    for name, number in numbers.items():
        if number is not None and not 0 < number < math.inf:
            raise ValueError(f"{name} must be positive and finite, got {number}")


def check_heads(d_model: int, num_heads: int) -> None:
    """Raise ValueError unless the heads can share the width evenly."""
    check_count(1, d_model=d_model, num_heads=num_heads)
    if d_model % num_heads:
        raise ValueError(f"d_model must be a multiple of num_heads, got {d_model} and {num_heads}")


def refuse_text(**arguments: object) -> None:
    """Raise ValueError for a text where a list or a stream of texts is meant: each character would count as an item.

    >>> refuse_text(lines=["I see."])
    >>> refuse_text(lines="I see.")
    Traceback (most recent call last):
    ValueError: lines must be a list, got the text 'I see.'
    """
    for name, value in arguments.items():
        if isinstance(value, str):
            raise ValueError(f"{name} must be a list, got the text {value[:40]!r}")


def check_list(**arguments: object) -> None:
    """As :func:`refuse_text`, where a list is read more than once: a stream would be empty the second time.

    None is allowed: it stands for an argument that was left out.

    >>> check_list(sentences=(line for line in ["I see."]))
    Traceback (most recent call last):
    ValueError: sentences must be a list, got generator, which can be read only once: list(sentences) makes one
    """
    refuse_text(**arguments)
    for name, value in arguments.items():
        if value is not None and not isinstance(value, Sequence):  # an array cannot say whether it is empty
            why = ", which can be read only once" if isinstance(value, Iterator) else ""
            raise ValueError(
                f"{name} must be a list, got {type(value).__name__}{why}: list({name}) makes one"
            )


def check_lists(**arguments: Sequence[object]) -> None:
    """As :func:`check_list`, for lists of lists.

    >>> check_lists(references=[["I see."], "I see."])
    Traceback (most recent call last):
    ValueError: references[1] must be a list, got the text 'I see.'
    """
    check_list(**arguments)
    for name, rows in arguments.items():
        check_list(**{f"{name}[{number}]": row for number, row in enumerate(rows)})


def check_floats(**tensors: Any) -> None:
    """Raise ValueError for what is not a tensor of floating-point numbers.

    A result in whole numbers would lose its fractions: weights would be 0.
    """
    for name, tensor in tensors.items():
        if not hasattr(tensor, "is_floating_point"):
            raise ValueError(f"{name} must be a tensor, got {_kind(tensor)}")
        if not tensor.is_floating_point():
            raise ValueError(f"{name} must be floating-point numbers, got dtype {tensor.dtype}")


def check_axes(**tensors: Any) -> None:
    """Raise ValueError for what is not a tensor of floating-point numbers with the axes of length and width.

    Explained in chapters/dot_product_attention.
    """
    check_floats(**tensors)
    for name, tensor in tensors.items():
        if tensor.dim() < 2:
            raise ValueError(
                f"{name} must have at least two axes, length and width, got shape {tuple(tensor.shape)}"
            )


def check_width(width: int, /, **tensors: Any) -> None:
    """As :func:`check_axes`, and the last axis must have this width.

    Explained in chapters/additive_attention.
    """
    check_axes(**tensors)
    for name, tensor in tensors.items():
        if tensor.shape[-1] != width:
            raise ValueError(f"{name} must have width {width}, got {tensor.shape[-1]}")


def check_same_length(num_keys: int, values: Any) -> None:
    """Raise ValueError unless there is a value for each key."""
    check_axes(values=values)
    if num_keys != values.shape[-2]:
        raise ValueError(f"keys and values must have the same length, got {num_keys} and {values.shape[-2]}")


def check_lengths(low: int, high: int, /, **tensors: Any) -> None:
    """Raise ValueError for what is not a tensor of whole numbers from ``low`` to ``high``.

    The numbers are not read while torch compiles or exports a program, which does not know them yet.
    """
    import torch

    for name, lens in tensors.items():
        if not isinstance(lens, torch.Tensor):
            raise ValueError(f"{name} must be a tensor of integers, got {_kind(lens)}")
        if lens.is_floating_point() or lens.is_complex() or lens.dtype == torch.bool:
            raise ValueError(f"{name} must be integers, got dtype {lens.dtype}")
        if torch.compiler.is_compiling() or not lens.numel():
            continue
        shortest, longest = (int(length) for length in lens.aminmax())
        if shortest < low or longest > high:
            raise ValueError(f"{name} must lie between {low} and {high}, got {shortest} to {longest}")


def check_batch(src: Any, src_lens: Any) -> None:
    """Raise ValueError unless src is a padded batch and src_lens holds one length per sentence, each in 1..n."""
    if src.dim() != 2:
        raise ValueError(f"src must have shape (batch, n), got {tuple(src.shape)}")
    if not len(src) or src_lens.shape != src.shape[:1]:
        raise ValueError(
            f"src_lens must hold one length per sentence, got shape {tuple(src_lens.shape)} for {len(src)} sentences"
        )
    if not src.shape[1]:
        raise ValueError("src must have at least one token per sentence, got none")
    check_lengths(1, src.shape[1], src_lens=src_lens)


def check_mask(mask: Any, shape: Sequence[int]) -> None:
    """Raise ValueError unless the mask is boolean and broadcasts to scores of this shape.

    It has as many axes as the scores, or is the same for all sentences: with three axes beside scores of four, torch
    would take its sentences for heads, and say nothing where there are as many of both.

    Explained in chapters/masked_softmax.
    """
    import torch

    if not isinstance(mask, torch.Tensor):
        raise ValueError(f"mask must be a boolean tensor (True = may attend), got {_kind(mask)}")
    if mask.dtype != torch.bool:
        raise ValueError(f"mask must be boolean (True = may attend), got dtype {mask.dtype}")
    if mask.dim() < len(shape) and any(size != 1 for size in mask.shape[:-2]):
        raise ValueError(
            f"mask of shape {tuple(mask.shape)} must have as many axes as scores of shape {tuple(shape)}: "
            "mask[:, None] is for each sentence and all its heads, mask[None] for each head and all sentences"
        )
    try:
        mask.expand(*shape)  # far faster than torch.broadcast_shapes
    except RuntimeError as error:
        raise ValueError(
            f"mask of shape {tuple(mask.shape)} does not broadcast to scores of shape {tuple(shape)}"
        ) from error


def _kind(value: object) -> str:
    return f"a value of type {type(value).__name__}"
