"""Pack arrays of numbers as base64 text for a web page, and unpack them.

The script of the page reads the packed arrays.
"""

import base64
import math

import numpy as np

#: The dtypes of packed numbers: little-endian, each with a typed array in JavaScript.
_DTYPES = {"u1": "<u1", "u2": "<u2", "i4": "<i4", "f4": "<f4"}
#: Numbers from 0 to 1 are stored as whole multiples of one of these.
_STEPS = {"u1": 1 / 255, "u2": 1 / 65535}
#: How far a sum of weights may lie beyond 1; no picture and no sentence shows it.
ROUNDING_OF_SUMS = 1e-4


def pack(array: np.ndarray) -> dict:
    """An array as a JSON-ready record ``{"dtype", "shape", "step", "data"}``.

    Truth values and bytes take 8 bits, other integers 32. Numbers from 0 to 1 take 16 bits, value = stored * step
    with an error of at most 7.7e-6, unless one of them is so small that it would become exactly 0, because figures
    state exact zeros in their text. If all of them are multiples of 1/255, up to 4e-7, they take 8 bits: round
    numbers that are only drawn with ``torch.round(255 * weights) / 255``. All others take 32 bits.

    Raises:
        ValueError: an empty array, NaN or infinite values, integers beyond 32 bits, or values that are not numbers.

    >>> pack(np.array([0.0, 0.5, 1.0]))
    {'data': 'AAAAgP//', 'dtype': 'u2', 'shape': [3], 'step': 1.5259021896696422e-05}
    """
    if array.size == 0:
        raise ValueError(f"an array must hold at least one number, got shape {array.shape}")
    if array.dtype.kind not in "buif":
        raise ValueError(f"only numbers can be packed, got dtype {array.dtype}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError("NaN or infinite values cannot be shown")
    if array.dtype.kind == "f":
        array = array.astype(np.float64)  # in half precision the division below would overflow
    dtype, step = _dtype_for(array)
    stored = np.rint(array / step) if step < 1 else array
    data = base64.b64encode(np.ascontiguousarray(stored.astype(_DTYPES[dtype])).tobytes()).decode()
    return {"data": data, "dtype": dtype, "shape": list(array.shape), "step": step}


def _dtype_for(array: np.ndarray) -> tuple[str, float]:
    low, high = array.min(), array.max()
    if array.dtype.kind in "bui":
        if low < -(2**31) or high >= 2**31:
            raise ValueError(f"integers must fit 32 bits, got {low} to {high}")
        return ("u1" if low >= 0 and high < 256 else "i4"), 1.0
    if max(abs(float(low)), abs(float(high))) > float(np.finfo(np.float32).max):
        raise ValueError(f"numbers must fit 32 bits, got {low} to {high}")
    if low < 0 or high > 1 or ((array > 0) & (array < _STEPS["u2"] / 2)).any():
        return "f4", 1.0
    scaled = array * 255
    dtype = "u1" if np.abs(scaled - np.rint(scaled)).max() <= 1e-4 else "u2"
    return dtype, _STEPS[dtype]


def check_shares(name: str, numbers: np.ndarray) -> None:
    """Check that numbers are from 0 to 1, up to what the rounding of a sum adds.

    Raises:
        ValueError: one is not.

    >>> check_shares("weights", np.array([0.5, 1.5]))
    Traceback (most recent call last):
    ...
    ValueError: 'weights' must be numbers from 0 to 1, got 1.5
    """
    inside = (numbers >= -ROUNDING_OF_SUMS) & (numbers <= 1 + ROUNDING_OF_SUMS)  # NaN is not
    if not inside.all():
        raise ValueError(f"{name!r} must be numbers from 0 to 1, got {numbers[~inside][0]:g}")


def stored_numbers(packed: dict) -> list[int] | list[float]:
    """The stored numbers of a packed array, before they are multiplied by its step.

    >>> stored_numbers(pack(np.array([0.0, 1.0])))
    [0, 255]
    """
    return np.frombuffer(base64.b64decode(packed["data"]), _DTYPES[packed["dtype"]]).tolist()


def unpack(packed: dict) -> np.ndarray:
    """The numbers of a packed array in float64, as JavaScript reads them.

    >>> unpack(pack(np.array([[2, -3]])))
    array([[ 2., -3.]])
    """
    stored = np.array(stored_numbers(packed), dtype=np.float64)
    return np.asarray(stored.reshape(packed["shape"]) * packed["step"])


def num_bytes(packed: dict) -> int:
    """Size of the numbers themselves, before base64.

    >>> num_bytes(pack(np.full((3, 5), 0.5)))
    30
    """
    return math.prod(packed["shape"]) * int(packed["dtype"][1])
