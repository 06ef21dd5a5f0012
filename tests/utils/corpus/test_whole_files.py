"""A file that is replaced keeps its old content until all of the new one is written."""

import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from utils.corpus.whole_files import open_whole, write_whole


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Within this block the system refuses to make a file larger than this, as if the disk were full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file that is there already."""
    path = tmp_path / "x"
    path.write_text("old")
    return path


@pytest.mark.parametrize("content", ["déjà\r\nvu\n", b"\xff\x00"])
def test_a_file_is_written_as_it_is(tmp_path: Path, content: str | bytes) -> None:
    for _ in range(2):
        write_whole(str(tmp_path / "x"), content)
        wanted = content.encode("utf-8") if isinstance(content, str) else content
        assert (tmp_path / "x").read_bytes() == wanted
    with open_whole(tmp_path / "x", "w", encoding="latin-1", newline="\r\n") as file:
        file.write("é\n")
    assert (tmp_path / "x").read_bytes() == b"\xe9\r\n"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_full_disk_keeps_the_old_file(old: Path) -> None:
    with largest_file(7), pytest.raises(OSError, match="File too large") as error:
        write_whole(old, "longer than before")
    assert error.value.filename == str(old)
    assert old.read_text() == "old"
    assert list(old.parent.iterdir()) == [old]


def test_an_error_of_the_writer_keeps_the_old_file(old: Path) -> None:
    def write_half() -> None:
        with open_whole(old, "w") as file:
            file.write("half of the new")
            file.flush()
            assert old.read_text() == "old"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert old.read_text() == "old"
    assert list(old.parent.iterdir()) == [old]


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_a_link(old: Path, there: bool) -> None:
    (old.parent / "folder").mkdir()
    link = old.parent / "folder" / "link"
    link.symlink_to(Path("..", "x"))
    if not there:
        old.unlink()
    write_whole(link, "new")
    assert link.is_symlink()
    assert old.read_text() == "new"
    assert [path.name for path in link.parent.iterdir()] == ["link"]


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_whole(tmp_path / "pipe", "through")
    reader.join()
    assert read == ["through"]
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("name", ["", "missing/x", "x/y"])
def test_a_place_where_no_file_can_be_is_named(old: Path, name: str) -> None:
    with pytest.raises(OSError, match="directory") as error:
        write_whole(old.parent / name, "new")
    assert error.value.filename == str(old.parent / name)
    assert list(old.parent.iterdir()) == [old]
