"""The exercises that a reader has done: one small JSON file in the folder of the notebooks, which is sent nowhere.

Explained in book/teaching.
"""

import json
import os
import tempfile
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
        results = json.loads(path.read_text("utf-8")) if path else {}
    except (OSError, ValueError):
        return {}
    valid = isinstance(results, dict) and all(isinstance(chapter, dict) for chapter in results.values())
    return results if valid else {}


def record_result(chapter: str, number: int, status: str) -> None:
    """Store the last result of an exercise; if the folder cannot be written to, store nothing."""
    path = _path()
    if path is None:
        return
    results = _results()
    results.setdefault(chapter, {})[str(number)] = status
    try:
        # Another file is written and then renamed: if the notebook stops in the middle, the old file is still there.
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
            json.dump(results, file, indent=1, sort_keys=True)
        Path(file.name).replace(path)
    except OSError:
        return


class Progress:
    """One line: which exercises of a chapter are done."""

    def __init__(self, chapter: str, numbers: list[int]) -> None:
        results = _results().get(chapter, {})
        self.done = {number: results.get(str(number)) in DONE for number in numbers}

    def __str__(self) -> str:
        marks = "   ".join(f"{number} {'✓' if done else '–'}" for number, done in self.done.items())
        return f"Exercises done: {sum(self.done.values())} of {len(self.done)}   ({marks})"

    __repr__ = __str__


def progress(checks: object) -> Progress:
    """The reader's progress in a chapter, ``checks`` being the module of its checks."""
    chapter = checks.__name__.split(".")[-1]
    numbers = sorted(check.number for check in vars(checks).values() if hasattr(check, "number"))
    return Progress(chapter, numbers)
