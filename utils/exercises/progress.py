"""The exercises that a reader has done: one small JSON file in the folder of the notebooks, which is sent nowhere.

Explained in book/problems.
"""

import contextlib
import json
import os
from pathlib import Path

#: Environment variable with the path of the file; empty: store nothing, as in tests and in `make notebooks`.
VARIABLE = "ATTENTION_PROGRESS"
FILE = ".exercises.json"

#: Chapter -> number of the exercise -> status and message of its last check.
Results = dict[str, dict[str, list[str]]]


def stored_results(path: Path) -> Results:
    """The results in a file; empty if there is none that can be read."""
    try:
        results = json.loads(path.read_text("utf-8"))
        return {
            chapter: {number: [status, message] for number, (status, message) in checked.items()}
            for chapter, checked in results.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):  # no file, no JSON, or JSON of another form
        return {}


def _path() -> Path | None:
    name = os.environ.get(VARIABLE, FILE)
    return Path(name) if name else None


def record_result(chapter: str, number: int, status: str, message: str) -> None:
    """Store the last result of an exercise; if the folder cannot be written to, store nothing."""
    if path := _path():
        results = stored_results(path)
        results.setdefault(chapter, {})[str(number)] = [status, message]
        with contextlib.suppress(OSError):
            path.write_text(json.dumps(results, indent=1, sort_keys=True), "utf-8")


class Progress(str):
    """A line of text, which a notebook shows without quotes."""

    __repr__ = str.__str__


def numbers_of(checks: object) -> list[int]:
    """The numbers of the exercises that have a check, ``checks`` being the module of a chapter's checks."""
    return sorted(check.number for check in vars(checks).values() if hasattr(check, "number"))


def progress(checks: object) -> Progress:
    """Which checked exercises of a chapter are done, ``checks`` being the module of its checks."""
    path = _path()
    results = stored_results(path).get(checks.__name__.split(".")[-1], {}) if path else {}
    done = {number: results.get(str(number), [""])[0] == "right" for number in numbers_of(checks)}
    marks = "   ".join(f"{number} {'✓' if is_done else '–'}" for number, is_done in done.items())
    return Progress(f"Checked exercises done: {sum(done.values())} of {len(done)}   ({marks})")
