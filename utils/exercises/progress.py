"""The exercises that a reader has done: one small JSON file in the folder of the notebooks, which is sent nowhere.

Explained in book/teaching.
"""

import contextlib
import json
import os
from pathlib import Path

#: Environment variable with the path of the file; empty: store nothing, as in tests and in `make notebooks`.
VARIABLE = "ATTENTION_PROGRESS"
FILE = ".exercises.json"
DONE = {"right", "open"}


def _path() -> Path | None:
    name = os.environ.get(VARIABLE, FILE)
    return Path(name) if name else None


def _results() -> dict[str, dict[str, str]]:
    """Chapter -> number of the exercise -> last result; empty if there is no file that can be read."""
    path = _path()
    try:
        return json.loads(path.read_text("utf-8")) if path else {}
    except (OSError, ValueError):
        return {}


def record_result(chapter: str, number: int, status: str) -> None:
    """Store the last result of an exercise; if the folder cannot be written to, store nothing."""
    if path := _path():
        results = _results()
        results.setdefault(chapter, {})[str(number)] = status
        with contextlib.suppress(OSError):
            path.write_text(json.dumps(results, indent=1, sort_keys=True), "utf-8")


class Progress(str):
    """A line of text, which a notebook shows without quotes."""

    __repr__ = str.__str__


def progress(checks: object) -> Progress:
    """Which exercises of a chapter are done, ``checks`` being the module of its checks."""
    results = _results().get(checks.__name__.split(".")[-1], {})
    numbers = sorted(check.number for check in vars(checks).values() if hasattr(check, "number"))
    done = {number: results.get(str(number)) in DONE for number in numbers}
    marks = "   ".join(f"{number} {'✓' if is_done else '–'}" for number, is_done in done.items())
    return Progress(f"Checked exercises done: {sum(done.values())} of {len(done)}   ({marks})")
