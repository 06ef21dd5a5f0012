"""Atomic file writes and training checkpoints.

What belongs to the state of a training is settled in ``loop``; here it is tensors by name. Nothing is ever pickled.
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


class Checkpoints:
    """The last two states of a training in a folder, so that one of them is whole whenever the process dies.

    Args:
        folder: made when the first state is kept.
        seconds: how often a state is kept, at most.
    """

    def __init__(self, folder: str | Path, *, seconds: float = 60.0):
        self.folder, self.seconds = Path(folder), seconds
        self.paths = [self.folder / "checkpoint.safetensors", self.folder / "checkpoint.previous.safetensors"]
        self._last = time.monotonic()

    @property
    def due(self) -> bool:
        """Whether it is long enough since a state was kept."""
        return time.monotonic() - self._last >= self.seconds

    @property
    def exist(self) -> bool:
        """Whether the folder holds a checkpoint file, whole or not."""
        return any(path.exists() for path in self.paths)

    def save(self, state: Mapping[str, Tensor], *, training: str) -> None:
        """Keep a state; the one before it stays, and the one before that goes.

        Args:
            state: tensors by name.
            training: what the state belongs to; :meth:`load` refuses a state of another training.

        Raises:
            OSError: the disk is full or cannot be written; what was kept before is still there.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        content = save(dict(state), metadata={"training": training, "digest": digest((), state)})
        current, previous = self.paths
        part = write_part(current, content)
        if current.exists():
            current.replace(previous)
        part.replace(current)
        self._last = time.monotonic()

    def load(self, *, training: str) -> dict[str, Tensor] | None:
        """The last state that is whole; None where none was ever kept. A damaged file is named in a warning.

        Raises:
            ValueError: the state of another training, or no file that is whole.
        """
        damaged = []
        for path in filter(Path.exists, self.paths):
            try:
                state, metadata = read_safetensors(path)
            except ValueError as error:
                damaged.append(str(error))
                continue
            if metadata.get("digest") != digest((), state):
                damaged.append(f"{path} is damaged: its digest is not that of its content")
                continue
            if metadata.get("training") != training:
                raise ValueError(
                    f"{path} belongs to another training: other sentences, settings, seed or kind of products; "
                    "name another folder, or remove the file to begin anew"
                )
            if damaged:
                warnings.warn(f"{'; '.join(damaged)}; going on from {path.name}", stacklevel=2)
            return state
        if damaged:
            raise ValueError(f"{'; '.join(damaged)}; remove them to begin anew")
        return None

    def remove(self) -> None:
        """Take the states away, once what they were for is done."""
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
    """Write a file so that a reader finds the old content or the new one, never a part of it."""
    write_part(path, content).replace(path)


def write_part(path: Path, content: bytes) -> Path:
    """Write the content beside the file, down to the disk, ready to take its place.

    Raises:
        OSError: it could not be written; nothing is left of it.
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
    """Errors of the system in this block, such as a full disk, say which file they were about."""
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
