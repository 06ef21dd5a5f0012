"""The exercises that a reader has done: one small JSON file in the folder of the notebooks, which is sent nowhere.

Explained in book/problems.
"""

import importlib.util
import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path

from utils.corpus.whole_files import write_whole

#: Environment variable with the path of the file; empty: store nothing, as in tests and in `make notebooks`.
VARIABLE = "ATTENTION_PROGRESS"
FILE = ".exercises.json"

#: Chapter -> number of the exercise -> status and message of its last check.
Results = dict[str, dict[str, list[str]]]

#: The numbers of the exercises that have a check, by chapter.
_numbers: dict[str, set[int]] = {}


def stored_results(path: Path) -> Results:
    """The results in a file; empty if there is no file.

    Raises:
        ValueError: the file holds something else.
        OSError: it cannot be read.
    """
    try:
        results = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    if not _has_form(results):
        raise ValueError(f"{path} is no file of results")
    return results


def _has_form(results: object) -> bool:
    if not isinstance(results, dict) or not all(isinstance(of, dict) for of in results.values()):
        return False
    entries = [entry for of_chapter in results.values() for entry in of_chapter.values()]
    return all(isinstance(entry, list) and [*map(type, entry)] == [str, str] for entry in entries)


def _path() -> Path | None:
    name = os.environ.get(VARIABLE, FILE)
    return Path(name) if name else None


def record_result(chapter: str, number: int, status: str, message: str) -> None:
    """Store the last result of an exercise; warn if it cannot be stored.

    A file that holds something else stays as it is, for it may hold what the reader has done.
    """
    if path := _path():
        try:
            results = stored_results(path)
            results.setdefault(chapter, {})[str(number)] = [status, message]
            write_whole(path, json.dumps(results, indent=1, sort_keys=True))
        except (OSError, ValueError) as error:
            warnings.warn(f"this result is not stored: {error}", stacklevel=2)


class Progress(str):
    """A line of text, which a notebook shows without quotes."""

    __repr__ = str.__str__


def add_exercise(chapter: str, number: int) -> None:
    """Note that an exercise has a check."""
    _numbers.setdefault(chapter, set()).add(number)


def numbers_of(checks: object) -> list[int]:
    """The numbers of the exercises that have a check, ``checks`` being the module of a chapter's checks."""
    return sorted(_numbers.get(_chapter(checks), ()))


def _chapter(checks: object) -> str:
    return checks.__name__.split(".")[-1]


def _right_in(chapter: str, results: Mapping[str, list[str]]) -> set[str]:
    """The numbers of the exercises that are right, without those that the chapter no longer has."""
    module = f"{__package__}.{chapter}"
    if chapter not in _numbers and chapter.isidentifier() and importlib.util.find_spec(module):
        importlib.import_module(module)  # a chapter that has not been opened in this process
    numbers = map(str, _numbers.get(chapter, ()))
    return {number for number in numbers if results.get(number, [""])[0] == "right"}


def progress(checks: object) -> Progress:
    """Which checked exercises of a chapter are done, and how many in all chapters.

    Args:
        checks: the module of the chapter's checks.
    """
    path, stored, note = _path(), {}, ""
    if path:
        try:
            stored = stored_results(path)
        except (OSError, ValueError) as error:
            note = f"\nEarlier results cannot be read: {error}."
    right = {chapter: _right_in(chapter, results) for chapter, results in stored.items()}
    done = {number: str(number) in right.get(_chapter(checks), ()) for number in numbers_of(checks)}
    marks = "   ".join(f"{number} {'✓' if is_done else '–'}" for number, is_done in done.items())
    total = sum(map(len, right.values()))
    whole = f"\nIn all chapters: {total}" if total > sum(done.values()) else ""
    return Progress(f"Checked exercises done: {sum(done.values())} of {len(done)}   ({marks}){whole}{note}")
