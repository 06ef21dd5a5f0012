"""Checks of the exercises of chapters/positions."""

import math

import torch
from torch import Tensor

from utils.exercises.tables import Case, against

_RANDOM = torch.Generator().manual_seed(0)


def _place(d: int, place: int) -> Case:
    case = f"for a vector of {d} numbers at place {place}"
    rates = "The pair i, counted from 0, has the rate 10,000 to the power of −2i/d."
    return Case(case, (torch.randn(d, generator=_RANDOM), place), f"{case} all pairs are turned", rates)


@against(
    1,
    "A pair (a, b) turned by an angle is (a cos − b sin, a sin + b cos). Begin with a vector of two numbers.",
    "`10_000 ** (-torch.arange(0, d, 2) / d)` are the angles of one place; `x[0::2]` and `x[1::2]` are the pairs.",
    cases=[_place(6, 1), _place(2, 1), _place(10, 13), _place(4, 0)],
    mistakes={
        "it is turned as at place 1 | Multiply the rates by the place.": {"most": 1},
        "the pairs turn the other way | The first number becomes a cos − b sin.": {"way": -1},
        "the rates begin with the second one | Pair 0 has the rate 1.": {"first": 2},
        "other numbers are paired | Pair the neighbours: the first with the second.": {"halves": True},
    },
    parts=["the turned vector"],
)
def turn(x: Tensor, place: int, *, most=999, way=1, first=0, halves=False) -> Tensor:
    d = len(x)
    angles = min(place, most) * 10_000 ** (-torch.arange(first, first + d, 2) / d)
    cos, sin = angles.cos(), way * angles.sin()
    a, b = (x[: d // 2], x[d // 2 :]) if halves else (x[0::2], x[1::2])
    parts = [a * cos - b * sin, a * sin + b * cos]
    return torch.cat(parts) if halves else torch.stack(parts, dim=-1).flatten()


def _rates(d: int, n: int, factor: float) -> Case:
    case = f"for a head of width {d}, {n} places and the factor {factor:g}"
    rates = 10_000.0 ** (-torch.arange(0, d, 2) / d)
    return Case(case, (rates, n, factor), f"{case} all rates are right", "A full turn is 2π.")


@against(
    3,
    "In n places a pair turns by the angle `n * rate`. Compare this with a full turn.",
    "`torch.where(condition, a, b)` takes from `a` where the condition holds, and from `b` elsewhere.",
    cases=[_rates(4, 500, 4), _rates(8, 32, 4), _rates(16, 100, 8)],
    mistakes={
        "all are divided | Compare `n * rate` with a full turn: the fast ones stay.": {
            "slow": lambda angle: angle < math.inf
        },
        "the fast ones are divided | Divide those that turn less than once.": {
            "slow": lambda angle: angle >= 2 * math.pi
        },
        "the angle is compared with 1 | A full turn is 2π.": {"slow": lambda angle: angle < 1},
        "the angle is compared with 360 | Angles are in radians: a full turn is 2π.": {
            "slow": lambda angle: angle < 360
        },
        "the slow ones are multiplied | Divide them by the factor.": {"way": -1},
    },
    parts=["the rates"],
)
def slower(rates: Tensor, n: int, factor: float, *, slow=lambda angle: angle < 2 * math.pi, way=1) -> Tensor:
    return torch.where(slow(n * rates), rates / factor**way, rates)
