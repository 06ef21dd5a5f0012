"""A run's folder: it is made beside its place, under a lock, and renamed to its place when it is complete.

What is in a run is decided in ``runs``.
Explained in book/api/command_line.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

#: The files of a run. The weights hold the digest of all others but the evaluation.
RECORD, SETTINGS, SRC, TGT, TEST, WEIGHTS, EVALUATION = (
    "run.json", "settings.json", "src.vocabulary.json", "tgt.vocabulary.json", "test.json", "weights.safetensors",
    "evaluation.json",
)  # fmt: skip
#: The files of the states of a training.
CHECKPOINTS = ("checkpoint.safetensors", "checkpoint.previous.safetensors")
_RUN_FILES = {RECORD, SETTINGS, SRC, TGT, TEST, WEIGHTS, EVALUATION, *CHECKPOINTS}
_RUN_FILES |= {f"{name}.part" for name in _RUN_FILES}
_IGNORED = {".DS_Store"}


def beside(place: str | Path, kind: str) -> Path:
    """The folder beside a run's place: "training" while it is made, "old" while it is replaced."""
    place = Path(os.path.realpath(place))
    return place.parent / f"{place.name}.{kind}"


def complete(place: str | Path) -> Path:
    """The folder to read a run from: its place, or the old run if a replacement was cut short between two renames."""
    old = beside(place, "old")
    return old if not Path(place).exists() and old.exists() else Path(place)


@contextmanager
def locked(place: str | Path) -> Iterator[None]:
    """Keep other processes from writing the run of this place within the block.

    Raises:
        ValueError: the current folder, one that holds it, or the root of a disk: these cannot be replaced.
        FileExistsError: another process writes it now.
        OSError: nothing can be written beside the place.
    """
    folder = Path(os.path.realpath(place))
    if Path.cwd().is_relative_to(folder) or folder.is_mount():
        raise ValueError(
            f"{place} cannot become a run: name a new folder for it, such as {Path(place) / 'run'}"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder.with_name(f".{folder.name}.lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise FileExistsError(
            f"another process is training into {place}: wait for it, or name another folder"
        ) from None
    try:
        old = beside(place, "old")
        if old.exists() and not folder.exists():  # a replacement was cut short between its two renames
            old.replace(folder)
        yield
    finally:
        lock.release()


def check_place(place: str | Path, *, overwrite: bool) -> None:
    """Raise an error if a run cannot be put in this place without losing something.

    Raises:
        FileExistsError: a file, or a folder that holds a run (unless ``overwrite``) or anything else.
    """
    folder = Path(os.path.realpath(place))
    if not folder.exists():
        return
    if not folder.is_dir():
        raise FileExistsError(f"{place} is a file: name a new folder for the run")
    names = {path.name for path in folder.iterdir()} - _IGNORED
    other_names = sorted(names - _RUN_FILES)
    if not names & {WEIGHTS, *CHECKPOINTS}:
        other_names = other_names or sorted(names)
    if other_names:
        raise FileExistsError(
            f"{place} holds {other_names[0]}, which is not a file of a run: name a new folder for the run"
        )
    if WEIGHTS in names and not overwrite:
        raise FileExistsError(
            f"{place} holds a trained run already: name another folder, or replace the run with --overwrite"
        )
    if names and not overwrite:
        raise FileExistsError(
            f"{place} holds a training that an earlier version of this course left: replace it with --overwrite"
        )


def publish(folder: Path, place: str | Path) -> None:
    """Rename a complete folder to its place; the old folder there is kept until this is done."""
    place = Path(os.path.realpath(place))
    old = beside(place, "old")
    if place.exists():
        shutil.rmtree(old, ignore_errors=True)
        place.replace(old)
    folder.replace(place)
    _sync(place.parent)
    shutil.rmtree(old, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Force the renames in a folder to the disk, on systems that can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
