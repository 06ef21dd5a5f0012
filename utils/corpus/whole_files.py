"""Files that are written whole: who reads one finds its old content or its new one, whatever ends the writing.

What is in a file is decided by those who write it.
"""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any


@contextmanager
def open_whole(path: str | Path, mode: str = "wb", **options: Any) -> Iterator[IO]:
    """Open a file to write; it takes the place of the one at ``path`` when the block ends without an error.

    Until then it lies in the same folder under another name. It gets the permissions of the old file. Where ``path``
    is a link, the file that the link leads to is replaced. A pipe or a device is written to directly.

    Args:
        path: of the file; its folder must exist.
        mode: "w" or "wb".
        options: for :func:`open`, such as ``encoding``.

    Raises:
        OSError: the old file may not be written to, there is no such folder, or the disk is full.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        with path.open(mode, **options) as file:  # for a folder, this is an error
            yield file
        return
    place = Path(os.path.realpath(path))
    # A name of its own, since two programs may write one file at the same time.
    part = place.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with naming(path, instead_of=part):
            if place.exists() and not os.access(place, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            with part.open(mode.replace("w", "x"), **options) as file:
                if place.exists():
                    shutil.copymode(place, part)
                yield file
                file.flush()
                os.fsync(file.fileno())
            part.replace(place)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def write_whole(path: str | Path, content: bytes | str) -> None:
    """Write a file as :func:`open_whole` does; a text is written in UTF-8, with its line ends as they are."""
    with open_whole(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def naming(path: Path, *, instead_of: Path | None = None) -> Iterator[None]:
    """Add the file name to an OSError of this block that has none, such as the error of a full disk.

    Args:
        instead_of: a temporary file, whose name would tell the user nothing.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(instead_of)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
