"""The record of a run, ``run.json``: from which data, by which command and how it was trained.

It is written in two parts: the plan before the training, which ``--resume`` compares, and the result after it.
Explained in book/api/command_line.
"""

import os
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from utils.translator.loop import FullHistory

#: The content of a record, in types that JSON can hold.
Record = dict[str, Any]
#: The most points of the curve of the loss.
MAX_POINTS = 200
#: What may differ between the command that began a training and the one that continues it. The pair file may have
#: moved: its digest says whether it is the same.
_FREE = {("data", "pairs"), ("schedule", "minutes")}


def versions() -> dict[str, str]:
    """The versions of this course, of Python and of the packages that a result depends on."""
    numbers = {"python": sys.version.split()[0]}
    for name in ("attention-course", "torch", "tokenizers", "sacrebleu"):
        try:
            numbers[name] = version(name)
        except PackageNotFoundError:
            numbers[name] = "unknown"
    return numbers


def plan(**parts: object) -> Record:
    """The facts that are known before a training: date, command and versions, and these parts."""
    command = [printable(argument) for argument in (Path(sys.argv[0]).name, *sys.argv[1:])]
    return {"date": now(), "command": command, "versions": versions(), **parts}


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def printable(text: str | os.PathLike) -> str:
    r"""A path or an argument as text that UTF-8 can hold; other bytes of it become ``\x`` and two digits.

    >>> printable("run")
    'run'
    """
    return os.fsencode(text).decode("utf-8", "backslashreplace")


def result_of(history: FullHistory, weights: str) -> Record:
    """The facts that are known after a training.

    Args:
        history: of the training.
        weights: the digest of the weights.
    """
    return {
        "date": now(),
        "steps": len(history.losses),
        "minutes": round(history.seconds[-1] / 60, 2) if history.seconds else 0.0,
        "target_tokens": sum(history.tokens),
        "losses": thinned(history.losses),
        "held_out_losses": [round(loss, 4) for loss in history.valid_losses],
        "weights": weights,
    }


def thinned(losses: list[float]) -> list[list[float]]:
    """At most ``MAX_POINTS`` points of a curve: the last step of each piece, and the mean loss over the piece.

    >>> thinned([3.0, 2.0, 1.0])
    [[1, 3.0], [2, 2.0], [3, 1.0]]
    """
    pieces = min(len(losses), MAX_POINTS)
    ends = [(piece + 1) * len(losses) // pieces for piece in range(pieces)]
    return [
        [end, round(sum(losses[start:end]) / (end - start), 4)]
        for start, end in zip([0, *ends], ends, strict=False)
    ]


def differences(before: Record, after: Record) -> list[str]:
    """The differences between two plans that change the training, one phrase each.

    >>> plans = ({"data": {}, "schedule": {}, "settings": {"seed": 0, "dropout": share}} for share in (0.1, 0.3))
    >>> differences(*plans)
    ['dropout was 0.1, now 0.3']
    """
    return [
        f"{name} was {before[part].get(name)}, now {after[part].get(name)}"
        for part in ("data", "settings", "schedule")
        for name in before[part] | after[part]
        if before[part].get(name) != after[part].get(name) and (part, name) not in _FREE
    ]
