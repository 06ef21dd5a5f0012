"""Files that are written whole: who reads one finds its old content or its new one, whatever ends the writing.

What is in a file is decided by those who write it.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any


@contextmanager
def open_whole(path: str | Path, mode: str = "wb", **options: Any) -> Iterator[IO]:
    """Open a file to write; it takes the place of the one at ``path`` when the block ends without an error.

    Until then it lies in the same folder under another name. Where ``path`` is a link, the file that it leads to is
    replaced. A pipe or a device is written to directly.

    Args:
        path: of the file; its folder must exist.
        mode: "w" or "wb".
        options: for :func:`open`, such as ``encoding``.

    Raises:
        OSError: there is no such folder, it may not be written to, or the disk is full.
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
        with part.open(mode.replace("w", "x"), **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(place)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(part)):
            raise
        # The name of the part would tell the user nothing, and the error of a full disk has none.
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):  # it has taken its place, or could not be made
            part.unlink()


def write_whole(path: str | Path, content: bytes | str) -> None:
    """Write a file as :func:`open_whole` does; a text is written in UTF-8, with its line ends as they are."""
    with open_whole(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
