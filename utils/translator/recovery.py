"""Nothing is lost half-way: runs that are whole or not there, Ctrl-C, and the state of a training.

What is in a run is decided in ``runs``, what is in a state in ``loop``. Explained in book/your_translator.
"""

import io
import os
import pickle
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from filelock import FileLock, Timeout

from utils.corpus.whole_files import write_whole

#: The file of the state of a training.
STATE = "state.pt"
#: A file in every folder in which a run is made.
_MARK = ".unfinished"
#: Ctrl-C, the request of a scheduler or of ``kill``, and a terminal that was closed.
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interrupted(KeyboardInterrupt):
    """A signal asked the program to end; ``status`` is the exit status that shells give it, 130 for Ctrl-C."""

    def __init__(self, number: int = signal.SIGINT):
        super().__init__()
        self.status = 128 + number


@contextmanager
def obey_signals() -> Iterator[None]:
    """Within this block every signal that ends programs raises :class:`Interrupted`."""

    def obey(number: int, _frame: FrameType | None) -> None:
        raise Interrupted(number)

    with _handled_by(obey):
        yield


@contextmanager
def hold_signals() -> Iterator[list[int]]:
    """Within this block signals are only listed; the caller looks at the list when it can stop."""
    held: list[int] = []
    with _handled_by(lambda number, _frame: held.append(number)):
        yield held


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Install a handler for all signals that are not ignored (``nohup`` ignores one), in the main thread only."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in _SIGNALS if in_main_thread}
    before = {number: old for number, old in before.items() if old is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def save_state(folder: Path, state: dict[str, Any]) -> None:
    """Write the state of a training in place of the one before."""
    import torch  # here, because every command imports this module, and --help should take little time

    content = io.BytesIO()
    torch.save(state, content)
    write_whole(folder / STATE, content.getvalue())


def load_state(folder: Path) -> dict[str, Any]:
    """The state that :func:`save_state` wrote, without running any code of it; ValueError if the file is damaged."""
    import torch

    try:
        return torch.load(folder / STATE, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise ValueError(f"{folder / STATE} is damaged: remove {folder} and train again") from error


def training_folder(place: str | Path) -> Path:
    """The folder beside a run's place in which the run is made."""
    return Path(os.path.realpath(place) + ".training")


@contextmanager
def made_whole(place: str | Path, *, resume: bool = False) -> Iterator[Path]:
    """The folder in which a run is made, under a lock; it is renamed to the run's place at the end of this block.

    After an error it stays only if it holds a state. FileExistsError if the place is taken, if the folder beside it is
    not of a training, if another process makes a run for it, or if an interrupted training left its state and
    ``resume`` is False.
    """
    place, folder = Path(os.path.realpath(place)), training_folder(place)
    is_taken = place.is_file() or (place.is_dir() and any(place.iterdir()))
    if is_taken or place in (Path.cwd(), *Path.cwd().parents):
        raise FileExistsError(f"{place} exists already: name a new folder for the run, or remove this one")
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(place.with_name(f".{place.name}.lock"), timeout=0):
            is_interrupted = (folder / STATE).exists()
            if is_interrupted and not resume:
                raise FileExistsError(
                    f"a training into {place} was interrupted: continue it with --resume, or remove {folder}"
                )
            if not is_interrupted:
                if folder.is_dir() and any(folder.iterdir()) and not (folder / _MARK).exists():
                    raise FileExistsError(
                        f"a run is made in {folder}, which holds something else: rename this folder, "
                        "or name another one for the run"
                    )
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                (folder / _MARK).touch()
            try:
                yield folder
                with hold_signals():
                    folder.rename(place)
                    for name in (STATE, _MARK):
                        (place / name).unlink(missing_ok=True)
                    for part in place.glob(".*.part"):  # of a process that was killed
                        part.unlink()
            finally:
                if not (folder / STATE).exists():
                    shutil.rmtree(folder, ignore_errors=True)
    except Timeout:
        raise FileExistsError(f"another process is training into {place}: wait for it") from None
