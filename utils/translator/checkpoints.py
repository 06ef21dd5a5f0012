"""Atomic file writes and training checkpoints.

``loop`` decides which tensors are the state of a training. Nothing is pickled.
Explained in book/api/command_line.
"""

import hashlib
import os
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from utils.translator.folders import CHECKPOINTS


class Checkpoints:
    """The last two states of a training in a folder, so that one of them is complete whenever the process dies.

    Args:
        folder: made when the first state is saved.
        seconds: time after a save until the next one is due.
    """

    def __init__(self, folder: str | Path, *, seconds: float = 60.0):
        self.folder, self.seconds = Path(folder), seconds
        self.paths = [self.folder / name for name in CHECKPOINTS]
        self._last = time.monotonic()

    @property
    def due(self) -> bool:
        """Whether enough time has passed since the last save."""
        return time.monotonic() - self._last >= self.seconds

    @property
    def exist(self) -> bool:
        """Whether the folder holds a checkpoint file, damaged or not."""
        return any(path.exists() for path in self.paths)

    def save(self, state: Mapping[str, Tensor], *, fingerprint: str) -> None:
        """Save a state. The state before it stays; the one before that is removed.

        Args:
            state: tensors by name.
            fingerprint: of the training that the state belongs to; :meth:`load` refuses a state of another one.

        Raises:
            OSError: the disk is full or cannot be written; the states saved before are still there.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        content = save(dict(state), metadata={"training": fingerprint, "digest": digest((), state)})
        current, previous = self.paths
        part = write_part(current, content)
        if current.exists():
            current.replace(previous)
        part.replace(current)
        self._last = time.monotonic()

    def load(self, *, fingerprint: str) -> dict[str, Tensor] | None:
        """The last undamaged state; None if none was ever saved. A warning names each damaged file.

        Raises:
            ValueError: the state belongs to another training, or all files are damaged.
        """
        problems = []
        for path in filter(Path.exists, self.paths):
            try:
                state, metadata = read_safetensors(path)
            except ValueError as error:
                problems.append(str(error))
                continue
            if metadata.get("digest") != digest((), state):
                problems.append(f"{path} is damaged: its digest is not that of its content")
                continue
            if metadata.get("training") != fingerprint:
                raise ValueError(
                    f"{path} belongs to another training: other sentences, settings, seed, dtype of products or "
                    "version; use another folder, or remove the file to start again"
                )
            if problems:
                warnings.warn(f"{'; '.join(problems)}; continuing from {path.name}", stacklevel=2)
            return state
        if problems:
            raise ValueError(f"{'; '.join(problems)}; remove them to start again")
        return None

    def remove(self) -> None:
        """Remove the states, once the training is complete."""
        for path in self.paths:
            path.unlink(missing_ok=True)


def read_safetensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors by name and the metadata of a file.

    Raises:
        ValueError: the file is damaged.
    """
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees either the old content or the new, never a part of it."""
    write_part(path, content).replace(path)


def write_part(path: Path, content: bytes) -> Path:
    """Write the content to a file beside this one and force it to the disk, ready to replace this one.

    Raises:
        OSError: it could not be written; the part that was written is removed.
    """
    part = path.with_name(path.name + ".part")
    try:
        with naming(part), part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        part.unlink(missing_ok=True)
        raise
    return part


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the file name to an OSError of this block that has none, such as the error of a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


def digest(texts: Iterable[bytes], tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 of texts and of tensors, independent of the order in which the tensors are stored.

    >>> digest([b"a"], {}) == hashlib.sha256(b"a").hexdigest()
    True
    """
    sha256 = hashlib.sha256()
    for text in texts:
        sha256.update(text)
    for name in sorted(tensors):
        sha256.update(tensors[name].cpu().contiguous().flatten().view(torch.uint8).numpy())
    return sha256.hexdigest()
